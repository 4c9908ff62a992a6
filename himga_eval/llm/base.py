"""What a call to a model is made of: the client's interface, a request, a reply, tokens, and the ways a call fails."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

Messages: TypeAlias = list[dict[str, Any]]

FailureKind: TypeAlias = Literal["throttled", "transient", "invalid", "truncated", "refused", "error", "fatal"]
"""Why a call failed. After the first three the pool asks again; after `fatal` no other call would succeed either."""

MAX_TOKENS = 1024
"""How long a reply may be where neither the call nor the client says so."""


CONCURRENCY = 32
"""How many calls may be in flight unless the pool says otherwise."""


class BaseLLMClient(ABC):
    """A model that can be talked to; a client of your own needs `chat` and no more.

    A judge of your own is asked one call at a time, unless `concurrency` says that its `chat` is thread-safe.
    """

    @abstractmethod
    def chat(
        self,
        messages: Messages,
        *,
        model: str | None = None,
        max_tokens: int = MAX_TOKENS,
        temperature: float | None = None,
    ) -> str:
        """Return the reply to a conversation of `{"role": ..., "content": ...}` messages."""


@dataclass(frozen=True)
class Usage:
    """The tokens of one call or several; `input_tokens` includes those of the provider's prompt cache."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
        )


@dataclass(frozen=True)
class Reply:
    """What a model said: its text, or the fields of the schema it filled in; `usage` is None where it is not told."""

    text: str
    fields: dict[str, Any] | None = None
    model: str | None = None
    usage: Usage | None = None


class CallFailed(Exception):
    """A call that brought nothing usable: for the pool's eyes, which retries it or reports it."""

    def __init__(
        self, kind: FailureKind, message: str, *, retry_after: float | None = None, reply: Reply | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.retry_after = retry_after
        self.reply = reply


def read_text(reply: Reply) -> str:
    """Take the reply as it is."""
    return reply.text


@dataclass(frozen=True)
class Request:
    """One question to a model.

    `read` turns the reply into what the caller wants and raises CallFailed("invalid", ...) where it can't. `schema`,
    a Pydantic model wrapped by instructor, asks for its fields rather than for text.
    """

    messages: Messages
    read: Callable[[Reply], Any] = read_text
    schema: type | None = None
    model: str | None = None
    max_tokens: int | None = None
    temperature: float | None = None

    def corrected(self, fault: str) -> Request:
        """Ask the same again, with a word on why the last reply was of no use."""
        *before, last = self.messages
        note = f"{last['content']}\n\nYour last reply could not be used: {fault}. Please reply again."
        return replace(self, messages=[*before, {**last, "content": note}])

    def length(self) -> int:
        """Count the bytes of the messages."""
        return sum(len(str(message["content"]).encode()) for message in self.messages)


class Endpoint(ABC):
    """What the pool asks: a client whose calls can wait for one another in one event loop."""

    concurrency: int
    """How many calls may be in flight at most; the pool's limit goes before it."""
    provider: str | None
    """Whose price list applies; None where no price is known."""
    model: str
    settings: dict[str, Any]
    """What is sent with every call, as far as it is set."""
    fills_schema: bool
    """Whether it fills in a request's schema, or only writes text."""

    @property
    @abstractmethod
    def address(self) -> Hashable:
        """What is called: calls to one address share a connection and are paced together."""

    @abstractmethod
    def connect(self) -> AbstractAsyncContextManager[Any]:
        """Open a connection inside the running loop."""

    @abstractmethod
    async def send(self, connection: Any, request: Request) -> Reply:
        """Make one call, without any retry; raises CallFailed, or what a user's client raises."""

    def max_tokens(self, request: Request) -> int:
        """Say how long the reply to a request may be."""
        length: int = request.max_tokens or self.settings.get("max_tokens", MAX_TOKENS)
        return length


def encodable(text: str) -> str:
    """Replace lone surrogates, which models may write and neither HTTP, Polars nor DuckDB takes."""
    return text.encode("utf-8", "replace").decode()


def client_name(client: object) -> str:
    """Name a client by its `model`, else by its class."""
    model = getattr(client, "model", None)
    return model if isinstance(model, str) and model else type(client).__name__
