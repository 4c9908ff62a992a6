"""One call to a model, with all its attempts: asked again where that helps, paced, timed, counted and paid for."""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from himga_eval.llm.base import CallFailed, Endpoint, Reply, Request, Usage
from himga_eval.llm.budget import Budget
from himga_eval.llm.chat import Interrupted
from himga_eval.llm.faults import failure
from himga_eval.llm.pace import Pace
from himga_eval.llm.prices import price

MAX_TRIES = 8
"""How often a call is made that finds the server busy, broken or gone."""

MAX_REPLIES = 3
"""How often a call is made whose reply can't be read."""

BACKOFF_S = 0.5
BACKOFF_MAX_S = 30.0

_SCHEMA_TOKENS = 500
"""More than a schema adds to a prompt."""


@dataclass(frozen=True)
class Limits:
    """What a pool may do; None is no limit. `concurrency`, `rpm` and `tpm` are for each server, `max_cost` for all.

    `timeout` is for one attempt and `deadline` for a call with all its attempts and waits, in seconds.
    """

    concurrency: int | None = None
    rpm: float | None = None
    tpm: float | None = None
    max_cost: float | None = None
    timeout: float = 120.0
    deadline: float = 900.0


@dataclass
class Answer:
    """What became of one request, all its attempts together.

    `status` is ok, or says why there is no `value`: refused, invalid, truncated, error. `usage` and `cost_usd` are None
    where a reply did not tell its tokens, or no price is known. `latency_s` is time spent in calls, without the waits.
    """

    key: str
    status: str = "ok"
    value: Any = None
    text: str | None = None
    error: str | None = None
    model: str | None = None
    attempts: int = 0
    usage: Usage | None = field(default_factory=Usage)
    cost_usd: float | None = 0.0
    latency_s: float = 0.0

    def failed(self, status: str, error: str) -> Answer:
        """Say why there is no value."""
        self.status, self.error = status, error
        return self


class Asker:
    """The part of a pool that lives in its event loop: connections, pace and budget."""

    def __init__(self, limits: Limits, stack: AsyncExitStack) -> None:
        self.limits = limits
        self.budget = Budget(limits.max_cost)
        self._stack = stack
        self._opening = asyncio.Lock()
        self._connections: dict[Any, Any] = {}
        self._paces: dict[Any, Pace] = {}

    def pace(self, client: Endpoint) -> Pace:
        """Give what paces the calls to a client's address."""
        if client.address not in self._paces:
            most = self.limits.concurrency or client.concurrency
            self._paces[client.address] = Pace(most, self.limits.rpm, self.limits.tpm)
        return self._paces[client.address]

    async def ask(self, client: Endpoint, key: str, request: Request) -> Answer:
        """Ask until there is an answer that can be read, or no point in asking again.

        Raises:
            CallFailed: fatal: no other call would succeed either.
            Interrupted: Ctrl-C came out of the client.
        """
        connection = await self._connection(client)
        answer = Answer(key)
        asked, tries, unread, ends = request, 0, 0, None
        while True:
            bound = self._bound(client, asked)
            await self.budget.reserve(bound)
            cost: float | None = 0.0
            try:
                async with self.pace(client).slot(self._tokens(client, asked)):
                    ends = ends or time.monotonic() + self.limits.deadline
                    fault, cost = await self._attempt(client, connection, asked, answer, ends)
            finally:
                await self.budget.settle(bound, cost)
            if fault is None:
                answer.error = None
                return answer
            if fault.kind == "fatal":
                self._connections.pop(client.address, None)  # another key may be set by the next time
                raise fault
            if fault.kind == "invalid":
                unread += 1
                if unread == MAX_REPLIES:
                    return answer.failed("invalid", str(fault))
                asked = request.corrected(str(fault))
            elif fault.kind in ("throttled", "transient"):
                tries += 1
                wait = self._wait(client, fault, tries)
                if tries == MAX_TRIES or time.monotonic() + wait > ends:
                    return answer.failed("error", f"{fault} ({answer.attempts} attempts)")
                answer.error = str(fault)
                self.pace(client).failed(time.monotonic(), str(fault))
                await asyncio.sleep(0 if fault.retry_after else wait)
            else:
                return answer.failed(fault.kind, str(fault))

    async def _attempt(
        self, client: Endpoint, connection: Any, request: Request, answer: Answer, ends: float
    ) -> tuple[CallFailed | None, float | None]:
        """Make one call; what went wrong, and what it cost as far as that is known."""
        started = time.monotonic()
        seconds = max(0.0, min(self.limits.timeout, ends - started))
        reply, fault = None, None
        answer.attempts += 1
        try:
            async with asyncio.timeout(seconds) as timer:
                reply = await client.send(connection, request)
            answer.value = request.read(reply)
        except Interrupted:
            raise
        except Exception as error:
            late = isinstance(error, TimeoutError) and timer.expired()
            fault = CallFailed("transient", _no_reply(seconds, answer.error)) if late else failure(error)
        answer.latency_s += time.monotonic() - started
        if fault is None:
            self.pace(client).succeeded()
        elif fault.kind == "throttled":
            self.pace(client).throttled(time.monotonic(), fault.retry_after)
        reply = reply or (fault and fault.reply) or None
        return fault, 0.0 if reply is None else self._count(client, request, answer, reply)

    def _count(self, client: Endpoint, request: Request, answer: Answer, reply: Reply) -> float | None:
        """Add a reply's tokens and dollars to the answer, and give its dollars."""
        answer.text = reply.text
        answer.model = reply.model or answer.model
        cost = None
        if reply.usage is not None:
            cost = price(reply.usage, reply.model or request.model or client.model, client.provider)
            used = reply.usage.input_tokens + reply.usage.output_tokens
            self.pace(client).settle(self._tokens(client, request), used)
        answer.usage = answer.usage + reply.usage if answer.usage and reply.usage else None
        answer.cost_usd = None if cost is None or answer.cost_usd is None else answer.cost_usd + cost
        return cost

    def _wait(self, client: Endpoint, fault: CallFailed, tries: int) -> float:
        """How long this call has to wait: its own back-off, or the pause that all calls keep."""
        if fault.retry_after:
            return max(0.0, self.pace(client).resume_at - time.monotonic())
        return float(min(BACKOFF_MAX_S, BACKOFF_S * 2 ** (tries - 1)) * random.uniform(0.5, 1))

    def _tokens(self, client: Endpoint, request: Request) -> int:
        """About as many tokens as a call takes at most: two bytes a token is more than any text has."""
        return 0 if self.limits.tpm is None else request.length() // 2 + client.max_tokens(request)

    def _bound(self, client: Endpoint, request: Request) -> float:
        """The most a call can cost, where there is a budget to keep."""
        if self.limits.max_cost is None:
            return 0.0
        model = request.model or client.model
        most = Usage(request.length() // 2 + _SCHEMA_TOKENS, client.max_tokens(request))
        if (bound := price(most, model, client.provider)) is None:
            raise CallFailed("fatal", f"no price is known for {model}, so that max_cost can't be kept; leave it out")
        return bound

    async def _connection(self, client: Endpoint) -> Any:
        async with self._opening:
            if client.address not in self._connections:
                self._connections[client.address] = await self._stack.enter_async_context(client.connect())
            return self._connections[client.address]


def _no_reply(seconds: float, before: str | None) -> str:
    """Say that time ran out, and what else had gone wrong before it did."""
    told = f"; before that {before}" if before and not before.startswith("no reply") else ""
    return f"no reply within {seconds:.3g} s{told}"
