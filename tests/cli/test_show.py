"""How tables and frames are printed."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from himga_eval.cli.options import Format
from himga_eval.cli.show import show_frame, show_laid
from himga_eval.table import Table

WIDE = pl.DataFrame({"query": ["one", "two"], **{f"column_{i:02}": ["x" * 12, "y"] for i in range(8)}})


def printed_at(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: int) -> list[str]:
    monkeypatch.setattr("himga_eval.cli.show.PIPED", width)
    show_frame(WIDE, Format.text)
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_columns_that_do_not_fit_stand_below_whole(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = printed_at(monkeypatch, capsys, width)
    assert max(map(len, printed)) <= width
    cells = " ".join(printed).split()
    assert cells.count("x" * 12) == 8, "no text is folded"
    parts = cells.count("query")
    assert parts > 1
    assert cells.count("one") == parts, "each part says what its rows are"


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


def test_brackets_in_text_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    show_laid([Table("[b]title", pl.DataFrame({"run": ["[red]x[/red]"], "[u]head": ["1"]}), "[i]note")], Format.text)
    out = capsys.readouterr().out
    assert "[red]x[/red]" in out
    assert "[i]note" in out
    assert "[b]title" in out
    assert "[u]head" in out


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
