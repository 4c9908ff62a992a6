"""Token F1 as in SQuAD, where a repeated token counts as often as it stands (Rajpurkar et al. 2016)."""

from __future__ import annotations

from himga_eval.metrics._overlap import overlap


def tokens(text: str, chunks: list[str]) -> list[str]:
    """Split a lower-cased text where whitespace or one of . , ! ? stands."""
    spaced = text
    for sign in ".,!?":
        if sign in text:
            spaced = spaced.replace(sign, " ")
    return chunks if spaced is text else spaced.split()


def scores(prediction: list[str], ground_truth: list[str], names: tuple[str, ...]) -> tuple[float]:
    """Return the token F1."""
    shared = overlap(prediction, ground_truth)
    # the harmonic mean of shared / len(prediction) and shared / len(ground_truth)
    return (2 * shared / (len(prediction) + len(ground_truth)) if shared else 0.0,)
