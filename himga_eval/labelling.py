"""Choose the answers whose labels would tell most of a judge."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from himga_eval import stats
from himga_eval.cuts import shared_metrics
from himga_eval.errors import InputError
from himga_eval.metrics.catalog import ALL_METRICS
from himga_eval.schema import KEY, Results, results_frame
from himga_eval.scoring import finite
from himga_eval.stats import Floats

SHOWN = (*KEY, "question_type", "question", "ground_truth", "prediction")
"""What a person who labels has to see; the score, `probability` and an empty label follow."""

FLOOR = 0.25
"""Every answer is drawn with at least this share of the average probability, however sure its verdict looks."""


def worth_labelling(
    scores: Results, count: int, *, metric: str = "judge_score", seed: int = stats.SEED
) -> pl.DataFrame:
    """Draw the answers whose labels would tell most of a judge's bias: a frame to fill in the column `human` of.

    Likelier to be drawn are answers that got neither 0 nor 1, that repeats of the judge (`<metric>_1`, `<metric>_2`, …)
    see differently, and that other metrics contradict. Each has its `probability`, by which `calibrate` weights it back
    (active inference, Zrnic and Candès 2024).

    Raises:
        InputError: no such metric, or not so many scored answers.
    """
    frame = results_frame(scores)
    shared_metrics([frame], [metric])
    frame = frame.filter(pl.col("prediction").is_not_null() & finite(metric).is_not_null())
    if not 0 < count <= frame.height:
        raise InputError(f"count={count}: there are {frame.height:,} answers with a {metric} to draw from")
    doubt = frame.select(_doubt(frame, metric).fill_null(0)).to_series().to_numpy()
    probability = probabilities(doubt + FLOOR * (doubt.mean() or 1.0), count)
    drawn = draw(probability, np.random.default_rng(seed))
    columns = [name for name in (*SHOWN, metric) if name in frame.columns]
    chosen = frame.with_columns(probability=probability, human=pl.lit(None, pl.String)).filter(drawn)
    return chosen.select(*columns, "probability", "human")


def probabilities(sizes: Floats, count: int) -> Floats:
    """Scale sizes to probabilities that add up to `count`, none above 1."""
    certain = np.zeros(len(sizes), dtype=bool)
    while True:
        scaled = sizes * (count - certain.sum()) / max(sizes[~certain].sum(), np.finfo(float).tiny)
        over = ~certain & (scaled >= 1)
        if not over.any():
            return np.where(certain, 1.0, scaled)
        certain |= over


def draw(probability: Floats, generator: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Draw rows, each with its probability, and exactly as many as these add up to (a systematic sample)."""
    order = generator.permutation(len(probability))
    ends = np.append(0.0, np.cumsum(probability[order]))
    ends[-1] = np.round(ends[-1])
    drawn = np.zeros(len(probability), dtype=bool)
    drawn[order] = np.diff(np.floor(ends + generator.random())) > 0
    return drawn


def _doubt(frame: pl.DataFrame, metric: str) -> pl.Expr:
    """Tell from 0 to 1 how little a verdict is to be relied on."""
    score = finite(metric)
    repeats = [name for name in frame.columns if name.startswith(f"{metric}_") and name[len(metric) + 1 :].isdigit()]
    others = [name for name in ALL_METRICS[1:] if name in frame.columns]
    return pl.max_horizontal(
        1 - (2 * score - 1).abs(),
        *([pl.max_horizontal(repeats) - pl.min_horizontal(repeats)] if repeats else []),
        *([(score - pl.mean_horizontal(finite(name) for name in others)).abs()] if others else []),
    )
