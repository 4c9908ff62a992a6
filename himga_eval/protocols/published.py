"""Published tables, to stand beside one's own: figures as printed, under the official question types."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from himga_eval.data.loading import COUNTS
from himga_eval.errors import UnknownName
from himga_eval.protocols.reading import FOLDER
from himga_eval.schema import SUMMARY

TABLES = FOLDER / "tables"


class UnknownTable(UnknownName):
    """A published table that is not here."""

    kind = "published table"


def published_tables() -> dict[str, dict[str, Any]]:
    """List the published tables with their paper, recipe, data set and scale."""
    return tomllib.loads((TABLES / "index.toml").read_text(encoding="utf-8"))


def read_published(name: str) -> pl.DataFrame:
    """Read published figures as a summary frame: those of one table ("mem0-1") or of all of a recipe ("mem0").

    A run is named after its system and recipe; means are between 0 and 1. An overall figure that leaves adversarial
    questions out is of the type "answerable". Numbers of questions are the data set's; there are no intervals.

    Raises:
        UnknownTable: neither a table nor a recipe with tables.
    """
    known = published_tables()
    chosen = [table for table, about in known.items() if name in (table, about["recipe"])]
    if not chosen:
        raise UnknownTable(name, [*dict.fromkeys(about["recipe"] for about in known.values()), *known])
    return pl.concat([_read(TABLES / f"{table}.csv", known[table]) for table in chosen])


def name_overall(published: pl.DataFrame, kinds: Sequence[str]) -> pl.DataFrame:
    """Give "answerable" figures the name "overall" too, where the tables beside them know no adversarial questions."""
    if "adversarial" in kinds:
        return published
    again = published.filter(pl.col("question_type") == "answerable").with_columns(question_type=pl.lit("overall"))
    return pl.concat([published.join(again, on=["run", "dataset", "metric", "question_type"], how="anti"), again])


def _read(path: Path, about: dict[str, Any]) -> pl.DataFrame:
    wide = pl.read_csv(path)
    counts = COUNTS[about["dataset"]]
    included = about.get("overall", list(counts))
    total = "overall" if about["dataset"] != "locomo" or "adversarial" in included else "answerable"
    sizes = {str(kind): n for kind, n in counts.items()} | {total: sum(counts[kind] for kind in included)}
    long = wide.unpivot(index=["system", "metric"], variable_name="question_type", value_name="printed")
    return (
        long.drop_nulls("printed")
        .with_columns(pl.col("question_type").replace("overall", total))
        .select(
            pl.format("{} ({})", "system", pl.lit(about["recipe"])).alias("run"),
            pl.lit(about["dataset"]).alias("dataset"),
            pl.lit(about["recipe"]).alias("protocol"),
            "question_type",
            "metric",
            (pl.col("printed").cast(pl.Float64) / about["scale"]).alias("mean"),
            pl.lit(None).alias("mean_lenient"),
            pl.col("question_type").replace_strict(sizes, return_dtype=pl.Int64).alias("count"),
            *(pl.lit(None).alias(name) for name in ("scored", "missing", "lo", "hi", "clusters")),
        )
        .cast(pl.Schema(SUMMARY))
    )
