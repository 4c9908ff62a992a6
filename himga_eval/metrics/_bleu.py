"""Sentence BLEU as nltk 3.9.4 computes it with smoothing method1 (Papineni et al. 2002; Chen and Cherry 2014)."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, prod

from himga_eval.metrics._overlap import ngram_overlaps
from himga_eval.metrics._words import words as tokens

__all__ = ["LONGEST", "scores", "tokens"]

LONGEST = {"bleu1": 1, "bleu2": 2, "bleu4": 4}
"""The longest n-grams that count; all lengths weigh the same."""

NO_MATCH = 0.1
"""What counts in place of zero matches."""


def scores(prediction: list[str], ground_truth: list[str], names: Sequence[str]) -> list[float]:
    """Return each of bleu1, bleu2 and bleu4 that is named."""
    longest = max([LONGEST[name] for name in names])
    matches = ngram_overlaps(prediction, ground_truth, longest)
    if not matches[0]:
        return [0.0] * len(names)
    size = len(prediction)
    precisions = [(shared or NO_MATCH) / max(1, size - shorter) for shorter, shared in enumerate(matches)]
    brevity = exp(min(0.0, 1 - len(ground_truth) / size))
    return [brevity * prod(precisions[: LONGEST[name]]) ** (1 / LONGEST[name]) for name in names]
