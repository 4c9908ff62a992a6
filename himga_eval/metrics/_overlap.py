"""What two lists of tokens have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

LONG = 50
"""From this many tokens on it pays to look only where something is shared."""


def overlap(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """Count the tokens two lists share, each as often as in the list that has it less."""
    distinct = set(second)
    shared = distinct.intersection(first)
    if not shared or len(distinct) == len(second) or len(set(first)) == len(first):
        return len(shared)
    counts, others = Counter(first), Counter(second)
    return sum([min(counts[token], others[token]) for token in shared])


def ngram_overlaps(first: Sequence[str], second: Sequence[str], longest: int) -> list[int]:
    """Count the n-grams two lists share, for every length up to the longest."""
    counts = [overlap(first, second)]
    if counts[0] > 1 and len(first) > LONG:
        first = _near_shared(first, second)
    grams: Sequence[Hashable] = first
    others: Sequence[Hashable] = second
    # A shared n-gram has two shared parts that are shorter by one: under two of these there is none.
    while len(counts) < longest and counts[-1] > 1:
        grams = list(zip(grams, first[len(counts) :], strict=False))
        others = list(zip(others, second[len(counts) :], strict=False))
        counts.append(overlap(grams, others))
    return counts + [0] * (longest - len(counts))


def _near_shared(tokens: Sequence[str], others: Sequence[str]) -> list[str]:
    """Keep the tokens that the others have too, and one after each run of these: it has the same shared n-grams."""
    shared = set(others).intersection(tokens)
    return [token for token, before in zip(tokens, ("", *tokens), strict=False) if token in shared or before in shared]
