"""What stands under and beside a table: the recipe of its numbers, published figures, the errata of its golds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from himga_eval.cli.app import say
from himga_eval.cli.options import Format
from himga_eval.cli.show import FOR_PROGRAMS, show_frame, show_tables
from himga_eval.errors import InputError

if TYPE_CHECKING:
    import polars as pl

Errata = Annotated[
    Path | None,
    typer.Option(help="A list of wrong golds: show scores with all, without the faulty, and with the golds corrected."),
]
Beside = Annotated[
    list[str] | None,
    typer.Option("--with", help="Published figures to stand beside; may be given twice.", metavar="published:NAME"),
]


def notes_of(
    scores: pl.DataFrame,
    protocol: str,
    checksums: Mapping[str, str],
    *,
    stored: Sequence[str] = (),
    store: Path | None = None,
    settings: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Say by data set what its numbers are under the protocol and what they rest on; of stored runs what was noted."""
    from himga_eval.manifest import basis, basis_here, told
    from himga_eval.protocols import load_protocol, note
    from himga_eval.scoring import score_columns
    from himga_eval.store import Store

    recipe = load_protocol(protocol)
    here = basis_here(checksums, recipe) | {"settings": settings or {}}
    noted = {name: basis(Store(store), name) | {"protocols": {recipe.name: recipe.digest}} for name in stored}
    prompts = {found["settings"].get("judge.origin", "built-in") for found in (here, *noted.values())} - {"built-in"}
    said = note(recipe, score_columns(scores), ", ".join(sorted(prompts)))
    notes = {}
    for (dataset,), rows in scores.group_by("dataset", maintain_order=True):
        rests: dict[str, list[str]] = {}
        for run in rows["run"].unique(maintain_order=True):
            found = noted.get(run, here)
            datasets = {name: value for name, value in found["datasets"].items() if name == dataset}
            versions = dict(sorted(found["versions"].items()))
            rests.setdefault(told({**found, "datasets": datasets, "versions": versions}), []).append(run)
        who = (f"{', '.join(runs)}: r" if len(rests) > 1 else "R" for runs in rests.values())
        lines = [f"{start}ests on {what}." for start, what in zip(who, rests, strict=True)]
        notes[str(dataset)] = "\n".join([said, *lines] if said else lines)
    return notes


def published_beside(
    given: Sequence[str], scores: pl.DataFrame, metrics: list[str] | None, protocol: str
) -> pl.DataFrame | None:
    """Read --with: published figures of the same data sets and metrics; warns where their recipe is another.

    Raises:
        InputError: not published:NAME, no such table, or nothing in it of these data sets and metrics.
    """
    import polars as pl

    from himga_eval.metrics.catalog import ALL_METRICS
    from himga_eval.protocols import differences, load_protocol, name_overall, read_published
    from himga_eval.scoring import PUBLISHED, score_columns

    frames = []
    for text in given:
        room, _, name = text.partition(":")
        if room != "published" or not name:
            raise InputError(f"--with {text}: what can stand beside a run is published:NAME, as published:mem0")
        wanted = metrics or score_columns(scores)
        published = read_published(name)
        # Scores that came with the answers stand in for ours where we have none of that metric.
        stand_ins = {m: f"{PUBLISHED}{m}" for m in ALL_METRICS if m not in wanted and f"{PUBLISHED}{m}" in wanted}
        here = published.filter(
            pl.col("dataset").is_in(scores["dataset"].implode()), pl.col("metric").is_in([*wanted, *stand_ins])
        )
        if here.is_empty():
            raise InputError(
                f"--with {text}: it has {', '.join(published['metric'].unique(maintain_order=True))} of "
                f"{', '.join(published['dataset'].unique())}, and not {', '.join(wanted)} of these data sets"
            )
        recipe = load_protocol(here["protocol"][0])
        own = [metric for metric in here["metric"].unique(maintain_order=True) if metric not in stand_ins]
        for line in differences(load_protocol(protocol), recipe, own):
            say(f"warning: {text} has another recipe: {line}")
        for metric in stand_ins.keys() & set(here["metric"]):
            say(f"warning: {stand_ins[metric]} came with the answers; that its recipe is {text}'s is not known")
        attempted = scores.drop_nulls("prediction")["question_type"].unique().to_list()
        frames.append(name_overall(here, attempted).with_columns(pl.col("metric").replace(stand_ins)))
    return pl.concat(frames) if frames else None


def show_errata(
    scores: pl.DataFrame, path: Path, protocol: str, format: Format, metrics: list[str] | None = None
) -> None:
    """Print the layers of scores side by side, the ceiling that the list implies, and which golds it is about.

    Programs get one table, in place of that of the scores as they are.
    """
    import polars as pl

    from himga_eval.errata import LAYERS, ceiling, find_faulty, read_errata, with_errata
    from himga_eval.scoring import summarise

    errata = read_errata(path)
    faulty = find_faulty(scores, errata)
    ids = faulty["question_id"].unique(maintain_order=True).to_list()
    listing = f"{path.name} lists {len(ids):,} of these golds as faulty: {', '.join(ids)}."
    layers, highest = with_errata(scores, errata, protocol=protocol), ceiling(scores, errata)
    if format in FOR_PROGRAMS:  # which want one table
        named = [highest.with_columns(run=pl.format("{}, {}", "run", pl.lit(layer))) for layer in LAYERS]
        key = ["run", "dataset", "question_type"]
        summary = summarise(layers, metrics=metrics)
        show_frame(summary.join(pl.concat(named), on=key, how="left", maintain_order="left"), format)
        say(listing)
    else:
        show_tables(layers, format, metrics, notes=dict.fromkeys(layers["dataset"], listing))
        show_frame(highest, format)
