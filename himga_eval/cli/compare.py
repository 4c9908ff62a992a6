"""Commands that set runs side by side: how far apart they are, why, and how far apart runs are that should not be."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from himga_eval.cli.app import BELOW_GATE, UNDECIDED, app, say
from himga_eval.cli.options import Datasets, Format, Metrics, Output, Runs, StorePath, answers_of, questions, systems_of
from himga_eval.cli.show import show_columns, show_frame, show_laid

if TYPE_CHECKING:
    import polars as pl

    from himga_eval.comparable import Settings

Base = Annotated[str, typer.Argument(help="A stored run, or a file of answers, to compare with.", metavar="BASE")]
Other = Annotated[str, typer.Argument(help="A stored run, or a file of answers.", metavar="RUN|FILE")]
Force = Annotated[bool, typer.Option("--force", help="Compare what is not comparable, on the questions they share.")]

HEADLINES = ("judge_score", "published_judge_score", "f1")
"""What is compared unless --metrics says otherwise: the first of these that all runs have."""


class Gate(StrEnum):
    """What makes a comparison fail."""

    regressed = "regressed"


@app.command()
def compare(
    base: Base,
    runs: Runs,
    dataset: Datasets = None,
    metrics: Metrics = None,
    fail_on: Annotated[
        Gate | None, typer.Option(help="Exit with 3 where a run regressed, with 5 where the data cannot tell.")
    ] = None,
    margin: Annotated[float, typer.Option(help="How much worse a run may be before it has regressed.")] = 0.0,
    gate_on: Annotated[
        list[str] | None, typer.Option(help="The question type or cut that --fail-on looks at [default: overall].")
    ] = None,
    force: Force = False,
    store: StorePath = None,
    format: Output = Format.text,
) -> None:
    """Compare runs with a base, and say what is more than chance.

    Example: himga-eval compare larch wren --fail-on regressed --margin 0.02
    """
    from himga_eval.compare import compare
    from himga_eval.comparison_table import comparison_tables
    from himga_eval.gates import regressions

    names = _names(metrics)
    frames = _frames([base, *runs], dataset, names, store)
    names = names or _headline(frames)
    settings = _settings(store)
    comparison = compare(frames[0], *frames[1:], metrics=names, settings=settings, force=force)
    _say_what_differs(frames, names, settings)
    if format in (Format.csv, Format.json):
        show_frame(comparison, format)
    else:
        show_laid(comparison_tables(comparison), format)
    if fail_on:
        _gate(regressions(comparison, margin, gate_on or ["overall"]))


@app.command()
def why(
    base: Base,
    run: Other,
    metric: Annotated[str | None, typer.Option(help="The metric [default: the first judged one, else f1].")] = None,
    dataset: Datasets = None,
    limit: Annotated[int, typer.Option(help="How many questions to print; 0 prints all.")] = 20,
    force: Force = False,
    store: StorePath = None,
    format: Output = Format.text,
) -> None:
    """List the questions a run won or lost, each with its cause.

    Example: himga-eval why larch wren --metric f1 --limit 0 --json
    """
    from himga_eval.compare import why

    frames = _frames([base, run], dataset, [metric] if metric else None, store)
    moved = why(frames[0], frames[1], metric or _headline(frames)[0], force=force)
    counts = moved.group_by("change", "cause").len().sort("change", "len", descending=True)
    say("; ".join(f"{change}, {cause}: {count}" for change, cause, count in counts.rows()) or "no question moved")
    shown = moved.head(limit) if limit else moved
    ranks = [name for name in ("base_rank", "rank") if shown[name].count()]
    show_columns(shown, ["question_id", "base_score", "score", "cause", *ranks, "question"], format)


@app.command()
def repeats(
    runs: Runs,
    dataset: Datasets = None,
    metrics: Metrics = None,
    judge: Annotated[
        bool, typer.Option("--judge", help="The repeated judgements within each run, not the runs themselves.")
    ] = False,
    store: StorePath = None,
    format: Output = Format.text,
) -> None:
    """Print mean and standard deviation over repeats.

    Repeats are runs, or with --judge the judgements within each run.

    Runs of one system, as --system told the store, repeat one another; without a system all that are named here do.

    Example: himga-eval repeats larch wren --metrics f1
    """
    import polars as pl

    from himga_eval.repeats import answer_spread, judge_spread, spread_tables

    names = _names(metrics)
    scores = pl.concat(_frames(runs, dataset, None if judge else names, store), how="diagonal_relaxed")
    if judge:
        spread = judge_spread(scores, names[0] if names else "judge_score")
    else:
        systems = {run: system or "all runs" for run, system in systems_of(scores, store).items()}
        spread = answer_spread(scores, systems)
        spread = spread.filter(pl.col("metric").is_in(names)) if names else spread
    if format in (Format.csv, Format.json):
        show_frame(spread, format)
    else:
        show_laid(spread_tables(spread), format)


@app.command()
def retrieval(
    runs: Runs,
    dataset: Datasets = None,
    k: Annotated[
        list[int] | None, typer.Option(help="How many of the retrieved to look at [default: 5 and 10].")
    ] = None,
    metric: Annotated[
        str | None, typer.Option(help="Count by this metric who had the evidence and still got it wrong.")
    ] = None,
    store: StorePath = None,
    format: Output = Format.text,
) -> None:
    """Print recall, nDCG and MRR of what was retrieved.

    With --metric: what became of the evidence.

    Example: himga-eval retrieval larch --k 10
    """
    import polars as pl

    from himga_eval.cli.show import show_tables
    from himga_eval.failures import evidence_use
    from himga_eval.retrieval import retrieval_columns, score_retrieval

    scores = pl.concat(_frames(runs, dataset, [metric] if metric else None, store), how="diagonal_relaxed")
    if metric:
        counts = ["had_right", "had_wrong", "lacked_right", "lacked_wrong"]
        show_columns(evidence_use(scores, metric), ["run", "question_type", *counts, "count"], format)
        return
    found = score_retrieval(scores, k or (5, 10))
    show_tables(found, format, [name for name in retrieval_columns(found) if found[name].count()])


@app.command()
def refusals(runs: Runs, dataset: Datasets = None, store: StorePath = None, format: Output = Format.text) -> None:
    """Print how often questions that have an answer were refused.

    Example: himga-eval refusals larch wren
    """
    import polars as pl

    from himga_eval.failures import refusals

    scores = pl.concat(_frames(runs, dataset, [], store), how="diagonal_relaxed")
    found = refusals(scores).rename({"mean": "refused"})
    show_columns(found, ["run", "dataset", "question_type", "refused", "lo", "hi", "count"], format)


def _names(metrics: str | None) -> list[str] | None:
    return None if metrics is None else [name.strip() for name in metrics.split(",") if name.strip()]


def _frames(
    names: Sequence[str], datasets: list[str] | None, metrics: Sequence[str] | None, store: Path | None
) -> list[pl.DataFrame]:
    """Read runs, a frame each name, and score what of the metrics each lacks; without metrics that is f1."""
    from himga_eval.scoring import score, score_columns

    asked, _ = questions(datasets, names)
    frames = []
    for name in names:
        frame = answers_of([name], asked, store)
        there = (*score_columns(frame), "judge_score")
        lacking = [metric for metric in (["f1"] if metrics is None else metrics) if metric not in there]
        frames.append(score(frame, lacking) if lacking else frame)
    return frames


def _headline(frames: Sequence[pl.DataFrame]) -> list[str]:
    return [next(name for name in HEADLINES if all(name in frame.columns for frame in frames) or name == "f1")]


def _settings(store: Path | None) -> Settings:
    """What the store has noted of its runs, where there is one."""
    from himga_eval.store import Store

    kept = Store(store)
    return kept.noted() if kept.path.is_file() else {}


def _say_what_differs(frames: Sequence[pl.DataFrame], metrics: Sequence[str], settings: Settings) -> None:
    from himga_eval.comparable import differing

    others = [run for frame in frames[1:] for run in frame.partition_by("run", maintain_order=True)]
    for other in others:
        for row in differing(frames[0], other, metrics, settings).iter_rows(named=True):
            # That only one of them was scored under another protocol too is no difference.
            if not row["setting"].startswith("protocol.") or row["voids"]:
                say(f"{row['setting']} differs: {row['base']}: {row['base_value']}; {row['run']}: {row['value']}")


def _gate(gates: pl.DataFrame) -> None:
    """Say how each row stands, and end with the exit code of the worst."""
    for row in gates.iter_rows(named=True):
        where = f"{row['metric']} of {row['run']}, {row['question_type']} on {row['dataset']}"
        say(f"{row['gate']}: {where}: {row['difference']:+.4f} [{_bound(row['lo'])}, {_bound(row['hi'])}]")
    found = set(gates["gate"])
    if "regressed" in found:
        raise typer.Exit(BELOW_GATE)
    if "undecided" in found:
        raise typer.Exit(UNDECIDED)


def _bound(value: float | None) -> str:
    return "unknown" if value is None else f"{value:+.4f}"
