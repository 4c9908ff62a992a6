"""Every way a server can fail, through the real SDKs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, ClassVar

import pytest

from himga_eval.llm import AnthropicClient, OpenAIClient, Pool
from himga_eval.llm.asking import Answer
from himga_eval.llm.base import CallFailed, Reply, Request
from himga_eval.llm.faults import failure
from tests.llm.fake_server import HTML, FakeServer, prompt_of

pytestmark = pytest.mark.filterwarnings("error")


def fields(reply: Reply) -> dict[str, Any]:
    """Take the filled-in schema, or call the reply unreadable."""
    if reply.fields is None:
        raise CallFailed("invalid", "no schema was filled in", reply=reply)
    return reply.fields


@pytest.fixture(scope="session")
def schema() -> type:
    import instructor
    from pydantic import BaseModel

    class Verdict(BaseModel):
        """A verdict."""

        reasoning: str
        score: float

    return instructor.response_schema(Verdict)


@pytest.fixture(params=["anthropic", "openai"])
def client(request: pytest.FixtureRequest, server: FakeServer) -> Any:
    if request.param == "anthropic":
        return AnthropicClient("judge")
    return OpenAIClient("judge", base_url=f"{server.url}/v1")


Ask = Callable[..., Answer]


@pytest.fixture
def ask(pool: Pool, schema: type) -> Ask:
    """Ask once, through the shared pool, or one with limits."""

    def ask(client: Any, **limits: float) -> Answer:
        answers: list[Answer] = []
        messages = [{"role": "system", "content": "Be fair."}, {"role": "user", "content": "Is it right?"}]
        request = Request(messages, read=fields, schema=schema)
        with Pool(**limits) if limits else nullcontext(pool) as used:
            if stopped := used.run(client, [("key", request)], answers.append):
                raise CallFailed("fatal", stopped)
        (answer,) = answers
        return answer

    return ask


@pytest.mark.parametrize(
    ("steps", "calls"),
    [
        pytest.param(["ok"], 1, id="a good reply"),
        pytest.param(["429 retry-after=0.05", "ok"], 2, id="429 with retry-after"),
        pytest.param(["429", "429", "ok"], 3, id="429 without"),
        pytest.param(["529", "529", "529", "ok"], 4, id="529 three times"),
        pytest.param(["503", "ok"], 2, id="503"),
        pytest.param(["500", "ok"], 2, id="500"),
        pytest.param(["reset", "reset", "ok"], 3, id="connection reset"),
        pytest.param(["half", "ok"], 2, id="half a body"),
        pytest.param(["html", "ok"], 2, id="a proxy's page with status 200"),
        pytest.param(["cut", "ok"], 2, id="JSON cut short"),
        pytest.param(["empty", "ok"], 2, id="no content"),
        pytest.param(["text Sure, it is fine.", "ok"], 2, id="prose instead of a verdict"),
        pytest.param(['input {"score": "very high"}', "ok"], 2, id="bad fields"),
        pytest.param(['input "{\\"score\\": 0."', "ok"], 2, id="fields as a string cut short"),
        pytest.param(["two", "ok"], 2, id="two verdicts in one reply"),
    ],
)
def test_asks_again_and_gets_it(client: Any, server: FakeServer, ask: Ask, steps: list[str], calls: int) -> None:
    server.script["judge"] = steps
    answer = ask(client)
    assert (answer.status, answer.attempts, len(server.requests)) == ("ok", calls, calls)
    assert answer.value == {"reasoning": "Same meaning.", "score": 1.0}


@pytest.mark.parametrize(
    ("step", "status", "calls", "word"),
    [
        pytest.param("400", "error", 1, "400", id="400"),
        pytest.param("413", "error", 1, "413", id="413"),
        pytest.param("refusal I can't help with that.", "refused", 1, "I can't help", id="a refusal is final"),
        pytest.param("refusal", "refused", 1, "refused", id="a refusal without a word"),
        pytest.param("max_tokens", "truncated", 1, "max_tokens", id="cut off by max_tokens"),
        pytest.param("empty", "invalid", 3, "schema", id="no content, three times"),
        pytest.param('input {"reasoning": "ok"}', "invalid", 3, "schema", id="a field is missing"),
        pytest.param('input {"result": {"score": 1.0}}', "invalid", 3, "schema", id="fields are nested"),
        pytest.param('input {"reasoning": "ok", "score": null}', "invalid", 3, "schema", id="a field is null"),
        pytest.param("500", "error", 8, "500", id="500 for good"),
        pytest.param("reset", "error", 8, "onnection", id="no connection for good"),
    ],
)
def test_ends_with_a_reason_and_no_value(
    client: Any, server: FakeServer, ask: Ask, step: str, status: str, calls: int, word: str
) -> None:
    server.script["judge"] = [step]
    answer = ask(client)
    assert (answer.status, answer.value, answer.attempts, len(server.requests)) == (status, None, calls, calls)
    assert word in str(answer.error)


@pytest.mark.parametrize("step", ["401", "404"])
def test_what_no_call_can_mend_stops_the_run(client: Any, server: FakeServer, ask: Ask, step: str) -> None:
    server.script["judge"] = [step]
    with pytest.raises(CallFailed, match=step):
        ask(client)
    assert len(server.requests) == 1


def test_a_wrong_key_is_named_by_its_variable(client: Any, server: FakeServer, ask: Ask) -> None:
    server.script["judge"] = ["401"]
    with pytest.raises(CallFailed, match=rf"401.*is the key in {client.key} right\?"):
        ask(client)


def test_an_account_without_credit_stops_the_run(server: FakeServer, ask: Ask) -> None:
    server.script["judge"] = ["429 insufficient_quota"]
    with pytest.raises(CallFailed, match="insufficient_quota"):
        ask(OpenAIClient("judge", base_url=f"{server.url}/v1"))
    assert len(server.requests) == 1


def test_calls_are_bounded_and_waits_obey_retry_after(client: Any, server: FakeServer, ask: Ask) -> None:
    server.script["judge"] = ["429 retry-after=7"]
    answer = ask(client, deadline=1)
    assert (answer.status, len(server.requests)) == ("error", 1)  # 7 s would go beyond the deadline
    server.script["judge"] = ["429 retry-after=0.01"]
    answer = ask(client)
    assert (answer.status, answer.attempts, len(server.requests)) == ("error", 8, 9)


def test_a_hang_is_asked_again(client: Any, server: FakeServer, ask: Ask) -> None:
    server.script["judge"] = ["hang", "ok"]
    answer = ask(client, timeout=2)
    assert (answer.status, answer.attempts, len(server.requests)) == ("ok", 2, 2)


def test_a_hang_ends_at_the_deadline(client: Any, server: FakeServer, ask: Ask) -> None:
    server.script["judge"] = ["hang"]
    answer = ask(client, timeout=0.2, deadline=0.5)
    assert answer.status == "error"
    assert "no reply within" in str(answer.error)
    assert 1 <= answer.attempts <= 4


def test_a_busy_server_is_asked_the_very_same(client: Any, server: FakeServer, ask: Ask) -> None:
    server.script["judge"] = ["429", "500", "ok"]
    ask(client)
    first, second, third = server.requests
    assert first == second == third


def test_an_unreadable_reply_is_answered_by_a_fresh_question_that_says_why(
    client: Any, server: FakeServer, ask: Ask
) -> None:
    server.script["judge"] = ['input {"reasoning": "off", "score": "nine"}', "ok"]
    ask(client)
    first, second = server.requests
    assert [m["role"] for m in second["messages"]] == [m["role"] for m in first["messages"]]
    assert "Your last reply could not be used: no schema was filled in" in prompt_of(second)


def test_tokens_of_all_attempts_are_counted(server: FakeServer, ask: Ask) -> None:
    server.script["judge"] = ["usage 100/20", "usage 140/20", "ok"]
    answer = ask(AnthropicClient("judge"))
    assert answer.status == "ok"
    assert answer.usage is not None
    server.script["claude-haiku-4-5"] = ["empty"]
    answer = ask(AnthropicClient())
    assert answer.status == "invalid"
    assert answer.usage is not None
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (300, 60)
    assert answer.cost_usd == pytest.approx(300 * 1e-6 + 60 * 5e-6)


def test_cached_tokens_are_part_of_the_input(client: Any, server: FakeServer, ask: Ask) -> None:
    server.script["judge"] = ["cached"]
    answer = ask(client)
    assert answer.usage is not None
    expected = (1050, 20, 900, 50) if isinstance(client, AnthropicClient) else (100, 20, 30, 0)
    assert tuple(vars(answer.usage).values()) == expected


def test_untold_tokens_are_unknown_and_not_zero(client: Any, server: FakeServer, ask: Ask) -> None:
    server.script["judge"] = ["no-usage"]
    answer = ask(client)
    assert (answer.status, answer.usage, answer.cost_usd) == ("ok", None, None)


def test_the_models_exact_name_is_told(client: Any, server: FakeServer, ask: Ask) -> None:
    assert ask(client).model in ("judge-20260101", "judge-2026")


def test_html_is_quoted_in_short(client: Any, server: FakeServer, ask: Ask) -> None:
    server.script["judge"] = ["html"]
    assert HTML[:20] in str(ask(client).error)


class Refused(Exception):
    """What a client of somebody else's may raise."""

    status_code = 429

    class response:
        headers: ClassVar[dict[str, str]] = {}


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        pytest.param("7", 7, id="seconds"),
        pytest.param("0.5", 0.5, id="half a second"),
        pytest.param("Fri, 01 Jan 2100 00:00:00 GMT", pytest.approx(2.3e9, rel=0.1), id="a date"),
        pytest.param("Fri, 01 Jan 2010 00:00:00 GMT", 0, id="a date gone by"),
        pytest.param("soon", None, id="nonsense"),
    ],
)
def test_retry_after(value: str, seconds: float | None) -> None:
    error = Refused()
    error.response.headers = {"retry-after": value}
    fault = failure(error)
    assert (fault.kind, fault.retry_after) == ("throttled", seconds)


def test_no_message_repeats_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-oai-secret")
    assert "secret" not in str(failure(RuntimeError("bad key sk-oai-secret")))
