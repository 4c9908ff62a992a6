"""METEOR as nltk 3.9.4 computes it: equal words, then stems, then WordNet synonyms (Lavie and Agarwal 2007)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from himga_eval.metrics._porter import STEMS
from himga_eval.metrics._synonyms import SYNONYMS
from himga_eval.metrics._text import Memo

ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5

Places = dict[str, list[int]]
"""The free places of each word of the ground truth, in ascending order."""


def tokens(text: str, chunks: list[str]) -> list[str]:
    """Return the chunks between whitespace: METEOR takes signs as parts of their words."""
    return chunks


def scores(prediction: list[str], ground_truth: list[str], names: tuple[str, ...]) -> tuple[float]:
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

    Equal words come first, then equal stems, then stems that are synonyms of a stem. Each stage goes through the
    prediction from its end, and takes the last free place of the ground truth.
    """
    pairs: dict[int, int] = {}
    places = _places(ground_truth, range(len(ground_truth)))
    left = _pair_equal(prediction, reversed(range(len(prediction))), places, pairs)
    if left and len(pairs) < len(ground_truth):
        free = {STEMS[word] for word, stack in places.items() if stack}
        left = [at for at in left if not _RELATED[prediction[at]].isdisjoint(free)]
        if left:
            stems, goals = [STEMS[word] for word in prediction], [STEMS[word] for word in ground_truth]
            places = _places(goals, sorted(chain.from_iterable(places.values())))
            left = _pair_equal(stems, left, places, pairs)
            _pair_synonyms(stems, left, places, pairs)
    return pairs


def _places(words: Sequence[str], among: Iterable[int]) -> Places:
    places: Places = {}
    for place in among:
        places.setdefault(words[place], []).append(place)
    return places


def _pair_equal(words: Sequence[str], left: Iterable[int], places: Places, pairs: dict[int, int]) -> list[int]:
    """Pair places with those of the same word, and return the ones that are left over."""
    rest = []
    for at in left:
        if stack := places.get(words[at]):
            pairs[at] = stack.pop()
        else:
            rest.append(at)
    return rest


def _pair_synonyms(stems: Sequence[str], left: Iterable[int], places: Places, pairs: dict[int, int]) -> None:
    for at in left:
        stacks = [places[name] for name in SYNONYMS[stems[at]] & places.keys() if places[name]]
        if stacks:
            pairs[at] = max(stacks, key=lambda stack: stack[-1]).pop()


def _related(word: str) -> frozenset[str]:
    stem = STEMS[word]
    return SYNONYMS[stem] | {stem}


_RELATED = Memo(_related)
"""The stems that a word may be paired with."""
