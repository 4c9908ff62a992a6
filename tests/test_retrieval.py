"""Retrieval metrics against LongMemEval's definitions, and the ids they understand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from himga_eval.errors import InputError
from himga_eval.retrieval import (
    METRICS,
    gold_rank,
    had_evidence,
    mrr,
    ndcg,
    recall_all,
    recall_any,
    retrieval_columns,
    score_retrieval,
)


def one(
    expression: pl.Expr, retrieved: list[str] | None, evidence: list[str] | None, question_id: str = "q1"
) -> object:
    schema = {"retrieved": pl.List(pl.String), "evidence": pl.List(pl.String), "question_id": pl.String}
    frame = pl.DataFrame(
        {"retrieved": [retrieved], "evidence": [evidence], "question_id": [question_id]}, schema=schema
    )
    return frame.select(expression).item()


def official(ranking: list[str], correct: list[str], corpus: list[str], k: int) -> tuple[float, float, float]:
    """LongMemEval's recall_any, recall_all and ndcg_any at k, of a ranking of the whole corpus."""
    relevant = np.array([doc in correct for doc in ranking[:k]], dtype=float)
    ideal = np.sort(np.array([doc in correct for doc in corpus], dtype=float))[::-1][:k]
    discounts = np.concatenate([[1.0], 1 / np.log2(np.arange(2, k + 1))])
    gain, best = (float(hits @ discounts[: len(hits)]) for hits in (relevant, ideal))
    found = set(ranking[:k])
    return (
        float(any(doc in found for doc in correct)),
        float(all(doc in found for doc in correct)),
        gain / best if best else 0.0,
    )


@settings(max_examples=40)
@given(
    ranking=st.permutations([f"ultra_{i}" for i in range(12)]),
    correct=st.sets(st.integers(0, 11), min_size=1),
    k=st.integers(1, 15),
)
def test_sessions_are_scored_as_longmemeval_does(ranking: list[str], correct: set[int], k: int) -> None:
    gold = [f"ultra_{i}" for i in correct]
    expected = official(ranking, gold, ranking, k)
    found = tuple(one(metric(k, "session"), ranking, gold) for metric in (recall_any, recall_all, ndcg))
    assert found == pytest.approx(expected)


@settings(max_examples=40)
@given(
    ranking=st.permutations([f"D{s}:{t}" for s in range(1, 5) for t in range(1, 4)]),
    correct=st.sets(st.integers(0, 11), min_size=1, max_size=4),
    k=st.integers(1, 12),
)
def test_turns_are_scored_as_longmemeval_does(ranking: list[str], correct: set[int], k: int) -> None:
    gold = [sorted(ranking)[i] for i in correct]
    found = tuple(one(metric(k, "turn"), ranking, gold) for metric in (recall_any, recall_all, ndcg))
    assert found == pytest.approx(official(ranking, gold, ranking, k))


@settings(max_examples=40)
@given(
    ranking=st.permutations([f"ultra_{s}_{t}" for s in range(5) for t in range(1, 4)]),
    correct=st.sets(st.integers(0, 4), min_size=1),
    k=st.integers(1, 5),
)
def test_turns_are_brought_to_sessions_as_longmemeval_does(ranking: list[str], correct: set[int], k: int) -> None:
    gold = [f"ultra_{i}" for i in correct]
    sessions = list(dict.fromkeys(turn.rsplit("_", 1)[0] for turn in ranking))  # k counts sessions
    found = tuple(one(metric(k, "session"), ranking, gold) for metric in (recall_any, recall_all, ndcg))
    assert found == pytest.approx(official(sessions, gold, sessions, k))


@pytest.mark.parametrize(
    ("retrieved", "evidence", "level", "expected"),
    [
        pytest.param(
            ["D1:1", "D2:3", "D2:4"], ["D2:3"], "turn", (1, 1, 1.0, 0.5), id="second place has a discount of one"
        ),
        pytest.param(["D9:9", "D1:1", "D2:3"], ["D2:3"], "turn", (1, 1, 0.63093, 1 / 3), id="third place"),
        pytest.param(["D1:1", "D1:2"], ["D2:3"], "turn", (0, 0, 0, 0), id="not found"),
        pytest.param([], ["D2:3"], "turn", (0, 0, 0, 0), id="nothing retrieved"),
        pytest.param(["D1:1", "D2:3"], ["D2:3", "D4:1"], "turn", (1, 0, 0.5, 0.5), id="one of two"),
        pytest.param(["D1:1", "D1:1", "D2:3"], ["D2:3"], "turn", (1, 1, 1.0, 0.5), id="a double counts once"),
        pytest.param(["D1:1", "D2:9"], ["D2:3"], "session", (1, 1, 1.0, 0.5), id="another turn of the session"),
        pytest.param(["session_2"], ["D2:3"], "session", (1, 1, 1.0, 1), id="session beside turn"),
        pytest.param(["D2"], ["D2:3"], "session", (1, 1, 1.0, 1), id="session by its short name"),
        pytest.param(["D2:3"], ["D2:3", "session_2"], "turn", (1, 1, 1.0, 1), id="sessions beside turns are no turns"),
        pytest.param(["a_1_4"], ["a_1_4", "a_1"], "turn", (1, 1, 1.0, 1), id="a turn is told by its session"),
        pytest.param(["a_1_7"], ["a_1_4", "a_1"], "session", (1, 1, 1.0, 1), id="its session"),
        pytest.param(["doc7"], ["doc7"], "session", (1, 1, 1.0, 1), id="ids of another kind are sessions"),
    ],
)
def test_what_counts(retrieved: list[str], evidence: list[str], level: str, expected: tuple[float, ...]) -> None:
    found = tuple(one(metric(5, level), retrieved, evidence) for metric in (recall_any, recall_all, ndcg, mrr))
    assert found == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize(
    ("retrieved", "evidence", "question_id", "level"),
    [
        pytest.param(None, ["D1:1"], "q1", "turn", id="nothing recorded"),
        pytest.param(["D1:1"], None, "q1", "turn", id="no evidence known"),
        pytest.param(["D1:1"], [], "q1", "session", id="no evidence"),
        pytest.param(["D1:1"], ["session_1"], "q1", "turn", id="evidence names no turns"),
        pytest.param(["s1"], ["s1"], "7f2_abs", "session", id="abstention"),
    ],
)
def test_unknown_is_null(
    name: str, retrieved: list[str] | None, evidence: list[str] | None, question_id: str, level: str
) -> None:
    assert one(METRICS[name](5, level), retrieved, evidence, question_id) is None


def test_only_the_first_k_count() -> None:
    found = [one(recall_any(k, "turn"), ["D1:1", "D1:2", "D1:3"], ["D1:3"]) for k in (1, 2, 3)]
    assert found == [0, 0, 1]
    assert one(mrr(2, "turn"), ["D1:1", "D1:2", "D1:3"], ["D1:3"]) == 0


def runs() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "run": ["turns", "turns", "sessions"],
            "question_id": ["a", "b", "a"],
            "prediction": ["x", "x", "x"],
            "ground_truth": ["x", "x", "x"],
            "retrieved": [["D1:2", "D3:1"], ["D9:1"], ["session_1"]],
            "evidence": [["D3:1"], ["D4:4"], ["D3:1"]],
        }
    )


def test_every_metric_has_a_column_and_turns_of_a_run_of_sessions_are_unknown() -> None:
    scores = score_retrieval(runs(), [1, 2])
    assert len(retrieval_columns(scores)) == 2 * 2 * len(METRICS)
    assert scores["turn_recall_any@2"].to_list() == [1, 0, None]
    assert scores["session_recall_any@2"].to_list() == [1, 0, 0]
    assert scores["turn_mrr@1"].to_list() == [0, 0, None]


def test_expressions_work_lazily_and_streaming() -> None:
    lazy = runs().lazy().select("question_id", ndcg(2, "turn"))
    assert lazy.collect(engine="streaming").equals(lazy.collect())
    assert lazy.collect_schema()["turn_ndcg@2"] == pl.Float64


@pytest.mark.parametrize(
    ("retrieved", "evidence", "rank", "had"),
    [
        pytest.param(["D1:1", "D2:3"], ["D2:3", "D4:4"], 2, False, id="one of two at the second place"),
        pytest.param(["D4:4", "D2:3"], ["D2:3", "D4:4"], 1, True, id="all"),
        pytest.param(["D2:1"], ["D2:3", "session_2"], None, False, id="turns are what is looked for, where named"),
        pytest.param(["s_9", "s_2_1"], ["s_2"], 2, True, id="else sessions"),
        pytest.param(None, ["s_2"], None, None, id="unknown"),
    ],
)
def test_rank_and_whether_all_was_there(
    retrieved: list[str] | None, evidence: list[str], rank: int | None, had: bool | None
) -> None:
    assert one(gold_rank(), retrieved, evidence) == rank
    assert one(had_evidence(), retrieved, evidence) is had


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param(lambda: recall_any(0, "turn"), "k=0: it is how many", id="k"),
        pytest.param(lambda: ndcg(5, "document"), "level='document': it is one of turn, session", id="level"),
        pytest.param(lambda: score_retrieval(runs().drop("retrieved")), "no column retrieved", id="column"),
    ],
)
def test_bad_input_is_told(call: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
