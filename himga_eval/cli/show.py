"""Print frames and tables in the format asked for."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import polars as pl

from himga_eval.cli.options import Format

if TYPE_CHECKING:
    from rich.text import Text

    from himga_eval.table import Table

PIPED = 1000
"""How wide a table may be where no terminal is to show it."""

WIDEST = 60
"""How wide a column may be; longer text is folded."""

FOR_PROGRAMS = (Format.csv, Format.json)
"""The formats that have every row and column."""


def show_tables(
    scores: pl.DataFrame, format: Format, metrics: list[str] | None = None, *, notes: Sequence[str] = ()
) -> None:
    """Print scores by question type: laid out for people, or the whole summary for programs.

    `notes` is what to add to the line under each table.
    """
    from himga_eval.scoring import summarise
    from himga_eval.table import tables

    summary = summarise(scores, metrics=metrics)
    if format in FOR_PROGRAMS:
        show_frame(summary, format)
    else:
        show_laid(with_notes(tables(scores, summary), notes), format)


def with_notes(tables: Iterable[Table], notes: Sequence[str]) -> Iterator[Table]:
    """Add to the line under each table."""
    return (replace(table, note=" ".join([table.note, *notes])) for table in tables)


def show_laid(tables: Iterable[Table], format: Format) -> None:
    """Print tables that are laid out for people."""
    from himga_eval.markup import latex, markdown

    for table in tables:
        if format is Format.text:
            _print_text(table)
        else:
            print((markdown if format is Format.md else latex)(table), end="\n\n")


def show_columns(frame: pl.DataFrame, columns: Sequence[str], format: Format) -> None:
    """Print these columns for people, and all of them for programs."""
    show_frame(frame if format in FOR_PROGRAMS else frame.select(columns), format)


def show_frame(frame: pl.DataFrame, format: Format) -> None:
    """Print any frame."""
    from himga_eval.table import Table

    if format is Format.json:
        print(json.dumps(frame.to_dicts(), default=str, ensure_ascii=False, indent=1))
    elif format is Format.csv:
        nested = [name for name, dtype in frame.schema.items() if dtype.is_nested()]
        print(frame.with_columns(_text(frame[name]) for name in nested).write_csv(), end="")
    else:
        show_laid([Table("", pl.DataFrame([_text(column) for column in frame]), "")], format)


def _print_text(table: Table) -> None:
    """Print text in columns; where they do not fit side by side, in several tables below one another."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as Laid
    from rich.text import Text

    from himga_eval.table import is_numeric

    console = Console(width=None if sys.stdout.isatty() else PIPED, highlight=False)
    title = Text(table.title) if table.title else None
    for names in _fitting(table.grid, console.width):
        laid = Laid(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
        for column in table.grid.select(names):
            side: Literal["right", "left"] = "right" if is_numeric(column) else "left"
            laid.add_column(Text(_header(column)), justify=side, overflow="fold", max_width=WIDEST)
        for place, row in enumerate(table.grid.select(names).iter_rows()):
            laid.add_row(*(_styled(c, (place, n) in table.best) for n, c in zip(names, row, strict=True)))
        console.print(laid)
        title = None
    if table.note:
        console.print(Text(table.note), width=min(console.width, 120), end="\n\n")


def _fitting(grid: pl.DataFrame, width: int) -> Iterator[list[str]]:
    """Cut the columns into as many as fit side by side, in front each time what names the rows, or the first column."""
    from himga_eval.table import LEAD

    lead = [name for name in grid.columns if name in LEAD] or grid.columns[:1]
    widths = {c.name: 3 + min(WIDEST, max(map(len, [*_header(c).split("\n"), *c]))) for c in grid}
    room = width - sum(widths[name] for name in lead)
    names, taken = list(lead), 0
    for name in grid.columns:
        if name in lead:
            continue
        if taken and taken + widths[name] > room:
            yield names
            names, taken = list(lead), 0
        names.append(name)
        taken += widths[name]
    yield names


def _styled(cell: str, best: bool) -> Text:
    """Set off the mean of a best cell."""
    from rich.text import Text

    text = Text(cell)
    if best:
        text.stylize("bold", 0, len(cell.split(maxsplit=1)[0]))
    return text


def _header(column: pl.Series) -> str:
    """Break a name at its underscores where it is longer than all that stands below it."""
    name = column.name
    return name.replace("_", "_\n") if len(name) > max(map(len, column), default=0) else name


def _text(column: pl.Series) -> pl.Series:
    """Write a column as people read it: floats to four digits, lists with commas, nothing for null."""

    def written(value: object) -> str:
        if value is None:
            return ""
        if isinstance(value, float):
            return f"{value:.4g}"
        if isinstance(value, list):
            return ", ".join(map(written, value))
        if isinstance(value, dict):
            return ", ".join(f"{key}={written(item)}" for key, item in value.items())
        return str(value)

    return pl.Series(column.name, [written(value) for value in column.to_list()], pl.String)
