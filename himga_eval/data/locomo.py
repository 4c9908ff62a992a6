"""LoCoMo (Maharana et al. 2024, arXiv 2402.17753): ten long conversations between two people."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from himga_eval.data._fields import need, need_list, need_text
from himga_eval.data.dates import parse_date
from himga_eval.data.files import Item, read_items
from himga_eval.data.schema import EvidenceRef, Message, QAPair, QuestionType, Sample, Session
from himga_eval.errors import DatasetError

CATEGORIES = {
    1: QuestionType.MULTI_HOP,
    2: QuestionType.TEMPORAL,
    3: QuestionType.OPEN_DOMAIN,
    4: QuestionType.SINGLE_HOP,
    5: QuestionType.ADVERSARIAL,
}
"""The official meaning of the category numbers; several projects label them otherwise."""

NOT_MENTIONED = "Not mentioned in the conversation"
"""The gold answer of an adversarial question where the file has none."""

_SESSION = re.compile(r"session_\d+", re.ASCII)
_TURN = re.compile(r"(?<![\w:])D(\d+):(\d+)(?![\w:])", re.ASCII)


def read_locomo(path: Path) -> Iterator[Sample]:
    """Yield the conversations of a LoCoMo file with their questions.

    Raises:
        DatasetError: a field is absent or wrong, or a conversation stands twice; says where.
    """
    seen: set[str] = set()
    for i, item in enumerate(read_items(path)):
        sample_id = need_text(item, "sample_id", f"{path}, item {i}")
        if sample_id in seen:
            raise DatasetError(f"{path}, item {i}: conversation {sample_id!r} stands twice")
        seen.add(sample_id)
        yield _sample(item, sample_id, f"{path}, {sample_id}")


def _sample(item: Item, sample_id: str, where: str) -> Sample:
    conversation = need(item, "conversation", where)
    if not isinstance(conversation, dict):
        raise DatasetError(f"{where}: 'conversation' is {type(conversation).__name__}, not an object")
    names = sorted((key for key in conversation if _SESSION.fullmatch(key)), key=lambda k: int(k[8:]))
    return Sample(
        sample_id=sample_id,
        dataset="locomo",
        sessions=[_session(conversation, name, where) for name in names if conversation[name]],
        qa_pairs=[
            _question(qa, f"{sample_id}:{i}", f"{where}, question {i}")
            for i, qa in enumerate(need_list(item, "qa", where))
        ],
        speaker_a=conversation.get("speaker_a"),
        speaker_b=conversation.get("speaker_b"),
        raw=item,
    )


def _session(conversation: Item, name: str, where: str) -> Session:
    date = conversation.get(f"{name}_date_time")
    turns = need_list(conversation, name, where)
    return Session(
        session_id=name,
        messages=[_message(turn, f"{where}, {name}, turn {i}") for i, turn in enumerate(turns)],
        date_str=date,
        date=parse_date(date),
    )


def _message(turn: Any, where: str) -> Message:
    speaker = need_text(turn, "speaker", where)
    caption, text = turn.get("blip_caption"), turn.get("text")
    parts = (f"[Image: {caption}]" if caption else "", str(text or ""))
    return Message(speaker, " ".join(p for p in parts if p), turn.get("dia_id"))


def _question(qa: Any, question_id: str, where: str) -> QAPair:
    question_type = _question_type(need(qa, "category", where), where)
    adversarial = question_type is QuestionType.ADVERSARIAL
    gold_absent = qa.get("answer") in (None, "")
    trap = qa.get("adversarial_answer")
    return QAPair(
        question_id=question_id,
        question=need_text(qa, "question", where),
        answer=NOT_MENTIONED if adversarial and gold_absent else need_text(qa, "answer", where),
        question_type=question_type,
        evidence=_evidence(qa.get("evidence")),
        adversarial_answer=None if trap is None else str(trap),
        raw=qa,
    )


def _question_type(category: object, where: str) -> QuestionType:
    for number, question_type in CATEGORIES.items():
        if str(category) == str(number):
            return question_type
    known = ", ".join(f"{number} {name}" for number, name in CATEGORIES.items())
    raise DatasetError(f"{where}: no category {category!r}; known: {known}")


def _evidence(value: object) -> EvidenceRef:
    """Find the turn ids: "D8:6; D9:17" holds two, "D" and "D:11:26" none."""
    texts = value if isinstance(value, list) else [value]
    found = [(int(m[1]), int(m[2])) for text in texts for m in _TURN.finditer(str(text))]
    return EvidenceRef(
        turn_ids=list(dict.fromkeys(f"D{session}:{turn}" for session, turn in found)),
        session_ids=list(dict.fromkeys(f"session_{session}" for session, _ in found)),
    )
