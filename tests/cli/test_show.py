"""How tables and frames are printed."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from himga_eval.cli.options import Format
from himga_eval.cli.show import show_frame


def test_values_are_written_as_people_read_them(capsys: pytest.CaptureFixture[str]) -> None:
    frame = pl.DataFrame(
        {"a": [0.123456, None], "b": [["x", "y"], []], "c": [{"k": 1}, {"k": None}], "d": [True, None]}
    )
    show_frame(frame, Format.md)
    assert capsys.readouterr().out.splitlines()[2:] == ["| 0.1235 | x, y | k=1 | True |", "|  |  | k= |  |", ""]


def test_lists_are_text_in_csv(capsys: pytest.CaptureFixture[str]) -> None:
    show_frame(pl.DataFrame({"a": [["x", "y"]], "b": [0.123456]}), Format.csv)
    assert capsys.readouterr().out == 'a,b\n"x, y",0.123456\n'


@pytest.mark.parametrize("format", [Format.text, Format.md, Format.latex])
def test_an_empty_frame_is_printed(format: Format, capsys: pytest.CaptureFixture[str]) -> None:
    show_frame(pl.DataFrame(schema={"run": pl.String, "f1": pl.Float64}), format)
    assert "f1" in capsys.readouterr().out


def test_json_has_numbers_and_null_for_what_is_not_finite(capsys: pytest.CaptureFixture[str]) -> None:
    odd = pl.DataFrame({"x": [float("nan"), float("inf"), 0.5], "n": [1, None, 2], "d": ["0.5", None, "1"]})
    show_frame(odd.with_columns(pl.col("d").cast(pl.Decimal(10, 2))), Format.json)
    rows = json.loads(capsys.readouterr().out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert rows == [{"x": None, "n": 1, "d": 0.5}, {"x": None, "n": None, "d": None}, {"x": 0.5, "n": 2, "d": 1.0}]


def in_a_terminal() -> str:
    """What a terminal is sent for a table with a best cell."""
    code = (
        "import polars as pl; from himga_eval.cli.options import Format; from himga_eval.cli.show import show_laid;"
        "from himga_eval.table import Table;"
        "grid = pl.DataFrame({'run': ['a'], 'f1': ['.5 ±.1']});"
        "show_laid([Table('t', grid, '', frozenset({(0, 'f1')}))], Format.text)"
    )
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80"}
    subprocess.run([sys.executable, "-c", code], stdout=theirs, check=True, env=env, cwd=Path(__file__).parents[2])
    os.close(theirs)
    sent = b""
    try:
        while part := os.read(ours, 4096):
            sent += part
    except OSError:  # Linux says so where the other end is closed
        pass
    os.close(ours)
    return sent.decode()


def test_the_best_is_bold_in_a_terminal_and_nothing_is_coloured() -> None:
    sent = in_a_terminal()
    assert "\x1b[1m.5\x1b[0m ±.1" in sent
    assert "\x1b[3" not in sent
