"""Write the parts of a report that are there before its script runs: averages, tables, what was run."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import cycle

import polars as pl

from himga_eval import table as laid
from himga_eval.charts.look import COLOURS
from himga_eval.comparable import Settings
from himga_eval.comparison_table import comparison_tables
from himga_eval.metrics.catalog import METRICS

_CUTS = {"locomo": ("answerable", "overall"), "longmemeval": ("overall", "task_averaged")}
_PACKAGES = ("himga-eval", "polars", "duckdb")
_LEADS = ("run", "data set", "metric", "type", "setting", "defined as", "")


def text(value: object) -> str:
    """Make a value safe to stand in HTML: numbers as people read them, "–" for null."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.4g}"
    return html.escape(f"{value:,}" if isinstance(value, int) else str(value))


def subtitle(frame: pl.DataFrame) -> str:
    """Say in a line what the report is on."""
    runs, datasets = frame["run"].n_unique(), frame["dataset"].unique(maintain_order=True)
    told = [
        f"{runs} {'run' if runs == 1 else 'runs'} on {' and '.join(datasets)}",
        f"{frame['prediction'].count():,} answers",
        f"{datetime.now(UTC):%d %B %Y}",
    ]
    return text(" · ".join(told))


def headline(summary: pl.DataFrame, metrics: Sequence[str]) -> str:
    """Show the usual averages with their intervals, a table a data set, a row a run."""
    colours = dict(zip(summary["run"].unique(maintain_order=True), cycle(COLOURS), strict=False))
    shown = []
    for (dataset,), part in summary.group_by("dataset", maintain_order=True):
        counts = dict(part.select("question_type", "count").iter_rows())
        usual = [cut for cut in _CUTS.get(str(dataset), ("overall",)) if cut in counts]
        if counts.get("answerable") == counts.get("overall"):
            usual = [cut for cut in usual if cut != "answerable"]
        columns = [(metric, cut) for metric in metrics for cut in usual]
        keys = part.select("run", "metric", "question_type").rows()
        cells = dict(zip(keys, part.select("mean", "lo", "hi").rows(), strict=True))
        body = [
            [text(run), *(_figure(cells.get((run, *column)), colours[run]) for column in columns)]
            for run in part["run"].unique(maintain_order=True)
        ]
        shown.append(_table(str(dataset), ["run", *(f"{metric}\n{cut}" for metric, cut in columns)], body, "headline"))
    return "".join(shown)


def tables(frame: pl.DataFrame, summary: pl.DataFrame) -> str:
    """Lay out the means by question type, a table a data set."""
    return "".join(map(_laid, laid.tables(frame, summary)))


def compared(comparison: pl.DataFrame) -> str:
    """Lay out a comparison, a table a run, data set and metric."""
    return "".join(map(_laid, comparison_tables(comparison)))


def runs(frame: pl.DataFrame, costs: pl.DataFrame) -> str:
    """Count the answers of each run, and say what they took and what judging them has cost."""
    known = {
        "seconds\np50": "latency_p50_s",
        "seconds\np95": "latency_p95_s",
        "tokens\nin": "input_tokens",
        "tokens\nout": "output_tokens",
        "judge\n$": "judge_usd",
    }
    told = {title: name for title, name in known.items() if costs[name].count()}
    errors = pl.col("error") if "error" in frame.columns else pl.lit(None)
    counts = frame.group_by("run", "dataset", maintain_order=True).agg(
        pl.len().alias("questions"), pl.col("prediction").count().alias("answered"), errors.count().alias("errors")
    )
    counts = counts.join(costs.select("run", "dataset", *told.values()), on=["run", "dataset"], maintain_order="left")
    header = ["run", "data set", "questions", "answered", "errors", *told]
    return _table("", header, [[text(value) for value in row] for row in counts.iter_rows()])


def about(frame: pl.DataFrame, metrics: Sequence[str], settings: Settings, judgements: pl.DataFrame | None) -> str:
    """Say how every number came about: the judges, what was noted of the runs, the metrics, the versions."""
    noted = [(run, name, value) for run, told in settings.items() for name, value in told.items()]
    noted += [(run, "judge_model", model) for run, model in _judges(frame, judgements)]
    alike: dict[tuple[str, str], list[str]] = {}
    for run, name, value in noted:
        alike.setdefault((name, value), []).append(run)
    everyone = frame["run"].n_unique()
    shown = [
        [text(name), text(value), text("every run" if 1 < len(runs) == everyone else ", ".join(runs))]
        for (name, value), runs in sorted(alike.items())
    ]
    shown += [[text(f"version.{package}"), text(version(package)), "this report"] for package in _PACKAGES]
    source = {metric.name: metric.source for metric in METRICS}
    defined = [[text(name), text(source.get(name, "came with the answers"))] for name in metrics]
    return _table("Settings", ["setting", "", "run"], shown) + _table("Metrics", ["metric", "defined as"], defined)


def _judges(frame: pl.DataFrame, judgements: pl.DataFrame | None) -> list[tuple[str, str]]:
    known = next((given for given in (judgements, frame) if given is not None and "judge_model" in given.columns), None)
    return [] if known is None else known.select("run", "judge_model").drop_nulls().unique(maintain_order=True).rows()


def _figure(cell: tuple[float | None, ...] | None, colour: str) -> str:
    """Write a mean large and its interval small, and draw both on a line from 0 to 1."""
    mean, lo, hi = cell or (None, None, None)
    if mean is None:
        return "–"
    bounds = "" if lo is None or hi is None else f"<small>{lo:.3f} to {hi:.3f}</small>"
    left, dot, right = (100 * min(max(mean if end is None else end, 0), 1) for end in (lo, mean, hi))
    drawn = (
        f'<path d="M0 4H100"/><path d="M{left:.1f} 4H{right:.1f}" stroke="{colour}"/>'
        f'<circle cx="{dot:.1f}" cy="4" r="3" fill="{colour}"/>'
    )
    return f'<b>{mean:.3f}</b>{bounds}<svg class="gauge" viewBox="-3 0 106 8" aria-hidden="true">{drawn}</svg>'


def _laid(table: laid.Table) -> str:
    body = [[text(cell) for cell in row] for row in table.grid.iter_rows()]
    return _table(table.title, table.grid.columns, body) + f'<p class="note">{text(table.note)}</p>'


def _table(title: str, header: Sequence[str], body: Iterable[Sequence[str]], kind: str = "") -> str:
    """Write a table; the cells of its body are HTML already."""
    sides = ["lead" if name in _LEADS else "number" for name in header]
    head = "".join(
        f'<th scope="col" class="{side}">{text(name).replace(chr(10), "<br>")}</th>'
        for side, name in zip(sides, header, strict=True)
    )
    rows = ("".join(f'<td class="{side}">{cell}</td>' for side, cell in zip(sides, row, strict=True)) for row in body)
    lines = "".join(f"<tr>{row}</tr>" for row in rows)
    caption = f"<caption>{text(title)}</caption>" if title else ""
    table = f'<table class="{kind}">{caption}<thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>'
    return f'<div class="wide">{table}</div>'
