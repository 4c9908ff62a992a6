"""Evidence at hand and still wrong; refusals of what could be answered."""

from __future__ import annotations

import polars as pl
import pytest

from himga_eval.errors import InputError
from himga_eval.failures import EVIDENCE_USE, evidence_use, refusals


def answers() -> pl.DataFrame:
    rows = [
        ("temporal", "May", 1.0, ["D1:1"], ["D1:1"]),
        ("temporal", "June", 0.2, ["D1:1"], ["D2:1", "D1:1"]),
        ("temporal", "It was not mentioned in the conversation.", 0.0, ["D1:1", "D1:2"], ["D1:1"]),
        ("temporal", "July", None, ["D1:1"], ["D1:1"]),
        ("temporal", None, None, ["D1:1"], ["D1:1"]),
        ("multi_hop", "Ann", 0.8, ["D1:1"], []),
        ("multi_hop", "Bob", 1.0, None, ["D1:1"]),
        ("open_domain", None, None, ["D1:1"], ["D1:1"]),
        ("adversarial", "I do not know.", 1.0, ["D1:1"], ["D1:1"]),
    ]
    schema = {
        "question_type": pl.String,
        "prediction": pl.String,
        "judge_score": pl.Float64,
        "evidence": pl.List(pl.String),
        "retrieved": pl.List(pl.String),
    }
    return pl.DataFrame(rows, schema, orient="row").with_columns(
        run=pl.lit("larch"),
        dataset=pl.lit("locomo"),
        sample_id=pl.lit("conv-1"),
        question_id=pl.format("conv-1:{}", pl.int_range(pl.len())),
        ground_truth=pl.lit("May"),
    )


def test_who_had_the_evidence_and_still_got_it_wrong() -> None:
    found = evidence_use(answers(), "judge_score")
    assert found.schema == EVIDENCE_USE
    assert found.drop("run", "dataset", "metric").rows() == [
        # had right, had wrong, lacked right, lacked wrong; a missing answer is wrong, an unscored one not counted
        ("multi_hop", 0, 0, 1, 0, 1),
        ("temporal", 1, 2, 0, 1, 4),
        ("overall", 1, 2, 1, 1, 5),
    ]


def test_what_is_right_can_be_said() -> None:
    found = evidence_use(answers(), "judge_score", right=0.1)
    assert found.filter(question_type="temporal")["had_right"].item() == 2


def test_refusals_of_what_could_be_answered() -> None:
    found = refusals(answers())
    assert found.select("question_type", "metric", "mean", "count", "missing").rows() == [
        ("multi_hop", "refused", 0.0, 2, 0),
        ("temporal", "refused", 0.2, 5, 1),
        ("overall", "refused", pytest.approx(1 / 7), 7, 1),
    ]


def test_abstention_is_no_refusal_of_what_could_be_answered() -> None:
    frame = answers().with_columns(
        dataset=pl.lit("longmemeval"),
        question_type=pl.lit("multi_session"),
        question_id=pl.format("q{}_abs", pl.int_range(pl.len())),
    )
    mixed = frame.with_columns(question_id=pl.col("question_id").str.replace("q2_abs", "q2"))
    assert refusals(mixed).select("question_type", "mean", "count").rows() == [
        ("multi_session", 1.0, 1),
        ("overall", 1.0, 1),
        ("task_averaged", 1.0, 1),
    ]


def test_without_retrieval_nothing_is_known() -> None:
    with pytest.raises(InputError, match="no column retrieved: what an agent had at hand is not known"):
        evidence_use(answers().drop("retrieved"), "judge_score")
