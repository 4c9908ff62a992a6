"""What stands under and beside a table: the recipe of its numbers, published figures, the errata of its golds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from himga_eval.cli.app import say
from himga_eval.cli.options import Format
from himga_eval.cli.show import show_frame, show_tables
from himga_eval.errors import InputError

Errata = Annotated[
    Path | None,
    typer.Option(help="A list of wrong golds: show scores with all, without the faulty, and with the golds corrected."),
]
Beside = Annotated[
    list[str] | None,
    typer.Option("--with", help="Published figures to stand beside; may be given twice.", metavar="published:NAME"),
]


def notes_of(scores: pl.DataFrame, protocol: str, checksums: Mapping[str, str]) -> list[str]:
    """Say what the numbers are under the protocol, and what they rest on."""
    from himga_eval.manifest import basis_here, told
    from himga_eval.protocols import load_protocol, note
    from himga_eval.scoring import score_columns

    lines = [note(load_protocol(protocol), score_columns(scores)), f"{told(basis_here(checksums, protocol))}."]
    return [line for line in lines if line]


def published_beside(
    given: Sequence[str], scores: pl.DataFrame, metrics: list[str] | None, protocol: str
) -> pl.DataFrame | None:
    """Read --with: published figures of the same data sets and metrics; warns where their recipe is another.

    Raises:
        InputError: not published:NAME, no such table, or nothing in it of these data sets and metrics.
    """
    from himga_eval.protocols import differences, load_protocol, name_overall, read_published
    from himga_eval.scoring import score_columns

    frames = []
    for text in given:
        room, _, name = text.partition(":")
        if room != "published" or not name:
            raise InputError(f"--with {text}: what can stand beside a run is published:NAME, as published:mem0")
        wanted = metrics or score_columns(scores)
        published = read_published(name)
        here = published.filter(pl.col("dataset").is_in(scores["dataset"].implode()), pl.col("metric").is_in(wanted))
        if here.is_empty():
            raise InputError(
                f"--with {text}: it has {', '.join(published['metric'].unique(maintain_order=True))} of "
                f"{', '.join(published['dataset'].unique())}, and not {', '.join(wanted)} of these data sets"
            )
        recipe = load_protocol(here["protocol"][0])
        for line in differences(load_protocol(protocol), recipe, here["metric"].unique(maintain_order=True)):
            say(f"warning: {text} has another recipe: {line}")
        attempted = scores.drop_nulls("prediction")["question_type"].unique().to_list()
        frames.append(name_overall(here, attempted))
    return pl.concat(frames) if frames else None


def show_errata(
    scores: pl.DataFrame, path: Path, protocol: str, format: Format, metrics: list[str] | None = None
) -> None:
    """Print the layers of scores side by side, the ceiling that the list implies, and which golds it is about."""
    from himga_eval.errata import ceiling, find_faulty, read_errata, with_errata

    errata = read_errata(path)
    faulty = find_faulty(scores, errata)
    ids = faulty["question_id"].unique(maintain_order=True).to_list()
    listing = f"{path.name} lists {len(ids):,} of these golds as faulty: {', '.join(ids)}."
    show_tables(with_errata(scores, errata, protocol=protocol), format, metrics, notes=[listing])
    show_frame(ceiling(scores, errata), format)
    if format in (Format.csv, Format.json):
        say(listing)
