"""The spread over repeats of the judge and of the agent."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from himga_eval.data import read_questions
from himga_eval.errors import InputError
from himga_eval.formats import read_run
from himga_eval.markup import latex, markdown
from himga_eval.repeats import SPREAD, UnknownRepeat, answer_spread, judge_spread, spread_tables


def run_of(name: str, right: int, **columns: float) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "run": name,
            "dataset": "locomo",
            "sample_id": [f"conv-{i // 5}" for i in range(20)],
            "question_id": [f"conv-{i // 5}:{i}" for i in range(20)],
            "question_type": ["temporal", "single_hop"] * 10,
            "prediction": "x",
            "ground_truth": "y",
            "judge_score": [float(i < right) for i in range(20)],
        }
    ).with_columns(**{key: pl.lit(value) for key, value in columns.items()})


def overall(spread: pl.DataFrame) -> dict[str, object]:
    return spread.row(by_predicate=pl.col("question_type") == "overall", named=True)


def test_whole_repeats_of_the_agent() -> None:
    runs = pl.concat([run_of("a-1", 10), run_of("a-2", 12), run_of("a-3", 14), run_of("b", 20)])
    spread = answer_spread(runs, {"a-1": "a", "a-2": "a", "a-3": "a", "b": "b"})
    assert spread.schema == SPREAD
    first = overall(spread.filter(name="a"))
    assert (first["mean"], first["sd"], first["lowest"], first["highest"]) == pytest.approx((0.6, 0.1, 0.5, 0.7))
    assert (first["repeats"], first["repeated"]) == (3, "answers")
    alone = overall(spread.filter(name="b"))
    assert (alone["mean"], alone["sd"], alone["repeats"]) == (1, None, 1)


def test_the_judges_repeats_in_columns() -> None:
    run = run_of("a", 10).with_columns(
        judge_score_1=pl.col("judge_score"), judge_score_2=(pl.int_range(pl.len()) < 12).cast(pl.Float64)
    )
    found = overall(judge_spread(run))
    assert (found["mean"], found["sd"]) == pytest.approx((0.55, 0.0707107))
    assert (found["repeats"], found["repeated"], found["metric"]) == (2, "judgements", "judge_score")


def test_the_judges_repeats_in_a_judgements_frame() -> None:
    ids = run_of("a", 10).drop("judge_score", "prediction", "ground_truth").head(4)
    judgements = pl.concat(
        ids.with_columns(
            repeat=pl.lit(repeat),
            status=pl.Series(["ok", "ok", "ok", "missing"]),
            score=pl.Series([1.0, score, 0.0, None]),
        )
        for repeat, score in ((1, 1.0), (2, 0.0))
    )
    found = overall(judge_spread(judgements))
    assert (found["mean"], found["sd"]) == pytest.approx((0.375, 0.1767767))  # a missing answer is a 0 in both


def test_three_judgements_of_published_answers(shared: Path) -> None:
    questions = read_questions(shared / "data/locomo/locomo10.json")
    run = read_run(shared / "data/predictions/locomo_audit_fc_gpt-4o-mini-memos.json", questions)
    found = overall(judge_spread(run, "published_judge_score"))
    assert found["repeats"] == 3
    assert round(found["mean"], 4) == 0.7429
    assert 0 < found["sd"] < 0.005


def test_tables_give_mean_and_deviation() -> None:
    runs = pl.concat([run_of("a-1", 10), run_of("a-2", 12)])
    (table,) = spread_tables(answer_spread(runs, {"a-1": "a", "a-2": "a"}))
    assert table.title == "a on locomo"
    assert table.grid.row(0, named=True)["overall"] == ".550±.071"
    assert table.note == "Mean and standard deviation (±) of the strict means of 2 repeats: the answers anew."
    assert ".550±.071" in markdown(table)
    assert r".550$\pm$.071" in latex(table)


def test_a_run_whose_system_is_not_said() -> None:
    with pytest.raises(UnknownRepeat, match=r"no run 'a-2'.*known: a-1; say which system"):
        answer_spread(pl.concat([run_of("a-1", 1), run_of("a-2", 2)]), {"a-1": "a"})


def test_without_repeats_there_is_no_spread() -> None:
    with pytest.raises(InputError, match="no repeats of judge_score"):
        judge_spread(run_of("a", 10))
