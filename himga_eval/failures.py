"""Where answers fail: with the evidence at hand, or by refusing what could be answered."""

from __future__ import annotations

import polars as pl

from himga_eval.cuts import answerable, complete, in_cuts, in_table_order, shared_metrics, strict_rows
from himga_eval.errors import InputError
from himga_eval.judge.rules import is_unanswerable
from himga_eval.labels import RIGHT
from himga_eval.retrieval import had_evidence
from himga_eval.schema import Results, results_frame
from himga_eval.scoring import summarise

EVIDENCE_USE: dict[str, pl.DataType] = {
    "run": pl.String(),
    "dataset": pl.String(),
    "question_type": pl.String(),
    "metric": pl.String(),
    "had_right": pl.Int64(),
    "had_wrong": pl.Int64(),
    "lacked_right": pl.Int64(),
    "lacked_wrong": pl.Int64(),
    "count": pl.Int64(),
}
"""The columns of evidence use: questions by whether all of their evidence was retrieved, and whether they came out."""


def evidence_use(scores: Results, metric: str, *, right: float = RIGHT) -> pl.DataFrame:
    """Count by question type who had all of the evidence and still got it wrong, and who got it right without.

    A score of at least `right` is right, a missing answer wrong. Questions whose history has no answer, and rows that
    recorded nothing or have no score, are not counted.

    Raises:
        InputError: no column retrieved, evidence or of the metric.
    """
    frame = results_frame(scores)
    shared_metrics([frame], [metric])
    if missing := [name for name in ("retrieved", "evidence") if name not in frame.columns]:
        raise InputError(f"no column {' or '.join(missing)}: what an agent had at hand is not known")
    rows = strict_rows(frame, [metric]).filter(answerable())
    rows = rows.with_columns(had_evidence().alias("had"), (pl.col(metric) >= right).alias("good"))
    cells = in_cuts(rows.drop_nulls(["had", "good"])).filter(pl.col("question_type") != "answerable")
    counts = cells.group_by("run", "dataset", "question_type", maintain_order=True).agg(
        pl.lit(metric).alias("metric"),
        (pl.col("had") & pl.col("good")).sum().alias("had_right"),
        (pl.col("had") & ~pl.col("good")).sum().alias("had_wrong"),
        (~pl.col("had") & pl.col("good")).sum().alias("lacked_right"),
        (~pl.col("had") & ~pl.col("good")).sum().alias("lacked_wrong"),
        pl.len().alias("count"),
    )
    return in_table_order(counts.cast(EVIDENCE_USE))  # type: ignore[arg-type]


def refusals(scores: Results) -> pl.DataFrame:
    """Summarise how often questions that have an answer were refused: a summary frame with the metric "refused".

    A refusal is what `himga_eval.judge.is_unanswerable` takes for one; a missing answer is none. Adversarial and
    abstention questions, which should be refused, are left out.

    Raises:
        InputError, DuplicateRows: as `summarise`.
    """
    frame = results_frame(scores)
    rows = frame.filter(complete(frame).select(answerable()).to_series())
    refused = [None if text is None else is_unanswerable(text) for text in rows["prediction"]]
    summary = summarise(rows.with_columns(pl.Series("refused", refused, pl.Float64, strict=False)), metrics=["refused"])
    return summary.filter(~pl.col("question_type").is_in(["answerable", "abstention"]))
