"""Write a table in Markdown or LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import groupby

import polars as pl

from himga_eval.table import Table, is_numeric, parted


def markdown(table: Table) -> str:
    """Write a table in Markdown; the heads above a column become a part of its name."""
    rule = ["---:" if is_numeric(column) else "---" for column in table.grid]
    body = _cells(table, _plain, lambda best: f"**{best}**")
    lines = [[_plain(name) for name in table.grid.columns], rule, *body]
    title = [f"**{_plain(table.title)}**", ""] if table.title else []
    note = ["", _plain(table.note)] if table.note else []
    return "\n".join([*title, *(f"| {' | '.join(line)} |" for line in lines), *note])


def latex(table: Table) -> str:
    """Write a table in LaTeX, its title and note as comments, made smaller where it is wider than the line.

    The document needs the packages booktabs and graphicx.
    """
    body = [rf"{' & '.join(line)} \\" for line in _cells(table, _safe, lambda best: rf"\textbf{{{best}}}")]
    if {"metric", "run"} <= set(table.grid.columns):  # the runs of a metric stand together
        parted = table.grid["metric"].ne_missing(table.grid["metric"].shift(-1))[:-1]
        body = [line + r" \addlinespace" * last for line, last in zip(body, [*parted, False], strict=True)]
    return "\n".join(
        [
            *(f"% {_line(text)}" for text in (table.title, table.note) if text),
            r"\noindent\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{\setlength{\tabcolsep}{4pt}%",
            rf"\begin{{tabular}}{{{''.join('r' if is_numeric(column) else 'l' for column in table.grid)}}}",
            r"\toprule",
            *_heads(table.grid),
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}}",
        ]
    )


def _cells(table: Table, safe: Callable[[str], str], bold: Callable[[str], str]) -> Iterator[list[str]]:
    """Write the rows of a table; of a best cell the mean is set off, and not its interval."""
    for place, row in enumerate(table.grid.iter_rows()):
        written = []
        for name, cell in zip(table.grid.columns, row, strict=True):
            mean, interval = parted(cell)
            gap = " " * interval.startswith(" ")
            best = (place, name) in table.best
            written.append(bold(safe(mean)) + gap + safe(interval) if best else safe(cell))
        yield written


def _heads(grid: pl.DataFrame) -> Iterator[str]:
    """Write the heads, a line a level: what several columns have in common stands over all of them, above a rule."""
    names = [name.split("\n") for name in grid.columns]
    depth = max(map(len, names))
    names = [[""] * (depth - len(name)) + name for name in names]
    rooms = [max(map(len, column), default=0) for column in grid]
    for level in range(depth):
        cells, rules, place = [], [], 0
        for path, group in groupby(name[: level + 1] for name in names):
            width = len(list(group))
            head = _head(path[-1], sum(rooms[place : place + width]) + 2 * width, "c" if width > 1 else "r")
            if head and width > 1:
                cells.append(rf"\multicolumn{{{width}}}{{c}}{{{head}}}")
                rules.append(rf"\cmidrule(lr){{{place + 1}-{place + width}}}")
            else:
                cells += [head] * width
            place += width
        yield rf"{' & '.join(cells)} \\"
        if rules and level + 2 == depth:
            yield " ".join(rules)


def _head(name: str, room: int, side: str) -> str:
    """Break a name at its underscores where it is longer than all that stands below it."""
    parts = [_safe(part) for part in re.split(r"(?<=_)", name)]
    broken = r" \\ ".join(parts)
    return rf"\shortstack[{side}]{{{broken}}}" if len(name) > room and len(parts) > 1 else "".join(parts)


def _line(text: str) -> str:
    """Bring text to one line."""
    return " ".join(text.split())


def _plain(text: str) -> str:
    """Keep Markdown from reading marks in text."""
    return re.sub(r"[\\`*<|]|\](?=\()|(?<![a-zA-Z0-9])_|_(?![a-zA-Z0-9])", r"\\\g<0>", _line(text))


def _safe(text: str) -> str:
    """Keep LaTeX from reading commands in text."""
    return "".join(_LATEX.get(char, char) for char in _line(text))


_LATEX = {
    "\\": r"\textbackslash{}",
    "±": r"$\pm$",
    "–": "--",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{char: f"{{{char}}}" for char in "[]*"},  # behind a line break they would be its options
    **{char: f"\\{char}" for char in "&%$#_{}"},
}
