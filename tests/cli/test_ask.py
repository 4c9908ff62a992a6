"""himga-eval run, judge and cache: from an agent to answers, and from answers to verdicts."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path

import pytest

from himga_eval.cli.app import run
from himga_eval.store import Store
from tests.cli.conftest import DATA
from tests.llm.fake_server import FakeServer

LOCOMO = f"locomo={DATA / 'locomo_sample.json'}"
NUMBER = itertools.count()

AGENT = """
class Memory:
    def reset(self):
        self.turns = []

class Agent:
    def __init__(self):
        self.memory = Memory()

    def ingest_sample(self, sample):
        self.memory.turns = [message.content for session in sample.sessions for message in session.messages]

    def answer(self, question):
        {answer}

def make():
    {make}
"""


def agent(folder: Path, answer: str = "return self.memory.turns[0]", make: str = "return Agent()") -> str:
    """Write an agent's module, and name it as --agent does; each has a name of its own, since modules are kept."""
    name = f"agent_{next(NUMBER)}"
    (folder / f"{name}.py").write_text(AGENT.format(answer=answer, make=make), encoding="utf-8")
    return f"{name}:make"


def answer_with(made: str, *options: str) -> int:
    return run(["run", "--agent", made, "--dataset", LOCOMO, "--run", "mine", *options])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_agent_answers_a_data_set(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer_with(agent(here)) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith("34 answers are kept as mine in himga.duckdb\n")
    assert run(["table", "mine", "--metrics", "f1", "--cost"]) == 0
    assert "mine on locomo" in capsys.readouterr().out


def test_a_part_of_a_data_set(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer_with(agent(here), "--sample", "6", "--workers", "2") == 0
    assert "6 answers are kept as mine" in capsys.readouterr().err


def test_run_again_asks_only_what_failed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picky = agent(here, 'if "boat" in question: raise ValueError("I sank")\n        return "picky"')
    assert answer_with(picky) == 4
    err = capsys.readouterr().err
    assert "questions failed, the last with ValueError: I sank; run again to ask only these" in err
    failed = int(err.splitlines()[-1].split()[0])
    assert answer_with(agent(here, 'return "second"')) == 0
    answers = Store().load("mine")["prediction"].to_list()
    assert answers.count("second") == failed > 0
    assert answers.count("picky") == 34 - failed


def test_an_agent_that_never_answered_can_be_run_again(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = agent(here, 'raise ValueError("no")')
    assert answer_with(broken) == 1
    assert "5 failures in a row, the last: the agent raised while answering conv-1:4" in capsys.readouterr().err
    assert answer_with(agent(here)) == 0


@pytest.mark.parametrize(
    ("made", "told"),
    [
        pytest.param(
            "nowhere:make", "--agent nowhere:make: ModuleNotFoundError: No module named 'nowhere'", id="module"
        ),
        pytest.param("json", "it is PACKAGE.MODULE:FUNCTION, a function here or", id="no function"),
        pytest.param("json:bogus", "has no attribute 'bogus'", id="no such function"),
        pytest.param("json:__name__", "--agent json:__name__ is a str, not a function", id="no function at all"),
    ],
)
def test_what_is_no_agent(made: str, told: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer_with(made) == 1
    assert told in capsys.readouterr().err


def test_what_an_agents_own_code_raises_is_one_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = agent(here, make='raise RuntimeError("no key")')
    assert answer_with(made) == 1
    err = capsys.readouterr().err
    assert err == f"error: --agent {made} raised RuntimeError: no key ({made.split(':')[0]}.py, line 17)\n"


def test_a_judge_is_asked_once(few: str, server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    args = ["judge", few, "--model", "anthropic/claude-haiku-4-5", "--run", "few"]
    assert run([*args, "--dry-run"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("6 calls for 8 judgements of 8 answers (1 by rule, 1 missing); about ")
    assert server.requests == []
    assert run([*args, "--json"]) == 0
    out, err = capsys.readouterr()
    assert {row["metric"] for row in json.loads(out)} == {"judge_score"}
    assert "6 calls for 8 judgements" in err
    assert err.endswith("kept as few in himga.duckdb\n")
    assert len(server.requests) == 6
    assert run(args) == 0
    err = capsys.readouterr().err
    assert err.startswith("0 calls for 8 judgements of 8 answers (6 cached, 1 by rule, 1 missing)\n")
    assert run(["judge", "few"]) == 0, "what is kept needs no model"
    assert len(server.requests) == 6
    capsys.readouterr()
    assert run(["table", "few", "--metrics", "judge_score,f1", "--cost", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["judge_usd"] == pytest.approx(6 * 0.0002)


def test_verdicts_are_asked_again(few: str, server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    args = ["judge", few, "--model", "anthropic/claude-haiku-4-5"]
    assert run(args) == 0
    server.verdict = lambda request: {"reasoning": "on second thoughts", "score": 0.6}
    capsys.readouterr()
    assert run([*args, "--recheck", "3", "--json"]) == 0
    out, err = capsys.readouterr()
    assert [(row["score"], row["score_again"], row["changed"]) for row in json.loads(out)] == [(1.0, 0.6, True)] * 3
    assert err.startswith("3 calls for 3 judgements of 3 answers; about ")
    assert err.endswith("3 of 3 verdicts changed\n")
    assert len(server.requests) == 9


def test_the_budget_ends_it_and_keeps_what_was_judged(
    few: str, server: FakeServer, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    args = ["judge", few, "--model", "anthropic/claude-haiku-4-5", "--run", "few"]
    assert run([*args, "--max-cost", "0.007"]) == 4
    paid = len(server.requests)
    assert 0 < paid < 6
    assert (
        f"{6 - paid} of 8 judgements have no score ({6 - paid} unasked): the budget of $0.007 is spent" in caplog.text
    )
    assert run(args) == 0
    assert len(server.requests) == 6


def test_a_server_of_ones_own(few: str, server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    os.environ |= {"HIMGA_BASE_URL": f"{server.url}/v1", "LLM_PROVIDER": "llama"}
    assert run(["judge", few]) == 0
    assert {request["model"] for request in server.requests} == {"llama"}
    capsys.readouterr()
    assert run(["cache", "stats", "--json"]) == 0
    (stats,) = json.loads(capsys.readouterr().out)
    assert (stats["judge_model"], stats["status"], stats["judgements"]) == ("llama", "ok", 6)
    assert run(["cache", "export", "judgements.jsonl"]) == 0
    assert capsys.readouterr().err == "6 judgements written to judgements.jsonl\n"
    assert len(Path("judgements.jsonl").read_text(encoding="utf-8").splitlines()) == 6


def test_a_judge_that_fails_leaves_no_zero(
    few: str, server: FakeServer, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    server.script["claude-haiku-4-5"] = ["ok"] * 2 + ["refusal"]
    args = ["judge", few, "--model", "anthropic/claude-haiku-4-5"]
    assert run(args) == 4
    out, err = capsys.readouterr()
    assert "4 of 8 judgements have no score (4 refused): the model refused" in caplog.text
    assert "run again to ask only the 4 judgements that have no score" in err
    assert "judge_score of few rests on 4 of 8 questions" in out.replace("\n", " ")
    server.reset()
    assert run(args) == 0
    assert len(server.requests) == 4


def test_a_judge_that_fails_takes_no_scores_away(
    few: str, server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    args = ["judge", few, "--run", "few", "--model"]
    assert run([*args, "anthropic/claude-haiku-4-5"]) == 0
    scores = Store("himga.duckdb").load("few")["judge_score"]
    server.script["claude-sonnet-5"] = ["ok", "refusal"]
    assert run([*args, "anthropic/claude-sonnet-5"]) == 4
    err = capsys.readouterr().err
    assert "the scores of few in himga.duckdb stay: 7 by claude-haiku-4-5, beside 2 now\n" in err
    assert Store("himga.duckdb").load("few")["judge_score"].equals(scores)
    server.reset()
    assert run([*args, "anthropic/claude-sonnet-5"]) == 0
    assert "the scores of few by claude-haiku-4-5 give way to those by claude-sonnet-5" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("args", "told"),
    [
        pytest.param(["larch"], "--model names the judge to ask", id="nothing is kept and no model named"),
        pytest.param(["larch", "--dry-run"], "--dry-run needs --model", id="what would it take"),
        pytest.param(["larch", "--recheck", "3"], "--recheck needs --model", id="whose verdicts"),
        pytest.param(
            ["larch", "--base-url", "http://127.0.0.1:9/v1"], "--base-url needs --model", id="a server's model"
        ),
        pytest.param(["larch", "--model", "acme/judge"], "Unknown provider 'acme'", id="a provider"),
        pytest.param(["larch", "--model", "anthropic", "--mode", "strict"], "no mode 'strict'", id="a mode"),
        pytest.param(["larch", "--model", "anthropic", "--prompts", "none"], "none", id="a folder"),
    ],
)
def test_errors_of_judging(args: list[str], told: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.environ["ANTHROPIC_API_KEY"] = "sk-ant-secret"
    assert run(["judge", *args]) == 1
    err = capsys.readouterr().err
    assert told in err.splitlines()[-1]
    assert "Traceback" not in err


def test_an_empty_cache(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["cache", "stats"]) == 0
    assert capsys.readouterr() == ("", "no judgements yet in himga.duckdb\n")
    assert run(["cache", "stats", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
