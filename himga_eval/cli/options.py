"""The options that several commands share, and what they stand for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from himga_eval.errors import InputError, StoreError, UnknownName

if TYPE_CHECKING:
    import polars as pl

    from himga_eval.store import Store


class Format(StrEnum):
    """How a table is printed."""

    text = "text"
    md = "md"
    latex = "latex"
    csv = "csv"
    json = "json"


Datasets = Annotated[
    list[str] | None,
    typer.Option(
        "--dataset",
        help="A data set the answers belong to; may be given twice [default: HIMGA_DATASET].",
        metavar="NAME[=PATH]|PATH",
    ),
]
StorePath = Annotated[
    Path | None, typer.Option("--store", help="The DuckDB file [default: HIMGA_STORE, then himga.duckdb].")
]
Metrics = Annotated[
    str | None, typer.Option(help="Metrics by name, with commas between, or all.", envvar="HIMGA_METRICS")
]
Output = Annotated[Format, typer.Option("--format", help="How to print; --json is short for --format json.")]
Protocol = Annotated[
    str,
    typer.Option(help="The recipe to score by: a protocol's name, or a file of your own.", envvar="HIMGA_PROTOCOL"),
]
Prompts = Annotated[
    Path | None, typer.Option(help="A folder of prompts that replace ours by name.", envvar="HIMGA_PROMPTS")
]
RunName = Annotated[str | None, typer.Option("--run", help="The run's name [default: its file's].")]
Runs = Annotated[list[str], typer.Argument(help="Stored runs, or files of answers.", metavar="RUN|FILE...")]


def metric_names(text: str | None) -> list[str] | None:
    """Read --metrics; a blank is none given."""
    from himga_eval.metrics.catalog import ALL_METRICS

    if text is None:
        return None
    if text.strip() == "all":
        return [name for name in ALL_METRICS if name != "judge_score"]
    return [name.strip() for name in text.split(",") if name.strip()] or None


def questions(datasets: Sequence[str] | None, runs: Sequence[str]) -> tuple[pl.DataFrame | None, dict[str, str]]:
    """Read --dataset: the questions, and by the data set's name the checksum of its file.

    Stored runs have their questions: where none of the runs is a file, nothing is read.
    """
    import polars as pl

    from himga_eval.data import dataset_checksum, read_questions
    from himga_eval.data.files import find_file

    if not any(Path(run).is_file() for run in runs):
        return None, {}
    frames, checksums = [], {}
    for given in datasets or filter(None, os.environ.get("HIMGA_DATASET", "").split(os.pathsep)):
        name, _, path = given.partition("=")
        file = Path(given) if not path and Path(given).exists() else find_file(name, path or None)
        frames.append(read_questions(file))
        checksums[frames[-1]["dataset"][0]] = dataset_checksum(file)
    return pl.concat(frames) if frames else None, checksums


def answers_of(
    names: Sequence[str], asked: pl.DataFrame | None, store: Path | None, *, run: str | None = None
) -> pl.DataFrame:
    """Read each name as a file of answers where there is one, and else as a stored run.

    Raises:
        InputError: a run stands twice, or `run` names more than one.
    """
    import polars as pl

    from himga_eval.formats import read_run
    from himga_eval.store import Store

    if run and len(names) > 1:
        raise InputError(f"--run names one run, and there are {len(names)}: take them one by one, or leave it out")
    frames = [read_run(name, asked) if Path(name).is_file() else _stored(Store(store), name) for name in names]
    if run:
        frames = [frame.with_columns(run=pl.lit(run)) for frame in frames]
    runs = [run for frame in frames for run in frame["run"].unique(maintain_order=True)]
    if doubled := sorted({run for run in runs if runs.count(run) > 1}):
        raise InputError(f"more than one run is named {', '.join(doubled)}; a file's run is named after the file")
    return pl.concat(frames, how="diagonal_relaxed")


def scores_of(
    names: Sequence[str],
    datasets: Sequence[str] | None,
    metrics: list[str] | None,
    store: Path | None,
    protocol: str = "himga",
) -> pl.DataFrame:
    """Read runs, and score what of the metrics they lack; under another protocol than ours all but the judge's."""
    import polars as pl

    from himga_eval.metrics.catalog import ALL_METRICS, LEXICAL
    from himga_eval.protocols import DEFAULT, load_protocol
    from himga_eval.schema import KEY
    from himga_eval.scoring import PUBLISHED, score, score_columns
    from himga_eval.store import Store

    frame = answers_of(names, questions(datasets, names)[0], store)
    recipe = load_protocol(protocol)
    if recipe.name == DEFAULT:
        there = [name for name in score_columns(frame) if name in LEXICAL]
        whole = frame.filter(pl.col("prediction").is_not_null() & pl.col("ground_truth").is_not_null())
        lacking = [
            name
            for name in (metrics if metrics is not None else there or LEXICAL)
            if name != "judge_score" and not name.startswith(PUBLISHED)
            if name not in frame.columns or whole[name].has_nulls()
        ]
        return score(frame, lacking)
    ours = None if metrics is None else recipe.resolve([m for m in metrics if not m.startswith(PUBLISHED)])
    lexical = ours and [name for name in ours if name != "judge_score"]
    scores = score(frame.drop(ALL_METRICS, strict=False), lexical, protocol=recipe)
    kept = Store(store)
    stored = [name for name in names if not Path(name).is_file() and recipe.name in kept.protocols(name)]
    judged = [kept.load(name, protocol=recipe.name) for name in stored]
    verdicts = [theirs.select(*KEY, "judge_score") for theirs in judged if "judge_score" in theirs.columns]
    return scores.join(pl.concat(verdicts), on=KEY, how="left", maintain_order="left") if verdicts else scores


def systems_of(scores: pl.DataFrame, store: Path | None) -> dict[str, str | None]:
    """Say which system each run is of, as far as the store was told."""
    from himga_eval.store import Store

    kept = Store(store)
    known = dict(kept.runs().select("run", "system").iter_rows()) if kept.path.is_file() else {}
    return {run: known.get(run) for run in scores["run"].unique(maintain_order=True)}


def _stored(store: Store, name: str) -> pl.DataFrame:
    """Load a stored run; a name that looks like a file is told to be no file."""
    try:
        return store.load(name)
    except (StoreError, UnknownName) as error:
        if Path(name).suffix or "/" in name:
            from himga_eval.data.files import no_file

            raise InputError(f"{no_file(Path(name))}; {error}") from None
        raise
