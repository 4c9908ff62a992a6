"""Commands from a file of answers to a table, and on the store they are kept in."""

from __future__ import annotations

from typing import Annotated

import typer

from himga_eval.cli.app import BELOW_GATE, app, say
from himga_eval.cli.options import (
    Datasets,
    Format,
    Metrics,
    Output,
    RunName,
    Runs,
    StorePath,
    answers_of,
    metric_names,
    questions,
    scores_of,
)
from himga_eval.cli.show import show_frame, show_tables
from himga_eval.errors import InputError


@app.command()
def score(
    runs: Runs,
    dataset: Datasets = None,
    metrics: Metrics = None,
    run: RunName = None,
    system: Annotated[str | None, typer.Option(help="The system that answered.")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace a stored run that has other answers.")] = False,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(
            help="Exit with 3 where a mean is below this; may be given twice.", metavar="[TYPE.]METRIC=NUMBER"
        ),
    ] = None,
    store: StorePath = None,
    format: Output = Format.text,
) -> None:
    """Score answers, print a table by question type, and keep the run.

    Example: himga-eval score answers.jsonl --dataset locomo=locomo10.json
    """
    from himga_eval import scoring
    from himga_eval.gates import below, floor
    from himga_eval.store import Store

    floors = [floor(text) for text in fail_under or []]
    asked, checksums = questions(dataset)
    scores = scoring.score(answers_of(runs, asked, store, run=run), metric_names(metrics))
    show_tables(scores, format)  # before it is kept: a store that is locked costs nobody the numbers
    kept = Store(store)
    names = kept.save(scores, system=system, checksums=checksums, replace=replace)
    say(f"kept as {', '.join(names)} in {kept.path}")
    if floors and (fallen := below(scoring.summarise(scores), floors)).height:
        for row in fallen.iter_rows(named=True):
            mean = "nothing was scored" if row["mean"] is None else f"{row['mean']:.4f}"
            say(f"below {row['least']:g}: {row['metric']} of {row['run']}, {row['question_type']}: {mean}")
        raise typer.Exit(BELOW_GATE)


@app.command()
def table(
    runs: Runs,
    dataset: Datasets = None,
    metrics: Metrics = None,
    store: StorePath = None,
    format: Output = Format.text,
) -> None:
    """Print stored runs, or files of answers, side by side.

    Example: himga-eval table larch wren --format md
    """
    names = metric_names(metrics)
    show_tables(scores_of(runs, dataset, names, store), format, names)


@app.command()
def sql(
    query: Annotated[str, typer.Argument(help="A query on the views scores and by_type, or the tables under them.")],
    store: StorePath = None,
    format: Output = Format.text,
) -> None:
    """Run a query on the store, which is opened for reading only.

    Example: himga-eval sql "select question_type, avg(f1) from scores group by all"
    """
    import duckdb

    from himga_eval.store import Store

    try:
        found = Store(store).sql(query)
    except duckdb.Error as error:
        raise InputError(str(error)) from None
    show_frame(found, format)


@app.command()
def runs(store: StorePath = None, format: Output = Format.text) -> None:
    """List the stored runs.

    Example: himga-eval runs
    """
    from himga_eval.store import Store

    show_frame(Store(store).runs(), format)


@app.command()
def check(
    runs: Runs,
    dataset: Datasets = None,
    reference: Annotated[
        bool, typer.Option("--reference", help="Compute these rows with rouge-score and nltk too, and compare.")
    ] = False,
    store: StorePath = None,
    format: Output = Format.text,
) -> None:
    """Check answers: how they meet the data set, and whether our numbers are the reference libraries'.

    Example: himga-eval check answers.jsonl --reference
    """
    answers = answers_of(runs, questions(dataset)[0], store)
    if reference:
        from himga_eval.metrics.reference import compare

        show_frame(compare(answers), format)
