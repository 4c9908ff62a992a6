"""METEOR as nltk 3.9.4 computes it: equal words, then stems, then WordNet synonyms (Lavie and Agarwal 2007)."""

from __future__ import annotations

from collections.abc import Sequence

from himga_eval.metrics._porter import stem
from himga_eval.metrics._synonyms import SYNONYMS
from himga_eval.metrics._text import Memo

ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5

Words = dict[int, str]
"""Words that have no partner yet, by their place in the text."""

_STEM = Memo(stem)


def tokens(text: str, chunks: list[str]) -> list[str]:
    """Return the chunks between whitespace: METEOR takes signs as parts of their words."""
    return chunks


def scores(prediction: list[str], ground_truth: list[str], names: Sequence[str]) -> tuple[float]:
    """Return the METEOR score."""
    pairs = align(prediction, ground_truth)
    if not pairs:
        return (0.0,)
    matches = len(pairs)
    precision, recall = matches / len(prediction), matches / len(ground_truth)
    mean = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall)
    chunks = sum([pairs.get(at - 1) != to - 1 for at, to in pairs.items()])
    return ((1 - GAMMA * (chunks / matches) ** BETA) * mean,)


def align(prediction: Sequence[str], ground_truth: Sequence[str]) -> dict[int, int]:
    """Pair places of the prediction with places of the ground truth, as NLTK does.

    Each stage goes through the prediction from its end, and takes the last free place of the ground truth. The second
    stage leaves stems behind: the third looks for synonyms of a stem among stems.
    """
    pairs: dict[int, int] = {}
    left = dict(enumerate(prediction))
    free = dict(enumerate(ground_truth))
    _pair_equal(left, free, pairs)
    if left and free:
        left = {at: _STEM[word] for at, word in left.items()}
        free = {to: _STEM[word] for to, word in free.items()}
        _pair_equal(left, free, pairs)
    if left and free:
        _pair_synonyms(left, free, pairs)
    return pairs


def _pair_equal(left: Words, free: Words, pairs: dict[int, int]) -> None:
    shared = set(free.values()).intersection(left.values())
    if not shared:
        return
    places = _places(free, shared)
    for at in [at for at, word in left.items() if word in shared][::-1]:
        if places[left[at]]:
            to = pairs[at] = places[left[at]].pop()
            del left[at], free[to]


def _pair_synonyms(left: Words, free: Words, pairs: dict[int, int]) -> None:
    goals = set(free.values())
    words = {word for word in set(left.values()) if not SYNONYMS[word].isdisjoint(goals)}
    if not words:
        return
    places = _places(free, goals)
    for at in [at for at, word in left.items() if word in words][::-1]:
        stacks = [places[synonym] for synonym in SYNONYMS[left[at]] & goals if places[synonym]]
        if stacks:
            pairs[at] = max(stacks, key=lambda stack: stack[-1]).pop()


def _places(words: Words, among: set[str]) -> dict[str, list[int]]:
    """List the places of each word in ascending order."""
    places: dict[str, list[int]] = {word: [] for word in among}
    for at, word in words.items():
        if word in among:
            places[word].append(at)
    return places
