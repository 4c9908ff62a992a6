"""Commands from a file of answers to a table, and on the store they are kept in."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from himga_eval.cli.app import BELOW_GATE, app, say
from himga_eval.cli.options import (
    Datasets,
    Format,
    Metrics,
    Output,
    Protocol,
    RunName,
    Runs,
    StorePath,
    answers_of,
    metric_names,
    questions,
)
from himga_eval.cli.recipes import Errata, notes_of, show_errata
from himga_eval.cli.show import FOR_PROGRAMS, show_frame, show_tables
from himga_eval.errors import InputError


@app.command()
def score(
    runs: Runs,
    dataset: Datasets = None,
    metrics: Metrics = None,
    protocol: Protocol = "himga",
    errata: Errata = None,
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
    """Score answers, print a table by question type, keep the run.

    Example: himga-eval score answers.jsonl --dataset locomo
    """
    from himga_eval import scoring
    from himga_eval.gates import below, floor
    from himga_eval.manifest import model_settings, protocol_settings
    from himga_eval.store import Store

    floors = [floor(text) for text in fail_under or []]
    asked, checksums = questions(dataset, runs)
    answers = answers_of(runs, asked, store, run=run)
    scores = scoring.score(answers, metric_names(metrics), protocol=protocol)
    # Shown before it is kept: a store that is locked costs nobody the numbers.
    met = {name: checksum for name, checksum in checksums.items() if name in scores["dataset"]}
    if errata is None or format not in FOR_PROGRAMS:
        show_tables(scores, format, notes=notes_of(scores, protocol, met))
    if errata:
        show_errata(scores, errata, protocol, format)
    kept = Store(store)
    noted: dict[str, Any] = {"system": system, "checksums": checksums, "replace": replace}
    if scores.height < answers.height:  # the run is kept whole, whatever the protocol counts
        kept.save(answers, **noted)
    settings = protocol_settings(protocol) | model_settings(metric_names(metrics) or [])
    names = kept.save(scores, settings=settings, **noted)
    say(f"kept as {', '.join(names)} in {kept.path}")
    if floors and (fallen := below(scoring.summarise(scores), floors)).height:
        for row in fallen.iter_rows(named=True):
            mean = "nothing was scored" if row["mean"] is None else f"{row['mean']:.4f}"
            say(f"below {row['least']:g}: {row['metric']} of {row['run']}, {row['question_type']}: {mean}")
        raise typer.Exit(BELOW_GATE)


@app.command()
def sql(
    query: Annotated[str, typer.Argument(help="A query on the views scores and by_type, or the tables under them.")],
    store: StorePath = None,
    format: Output = Format.text,
) -> None:
    """Run a query on the store, which is opened for reading only.

    Example: himga-eval sql "select run, avg(f1) from scores group by run"
    """
    import duckdb

    from himga_eval.store import Store

    try:
        found = Store(store).sql(query)
    except duckdb.Error as error:
        raise InputError(_in_a_line(str(error))) from None
    show_frame(found, format)


@app.command()
def runs(store: StorePath = None, format: Output = Format.text) -> None:
    """List the stored runs.

    Example: himga-eval runs --json
    """
    import polars as pl

    from himga_eval.store import Store

    found = Store(store).runs()
    if format not in FOR_PROGRAMS:
        when = pl.col("created_at").dt.convert_time_zone("UTC").dt.strftime("%Y-%m-%d %H:%M")
        found = found.select(
            "run", "system", "datasets", "questions", "answered", pl.col("metrics").list.len(), when.alias("made (UTC)")
        )
    show_frame(found, format)


def _in_a_line(message: str) -> str:
    """Say what DuckDB says in one line: its message, what it would take instead, and the line of the query."""
    told, _, rest = message.partition("LINE ")
    if "read-only" in told:
        return f"the store is opened for reading only, and a query changes nothing: {told}"
    line, _, _ = rest.partition(":")
    return " ".join(told.split()) + (f" (line {line} of the query)" if line else "")
