"""Gates for continuous integration: a score that must not fall below a floor, a comparison that must not regress."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from himga_eval.errors import InputError, UnknownName


class UnknownCell(UnknownName):
    """A metric or question type that nothing was scored for."""

    kind = "metric or question type"


class Floor(NamedTuple):
    """The least a mean may be."""

    question_type: str
    metric: str
    least: float


def floor(text: str) -> Floor:
    """Read a floor: `f1=0.5` is of the overall mean, `single_hop.judge_score=0.7` of a question type's.

    Raises:
        InputError: written otherwise.
    """
    found = re.fullmatch(r"\s*(?:([^=]+)\.)?([^.=]+?)\s*=\s*([-+]?(?:\d+\.?\d*|\.\d+))\s*", text)
    if not found:
        raise InputError(f"{text!r} is no floor: write METRIC=NUMBER or TYPE.METRIC=NUMBER, as in single_hop.f1=0.5")
    return Floor(found[1] or "overall", found[2], float(found[3]))


def below(summary: pl.DataFrame, floors: Sequence[Floor]) -> pl.DataFrame:
    """List the strict means of a summary that are below their floor, or that nothing was scored for.

    Every run and data set is held to it. The column `least` is the floor.

    Raises:
        UnknownCell: a floor for what the summary does not have.
    """
    parts = []
    for question_type, metric, least in floors:
        for column, name in (("metric", metric), ("question_type", question_type)):
            if name not in summary[column]:
                raise UnknownCell(name, summary[column].unique(maintain_order=True))
        cells = summary.filter(pl.col("metric") == metric, pl.col("question_type") == question_type)
        parts.append(
            cells.filter(pl.col("mean").is_null() | (pl.col("mean") < least)).with_columns(least=pl.lit(least))
        )
    return pl.concat(parts).select("run", "dataset", "question_type", "metric", "mean", "least", "lo", "hi", "count")


def regressions(
    comparison: pl.DataFrame, margin: float = 0.0, question_types: Sequence[str] = ("overall",)
) -> pl.DataFrame:
    """Say of a comparison's rows whether the run is worse than the base by more than a margin: the column `gate`.

    It is "regressed" where the whole interval lies below -margin, "passed" where it lies above, and "undecided" where
    the data cannot tell, as when there is no interval.

    Raises:
        InputError: a negative margin.
        UnknownCell: a question type that the comparison does not have.
    """
    if margin < 0:
        raise InputError(f"margin={margin}: it is how much worse a run may be, at least 0")
    for name in question_types:
        if name not in comparison["question_type"]:
            raise UnknownCell(name, comparison["question_type"].unique(maintain_order=True))
    return comparison.filter(pl.col("question_type").is_in(question_types)).with_columns(
        gate=pl.when(pl.col("hi") < -margin)
        .then(pl.lit("regressed"))
        .when(pl.col("lo") > -margin)
        .then(pl.lit("passed"))
        .otherwise(pl.lit("undecided"))
    )
