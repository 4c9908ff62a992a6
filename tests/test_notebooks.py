"""Notebooks hold no outputs, and run from top to bottom without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
CHARTS = {"1_first_look": 2, "2_judging": 1, "3_comparing_runs": 2, "4_duckdb_by_hand": 2}


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def test_the_notebooks_are_those_that_are_tested() -> None:
    assert [path.stem for path in NOTEBOOKS] == list(CHARTS)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_outputs(path: Path) -> None:
    notebook = read(path)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)
    assert notebook.cells[0].source.startswith("# ")


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_offline(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nbclient import NotebookClient

    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "HIMGA_STORE"):
        monkeypatch.delenv(name, raising=False)
    notebook = read(path)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(FOLDER)}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    drawn = [output.data for output in outputs if "image/svg+xml" in output.get("data", {})]
    assert len(drawn) == CHARTS[path.stem]
    complaints = [output.text for output in outputs if output.get("name") == "stderr"]
    assert [text for text in complaints if "TqdmWarning" not in text] == []  # no ipywidgets: a plain progress bar
