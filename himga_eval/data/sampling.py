"""A smaller set of questions that looks like the whole."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from himga_eval.errors import InputError


class Stratum(NamedTuple):
    """What the draw keeps in proportion."""

    question_type: str
    abstention: bool


def draw(strata: Mapping[str, Stratum], n: int, seed: int = 0) -> set[str]:
    """Draw the ids of n questions: each type in proportion, and the abstention questions too.

    Every type gets at least one where n allows it. Within a stratum the ids with the smallest hash
    of seed and id are taken: the draw is the same on any machine and in any order of the file.

    Raises:
        InputError: n is less than 1 or more than there are.
    """
    if not 1 <= n <= len(strata):
        raise InputError(f"sample={n}: there are {len(strata)} questions to draw from; draw 1 to {len(strata)}")
    sizes = Counter(strata.values())
    types = sorted({s.question_type for s in strata.values()})
    answerable = {t: sizes[Stratum(t, False)] for t in types}
    abstaining = {t: sizes[Stratum(t, True)] for t in types}
    totals = {t: answerable[t] + abstaining[t] for t in types}

    one_each = int(n >= len(types))
    of_type = _apportion(n, totals, dict.fromkeys(types, one_each), totals)
    low = {t: max(0, of_type[t] - answerable[t]) for t in types}
    high = {t: min(of_type[t], abstaining[t]) for t in types}
    share = round(n * sum(abstaining.values()) / len(strata))
    of_abstaining = _apportion(share, abstaining, low, high)

    counts = {Stratum(t, True): of_abstaining[t] for t in types}
    counts |= {Stratum(t, False): of_type[t] - of_abstaining[t] for t in types}
    chosen: set[str] = set()
    for stratum, count in counts.items():
        ids = [i for i, s in strata.items() if s == stratum]
        chosen.update(sorted(ids, key=lambda i: _rank(i, seed))[:count])
    return chosen


def _apportion(n: int, sizes: dict[str, int], low: dict[str, int], high: dict[str, int]) -> dict[str, int]:
    """Split n by size between the bounds of each, one at a time to whoever is furthest behind."""
    total = sum(sizes.values())
    given = dict(low)
    for _ in range(min(n, sum(high.values())) - sum(low.values())):
        behind = {t: n * sizes[t] / total - given[t] for t in sizes if given[t] < high[t]}
        given[max(behind, key=behind.__getitem__)] += 1
    return given


def _rank(question_id: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}:{question_id}".encode()).digest()
