from __future__ import annotations

import json
import tracemalloc
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from himga_eval.data import Sample, load_dataset, questions_frame, read_questions
from himga_eval.errors import DatasetError, UnknownQuestionType

Load = Callable[..., list[Sample]]

PLAIN = {"question_id": "q1", "question_type": "multi-session", "question": "Where?", "answer": "Rome"}


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Write questions in LongMemEval's format, and load them."""

    def build(*items: Any, **choice: Any) -> list[Sample]:
        file = tmp_path / "longmemeval.json"
        file.write_text(json.dumps(items), encoding="utf-8")
        return load_dataset("longmemeval", file, **choice)

    return build


def test_a_question_is_a_sample_with_its_haystack(load: Load) -> None:
    item = PLAIN | {
        "question_date": "2023/05/30 (Tue) 23:17",
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"],
        "haystack_session_ids": ["chat_9", "answer_2"],
        "haystack_sessions": [
            [{"role": "user", "content": "Hello"}],
            [
                {"role": "user", "content": "I moved to Rome", "has_answer": True},
                {"role": "assistant", "content": "Bello!", "has_answer": False},
            ],
        ],
        "answer_session_ids": ["answer_2"],
    }
    (sample,) = load(item)
    assert (sample.sample_id, sample.dataset) == ("q1", "longmemeval")
    assert [s.session_id for s in sample.sessions] == ["chat_9", "answer_2"]
    assert [s.date for s in sample.sessions] == [datetime(2023, 5, 20, 2, 21), datetime(2023, 5, 21, 10, 0)]
    assert [(m.role, m.content, m.turn_id) for m in sample.sessions[1].messages] == [
        ("user", "I moved to Rome", "answer_2_1"),
        ("assistant", "Bello!", "answer_2_2"),
    ]
    (qa,) = sample.qa_pairs
    assert (qa.question_id, qa.question, qa.answer, qa.question_type) == ("q1", "Where?", "Rome", "multi_session")
    assert (qa.evidence.session_ids, qa.evidence.turn_ids) == (["answer_2"], ["answer_2_1"])
    assert qa.question_date == sample.question_date == datetime(2023, 5, 30, 23, 17)
    assert qa.raw["question_type"] == "multi-session"
    assert "haystack_sessions" not in qa.raw


@pytest.mark.parametrize(
    ("question_id", "expected"),
    [
        pytest.param("ab12cd34_abs", True, id="ends in _abs"),
        pytest.param("gpt4_77_abs", True, id="ends in _abs, other prefix"),
        pytest.param("ab12cd34", False, id="ordinary"),
        pytest.param("9f_abstract_2", False, id="contains _abs"),
        pytest.param("7_absolute", False, id="goes on behind _abs"),
    ],
)
def test_abstention_is_a_suffix_of_the_id(load: Load, question_id: str, expected: bool) -> None:
    qa = load(PLAIN | {"question_id": question_id, "question_type": "knowledge-update"})[0].qa_pairs[0]
    assert qa.abstention is expected
    assert qa.question_type == "knowledge_update"


@pytest.mark.parametrize("name", ["single-session-user", "single_session_user", "Single-Session-User "])
def test_spellings_of_a_type_are_one(load: Load, name: str) -> None:
    assert load(PLAIN | {"question_type": name})[0].qa_pairs[0].question_type == "single_session_user"


def test_an_unknown_type_is_an_error_that_names_the_nearest(load: Load) -> None:
    with pytest.raises(UnknownQuestionType, match=r"'multi-sesion'; did you mean 'multi_session'.*q1"):
        load(PLAIN | {"question_type": "multi-sesion"})


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(15, "15", id="an int becomes its text"),
        pytest.param("15 weeks", "15 weeks", id="text"),
        pytest.param(1.5, "1.5", id="a float becomes its text"),
    ],
)
def test_an_answer_is_text(load: Load, answer: object, expected: str) -> None:
    frame = questions_frame(load(PLAIN | {"answer": answer}))
    assert frame["ground_truth"].to_list() == [expected]


def test_a_session_that_stands_twice_is_kept_twice(load: Load) -> None:
    item = PLAIN | {
        "haystack_session_ids": ["a", "b", "a"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 02:21", "2023/05/22 (Mon) 02:21"],
        "haystack_sessions": [[{"role": "user", "content": text}] for text in ("one", "two", "three")],
    }
    sessions = load(item)[0].sessions
    assert [(s.session_id, s.date and s.date.day, s.messages[0].content) for s in sessions] == [
        ("a", 20, "one"),
        ("b", 21, "two"),
        ("a", 22, "three"),
    ]


def test_without_haystacks_there_are_no_sessions(load: Load) -> None:
    (sample,) = load(PLAIN | {"question_date": "2023-05-30T00:00:00+00:00"})
    assert sample.sessions == []
    assert sample.question_date == datetime(2023, 5, 30)


def test_without_dates_and_ids_sessions_are_numbered(load: Load) -> None:
    (sample,) = load(PLAIN | {"haystack_sessions": [[], [{"role": "user", "content": "Hello"}]]})
    assert [(s.session_id, s.date) for s in sample.sessions] == [("session_1", None), ("session_2", None)]


@pytest.mark.parametrize(
    ("item", "message"),
    [
        pytest.param({"question": "Where?"}, "item 0: no 'question_id'; it has: question", id="no id"),
        pytest.param({"question_id": "q1"}, "q1: no 'question'", id="no question"),
        pytest.param(
            PLAIN | {"haystack_sessions": [[], []], "haystack_dates": ["2023/05/20"]},
            "q1: 2 haystack_sessions, but 1 haystack_dates",
            id="lists of unequal length",
        ),
        pytest.param(
            PLAIN | {"haystack_sessions": [[{"role": "user"}]], "haystack_session_ids": ["a"]},
            "q1, session a, turn 1: no 'content'; it has: role",
            id="a turn without text",
        ),
        pytest.param(
            PLAIN | {"haystack_sessions": "none"}, "'haystack_sessions' is str, not a list", id="a text for a list"
        ),
        pytest.param(
            PLAIN | {"haystack_sessions": [None]}, "q1: session session_1 is NoneType", id="a null for a session"
        ),
        pytest.param(PLAIN | {"answer_session_ids": "a"}, "q1: 'answer_session_ids' is str", id="a text for evidence"),
        pytest.param(
            PLAIN | {"haystack_sessions": ["Hello"]},
            "q1: session session_1 is str, not a list",
            id="a text for a session",
        ),
    ],
)
def test_a_broken_file_is_one_error_that_says_where(load: Load, item: Any, message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        load(item)


def test_a_question_twice_is_an_error(load: Load) -> None:
    with pytest.raises(DatasetError, match="item 1: question 'q1' stands twice"):
        load(PLAIN, PLAIN)


ITEMS, ITEM_MB = 60, 0.25


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of 60 questions, each with a haystack of a quarter of a megabyte."""
    types = ("multi-session", "temporal-reasoning", "knowledge-update")
    file = tmp_path_factory.mktemp("large") / "longmemeval_m.json"
    with file.open("w", encoding="utf-8") as out:
        for i in range(ITEMS):
            turns = [{"role": "user", "content": f"{i} {n} " + "x" * 5_000} for n in range(50)]
            item = PLAIN | {
                "question_id": f"q{i}" + "_abs" * (i % 10 == 9),
                "question_type": types[i % 3],
                "haystack_sessions": [turns],
                "haystack_session_ids": [f"s{i}"],
                "haystack_dates": ["2023/05/20 (Sat) 02:21"],
            }
            out.write(("[" if i == 0 else ",\n") + json.dumps(item))
        out.write("]")
    assert file.stat().st_size > ITEMS * ITEM_MB * 1e6
    return file


@pytest.mark.parametrize(
    ("read", "kept"),
    [
        pytest.param(lambda f: load_dataset("longmemeval", f, sample=3), 3, id="sample"),
        pytest.param(lambda f: load_dataset("longmemeval", f, limit=3), 3, id="limit"),
        pytest.param(lambda f: load_dataset("longmemeval", f, sample_ids=["q58"]), 1, id="sample_ids"),
        pytest.param(read_questions, 0, id="read_questions"),
    ],
)
@pytest.mark.filterwarnings("ignore:limit=3")
def test_only_what_is_kept_is_held(large: Path, read: Callable[[Path], object], kept: int) -> None:
    tracemalloc.start()
    try:
        result = read(large)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert result is not None
    assert peak < (kept + 4) * ITEM_MB * 1e6 + 2e6  # of fifteen megabytes


@pytest.fixture(scope="module")
def real(shared: Path) -> list[Sample]:
    return load_dataset("longmemeval", shared / "data" / "longmemeval" / "questions.json")


def test_real_file_has_the_known_counts(real: list[Sample]) -> None:
    frame = questions_frame(real)
    assert Counter(frame["question_type"]) == {
        "single_session_user": 70,
        "single_session_assistant": 56,
        "single_session_preference": 30,
        "multi_session": 133,
        "temporal_reasoning": 133,
        "knowledge_update": 78,
    }
    assert frame["abstention"].sum() == 30
    assert frame["question_id"].n_unique() == 500
    assert frame["question_date"].null_count() == 0
    assert frame["ground_truth"].null_count() == 0
    assert sum(isinstance(s.raw["answer"], int) for s in real) == 32
