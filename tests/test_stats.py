"""Intervals and tests against scipy, statsmodels and plain arithmetic, and their coverage by simulation."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from himga_eval import stats

scipy_stats = pytest.importorskip("scipy.stats")

ten_clusters = st.lists(st.tuples(st.integers(0, 9), st.floats(-1, 1, width=32)), min_size=2, max_size=60)


def columns(rows: list[tuple[int, float]]) -> tuple[stats.Codes, stats.Floats]:
    clusters, values = zip(*rows, strict=True)
    return np.array(clusters), np.array(values, dtype=float)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 9, 10, 29, 49, 499, 1539])
@pytest.mark.parametrize("probability", [0.5, 0.8, 0.975, 0.9995])
def test_t_quantiles_are_scipys(probability: float, freedom: int) -> None:
    assert stats.t_quantile(probability, freedom) == pytest.approx(scipy_stats.t.ppf(probability, freedom), rel=1e-9)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=50))
def test_where_each_row_is_a_cluster_the_interval_is_the_plain_one(values: list[float]) -> None:
    found = stats.mean_interval(np.array(values), np.arange(len(values)))
    half = scipy_stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    assert found == pytest.approx((np.mean(values), np.mean(values) - half, np.mean(values) + half), abs=1e-9)


@pytest.mark.slow
def test_the_interval_is_statsmodels_cluster_robust_one() -> None:
    regression = pytest.importorskip("statsmodels.regression.linear_model")
    generator = np.random.default_rng(5)
    clusters = np.sort(generator.integers(0, 10, 200))
    values = generator.random(200) + clusters / 10
    fitted = regression.OLS(values, np.ones(200)).fit(cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True)
    # statsmodels also corrects for the one parameter: (N - 1) / (N - k) is 1 here.
    assert stats.mean_interval(values, clusters)[1:] == pytest.approx(tuple(fitted.conf_int()[0]), abs=1e-9)


@pytest.mark.parametrize(
    ("values", "clusters", "expected"),
    [
        pytest.param([], [], (None, None, None), id="nothing is unknown"),
        pytest.param([1.0], [0], (1.0, None, None), id="one row has no interval"),
        pytest.param([0.0, 1.0], [3, 3], (0.5, None, None), id="one cluster has no interval"),
        pytest.param([1.0] * 30, range(30), (1.0, 0.8864866, 1.0), id="all right is Wilson"),
        pytest.param([0.0] * 30, range(30), (0.0, 0.0, 0.1135134), id="all wrong is Wilson"),
        pytest.param([1.0] * 40, [0, 1, 2, 3] * 10, (1.0, 0.5101092, 1.0), id="Wilson counts clusters, not rows"),
    ],
)
def test_shares(values: list[float], clusters: list[int], expected: tuple[float | None, ...]) -> None:
    found = stats.share_interval(np.array(values, dtype=float), np.array(clusters, dtype=int))
    assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        pytest.param([0.0] * 20, (0.0, -0.1611252, 0.1611252), id="all tied is no certainty"),
        pytest.param([1.0] * 20, (1.0, 0.8388748, 1.0), id="all won is no certainty"),
        pytest.param([-1.0] * 20, (-1.0, -1.0, -0.8388748), id="all lost is no certainty"),
    ],
)
def test_differences_without_spread(differences: list[float], expected: tuple[float, ...]) -> None:
    found = stats.difference_interval(np.array(differences), np.arange(len(differences)))
    assert found == pytest.approx(expected, abs=1e-6)


@given(ten_clusters)
def test_intervals_hold_their_estimate_and_stay_in_range(rows: list[tuple[int, float]]) -> None:
    clusters, values = columns(rows)
    found = stats.difference_interval(values, clusters)
    if found.lo is not None:
        assert -1 <= found.lo <= found.value + 1e-12
        assert found.value - 1e-12 <= found.hi <= 1


@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (1, 1), (0, 10), (3, 10), (30, 30), (7, 1000)])
def test_wilson_is_scipys(successes: int, trials: int) -> None:
    expected = scipy_stats.binomtest(successes, trials).proportion_ci(method="wilson")
    assert stats.wilson(successes, trials)[1:] == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_wilson_of_nothing_is_unknown() -> None:
    assert stats.wilson(0, 0) == (None, None, None)


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_is_the_binomial_test(first: int, second: int) -> None:
    expected = scipy_stats.binomtest(first, first + second, 0.5).pvalue if first + second else 1.0
    assert stats.mcnemar(first, second) == pytest.approx(expected, rel=1e-9)


def test_mcnemar_takes_many_questions() -> None:
    assert stats.mcnemar(10_000, 10_400) == pytest.approx(scipy_stats.binomtest(10_000, 20_400).pvalue, rel=1e-9)


@given(st.lists(st.floats(-5, 5, width=16), min_size=2, max_size=8))
def test_sign_flip_tries_every_pattern(totals: list[float]) -> None:
    found = stats.sign_flip(np.array(totals), np.arange(len(totals)))
    sums = [
        abs(sum(s * t for s, t in zip(signs, totals, strict=True))) for signs in product((1, -1), repeat=len(totals))
    ]
    expected = sum(one >= abs(sum(totals)) - 1e-9 for one in sums) / len(sums)
    assert found == pytest.approx(expected)


def test_ten_samples_that_all_lose_are_two_patterns_of_1024() -> None:
    assert stats.sign_flip(-np.arange(1.0, 11), np.arange(10)) == 2 / 1024


def test_flips_take_whole_clusters() -> None:
    differences, clusters = np.array([1.0, 1, 1, 1]), np.array([0, 0, 1, 1])
    assert stats.sign_flip(differences, clusters) == 0.5  # of 4 patterns, not of 16


def test_many_clusters_are_sampled_near_the_exact_test() -> None:
    generator = np.random.default_rng(2)
    signs = generator.choice([-1.0, 0.0, 1.0], 500, p=[0.08, 0.8, 0.12])
    exact = stats.mcnemar(int((signs > 0).sum()), int((signs < 0).sum()))  # one row a cluster: the same test
    assert stats.sign_flip(signs, np.arange(500)) == pytest.approx(exact, abs=0.015)


def test_one_cluster_cannot_be_tested() -> None:
    assert stats.sign_flip(np.ones(5), np.zeros(5, dtype=int)) is None


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_is_truescores(p_values: list[float]) -> None:
    compare = pytest.importorskip("truescore.compare")
    assert stats.holm(p_values) == pytest.approx(list(compare.holm(p_values)), abs=1e-12)


def test_holm_leaves_out_what_is_unknown() -> None:
    assert stats.holm([0.04, None, 0.01]) == pytest.approx([0.04, None, 0.02])


def test_a_detectable_difference_is_seen_four_times_in_five() -> None:
    generator = np.random.default_rng(0)
    clusters = np.repeat(np.arange(20), 15)
    seen = 0
    for _ in range(800):
        first, second = (generator.normal(generator.normal(0, 0.1, 20)[clusters], 0.3) for _ in range(2))
        found = stats.difference_interval(second + stats.detectable(first, clusters), clusters)
        seen += found.lo > 0
    assert 0.75 < seen / 800 < 0.85


def test_without_spread_nothing_is_said_of_what_is_detectable() -> None:
    assert stats.detectable(np.zeros(9), np.arange(9)) is None
    assert stats.detectable(np.ones(3), np.zeros(3, dtype=int)) is None


def bounds(means: stats.Floats) -> list[float]:
    return [float(b) for b in np.quantile(means, [0.025, 0.975])]


def test_the_bootstrap_is_scipys_over_clusters() -> None:
    generator = np.random.default_rng(4)
    counts = generator.integers(20, 60, (25, 1)).astype(float)
    totals = counts * generator.random((25, 1))
    ours = bounds(stats.bootstrap(totals, counts))
    theirs = scipy_stats.bootstrap(
        (totals[:, 0], counts[:, 0]),
        lambda s, n, axis=-1: s.sum(axis=axis) / n.sum(axis=axis),
        paired=True,
        method="percentile",
        n_resamples=10_000,
        rng=np.random.default_rng(0),
    ).confidence_interval
    assert ours == pytest.approx([theirs.low, theirs.high], abs=0.01)


def test_the_bootstrap_repeats_itself_and_touches_no_global_state() -> None:
    totals, counts = np.arange(10.0).reshape(5, 2), np.full((5, 2), 10.0)
    np.random.seed(7)
    random.seed(7)
    before = np.random.get_state()[1].copy(), random.getstate()
    first, second = (stats.bootstrap(totals, counts, 100) for _ in range(2))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, stats.bootstrap(totals, counts, 100, seed=1))
    assert np.array_equal(before[0], np.random.get_state()[1])
    assert before[1] == random.getstate()


def test_a_resample_without_a_row_of_a_cell_is_nan() -> None:
    counts = np.array([[5.0, 1.0], [5.0, 0.0]])
    means = stats.bootstrap(counts / 2, counts, 200)
    assert not np.isnan(means[:, 0]).any()
    assert 0 < np.isnan(means[:, 1]).sum() < 200


@pytest.mark.slow
@pytest.mark.parametrize(("clusters", "rows", "least"), [(10, 84, 0.92), (10, 30, 0.92), (50, 10, 0.93)])
def test_the_interval_covers_what_it_says_and_the_naive_one_does_not(clusters: int, rows: int, least: float) -> None:
    generator = np.random.default_rng(0)
    covered = naive = 0
    for _ in range(2000):
        sizes = generator.integers(rows // 2, rows * 3 // 2, clusters)
        groups = np.repeat(np.arange(clusters), sizes)
        shares = np.clip(0.6 + generator.normal(0, 0.1, clusters), 0.01, 0.99)
        values = (generator.random(len(groups)) < shares[groups]).astype(float)
        found = stats.mean_interval(values, groups)
        covered += found.lo <= 0.6 <= found.hi
        plain = stats.mean_interval(values, np.arange(len(values)))
        naive += plain.lo <= 0.6 <= plain.hi
    assert covered / 2000 >= least
    if rows > 50:
        assert naive / 2000 < 0.75
