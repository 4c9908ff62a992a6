"""How much scores spread when the same is done again: by the judge, and by the whole agent."""

from __future__ import annotations

import re
from collections.abc import Mapping

import polars as pl

from himga_eval.cuts import in_table_order
from himga_eval.errors import InputError, UnknownName
from himga_eval.schema import KEY, Results, results_frame
from himga_eval.scoring import summarise
from himga_eval.table import Table, figure

SPREAD: dict[str, pl.DataType] = {
    "repeated": pl.String(),
    "name": pl.String(),
    "dataset": pl.String(),
    "protocol": pl.String(),
    "question_type": pl.String(),
    "metric": pl.String(),
    "mean": pl.Float64(),
    "sd": pl.Float64(),
    "lowest": pl.Float64(),
    "highest": pl.Float64(),
    "repeats": pl.Int64(),
    "count": pl.Int64(),
}
"""The columns of a spread: over the strict means of repeats, "answers" of a system or "judgements" of a run.

`count` questions were asked each time.
"""


class UnknownRepeat(UnknownName):
    """A run that no system is named for."""

    kind = "run"


def answer_spread(scores: Results, systems: Mapping[str, str]) -> pl.DataFrame:
    """Measure how far the runs of one system spread: mean and standard deviation of their means, a spread frame.

    `systems` names the system of each run. The deviation is null for a system with one run.

    Raises:
        UnknownRepeat: a run that `systems` does not name.
        InputError, DuplicateRows: as `summarise`.
    """
    summary = summarise(scores)
    for run in summary["run"].unique(maintain_order=True):
        if run not in systems:
            raise UnknownRepeat(run, systems, "say which system each run is of")
    return _spread(summary.with_columns(name=pl.col("run").replace_strict(systems, return_dtype=pl.String)), "answers")


def judge_spread(judged: Results, metric: str = "judge_score") -> pl.DataFrame:
    """Measure how far repeated judgements of the same answers spread: a spread frame.

    The repeats are those of a judgements frame, or the columns `<metric>_1`, `<metric>_2` and so on of scores.

    Raises:
        InputError: neither.
        DuplicateRows: a question stands twice in a run.
    """
    if isinstance(judged, pl.DataFrame) and {"repeat", "score", "status"} <= set(judged.columns):
        judged = _side_by_side(judged, metric)
    frame = results_frame(judged)
    repeats = [name for name in frame.columns if re.fullmatch(rf"{re.escape(metric)}_\d+", name)]
    if not repeats:
        raise InputError(f"no repeats of {metric}: columns {metric}_1, {metric}_2, …; judge with repeats=")
    summary = summarise(frame, metrics=repeats)
    return _spread(summary.with_columns(name=pl.col("run"), metric=pl.lit(metric)), "judgements")


def spread_tables(spread: pl.DataFrame) -> list[Table]:
    """Lay a spread out for people: a table a system and data set, a cell being the mean and its deviation."""
    return [
        _table(part, str(name), str(dataset))
        for (name, dataset), part in spread.group_by("name", "dataset", maintain_order=True)
    ]


def _side_by_side(judgements: pl.DataFrame, metric: str) -> pl.DataFrame:
    """Give judgements a row an answer and a column a repeat."""
    ids = [name for name in (*KEY, "question_type") if name in judgements.columns]
    answered = pl.when(pl.col("status") != "missing").then(pl.lit(""))
    named = judgements.with_columns(
        prediction=answered, ground_truth=pl.lit(""), repeat=pl.format("{}_{}", pl.lit(metric), "repeat")
    )
    return named.pivot("repeat", index=[*ids, "prediction", "ground_truth"], values="score", maintain_order=True)


def _spread(summary: pl.DataFrame, repeated: str) -> pl.DataFrame:
    keys = ["name", "dataset", "protocol", "metric"]
    cells = summary.group_by(*keys, "question_type", maintain_order=True).agg(
        pl.lit(repeated).alias("repeated"),
        pl.col("mean").mean().alias("mean"),
        pl.col("mean").std().alias("sd"),
        pl.col("mean").min().alias("lowest"),
        pl.col("mean").max().alias("highest"),
        pl.col("mean").count().alias("repeats"),
        pl.col("count").max().alias("count"),
    )
    return in_table_order(cells, keys).select(*SPREAD).cast(SPREAD)  # type: ignore[arg-type]


def _table(part: pl.DataFrame, name: str, dataset: str) -> Table:
    cells = part.with_columns(pl.Series("cell", [_cell(*row) for row in part.select("mean", "sd").iter_rows()]))
    grid = cells.pivot("question_type", index="metric", values="cell", maintain_order=True)
    counts = " or ".join(str(n) for n in sorted(part["repeats"].unique()))
    note = f"Mean and standard deviation (±) of the strict means of {counts} repeats: the {part['repeated'][0]} anew."
    return Table(f"{name} on {dataset}", grid.with_columns(pl.exclude("metric").fill_null("–")), note)


def _cell(mean: float | None, sd: float | None) -> str:
    if mean is None:
        return "–"
    return figure(mean) if sd is None else f"{figure(mean)}±{figure(sd)}"
