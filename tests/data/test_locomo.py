from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from himga_eval.data import QuestionType, Sample, load_dataset, questions_frame
from himga_eval.data.locomo import NOT_MENTIONED
from himga_eval.errors import DatasetError

Load = Callable[..., Sample]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Write a conversation in LoCoMo's format, and load it."""

    def build(qa: list[Any] | None = None, conversation: Any = None, **fields: Any) -> Sample:
        if conversation is None:
            conversation = {"session_1": [{"speaker": "Bo", "dia_id": "D1:1", "text": "Hello"}]}
        item = {"qa": qa or [], "conversation": conversation, "sample_id": "conv-7", **fields}
        file = tmp_path / "locomo.json"
        file.write_text(json.dumps([item]), encoding="utf-8")
        return load_dataset("locomo", file)[0]

    return build


def question(category: int, **fields: Any) -> dict[str, Any]:
    return {"question": "What colour is Bo's kite?", "evidence": ["D1:2"], "category": category, **fields}


@pytest.mark.parametrize(
    ("category", "expected"),
    [
        pytest.param(1, QuestionType.MULTI_HOP, id="1 multi-hop"),
        pytest.param(2, QuestionType.TEMPORAL, id="2 temporal"),
        pytest.param(3, QuestionType.OPEN_DOMAIN, id="3 open-domain"),
        pytest.param(4, QuestionType.SINGLE_HOP, id="4 single-hop"),
        pytest.param(5, QuestionType.ADVERSARIAL, id="5 adversarial"),
        pytest.param("2", QuestionType.TEMPORAL, id="a number as text"),
    ],
)
def test_categories_have_their_official_meaning(load: Load, category: int, expected: QuestionType) -> None:
    assert load([question(category, answer="red")]).qa_pairs[0].question_type is expected


@pytest.mark.parametrize(
    ("fields", "answer", "trap"),
    [
        pytest.param({"adversarial_answer": "red"}, NOT_MENTIONED, "red", id="no answer: not mentioned"),
        pytest.param({"answer": None, "adversarial_answer": "red"}, NOT_MENTIONED, "red", id="null answer"),
        pytest.param({"answer": "", "adversarial_answer": "red"}, NOT_MENTIONED, "red", id="empty answer"),
        pytest.param({"answer": "No", "adversarial_answer": "Yes"}, "No", "Yes", id="both: the answer is gold"),
        pytest.param({"adversarial_answer": 2022}, NOT_MENTIONED, "2022", id="the trap is a text"),
    ],
)
def test_an_adversarial_question_never_has_the_trap_as_gold(
    load: Load, fields: dict[str, Any], answer: str, trap: str
) -> None:
    qa = load([question(5, **fields)]).qa_pairs[0]
    assert (qa.answer, qa.adversarial_answer) == (answer, trap)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(2022, "2022", id="an int becomes its text"),
        pytest.param(2.5, "2.5", id="a float becomes its text"),
        pytest.param(" 4 June, 2022", " 4 June, 2022", id="a leading blank is kept"),
        pytest.param("Caf\u00e9\u200b", "Caf\u00e9\u200b", id="accents and zero-width blanks are kept"),
        pytest.param("No; she stays near the sea", "No; she stays near the sea", id="nothing is cut at ;"),
    ],
)
def test_a_gold_answer_is_the_file_s_own_text(load: Load, answer: object, expected: str) -> None:
    assert load([question(3, answer=answer)]).qa_pairs[0].answer == expected


@pytest.mark.parametrize(
    ("evidence", "turns"),
    [
        pytest.param(["D8:6; D9:17"], ["D8:6", "D9:17"], id="two in one string, semicolon"),
        pytest.param(["D9:1 D4:4 D4:6"], ["D9:1", "D4:4", "D4:6"], id="three in one string, blanks"),
        pytest.param(["D1:18", "D", "D1:20"], ["D1:18", "D1:20"], id="a lone D is no id"),
        pytest.param(["D:11:26"], [], id="D:11:26 is no id"),
        pytest.param(["D30:05"], ["D30:5"], id="leading zero"),
        pytest.param(["D1:2", "D1:2"], ["D1:2"], id="the same twice"),
        pytest.param([], [], id="none"),
        pytest.param(None, [], id="null"),
        pytest.param("D1:2", ["D1:2"], id="a text instead of a list"),
    ],
)
def test_evidence_is_taken_apart_and_kept_raw(load: Load, evidence: Any, turns: list[str]) -> None:
    qa = load([question(4, answer="red") | {"evidence": evidence}]).qa_pairs[0]
    assert qa.evidence.turn_ids == turns
    assert qa.raw["evidence"] == evidence


def test_evidence_names_its_sessions(load: Load) -> None:
    qa = load([question(4, answer="red") | {"evidence": ["D10:1", "D2:4 D10:3"]}]).qa_pairs[0]
    assert qa.evidence.session_ids == ["session_10", "session_2"]


def test_sessions_stand_in_numeric_order_and_empty_ones_are_left_out(load: Load) -> None:
    turn = [{"speaker": "Bo", "dia_id": "D1:1", "text": "Hello"}]
    conversation = {
        "session_10": turn,
        "session_10_date_time": "1:56 pm on 8 May, 2023",
        "session_2": turn,
        "session_2_date_time": "sometime in May",
        "session_1": turn,
        "session_3": [],
        "session_3_date_time": "2:00 pm on 9 May, 2023",
        "session_11_date_time": "1:56 pm on 8 June, 2023",
    }
    sessions = load(conversation=conversation).sessions
    assert [s.session_id for s in sessions] == ["session_1", "session_2", "session_10"]
    assert [s.date for s in sessions] == [None, None, datetime(2023, 5, 8, 13, 56)]
    assert [s.date_str for s in sessions] == [None, "sometime in May", "1:56 pm on 8 May, 2023"]


@pytest.mark.parametrize(
    ("turn", "content"),
    [
        pytest.param({"text": "Look!", "blip_caption": "a red kite"}, "[Image: a red kite] Look!", id="both"),
        pytest.param({"text": "", "blip_caption": "a red kite"}, "[Image: a red kite]", id="image only"),
        pytest.param({"text": "Look!"}, "Look!", id="text only"),
    ],
)
def test_an_image_is_its_caption_in_the_text(load: Load, turn: dict[str, str], content: str) -> None:
    message = load(conversation={"session_1": [{"speaker": "Bo", "dia_id": "D1:1", **turn}]}).sessions[0].messages[0]
    assert (message.role, message.content, message.turn_id) == ("Bo", content, "D1:1")


def test_what_else_the_file_has_is_kept(load: Load) -> None:
    sample = load(event_summary={"events_session_1": "Bo flies a kite"})
    assert sample.raw["event_summary"] == {"events_session_1": "Bo flies a kite"}


@pytest.mark.parametrize(
    ("item", "message"),
    [
        pytest.param({"conversation": {}, "qa": []}, "item 0: no 'sample_id'", id="no sample id"),
        pytest.param({"sample_id": "c", "qa": []}, "c: no 'conversation'", id="no conversation"),
        pytest.param({"sample_id": "c", "conversation": []}, "'conversation' is list", id="a list for an object"),
        pytest.param({"sample_id": "c", "conversation": {}}, "c: no 'qa'; it has: conversation", id="no questions"),
        pytest.param(
            {"sample_id": "c", "conversation": {"session_1": "Hi"}, "qa": []},
            "'session_1' is str, not a list: 'Hi'",
            id="a text for a session",
        ),
        pytest.param(
            {"sample_id": "c", "conversation": {"session_1": [{"text": "Hi"}]}, "qa": []},
            "c, session_1, turn 0: no 'speaker'; it has: text",
            id="a turn without speaker",
        ),
        pytest.param(
            {"sample_id": "c", "conversation": {}, "qa": [question(4)]},
            "c, question 0: no 'answer'; it has: category, evidence, question",
            id="no answer where one is due",
        ),
        pytest.param(
            {"sample_id": "c", "conversation": {}, "qa": [question(6, answer="x")]},
            "c, question 0: no category 6; known: 1 multi_hop, 2 temporal",
            id="unknown category",
        ),
        pytest.param(
            {"sample_id": "c", "conversation": {}, "qa": [question(4, answer=["red"])]},
            "'answer' is list, not a text",
            id="a list for an answer",
        ),
        pytest.param(
            {"sample_id": "c", "conversation": {}, "qa": ["Who?"]},
            "c, question 0 is str, not an object: 'Who\\?'",
            id="a text for a question",
        ),
    ],
)
def test_a_broken_file_is_one_error_that_says_where(tmp_path: Path, item: Any, message: str) -> None:
    file = tmp_path / "broken.json"
    file.write_text(json.dumps([item]), encoding="utf-8")
    with pytest.raises(DatasetError, match=message) as caught:
        load_dataset("locomo", file)
    assert str(file) in str(caught.value)


def test_a_conversation_twice_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "twice.json"
    file.write_text(json.dumps([{"sample_id": "c", "conversation": {}, "qa": []}] * 2), encoding="utf-8")
    with pytest.raises(DatasetError, match="item 1: conversation 'c' stands twice"):
        load_dataset("locomo", file)


@pytest.fixture(scope="module")
def real(shared: Path) -> list[Sample]:
    return load_dataset("locomo", shared / "data" / "locomo" / "locomo10.json")


def test_real_file_has_the_known_counts(real: list[Sample]) -> None:
    questions = questions_frame(real)
    assert len(real) == 10
    assert Counter(questions["question_type"]) == {
        "multi_hop": 282,
        "temporal": 321,
        "open_domain": 96,
        "single_hop": 841,
        "adversarial": 446,
    }
    assert questions["question_id"].is_unique().all()
    assert questions["question_id"][17] == "conv-26:17"
    assert questions.select("sample_id", "question").is_duplicated().sum() == 24  # twelve, each twice
    assert questions["ground_truth"].null_count() == 0
    assert (questions["ground_truth"] == NOT_MENTIONED).sum() == 444
    assert questions["adversarial_answer"].drop_nulls().len() == 446
    assert not questions["abstention"].any()


def test_real_file_has_its_sessions_in_order_with_dates(real: list[Sample]) -> None:
    assert [len(s.sessions) for s in real] == [19, 19, 32, 29, 29, 28, 31, 30, 25, 30]
    for sample in real:
        dates = [s.date for s in sample.sessions]
        assert None not in dates
        assert dates == sorted(dates)


def test_real_file_has_evidence_that_exists(real: list[Sample]) -> None:
    lost = []
    for sample in real:
        turns = {m.turn_id for s in sample.sessions for m in s.messages}
        lost += [t for qa in sample.qa_pairs for t in qa.evidence.turn_ids if t not in turns]
    empty = [qa.question_id for s in real for qa in s.qa_pairs if not qa.evidence.turn_ids]
    assert empty == ["conv-26:30", "conv-26:46", "conv-50:39", "conv-50:42"]
    assert lost == ["D10:19", "D4:36"]  # the file refers to turns that it does not have
