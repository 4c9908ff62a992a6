"""Exit codes, streams, the help and its examples."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.main import get_command

from himga_eval.cli import app
from himga_eval.cli.app import BELOW_GATE, FIRST, UNDECIDED, run
from himga_eval.store import Store
from tests.cli.conftest import DATA
from tests.llm.fake_server import FakeServer

LOCOMO = f"locomo={DATA / 'locomo_sample.json'}"
HIMGA = [sys.executable, "-c", "from himga_eval.cli import main; main()"]

AGENT = """
class Memory:
    def reset(self): ...

class Agent:
    memory = Memory()
    def ingest_sample(self, sample): ...
    def answer(self, question):
        return "I do not know"

def make(): return Agent()
"""

STOP = """
import os, signal
from my_agent import Agent as Willing

class Agent(Willing):
    def answer(self, question):
        os.kill(os.getpid(), signal.SIGINT)
        return "late"

def make(): return Agent()
"""


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """All commands, those of groups too, with their paths."""
    for name, child in getattr(command, "commands", {}).items():
        if hasattr(child, "commands"):
            yield from commands(child, (*path, name))
        else:
            yield (*path, name), child


COMMANDS = [pytest.param(path, command, id=" ".join(path)) for path, command in commands(get_command(app))]


@pytest.mark.parametrize(
    ("args", "code"),
    [
        pytest.param(["runs"], 0, id="ok"),
        pytest.param(["--version"], 0, id="the version"),
        pytest.param(["table", "--help"], 0, id="help"),
        pytest.param(["table", "nobody"], 1, id="error"),
        pytest.param([], 2, id="usage: nothing"),
        pytest.param(["bogus"], 2, id="usage: no command"),
        pytest.param(["table"], 2, id="usage: no argument"),
        pytest.param(["table", "larch", "--format", "xml"], 2, id="usage: no such format"),
        pytest.param(
            ["score", str(DATA / "larch.jsonl"), "--metrics", "f1", "--fail-under", "f1=0.9"], 3, id="a floor"
        ),
        pytest.param(["compare", "larch", "wren", "--fail-on", "regressed"], 3, id="a regression"),
        pytest.param(["run", "--agent", "failing:make", "--dataset", LOCOMO, "--run", "x"], 4, id="failed rows"),
        pytest.param(["compare", "larch", "wren", "--metrics", "f1", "--fail-on", "regressed"], 5, id="undecided"),
    ],
)
def test_exit_codes(args: list[str], code: int, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    failing = AGENT.replace('return "', 'if "boat" in question: raise ValueError("I sank")\n        return "')
    (folder / "failing.py").write_text(failing, encoding="utf-8")
    assert run(args) == code


def test_the_help_lists_what_most_people_need_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    listed = capsys.readouterr().out.split("Commands:\n")[1].splitlines()
    names = [line.split()[0] for line in listed]
    assert names[: len(FIRST)] == list(FIRST)
    assert not [line for line in listed if line.endswith("...")], "a summary is cut off"


def test_the_help_imports_nothing_heavy() -> None:
    heavy = ("polars", "duckdb", "numpy", "scipy", "altair", "rich.table", "torch", "anthropic")
    told = f"print([module for module in {heavy} if module in sys.modules])"
    code = f"import sys, himga_eval.cli; from himga_eval.cli.app import run; run(['--help']); {told}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"himga-eval {version('himga-eval')}\n"


@pytest.fixture
def workshop(folder: Path, server: FakeServer) -> Path:
    """A folder with every file that the examples name, and a server for those that ask a model."""
    for name in ("locomo", "longmemeval"):
        shutil.copy(DATA / f"{name}_sample.json", folder / f"{name}.json")
    judged = Store().load("larch").drop_nulls("judge_score")
    judged.drop("run", "f1", "bleu1").write_ndjson("answers.jsonl")
    people = judged.with_columns(human=pl.int_range(pl.len()) % 2)
    people.select("sample_id", "question_id", "question_type", "judge_score", "human").write_csv("labels.csv")
    (folder / "my_agent.py").write_text(AGENT, encoding="utf-8")
    os.environ["DATASETS_ROOT"] = str(folder)
    return folder


def example_of(command: Any) -> list[str]:
    """The words of the example that a command's help ends with."""
    return shlex.split(command.help.rpartition("Example: himga-eval ")[2])


@pytest.mark.parametrize(("path", "command"), COMMANDS)
def test_help_ends_with_an_example_on_one_line(
    path: tuple[str, ...], command: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*path, "--help"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  Example: himga-eval ")]
    assert command.help.endswith(line.strip())
    assert example_of(command)[: len(path)] == list(path)


@pytest.mark.slow
@pytest.mark.parametrize(("path", "command"), COMMANDS)
def test_examples_run(
    path: tuple[str, ...], command: Any, workshop: Path, few: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if path[0] == "cache":
        assert run(["judge", few, "--model", "anthropic/claude-haiku-4-5"]) == 0
    assert run(example_of(command)) in (0, BELOW_GATE, UNDECIDED), capsys.readouterr().err


@pytest.mark.parametrize(("path", "command"), COMMANDS)
def test_what_a_program_may_read_comes_as_json(path: tuple[str, ...], command: Any) -> None:
    quiet = {"label", "export", "report", "run"}  # they write files
    formats = [param for param in command.params if param.name == "format"]
    assert bool(formats) == (path[-1] not in quiet)


def test_notes_and_progress_stay_off_stdout_and_colours_out_of_pipes(folder: Path) -> None:
    args = ["score", str(DATA / "larch.jsonl"), "--metrics", "f1", "--run", "piped"]
    done = subprocess.run([*HIMGA, *args], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("piped on locomo")
    assert "\x1b" not in done.stdout + done.stderr
    assert done.stderr.endswith("kept as piped in himga.duckdb\n")
    assert "kept as" not in done.stdout


def test_a_reader_that_goes_away_is_no_error(folder: Path) -> None:
    query = "select unnest(range(200000)) as n"
    with subprocess.Popen([*HIMGA, "sql", query, "--format", "csv"], stdout=-1, stderr=-1, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "n\n"
        process.stdout.close()
        assert process.stderr.read() == ""


def test_an_interrupt_is_one_line_and_loses_nothing(folder: Path) -> None:
    (folder / "my_agent.py").write_text(AGENT, encoding="utf-8")
    (folder / "stopping.py").write_text(STOP, encoding="utf-8")
    args = ["run", "--agent", "stopping:make", "--dataset", LOCOMO, "--run", "mine"]
    done = subprocess.run([*HIMGA, *args], capture_output=True, text=True, check=False)
    assert done.returncode == 128 + signal.SIGINT
    assert done.stderr == "interrupted; what was answered or judged so far is kept\n"
