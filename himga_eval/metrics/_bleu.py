"""Sentence BLEU as nltk 3.9.4 computes it with smoothing method1 (Papineni et al. 2002; Chen and Cherry 2014)."""

from __future__ import annotations

from functools import cache
from math import exp

from himga_eval.metrics._overlap import ngram_overlaps
from himga_eval.metrics._words import words as tokens

__all__ = ["LONGEST", "scores", "tokens"]

LONGEST = {"bleu1": 1, "bleu2": 2, "bleu4": 4}
"""The longest n-grams that count; all lengths weigh the same."""

NO_MATCH = 0.1
"""What counts in place of zero matches."""


def scores(prediction: list[str], ground_truth: list[str], names: tuple[str, ...]) -> list[float]:
    """Return each of bleu1, bleu2 and bleu4 that is named."""
    lengths = _lengths(names)
    matches = ngram_overlaps(prediction, ground_truth, max(lengths))
    if not matches[0]:
        return [0.0] * len(names)
    size = len(prediction)
    brevity = 1.0 if size >= len(ground_truth) else exp(1 - len(ground_truth) / size)
    product = 1.0
    products: list[float] = []
    for shorter, shared in enumerate(matches):
        product *= (shared or NO_MATCH) / (size - shorter if size > shorter else 1)
        products.append(product)
    return [brevity * products[length - 1] ** (1 / length) for length in lengths]


@cache
def _lengths(names: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(LONGEST[name] for name in names)
