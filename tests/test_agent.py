"""The agent of a memory and a model."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from himga_eval.agent import BaseAgent
from himga_eval.data.schema import Message, Sample, Session
from himga_eval.memory import FullHistory, NullMemory


class Echo:
    """A model that remembers what it was asked."""

    def chat(self, messages: list[dict[str, Any]]) -> str:
        self.messages = messages
        return "in May"

    @property
    def asked(self) -> str:
        return str(self.messages[-1]["content"])


SAMPLE = Sample(
    "conv-1",
    "locomo",
    [
        Session("session_1", [Message("Ada", "I moved."), Message("Ben", "Where to?")], "noon", datetime(2023, 5, 1)),
        Session("session_2", [Message("Ada", "To Bergen.")]),
    ],
    [],
)


def test_every_message_is_ingested_in_order_with_its_session() -> None:
    said: list[Message] = []

    class Spy(NullMemory):
        def ingest(self, message: Message) -> None:
            said.append(message)

    BaseAgent(Spy(), Echo()).ingest_sample(SAMPLE)
    assert [(m.content, m.session_id, m.session_date_str) for m in said] == [
        ("I moved.", "session_1", "noon"),
        ("Where to?", "session_1", "noon"),
        ("To Bergen.", "session_2", None),
    ]
    assert said[0].session_date == datetime(2023, 5, 1)
    assert SAMPLE.sessions[0].messages[0].session_id is None  # the sample itself stays as it was


def test_what_the_memory_gives_back_is_in_the_prompt() -> None:
    model = Echo()
    agent = BaseAgent(FullHistory(), model)
    agent.ingest_sample(SAMPLE)
    assert agent.answer("Where does Ada live?") == "in May"
    assert [m["role"] for m in model.messages] == ["system", "user"]
    assert model.asked.startswith("Context:\n[noon] Ada: I moved.")
    assert model.asked.endswith("Question: Where does Ada live?")


def test_without_memory_the_prompt_is_the_question() -> None:
    model = Echo()
    BaseAgent(NullMemory(), model).answer("Where does Ada live?")
    assert model.asked == "Where does Ada live?"


def test_the_date_of_the_question_is_in_the_prompt() -> None:
    model = Echo()
    BaseAgent(NullMemory(), model).answer("When did I move?", date=datetime(2023, 6, 2, 9, 5))
    assert "Today is Friday, 02 June 2023, 09:05." in model.asked
