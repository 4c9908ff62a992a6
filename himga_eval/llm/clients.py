"""Make a client from a name."""

from __future__ import annotations

import os
from typing import Any

from himga_eval.errors import InputError
from himga_eval.llm.anthropic import AnthropicClient
from himga_eval.llm.base import BaseLLMClient
from himga_eval.llm.openai import OpenAIClient
from himga_eval.llm.sdk import SDKClient


def get_client(name: str | None = None, **settings: Any) -> BaseLLMClient:
    """Make the client of a name like "anthropic/claude-haiku-4-5" or "openai"; LLM_PROVIDER says which where none does.

    Raises:
        InputError: no such provider.
    """
    name = name or os.environ.get("LLM_PROVIDER") or "anthropic"
    provider, _, model = name.partition("/")
    clients: dict[str, type[SDKClient]] = {"anthropic": AnthropicClient, "openai": OpenAIClient}
    if provider not in clients:
        raise InputError(
            f"Unknown provider {provider!r} in {name!r}; known: {', '.join(clients)}. "
            "Servers that speak OpenAI's protocol: OpenAIClient(model, base_url=...)"
        )
    if model:
        settings["model"] = model
    client: BaseLLMClient = clients[provider](**settings)
    return client
