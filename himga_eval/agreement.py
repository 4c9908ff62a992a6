"""Agreement of two labels of the same answers: a judge with another, with itself, or with people."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from himga_eval import stats
from himga_eval.errors import InputError
from himga_eval.labels import as_code, given
from himga_eval.stats import Codes, Interval

AGREEMENT: dict[str, pl.DataType] = {
    "first": pl.String(),
    "second": pl.String(),
    "question_type": pl.String(),
    "raw": pl.Float64(),
    "raw_lo": pl.Float64(),
    "raw_hi": pl.Float64(),
    "kappa": pl.Float64(),
    "kappa_lo": pl.Float64(),
    "kappa_hi": pl.Float64(),
    "both_right": pl.Int64(),
    "only_first": pl.Int64(),
    "only_second": pl.Int64(),
    "both_wrong": pl.Int64(),
    "count": pl.Int64(),
    "left_out": pl.Int64(),
    "clusters": pl.Int64(),
}
"""The columns of an agreement: a row a question type, and one for all of them."""


def agreement(
    frame: pl.DataFrame, first: str, second: str, *, by: str = "question_type", cluster: str = "sample_id"
) -> pl.DataFrame:
    """Measure how far two columns of labels agree: the share of equal ones and Cohen's kappa, with 95 % intervals.

    A label is a word or number as `himga_eval.labels` reads it, a score of at least .5 being right. Rows where either
    has none are not looked at; those where either is unclear are left out and counted. Intervals are cluster-robust
    over `cluster`, or take rows as independent where there is no such column; without a column `by` all rows are one
    group.

    Raises:
        InputError: no such column, or not one row with both labels.
    """
    for name in (first, second):
        if name not in frame.columns:
            raise InputError(f"no column {name!r}; the frame has: {', '.join(frame.columns)}")
    kind = pl.col(by).fill_null("(none)") if by in frame.columns else pl.lit(None, pl.String)
    row = pl.int_range(pl.len()).cast(pl.String)
    group = pl.coalesce(pl.col(cluster).cast(pl.String), row) if cluster in frame.columns else row
    rows = frame.filter(given(first) & given(second)).select(
        kind.alias("kind"),
        group.rank("dense").cast(pl.Int64).alias("cluster"),
        as_code(first).alias("first"),
        as_code(second).alias("second"),
    )
    if rows.is_empty():
        raise InputError(f"not one row has both a {first} and a {second}")
    kinds = rows["kind"].drop_nulls().unique(maintain_order=True).to_list()
    parts = [(name, rows.filter(kind=name)) for name in kinds if len(kinds) > 1]
    cells = [
        {"first": first, "second": second, "question_type": name, **_cell(part)}
        for name, part in (*parts, ("overall", rows))
    ]
    return pl.DataFrame(cells, schema=AGREEMENT)


def kappa(first: Codes, second: Codes, clusters: Codes) -> Interval:
    """Give Cohen's kappa of two labels of the same rows with its cluster-robust t interval (delta method).

    None where both gave one and the same label throughout: there was nothing to agree on. Where they agree in every
    row, Wilson's bound on how often they would not stands in.
    """
    if not len(first):
        return Interval(None, None, None)
    size = int(max(first.max(), second.max())) + 1
    shares = [np.bincount(labels, minlength=size) / len(first) for labels in (first, second)]
    agreed = (first == second).astype(np.float64)
    raw, chance = float(agreed.mean()), float(shares[0] @ shares[1])
    if chance == 1:
        return Interval(None, None, None)
    if raw == 1:
        lo = stats.share_interval(agreed, clusters).lo
        return Interval(1.0, None, None) if lo is None else Interval(1.0, max((lo - chance) / (1 - chance), -1.0), 1.0)
    pull = shares[1][first] + shares[0][second] - 2 * chance
    influences = (agreed - raw) / (1 - chance) - (1 - raw) / (1 - chance) ** 2 * pull
    found = stats.interval((raw - chance) / (1 - chance), influences / len(first), clusters)
    if found.lo is None or found.hi is None:
        return found
    return Interval(found.value, max(found.lo, -1.0), min(found.hi, 1.0))


def _cell(rows: pl.DataFrame) -> dict[str, Any]:
    clear = rows.drop_nulls(["first", "second"])
    first, second, clusters = (clear[name].to_numpy() for name in ("first", "second", "cluster"))
    raw = stats.share_interval((first == second).astype(np.float64), clusters)
    beyond = kappa(first, second, clusters)
    return {
        **dict(zip(("raw", "raw_lo", "raw_hi"), raw, strict=True)),
        **dict(zip(("kappa", "kappa_lo", "kappa_hi"), beyond, strict=True)),
        "both_right": int((first & second).sum()),
        "only_first": int((first & ~second).sum()),
        "only_second": int((~first & second).sum()),
        "both_wrong": int(((1 - first) & (1 - second)).sum()),
        "count": clear.height,
        "left_out": rows.height - clear.height,
        "clusters": len(np.unique(clusters)),
    }
