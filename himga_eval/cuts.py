"""The rows behind a summary in Polars: what every question adds to which mean, as sql/summary.sql counts it."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from himga_eval.errors import InputError
from himga_eval.schema import CUSTOM
from himga_eval.scoring import NO_TYPE, PUBLISHED, finite, in_order, score_columns, scores_in


def complete(frame: pl.DataFrame) -> pl.DataFrame:
    """Fill in the columns that grouping needs: dataset, sample_id, question_id, question_type, abstention, cluster.

    The cluster is the sample; a row without one is a cluster of its own.
    """
    absent = {"dataset": CUSTOM, "sample_id": None, "question_id": None, "question_type": None}
    frame = frame.with_columns(
        pl.lit(value, pl.String).alias(name) for name, value in absent.items() if name not in frame.columns
    )
    if "abstention" not in frame.columns:
        frame = frame.with_columns(abstention=pl.col("question_id").str.ends_with("_abs"))
    row = pl.int_range(pl.len()).cast(pl.String)
    return frame.with_columns(
        pl.col("question_type").fill_null(NO_TYPE),
        pl.col("abstention").fill_null(False),
        cluster=pl.coalesce("sample_id", row).rank("dense").cast(pl.Int64) - 1,
    )


def strict_rows(frame: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Give the rows that count in a strict mean: a missing answer scores 0, a type without an answer is left out.

    A score that is null stays null: the row was answered, and is in no mean of that metric. Where a metric has no score
    at all, the missing answers have none either.
    """
    answered = pl.col("prediction").is_not_null()

    def counted(name: str) -> pl.Expr:
        score = pl.when(answered).then(finite(name))
        given = score.is_not_null().any().over("run", "dataset")
        return pl.when(answered).then(finite(name)).when(given).then(0.0).alias(name)

    rows = complete(frame).filter(answered.any().over("run", "dataset", "question_type"))
    return rows.with_columns(counted(name) for name in metrics)


def answerable() -> pl.Expr:
    """Tell the questions that the history answers from LoCoMo's adversarial and LongMemEval's abstention ones."""
    return (pl.col("question_type") != "adversarial") & ~pl.col("abstention")


def in_cuts(rows: pl.DataFrame) -> pl.DataFrame:
    """Repeat every row as a row of its question type and of each cut it belongs to."""
    of_longmemeval = pl.col("dataset") == "longmemeval"
    of_either = of_longmemeval | (pl.col("dataset") == "locomo")
    cuts = (
        pl.lit("overall"),
        pl.when(of_either & answerable()).then(pl.lit("answerable")),
        pl.when(of_longmemeval & pl.col("abstention")).then(pl.lit("abstention")),
    )
    kinds = pl.concat_list("question_type", *cuts).list.drop_nulls()
    return rows.with_columns(kinds.alias("question_type")).explode("question_type")


def in_table_order(cells: pl.DataFrame, keys: Sequence[str] = ("run", "dataset")) -> pl.DataFrame:
    """Sort the rows of each group by question type, as tables show them."""
    places = {kind: place for place, kind in enumerate(in_order(cells["question_type"]))}
    order = pl.col("question_type").replace_strict(places, return_dtype=pl.Int64)
    parts = [part.sort(order, maintain_order=True) for _, part in cells.group_by(keys, maintain_order=True)]
    return pl.concat(parts) if parts else cells


def shared_metrics(frames: Sequence[pl.DataFrame], metrics: Sequence[str] | None) -> list[str]:
    """Name the metrics to use: those asked for, which every frame must have, or else all that every frame has.

    Raises:
        InputError: a frame has no such column, or none in common with the others, or it holds no numbers.
    """
    if metrics is None:
        others = [set(score_columns(frame)) for frame in frames[1:]]
        metrics = [name for name in score_columns(frames[0]) if all(name in other for other in others)]
        if not metrics:
            told = "; ".join(f"{_names(frame)}: {', '.join(score_columns(frame)) or 'none'}" for frame in frames)
            raise InputError(f"no metric that all of them have ({told}); score() adds them")
    checked = [scores_in(frame, metrics) for frame in frames]
    return checked[0]


def protocol_of(frame: pl.DataFrame, metric: str) -> str:
    """Name the protocol of a metric; scores that came with the answers are "published"."""
    if metric.startswith(PUBLISHED):
        return "published"
    return str(frame["protocol"][0]) if "protocol" in frame.columns and frame.height else "himga"


def _names(frame: pl.DataFrame) -> str:
    return ", ".join(frame["run"].unique(maintain_order=True))
