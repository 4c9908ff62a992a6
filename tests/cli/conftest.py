"""A folder with a store of two runs, as a person has after the first commands."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest

from himga_eval.cli.app import run
from himga_eval.store import Store
from tests.llm.conftest import running_server, server

__all__ = ["running_server", "server"]

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture(autouse=True)
def _own_environment(own_environment: None) -> None:
    """Run every command without the caller's settings."""


@pytest.fixture(scope="session")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store that scoring the sample runs leaves behind."""
    path = tmp_path_factory.mktemp("scored") / "himga.duckdb"
    datasets = [f"--dataset={name}={DATA / name}_sample.json" for name in ("locomo", "longmemeval")]
    runs = [str(DATA / f"{name}.jsonl") for name in ("larch", "wren")]
    assert run(["score", *runs, *datasets, "--store", str(path), "--metrics", "f1,bleu1"]) == 0
    store = Store(path)
    judged = [store.load(name).with_columns(judge_score="published_judge_score") for name in ("larch", "wren")]
    store.save(pl.concat(judged))
    return path


@pytest.fixture
def few(folder: Path) -> str:
    """A file of eight answers: six to be judged by a model, one by a rule, and one that is missing."""
    lines = (DATA / "larch.jsonl").read_text(encoding="utf-8").splitlines()
    missing, adversarial = (next(line for line in lines if mark in line) for mark in ("conv-2:7", "adversarial"))
    (folder / "few.jsonl").write_text(
        "\n".join([*lines[:6], missing, adversarial]).replace('"run": "larch", ', ""), encoding="utf-8"
    )
    return "few.jsonl"


@pytest.fixture
def folder(scored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a store of the runs larch and wren."""
    shutil.copy(scored, tmp_path / "himga.duckdb")
    monkeypatch.chdir(tmp_path)
    return tmp_path
