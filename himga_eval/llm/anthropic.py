"""Claude models through Anthropic's Messages API."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from himga_eval.llm.base import Reply, Request, Usage
from himga_eval.llm.sdk import Connection, SDKClient, quieten_instructor, whole


class AnthropicClient(SDKClient):
    """Claude models through Anthropic's Messages API; the key is ANTHROPIC_API_KEY.

    What is not set is not sent. Models that think unless told otherwise may need `thinking={"type": "disabled"}` or
    `tool_choice={"type": "auto"}` to judge; newer models refuse a `temperature`.
    """

    provider = "anthropic"
    key = "ANTHROPIC_API_KEY"

    def __init__(
        self,
        model: str = "claude-haiku-4-5",
        *,
        max_tokens: int | None = None,
        temperature: float | None = None,
        thinking: dict[str, Any] | None = None,
        tool_choice: dict[str, Any] | None = None,
    ) -> None:
        given = {
            "max_tokens": max_tokens,
            "temperature": temperature,
            "thinking": thinking,
            "tool_choice": tool_choice,
        }
        super().__init__(model, given)

    @property
    def address(self) -> tuple[str, str | None]:
        """Anthropic, or the address in ANTHROPIC_BASE_URL."""
        return "anthropic", os.environ.get("ANTHROPIC_BASE_URL")

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Connection]:
        """Open the SDK's client inside the running loop."""
        import instructor
        from anthropic import AsyncAnthropic

        quieten_instructor()
        async with AsyncAnthropic(max_retries=0) as sdk:
            yield Connection(sdk.messages.create, instructor.from_anthropic(sdk).create)

    def arguments(self, request: Request) -> dict[str, Any]:
        """Spell a request as `messages.create` wants it; a temperature is no longer among its parameters."""
        settings = self.set_for(request)
        system = [m["content"] for m in request.messages if m["role"] == "system"]
        arguments = {
            "model": request.model or self.model,
            "max_tokens": settings["max_tokens"],
            "messages": [m for m in request.messages if m["role"] != "system"],
        }
        if system:
            arguments["system"] = "\n\n".join(system)
        if "temperature" in settings:
            arguments["extra_body"] = {"temperature": settings["temperature"]}
        if "thinking" in settings:
            arguments["thinking"] = settings["thinking"]
        if "tool_choice" in settings and request.schema is not None:
            arguments["tool_choice"] = settings["tool_choice"]
        return arguments

    def receive(self, message: Any, request: Request) -> Reply:
        """Take a Message apart."""
        tools = [block.input for block in message.content if block.type == "tool_use"]
        texts = [block.text for block in message.content if block.type == "text"]
        text = json.dumps(tools[0] if len(tools) == 1 else tools, ensure_ascii=False) if tools else "".join(texts)
        usage = None
        if used := getattr(message, "usage", None):
            read, written = used.cache_read_input_tokens or 0, used.cache_creation_input_tokens or 0
            usage = Usage(used.input_tokens + read + written, used.output_tokens, read, written)
        reply = Reply(text, model=message.model, usage=usage)
        cut = message.stop_reason in ("max_tokens", "model_context_window_exceeded")
        return whole(reply, request, refused=message.stop_reason == "refusal", cut=cut)
