"""The arithmetic of pacing, without a clock."""

from __future__ import annotations

import asyncio
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from himga_eval.llm.base import CallFailed
from himga_eval.llm.budget import Budget
from himga_eval.llm.pace import PAUSE_MAX_S, Pace


def test_no_minute_has_more_calls_than_rpm() -> None:
    pace = Pace(64, rpm=30)
    starts = [pace.turn(0.0, 0) for _ in range(100)]
    assert starts[:3] == [0, 2, 4]
    for start in starts:
        assert sum(start <= other < start + 60 for other in starts) <= 30


def test_no_minute_has_more_tokens_than_tpm() -> None:
    pace = Pace(64, tpm=6000)
    assert [pace.turn(0.0, 500) for _ in range(4)] == [0, 5, 10, 15]
    pace.settle(expected=500, used=300)
    pace.settle(expected=500, used=700)
    assert pace.turn(0.0, 500) == 20
    pace.settle(expected=500, used=200)
    assert pace.turn(0.0, 500) == 22


def test_time_that_was_not_used_is_not_saved_up() -> None:
    pace = Pace(64, rpm=60)
    pace.turn(0.0, 0)
    assert [pace.turn(100.0, 0) for _ in range(3)] == [0, 1, 2]


def test_the_window_grows_by_one_a_round_trip_up_to_the_cap() -> None:
    pace = Pace(20)
    assert pace.window == 16
    for _ in range(16):
        pace.succeeded()
    assert 16.9 < pace.window < 17.1
    for _ in range(1000):
        pace.succeeded()
    assert pace.window == 20


def test_the_window_is_halved_once_a_burst_and_never_below_one() -> None:
    pace = Pace(16)
    for _ in range(10):
        pace.throttled(100.0, None)
    assert pace.window == 8
    for second in range(200, 230, 2):
        pace.throttled(float(second), None)
    assert pace.window == 1


def test_a_pause_is_shared_capped_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    pace = Pace(16)
    with caplog.at_level(logging.WARNING):
        pace.throttled(100.0, 5)
        pace.throttled(100.5, 1)
        pace.throttled(102.0, 99_999)
    assert pace.resume_at == 102 + PAUSE_MAX_S
    assert [record.getMessage() for record in caplog.records] == [
        "the server is busy: no call for 5 s",
        "the server is busy: no call for 600 s (it asked for 1e+05 s)",
    ]


def test_calls_that_only_fail_are_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    pace = Pace(16)
    for second in (1, 4, 7, 8, 60):
        pace.failed(100.0 + second, "no connection")
    told = "no call has succeeded for 5 s, and they are made again: no connection"
    assert caplog.messages == [told]
    pace.succeeded()
    pace.failed(200.0, "no connection")
    assert caplog.messages == [told]
    pace.failed(206.0, "no connection")
    assert caplog.messages == [told] * 2


def test_a_slot_is_free_again_after_an_error() -> None:
    async def use() -> int:
        pace = Pace(1)
        for _ in range(3):
            with pytest.raises(RuntimeError):
                async with pace.slot(0):
                    raise RuntimeError
        return pace.in_flight

    assert asyncio.run(use()) == 0


@given(
    st.floats(0.01, 1),
    st.lists(st.tuples(st.floats(0.001, 0.3), st.floats(0, 1)), min_size=1, max_size=30),
)
def test_a_budget_is_never_overspent(most: float, calls: list[tuple[float, float]]) -> None:
    async def spend() -> float:
        budget = Budget(most)

        async def call(bound: float, share: float) -> None:
            try:
                await budget.reserve(bound)
            except CallFailed:
                return
            await asyncio.sleep(0)
            await budget.settle(bound, bound * share)

        await asyncio.gather(*(call(*c) for c in calls))
        return budget.spent

    assert asyncio.run(spend()) <= most + 1e-9


def test_an_unknown_cost_counts_as_the_most_it_can_be() -> None:
    async def spend() -> Budget:
        budget = Budget(1.0)
        await budget.reserve(0.6)
        await budget.settle(0.6, None)
        with pytest.raises(CallFailed, match=r"budget of \$1 is spent"):
            await budget.reserve(0.6)
        return budget

    budget = asyncio.run(spend())
    assert budget.ended
    assert budget.spent == 0.6
