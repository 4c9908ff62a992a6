"""The hand-written files of the top-level folder data/."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from himga_eval.data import Sample, detect_dataset, load_dataset, questions_frame
from himga_eval.schema import QUESTION_TYPES

DATA = Path(__file__).parents[2] / "data"
RUNS = ("larch", "wren")


@pytest.fixture(scope="module")
def locomo() -> list[Sample]:
    return load_dataset("locomo", DATA)


@pytest.fixture(scope="module")
def longmemeval() -> list[Sample]:
    return load_dataset("longmemeval", DATA)


@pytest.fixture(scope="module", params=RUNS)
def run(request: pytest.FixtureRequest) -> pl.DataFrame:
    return pl.read_ndjson(DATA / f"{request.param}.jsonl", infer_schema_length=None)


@pytest.mark.parametrize("name", QUESTION_TYPES)
def test_each_file_is_what_it_says(name: str) -> None:
    assert detect_dataset(DATA / f"{name}_sample.json") == name


def test_locomo_sample_has_all_that_the_format_has(locomo: list[Sample]) -> None:
    questions = [qa for sample in locomo for qa in sample.qa_pairs]
    assert len(locomo) == 2
    assert len(questions) >= 24
    assert {qa.question_type for qa in questions} == set(QUESTION_TYPES["locomo"])
    assert any(isinstance(qa.raw.get("answer"), int) for qa in questions)
    adversarial = [qa for qa in questions if qa.question_type == "adversarial"]
    assert {"answer" in qa.raw for qa in adversarial} == {True, False}
    assert all(qa.adversarial_answer for qa in adversarial)
    for sample in locomo:
        assert len(sample.sessions) >= 3
        assert any("[Image: " in m.content for s in sample.sessions for m in s.messages)


def test_locomo_sample_has_evidence_for_every_question(locomo: list[Sample]) -> None:
    for sample in locomo:
        turns = {m.turn_id for s in sample.sessions for m in s.messages}
        speakers = {m.role for s in sample.sessions for m in s.messages}
        assert speakers == {sample.speaker_a, sample.speaker_b}
        for qa in sample.qa_pairs:
            assert set(qa.evidence.turn_ids) <= turns
            assert len(qa.evidence.turn_ids) == len(qa.raw["evidence"]) > 0


def test_longmemeval_sample_has_all_types_and_two_abstentions(longmemeval: list[Sample]) -> None:
    frame = questions_frame(longmemeval)
    assert set(frame["question_type"]) == set(QUESTION_TYPES["longmemeval"])
    assert frame["abstention"].sum() == 2
    assert frame.height >= 14


def test_longmemeval_sample_has_evidence_in_its_haystacks(longmemeval: list[Sample]) -> None:
    for sample in longmemeval:
        (qa,) = sample.qa_pairs
        ids = [s.session_id for s in sample.sessions]
        assert set(qa.evidence.session_ids) < set(ids)
        assert {re.sub(r"_\d+$", "", t) for t in qa.evidence.turn_ids} <= set(qa.evidence.session_ids)
        assert qa.evidence.turn_ids


def test_every_date_is_read_and_in_order(locomo: list[Sample], longmemeval: list[Sample]) -> None:
    for sample in locomo + longmemeval:
        dates = [s.date for s in sample.sessions]
        assert None not in dates
        assert dates == sorted(dates)  # type: ignore[type-var]
        if sample.dataset == "longmemeval":
            assert dates[-1] < sample.question_date  # type: ignore[operator]


def test_weekdays_are_those_of_the_calendar(longmemeval: list[Sample]) -> None:
    for sample in longmemeval:
        for session in sample.sessions:
            assert session.date is not None
            weekday = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")[session.date.weekday()]
            assert f"({weekday})" in str(session.date_str)


def test_a_run_answers_exactly_the_questions(
    run: pl.DataFrame, locomo: list[Sample], longmemeval: list[Sample]
) -> None:
    questions = questions_frame(locomo + longmemeval)
    shared = ["dataset", "sample_id", "question_id", "question_type", "question", "ground_truth", "evidence"]
    assert run.select(shared).equals(questions.select(shared))


def test_a_run_has_missing_answers_with_their_reason(run: pl.DataFrame) -> None:
    missing = run.filter(pl.col("prediction").is_null())
    assert 0 < missing.height < run.height / 10
    assert missing["error"].null_count() == 0
    for column in ("retrieved", "latency_s", "input_tokens", "output_tokens", "published_judge_score"):
        assert missing[column].null_count() == missing.height
        assert run[column].null_count() == missing.height


def test_a_recorded_verdict_is_on_the_scale_of_its_data_set(run: pl.DataFrame) -> None:
    scores = run.drop_nulls("published_judge_score")
    for dataset, scale in (("locomo", (0, 0.2, 0.4, 0.6, 0.8, 1)), ("longmemeval", (0, 1))):
        assert set(scores.filter(dataset=dataset)["published_judge_score"]) <= set(scale)


def test_larch_is_better_than_wren() -> None:
    means = [
        pl.read_ndjson(DATA / f"{name}.jsonl", infer_schema_length=None)
        .group_by("dataset", maintain_order=True)
        .agg(pl.col("published_judge_score").mean())["published_judge_score"]
        for name in RUNS
    ]
    assert (means[0] > means[1] + 0.3).all()


def test_no_line_stands_twice() -> None:
    for file in DATA.glob("*.jsonl"):
        ids = [json.loads(line)["question_id"] for line in file.read_text(encoding="utf-8").splitlines()]
        assert max(Counter(ids).values()) == 1
