"""The baseline memories."""

from __future__ import annotations

from datetime import datetime

import pytest

from himga_eval.data.schema import Message
from himga_eval.memory import BaseMemory, BM25Memory, FullHistory, NullMemory

TURNS = [
    Message("Ada", "I planted tomatoes on the balcony.", "D1:1", "session_1", "9:00 am on 3 May, 2023"),
    Message("Ben", "Mine never survive the wind.", "D1:2", "session_1", "9:00 am on 3 May, 2023"),
    Message("Ada", "The tomatoes are ripe, the basil is not.", "D2:1", "session_2", None, datetime(2023, 8, 1, 18, 30)),
]


def filled(memory: BaseMemory) -> BaseMemory:
    for turn in TURNS:
        memory.ingest(turn)
    return memory


@pytest.mark.parametrize("make", [NullMemory, FullHistory, BM25Memory])
def test_a_fresh_memory_has_nothing_to_say(make: type[BaseMemory]) -> None:
    assert make().retrieve("tomatoes?") == ""


@pytest.mark.parametrize("make", [NullMemory, FullHistory, BM25Memory])
def test_reset_forgets(make: type[BaseMemory]) -> None:
    memory = filled(make())
    memory.retrieve("tomatoes")
    memory.reset()
    assert memory.retrieve("tomatoes") == ""


def test_null_memory_remembers_nothing() -> None:
    assert filled(NullMemory()).retrieve("tomatoes") == ""


def test_full_history_says_who_said_what_when() -> None:
    assert filled(FullHistory()).retrieve("anything").splitlines() == [
        "[9:00 am on 3 May, 2023] Ada: I planted tomatoes on the balcony.",
        "[9:00 am on 3 May, 2023] Ben: Mine never survive the wind.",
        "[2023-08-01 18:30] Ada: The tomatoes are ripe, the basil is not.",
    ]


def test_bm25_gives_the_best_turns_in_the_order_they_were_said() -> None:
    memory = filled(BM25Memory(k=2))
    found = memory.retrieve("Are the tomatoes ripe?")
    assert [line.split("] ")[1] for line in found.splitlines()] == [
        "Ada: I planted tomatoes on the balcony.",
        "Ada: The tomatoes are ripe, the basil is not.",
    ]
    assert memory.retrieved == ["D2:1", "D1:1"]


def test_bm25_leaves_out_turns_that_share_no_word() -> None:
    memory = filled(BM25Memory(k=3))
    assert memory.retrieve("zeppelin") == ""
    assert memory.retrieved == []


def test_bm25_takes_in_more_after_a_question() -> None:
    memory = filled(BM25Memory(k=1))
    memory.retrieve("tomatoes")
    memory.ingest(Message("Ben", "My zeppelin landed.", None, "session_3"))
    assert memory.retrieve("zeppelin") == "Ben: My zeppelin landed."
    assert memory.retrieved == ["session_3"]
