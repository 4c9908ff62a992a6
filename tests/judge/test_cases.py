"""The cases of public bug reports that concern judges and their cache, with their own inputs."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from himga_eval.errors import StoreError
from himga_eval.judge import batch_judge, is_unanswerable, judge_answer
from himga_eval.judge.modes import MODES
from himga_eval.judge.templates import read_prompt
from himga_eval.llm import AnthropicClient
from tests.judge.test_answers import Says
from tests.judge.test_judging import Judge, judged, result
from tests.llm.fake_server import FakeServer


@pytest.fixture(scope="module")
def case(shared: Path) -> Callable[[str], dict[str, Any]]:
    lines = (shared / "cases/public_cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = {one["id"]: one["input"] for one in map(json.loads, lines)}
    return cases.__getitem__


def status(said: str | dict[str, Any], server: FakeServer) -> tuple[str, float | None]:
    """What becomes of the one thing a judge says, as text or in its tool."""
    server.script["claude-haiku-4-5"] = [f"input {json.dumps(said)}"]
    llm: Any = Judge(lambda _: said) if isinstance(said, str) else AnthropicClient()
    row = judged([result(0)], llm).row(0, named=True)
    return row["status"], row["score"]


def test_j02_incorrect_holds_correct(case: Any) -> None:
    for reply in (case("J02")["fake_llm_reply"], "not correct", "partially correct"):
        assert judge_answer("q", "g", "p", llm=Says(reply), mode="default_binary") == 0.0


def test_j03_a_fence_costs_no_second_call(case: Any) -> None:
    llm = Says(case("J03")["fake_llm_reply"])
    assert judge_answer("q", "g", "p", llm=llm) == 1.0
    assert len(llm.calls) == 1


def test_j04_a_score_may_be_text(case: Any, server: FakeServer) -> None:
    assert status(case("J04")["fake_llm_tool_input"], server) == ("ok", 0.8)


@pytest.mark.parametrize("name", ["J07", "J17"])
def test_j07_j17_what_is_no_verdict_is_no_score(case: Any, server: FakeServer, name: str) -> None:
    assert status(case(name)["fake_llm_reply"], server) == ("invalid", None)


def test_j08_a_refusal_is_no_score_and_final(case: Any, server: FakeServer) -> None:
    server.script["claude-haiku-4-5"] = [f"refusal {case('J08')['fake_llm']['content'][0]['text']}"]
    frame = judged([result(0)], AnthropicClient())
    assert (frame["status"].item(), frame["score"].item(), len(server.requests)) == ("refused", None, 1)


@pytest.mark.parametrize("name", ["J12", "J14"])
def test_j12_j14_texts_are_data(case: Any, name: str) -> None:
    given = case(name)
    _, user = read_prompt(MODES["continuous"]).fill("q", given["ground_truth"], given["prediction"])
    fence = user["content"].split(">", 1)[0].removeprefix("<question ")
    assert f"<answer {fence}>\n{given['prediction']}\n</answer {fence}>" in user["content"]
    assert f"<reference {fence}>\n{given['ground_truth']}\n</reference {fence}>" in user["content"]


def test_j24_j39_off_the_steps_absent_or_nested_is_no_score(case: Any, server: FakeServer) -> None:
    for said in (case("J24")["fake_llm_tool_input"], *case("J39")["fake_llm_tool_inputs"]):
        assert status(said, server) == ("invalid", None)


def test_j26_abstention_goes_by_the_id(case: Any) -> None:
    given = {name: case("J26")[name] for name in ("question_id", "question_type", "prediction", "ground_truth")}
    frame = judged([result(0, **given)], Judge(lambda _: "yes"))
    assert (frame["mode"].item(), frame["score"].item()) == ("abstention", 1.0)


def test_j28_rules_by_type(case: Any) -> None:
    kinds = case("J28")["question_type"]
    judge = Judge(lambda _: "yes")
    judged([result(i, question_type=kind, dataset="longmemeval") for i, kind in enumerate(kinds)], judge)
    assert ["off by one" in prompt for prompt in judge.prompts] == [kind == "temporal-reasoning" for kind in kinds]
    assert ["RUBRIC" in prompt for prompt in judge.prompts] == [kind == "single-session-preference" for kind in kinds]


def test_j29_a_decorated_yes(case: Any) -> None:
    for reply in case("J29")["fake_llm_replies"]:
        assert judge_answer("q", "g", "p", llm=Says(reply), mode="default_binary") == 1.0


def test_j30_j32_j34_j35_refusals_and_answers_that_hold_their_words(case: Any) -> None:
    assert all(map(is_unanswerable, case("J30")["texts"]))
    assert not any(map(is_unanswerable, case("J32")["texts"]))
    assert not is_unanswerable(case("J35")["text"])
    missing = [math.nan if isinstance(value, str) and "NaN" in value else value for value in case("J34")["values"]]
    assert [is_unanswerable(value) for value in missing] == [True, True, True, True, False]


@pytest.mark.parametrize("name", ["C01", "C06"])
def test_c01_c06_a_verdict_is_for_its_texts(case: Any, tmp_path: Path, name: str) -> None:
    for given in (case(name)["run1"], case(name)["run2"], case(name)["run1"]):
        score = given.pop("fake_judge") if "fake_judge" in given else 0.0
        judge = Judge(lambda _: score)  # noqa: B023
        assert judged([result(0, **given)], judge, tmp_path / "c.duckdb")["score"].item() == score


def test_c02_a_verdict_is_of_its_judge(case: Any, tmp_path: Path) -> None:
    for given in (case("C02")["run1"], case("C02")["run2"]):
        judge = Judge(lambda _: given["fake_judge"], given["judge_model"])  # noqa: B023
        assert judged([result(0)], judge, tmp_path / "c.duckdb")["score"].item() == given["fake_judge"]


def test_c05_c19_texts_that_look_alike_have_keys_of_their_own(case: Any) -> None:
    answers = [result(0, **case("C05")["a"]), result(0, **case("C05")["b"])]
    answers += [result(0, **row) for row in case("C19")["rows"]]
    assert judged(answers, Judge(lambda _: 1.0))["cache_key"].n_unique() == 4


def test_c11_what_is_no_cache_is_named_and_left_alone(case: Any, tmp_path: Path) -> None:
    cache = tmp_path / "cache.duckdb"
    for content in (case("C11")["files"]["cache.duckdb"], ""):
        cache.write_text(content)
        with pytest.raises(StoreError, match=r"cache\.duckdb is damaged or no DuckDB file"):
            batch_judge([result(0)], llm=Says(1.0), cache_path=cache)
        assert cache.read_text() == content


def test_c17_a_score_comes_back_equal(case: Any, tmp_path: Path) -> None:
    cache, score = tmp_path / "cache.duckdb", case("C17")["score"]
    judged([result(0)], Judge(lambda _: score), cache)
    assert judged([result(0)], None, cache).filter(pl.col("score") == score).height == 1
