"""Commands that hold a judge against people, or another judge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from himga_eval.cli.app import app, say
from himga_eval.cli.options import Datasets, Format, Output, Runs, StorePath, answers_of, questions
from himga_eval.cli.show import show_columns, show_frame

if TYPE_CHECKING:
    import polars as pl

LabelFile = Annotated[Path, typer.Option(help="A file of labels: question_id, and a column of labels.", metavar="FILE")]
Metric = Annotated[str, typer.Option(help="The judge's scores.")]
Label = Annotated[str, typer.Option(help="The column of labels.")]


@app.command()
def agree(
    file: Annotated[
        Path, typer.Argument(help="A file with both columns: CSV, JSONL, JSON or Parquet.", metavar="FILE")
    ],
    first: Annotated[str, typer.Option(help="The one column of labels.")] = "judge_score",
    second: Annotated[str, typer.Option(help="The other.")] = "human",
    by: Annotated[str, typer.Option(help="The column to break down by.")] = "question_type",
    cluster: Annotated[str, typer.Option(help="The column of the sample a row belongs to.")] = "sample_id",
    format: Output = Format.text,
) -> None:
    """Print how far two columns of labels agree.

    By type: the raw share, Cohen's kappa and the confusion, with 95 % intervals.

    Example: himga-eval agree labels.csv --first judge_score --second human
    """
    from himga_eval.agreement import agreement
    from himga_eval.formats.files import read_table

    found = agreement(read_table(file), first, second, by=by, cluster=cluster)
    show_columns(found, ["question_type", "count", "left_out", "raw", "kappa", "kappa_lo", "kappa_hi"], format)


@app.command()
def label(
    runs: Runs,
    count: Annotated[int, typer.Option(help="How many answers to draw.")] = 50,
    metric: Metric = "judge_score",
    seed: Annotated[int, typer.Option(help="The seed of the draw.")] = 0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The CSV file to write [default: print it].")
    ] = None,
    dataset: Datasets = None,
    store: StorePath = None,
) -> None:
    """Write a CSV of the answers most worth labelling.

    It has an empty column human to fill in.

    Example: himga-eval label larch --count 20 -o labels.csv
    """
    from himga_eval.labelling import worth_labelling

    drawn = worth_labelling(_answers(runs, dataset, store), count, metric=metric, seed=seed)
    if output is None:
        show_frame(drawn, Format.csv)
        return
    drawn.write_csv(output)
    say(f"{drawn.height} answers to label in {output}: 1 or 0 in the column human; then himga-eval calibrate")


@app.command()
def calibrate(
    runs: Runs,
    labels: LabelFile,
    label: Label = "human",
    metric: Metric = "judge_score",
    dataset: Datasets = None,
    store: StorePath = None,
    format: Output = Format.text,
) -> None:
    """Print the judge's means, corrected by human labels.

    Some labelled answers are enough; the intervals of 95 % say how far.

    Example: himga-eval calibrate larch --labels labels.csv
    """
    from himga_eval.calibration import calibrate
    from himga_eval.formats.files import read_table

    found = calibrate(_answers(runs, dataset, store), read_table(labels), metric=metric, label=label)
    show_columns(found, ["run", "question_type", "count", "labelled", "judge_mean", "mean", "lo", "hi"], format)


def _answers(runs: list[str], datasets: list[str] | None, store: Path | None) -> pl.DataFrame:
    return answers_of(runs, questions(datasets, runs)[0], store)
