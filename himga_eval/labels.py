"""Labels of people and judges, in whatever words: right, wrong, or unclear."""

from __future__ import annotations

import polars as pl

from himga_eval.formats.answers import SCORES

RIGHT = 0.5
"""From this score on an answer counts as right where a label has to be one or the other."""


def given(column: str) -> pl.Expr:
    """Tell the rows that have a label, be it unclear."""
    return _text(column).is_not_null()


def as_score(column: str) -> pl.Expr:
    """Read a label as a score: a number from 0 to 1 is itself, a word 1 or 0; null where there is none, or unclear."""
    score = _text(column).cast(pl.Float64, strict=False)
    return pl.when(score.is_between(0, 1)).then(score).alias(column)


def as_code(column: str) -> pl.Expr:
    """Read a label as 1 or 0, right or wrong; null where there is none, or an unclear one."""
    return (as_score(column) >= RIGHT).cast(pl.Int64).alias(column)


def _text(column: str) -> pl.Expr:
    return pl.col(column).cast(pl.String).str.strip_chars().str.to_lowercase().replace(SCORES)
