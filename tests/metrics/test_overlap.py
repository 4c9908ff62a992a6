from __future__ import annotations

from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from himga_eval.metrics._overlap import ngram_overlaps, overlap
from himga_eval.metrics._rouge import longest_common_subsequence

TOKENS = st.lists(st.sampled_from("abc"), max_size=12) | st.lists(st.sampled_from("abcdefgh"), max_size=40)


def plain_overlap(first, second) -> int:
    return (Counter(first) & Counter(second)).total()


def triples(tokens: list[str]) -> list[tuple[str, ...]]:
    return [tuple(tokens[at : at + 3]) for at in range(len(tokens) - 2)]


def plain_subsequence(first: list[str], second: list[str]) -> int:
    row = [0] * (len(second) + 1)
    for token in first:
        diagonal = 0
        for at, other in enumerate(second, 1):
            diagonal, row[at] = row[at], diagonal + 1 if token == other else max(row[at], row[at - 1])
    return row[-1]


@given(TOKENS, TOKENS)
def test_overlap_counts_repeats(first: list[str], second: list[str]) -> None:
    assert overlap(first, second) == plain_overlap(first, second)


@given(TOKENS, TOKENS)
def test_ngram_overlaps_count_each_length(first: list[str], second: list[str]) -> None:
    one, two, three = ngram_overlaps(first, second, 3)
    assert one == plain_overlap(first, second)
    assert two == plain_overlap(pairwise(first), pairwise(second))
    assert three == plain_overlap(triples(first), triples(second))


@given(TOKENS, TOKENS)
def test_longest_common_subsequence(first: list[str], second: list[str]) -> None:
    assert longest_common_subsequence(first, second) == plain_subsequence(first, second)


def test_texts_longer_than_a_machine_word() -> None:
    first = ["a", "b", "c"] * 50
    second = ["c", "b", "a"] * 50
    assert longest_common_subsequence(first, second) == plain_subsequence(first, second)
