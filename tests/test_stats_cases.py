"""The statistics cases that were made from public bug reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from himga_eval import stats
from himga_eval.bootstrap import bootstrap
from himga_eval.compare import compare
from himga_eval.scoring import summarise


@pytest.fixture(scope="module")
def cases(shared: Path) -> dict[str, Any]:
    lines = (shared / "cases/public_cases.jsonl").read_text(encoding="utf-8").splitlines()
    return {case["id"]: case["input"] for case in map(json.loads, lines) if case["area"] == "stats"}


def run_of(scores: list[Any], types: list[str | None], ids: list[str] | None = None, run: str = "a") -> pl.DataFrame:
    dataset = "longmemeval" if any(t and "session" in t for t in types) else "custom"
    names = ids or [str(i) for i in range(len(scores))]
    return pl.DataFrame(
        {
            "run": run,
            "dataset": dataset,
            "sample_id": names,
            "question_id": names,
            "question_type": pl.Series(types, dtype=pl.String),
            "prediction": "x",
            "ground_truth": "x",
            "f1": pl.Series(scores, strict=False),
        }
    )


def cell(summary: pl.DataFrame, kind: str = "overall") -> dict[str, Any]:
    return summary.row(by_predicate=pl.col("question_type") == kind, named=True)


def test_every_case_has_a_test(cases: dict[str, Any]) -> None:
    tested = {name.split("_")[1].upper() for name in globals() if name.startswith("test_s")}
    assert tested == set(cases)


def test_s01_nan_is_no_number(cases: dict[str, Any]) -> None:
    scores = [float("nan") if isinstance(score, str) else score for score in cases["S01"]["scores"]]
    found = cell(summarise(run_of(scores, [None] * len(scores))))
    assert (found["mean"], found["scored"], found["count"]) == (0.5, 2, 4)


@pytest.mark.parametrize("rows", [3, 1500])
def test_s02_a_group_without_a_score_is_unknown(cases: dict[str, Any], rows: int) -> None:
    nulls = cases["S02"]["groups"]["a"]
    scores = pl.Series((nulls * rows)[:rows], dtype=pl.Float64).to_list()
    frame = run_of(scores, ["a"] * rows).with_columns(pl.col("f1").cast(pl.Float64))
    for summary in (summarise(frame), bootstrap(frame, resamples=50)):
        assert cell(summary, "a")["mean"] is None
        assert cell(summary, "a")["lo"] is None
    assert summarise(frame.clear().with_columns(pl.col("f1").cast(pl.Float64))).is_empty()


def test_s03_the_mean_of_types_is_not_the_overall_mean(cases: dict[str, Any]) -> None:
    rows = [(kind.replace("-", "_"), score) for kind, scores in cases["S03"]["rows"].items() for score in scores]
    found = summarise(run_of([score for _, score in rows], [kind for kind, _ in rows]))
    assert (cell(found)["mean"], cell(found, "task_averaged")["mean"]) == pytest.approx((0.75, 0.45))


def test_s04_abstention_is_a_cut_across_types(cases: dict[str, Any]) -> None:
    rows = cases["S04"]["rows"]
    frame = run_of([row["ok"] for row in rows], [row["type"] for row in rows], [row["id"] for row in rows])
    found = summarise(frame)
    assert (cell(found)["mean"], cell(found)["count"]) == (0.5, 2)
    assert (cell(found, "abstention")["mean"], cell(found, "abstention")["count"]) == (0.0, 1)


def test_s06_paired_outcomes_are_tested_as_pairs(cases: dict[str, Any]) -> None:
    counts = cases["S06"]
    assert stats.mcnemar(counts["only_a_right"], counts["only_b_right"]) == 0.0390625
    pairs = {"only_a_right": (1, 0), "only_b_right": (0, 1), "both": (1, 1), "none": (0, 0)}
    scores = [pair for name, pair in pairs.items() for _ in range(counts[name])]
    first, second = ([float(pair[side]) for pair in scores] for side in (0, 1))
    found = cell(compare(run_of(first, ["t"] * 69), run_of(second, ["t"] * 69, run="b")))
    assert (found["p_mcnemar"], found["lost"], found["won"], found["tied"]) == (0.0390625, 8, 1, 60)


def test_s07_the_same_input_gives_the_same_interval(cases: dict[str, Any]) -> None:
    scores = cases["S07"]["scores"]
    frame = run_of(scores, [None] * len(scores))
    state = np.random.get_state()[1].copy()
    assert bootstrap(frame).equals(bootstrap(frame))
    assert np.array_equal(state, np.random.get_state()[1])


def test_s09_a_perfect_or_lone_row_is_no_certainty(cases: dict[str, Any]) -> None:
    perfect, lone, empty = cases["S09"]["samples"]
    for summary in (summarise(run_of(perfect, [None] * 30)), bootstrap(run_of(perfect, [None] * 30))):
        assert (cell(summary)["lo"], cell(summary)["hi"]) == pytest.approx((0.8865, 1.0), abs=5e-5)
    found = cell(summarise(run_of(lone, [None])))
    assert (found["mean"], found["lo"], found["hi"], found["clusters"]) == (1, None, None, 1)
    assert stats.mean_interval(np.array(empty, dtype=float), np.array([], dtype=int)) == (None, None, None)


def test_s10_rows_without_a_type_are_a_group(cases: dict[str, Any]) -> None:
    rows = cases["S10"]["rows"]
    found = summarise(run_of([row["s"] for row in rows], [row["category"] for row in rows]))
    assert (cell(found)["mean"], cell(found, "(none)")["mean"], cell(found, "(none)")["count"]) == (0.5, 0.0, 1)


def test_s11_integers_floats_and_booleans_are_scores_alike(cases: dict[str, Any]) -> None:
    first, second = cases["S11"]["run_a"], cases["S11"]["run_b"]
    found = cell(compare(run_of(first, ["t"] * 2), run_of(second, ["t"] * 2, run="b")))
    assert (found["base_mean"], found["mean"]) == (0.5, 0.6)
    booleans = cell(compare(run_of([bool(s) for s in first], ["t"] * 2), run_of(second, ["t"] * 2, run="b")))
    assert booleans["base_mean"] == 0.5
