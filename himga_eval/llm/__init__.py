"""Clients for language models, and the pool that paces every call to them."""

from himga_eval.llm.anthropic import AnthropicClient
from himga_eval.llm.base import BaseLLMClient
from himga_eval.llm.clients import get_client
from himga_eval.llm.openai import OpenAIClient
from himga_eval.llm.pool import Pool

__all__ = ["AnthropicClient", "BaseLLMClient", "OpenAIClient", "Pool", "get_client"]
