"""What a loaded data set is made of: samples with sessions of messages, and their questions."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from himga_eval.schema import QuestionType

__all__ = ["EvidenceRef", "Message", "QAPair", "QuestionType", "Sample", "Session"]


@dataclass
class Message:
    """One turn of a conversation; an image is part of the text as `[Image: caption]`.

    What it says of its session is filled in when an agent ingests it, so that a memory sees when it was said.
    """

    role: str
    content: str
    turn_id: str | None = None
    session_id: str | None = None
    session_date_str: str | None = None
    session_date: datetime | None = None


@dataclass
class Session:
    """One sitting of a conversation; `date_str` is as the file has it, `date` parsed or None."""

    session_id: str
    messages: list[Message]
    date_str: str | None = None
    date: datetime | None = None


@dataclass
class EvidenceRef:
    """Where the answer stands: turns (LoCoMo, `D1:3`) or sessions (LongMemEval)."""

    turn_ids: list[str] = field(default_factory=list)
    session_ids: list[str] = field(default_factory=list)


@dataclass
class QAPair:
    """One question with its gold answer; `raw` holds the file's own fields."""

    question_id: str
    question: str
    answer: str
    question_type: QuestionType
    evidence: EvidenceRef = field(default_factory=EvidenceRef)
    question_date: datetime | None = None
    abstention: bool = False
    adversarial_answer: str | None = None
    raw: dict[str, Any] = field(default_factory=dict)


@dataclass
class Sample:
    """One conversation history with its questions."""

    sample_id: str
    dataset: str
    sessions: list[Session]
    qa_pairs: list[QAPair]
    speaker_a: str | None = None
    speaker_b: str | None = None
    question_date: datetime | None = None
    raw: dict[str, Any] = field(default_factory=dict)
