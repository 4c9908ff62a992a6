"""Compare runs question by question: how far apart they are, whether that is more than chance, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from himga_eval import stats
from himga_eval.comparable import KEY, SAME, Settings, differing, require_comparable
from himga_eval.cuts import in_cuts, protocol_of, shared_metrics, strict_rows
from himga_eval.errors import InputError, listed
from himga_eval.retrieval import gold_rank
from himga_eval.schema import COMPARISON, Results, require_key, results_frame
from himga_eval.scoring import CUTS, in_order

ALPHA = 0.05

WHY: dict[str, pl.DataType] = {
    "base": pl.String(),
    "run": pl.String(),
    "dataset": pl.String(),
    "sample_id": pl.String(),
    "question_id": pl.String(),
    "question_type": pl.String(),
    "metric": pl.String(),
    "base_score": pl.Float64(),
    "score": pl.Float64(),
    "change": pl.String(),
    "cause": pl.String(),
    "base_rank": pl.Int64(),
    "rank": pl.Int64(),
    "question": pl.String(),
    "ground_truth": pl.String(),
    "base_prediction": pl.String(),
    "prediction": pl.String(),
}
"""The columns of why a score moved: a row a question that was won or lost."""


def compare(
    base: Results,
    *others: Results,
    metrics: Sequence[str] | None = None,
    settings: Settings | None = None,
    force: bool = False,
) -> pl.DataFrame:
    """Compare runs with a base, question by question: a comparison frame.

    Without `metrics` it is all that every run has. A row is a run, data set, question type (or cut) and metric. A
    question counts where both runs answered or missed it and have its score; a missing answer is 0. `difference` is
    run less base with its 95 % interval, cluster-robust over samples. `p_value` is of a sign-flip test over samples,
    `p_mcnemar` McNemar's exact one, null unless all scores are 0 or 1. `p_adjusted` is Holm's, of McNemar's where
    there is one and else of the sign-flip's: over all question types and runs of a metric, and over the runs for a
    cut. McNemar's takes questions to be independent, so a verdict other than "undecided" asks for both: p_adjusted
    below .05, and an interval without 0. `detectable` is the difference that data of this spread show with 80 % power.

    Raises:
        Incomparable: other questions, golds, protocols, revisions, judges or metric settings, unless `force`, which
            compares the questions they share; `settings` is what was noted of the runs.
        InputError: no two runs, a row without key, or a metric that a run does not have.
        DuplicateRows: a question stands twice in a run.
    """
    first, *rest = _runs(base, others)
    names = shared_metrics([first, *rest], metrics)
    rows: list[dict[str, Any]] = []
    for other in rest:
        if not force:
            require_comparable(differing(first, other, names, settings))
        rows += _compared(first, other, names)
    return _judged(pl.DataFrame(rows, schema=COMPARISON))


def why(base: Results, other: Results, metric: str, *, force: bool = False) -> pl.DataFrame:
    """List the questions that a run won or lost against a base by a metric, the largest changes first, with the cause.

    The cause is "error" where one of them has no answer or an error; "same answer" where the answers are equal, so that
    the judge moved; "other retrieval" where both recorded what they retrieved and it differs; else "other answer".
    `base_rank` and `rank` are the place of the evidence in what was retrieved, null where it is not there or unknown.

    Raises:
        Incomparable, InputError, DuplicateRows: as `compare`.
    """
    first, second = _runs(base, (other,))
    shared_metrics([first, second], [metric])
    if not force:
        require_comparable(differing(first, second, [metric]))
    pairs = _pairs(_with_rank(first), _with_rank(second), [metric])
    missed = pl.any_horizontal(pl.col(name).is_null() for name in ("prediction", "prediction_run"))
    failed = pl.any_horizontal(pl.col(name).is_not_null() for name in ("error", "error_run"))
    cause = (
        pl.when(missed | failed)
        .then(pl.lit("error"))
        .when(pl.col("prediction") == pl.col("prediction_run"))
        .then(pl.lit("same answer"))
        .when(pl.col("retrieved") != pl.col("retrieved_run"))
        .then(pl.lit("other retrieval"))
        .otherwise(pl.lit("other answer"))
    )
    gain = pl.col(f"{metric}_run") - pl.col(metric)
    return (
        pairs.filter(gain != 0)
        .sort(gain.abs(), descending=True, maintain_order=True)
        .select(
            pl.lit(first["run"][0]).alias("base"),
            pl.lit(second["run"][0]).alias("run"),
            *KEY,
            "question_type",
            pl.lit(metric).alias("metric"),
            pl.col(metric).alias("base_score"),
            pl.col(f"{metric}_run").alias("score"),
            pl.when(gain > 0).then(pl.lit("won")).otherwise(pl.lit("lost")).alias("change"),
            cause.alias("cause"),
            pl.col("rank").alias("base_rank"),
            pl.col("rank_run").alias("rank"),
            "question",
            "ground_truth",
            pl.col("prediction").alias("base_prediction"),
            pl.col("prediction_run").alias("prediction"),
        )
        .cast(WHY)  # type: ignore[arg-type]
    )


def _runs(base: Results, others: Sequence[Results]) -> list[pl.DataFrame]:
    """Check the runs and give a frame each, the base first."""
    if not others:
        raise InputError("there is nothing to compare the base with: give it another run")
    frames = [results_frame(results) for results in (base, *others)]
    for frame in frames:
        require_key(frame)
        if frame.is_empty():
            raise InputError("a run without a single row cannot be compared")
    if frames[0]["run"].n_unique() > 1:
        names = frames[0]["run"].unique(maintain_order=True).to_list()
        raise InputError(f"the base is one run, and this frame has {len(names)}: {listed(names)}; filter it")
    runs = [run for frame in frames for _, run in frame.group_by("run", maintain_order=True)]
    named = [str(run["run"][0]) for run in runs]
    if doubled := sorted({name for name in named if named.count(name) > 1}):
        raise InputError(f"two runs are named {listed(doubled)}; give them different names in the column run")
    return runs


def _pairs(base: pl.DataFrame, run: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Put the rows that both runs have side by side; those of the run end in `_run`.

    Raises:
        InputError: there are none.
    """
    left, right = (strict_rows(frame, metrics) for frame in (base, run))
    known = [name for name in right.columns if name in left.columns]
    pairs = left.join(right.select(known), on=KEY, suffix="_run", maintain_order="left")
    if pairs.is_empty():
        raise InputError(f"{base['run'][0]} and {run['run'][0]} share not one question that both tried to answer")
    return pairs


def _compared(base: pl.DataFrame, run: pl.DataFrame, metrics: Sequence[str]) -> Iterator[dict[str, Any]]:
    pairs = in_cuts(_pairs(base, run, metrics))
    for (dataset,), rows in pairs.group_by("dataset", maintain_order=True):
        for metric in metrics:
            scored = rows.drop_nulls([metric, f"{metric}_run"])
            binary = bool(np.isin(scored.select(metric, f"{metric}_run").to_numpy(), (0, 1)).all())
            cells = scored.partition_by("question_type", as_dict=True)
            for kind in in_order(str(name) for (name,) in cells):
                yield {
                    "base": base["run"][0],
                    "run": run["run"][0],
                    "dataset": dataset,
                    "protocol": protocol_of(base, metric),
                    "question_type": kind,
                    "metric": metric,
                    **_cell(cells[kind,], metric, binary),
                }


def _cell(rows: pl.DataFrame, metric: str, binary: bool) -> dict[str, Any]:
    ours, theirs, clusters = (rows[name].to_numpy() for name in (metric, f"{metric}_run", "cluster"))
    gains = theirs - ours
    won, lost = int((gains > 0).sum()), int((gains < 0).sum())
    interval = stats.difference_interval(gains, clusters)
    return {
        "base_mean": float(ours.mean()),
        "mean": float(theirs.mean()),
        "difference": interval.value,
        "lo": interval.lo,
        "hi": interval.hi,
        "p_value": stats.sign_flip(gains, clusters),
        "p_mcnemar": stats.mcnemar(won, lost) if binary else None,
        "won": won,
        "lost": lost,
        "tied": len(gains) - won - lost,
        "count": len(gains),
        "clusters": len(np.unique(clusters)),
        "detectable": stats.detectable(gains, clusters),
    }


def _judged(comparison: pl.DataFrame) -> pl.DataFrame:
    """Adjust the p-values for their number, and say what they allow to be said."""
    families = pl.when(pl.col("question_type").is_in(CUTS)).then("question_type").otherwise(pl.lit("types"))
    adjusted = pl.coalesce("p_mcnemar", "p_value").map_batches(
        lambda p_values: pl.Series(stats.holm(p_values.to_list()), dtype=pl.Float64), return_dtype=pl.Float64
    )
    sure = (pl.col("p_adjusted") < ALPHA).fill_null(False)
    return comparison.with_columns(p_adjusted=adjusted.over("metric", families)).with_columns(
        verdict=pl.when(sure & (pl.col("lo") > 0))
        .then(pl.lit("better"))
        .when(sure & (pl.col("hi") < 0))
        .then(pl.lit("worse"))
        .otherwise(pl.lit("undecided"))
    )


def _with_rank(frame: pl.DataFrame) -> pl.DataFrame:
    """Fill in what a frame may lack, and add the evidence's place in what was retrieved."""
    lists = [name for name in ("retrieved", "evidence") if name not in frame.columns]
    texts = [name for name in (*SAME, "error") if name not in frame.columns]
    frame = frame.with_columns(
        *(pl.lit(None, pl.List(pl.String)).alias(name) for name in lists),
        *(pl.lit(None, pl.String).alias(name) for name in texts),
    )
    return frame.with_columns(gold_rank().alias("rank"))
