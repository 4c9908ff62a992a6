"""Settings from himga-eval.toml."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from himga_eval.errors import InputError
from himga_eval.settings import UnknownSetting, apply_settings, read_settings

pytestmark = pytest.mark.usefixtures("own_environment")


def write(folder: Path, text: str) -> Path:
    path = folder / "himga-eval.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        pytest.param('store = "runs.duckdb"', {"HIMGA_STORE": "runs.duckdb"}, id="text"),
        pytest.param("rpm = 50", {"HIMGA_RPM": "50"}, id="a whole number where any number will do"),
        pytest.param("max_cost = 2.5", {"HIMGA_MAX_COST": "2.5"}, id="a number"),
        pytest.param('metrics = ["f1", "bleu1"]', {"HIMGA_METRICS": "f1,bleu1"}, id="metrics"),
        pytest.param(
            'dataset = ["locomo=a b.json", "mine"]',
            {"HIMGA_DATASET": f"locomo=a b.json{os.pathsep}mine"},
            id="data sets",
        ),
        pytest.param('model = "openai/gpt-4o-mini"', {"LLM_PROVIDER": "openai/gpt-4o-mini"}, id="the judge"),
        pytest.param("", {}, id="nothing"),
    ],
)
def test_a_setting_is_an_environment_variable(text: str, variables: dict[str, str], tmp_path: Path) -> None:
    assert read_settings(write(tmp_path, text)) == variables


def test_without_a_file_there_are_none(tmp_path: Path) -> None:
    assert read_settings(tmp_path / "himga-eval.toml") == {}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param('rpm = "fast"', "himga-eval.toml: rpm is a number, and not 'fast'", id="text for a number"),
        pytest.param("concurrency = 2.5", "concurrency is a whole number, and not 2.5", id="half a call"),
        pytest.param("rpm = true", "rpm is a number, and not True", id="a truth is no number"),
        pytest.param('metrics = "f1"', "metrics is a list of texts, and not 'f1'", id="text for a list"),
        pytest.param("metrics = [1]", "metrics is a list of texts, and not [1]", id="a list of numbers"),
        pytest.param("store = 1", "store is text, and not 1", id="a number for text"),
        pytest.param("store = ", "himga-eval.toml is not valid TOML: Invalid value (at end of document)", id="no TOML"),
    ],
)
def test_a_wrong_value_is_one_clear_error(text: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_settings(write(tmp_path, text))
    assert told in str(caught.value)


def test_a_wrong_key_lists_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(UnknownSetting) as caught:
        read_settings(write(tmp_path, 'metric = ["f1"]'))
    assert "no setting 'metric'; did you mean 'metrics'?" in str(caught.value)
    assert "known: store, dataset," in str(caught.value)


def test_the_environment_holds_above_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, 'store = "file.duckdb"\nprotocol = "mem0"\ndevice = "cpu"')
    monkeypatch.chdir(tmp_path)
    os.environ |= {"HIMGA_STORE": "environment.duckdb", "HIMGA_DEVICE": ""}
    apply_settings()
    assert os.environ["HIMGA_STORE"] == "environment.duckdb"
    assert os.environ["HIMGA_PROTOCOL"] == "mem0"
    assert os.environ["HIMGA_DEVICE"] == "cpu"
