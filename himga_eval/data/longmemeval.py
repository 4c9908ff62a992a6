"""LongMemEval (Wu et al. 2024, arXiv 2410.10813): 500 questions, each about its own chat history."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from himga_eval.data._fields import as_list, need_list, need_text
from himga_eval.data.dates import parse_date
from himga_eval.data.files import Item, read_items
from himga_eval.data.schema import EvidenceRef, Message, QAPair, QuestionType, Sample, Session
from himga_eval.errors import DatasetError, UnknownQuestionType
from himga_eval.schema import QUESTION_TYPES, normalise_question_type

ABSTENTION_SUFFIX = "_abs"
"""Ends the id of a question that the history does not answer; its type stays an ordinary one."""


def read_longmemeval(path: Path) -> Iterator[Sample]:
    """Yield the questions of a LongMemEval file, each a sample with its haystack; one is held at a time.

    Sessions keep the file's order, and one that stands twice in a haystack is kept twice. A turn's id
    is `<session>_<n>`, counted from 1, as in the official retrieval logs. `raw` is the item less its
    haystack.

    Raises:
        DatasetError: a field is absent or wrong, or a question stands twice; says where.
        UnknownQuestionType: a type that LongMemEval does not have.
    """
    seen: set[str] = set()
    for i, item in enumerate(read_items(path)):
        question_id = need_text(item, "question_id", f"{path}, item {i}")
        if question_id in seen:
            raise DatasetError(f"{path}, item {i}: question {question_id!r} stands twice")
        seen.add(question_id)
        yield _sample(item, question_id, f"{path}, {question_id}")


def _sample(item: Item, question_id: str, where: str) -> Sample:
    sessions, answering = _sessions(item, where) if "haystack_sessions" in item else ([], [])
    raw = {name: value for name, value in item.items() if not name.startswith("haystack_")}
    date = parse_date(item.get("question_date"))
    evidence = as_list(item.get("answer_session_ids") or [], f"{where}: 'answer_session_ids'")
    qa = QAPair(
        question_id=question_id,
        question=need_text(item, "question", where),
        answer=need_text(item, "answer", where),
        question_type=_question_type(need_text(item, "question_type", where), where),
        evidence=EvidenceRef(turn_ids=answering, session_ids=[str(s) for s in evidence]),
        question_date=date,
        abstention=question_id.endswith(ABSTENTION_SUFFIX),
        raw=raw,
    )
    return Sample(question_id, "longmemeval", sessions, [qa], question_date=date, raw=raw)


def _question_type(name: str, where: str) -> QuestionType:
    known = QUESTION_TYPES["longmemeval"]
    folded = normalise_question_type(name)
    if folded not in known:
        raise UnknownQuestionType(name, known, f"in {where}")
    return QuestionType(folded)


def _sessions(item: Item, where: str) -> tuple[list[Session], list[str]]:
    """Build the haystack, and list the turns that are marked as holding the answer."""
    haystack = need_list(item, "haystack_sessions", where)
    columns: list[list[Any]] = []
    for name in ("haystack_session_ids", "haystack_dates"):
        values = as_list(item.get(name) or [None] * len(haystack), f"{where}: {name!r}")
        if len(values) != len(haystack):
            raise DatasetError(f"{where}: {len(haystack)} haystack_sessions, but {len(values)} {name}")
        columns.append(values)
    sessions, answering = [], []
    for i, (turns, session_id, date) in enumerate(zip(haystack, *columns, strict=True)):
        name = f"session_{i + 1}" if session_id is None else str(session_id)
        messages = []
        for n, turn in enumerate(as_list(turns, f"{where}: session {name}"), 1):
            there = f"{where}, session {name}, turn {n}"
            message = Message(need_text(turn, "role", there), need_text(turn, "content", there), f"{name}_{n}")
            messages.append(message)
            if turn.get("has_answer"):
                answering.append(f"{name}_{n}")
        sessions.append(Session(name, messages, date, parse_date(date)))
    return sessions, answering
