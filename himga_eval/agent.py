"""An agent to evaluate: a memory and a model. Any object with `memory.reset`, `ingest_sample` and `answer` will do."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from himga_eval.data.schema import Sample
from himga_eval.memory.base import BaseMemory

SYSTEM = (
    "You answer questions about past conversations. Use the excerpts you are given; they carry the date on which each "
    "thing was said. Answer in a few words. If the excerpts do not hold the answer, say that it was not mentioned."
)


class BaseAgent:
    """Remember a sample's conversation, and answer a question from what the memory gives back."""

    def __init__(self, memory: BaseMemory, llm: Any) -> None:
        self.memory = memory
        self.llm = llm

    def ingest_sample(self, sample: Sample) -> None:
        """Feed every message to the memory, in order, each with its session and date."""
        for session in sample.sessions:
            for message in session.messages:
                said = replace(
                    message,
                    session_id=message.session_id or session.session_id,
                    session_date_str=message.session_date_str or session.date_str,
                    session_date=message.session_date or session.date,
                )
                self.memory.ingest(said)

    def answer(self, question: str, *, date: datetime | None = None) -> str:
        """Answer a question asked on `date`."""
        context = self.memory.retrieve(question)
        return str(self.llm.chat(self._build_messages(question, context, date)))

    def _build_messages(self, question: str, context: str, date: datetime | None = None) -> list[dict[str, Any]]:
        parts = [f"Context:\n{context}"] if context else []
        parts += [f"Today is {date:%A, %d %B %Y, %H:%M}."] if date else []
        asked = f"Question: {question}" if parts else question
        return [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": "\n\n".join([*parts, asked])},
        ]
