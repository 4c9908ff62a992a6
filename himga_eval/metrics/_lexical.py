"""The lexical metrics of whole columns, in one pass.

A text is lower-cased and cut into chunks once; each family of metrics makes its tokens from the chunks, mostly by
looking up what it made of the same chunk before; and compares the tokens of the two sides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from himga_eval.errors import InputError
from himga_eval.metrics import _bleu, _exact, _f1, _meteor, _rouge
from himga_eval.metrics.catalog import FAMILY

BATCH = 20_000
"""How many rows are in the works at a time."""

Tokens = Callable[[str, list[str]], Any]
Scores = Callable[[Any, Any, Sequence[str]], Sequence[float]]
Columns = dict[str, Sequence[float]]

FAMILIES: dict[str, tuple[Tokens, Scores]] = {
    "exact": (_exact.tokens, _exact.scores),
    "f1": (_f1.tokens, _f1.scores),
    "rouge": (_rouge.tokens, _rouge.scores),
    "bleu": (_bleu.tokens, _bleu.scores),
    "meteor": (_meteor.tokens, _meteor.scores),
}
"""How each family makes tokens of a lower-cased text and its chunks, and scores of the tokens of two texts."""


def lexical(predictions: pl.Series, ground_truths: pl.Series, names: Sequence[str]) -> pl.DataFrame:
    """Score predictions against ground truths: a Float64 column a name, null where either side is null.

    Raises:
        InputError: a column that is not text.
    """
    pairs = pl.DataFrame([as_text(predictions, "prediction"), as_text(ground_truths, "ground_truth")])
    starts = range(0, max(pairs.height, 1), BATCH)
    return pl.concat([_batch(pairs.slice(start, BATCH), names) for start in starts])


def score_texts(predictions: Sequence[str], ground_truths: Sequence[str], names: Sequence[str]) -> Columns:
    """Score each prediction against the ground truth in the same place: a column a name."""
    columns: Columns = {}
    predictions = [text.lower() for text in predictions]
    ground_truths = [text.lower() for text in ground_truths]
    prediction_chunks = [text.split() for text in predictions]
    ground_truth_chunks = [text.split() for text in ground_truths]
    for family, (tokens, scores) in FAMILIES.items():
        asked = [name for name in names if FAMILY[name] == family]
        if asked and predictions:
            left = map(tokens, predictions, prediction_chunks)
            right = map(tokens, ground_truths, ground_truth_chunks)
            rows = [scores(*pair, asked) for pair in zip(left, right, strict=True)]
            columns |= zip(asked, zip(*rows, strict=True), strict=True)
    return columns


def as_text(column: pl.Series, name: str) -> pl.Series:
    """Bring a column of text or whole numbers to String, under this name.

    Raises:
        InputError: another dtype.
    """
    dtype = column.dtype
    if dtype in (pl.String, pl.Null, pl.Categorical, pl.Enum) or dtype.is_integer():
        return column.cast(pl.String).alias(name)
    raise InputError(
        f"{name} (column {column.name!r}) is {dtype}, and metrics compare texts; "
        "cast it to String, or let results_frame() bring all columns to their dtypes"
    )


def _batch(pairs: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    distinct = pairs.drop_nulls().unique()
    columns = score_texts(distinct["prediction"].to_list(), distinct["ground_truth"].to_list(), names)
    scores = [pl.Series(name, columns.get(name, ()), pl.Float64) for name in names]
    return pairs.join(distinct.hstack(scores), on=pairs.columns, how="left", maintain_order="left").select(names)
