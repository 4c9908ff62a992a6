"""The bootstrap of a summary: the same means, intervals near the t ones, the same every time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from himga_eval import stats
from himga_eval.bootstrap import bootstrap
from himga_eval.data import read_questions
from himga_eval.formats import read_run
from himga_eval.schema import QUESTION_TYPES, SUMMARY
from himga_eval.scoring import summarise


def scores(dataset: str, samples: int, rows: int) -> pl.DataFrame:
    """Answers with some missing, some unscored, a type without any, and (LongMemEval) abstention."""
    generator = np.random.default_rng(6)
    types = generator.choice(QUESTION_TYPES[dataset], rows)
    sample = np.arange(rows) % samples
    lift = generator.normal(0, 0.1, samples)[sample]
    f1 = np.clip(generator.random(rows) + lift, 0, 1)
    skipped = types == QUESTION_TYPES[dataset][2]
    return pl.DataFrame(
        {
            "run": "larch",
            "dataset": dataset,
            "sample_id": [f"s{i}" for i in sample],
            "question_id": [
                f"s{s}:{i}{'_abs' if dataset == 'longmemeval' and i % 9 == 0 else ''}" for i, s in enumerate(sample)
            ],
            "question_type": types,
            "prediction": [None if i % 11 == 0 or skipped[i] else "x" for i in range(rows)],
            "ground_truth": "x",
            "judge_score": [None if i % 13 == 0 else float(v > 0.5) for i, v in enumerate(f1)],
            "f1": f1,
        }
    )


@pytest.mark.parametrize(("dataset", "samples", "rows"), [("locomo", 40, 800), ("longmemeval", 300, 300)])
def test_a_bootstrap_is_a_summary_with_intervals_of_its_own(dataset: str, samples: int, rows: int) -> None:
    frame = scores(dataset, samples, rows)
    drawn, summary = bootstrap(frame), summarise(frame)
    assert drawn.schema == SUMMARY
    assert_frame_equal(drawn.drop("lo", "hi"), summary.drop("lo", "hi"))
    assert (drawn["lo"] != summary["lo"]).all()
    widths = (drawn["hi"] - drawn["lo"]) / (summary["hi"] - summary["lo"])
    assert widths.min() > 0.75
    assert widths.max() < 1.15
    assert ((drawn["lo"] <= drawn["mean"]) & (drawn["mean"] <= drawn["hi"])).all()


def test_longmemeval_has_one_question_a_sample_so_the_interval_is_the_plain_one(shared: Path) -> None:
    questions = read_questions(shared / "data/longmemeval/questions.json")
    run = read_run(shared / "data/predictions/longmemeval_s_rag_con.eval-gpt-4o-mini.jsonl", questions)
    summary = summarise(run, metrics=["published_judge_score"])
    found = summary.row(by_predicate=pl.col("question_type") == "overall", named=True)
    labels = run["published_judge_score"].to_numpy()
    half = stats.t_quantile(0.975, 499) * labels.std(ddof=1) / np.sqrt(500)
    assert (found["count"], found["clusters"]) == (500, 500)
    assert (found["lo"], found["hi"]) == pytest.approx((labels.mean() - half, labels.mean() + half), abs=1e-5)


def test_the_same_input_gives_the_same_interval() -> None:
    frame = scores("locomo", 10, 100)
    first, second, other = (bootstrap(frame, seed=seed).select("lo", "hi") for seed in (0, 0, 1))
    assert first.equals(second)
    assert not first.equals(other)


def test_where_all_rows_score_alike_the_interval_of_the_summary_stays() -> None:
    frame = scores("locomo", 10, 100).with_columns(f1=1.0).filter(pl.col("prediction").is_not_null())
    drawn = bootstrap(frame, metrics=["f1"])
    assert_frame_equal(drawn, summarise(frame, metrics=["f1"]))
    assert drawn["lo"].max() < 1


def test_a_metric_that_was_never_scored_stays_unknown() -> None:
    frame = scores("locomo", 10, 100).with_columns(meteor=pl.lit(None, pl.Float64))
    drawn = bootstrap(frame.filter(pl.col("prediction").is_not_null()), metrics=["meteor", "f1"], resamples=200)
    assert drawn.filter(metric="meteor").select("mean", "lo", "hi").null_count().row(0) == (6, 6, 6)
    assert drawn.filter(metric="f1")["lo"].null_count() == 0


def test_rows_without_sample_or_type_will_do() -> None:
    frame = pl.DataFrame({"run": "a", "prediction": ["x"] * 30, "ground_truth": ["x"] * 30, "f1": [0.0, 1.0, 1.0] * 10})
    drawn = bootstrap(frame)
    assert drawn["question_type"].to_list() == ["(none)", "overall"]
    assert drawn["clusters"].to_list() == [30, 30]
    assert drawn["lo"][0] == pytest.approx(0.5, abs=0.04)
