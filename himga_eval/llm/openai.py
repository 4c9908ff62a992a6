"""Models of OpenAI, and of every server that speaks its chat protocol."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from himga_eval.llm.base import CallFailed, Reply, Request, Usage
from himga_eval.llm.sdk import Connection, SDKClient, quieten_instructor, whole


class OpenAIClient(SDKClient):
    """Models of OpenAI, or of any server that speaks its chat protocol (vLLM, Ollama, ...) at `base_url`.

    The key is OPENAI_API_KEY; a server at `base_url` may do without. What is not set is not sent.
    """

    key = "OPENAI_API_KEY"

    def __init__(
        self,
        model: str = "gpt-4o-mini",
        base_url: str | None = None,
        *,
        max_tokens: int | None = None,
        temperature: float | None = None,
        reasoning_effort: str | None = None,
        tool_choice: dict[str, Any] | str | None = None,
    ) -> None:
        given = {
            "max_tokens": max_tokens,
            "temperature": temperature,
            "reasoning_effort": reasoning_effort,
            "tool_choice": tool_choice,
        }
        super().__init__(model, given)
        self.base_url = base_url or os.environ.get("OPENAI_BASE_URL")
        self.provider = "openai" if self.base_url is None else None

    @property
    def address(self) -> tuple[str, str | None]:
        """OpenAI, or the server's address."""
        return "openai", self.base_url

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Connection]:
        """Open the SDK's client inside the running loop."""
        import instructor
        from openai import AsyncOpenAI

        quieten_instructor()
        key = os.environ.get(self.key) or ("none" if self.base_url else None)
        if key is None:
            raise self.no_key()
        async with AsyncOpenAI(max_retries=0, base_url=self.base_url, api_key=key) as sdk:
            yield Connection(sdk.chat.completions.create, instructor.from_openai(sdk).create)

    def arguments(self, request: Request) -> dict[str, Any]:
        """Spell a request as `chat.completions.create` wants it: only OpenAI itself knows `max_completion_tokens`."""
        settings = self.set_for(request)
        if request.schema is None:
            settings.pop("tool_choice", None)
        if self.base_url is None:
            settings["max_completion_tokens"] = settings.pop("max_tokens")
        return {"model": request.model or self.model, "messages": request.messages, **settings}

    def receive(self, message: Any, request: Request) -> Reply:
        """Take a ChatCompletion apart."""
        if not message.choices:
            raise CallFailed("invalid", "the reply has no choices")
        choice = message.choices[0]
        tools = [call.function.arguments for call in choice.message.tool_calls or []]
        text = "\n".join(tools) or choice.message.refusal or choice.message.content or ""
        usage = None
        if used := message.usage:
            details = used.prompt_tokens_details
            usage = Usage(used.prompt_tokens, used.completion_tokens, (details and details.cached_tokens) or 0)
        reply = Reply(text, model=message.model, usage=usage)
        if len(tools) > 1:  # instructor would take the first
            raise CallFailed("invalid", f"{len(tools)} tool calls, where one was asked for", reply=reply)
        refused = choice.message.refusal is not None or choice.finish_reason == "content_filter"
        return whole(reply, request, refused=refused, cut=choice.finish_reason == "length")
