"""The lexical metrics of whole columns, in one pass.

A text is lower-cased and cut into chunks once; each family of metrics makes its tokens from the chunks, mostly by
looking up what it made of the same chunk before; and compares the tokens of the two sides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, repeat
from typing import Any

import polars as pl

from himga_eval.errors import InputError
from himga_eval.metrics import _bleu, _exact, _f1, _meteor, _rouge
from himga_eval.metrics.catalog import FAMILY

BATCH = 50_000
"""How many rows are taken from a column at a time; of equal ones among them, one is scored."""

BLOCK = 500
"""How many rows have their tokens at a time: so few that they stay in the processor's cache."""

Tokens = Callable[[str, list[str]], Any]
Scores = Callable[[Any, Any, tuple[str, ...]], Sequence[float]]
Columns = dict[str, list[float]]

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
    columns: Columns = {name: [] for name in names}
    for start in range(0, len(predictions), BLOCK):
        _score_block(predictions[start : start + BLOCK], ground_truths[start : start + BLOCK], columns)
    return columns


def _score_block(predictions: Sequence[str], ground_truths: Sequence[str], columns: Columns) -> None:
    predictions = [text.lower() for text in predictions]
    ground_truths = [text.lower() for text in ground_truths]
    chunks = {text: text.split() for text in chain(predictions, ground_truths)}
    for family, (tokens, scores) in FAMILIES.items():
        names = tuple(name for name in columns if FAMILY[name] == family)
        if names:
            made = {text: tokens(text, parts) for text, parts in chunks.items()}
            left, right = map(made.__getitem__, predictions), map(made.__getitem__, ground_truths)
            found = list(chain.from_iterable(map(scores, left, right, repeat(names))))
            for place, name in enumerate(names):
                columns[name] += found[place :: len(names)]


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
    distinct = pairs.drop_nulls().unique().sort("ground_truth")  # equal texts side by side, to have their tokens once
    columns = score_texts(distinct["prediction"].to_list(), distinct["ground_truth"].to_list(), names)
    scores = [pl.Series(name, column, pl.Float64) for name, column in columns.items()]
    return pairs.join(distinct.hstack(scores), on=pairs.columns, how="left", maintain_order="left").select(names)
