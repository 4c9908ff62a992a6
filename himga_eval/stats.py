"""Intervals and paired tests: arrays in, numbers out. Unknown is None.

Rows of one cluster (a conversation) may depend on each other in any way; clusters are numbered by integers. Random
numbers come from a generator of their own with a fixed seed, so that the same input gives the same output, and the
caller's random state is left alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import atan, cos, pi, sin, sqrt
from statistics import NormalDist
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Codes: TypeAlias = npt.NDArray[np.int64]

LEVEL = 0.95
UPPER = (1 + LEVEL) / 2
POWER = 0.8
SEED = 0
RESAMPLES = 10_000

EXACT = 12
"""Up to so many clusters every pattern of signs is tried; beyond, RESAMPLES random ones."""

FEW = 30
"""With fewer clusters than this an interval is a rough one, and tables say so."""


class Interval(NamedTuple):
    """An estimate and its interval; bounds are None where the rows cannot tell."""

    value: float | None
    lo: float | None
    hi: float | None


def mean_interval(values: Floats, clusters: Codes) -> Interval:
    """Give the mean with its cluster-robust t interval (Cameron and Miller 2015)."""
    if not len(values):
        return Interval(None, None, None)
    mean = float(values.mean())
    return interval(mean, (values - mean) / len(values), clusters)


def share_interval(values: Floats, clusters: Codes) -> Interval:
    """Give the mean of values between 0 and 1 with its cluster-robust t interval, within 0 and 1.

    Where all are 0, or all 1, they say nothing of the spread: Wilson's interval with as many trials as clusters stands
    in.
    """
    found = mean_interval(values, clusters)
    if found.lo is None or found.hi is None:
        return found
    if found.value in (0, 1):
        groups = len(np.unique(clusters))
        return wilson(int(found.value) * groups, groups)
    return Interval(found.value, max(found.lo, 0.0), min(found.hi, 1.0))


def difference_interval(differences: Floats, clusters: Codes) -> Interval:
    """Give the mean of paired differences with its cluster-robust t interval, within -1 and 1.

    Where all are 0, or all 1, or all -1, they say nothing of the spread: Wilson's bound on how often another cluster
    would differ stands in.
    """
    found = mean_interval(differences, clusters)
    if found.value is None or found.lo is None or found.hi is None:
        return found
    lo, hi = found.lo, found.hi
    if found.value in (-1, 0, 1) and (differences == found.value).all():
        reach = unseen(len(np.unique(clusters)))
        lo, hi = found.value - reach, found.value + reach
    return Interval(found.value, max(lo, -1.0), min(hi, 1.0))


def detectable(differences: Floats, clusters: Codes, power: float = POWER) -> float | None:
    """Give the smallest difference that data of this spread would show with this power, at the 5 % level."""
    if not len(differences):
        return None
    error = robust_error((differences - differences.mean()) / len(differences), clusters)
    if not error:
        return None
    freedom = len(np.unique(clusters)) - 1
    return error * (t_quantile(UPPER, freedom) + t_quantile(power, freedom))


def wilson(successes: int, trials: int) -> Interval:
    """Give a share of independent trials with Wilson's score interval."""
    if trials == 0:
        return Interval(None, None, None)
    share = successes / trials
    centre = (share + _Z**2 / (2 * trials)) / (1 + _Z**2 / trials)
    half = _Z / (1 + _Z**2 / trials) * sqrt(share * (1 - share) / trials + _Z**2 / (4 * trials**2))
    return Interval(share, max(centre - half, 0.0), min(centre + half, 1.0))


def unseen(trials: int) -> float:
    """Give Wilson's upper bound on the share of what was seen in none of so many independent trials."""
    return _Z**2 / (trials + _Z**2)


def bootstrap(totals: Floats, counts: Floats, resamples: int = RESAMPLES, seed: int = SEED) -> Floats:
    """Draw clusters with replacement, and give the mean of every cell in every resample.

    `totals` and `counts` have a row a cluster and a column a cell; all cells share the draws. A cell is NaN in a
    resample that holds no row of it.
    """
    generator = np.random.default_rng(seed)
    clusters = len(totals)
    means = np.empty((resamples, totals.shape[1]))
    for start in range(0, resamples, _CHUNK):
        part = means[start : start + _CHUNK]
        draws = generator.multinomial(clusters, np.full(clusters, 1 / clusters), size=len(part)).astype(np.float64)
        with np.errstate(invalid="ignore"):
            np.divide(draws @ totals, draws @ counts, out=part)
    return means


def sign_flip(differences: Floats, clusters: Codes, seed: int = SEED) -> float | None:
    """Test whether paired differences have mean 0, by flipping the signs of whole clusters: the two-sided p-value.

    Exact up to EXACT clusters that differ at all. None for a single cluster.
    """
    if len(np.unique(clusters)) < 2:
        return None
    totals = np.bincount(clusters, differences)
    totals = totals[totals != 0]  # a zero is the same under either sign
    observed = abs(totals.sum()) - 1e-12 * np.abs(totals).sum()  # sums of other order round otherwise
    if len(totals) <= EXACT:
        signs = 1 - 2.0 * (np.arange(2 ** len(totals))[:, None] >> np.arange(len(totals)) & 1)
        return float((np.abs(signs @ totals) >= observed).mean())
    generator = np.random.default_rng(seed)
    hits, width = 0, -(-len(totals) // 8)
    for _ in range(0, RESAMPLES, _CHUNK):
        drawn = np.frombuffer(generator.bytes(_CHUNK * width), dtype=np.uint8).reshape(_CHUNK, width)
        kept = np.unpackbits(drawn, axis=1, count=len(totals)) @ totals
        hits += int((np.abs(2 * kept - totals.sum()) >= observed).sum())
    return (1 + hits) / (1 + RESAMPLES)


def mcnemar(only_first: int, only_second: int) -> float:
    """Test whether two shares of the same independent questions are equal: McNemar's exact two-sided p-value."""
    trials = only_first + only_second
    ways = tail = 1
    for k in range(min(only_first, only_second)):
        ways = ways * (trials - k) // (k + 1)
        tail += ways
    return min(1.0, float(2 * tail / 2**trials))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust p-values for their number (Holm 1979); None stays None and is not counted."""
    known = sorted((p, i) for i, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    least = 0.0
    for rank, (p, i) in enumerate(known):
        least = max(least, min(1.0, p * (len(known) - rank)))
        adjusted[i] = least
    return adjusted


def interval(value: float, influences: Floats, clusters: Codes) -> Interval:
    """Give the cluster-robust t interval of any estimate, from how far each row pulls it (its influence)."""
    error = robust_error(influences, clusters)
    if error is None:
        return Interval(value, None, None)
    half = t_quantile(UPPER, len(np.unique(clusters)) - 1) * error
    return Interval(value, value - half, value + half)


def robust_error(influences: Floats, clusters: Codes) -> float | None:
    """Give the cluster-robust standard error from the influence of each row; None for fewer than two clusters."""
    groups = len(np.unique(clusters))
    if groups < 2:
        return None
    return sqrt(groups / (groups - 1) * float((np.bincount(clusters, influences) ** 2).sum()))


@lru_cache(maxsize=4096)
def t_quantile(probability: float, freedom: int) -> float:
    """Give the quantile of Student's t with a whole number of degrees of freedom, at a probability of at least 1/2."""
    low, high = 0.0, 1.0
    while t_cdf(high, freedom) < probability:
        low, high = high, high * 2
    for _ in range(53):  # as many as a float has bits
        middle = (low + high) / 2
        low, high = (middle, high) if t_cdf(middle, freedom) < probability else (low, middle)
    return high


def t_cdf(value: float, freedom: int) -> float:
    """Give the probability below a value of at least 0 (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    angle = atan(value / sqrt(freedom))
    steps = np.arange(1, (freedom - freedom % 2) // 2 if freedom > 1 else 1, dtype=np.float64)
    square = cos(angle) ** 2
    if freedom % 2:
        terms = 1 + float(np.cumprod(2 * steps / (2 * steps + 1) * square).sum())
        inner = 2 / pi * (angle + (sin(angle) * cos(angle) * terms if freedom > 1 else 0.0))
    else:
        terms = 1 + float(np.cumprod((2 * steps - 1) / (2 * steps) * square).sum())
        inner = sin(angle) * terms
    return (1 + inner) / 2


_Z = NormalDist().inv_cdf(UPPER)
_CHUNK = 1000
