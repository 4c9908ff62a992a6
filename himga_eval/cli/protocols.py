"""Commands on the recipes behind numbers: protocols, the same answers under each, checks, exports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from himga_eval.cli.app import BELOW_GATE, app, say
from himga_eval.cli.options import (
    Datasets,
    Format,
    Metrics,
    Output,
    Runs,
    StorePath,
    answers_of,
    metric_names,
    questions,
)
from himga_eval.cli.show import show_columns, show_frame
from himga_eval.errors import InputError

if TYPE_CHECKING:
    import polars as pl

protocols = typer.Typer(name="protocols", help="The recipes that papers made their numbers by.", no_args_is_help=True)
app.add_typer(protocols)


@protocols.command("list")
def list_protocols(format: Output = Format.text) -> None:
    """List the built-in protocols.

    Example: himga-eval protocols list
    """
    import polars as pl

    from himga_eval.protocols import leaves_out, load_protocol, names

    rows = [
        {
            "protocol": recipe.name,
            "title": recipe.title,
            "f1": recipe.variant("f1") if "f1" in recipe.metrics else None,
            "metrics": len(recipe.metrics),
            "judge": recipe.judge.scale if recipe.judge else None,
            "leaves_out": ", ".join(leaves_out(recipe)) or None,
            "hash": recipe.digest[:8],
        }
        for recipe in map(load_protocol, names())
    ]
    found = pl.DataFrame(rows, infer_schema_length=None)
    show_columns(found, ["protocol", "title", "f1", "judge", "leaves_out"], format)


@protocols.command()
def show(
    protocol: Annotated[str, typer.Argument(help="A protocol's name, or the path of a file of your own.")],
    format: Output = Format.text,
) -> None:
    """Say what a protocol does, and where that is known from.

    Example: himga-eval protocols show mem0
    """
    import polars as pl

    from himga_eval.protocols import described, load_protocol

    told = described(load_protocol(protocol))
    if format is Format.text:
        for what, lines in told.items():
            print(f"{what}:", *(f"  {line}" for line in lines), sep="\n")
    else:
        show_frame(pl.DataFrame([{"what": what, "is": line} for what, lines in told.items() for line in lines]), format)


@protocols.command("across")
def show_across(
    runs: Runs,
    dataset: Datasets = None,
    metrics: Metrics = None,
    protocol: Annotated[
        list[str] | None, typer.Option(help="A protocol to take; may be given more than once [default: all built-in].")
    ] = None,
    chart: Annotated[
        Path | None, typer.Option(help="Draw the means by question type to a .html, .svg or .png.")
    ] = None,
    store: StorePath = None,
    format: Output = Format.text,
) -> None:
    """Score the same answers under every protocol, side by side.

    Example: himga-eval protocols across larch --metrics f1,bleu1
    """
    from himga_eval.across import across, summarise_across

    answers = answers_of(runs, questions(dataset, runs)[0], store)
    wanted = metric_names(metrics) or ["f1"]
    show_frame(across(answers, wanted, protocols=protocol), format)
    if chart:
        from himga_eval import charts

        summary = summarise_across(answers, wanted[:1], protocols=protocol)
        charts.by_type(summary, wanted[0]).save(chart)
        say(f"drawn to {chart}")


@app.command()
def check(
    run: Annotated[str | None, typer.Argument(help="A file of answers, or a stored run.", metavar="[RUN|FILE]")] = None,
    dataset: Datasets = None,
    claim: Annotated[
        list[str] | None,
        typer.Option(help="A printed figure, as f1=.5145 or temporal.judge_score=85.05; may be given more than once."),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(help="A printed table: a row a system, a column a question type, one of overall figures."),
    ] = None,
    reference: Annotated[
        bool, typer.Option("--reference", help="Compute these rows with rouge-score and nltk too, and compare.")
    ] = False,
    store: StorePath = None,
    format: Output = Format.text,
) -> None:
    """Check answers, and what is said of them.

    Exits with 3 where a claim fails. Says how the answers meet the data set, which recipe made the scores in the file,
    whether printed figures follow from the answers, a table from its own columns, and a manifest beside the file from
    what is there.

    Example: himga-eval check answers.jsonl --dataset locomo --claim f1=.26
    """
    import polars as pl

    if run is None and table is None:
        raise InputError("nothing to check: give answers, --table, or both")
    found: dict[str, pl.DataFrame] = {}
    if run is not None:
        found |= _answers(run, dataset, claim or [], reference, store)
    elif claim or reference:
        raise InputError("--claim and --reference are about answers, and there are none")
    if table is not None:
        found |= _table(table, dataset)
    _show(found, format)
    failed = sum(frame.filter(pl.col("verdict").is_in(FAILED)).height for frame in found.values() if "verdict" in frame)
    if failed:
        say(f"{failed} of what was claimed does not hold")
        raise typer.Exit(BELOW_GATE)


@app.command()
def export(
    runs: Annotated[list[str], typer.Argument(help="Stored runs.", metavar="RUN...")],
    to: Annotated[Path, typer.Option("--to", help="The folder to write to.")] = Path(),
    store: StorePath = None,
) -> None:
    """Write stored runs as Parquet, each with a manifest.

    The manifest says what its numbers rest on.

    Example: himga-eval export larch --to results
    """
    from himga_eval.manifest import export as write
    from himga_eval.store import Store

    for run in runs:
        for path in write(Store(store), run, to):
            say(f"{run} written to {path}")


FAILED = ("fails", "does not fit", "differs")
"""The verdicts that are a failure."""


def _answers(
    run: str, datasets: list[str] | None, claims: list[str], reference: bool, store: Path | None
) -> dict[str, pl.DataFrame]:
    """Check answers; a frame a section."""
    import polars as pl

    from himga_eval.claims import check_claims, contradictions, find_recipes
    from himga_eval.formats import join_run, read_answers
    from himga_eval.manifest import check_manifest, read_manifest

    asked, checksums = questions(datasets, [run])
    found: dict[str, pl.DataFrame] = {}
    if asked is None or not Path(run).is_file():
        answers = answers_of([run], asked, store)
    else:
        answers, reports = join_run(read_answers(run), asked)
        lines = [(report.run, line) for report in reports for line in (*report.notes, *report.findings)]
        found["coverage"] = pl.DataFrame(lines, schema=["run", "finding"], orient="row")
    found["recipes of the scores in the file"] = find_recipes(answers)
    if claims:
        found["claims"] = check_claims(answers, claims)
    found["rows where judge and exact match contradict"] = contradictions(answers)
    if (document := read_manifest(run)) is not None:
        found["manifest"] = check_manifest(answers, document, checksums)
    if reference:
        from himga_eval.metrics.reference import compare

        found["reference libraries"] = compare(answers)
    return found


def _table(path: Path, datasets: list[str] | None) -> dict[str, pl.DataFrame]:
    import polars as pl

    from himga_eval.arithmetic import check_table
    from himga_eval.schema import QUESTION_TYPES

    given = [name.partition("=")[0] for name in datasets or []]
    checked = check_table(path, next((name for name in given if name in QUESTION_TYPES), None))
    return {
        "table": pl.DataFrame({"finding": checked.findings}),
        "readings of the table": checked.fits,
        "rows of the table": checked.rows,
    }


def _show(found: Mapping[str, pl.DataFrame], format: Format) -> None:
    if format is Format.json:
        print(json.dumps({title: frame.to_dicts() for title, frame in found.items()}, ensure_ascii=False, indent=1))
        return
    for title, frame in found.items():
        if frame.is_empty():
            print(f"{title}: none\n")
            continue
        print(title)
        show_frame(frame, format)
