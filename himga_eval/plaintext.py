"""Write a table as plain text, in columns that fit a width."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, zip_longest
from textwrap import wrap
from typing import NamedTuple

import polars as pl

from himga_eval.table import LEAD, Table, is_numeric, parted

GAP = 2
"""How many spaces part two columns."""

WIDEST, NARROWEST = 60, 16
"""How wide a column of prose may be, and how narrow it may be made."""

NOTE = 120
"""How wide the lines under a table may be."""


class _Column(NamedTuple):
    """What is printed of a column: lines of its head, its cells, how wide it is and whether to the right."""

    head: list[str]
    cells: list[str]
    width: int
    right: bool
    best: frozenset[int]


def plaintext(table: Table, width: int, *, bold: bool = False) -> str:
    """Write a table in columns; those that do not fit side by side stand below, behind the names of the rows again.

    `bold` sets off the title and the best cells as a terminal does.
    """
    grid, best = _sections(table)
    parts = [_emphasised(table.title, bold)] if table.title else []
    parts += ["\n".join(_lines(part, bold)) for part in _fitting(_columns(grid, best, width), _leads(grid), width)]
    if table.note:
        parts.append(_folded(table.note, min(width, NOTE)))
    return "\n\n".join(parts)


def _sections(table: Table) -> tuple[pl.DataFrame, frozenset[tuple[int, str]]]:
    """Put runs under the metric that they share, where a row has both: that leaves more room to the scores."""
    grid = table.grid
    if grid.columns[:2] != ["metric", "run"]:
        return grid, table.best
    rows, best = [], set()
    for metric, part in groupby(enumerate(grid.iter_rows(named=True)), lambda row: row[1]["metric"]):
        named = list(part)
        if named[0][1]["run"]:
            rows.append(dict.fromkeys(grid.columns, "") | {"metric": metric})
        for place, row in named:
            best |= {(len(rows), name) for at, name in table.best if at == place}
            rows.append(row | {"metric": f"  {row['run']}" if row["run"] else metric})
    return pl.DataFrame(rows, schema=grid.schema).drop("run"), frozenset(best)


def _leads(grid: pl.DataFrame) -> int:
    """Count the columns that name the rows: those known to, or the first."""
    return max(1, sum(name in LEAD for name in grid.columns))


def _columns(grid: pl.DataFrame, best: Iterable[tuple[int, str]], width: int) -> list[_Column]:
    """Lay out every column, prose as narrow as it must be for all to fit, if they can."""
    tries = [(False, WIDEST), *((True, most) for most in range(WIDEST, NARROWEST - 1, -4))]
    return next(
        (laid for broken, most in tries if _room(laid := _laid(grid, best, most, broken)) <= width),
        _laid(grid, best, min(WIDEST, width // 2), True),
    )


def _laid(grid: pl.DataFrame, best: Iterable[tuple[int, str]], most: int, broken: bool) -> list[_Column]:
    """Lay out every column, with prose of so many letters in a line, and long names broken at their underscores."""
    columns = []
    for name in sorted(grid.columns, key=lambda name: name not in LEAD):  # stable: what names the rows comes first
        cells = [_printable(cell) for cell in grid[name]]
        longer = broken and _wide(name) > max(map(_wide, cells), default=0)
        head = _printable(name.replace("_", "_\n") if longer else name).split("\n")
        prose = any(_wide(cell) > most and (" " in cell or _wide(cell) > WIDEST) for cell in cells)
        cells = [_folded(cell, most) for cell in cells] if prose else cells
        wide = max(_wide(line) for text in (*head, *cells) for line in text.split("\n"))
        marked = frozenset(row for row, column in best if column == name)
        columns.append(_Column(head, cells, wide, is_numeric(grid[name]), marked))
    return columns


def _folded(text: str, most: int) -> str:
    letters = max(1, most * len(text) // max(1, _wide(text)))
    return "\n".join(line for part in text.split("\n") for line in wrap(part, letters, break_on_hyphens=False) or [""])


def _room(columns: Sequence[_Column]) -> int:
    return sum(column.width for column in columns) + GAP * (len(columns) - 1)


def _fitting(columns: list[_Column], leads: int, width: int) -> Iterator[list[_Column]]:
    """Cut the columns into as many as fit side by side, in front each time what names the rows."""
    lead, rest = columns[:leads], columns[leads:]
    part: list[_Column] = []
    for column in rest:
        if part and _room([*lead, *part, column]) > width:
            yield [*lead, *part]
            part = []
        part.append(column)
    yield [*lead, *part]


def _lines(columns: Sequence[_Column], bold: bool) -> Iterator[str]:
    depth = max(len(column.head) for column in columns)
    heads = [[""] * (depth - len(column.head)) + column.head for column in columns]
    unmarked = [False] * len(columns)
    for level in zip(*heads, strict=True):
        yield _line(columns, level, unmarked)
    yield "─" * _room(columns)
    for row in range(len(columns[0].cells)):
        cells = [column.cells[row].split("\n") for column in columns]
        marked = [bold and row in column.best for column in columns]
        for line in zip_longest(*cells, fillvalue=""):
            yield _line(columns, line, marked)


def _line(columns: Sequence[_Column], texts: Iterable[str], marked: Iterable[bool]) -> str:
    cells = []
    for column, text, best in zip(columns, texts, marked, strict=True):
        blank = " " * (column.width - _wide(text))
        mean, interval = parted(text) if best else (text, "")
        shown = _emphasised(mean, best) + interval
        cells.append(blank + shown if column.right else shown + blank)
    return (" " * GAP).join(cells).rstrip()


def _emphasised(text: str, bold: bool) -> str:
    return f"\x1b[1m{text}\x1b[0m" if bold else text


def _printable(text: str) -> str:
    """Take from text what a terminal would obey."""
    return re.sub(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", " ", text)


def _wide(text: str) -> int:
    """Say how many cells of a terminal a text takes: letters of East Asia take two, accents that combine none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )
