"""One paced pool for everything that calls a model: agents, one call at a time, and judges, thousands."""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent.futures import wait
from contextlib import AsyncExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import fields
from typing import Any, TypeVar

from himga_eval.errors import InputError, LLMError
from himga_eval.llm.asking import Answer, Asker, Limits
from himga_eval.llm.base import CallFailed, Endpoint, Request
from himga_eval.llm.chat import Interrupted, as_endpoint

logger = logging.getLogger(__name__)

GIVE_UP_AFTER = 20
"""How many calls in a row may fail before a run of many stops asking."""

_TICK_S = 0.2
_CLOSE_S = 10.0
_T = TypeVar("_T")


class Pool:
    """Ask models from an event loop in a thread of its own, so that notebooks, threads and scripts are all alike.

    The keywords are those of `Limits`. Inside `with Pool(...)` the `chat` of our clients keeps to its limits too.

    >>> with Pool(rpm=300, max_cost=5) as pool:  # doctest: +SKIP
    ...     results = run_eval(samples, agent)
    """

    def __init__(self, **limits: float | None) -> None:
        self.limits = _checked(limits)
        self._asker: Asker | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def __enter__(self) -> Pool:
        _pools.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _pools.remove(self)
        self.close()

    @property
    def spent(self) -> float:
        """The dollars spent so far, as far as prices are known."""
        return self._asker.budget.spent if self._asker else 0.0

    @property
    def budget_ended(self) -> bool:
        """Whether a call was not made because it could have gone over max_cost."""
        return self._asker is not None and self._asker.budget.ended

    def ask(self, client: Any, request: Request) -> Any:
        """Ask once, wait, and return what `request.read` made of the reply. Any thread may call it.

        Raises:
            LLMError: the call failed for good, or the budget is spent.
        """
        endpoint = as_endpoint(client)
        try:
            answer = self._wait(lambda asker: asker.ask(endpoint, "", request))
        except CallFailed as stop:
            raise LLMError(f"{endpoint.model}: {stop}") from None
        if (collected := _metered.get()) is not None:
            collected.append(answer)
        if answer.status != "ok":
            raise LLMError(f"{endpoint.model}: {answer.error}")
        return answer.value

    def run(
        self,
        client: Any,
        requests: Iterable[tuple[str, Request]],
        on_answer: Callable[[Answer], None],
        on_tick: Callable[[], None] = lambda: None,
    ) -> str | None:
        """Ask many, and return None when all were asked, else why it stopped early.

        `requests` are keyed, and taken as they are needed. `on_answer` is called in the pool's thread as each answer
        comes, `on_tick` in the caller's a few times a second. After Ctrl-C, or an error in either, no call goes on.
        """
        endpoint = as_endpoint(client)
        return self._wait(lambda asker: _run(asker, endpoint, requests, on_answer), on_tick)

    def close(self) -> None:
        """End the loop and its connections."""
        if self._thread is not None and self._loop is not None:
            self._loop.call_soon_threadsafe(self._end.set)
            self._thread.join(_CLOSE_S)
            self._thread = None

    def _wait(self, call: Callable[[Asker], Coroutine[Any, Any, _T]], on_tick: Callable[[], None] = lambda: None) -> _T:
        """Run a coroutine in the loop. The caller's thread wakes often enough to notice Ctrl-C."""
        asker, loop = self._started()
        ended = threading.Event()

        async def body() -> _T:
            try:
                return await call(asker)
            finally:
                ended.set()

        future = asyncio.run_coroutine_threadsafe(body(), loop)
        try:
            while not wait([future], _TICK_S).done:
                on_tick()
            return future.result()
        except Interrupted as stop:
            raise stop.__cause__ or stop from None
        except BaseException:
            future.cancel()
            ended.wait(_CLOSE_S)
            raise

    def _started(self) -> tuple[Asker, asyncio.AbstractEventLoop]:
        if threading.current_thread() is self._thread:
            raise InputError(
                "chat() was called from a coroutine of the pool's own loop; make your `chat` a plain function"
            )
        with self._starting:
            if self._thread is None:
                ready = threading.Event()
                self._thread = threading.Thread(target=self._serve, args=(ready,), name="himga-pool", daemon=True)
                self._thread.start()
                ready.wait()
        assert self._asker is not None
        assert self._loop is not None
        return self._asker, self._loop

    def _serve(self, ready: threading.Event) -> None:
        async def serve() -> None:
            self._loop = asyncio.get_running_loop()
            self._end = asyncio.Event()
            async with AsyncExitStack() as stack:
                self._asker = Asker(self.limits, stack)
                ready.set()
                await self._end.wait()

        asyncio.run(serve())


async def _run(
    asker: Asker, client: Endpoint, requests: Iterable[tuple[str, Request]], on_answer: Callable[[Answer], None]
) -> str | None:
    source = iter(requests)
    failed, stopped = 0, None

    async def work() -> None:
        nonlocal failed, stopped
        while not stopped and (item := next(source, None)):
            try:
                answer = await asker.ask(client, *item)
            except CallFailed as stop:
                stopped = str(stop)
                return
            on_answer(answer)
            failed = failed + 1 if answer.status == "error" else 0
            if failed == GIVE_UP_AFTER:
                stopped = f"{failed} calls in a row failed, the last with: {answer.error}"

    workers = [asyncio.create_task(work()) for _ in range(asker.pace(client).concurrency)]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
    return stopped


def _checked(limits: dict[str, Any]) -> Limits:
    known = [f.name for f in fields(Limits)]
    for name, value in limits.items():
        if name not in known:
            raise InputError(f"no limit {name!r}; known: {', '.join(known)}")
        if value is not None and not (isinstance(value, (int, float)) and value > 0):
            raise InputError(f"{name} is {value!r}; it must be a number above 0, or None for no limit")
        if name == "concurrency" and isinstance(value, float):
            raise InputError(f"concurrency is {value!r}; calls come in whole numbers")
    return Limits(**limits)


_pools: list[Pool] = []
_own = Pool(timeout=600.0, deadline=1800.0)
_metered: ContextVar[list[Answer] | None] = ContextVar("metered", default=None)


def current_pool() -> Pool:
    """Give the pool of the innermost `with Pool(...)`, else the process's own, which has no caps."""
    return _pools[-1] if _pools else _own


@contextmanager
def pool_for(limits: dict[str, float | None]) -> Iterator[Pool]:
    """Give the pool for a piece of work: one with these limits, or, without any, the `with Pool(...)` around it."""
    if _pools and not limits:
        yield _pools[-1]
    else:
        with Pool(**limits) as pool:
            yield pool


@contextmanager
def metered() -> Iterator[list[Answer]]:
    """Collect what the chats of this thread inside the block came to: tokens, dollars, seconds."""
    answers: list[Answer] = []
    token = _metered.set(answers)
    try:
        yield answers
    finally:
        _metered.reset(token)


def _forget_in_child() -> None:
    """A forked process has none of its parent's threads: it makes a pool of its own."""
    global _own  # noqa: PLW0603
    _own = Pool(timeout=600.0, deadline=1800.0)
    _pools.clear()


@atexit.register
def _close_own() -> None:
    _own.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)
