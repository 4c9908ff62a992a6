"""Print frames and tables in the format asked for."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

import polars as pl

from himga_eval.cli.options import Format

if TYPE_CHECKING:
    from himga_eval.table import Table


def show_tables(scores: pl.DataFrame, format: Format, metrics: list[str] | None = None) -> None:
    """Print scores by question type: laid out for people, or the whole summary for programs."""
    from himga_eval.scoring import summarise
    from himga_eval.table import tables

    summary = summarise(scores, metrics=metrics)
    if format in (Format.csv, Format.json):
        show_frame(summary, format)
    else:
        show_laid(tables(scores, summary), format)


def show_laid(tables: Iterable[Table], format: Format) -> None:
    """Print tables that are laid out for people."""
    from himga_eval.table import latex, markdown

    for table in tables:
        if format is Format.text:
            _print_grid(table.grid, table.title)
            print(table.note, end="\n\n")
        else:
            print((markdown if format is Format.md else latex)(table), end="\n\n")


def show_frame(frame: pl.DataFrame, format: Format) -> None:
    """Print any frame."""
    if format is Format.json:
        print(json.dumps(frame.to_dicts(), default=str, ensure_ascii=False, indent=1))
    elif format is Format.csv:
        nested = [name for name, dtype in frame.schema.items() if dtype.is_nested()]
        print(frame.with_columns(_text(frame[name]) for name in nested).write_csv(), end="")
    elif format is Format.text:
        _print_grid(pl.DataFrame([_text(column) for column in frame]))
    else:
        from himga_eval.table import Table, latex, markdown

        table = Table("", pl.DataFrame([_text(column) for column in frame]), "")
        print((markdown if format is Format.md else latex)(table).strip())


def _print_grid(grid: pl.DataFrame, title: str | None = None) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    laid = Table(
        title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1)
    )
    lead = {"metric", "run", "question_type"}
    for name in grid.columns:
        numbers = name not in lead and all(cell[:1] in "–.±-0123456789" for cell in grid[name])
        laid.add_column(
            name.replace("_", "_\n") if title else name, justify="right" if numbers else "left", overflow="fold"
        )
    for row in grid.rows():
        laid.add_row(*row)
    Console(soft_wrap=False).print(laid)


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
