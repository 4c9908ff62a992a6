"""A judge's mean corrected by what people say of a few of its verdicts."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from math import hypot, sqrt
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from himga_eval import stats
from himga_eval.cuts import in_cuts, shared_metrics, strict_rows
from himga_eval.errors import InputError, RunWarning, listed
from himga_eval.labels import as_score, given
from himga_eval.schema import KEY, Results, require_unique, results_frame
from himga_eval.scoring import in_order
from himga_eval.stats import Codes, Floats

CALIBRATION: dict[str, pl.DataType] = {
    "run": pl.String(),
    "dataset": pl.String(),
    "question_type": pl.String(),
    "metric": pl.String(),
    "judge_mean": pl.Float64(),
    "mean": pl.Float64(),
    "lo": pl.Float64(),
    "hi": pl.Float64(),
    "bias": pl.Float64(),
    "weight": pl.Float64(),
    "count": pl.Int64(),
    "labelled": pl.Int64(),
    "left_out": pl.Int64(),
    "clusters": pl.Int64(),
}
"""The columns of a calibration: a row a run, data set and question type."""


class Corrected(NamedTuple):
    """A judge's mean corrected by human labels; `weight` is how much of the judge it uses."""

    value: float
    lo: float | None
    hi: float | None
    weight: float


def calibrate(
    scores: Results, labels: pl.DataFrame, *, metric: str = "judge_score", label: str = "human"
) -> pl.DataFrame:
    """Correct the judge's strict means by human labels on some answers, with 95 % intervals: a calibration frame.

    `labels` names answers by question_id and as much more of the key as it has, and says in the column `label` whether
    they are right: a word, or a score from 0 to 1. Its rows are drawn at random, or by `worth_labelling`, whose column
    `probability` has to come back. Labels that are unclear, or of answers without a score, are left out and counted.
    `bias` is what the judge's mean is too high by. Null where a question type has no label; the bounds are null
    where its labels lie on fewer than two samples.

    Warns:
        RunWarning: labels of questions that are not there.

    Raises:
        InputError: no such columns, no label that can be used, or labels that do not say which run they are of.
        DuplicateRows: an answer is labelled twice.
    """
    frame = results_frame(scores)
    shared_metrics([frame], [metric])
    labelled = _with_labels(frame, labels, label)
    rows = in_cuts(strict_rows(labelled, [metric]))
    found = list(_cells(rows, metric))
    if not any(cell["labelled"] for cell in found):
        raise InputError(f"no {label} label can be used: none says right or wrong of an answer that has a {metric}")
    return pl.DataFrame(found, schema=CALIBRATION)


def corrected_mean(judge: Floats, human: Floats, clusters: Codes, probability: Floats) -> Corrected:
    """Correct a judge's mean over all rows by human labels on some: prediction-powered inference.

    `human` is NaN where there is no label, and there is one at least. Labels lie on rows drawn at random, each with its
    `probability`. The judge is weighted as precision asks (PPI++, Angelopoulos, Duchi and Zrnic 2023), so that a
    useless one does no harm. The interval is cluster-robust, with the degrees of freedom of the clusters that hold
    labels, and None where these are fewer than two. Where the judge never erred, or all labels are one, Wilson's
    bound on what was not seen widens it.
    """
    known = ~np.isnan(human)
    shares = np.where(known, 1 / probability, 0.0)
    shares /= shares.sum()
    truth = np.where(known, human, 0.0)
    spread = float(judge.var(ddof=1)) if len(judge) > 1 else 0.0
    covered = float(shares @ ((judge - shares @ judge) * truth))
    weight = float(np.clip(covered / spread, 0, 1)) if spread else 0.0
    rest = truth - weight * judge
    mean, bias = float(judge.mean()), float(shares @ rest)
    value = weight * mean + bias
    influences = weight * (judge - mean) / len(judge) + shares * (rest - bias)
    held = len(np.unique(clusters[known]))
    if held < 2:
        return Corrected(value, None, None, weight)
    error = sqrt(held / (held - 1) * float((np.bincount(clusters, influences) ** 2).sum()))
    half = stats.t_quantile(stats.UPPER, held - 1) * error
    if (truth == judge)[known].all() or np.ptp(rest[known]) == 0:
        half = hypot(half, stats.unseen(held))
    return Corrected(value, value - half, value + half, weight)


def _with_labels(frame: pl.DataFrame, labels: pl.DataFrame, label: str) -> pl.DataFrame:
    """Join labels to the answers they are of, as `label`, `label_given` and `probability`."""
    for name in ("question_id", label):
        if name not in labels.columns:
            raise InputError(f"the labels have no column {name!r}; they have: {', '.join(labels.columns)}")
    key = [name for name in KEY if name in labels.columns and name in frame.columns]
    if "run" not in key and frame["run"].n_unique() > 1:
        runs = frame["run"].unique(maintain_order=True).to_list()
        raise InputError(
            f"labels without a column run, and {len(runs)} runs: {listed(runs)}; labels are of one's answers"
        )
    require_unique(labels.select(key))
    weight = pl.col("probability") if "probability" in labels.columns else pl.lit(None)
    known = labels.filter(given(label)).select(
        *(pl.col(name).cast(pl.String) for name in key),
        as_score(label).alias("label"),
        weight.cast(pl.Float64).alias("probability"),
        label_given=pl.lit(True),
    )
    if (wrong := known.filter(~pl.col("probability").is_between(0, 1, closed="right"))).height:
        raise InputError(
            f"probability {wrong['probability'][0]} of {wrong['question_id'][0]} is not above 0 and at most 1"
        )
    strangers = known.join(frame, on=key, how="anti")
    if strangers.height:
        ids = listed(strangers["question_id"].to_list())
        warnings.warn(f"{strangers.height:,} labels are of questions not there: {ids}", RunWarning, stacklevel=3)
    return frame.drop("label", "label_given", "probability", strict=False).join(
        known, on=key, how="left", maintain_order="left"
    )


def _cells(rows: pl.DataFrame, metric: str) -> Iterator[dict[str, Any]]:
    for (run, dataset), part in rows.group_by("run", "dataset", maintain_order=True):
        cells = part.partition_by("question_type", as_dict=True)
        for kind in in_order(str(name) for (name,) in cells):
            yield {
                "run": run,
                "dataset": dataset,
                "question_type": kind,
                "metric": metric,
                **_cell(cells[kind,], metric),
            }


def _cell(rows: pl.DataFrame, metric: str) -> dict[str, Any]:
    scored = rows.drop_nulls(metric)
    judge = scored[metric].to_numpy()
    answered = scored["prediction"].is_not_null().to_numpy()
    human = scored["label"].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    labelled = int((answered & ~np.isnan(human)).sum())
    counts = {
        "count": scored.height,
        "labelled": labelled,
        "left_out": rows["label_given"].count() - labelled,
        "clusters": scored["cluster"].n_unique(),
    }
    judge_mean = float(judge.mean()) if len(judge) else None
    if judge_mean is None or not labelled:
        return {"judge_mean": judge_mean, **counts}
    share = labelled / int(answered.sum())
    # A missing answer is wrong, as everybody knows without being asked.
    found = corrected_mean(
        judge,
        np.where(answered, human, 0.0),
        scored["cluster"].to_numpy(),
        np.where(answered, scored["probability"].fill_null(share).to_numpy(), 1.0),
    )
    return {
        "judge_mean": judge_mean,
        "mean": found.value,
        "lo": found.lo if found.lo is None else max(found.lo, 0.0),
        "hi": found.hi if found.hi is None else min(found.hi, 1.0),
        "bias": judge_mean - found.value,
        "weight": found.weight,
        **counts,
    }
