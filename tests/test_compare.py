"""Comparing runs: the figures of published answers, what is paired with what, verdicts, causes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from himga_eval.compare import WHY, compare, why
from himga_eval.data import read_questions
from himga_eval.errors import DuplicateRows, Incomparable, InputError
from himga_eval.formats import read_run
from himga_eval.schema import COMPARISON

PUBLISHED = "published_judge_score"


def run_of(
    scores: Sequence[float | None],
    run: str = "larch",
    *,
    per_sample: int = 10,
    metric: str = "judge_score",
    **columns: Any,
) -> pl.DataFrame:
    """A run of LoCoMo, so many questions a conversation; without a score there was no answer."""
    places = range(len(scores))
    return pl.DataFrame(
        {
            "run": run,
            "dataset": "locomo",
            "sample_id": [f"conv-{i // per_sample}" for i in places],
            "question_id": [f"conv-{i // per_sample}:{i % per_sample}" for i in places],
            "question_type": "single_hop",
            "prediction": [None if score is None else f"answer of {run}" for score in scores],
            "ground_truth": [f"gold {i}" for i in places],
            metric: pl.Series(scores, dtype=pl.Float64),
        }
    ).with_columns(
        **{name: pl.Series(values) if isinstance(values, list) else pl.lit(values) for name, values in columns.items()}
    )


def cell(comparison: pl.DataFrame, question_type: str = "overall") -> dict[str, Any]:
    return comparison.row(by_predicate=pl.col("question_type") == question_type, named=True)


@pytest.fixture(scope="module")
def published(shared: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    questions = read_questions(shared / "data/locomo/locomo10.json")
    files = ("memobase_eval_0710_3000.json", "zep_locomo_grades.json")
    memobase, zep = (read_run(shared / "data/predictions" / file, questions) for file in files)
    return memobase, zep


def test_memobase_and_zep_are_not_told_apart_overall(published: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    comparison = compare(*published, metrics=[PUBLISHED])
    assert comparison.schema == COMPARISON
    found = cell(comparison)
    assert (round(found["base_mean"], 4), round(found["mean"], 4)) == (0.7578, 0.7513)
    assert (found["lost"], found["won"], found["tied"], found["count"], found["clusters"]) == (219, 209, 1112, 1540, 10)
    assert (round(found["p_mcnemar"], 2), round(found["p_value"], 2)) == (0.66, 0.74)
    assert found["lo"] < 0 < found["hi"]
    assert found["verdict"] == "undecided"


@pytest.mark.parametrize(
    ("question_type", "lost", "won", "verdict"),
    [
        pytest.param("temporal", 77, 16, "worse", id="temporal"),
        pytest.param("open_domain", 6, 26, "better", id="open domain"),
        pytest.param("multi_hop", 42, 51, "undecided", id="multi-hop"),
        pytest.param("single_hop", 94, 116, "undecided", id="single-hop"),
    ],
)
def test_memobase_and_zep_by_type(
    published: tuple[pl.DataFrame, pl.DataFrame], question_type: str, lost: int, won: int, verdict: str
) -> None:
    found = cell(compare(*published, metrics=[PUBLISHED]), question_type)
    assert (found["lost"], found["won"], found["verdict"]) == (lost, won, verdict)
    assert (found["p_adjusted"] < 0.01) == (verdict != "undecided")


def test_every_question_that_moved_is_listed(published: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    moved = why(*published, PUBLISHED)
    assert moved.schema == WHY
    assert moved["change"].value_counts().sort("change").rows() == [("lost", 219), ("won", 209)]
    assert moved["cause"].unique().to_list() == ["other answer"]


def test_swapping_the_runs_turns_the_comparison_around() -> None:
    larch, wren = run_of([1, 1, 0, 1] * 10), run_of([0, 1, 0, 1] * 10, "wren")
    there, back = cell(compare(larch, wren)), cell(compare(wren, larch))
    assert there["difference"] == -back["difference"] == -0.25
    assert (there["lo"], there["hi"]) == (-back["hi"], -back["lo"])
    assert (there["won"], there["lost"]) == (back["lost"], back["won"]) == (0, 10)
    assert there["p_value"] == back["p_value"]


def test_a_missing_answer_is_a_zero_and_an_unscored_one_is_not_paired() -> None:
    larch = run_of([1, 1, None, 1])
    unscored = run_of([1, 1, 1, 0], "wren").with_columns(judge_score=pl.Series([None, 1.0, 1.0, 0.0]))
    found = cell(compare(larch, unscored, metrics=["judge_score"]))
    assert found["count"] == 3
    assert (found["base_mean"], found["mean"]) == pytest.approx((2 / 3, 2 / 3))
    assert (found["won"], found["lost"]) == (1, 1)


def test_mcnemar_is_left_out_where_a_metric_is_not_all_zero_or_one() -> None:
    types = ["single_hop"] * 20 + ["temporal"] * 20
    larch, wren = run_of([1] * 39 + [0.4], question_type=types), run_of([0] * 40, "wren", question_type=types)
    comparison = compare(larch, wren)
    assert comparison["p_mcnemar"].null_count() == comparison.height
    assert comparison["p_value"].null_count() == 0


def test_holm_counts_types_and_runs_but_not_cuts() -> None:
    types = ["single_hop", "temporal"] * 20
    base = run_of([1, 0] * 20, question_type=types)
    others = [run_of([0, 0] * 20, "b", question_type=types), run_of([1, 0] * 20, "c", question_type=types)]
    comparison = compare(base, *others)
    lost = comparison.filter(run="b", question_type="single_hop").row(0, named=True)
    assert lost["p_adjusted"] == pytest.approx(4 * lost["p_mcnemar"])  # two types by two runs
    overall = comparison.filter(run="b", question_type="overall").row(0, named=True)
    assert overall["p_adjusted"] == pytest.approx(2 * overall["p_mcnemar"])  # two runs


def test_a_verdict_asks_for_the_interval_too() -> None:
    """One conversation lost 30 questions: many questions, but one draw."""
    base, other = run_of([1] * 300, per_sample=30), run_of([0] * 30 + [1] * 270, "wren", per_sample=30)
    found = cell(compare(base, other))
    assert found["p_mcnemar"] < 1e-8
    assert found["hi"] > 0
    assert found["verdict"] == "undecided"


def test_runs_without_a_difference_are_no_certainty() -> None:
    found = cell(compare(run_of([1, 0] * 20), run_of([1, 0] * 20, "wren")))
    assert (found["difference"], found["p_value"], found["p_mcnemar"]) == (0, 1, 1)
    assert found["lo"] < 0 < found["hi"]
    assert found["detectable"] is None


def test_one_sample_has_no_interval_and_no_verdict() -> None:
    found = cell(compare(run_of([1] * 10), run_of([0] * 10, "wren")))
    assert (found["lo"], found["hi"], found["p_value"], found["clusters"]) == (None, None, None, 1)
    assert found["verdict"] == "undecided"


def test_metrics_are_those_that_all_have() -> None:
    larch = run_of([1, 0]).with_columns(f1=0.5, bleu1=0.1)
    wren = run_of([1, 0], "wren").with_columns(f1=0.5)
    assert compare(larch, wren)["metric"].unique(maintain_order=True).to_list() == ["judge_score", "f1"]


def test_longmemeval_has_its_cuts() -> None:
    columns = {
        "dataset": "longmemeval",
        "sample_id": ["q1", "q2", "q3_abs"],
        "question_id": ["q1", "q2", "q3_abs"],
        "question_type": ["multi_session", "temporal_reasoning", "multi_session"],
    }
    comparison = compare(run_of([1, 0, 1], **columns), run_of([0, 1, 1], "wren", **columns))
    assert dict(comparison.select("question_type", "count").iter_rows()) == {
        "multi_session": 2,
        "temporal_reasoning": 1,
        "overall": 3,
        "answerable": 2,
        "abstention": 1,
    }


@pytest.mark.parametrize(
    ("runs", "error", "message"),
    [
        pytest.param([run_of([1])], InputError, "nothing to compare", id="no other run"),
        pytest.param([run_of([1]), run_of([1])], InputError, "two runs are named larch", id="one name twice"),
        pytest.param(
            [pl.concat([run_of([1]), run_of([1], "b")]), run_of([1], "c")],
            InputError,
            "the base is one run",
            id="two bases",
        ),
        pytest.param([run_of([1]).head(0), run_of([1], "b")], InputError, "without a single row", id="empty"),
        pytest.param([run_of([1]), pl.concat([run_of([1], "b")] * 2)], DuplicateRows, "more than once", id="doubled"),
        pytest.param(
            [run_of([1]), run_of([1], "b").drop("sample_id")], InputError, "no column 'sample_id'", id="no key"
        ),
        pytest.param(
            [run_of([1]), run_of([1], "b", metric="f1")],
            InputError,
            r"no metric that all of them have \(larch: judge_score; b: f1\)",
            id="no metric in common",
        ),
    ],
)
def test_what_cannot_be_compared_is_told(runs: list[pl.DataFrame], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        compare(*runs)


def test_a_metric_that_a_run_lacks_is_told() -> None:
    with pytest.raises(InputError, match=r"wren has no column f1: .*; it has: judge_score"):
        compare(run_of([1]).with_columns(f1=0.5), run_of([1], "wren"), metrics=["f1"])


def test_force_compares_what_is_shared() -> None:
    larch, wren = run_of([1] * 20), run_of([1] * 19 + [0], "wren").tail(15)
    with pytest.raises(Incomparable):
        compare(larch, wren)
    assert cell(compare(larch, wren, force=True))["count"] == 15
    with pytest.raises(InputError, match="share not one question"):
        compare(larch.head(3), wren, force=True)


CAUSES = [
    pytest.param({}, {"prediction": "answer of larch"}, "same answer", id="the judge moved"),
    pytest.param({}, {}, "other answer", id="nothing known of retrieval"),
    pytest.param({"retrieved": [["D1:1"]]}, {"retrieved": [["D1:1"]]}, "other answer", id="equal retrieval"),
    pytest.param({"retrieved": [["D1:1"]]}, {"retrieved": [["D1:2"]]}, "other retrieval", id="other retrieval"),
    pytest.param(
        {"retrieved": [["D1:1", "D1:2"]]}, {"retrieved": [["D1:2", "D1:1"]]}, "other retrieval", id="other order"
    ),
    pytest.param({"retrieved": [["D1:1"]]}, {}, "other answer", id="retrieval known of one"),
    pytest.param({}, {"error": "Timeout: 30 s"}, "error", id="an error"),
]


@pytest.mark.parametrize(("base", "other", "cause"), CAUSES)
def test_causes(base: dict[str, Any], other: dict[str, Any], cause: str) -> None:
    moved = why(run_of([1], **base), run_of([0], "wren", **other), "judge_score")
    assert moved.select("change", "cause").rows() == [("lost", cause)]


def test_a_missing_answer_is_an_error() -> None:
    larch, wren = run_of([1, 1]), run_of([1, None], "wren")
    moved = why(larch, wren, "judge_score")
    assert moved.select("question_id", "base_score", "score", "change", "cause").rows() == [
        ("conv-0:1", 1.0, 0.0, "lost", "error")
    ]


def test_the_golds_rank_is_told_of_both() -> None:
    evidence = {"evidence": [["D4:4"]]}
    larch = run_of([0], retrieved=[["D1:1", "D4:4"]], **evidence)
    wren = run_of([1], "wren", retrieved=[["D4:4"]], **evidence)
    assert why(larch, wren, "judge_score").select("base_rank", "rank", "change").rows() == [(2, 1, "won")]


def test_the_largest_changes_come_first_and_ties_are_left_out() -> None:
    moved = why(run_of([0.2, 1, 0.5, 0.5]), run_of([0.4, 0, 0.5, 0.9], "wren"), "judge_score")
    assert moved["question_id"].to_list() == ["conv-0:1", "conv-0:3", "conv-0:0"]
