"""The command that prints runs side by side, as papers do."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from himga_eval.cli.app import app
from himga_eval.cli.options import (
    Datasets,
    Format,
    Metrics,
    Output,
    Protocol,
    Runs,
    StorePath,
    metric_names,
    scores_of,
    systems_of,
)
from himga_eval.cli.recipes import Beside, Errata, notes_of, published_beside, show_errata
from himga_eval.cli.show import FOR_PROGRAMS, show_frame, show_laid
from himga_eval.errors import InputError
from himga_eval.styles import Interval, Style

if TYPE_CHECKING:
    import polars as pl


@app.command()
def table(
    runs: Runs,
    dataset: Datasets = None,
    metrics: Metrics = None,
    protocol: Protocol = "himga",
    interval: Annotated[
        Interval, typer.Option(help="Beside a mean: ±, the range, the sd over the runs of a system, or none.")
    ] = Interval.half,
    percent: Annotated[bool, typer.Option("--percent", help="Write scores as percentages.")] = False,
    cost: Annotated[bool, typer.Option("--cost", help="Add seconds, tokens and the judge's dollars.")] = False,
    errata: Errata = None,
    beside: Beside = None,
    store: StorePath = None,
    format: Output = Format.text,
) -> None:
    """Print runs side by side, as papers do.

    The best of each question type is set off; LaTeX has up to three metrics beside one another, the rest below.

    Example: himga-eval table larch wren --metrics f1,bleu1 --format latex
    """
    import polars as pl

    from himga_eval.costs import cost_tables, costs
    from himga_eval.scoring import summarise
    from himga_eval.store import Store
    from himga_eval.table import tables

    names = metric_names(metrics)
    scores = scores_of(runs, dataset, names, store, protocol=protocol)
    published = published_beside(beside or [], scores, names, protocol)
    named = {run: run for run in scores["run"].unique(maintain_order=True)}
    if interval is Interval.sd:
        named |= {run: system for run, system in systems_of(scores, store).items() if system}
        summary = _over_repeats(scores, named, names)
    else:
        summary = summarise(scores, metrics=names)
    if published is not None:
        summary = pl.concat([summary, published], how="diagonal_relaxed")
    took = costs(scores.with_columns(pl.col("run").replace(named)), Store(store).path) if cost else None
    if format in FOR_PROGRAMS and errata is None:
        show_frame(
            summary if took is None else summary.join(took, on=["run", "dataset"], how="left", maintain_order="left"),
            format,
        )
    elif format not in FOR_PROGRAMS:
        stored = [name for name in runs if not Path(name).is_file()]
        notes = notes_of(scores, protocol, {}, stored=stored, store=store)
        bold = format is not Format.text or sys.stdout.isatty()
        style = Style(interval, percent=percent, best=bold, beside=format is Format.latex)
        show_laid(tables(scores, summary, style, notes), format)
        show_laid([] if took is None else cost_tables(took), format)
    if errata:
        show_errata(scores, errata, protocol, format, names)


def _over_repeats(scores: pl.DataFrame, systems: Mapping[str, str], metrics: list[str] | None) -> pl.DataFrame:
    """Average the runs of each system; a summary with their deviation.

    Raises:
        InputError: no two runs are of one system.
    """
    import polars as pl

    from himga_eval.repeats import answer_spread

    if len(set(systems.values())) == len(systems):
        raise InputError(
            f"--interval sd is over the runs of a system, and no two of {', '.join(systems)} are of one that the store "
            "knows of: himga-eval score FILE --system NAME tells it"
        )
    spread = answer_spread(scores, systems).rename({"name": "run"}).drop("repeated")
    return spread.filter(pl.col("metric").is_in(metrics)) if metrics else spread
