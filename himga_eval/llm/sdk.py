"""What the clients over the real SDKs have in common: one HTTP call a request, verdicts filled in by instructor."""

from __future__ import annotations

import logging
from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

from himga_eval.llm.base import CONCURRENCY, BaseLLMClient, CallFailed, Endpoint, Messages, Reply, Request
from himga_eval.llm.faults import failure
from himga_eval.llm.pool import current_pool


class Connection(NamedTuple):
    """An open SDK client: its own call for text, and instructor's for a filled-in schema."""

    text: Any
    fields: Any


class SDKClient(BaseLLMClient, Endpoint):
    """What the two SDK clients have in common. Keys come from the environment, and are kept nowhere."""

    concurrency = CONCURRENCY
    fills_schema = True
    key: ClassVar[str]

    def __init__(self, model: str, settings: dict[str, Any]) -> None:
        self.model = model
        self.settings = {name: value for name, value in settings.items() if value is not None}

    def __repr__(self) -> str:
        given = "".join(f", {name}={value!r}" for name, value in self.settings.items())
        return f"{type(self).__name__}({self.model!r}{given})"

    def chat(
        self,
        messages: Messages,
        *,
        model: str | None = None,
        max_tokens: int | None = None,
        temperature: float | None = None,
    ) -> str:
        """Return the reply to a conversation; what is not given is as the client was set.

        It goes through the pool like every other call: paced, and asked again where that helps.

        Raises:
            LLMError: the model refused, or the call failed for good.
        """
        request = Request(messages, model=model, max_tokens=max_tokens, temperature=temperature)
        text: str = current_pool().ask(self, request)
        return text

    @abstractmethod
    def arguments(self, request: Request) -> dict[str, Any]:
        """Spell a request as the SDK wants it."""

    @abstractmethod
    def receive(self, message: Any, request: Request) -> Reply:
        """Take an SDK's message apart; raises CallFailed where the model refused or was cut off."""

    async def send(self, connection: Connection, request: Request) -> Reply:
        """Make one HTTP call; whatever goes wrong comes out as CallFailed."""
        try:
            if request.schema is not None:
                return await self._send_schema(connection, request)
            return self._receive(await connection.text(**self.arguments(request)), request)
        except Exception as error:
            if "Could not resolve authentication" in str(error):
                raise self.no_key() from None
            if getattr(error, "status_code", None) == 401:
                raise CallFailed("fatal", f"{failure(error)}; is the key in {self.key} right?") from None
            raise failure(error) from None

    async def _send_schema(self, connection: Connection, request: Request) -> Reply:
        """Ask for the fields of a schema; a reply that does not fill them in comes back as text."""
        from instructor.core.exceptions import IncompleteOutputException, InstructorRetryException
        from instructor.core.hooks import Hooks

        messages: list[Any] = []
        hooks = Hooks()
        hooks.on("completion:response", messages.append)
        fields = None
        try:
            filled = await connection.fields(
                response_model=request.schema, max_retries=0, hooks=hooks, **self.arguments(request)
            )
            fields = filled.model_dump()
        except (InstructorRetryException, IncompleteOutputException) as error:
            if not messages:  # no reply came
                raise error.__cause__ or error from None
        return replace(self._receive(messages[0], request), fields=fields)

    def _receive(self, message: Any, request: Request) -> Reply:
        if isinstance(message, str):
            raise CallFailed("transient", f"the server sent no JSON, but: {message:.80}")
        return self.receive(message, request)

    def set_for(self, request: Request) -> dict[str, Any]:
        """Put together what the client and the request are set to."""
        settings = self.settings | {"max_tokens": self.max_tokens(request)}
        if request.temperature is not None:
            settings["temperature"] = request.temperature
        return settings

    def no_key(self) -> CallFailed:
        """Say which variable has no key."""
        return CallFailed("fatal", f"no key: set {self.key} in the environment")


def whole(reply: Reply, request: Request, *, refused: bool, cut: bool) -> Reply:
    """Let a reply pass that the model finished; text may be cut off, as long as there is some."""
    if refused:
        raise CallFailed(
            "refused", f"the model refused: {reply.text:.200}" if reply.text else "the model refused", reply=reply
        )
    if cut and (request.schema is not None or not reply.text):
        raise CallFailed("truncated", "the reply was cut off; give the client a larger max_tokens", reply=reply)
    return reply


def quieten_instructor() -> None:
    """Keep instructor from logging whole prompts whenever a call fails."""
    logging.getLogger("instructor").setLevel(logging.CRITICAL + 1)
