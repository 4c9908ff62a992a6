"""The command that writes a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from himga_eval.cli.app import app, say
from himga_eval.cli.options import (
    Datasets,
    Metrics,
    Prompts,
    Protocol,
    Runs,
    StorePath,
    metric_names,
    questions,
    scores_of,
)
from himga_eval.errors import Incomparable

if TYPE_CHECKING:
    import polars as pl

    from himga_eval.comparable import Settings

Target = Annotated[Path, typer.Option("--output", "-o", help="The file to write.")]


@app.command()
def report(
    runs: Runs,
    output: Target = Path("report.html"),
    dataset: Datasets = None,
    metrics: Metrics = None,
    protocol: Protocol = "himga",
    title: Annotated[str, typer.Option(help="What stands on top.")] = "Evaluation report",
    prompts: Prompts = None,
    force: Annotated[bool, typer.Option("--force", help="Compare runs that are not comparable, too.")] = False,
    store: StorePath = None,
) -> None:
    """Write runs as one HTML file to look at and send around.

    It needs no network. The first run is the one that others are compared with.

    Example: himga-eval report larch wren -o report.html
    """
    from himga_eval.costs import costs
    from himga_eval.manifest import protocol_settings
    from himga_eval.metrics.catalog import LEXICAL
    from himga_eval.report import build
    from himga_eval.report.reasons import kept_judgements
    from himga_eval.store import Store

    wanted = metric_names(metrics) or (list(LEXICAL) if protocol == "himga" else None)
    scores = scores_of(runs, dataset, wanted, store, protocol)
    kept = Store(store)
    there = kept.path.is_file()
    stored = kept.noted() if there else {}
    checksums = {f"dataset.{name}": checksum for name, checksum in questions(dataset, runs)[1].items()}
    here = protocol_settings(protocol) | checksums
    noted = {run: here | stored.get(run, {}) for run in scores["run"].unique(maintain_order=True)}
    judged = kept_judgements(scores, kept.path, prompts) if there and "judge_score" in scores.columns else None
    spent = costs(scores, kept.path if there else None)
    page = build(scores, judgements=judged, costs=spent, settings=noted, title=title, **_compared(scores, noted, force))
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(page, encoding="utf-8")
    say(f"{scores['prediction'].count():,} answers are in {output} ({len(page) / 1e6:.1f} MB)")


def _compared(scores: pl.DataFrame, noted: Settings, force: bool) -> dict[str, Any]:
    """Compare with the first run every other that can be, by what the report leads with."""
    import polars as pl

    from himga_eval.compare import compare, why

    base, *others = scores.partition_by("run", maintain_order=True)
    others = [other for other in others if force or _comparable(base, other, noted)]
    metrics = _shared(base, *others)
    if not others or not metrics:
        return {}
    try:
        comparison = compare(base, *others, metrics=metrics, settings=noted, force=force)
        moved = pl.concat([why(base, other, metrics[0], force=force) for other in others])
    except Incomparable as error:  # whatever --force says, runs must share a question
        say(f"no comparison: {error}")
        return {}
    return {"comparison": comparison, "moved": moved}


def _comparable(base: pl.DataFrame, other: pl.DataFrame, noted: Settings) -> bool:
    from himga_eval.comparable import differing, require_comparable

    try:
        require_comparable(differing(base, other, _shared(base, other), noted))
    except Incomparable as error:
        say(f"no comparison: {error}")
        return False
    return True


def _shared(*runs: pl.DataFrame) -> list[str]:
    """List what a report leads with and all of these runs have."""
    import polars as pl

    from himga_eval.report import leading

    return [name for name in leading(pl.concat(runs, how="diagonal_relaxed")) if all(run[name].count() for run in runs)]
