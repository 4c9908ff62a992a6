"""From a frame to its summary: strict and lenient means, cuts, intervals, and the dict of the specification."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from himga_eval.errors import DuplicateRows, InputError, UnknownMetric
from himga_eval.metrics.catalog import ALL_METRICS, LEXICAL
from himga_eval.protocols import UnknownProtocol
from himga_eval.schema import SUMMARY, EvalResult, QuestionType, results_frame
from himga_eval.scoring import averages, compute_metrics, score, summarise

CHEAP = ("judge_score", "exact_match", "f1")


def answers(*rows: tuple[str | None, str | None], **columns: object) -> pl.DataFrame:
    """Results of (type, prediction), the gold being Rome, each in a sample of its own."""
    types, predictions = zip(*rows, strict=True)
    return pl.DataFrame(
        {
            "question_type": pl.Series(types, dtype=pl.String),
            "prediction": pl.Series(predictions, dtype=pl.String),
            "ground_truth": ["Rome"] * len(rows),
        }
        | columns
    )


def cell(summary: pl.DataFrame, question_type: str = "overall", metric: str = "f1") -> dict[str, object]:
    return summary.row(
        by_predicate=(pl.col("question_type") == question_type) & (pl.col("metric") == metric), named=True
    )


def scored(values: list[object], **columns: object) -> pl.DataFrame:
    """A frame of judge scores that are there already."""
    base = {"prediction": ["x"] * len(values), "ground_truth": ["y"] * len(values)}
    return pl.DataFrame(base | {"judge_score": values} | columns, strict=False)


def results(*rows: tuple[str, str]) -> list[EvalResult]:
    return [
        EvalResult("s", f"q{i}", QuestionType(kind), "Where?", "Rome", prediction)
        for i, (kind, prediction) in enumerate(rows)
    ]


def test_score_adds_the_nine_lexical_metrics_and_the_protocol() -> None:
    frame = score(answers(("temporal", "in Rome")))
    assert [c for c in frame.columns if c in ALL_METRICS] == list(LEXICAL)
    assert all(frame.schema[name] == pl.Float64 for name in LEXICAL)
    assert frame["protocol"].to_list() == ["himga"]


def test_score_needs_no_more_than_the_two_texts() -> None:
    frame = score(pl.DataFrame({"prediction": ["Rome", None], "ground_truth": ["Rome", "Rome"]}), ["f1"])
    assert frame["f1"].to_list() == [1.0, None]


def test_a_subset_adds_only_its_columns() -> None:
    assert {"f1", "rougeL"} == set(score(answers(("temporal", "Rome")), ["f1", "rougeL"]).columns) & set(ALL_METRICS)


@pytest.mark.parametrize(
    ("metrics", "error", "message"),
    [
        pytest.param(["rouge_l"], UnknownMetric, "no metric 'rouge_l'; did you mean 'rougeL'", id="misspelt"),
        pytest.param(["judge_score"], InputError, "judge_score comes from judge_frame", id="judge"),
        pytest.param("f1", InputError, r"write \['f1'\]", id="a string"),
    ],
)
def test_score_names_the_metric_it_cannot_give(metrics: list[str], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        score(answers(("temporal", "Rome")), metrics)


def test_an_unknown_protocol_is_an_error() -> None:
    with pytest.raises(UnknownProtocol, match="no protocol 'himgo'; did you mean 'himga'"):
        score(answers(("temporal", "Rome")), protocol="himgo")


def test_the_summary_has_the_columns_of_its_schema() -> None:
    summary = summarise(score(answers(("temporal", "Rome")), ["f1"]))
    assert dict(summary.schema) == SUMMARY


def test_a_missing_answer_is_zero_in_the_strict_mean_and_not_in_the_lenient_one() -> None:
    found = cell(summarise(score(answers(("temporal", "Rome"), ("temporal", None)), ["f1"])))
    assert (found["mean"], found["mean_lenient"]) == (0.5, 1.0)
    assert (found["count"], found["scored"], found["missing"]) == (2, 1, 1)


def test_a_row_without_score_is_a_zero_in_neither_mean() -> None:
    found = cell(summarise(scored([1.0, None, 0.5])), metric="judge_score")
    assert (found["mean"], found["mean_lenient"], found["count"], found["scored"]) == (0.75, 0.75, 3, 2)


def test_a_type_without_a_single_answer_is_in_no_mean() -> None:
    summary = summarise(score(answers(("temporal", "Rome"), ("adversarial", None), ("adversarial", None)), ["f1"]))
    assert "adversarial" not in summary["question_type"]
    assert cell(summary)["mean"] == 1.0


def test_locomo_has_two_headlines() -> None:
    summary = summarise(score(answers(("temporal", "Rome"), ("adversarial", "Oslo")), ["f1"]))
    assert (cell(summary, "answerable")["mean"], cell(summary)["mean"]) == (1.0, 0.5)


def test_types_come_in_the_order_of_tables() -> None:
    summary = summarise(
        score(answers((None, "a"), ("temporal", "a"), ("single_hop", "a"), ("adversarial", "a")), ["f1"])
    )
    order = ["single_hop", "temporal", "adversarial", "(none)", "overall", "answerable"]
    assert summary["question_type"].to_list() == order


def test_published_scores_are_a_protocol_of_their_own() -> None:
    summary = summarise(score(answers(("temporal", "Rome"), published_f1=[0.25]), ["f1"]))
    assert cell(summary, metric="published_f1")["protocol"] == "published"
    assert cell(summary)["protocol"] == "himga"


def test_one_question_a_sample_gives_the_plain_interval() -> None:
    values = [0.0, 0.2, 0.4, 1.0, 0.8, 0.6, 0.3]
    found = cell(summarise(scored(values)), metric="judge_score")
    mean = sum(values) / 7
    half = 2.446912 * math.sqrt(sum((v - mean) ** 2 for v in values) / 6 / 7)  # Student's t, six degrees of freedom
    assert (found["lo"], found["hi"]) == pytest.approx((mean - half, mean + half), abs=1e-6)
    assert found["clusters"] == 7


def test_an_empty_frame_has_an_empty_summary() -> None:
    assert summarise(score(results_frame([]), ["f1"])).shape == (0, len(SUMMARY))


def test_a_doubled_question_is_an_error() -> None:
    twice = answers(("temporal", "Rome"), ("temporal", "Oslo"), question_id=["q1", "q1"], sample_id=["s", "s"])
    with pytest.raises(DuplicateRows, match="s / q1"):
        summarise(score(twice, ["f1"]))


@pytest.mark.parametrize(
    ("columns", "metrics", "message"),
    [
        pytest.param({}, None, r"no column of any metric: score\(\) adds them", id="no scores"),
        pytest.param({"f1": [0.5]}, [], "no column of any metric", id="none asked for"),
        pytest.param({"f1": [0.5]}, "f1", r"not one string: write \['f1'\]", id="a string"),
        pytest.param({"f1": [0.5]}, 3, "metrics is a list of names, not 3", id="a number"),
        pytest.param(
            {"f1": [0.5]}, ["meteor"], "run has no column meteor: .*it has: f1", id="a metric that is not there"
        ),
        pytest.param({"f1": ["0.5"]}, None, "column 'f1' is String: the scores of a metric are numbers", id="texts"),
        pytest.param({"f1": [[0.5]]}, ["f1"], r"column 'f1' is List\(Float64\)", id="lists"),
        pytest.param({"cluster": [1]}, ["cluster"], "no metric can be called cluster", id="a name that is taken"),
        pytest.param({"question_type": ["overall"], "f1": [1]}, None, "no question type can be called", id="a cut"),
    ],
)
def test_what_cannot_be_summarised_says_why(columns: dict[str, object], metrics: object, message: str) -> None:
    frame = answers((None, "Rome"), **columns)
    for average in (summarise, averages):
        with pytest.raises(InputError, match=message):
            average(frame, metrics=metrics)  # type: ignore[arg-type]


def test_a_metric_asked_for_twice_is_averaged_once() -> None:
    assert_frame_equal(summarise(scored([1.0]), metrics=["judge_score"] * 2), summarise(scored([1.0])))


def test_scores_without_a_protocol_are_ours() -> None:
    frame = scored([1.0, 0.0], protocol=[None, None])
    assert set(summarise(frame)["protocol"]) == {"himga"}


class TestComputeMetrics:
    def test_shape(self) -> None:
        rows = results(("single_hop", "Rome"), ("temporal", "Oslo"), ("temporal", "Rome"))
        assert compute_metrics(rows, [1.0, 0.0, 0.5], metrics=CHEAP) == {
            "overall": {"judge_score": 0.5, "exact_match": pytest.approx(2 / 3), "f1": pytest.approx(2 / 3)},
            "by_type": {
                "single_hop": {"judge_score": 1.0, "exact_match": 1.0, "f1": 1.0, "count": 1},
                "temporal": {"judge_score": 0.25, "exact_match": 0.5, "f1": 0.5, "count": 2},
            },
        }

    def test_no_results_give_zeros_for_all_twelve(self) -> None:
        assert compute_metrics([], []) == {"overall": dict.fromkeys(ALL_METRICS, 0.0), "by_type": {}}

    def test_no_results_in_a_frame_are_no_results(self) -> None:
        assert compute_metrics(results_frame([]), [], metrics=["f1"]) == {"overall": {"f1": 0.0}, "by_type": {}}

    def test_a_cell_with_nothing_scored_is_none(self) -> None:
        found = compute_metrics(results(("temporal", "Rome")), [float("nan")], metrics=["judge_score"])
        assert found["overall"]["judge_score"] is None

    def test_a_type_without_answers_is_counted(self) -> None:
        rows = [*results(("temporal", "Rome")), EvalResult("s", "q9", "adversarial", "Why?", "No", None)]
        found = compute_metrics(rows, None, metrics=["f1"])
        assert found["by_type"]["adversarial"] == {"f1": None, "count": 1}
        assert found["overall"]["f1"] == 1.0

    @pytest.mark.parametrize(
        "scores",
        [
            pytest.param(np.array([1, 0]), id="numpy integers"),
            pytest.param(list(np.array([1, 0], dtype="float32")), id="numpy floats"),
            pytest.param(pl.Series([1.0, 0.0]), id="a Polars column"),
            pytest.param(pd.Series([True, False]), id="a pandas column"),
            pytest.param((score for score in (1, 0)), id="a generator"),
        ],
    )
    def test_scores_of_any_kind_of_list(self, scores: object) -> None:
        found = compute_metrics(results(("temporal", "a"), ("temporal", "b")), scores, metrics=["judge_score"])  # type: ignore[arg-type]
        assert found["overall"] == {"judge_score": 0.5}

    @pytest.mark.parametrize(
        ("scores", "message"),
        [
            pytest.param(["1"], "judge score 0 is '1'; a score is a number from 0 to 1", id="a text"),
            pytest.param([5], "judge score 0 is 5", id="out of range"),
            pytest.param([float("inf")], "judge score 0 is inf", id="infinity"),
            pytest.param("1", "judge scores are a list, .* not '1'", id="no list"),
            pytest.param(1.0, "judge scores are a list, .* not 1.0", id="one number"),
            pytest.param({"q0": 1}, "judge scores are a list, .* not {'q0': 1}", id="a dict"),
        ],
    )
    def test_what_is_no_judge_score_is_said(self, scores: object, message: str) -> None:
        with pytest.raises(InputError, match=message):
            compute_metrics(results(("temporal", "a")), scores, metrics=["judge_score"])  # type: ignore[arg-type]

    def test_names_of_metrics_are_checked_where_there_are_no_results(self) -> None:
        with pytest.raises(InputError, match="write "):
            compute_metrics([], [], metrics="f1")
        with pytest.raises(UnknownMetric, match="no metric 'F1'; did you mean 'f1'"):
            compute_metrics([], [], metrics=["F1"])

    @pytest.mark.parametrize("scores", [pytest.param([1.0], id="too few"), pytest.param(None, id="none")])
    def test_scores_of_another_length_are_an_error(self, scores: list[float] | None) -> None:
        with pytest.raises(InputError, match="judge scores for 2 results"):
            compute_metrics(results(("temporal", "a"), ("temporal", "b")), scores, metrics=CHEAP)

    @pytest.mark.parametrize(("column", "values"), [("dataset", ["locomo", "longmemeval"]), ("run", ["larch", "wren"])])
    def test_data_sets_and_runs_are_never_pooled(self, column: str, values: list[str]) -> None:
        frame = answers((None, "Rome"), (None, "Oslo"), **{column: values})
        with pytest.raises(InputError, match=f"results of several {column}s \\({', '.join(values)}\\)"):
            compute_metrics(frame, None, metrics=["f1"])

    def test_it_can_be_written_as_json(self) -> None:
        assert json.loads(json.dumps(compute_metrics(results(("temporal", "Rome")), [1], metrics=CHEAP)))


# The cases of people who do this job, by the numbers of ../shared/cases.
@pytest.mark.parametrize(
    ("values", "mean", "scored_rows", "count"),
    [
        pytest.param([1.0, float("nan"), None, 0.0], 0.5, 2, 4, id="S01 NaN is missing"),
        pytest.param([1.0, float("inf")], 1.0, 1, 2, id="S01 so is infinity"),
        pytest.param([None] * 3, None, 0, 3, id="S02 all null, three rows"),
        pytest.param([None] * 1500, None, 0, 1500, id="S02 all null, many rows"),
        pytest.param([True, False], 0.5, 2, 2, id="S11 booleans are 0 and 1"),
        pytest.param([0, 1], 0.5, 2, 2, id="S11 so are integers"),
    ],
)
def test_means_of_odd_scores(values: list[object], mean: float | None, scored_rows: int, count: int) -> None:
    found = cell(summarise(scored(values), metrics=["judge_score"]), metric="judge_score")
    assert (found["mean"], found["scored"], found["count"]) == (mean, scored_rows, count)


def test_s03_three_headlines_of_longmemeval() -> None:
    frame = scored([1] * 9 + [0] * 3, question_type=["single-session-user"] * 10 + ["multi-session"] * 2)
    summary = summarise(frame)
    assert cell(summary, metric="judge_score")["mean"] == 0.75
    assert cell(summary, "task_averaged", "judge_score")["mean"] == pytest.approx(0.45)


def test_s04_abstention_is_a_cut_across_types() -> None:
    summary = summarise(scored([1, 0], question_type=["multi-session"] * 2, question_id=["a", "b_abs"]))
    means = {(row["question_type"], row["mean"], row["count"]) for row in summary.iter_rows(named=True)}
    assert {("overall", 0.5, 2), ("abstention", 0.0, 1), ("answerable", 1.0, 1), ("multi_session", 0.5, 2)} <= means


@pytest.mark.parametrize(
    ("values", "lo", "hi"),
    [
        pytest.param([1.0] * 30, 0.88649, 1.0, id="all right"),
        pytest.param([0.0] * 30, 0.0, 0.11351, id="all wrong"),
        pytest.param([1.0], None, None, id="one row says nothing"),
    ],
)
def test_s09_no_certainty_without_spread(values: list[float], lo: float | None, hi: float | None) -> None:
    found = cell(summarise(scored(values)), metric="judge_score")
    assert (found["lo"], found["hi"]) == (pytest.approx(lo, abs=1e-5), pytest.approx(hi, abs=1e-5))


def test_s10_rows_without_type_are_a_group_of_their_own() -> None:
    summary = summarise(scored([1.0, 0.0], question_type=["a", None]))
    assert cell(summary, "(none)", "judge_score")["mean"] == 0.0
    assert cell(summary, metric="judge_score")["mean"] == 0.5


def test_s11_runs_of_integers_and_floats_go_together() -> None:
    both = pl.concat([score(scored([0, 1]), ["f1"]), score(scored([0.2, 1.0]), ["f1"])], how="diagonal_relaxed")
    assert cell(summarise(both), metric="judge_score")["mean"] == pytest.approx(0.55)


def test_published_means_of_real_answers(shared: Path) -> None:
    lines = (shared / "oracles" / "memobase_0710_lexical.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    frame = pl.DataFrame(rows, infer_schema_length=None).select(
        "prediction",
        "ground_truth",
        pl.col("group").alias("sample_id"),
        pl.format("{}:{}", "group", "index").alias("question_id"),
        pl.col("^published_(judge|bleu1|f1)$"),
    )
    summary = summarise(frame)
    means = {name: round(cell(summary, metric=f"published_{name}")["mean"], 4) for name in ("bleu1", "f1", "judge")}
    assert means == {"bleu1": 0.3978, "f1": 0.5145, "judge": 0.7578}
