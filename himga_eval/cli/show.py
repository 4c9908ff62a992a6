"""Print frames and tables in the format asked for."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from shutil import get_terminal_size
from typing import TYPE_CHECKING

from himga_eval.cli.options import Format

if TYPE_CHECKING:
    import polars as pl

    from himga_eval.table import Table

PIPED = 1000
"""How wide a table may be where no terminal is to show it."""

FOR_PROGRAMS = (Format.csv, Format.json)
"""The formats that have every row and column."""


def show_tables(
    scores: pl.DataFrame, format: Format, metrics: list[str] | None = None, *, notes: Mapping[str, str] | None = None
) -> None:
    """Print scores by question type: laid out for people, or the whole summary for programs.

    `notes` is what to add under the table of each data set.
    """
    from himga_eval.scoring import summarise
    from himga_eval.table import tables

    summary = summarise(scores, metrics=metrics)
    if format in FOR_PROGRAMS:
        show_frame(summary, format)
    else:
        show_laid(tables(scores, summary, notes=notes), format)


def show_laid(tables: Iterable[Table], format: Format) -> None:
    """Print tables that are laid out for people."""
    from himga_eval.markup import latex, markdown
    from himga_eval.plaintext import plaintext

    terminal = sys.stdout.isatty()
    width = get_terminal_size().columns if terminal else PIPED
    for table in tables:
        if format is Format.text:
            print(plaintext(table, width, bold=terminal), end="\n\n")
        else:
            print((markdown if format is Format.md else latex)(table), end="\n\n")


def show_columns(frame: pl.DataFrame, columns: Sequence[str], format: Format) -> None:
    """Print these columns for people, and all of them for programs."""
    show_frame(frame if format in FOR_PROGRAMS else frame.select(columns), format)


def show_frame(frame: pl.DataFrame, format: Format) -> None:
    """Print any frame."""
    import polars as pl
    from polars import selectors

    from himga_eval.table import Table

    if format is Format.json:  # which has no word for what is not finite
        numbers = (selectors.float() | selectors.decimal()).cast(pl.Float64)
        rows = frame.with_columns(pl.when(numbers.is_finite()).then(numbers)).to_dicts()
        print(json.dumps(rows, default=str, ensure_ascii=False, indent=1))
    elif format is Format.csv:
        nested = [name for name, dtype in frame.schema.items() if dtype.is_nested()]
        print(frame.with_columns(_text(frame[name]) for name in nested).write_csv(), end="")
    else:
        show_laid([Table("", pl.DataFrame([_text(column) for column in frame]), "")], format)


def _text(column: pl.Series) -> pl.Series:
    """Write a column as people read it: floats to four digits, lists with commas, nothing for null."""
    import polars as pl

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
