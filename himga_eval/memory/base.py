"""What a memory must do."""

from __future__ import annotations

from abc import ABC, abstractmethod

from himga_eval.data.schema import Message


class BaseMemory(ABC):
    """Take in a conversation message by message, and give back what bears on a question.

    A memory that sets `retrieved` to the ids of the turns (or sessions) it last gave back has them recorded with the
    answer, best first.
    """

    retrieved: list[str] | None = None

    @abstractmethod
    def ingest(self, message: Message) -> None:
        """Take in one message; it says which session it belongs to and when that was."""

    @abstractmethod
    def retrieve(self, query: str) -> str:
        """Give the text to answer the query from, empty where there is none."""

    @abstractmethod
    def reset(self) -> None:
        """Forget everything; called before each sample."""


def transcript(message: Message) -> str:
    """Write a message as a line of a transcript: when, who, what."""
    when = message.session_date_str or (message.session_date and f"{message.session_date:%Y-%m-%d %H:%M}")
    return f"[{when}] {message.role}: {message.content}" if when else f"{message.role}: {message.content}"
