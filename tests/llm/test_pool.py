"""The pool: many calls at once, its caps, its ends, and everything that calls through it."""

from __future__ import annotations

import _thread
import asyncio
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from himga_eval.errors import InputError, LLMError
from himga_eval.llm import AnthropicClient, OpenAIClient, Pool, asking
from himga_eval.llm.asking import Answer
from himga_eval.llm.base import Request, Usage
from himga_eval.llm.pool import GIVE_UP_AFTER, current_pool, metered, pool_for
from tests.llm.fake_server import FakeServer


def request(text: str) -> Request:
    return Request([{"role": "user", "content": text}])


def requests(n: int) -> Iterator[tuple[str, Request]]:
    return ((str(i), request(f"question {i}")) for i in range(n))


class Echo:
    """A client of the user's own, with no more than a chat."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.threads: set[int] = set()

    def chat(self, messages: list[dict[str, Any]], **more: Any) -> str:
        text: str = messages[-1]["content"]
        self.heard.append(text)
        self.threads.add(threading.get_ident())
        return text.upper()


def run(client: Any, n: int = 3, **limits: float) -> tuple[list[Answer], str | None]:
    answers: list[Answer] = []
    with Pool(**limits) as pool:
        stopped = pool.run(client, requests(n), answers.append)
    return answers, stopped


def test_every_request_has_one_answer(server: FakeServer, pool: Pool) -> None:
    answers: list[Answer] = []
    assert pool.run(AnthropicClient(), requests(100), answers.append) is None
    assert sorted(int(a.key) for a in answers) == list(range(100))
    assert all(a.value == f"reply to: \n\nquestion {a.key}" for a in answers)
    assert len(server.requests) == 100


def test_no_more_than_concurrency_are_in_flight(server: FakeServer) -> None:
    server.latency = 0.02
    run(AnthropicClient(), 30, concurrency=3)
    assert server.most_flying == 3


def test_a_busy_server_is_given_room_and_all_is_answered(server: FakeServer, pool: Pool) -> None:
    server.script["claude-haiku-4-5"] = ["ok"] * 5 + ["429 retry-after=0.05"] * 10 + ["529"] * 5 + ["ok"]
    answers: list[Answer] = []
    pool.run(AnthropicClient(), requests(40), answers.append)
    assert [a.status for a in answers] == ["ok"] * 40


def test_the_budget_ends_the_run_cleanly_and_is_not_overspent(server: FakeServer) -> None:
    server.script["claude-haiku-4-5"] = ["ok"]
    answers, stopped = run(AnthropicClient(max_tokens=100), 200, max_cost=0.005)
    spent = sum(a.cost_usd or 0 for a in answers)
    assert stopped is not None
    assert "budget of $0.005 is spent" in stopped
    assert 0 < len(answers) < 200
    assert all(a.status == "ok" for a in answers)
    assert 0.003 < spent <= 0.005
    assert len(server.requests) == len(answers)


def test_a_budget_needs_a_price(server: FakeServer) -> None:
    answers, stopped = run(OpenAIClient("some-model", base_url=f"{server.url}/v1"), max_cost=1)
    assert answers == []
    assert "no price is known for some-model" in str(stopped)
    assert server.requests == []


def test_rpm_spaces_the_calls(server: FakeServer) -> None:
    began = time.monotonic()
    run(AnthropicClient(), 5, rpm=600)
    assert time.monotonic() - began >= 0.4
    assert len(server.requests) == 5


@pytest.mark.parametrize(
    "limit", [{"rpm": 0}, {"max_cost": -1}, {"concurrency": 0}, {"concurrency": 1.5}, {"tpm": "9"}, {"speed": 3}]
)
def test_a_limit_that_is_none_is_an_error(limit: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(limit))):
        Pool(**limit)


def test_it_gives_up_on_a_server_that_only_fails(server: FakeServer, pool: Pool) -> None:
    server.script["claude-haiku-4-5"] = ["400"]
    answers: list[Answer] = []
    stopped = pool.run(AnthropicClient(), requests(500), answers.append)
    assert stopped is not None
    assert stopped.startswith(f"{GIVE_UP_AFTER} calls in a row failed")
    assert GIVE_UP_AFTER <= len(answers) <= GIVE_UP_AFTER + 32


def test_no_key_is_said_before_anything_is_sent(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.delenv("OPENAI_API_KEY")
    assert run(AnthropicClient()) == ([], "no key: set ANTHROPIC_API_KEY in the environment")
    assert run(OpenAIClient()) == ([], "no key: set OPENAI_API_KEY in the environment")
    assert server.requests == []
    answers, stopped = run(OpenAIClient("local", base_url=f"{server.url}/v1"), 1)
    assert (answers[0].status, stopped) == ("ok", None)


def test_a_key_set_later_is_used(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with Pool() as pool:
        monkeypatch.delenv("ANTHROPIC_API_KEY")
        with pytest.raises(LLMError, match="set ANTHROPIC_API_KEY"):
            AnthropicClient().chat([{"role": "user", "content": "hi"}])
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-new")
        assert pool.ask(AnthropicClient(), request("hi")) == "reply to: \n\nhi"


def test_it_works_in_a_running_loop_and_again(server: FakeServer) -> None:
    async def notebook() -> list[str]:
        return [run(AnthropicClient(), 2)[0][0].status for _ in range(2)]

    assert asyncio.run(notebook()) == ["ok", "ok"]
    assert run(AnthropicClient(), 1)[0][0].status == "ok"


def test_ctrl_c_ends_the_calls_and_keeps_the_answers(server: FakeServer) -> None:
    server.latency = 0.05
    answers: list[Answer] = []

    def heard(answer: Answer) -> None:
        answers.append(answer)
        if len(answers) == 5:
            _thread.interrupt_main()

    with pytest.raises(KeyboardInterrupt), Pool(concurrency=2) as pool:
        pool.run(AnthropicClient(), requests(1000), heard)
    kept, asked = len(answers), len(server.requests)
    assert 5 <= kept <= asked <= kept + 2
    time.sleep(0.15)
    assert (len(answers), len(server.requests)) == (kept, asked)


def test_an_error_in_the_callers_tick_ends_the_calls(server: FakeServer) -> None:
    server.latency = 0.05

    def tick() -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"), Pool() as pool:
        pool.run(AnthropicClient(), requests(10_000), lambda _: None, tick)
    asked = len(server.requests)
    time.sleep(0.15)
    assert len(server.requests) == asked < 10_000


def test_a_client_with_only_a_chat_is_asked_in_order_one_at_a_time() -> None:
    echo = Echo()
    answers, _ = run(echo, 20)
    assert [a.value for a in answers] == [f"QUESTION {i}" for i in range(20)]
    assert (answers[0].usage, answers[0].cost_usd) == (None, None)


def test_it_is_asked_many_at_a_time_when_told_so() -> None:
    meeting = threading.Barrier(3, timeout=5)

    class Meeting(Echo):
        def chat(self, messages: list[dict[str, Any]], **more: Any) -> str:
            meeting.wait()
            return "met"

    answers, _ = run(Meeting(), 3, concurrency=3)
    assert [a.value for a in answers] == ["met"] * 3


def test_a_chat_that_is_a_coroutine_is_asked_many_at_a_time() -> None:
    class Async:
        waiting = 0

        async def chat(self, messages: list[dict[str, Any]]) -> str:
            self.waiting += 1
            while self.waiting < 3:
                await asyncio.sleep(0)
            return "yes"

    assert [a.value for a in run(Async(), 3, timeout=20)[0]] == ["yes"] * 3


def test_a_chat_that_hangs_is_left_behind() -> None:
    class Hangs(Echo):
        def chat(self, messages: list[dict[str, Any]], **more: Any) -> str:
            if messages[-1]["content"] == "question 1":
                threading.Event().wait()
            return super().chat(messages)

    answers, stopped = run(Hangs(), 3, timeout=0.2, deadline=0.2)
    assert [(a.key, a.status) for a in answers] == [("0", "ok"), ("1", "error"), ("2", "ok")]
    assert "no reply within 0.2 s" in str(answers[1].error)
    assert stopped is None


class Busy(Exception):
    status_code = 429


@pytest.mark.parametrize(
    ("error", "status", "calls"),
    [
        pytest.param(ValueError("odd"), "error", 1, id="its own bug"),
        pytest.param(ConnectionError("gone"), "error", 8, id="no connection"),
        pytest.param(Busy("busy"), "error", 8, id="a status code"),
        pytest.param(StopIteration(), "error", 1, id="a mock without replies"),
    ],
)
def test_what_a_chat_raises_is_an_error_of_that_call(
    server: FakeServer, error: Exception, status: str, calls: int
) -> None:
    class Fails(Echo):
        def chat(self, messages: list[dict[str, Any]], **more: Any) -> str:
            super().chat(messages)
            raise error

    client = Fails()
    answers, _ = run(client, 1)
    assert (answers[0].status, len(client.heard)) == (status, calls)


def test_a_reply_that_is_no_text_is_an_error() -> None:
    class Odd:
        def chat(self, messages: list[dict[str, Any]]) -> Any:
            return None

    assert "Odd.chat gave a NoneType, not text" in str(run(Odd(), 1)[0][0].error)


def test_an_object_without_chat_is_refused() -> None:
    with pytest.raises(InputError, match="needs chat"):
        run(object())
    with pytest.raises(InputError, match=r"str does not have.*get_client\('anthropic'\) may make one"):
        run("anthropic")
    with pytest.raises(InputError, match=r"Echo is a class, and a client is wanted: Echo\(\)"):
        run(Echo)


def test_ctrl_c_out_of_a_chat_ends_the_run() -> None:
    class Interrupted(Echo):
        def chat(self, messages: list[dict[str, Any]], **more: Any) -> str:
            if len(self.heard) == 3:
                raise KeyboardInterrupt
            return super().chat(messages)

    answers: list[Answer] = []
    with pytest.raises(KeyboardInterrupt), Pool() as pool:
        pool.run(Interrupted(), requests(10), answers.append)
    assert len(answers) == 3


def test_agents_and_judges_share_a_pool(server: FakeServer) -> None:
    """A client of the user's own may call one of ours: both wait for their turn, neither for the other."""

    class Wrapper:
        def chat(self, messages: list[dict[str, Any]]) -> str:
            return AnthropicClient().chat(messages)

    answers, stopped = run(Wrapper(), 3, concurrency=1, deadline=20)
    assert [a.status for a in answers] == ["ok"] * 3
    assert stopped is None


def test_chat_keeps_to_the_pool_around_it(server: FakeServer) -> None:
    with Pool(max_cost=0.0001) as pool:
        assert current_pool() is pool
        with pytest.raises(LLMError, match="budget"):
            AnthropicClient().chat([{"role": "user", "content": "hi"}])
        assert pool.budget_ended
    assert current_pool() is not pool
    assert not current_pool().budget_ended


def test_work_without_limits_goes_to_the_pool_around_it() -> None:
    with Pool(rpm=100) as outer:
        with pool_for({}) as inner:
            assert inner is outer
        with pool_for({"rpm": 5.0}) as inner:
            assert inner is not outer


def test_threads_chat_at_the_same_time(server: FakeServer) -> None:
    server.latency = 0.1
    said: list[str] = []

    def agent(name: str) -> None:
        said.append(AnthropicClient().chat([{"role": "user", "content": name}]))

    with Pool():
        threads = [threading.Thread(target=agent, args=(f"agent {i}",)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(said) == [f"reply to: \n\nagent {i}" for i in range(8)]
    assert server.most_flying > 1


def test_a_call_that_waits_to_be_made_again_holds_up_no_other(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "BACKOFF_S", 2.0)
    server.script["broken"] = ["500", "ok"]
    said: list[str] = []

    def ask(model: str) -> None:
        AnthropicClient(model).chat([{"role": "user", "content": "hi"}])
        said.append(model)

    with Pool(concurrency=1):
        waiting = threading.Thread(target=ask, args=("broken",))
        waiting.start()
        while not server.requests:
            time.sleep(0.01)
        ask("sound")
        waiting.join()
    assert said == ["sound", "broken"]


def test_what_chats_took_is_collected_for_their_thread(server: FakeServer, pool: Pool) -> None:
    with metered() as answers:
        pool.ask(AnthropicClient(), request("one"))
        pool.ask(AnthropicClient(), request("two"))
        other = threading.Thread(target=lambda: pool.ask(AnthropicClient(), request("three")))
        other.start()
        other.join()
    pool.ask(AnthropicClient(), request("four"))
    assert [a.usage for a in answers] == [Usage(100, 20)] * 2


def test_a_pool_asked_from_its_own_loop_says_so() -> None:
    class Async:
        async def chat(self, messages: list[dict[str, Any]]) -> str:
            return AnthropicClient().chat(messages)

    assert "make your `chat` a plain function" in str(run(Async(), 1)[0][0].error)
