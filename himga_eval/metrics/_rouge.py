"""ROUGE-1, ROUGE-2 and ROUGE-L as rouge_score 0.1.2 computes them with its stemmer (Lin 2004)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain

from himga_eval.metrics._overlap import ngram_overlaps
from himga_eval.metrics._porter import STEMS
from himga_eval.metrics._text import Memo

_ALPHANUMERIC = re.compile("[a-z0-9]+")


def tokens(text: str, chunks: list[str]) -> list[str]:
    """Split a lower-cased text into runs of a-z and 0-9, stemmed where longer than three; nothing else counts."""
    return list(chain.from_iterable(map(_TOKENS.__getitem__, chunks)))


def scores(prediction: list[str], ground_truth: list[str], names: tuple[str, ...]) -> list[float]:
    """Return the F-measure of each of rouge1, rouge2 and rougeL that is named."""
    words, pairs = ngram_overlaps(prediction, ground_truth, longest=2)
    if not words:
        return [0.0] * len(names)
    size = len(prediction) + len(ground_truth)
    found = []
    for name in names:
        if name == "rouge1":
            found.append(2 * words / size)
        elif name == "rouge2":
            found.append(2 * pairs / (size - 2) if pairs else 0.0)
        else:
            found.append(2 * (1 if words == 1 else longest_common_subsequence(prediction, ground_truth)) / size)
    return found


def longest_common_subsequence(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence, by the bit-parallel method of Hyyrö (2004)."""
    shared = set(second).intersection(first)
    first = [token for token in first if token in shared]
    second = [token for token in second if token in shared]
    if first == second:
        return len(first)
    places = dict.fromkeys(shared, 0)
    for at, token in enumerate(second):
        places[token] |= 1 << at
    row = full = (1 << len(second)) - 1
    for token in first:
        hits = row & places[token]
        row = ((row + hits) | (row - hits)) & full
    return len(second) - row.bit_count()


def _tokens(chunk: str) -> tuple[str, ...]:
    return tuple(STEMS[word] if len(word) > 3 else word for word in _ALPHANUMERIC.findall(chunk))


_TOKENS = Memo(_tokens)
