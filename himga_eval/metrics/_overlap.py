"""What two lists of tokens have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence


def overlap(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """Count the tokens two lists share, each as often as in the list that has it less."""
    distinct = set(second)
    shared = distinct.intersection(first)
    if not shared or len(distinct) == len(second) or len(set(first)) == len(first):
        return len(shared)
    counts, others = Counter(first), Counter(second)
    return sum(min(counts[token], others[token]) for token in shared)


def ngram_overlaps(first: Sequence[str], second: Sequence[str], longest: int) -> list[int]:
    """Count the n-grams two lists share, for every length up to the longest."""
    counts = [overlap(first, second)]
    # A shared n-gram has two shared parts that are shorter by one: under two of these there is none.
    while len(counts) < longest and counts[-1] > 1:
        length = len(counts) + 1
        counts.append(overlap(_ngrams(first, length), _ngrams(second, length)))
    return counts + [0] * (longest - len(counts))


def _ngrams(tokens: Sequence[str], length: int) -> list[tuple[str, ...]]:
    return list(zip(*[tokens[start:] for start in range(length)], strict=False))


def f_measure(shared: int, first: int, second: int) -> float:
    """Return the harmonic mean of precision and recall, from the size of an overlap and of both sides."""
    return 2 * shared / (first + second) if shared else 0.0
