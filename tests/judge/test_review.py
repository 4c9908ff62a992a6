"""What judging will cost, and how steady a judge is."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import duckdb
import pytest

from himga_eval.errors import InputError, LLMError
from himga_eval.judge import estimate, judge_frame, recheck, stats
from himga_eval.llm import AnthropicClient
from himga_eval.schema import EvalResult
from tests.judge.test_judging import Judge, judged, result, results
from tests.llm.fake_server import FakeServer


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "judge.duckdb"


def test_an_estimate_counts_calls_exactly_and_asks_nothing(server: FakeServer, cache: Path) -> None:
    answers = [
        *results(5),
        result(0, run="another"),
        result(6, question_type="adversarial"),
        EvalResult("s", "q7", "single_hop", "question", "gold", None),
    ]
    client = AnthropicClient()
    before = estimate(answers, client, cache=cache, repeats=2)
    assert server.requests == []
    assert (before.answers, before.judgements, before.calls) == (8, 16, 10)
    assert (before.by_rule, before.missing, before.cached) == (2, 2, 0)
    judge_frame(answers, client, cache=cache, repeats=2, show_progress=False)
    assert len(server.requests) == before.calls
    after = estimate(answers, client, cache=cache, repeats=3)
    assert (after.calls, after.cached) == (5, 12)


def test_an_estimate_says_what_it_rests_on(server: FakeServer, cache: Path) -> None:
    first = estimate(results(10), AnthropicClient(), cache=cache)
    sent = sum(len(m["content"]) for m in [{"content": "x" * 2000}])
    assert 10 * sent / 8 < first.input_tokens < 10 * sent
    assert first.output_tokens == 800
    assert first.cost_usd == pytest.approx(first.input_tokens * 1e-6 + 800 * 5e-6, rel=0.01)
    assert "10 calls for 10 judgements of 10 answers" in str(first)
    assert "4 bytes a token in, 80 tokens a verdict out" in str(first)
    judged(results(4), AnthropicClient(), cache)
    second = estimate(results(10), AnthropicClient(), cache=cache)
    assert second.output_tokens == 6 * 20
    assert "the mean of 4 stored verdicts out" in str(second)


def test_many_short_calls_are_not_priced_as_a_long_one(cache: Path) -> None:
    guess = estimate(results(500), AnthropicClient("claude-sonnet-4-5"), cache=cache)
    assert guess.input_tokens > 200_000  # where a single call gets dearer
    assert guess.cost_usd == pytest.approx(guess.input_tokens * 3e-6 + guess.output_tokens * 15e-6, rel=0.01)


def test_an_estimate_counts_what_a_killed_run_left_behind(server: FakeServer, cache: Path) -> None:
    judged(results(2), AnthropicClient(), cache)
    with duckdb.connect(cache) as connection:
        row = connection.sql("from judgements order by question_id limit 1").pl().row(0, named=True)
        connection.execute("delete from judgements where cache_key = $1", [row["cache_key"]])
    line = json.dumps(row, default=datetime.isoformat)
    cache.with_name("judge.duckdb.1-0.journal").write_text(f"{line}\n")
    assert estimate(results(2), AnthropicClient(), cache=cache).calls == 0


def test_an_unknown_price_is_not_zero(cache: Path) -> None:
    guess = estimate(results(1), Judge(lambda _: 1.0), cache=cache)
    assert guess.cost_usd is None
    assert "price unknown" in str(guess)
    assert not cache.exists()


def test_a_recheck_asks_stored_verdicts_again_and_leaves_them(cache: Path) -> None:
    judged(results(10), Judge(lambda _: 0.4), cache)
    second = Judge(lambda prompt: 0.4 if "answer 1" in prompt else 0.6)
    again = recheck(results(10), second, cache=cache, n=10, show_progress=False)
    assert len(second.prompts) == 10
    assert again["changed"].sum() == 9
    assert again.filter(~again["changed"])["question_id"].to_list() == ["q1"]
    assert judged(results(10), None, cache)["score"].to_list() == [0.4] * 10
    assert stats(cache)["judgements"].sum() == 10


def test_an_estimate_of_a_recheck_is_of_its_calls(server: FakeServer, cache: Path) -> None:
    judged([*results(5), result(0, run="another")], AnthropicClient(), cache)
    asked = len(server.requests)
    guess = estimate(results(5), AnthropicClient(), cache=cache, again=3)
    assert (guess.calls, guess.judgements, guess.answers, guess.cached) == (3, 3, 3, 0)
    assert str(guess).startswith("3 calls for 3 judgements of 3 answers; about")
    recheck(results(5), AnthropicClient(), cache=cache, n=3, show_progress=False)
    assert len(server.requests) == asked + guess.calls
    with pytest.raises(InputError, match="0 verdicts to ask again"):
        estimate(results(5), AnthropicClient(), cache=cache, again=0)


def test_a_recheck_draws_the_same_for_the_same_seed(cache: Path) -> None:
    judged(results(10), Judge(lambda _: 0.4), cache)

    def drawn(seed: int) -> list[str]:
        again = recheck(results(10), Judge(lambda _: 0.4), cache=cache, n=3, seed=seed, show_progress=False)
        ids: list[str] = again["question_id"].to_list()
        return ids

    assert len(drawn(0)) == 3
    assert drawn(0) == drawn(0)
    assert any(drawn(0) != drawn(seed) for seed in range(1, 4))


def test_a_judge_that_fails_the_second_time_has_neither_changed_nor_not(cache: Path) -> None:
    judged(results(2), Judge(lambda _: 0.4), cache)
    again = recheck(results(2), Judge(lambda _: "odd"), cache=cache, n=2, show_progress=False)
    assert again["changed"].to_list() == [None, None]
    assert set(again["error_again"]) == {"there is no JSON object in it"}


def test_a_recheck_without_a_key_is_one_error(server: FakeServer, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judged(results(2), AnthropicClient(), cache)
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(LLMError, match="set ANTHROPIC_API_KEY"):
        recheck(results(2), AnthropicClient(), cache=cache, n=2, show_progress=False, timeout=60)


def test_there_must_be_something_to_recheck(cache: Path) -> None:
    with pytest.raises(InputError, match="holds no verdict of mine on these answers"):
        recheck(results(2), Judge(lambda _: 0.4), cache=cache, n=2)
