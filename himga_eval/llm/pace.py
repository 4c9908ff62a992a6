"""When the next call to a server may start: a window that grows and halves, a shared pause, calls a minute."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

logger = logging.getLogger(__name__)

PAUSE_MAX_S = 600.0
"""The longest pause a server can impose by `retry-after`."""

PATIENCE_S = 5.0
"""How long calls may fail before a word is said."""

START = 16
"""How many calls are in flight before the server has been heard."""


class Pace:
    """Hold back calls to one server. For one event loop only.

    The number of calls in flight starts at 16, grows by one a round trip up to `concurrency`, and is halved, once a
    second at most, when the server says that it is too much. `rpm` and `tpm` space the calls evenly: no burst.
    """

    def __init__(self, concurrency: int, rpm: float | None = None, tpm: float | None = None) -> None:
        self.concurrency = concurrency
        self.window = float(min(START, concurrency))
        self.in_flight = 0
        self.resume_at = 0.0
        self._rpm = rpm
        self._tpm = tpm
        self._next_call = 0.0
        self._next_tokens = 0.0
        self._halved_at = float("-inf")
        self._failing_since: float | None = None
        self._told = False
        self._room = asyncio.Condition()

    @asynccontextmanager
    async def slot(self, tokens: int) -> AsyncIterator[None]:
        """Wait for the turn of a call of about so many tokens, and count it as in flight while in the block."""
        if wait := self.turn(time.monotonic(), tokens):
            await asyncio.sleep(wait)
        await self._enter()
        try:
            yield
        finally:
            async with self._room:
                self.in_flight -= 1
                self._room.notify(2)

    async def _enter(self) -> None:
        while True:
            async with self._room:
                await self._room.wait_for(lambda: self.in_flight < int(self.window))
                pause = self.resume_at - time.monotonic()
                if pause <= 0:
                    self.in_flight += 1
                    return
                self._room.notify()
            await asyncio.sleep(pause + random.uniform(0, min(pause, 1)))  # those who wait don't all come at once

    def turn(self, now: float, tokens: int) -> float:
        """Take the next place in the calls and tokens a minute: the seconds to wait for it."""
        start = max(now, self._next_call, self._next_tokens)
        if self._rpm:
            self._next_call = start + 60 / self._rpm
        if self._tpm:
            self._next_tokens = start + tokens * 60 / self._tpm
        return start - now

    def settle(self, expected: int, used: int) -> None:
        """Correct the tokens of a call when it is known how many it was."""
        if self._tpm:
            self._next_tokens += (used - expected) * 60 / self._tpm

    def succeeded(self) -> None:
        """Widen the window, by one for a whole window of good replies."""
        self._failing_since, self._told = None, False
        self.window = min(self.concurrency, self.window + 1 / self.window)

    def failed(self, now: float, why: str) -> None:
        """Say so, once, when no call has succeeded for a while: nobody should wait for a wrong address unknowingly."""
        self._failing_since = self._failing_since or now
        if not self._told and now - self._failing_since > PATIENCE_S:
            self._told = True
            logger.warning("no call has succeeded for %.0f s, and they are made again: %s", PATIENCE_S, why)

    def throttled(self, now: float, retry_after: float | None) -> None:
        """Halve the window, and let every call wait for as long as the server asked."""
        if now - self._halved_at > 1:
            self.window = max(1.0, self.window / 2)
            self._halved_at = now
        if retry_after and now + min(retry_after, PAUSE_MAX_S) > self.resume_at:
            pause = min(retry_after, PAUSE_MAX_S)
            self.resume_at = now + pause
            asked = "" if pause == retry_after else f" (it asked for {retry_after:.3g} s)"
            logger.warning("the server is busy: no call for %.3g s%s", pause, asked)
