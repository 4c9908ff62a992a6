"""Bring summaries and comparisons to the rows that are drawn: their order, their labels, the ends of their axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import polars as pl

from himga_eval.errors import InputError, UnknownMetric
from himga_eval.footnotes import SMALL
from himga_eval.metrics.catalog import ALL_METRICS
from himga_eval.schema import QUESTION_TYPES
from himga_eval.scoring import CUTS, NO_TYPE, finite, in_order, without_twins

Frame: TypeAlias = Any
"""A Polars or pandas frame, an Arrow table or a DuckDB relation."""

SUMMARY = ("run", "dataset", "question_type", "metric", "mean", "lo", "hi", "count", "scored", "missing", "clusters")
COMPARISON = (
    *("base", "run", "dataset", "question_type", "metric", "difference", "lo", "hi", "p_adjusted"),
    *("won", "tied", "lost", "count", "clusters", "detectable", "verdict"),
)
COSTS = ("run", "dataset", "metric", "mean", "lo", "hi")

_KEY = ("base", "run", "dataset", "question_type", "metric")
_TEXTS = (*_KEY, "protocol", "verdict")


def read(table: Frame, needed: Sequence[str]) -> pl.DataFrame:
    """Take a frame for drawing: texts without nulls, numbers without NaN, runs of several protocols told apart.

    Raises:
        InputError: a needed column is absent, or a row stands twice.
    """
    frame = table.collect() if isinstance(table, pl.LazyFrame) else pl.DataFrame(table)
    if frame.is_empty():  # its columns may have no dtype, or not be there
        return pl.DataFrame(schema=dict.fromkeys(needed, pl.Float64))
    if absent := [name for name in needed if name not in frame.columns]:
        raise InputError(f"no column {', '.join(absent)}; the frame has: {', '.join(frame.columns)}")
    texts = [name for name in _TEXTS if name in frame.columns]
    numbers = [name for name in needed if name not in texts]
    frame = frame.with_columns(pl.col(texts).cast(pl.String).fill_null(NO_TYPE), *map(finite, numbers))
    if "protocol" in frame.columns:
        several = pl.col("protocol").n_unique().over("run", "metric") > 1
        frame = frame.with_columns(run=pl.when(several).then(pl.format("{} ({})", "run", "protocol")).otherwise("run"))
    key = [name for name in _KEY if name in frame.columns]
    if (doubled := frame.filter(pl.struct(key).is_duplicated())).height:
        raise InputError(f"{doubled.height} rows share {', '.join(key)}, the first: {doubled.select(key).row(0)}")
    drawn = frame.select(name for name in frame.columns if name in (*needed, "question_type", "clusters"))
    return without_twins(drawn) if "question_type" in needed else drawn


def of_metric(frame: pl.DataFrame, metric: str | None) -> tuple[pl.DataFrame, str]:
    """Give the rows of one metric, the first unless named, and its name.

    Raises:
        UnknownMetric: the frame has rows, but none of this metric.
    """
    if frame.is_empty():
        return frame, metric or "any metric"
    found = metrics(frame)
    name = found[0] if metric is None else metric
    if name not in found:
        raise UnknownMetric(name, found)
    return frame.filter(pl.col("metric") == name), name


def labelled(frame: pl.DataFrame) -> pl.DataFrame:
    """Add what stands beside a row, as "temporal (n=321)", and put the rows in the order of tables.

    n is what a mean rests on: rows with a score, and missing answers, which count as 0.
    """
    rests = frame["scored"] + frame["missing"] if "scored" in frame.columns else frame["count"]
    groups = frame.select("dataset", "question_type", n=rests).group_by("dataset", "question_type")
    some = pl.col("n").filter(pl.col("n") > 0)  # where a run has no score, the chart says so
    labels = groups.agg(least=pl.coalesce(some.min(), pl.col("n").min()), most=pl.col("n").max())
    texts = [_label(*row) for row in labels.select("question_type", "least", "most").iter_rows()]
    labels = labels.select("dataset", "question_type", pl.Series("label", texts, pl.String))
    places = {kind: place for place, kind in enumerate(in_order(frame["question_type"]))}
    place = pl.col("question_type").replace_strict(places, return_dtype=pl.Int64)
    return frame.join(labels, on=["dataset", "question_type"], maintain_order="left").sort(place, maintain_order=True)


def metrics(frame: pl.DataFrame) -> list[str]:
    """List the metrics in the order of tables, a user's own last."""
    found = frame["metric"].unique(maintain_order=True).to_list()
    return [*(m for m in ALL_METRICS if m in found), *(m for m in found if m not in ALL_METRICS)]


def runs(frame: pl.DataFrame) -> list[str]:
    """List the runs as they come."""
    return frame["run"].unique(maintain_order=True).to_list()


def by_run(frame: pl.DataFrame) -> list[pl.DataFrame]:
    """Part a frame by run."""
    return frame.partition_by("run", maintain_order=True)


def by_dataset(frame: pl.DataFrame) -> list[pl.DataFrame]:
    """Part a frame by data set: LoCoMo, LongMemEval, then a user's own as they come."""
    parts = {part["dataset"][0]: part for part in frame.partition_by("dataset", maintain_order=True)}
    return [parts[name] for name in sorted(parts, key=[*QUESTION_TYPES, *parts].index)]


def by_effect(frame: pl.DataFrame) -> pl.DataFrame:
    """Sort a comparison: the cuts first, as they are, then types from the largest gain to the largest loss."""
    cut = pl.col("question_type").is_in(CUTS)
    cuts, types = frame.filter(cut), frame.filter(~cut)
    return pl.concat([cuts, types.sort("difference", descending=True, nulls_last=True, maintain_order=True)])


def title(frame: pl.DataFrame) -> str:
    """Name a part's data set and say how many samples its intervals rest on."""
    name = {"locomo": "LoCoMo", "longmemeval": "LongMemEval"}.get(frame["dataset"][0], frame["dataset"][0])
    clusters = frame["clusters"].drop_nulls().to_list() if "clusters" in frame.columns else []
    return f"{name} ({max(clusters):,.0f} {'sample' if max(clusters) == 1 else 'samples'})" if clusters else name


def counted(frame: pl.DataFrame) -> str:
    """Say what n is, and explain the dagger of small groups where there is one."""
    return f"n: questions{f', † fewer than {SMALL}' if frame['label'].str.ends_with('†').any() else ''}."


def span(frame: pl.DataFrame, *columns: str, floor: float = 0, ceiling: float = 1) -> list[float]:
    """Give the ends of an axis: `floor` and `ceiling`, or a round number beyond where data lie outside them."""
    found = [round(value, 9) for name in columns for value in frame[name].drop_nulls()]  # 0.1 + 0.2 is not beyond 0.3
    return [math.floor(min(floor, *found) * 10) / 10, math.ceil(max(ceiling, *found) * 10) / 10]


def widest(frame: pl.DataFrame) -> int:
    """Say how many characters the longest label has, so that panels can stand under one another."""
    return max(map(len, frame["label"]))


def _label(kind: str, least: float | None, most: float | None) -> str:
    if least is None or most is None:
        return kind
    return f"{kind} (n={least:,.0f}{'' if least == most else f'–{most:,.0f}'}){'†' if 0 < least < SMALL else ''}"
