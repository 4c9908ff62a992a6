"""The clients: what they send, what they say of themselves, and how one is made from a name."""

from __future__ import annotations

import logging
import subprocess
import sys
from typing import Any

import pytest
from genai_prices import calc_price
from hypothesis import given
from hypothesis import strategies as st

from himga_eval.errors import InputError, LLMError
from himga_eval.llm import AnthropicClient, BaseLLMClient, OpenAIClient, Pool, get_client
from himga_eval.llm.base import Reply, Request, Usage, client_name
from himga_eval.llm.prices import price
from tests.llm.fake_server import FakeServer

MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]
SCHEMA = dict


def local(server: FakeServer, model: str = "local", **settings: Any) -> OpenAIClient:
    return OpenAIClient(model, base_url=f"{server.url}/v1", **settings)


@pytest.fixture(autouse=True)
def _in_pool(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("himga_eval.llm.sdk.current_pool", lambda: pool)


def test_nothing_is_sent_that_is_not_set(server: FakeServer) -> None:
    AnthropicClient("m").chat(MESSAGES)
    local(server).chat(MESSAGES)
    assert server.requests == [
        {"model": "m", "max_tokens": 1024, "system": "Be brief.", "messages": MESSAGES[1:]},
        {"model": "local", "max_tokens": 1024, "messages": MESSAGES},
    ]


def test_settings_are_sent(server: FakeServer) -> None:
    thinking = {"type": "disabled"}
    AnthropicClient("m", max_tokens=50, temperature=0.0, thinking=thinking).chat(MESSAGES)
    local(server, max_tokens=50, temperature=0.0, reasoning_effort="low").chat(MESSAGES)
    first, second = server.requests
    assert (first["max_tokens"], first["temperature"], first["thinking"]) == (50, 0.0, thinking)
    assert (second["max_tokens"], second["temperature"], second["reasoning_effort"]) == (50, 0.0, "low")


def test_a_call_may_say_otherwise(server: FakeServer) -> None:
    AnthropicClient("m", max_tokens=50).chat(MESSAGES, model="other", max_tokens=7, temperature=1.0)
    (sent,) = server.requests
    assert (sent["model"], sent["max_tokens"], sent["temperature"]) == ("other", 7, 1.0)


def test_openai_itself_is_told_the_length_by_its_newer_name() -> None:
    arguments = OpenAIClient("gpt-4o-mini").arguments(Request(MESSAGES))
    assert "max_tokens" not in arguments
    assert arguments["max_completion_tokens"] == 1024


@pytest.mark.parametrize("client", [AnthropicClient(tool_choice={"type": "auto"}), OpenAIClient(tool_choice="auto")])
def test_tool_choice_is_for_verdicts_alone(client: Any) -> None:
    assert "tool_choice" not in client.arguments(Request(MESSAGES))
    assert "tool_choice" in client.arguments(Request(MESSAGES, schema=SCHEMA))


def test_an_answer_that_was_cut_off_is_still_an_answer(server: FakeServer) -> None:
    server.script["m"] = ["max_tokens"]
    assert AnthropicClient("m").chat(MESSAGES) == "reply to: Be brief.\n\nWhy?"
    server.script["m"] = ["thinking"]
    with pytest.raises(LLMError, match="larger max_tokens"):
        AnthropicClient("m").chat(MESSAGES)


def test_an_empty_answer_is_an_answer(server: FakeServer) -> None:
    server.script.update(m=["empty"], local=["empty"])
    assert AnthropicClient("m").chat(MESSAGES) == ""
    assert local(server).chat(MESSAGES) == ""


def test_a_refusal_is_an_error_that_names_the_model(server: FakeServer) -> None:
    server.script.update(m=["refusal I'd rather not."], local=["refusal No."])
    with pytest.raises(LLMError, match="m: the model refused: I'd rather not"):
        AnthropicClient("m").chat(MESSAGES)
    with pytest.raises(LLMError, match="local: the model refused: No"):
        local(server).chat(MESSAGES)


def test_a_failed_call_names_no_key_and_logs_no_prompt(
    server: FakeServer, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    server.script["m"] = ["500"]
    with caplog.at_level(logging.DEBUG, logger="instructor"), pytest.raises(LLMError) as error:
        AnthropicClient("m").chat([{"role": "user", "content": "a private matter"}])
    seen = "".join([*caplog.messages, *capfd.readouterr(), str(error.value)])
    assert "secret" not in seen
    assert "a private matter" not in seen


def test_a_client_says_how_it_is_set_and_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    client = AnthropicClient("m", temperature=0.5)
    assert repr(client) == "AnthropicClient('m', temperature=0.5)"
    assert "secret" not in str(vars(client))


@pytest.mark.parametrize(
    ("name", "kind", "model"),
    [
        ("anthropic/claude-haiku-4-5", AnthropicClient, "claude-haiku-4-5"),
        ("anthropic", AnthropicClient, "claude-haiku-4-5"),
        ("openai/gpt-5-mini", OpenAIClient, "gpt-5-mini"),
        ("openai/org/model:free", OpenAIClient, "org/model:free"),
    ],
)
def test_a_client_from_a_name(name: str, kind: type, model: str) -> None:
    client = get_client(name)
    assert isinstance(client, kind)
    assert client_name(client) == model


def test_a_client_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_PROVIDER", "openai")
    assert isinstance(get_client(), OpenAIClient)
    assert isinstance(get_client("anthropic"), AnthropicClient)
    assert client_name(get_client(model="gpt-4o")) == "gpt-4o"
    monkeypatch.delenv("LLM_PROVIDER")
    assert isinstance(get_client(), AnthropicClient)


def test_an_unknown_provider_is_an_error_that_lists_those_there_are() -> None:
    with pytest.raises(InputError, match=r"Unknown provider 'gemini'.*anthropic, openai"):
        get_client("gemini/pro")


def test_a_client_of_your_own_needs_a_chat() -> None:
    class Mine(BaseLLMClient):
        def chat(self, messages: Any, **more: Any) -> str:
            return "hello"

    assert client_name(Mine()) == "Mine"
    with pytest.raises(TypeError):
        BaseLLMClient()  # type: ignore[abstract]


def test_prices() -> None:
    assert price(Usage(1_000_000, 0), "claude-haiku-4-5", "anthropic") == pytest.approx(1)
    assert price(Usage(1_000_000, 0, cache_read_tokens=1_000_000), "claude-haiku-4-5", "anthropic") == pytest.approx(
        0.1
    )
    assert price(Usage(0, 1_000_000), "claude-haiku-4-5-20251001", "anthropic") == pytest.approx(5)
    assert price(Usage(100_000, 0), "claude-sonnet-4-5", "anthropic") == pytest.approx(0.3)
    assert price(Usage(300_000, 0), "claude-sonnet-4-5", "anthropic") == pytest.approx(1.8), "a long call is dearer"
    assert price(Usage(5, 5), "no-such-model", "openai") is None
    assert price(Usage(5, 5), "claude-haiku-4-5", None) is None


@given(st.integers(0, 10**6), st.integers(0, 10**5), st.integers(0, 10**5), st.integers(0, 10**5))
def test_prices_are_those_of_the_tables(fresh: int, out: int, read: int, written: int) -> None:
    usage = Usage(fresh + read + written, out, read, written)
    for model, provider in (("claude-haiku-4-5", "anthropic"), ("gpt-5-mini", "openai"), ("gpt-5.5", "openai")):
        expected = calc_price(usage, model, provider_id=provider).total_price
        assert price(usage, model, provider) == pytest.approx(float(expected), abs=1e-12)


def test_usage_adds_up() -> None:
    assert Usage(1, 2, 3, 4) + Usage(10, 20, 30, 40) == Usage(11, 22, 33, 44)
    assert Reply("x").usage is None


def test_making_a_client_loads_no_sdk() -> None:
    code = (
        "import sys; from himga_eval.llm import AnthropicClient, OpenAIClient; AnthropicClient(), OpenAIClient();"
        "print([m for m in ('anthropic', 'openai', 'instructor', 'genai_prices') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
