"""Token F1 as in SQuAD, where a repeated token counts as often as it stands (Rajpurkar et al. 2016)."""

from __future__ import annotations

from collections.abc import Sequence

from himga_eval.metrics._overlap import f_measure, overlap


def tokens(text: str, chunks: list[str]) -> list[str]:
    """Split a lower-cased text where whitespace or one of . , ! ? stands."""
    for sign in ".,!?":
        if sign in text:
            text = text.replace(sign, " ")
    return text.split()


def scores(prediction: list[str], ground_truth: list[str], names: Sequence[str]) -> tuple[float]:
    """Return the token F1."""
    return (f_measure(overlap(prediction, ground_truth), len(prediction), len(ground_truth)),)
