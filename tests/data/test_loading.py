from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from himga_eval.data import load_dataset, questions_frame, read_questions
from himga_eval.data.loading import QUESTIONS
from himga_eval.errors import DatasetWarning, InputError

TYPES = ("single-session-user", "multi-session", "knowledge-update")


@pytest.fixture
def locomo(tmp_path: Path) -> Path:
    """Three conversations with questions of the first, the first two, and the first three categories."""
    items = [
        {
            "sample_id": f"conv-{c}",
            "conversation": {"session_1": [{"speaker": "Bo", "dia_id": "D1:1", "text": "Hello"}]},
            "qa": [
                {"question": f"Q{c}{n}", "answer": f"A{n}", "evidence": ["D1:1"], "category": n}
                for n in range(1, c + 1)
                for _ in range(4)
            ],
        }
        for c in (1, 2, 3)
    ]
    file = tmp_path / "locomo.json"
    file.write_text(json.dumps(items), encoding="utf-8")
    return file


@pytest.fixture
def longmemeval(tmp_path: Path) -> Path:
    """Thirty questions, sorted by type."""
    items = [
        {"question_id": f"q{i}", "question_type": TYPES[i // 10], "question": "Where?", "answer": i} for i in range(30)
    ]
    file = tmp_path / "longmemeval.json"
    file.write_text(json.dumps(items), encoding="utf-8")
    return file


def test_sample_ids_keep_these_in_the_file_s_order(locomo: Path) -> None:
    samples = load_dataset("locomo", locomo, sample_ids=["conv-3", "conv-1"])
    assert [s.sample_id for s in samples] == ["conv-1", "conv-3"]


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        pytest.param(["conv-1", "conv-9"], "has no sample conv-9; it has: conv-1, conv-2, conv-3", id="unknown"),
        pytest.param("conv-1", "sample_ids='conv-1': it is a list", id="a text"),
        pytest.param([], "it is a list of sample ids", id="an empty list"),
        pytest.param(3, "sample_ids=3: it is a list", id="a number"),
    ],
)
def test_sample_ids_that_cannot_be_met_are_an_error(locomo: Path, ids: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_dataset("locomo", locomo, sample_ids=ids)


def test_limit_keeps_the_first_samples_and_says_which_types_it_leaves_out(locomo: Path) -> None:
    with pytest.warns(
        DatasetWarning, match="limit=2: .* leave out single_hop, open_domain, adversarial; sample=N"
    ) as w:
        samples = load_dataset("locomo", locomo, limit=2)
    assert [s.sample_id for s in samples] == ["conv-1", "conv-2"]
    assert w[0].filename == __file__


def test_limit_that_leaves_out_no_type_is_silent(shared: Path) -> None:
    assert len(load_dataset("locomo", shared / "data", limit=1)) == 1


@pytest.mark.parametrize("choice", [{"limit": "1"}, {"limit": 1.5}, {"sample": "5"}, {"sample": True}, {"seed": "x"}])
def test_choices_are_whole_numbers(locomo: Path, choice: dict[str, Any]) -> None:
    ((name, value),) = choice.items()
    with pytest.raises(InputError, match=f"{name}={value!r}: it is a whole number"):
        load_dataset("locomo", locomo, **choice)


@pytest.mark.parametrize("limit", [0, -1])
def test_limit_is_at_least_one(locomo: Path, limit: int) -> None:
    with pytest.raises(InputError, match=f"limit={limit}"):
        load_dataset("locomo", locomo, limit=limit)


def test_sample_draws_questions_of_every_type(longmemeval: Path) -> None:
    questions = questions_frame(load_dataset("longmemeval", longmemeval, sample=6))
    assert Counter(questions["question_type"]) == {
        "single_session_user": 2,
        "multi_session": 2,
        "knowledge_update": 2,
    }


def test_sample_keeps_conversations_with_their_drawn_questions(locomo: Path) -> None:
    samples = load_dataset("locomo", locomo, sample=6)
    assert sum(len(s.qa_pairs) for s in samples) == 6
    assert all(s.qa_pairs and s.sessions for s in samples)
    assert Counter(qa.question_type for s in samples for qa in s.qa_pairs) == {
        "multi_hop": 3,
        "temporal": 2,
        "open_domain": 1,
    }


def test_sample_is_the_same_each_time_and_another_with_another_seed(longmemeval: Path) -> None:
    def ids(**choice: int) -> list[str]:
        return [s.sample_id for s in load_dataset("longmemeval", longmemeval, sample=9, **choice)]

    assert ids() == ids(seed=0) != ids(seed=1)


def test_sample_draws_from_what_the_other_choices_keep(longmemeval: Path) -> None:
    ids = [f"q{i}" for i in range(5, 15)]
    samples = load_dataset("longmemeval", longmemeval, sample_ids=ids, sample=4)
    assert len(samples) == 4
    assert {s.sample_id for s in samples} <= set(ids)


def test_questions_frame_has_its_columns_even_when_empty() -> None:
    assert questions_frame([]).schema == pl.Schema(QUESTIONS)


def test_questions_frame_has_a_row_a_question(longmemeval: Path, locomo: Path) -> None:
    item = {
        "question_id": "q1_abs",
        "question_type": "multi-session",
        "question": "Where?",
        "answer": 7,
        "question_date": "2023/05/30 (Tue) 23:17",
        "answer_session_ids": ["a", "b"],
    }
    longmemeval.write_text(json.dumps([item]), encoding="utf-8")
    samples = load_dataset("locomo", locomo, sample_ids=["conv-1"]) + load_dataset("longmemeval", longmemeval)
    frame = questions_frame(samples)
    assert frame.schema == pl.Schema(QUESTIONS)
    assert frame["question_id"].to_list() == ["conv-1:0", "conv-1:1", "conv-1:2", "conv-1:3", "q1_abs"]
    assert frame.rows()[0] == (
        "locomo", "conv-1", "conv-1:0", "multi_hop", "Q11", "A1", ["D1:1"], False, None, None
    )  # fmt: skip
    assert frame.rows()[-1] == (
        "longmemeval", "q1_abs", "q1_abs", "multi_session", "Where?", "7", ["a", "b"], True, None,
        datetime(2023, 5, 30, 23, 17),
    )  # fmt: skip


def test_read_questions_tells_the_data_set_itself(longmemeval: Path, locomo: Path) -> None:
    assert read_questions(locomo).equals(questions_frame(load_dataset("locomo", locomo)))
    assert read_questions(longmemeval).equals(questions_frame(load_dataset("longmemeval", longmemeval)))


def changed(shared: Path, tmp_path: Path, name: str) -> Path:
    """The known file less one question."""
    if name == "locomo":
        items = json.loads((shared / "data" / "locomo" / "locomo10.json").read_text(encoding="utf-8"))
        del items[3]["qa"][17]
    else:
        items = json.loads((shared / "data" / "longmemeval" / "questions.json").read_text(encoding="utf-8"))
        del items[17]
    file = tmp_path / "changed.json"
    file.write_text(json.dumps(items), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param("locomo", r"1,985 questions, not 1,986 \((\w+) \d+, not \d+\)$", id="locomo"),
        pytest.param("longmemeval", r"499 questions, not 500 \(single_session_user 69, not 70\)$", id="longmemeval"),
    ],
)
def test_an_unknown_revision_is_a_warning_with_the_difference(
    shared: Path, tmp_path: Path, name: str, message: str
) -> None:
    file = changed(shared, tmp_path, name)
    for read in (lambda: load_dataset(name, file), lambda: load_dataset(name, file, sample=9)):
        with pytest.warns(DatasetWarning, match=message) as caught:
            read()
        assert str(file) in str(caught[0].message)
    with pytest.warns(DatasetWarning, match=message):
        read_questions(file)


def test_what_another_revision_has_other_is_counted(tmp_path: Path) -> None:
    item = {"question_type": "multi-session", "question": "Where?", "answer": "Oslo"}
    file = tmp_path / "other.json"
    file.write_text(json.dumps([{"question_id": f"q{i}", **item} for i in range(300)]), encoding="utf-8")
    message = r"other\.json is not the revision of longmemeval .*300 questions, not 500 \(.*multi_session 300, not 133"
    with pytest.warns(DatasetWarning, match=message):
        load_dataset("longmemeval", file)


def test_a_chosen_part_of_an_unknown_revision_is_no_warning(shared: Path, tmp_path: Path) -> None:
    load_dataset("locomo", changed(shared, tmp_path, "locomo"), sample_ids=["conv-42"])
