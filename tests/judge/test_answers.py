"""The plain calls: one answer, and a list of results."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from himga_eval.errors import JudgeError
from himga_eval.judge import batch_judge, judge_answer
from himga_eval.judge.modes import UnknownMode
from himga_eval.llm import AnthropicClient
from himga_eval.schema import EvalResult
from tests.judge.test_judging import result, results
from tests.llm.fake_server import FakeServer, prompt_of

BINARY = ["temporal_reasoning", "knowledge_update", "preference", "default_binary", "abstention"]


class Says:
    """A client that takes keywords and says one thing after the other, the last for good."""

    def __init__(self, *replies: Any) -> None:
        self.replies = [r if isinstance(r, str) else json.dumps({"score": r, "reasoning": "test"}) for r in replies]
        self.calls: list[list[dict[str, Any]]] = []

    def chat(self, messages: list[dict[str, Any]], **kwargs: Any) -> str:
        self.calls.append(messages)
        return self.replies[min(len(self.calls), len(self.replies)) - 1]


@pytest.mark.parametrize("score", [0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
def test_a_score_by_steps(score: float) -> None:
    given = judge_answer("Q", "GT", "P", llm=Says(score))
    assert isinstance(given, float)
    assert given == score


@pytest.mark.parametrize("mode", BINARY)
@pytest.mark.parametrize(("reply", "score"), [("yes", 1.0), ("no", 0.0), ('{"correct": true}', 1.0)])
def test_yes_or_no(mode: str, reply: str, score: float) -> None:
    llm = Says(reply)
    assert judge_answer("my question", "my gold", "my answer", llm=llm, mode=mode) == score
    ((system, user),) = llm.calls
    assert (system["role"], user["role"]) == ("system", "user")
    assert all(text in user["content"] for text in ("my question", "my gold", "my answer"))


@pytest.mark.parametrize(
    ("prediction", "score"),
    [("not found", 1.0), ("information not found", 1.0), ("", 1.0), ("Paris", 0.0), (None, 0.0)],
)
def test_adversarial_needs_no_llm(prediction: str | None, score: float) -> None:
    llm = Says("yes")
    assert judge_answer("Q", "GT", prediction, mode="adversarial") == score
    assert judge_answer("Q", "GT", prediction, llm=llm, mode="adversarial") == score
    assert llm.calls == []


def test_a_missing_answer_is_0_without_a_call() -> None:
    llm = Says(1.0)
    assert judge_answer("Q", "GT", None, llm=llm) == 0.0
    assert llm.calls == []


@pytest.mark.parametrize("reply", ["not json", "", '{"score": 1.5}', '{"score": -0.3}', '{"score": null}'])
def test_what_cannot_be_read_is_an_error_and_never_a_0(reply: str) -> None:
    llm = Says(reply)
    with pytest.raises(JudgeError, match="Says: "):
        judge_answer("Q", "GT", "P", llm=llm)
    assert len(llm.calls) == 3


def test_a_second_reply_may_mend_the_first() -> None:
    assert judge_answer("Q", "GT", "P", llm=Says("not json", 0.8)) == 0.8


def test_a_real_client_judges_one_answer(server: FakeServer) -> None:
    assert judge_answer("Q", "GT", "P", llm=AnthropicClient()) == 1.0
    assert server.requests[0]["tools"][0]["name"] == "Verdict"


def test_half_a_character_in_a_text_is_replaced(server: FakeServer) -> None:
    assert judge_answer("Q \ud83d", "GT \ud83d", "P \ud83d", llm=AnthropicClient()) == 1.0
    assert "P ?" in prompt_of(server.requests[0])


def test_bad_arguments_are_value_errors() -> None:
    with pytest.raises(ValueError, match="mode 'temporal_reasoning' needs an llm"):
        judge_answer("Q", "GT", "P", mode="temporal_reasoning")
    with pytest.raises(UnknownMode, match="no mode 'yes_no'"):
        judge_answer("Q", "GT", "P", llm=Says(1.0), mode="yes_no")
    with pytest.raises(ValueError, match="there is no ground truth to judge"):
        judge_answer("Q", None, "P", llm=Says(1.0))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"repeats is 1\.5"):
        batch_judge(results(1), llm=Says(1.0), repeats=1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="on_error is 'ignore'"):
        batch_judge(results(1), llm=Says(1.0), on_error="ignore")  # type: ignore[arg-type]


def test_scores_come_in_order_for_all_kinds_of_results() -> None:
    answers = [
        result(0),
        result(1, question_type="adversarial", prediction="not found"),
        result(2, question_type="temporal_reasoning", dataset="longmemeval"),
        result(3, question_type="adversarial", prediction="Paris"),
        EvalResult("s", "q4", "single_hop", "question", "gold", None),
        result(5),
    ]
    answers[0].dataset = answers[1].dataset = answers[3].dataset = answers[4].dataset = answers[5].dataset = "locomo"
    llm = Says(0.4, "yes", 0.8)
    scores = batch_judge(answers, llm=llm)
    assert scores == [0.4, 1.0, 1.0, 0.0, 0.0, 0.8]
    assert all(isinstance(score, float) for score in scores)
    assert len(llm.calls) == 3


def test_no_results_have_no_scores() -> None:
    assert batch_judge([], llm=Says(1.0)) == []
    assert batch_judge([]) == []


def test_a_given_mode_is_for_all() -> None:
    answers = results(2, question_type="adversarial")
    assert batch_judge(answers, llm=Says(0.8, 0.2), mode="continuous") == [0.8, 0.2]


@pytest.mark.parametrize("name", ["cache.duckdb", "new/folder/cache.json"])
def test_the_second_time_nothing_is_asked(tmp_path: Path, name: str) -> None:
    cache = tmp_path / name
    assert batch_judge(results(3), llm=Says(1.0, 0.0, 0.4), cache_path=cache) == [1.0, 0.0, 0.4]
    second = Says("never asked")
    assert batch_judge(results(3), llm=second, cache_path=cache) == [1.0, 0.0, 0.4]
    assert batch_judge(results(3), cache_path=str(cache)) == [1.0, 0.0, 0.4]
    assert second.calls == []
    assert cache.with_suffix(".duckdb").is_file()


def test_a_failure_is_one_error_after_the_others_were_kept(tmp_path: Path) -> None:
    cache = tmp_path / "cache.duckdb"
    llm = Says(1.0, "odd", "odd", "odd", 0.4)
    with pytest.raises(JudgeError) as error:
        batch_judge(results(3), llm=llm, cache_path=cache)
    message = str(error.value)
    assert message.startswith("1 of 3 judgements failed (1 invalid)")
    assert f"the others are kept in {cache}, and a rerun asks only these" in message
    assert "q1: there is no JSON object in it" in message
    assert error.value.judgements["score"].to_list() == [1.0, None, 0.4]
    again = Says(0.2)
    assert batch_judge(results(3), llm=again, cache_path=cache) == [1.0, 0.2, 0.4]
    assert len(again.calls) == 1


def test_without_a_cache_the_error_says_how_to_keep_the_others() -> None:
    with pytest.raises(JudgeError, match=r"1 of 2 .*give cache_path to keep the others"):
        batch_judge(results(2), llm=Says("odd", "odd", "odd", 1.0))
    with pytest.raises(JudgeError, match=r"2 of 2 .*a rerun asks them again"):
        batch_judge(results(2), llm=Says("odd"))


def test_a_failure_may_be_nan() -> None:
    scores = batch_judge(results(3), llm=Says(1.0, "odd", "odd", "odd", 0.4), on_error="nan")
    assert scores[::2] == [1.0, 0.4]
    assert math.isnan(scores[1])


def test_the_budget_is_a_failure_too(server: FakeServer, tmp_path: Path) -> None:
    cache = tmp_path / "cache.duckdb"
    with pytest.raises(JudgeError, match=r"unasked\).*budget of \$0\.002 is spent"):
        batch_judge(results(30), llm=AnthropicClient(max_tokens=50), cache_path=cache, max_cost=0.002)
    paid = len(server.requests)
    assert 0 < paid < 30
    assert batch_judge(results(30), llm=AnthropicClient(max_tokens=50), cache_path=cache) == [1.0] * 30
    assert len(server.requests) == 30


def test_a_score_of_repeats_is_their_mean() -> None:
    scores = batch_judge(results(2), llm=Says(0.2, 0.6, 1.0, 1.0), repeats=2)
    assert scores == pytest.approx([0.4, 1.0])


def test_a_repeat_that_fails_is_left_out_of_the_mean() -> None:
    scores = batch_judge(results(1), llm=Says(0.2, "odd", "odd", "odd", 0.6), repeats=3, on_error="nan")
    assert scores == pytest.approx([0.4])
