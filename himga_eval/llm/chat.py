"""Let any object with a `chat` be asked through the pool."""

from __future__ import annotations

import asyncio
import inspect
import threading
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any

from himga_eval.errors import InputError
from himga_eval.llm.base import CONCURRENCY, CallFailed, Endpoint, Reply, Request, client_name


class Interrupted(Exception):
    """Ctrl-C, or whatever else is no Exception, came out of a client's `chat`; it is the cause."""


class ChatOnly(Endpoint):
    """A client of the user's own. Unless told otherwise it is asked one call at a time: it may not be thread-safe.

    A `chat` that is a coroutine waits for no thread, and is asked like a client of ours.
    """

    provider = None
    fills_schema = False

    def __init__(self, client: Any) -> None:
        self.client = client
        self.concurrency = CONCURRENCY if inspect.iscoroutinefunction(client.chat) else 1
        self.model = client_name(client)
        self.settings = {}

    @property
    def address(self) -> tuple[str, int]:
        """The client itself."""
        return "chat", id(self.client)

    def connect(self) -> AbstractAsyncContextManager[Any]:
        """Open nothing: the client sees to its connections itself."""
        return nullcontext()

    async def send(self, connection: Any, request: Request) -> Reply:
        """Call `chat`, in a thread of its own unless it is a coroutine."""
        chat = self.client.chat
        said = await (
            chat(request.messages) if inspect.iscoroutinefunction(chat) else _in_thread(chat, request.messages)
        )
        if not isinstance(said, str):
            raise CallFailed("error", f"{type(self.client).__name__}.chat gave a {type(said).__name__}, not text")
        return Reply(said)


def as_endpoint(client: Any) -> Endpoint:
    """Make a client fit for the pool.

    Raises:
        InputError: it has no `chat`, or is a class.
    """
    if isinstance(client, Endpoint):
        return client
    if isinstance(client, type):
        raise InputError(f"{client.__name__} is a class, and a client is wanted: {client.__name__}()")
    if not callable(getattr(client, "chat", None)):
        hint = f"; get_client({client!r:.80}) may make one" if isinstance(client, str) else ""
        raise InputError(
            f"a client needs chat(messages) -> str, which {type(client).__name__} does not have: {client!r:.80}{hint}"
        )
    return ChatOnly(client)


async def _in_thread(function: Any, argument: Any) -> Any:
    """Call a function in a daemon thread: one that never returns is left behind, and keeps no process alive."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()

    def finish(value: Any, error: BaseException | None) -> None:
        if not done.done():
            done.set_result((value, error))

    def work() -> None:
        value, error = None, None
        try:
            value = function(argument)
        except BaseException as raised:
            error = raised
        if not loop.is_closed():
            loop.call_soon_threadsafe(finish, value, error)

    threading.Thread(target=work, name="himga-chat", daemon=True).start()
    value, error = await done
    if error is not None and not isinstance(error, Exception):
        raise Interrupted from error
    if error is not None:
        raise error
    return value
