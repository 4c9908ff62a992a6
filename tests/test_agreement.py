"""Agreement against truescore, statsmodels and the labels of people."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from himga_eval.agreement import AGREEMENT, agreement, kappa
from himga_eval.errors import InputError


def frame(first: list[object], second: list[object], **columns: list[object]) -> pl.DataFrame:
    return pl.DataFrame({"judge": first, "human": second, **columns}, strict=False)


def test_people_and_a_judge_on_real_answers(shared: Path) -> None:
    labels = pl.read_csv(shared / "data/mnemoverse_validation54.csv")
    found = agreement(labels, "golden_v2", "human", by="category", cluster="conv_index")
    assert found.schema == AGREEMENT
    overall = found.row(by_predicate=pl.col("question_type") == "overall", named=True)
    assert round(overall["kappa"], 4) == 0.9098
    assert (overall["count"], overall["left_out"], overall["clusters"]) == (44, 10, 9)
    assert (overall["both_right"], overall["only_first"], overall["only_second"], overall["both_wrong"]) == (
        37,
        0,
        1,
        6,
    )
    assert overall["raw"] == pytest.approx(43 / 44)
    assert overall["kappa_lo"] < 0.85 < overall["kappa"] <= overall["kappa_hi"] <= 1
    assert set(found["question_type"]) == {"single-hop", "multi-hop", "temporal", "open-domain", "overall"}


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=2, max_size=60))
def test_kappa_is_truescores(pairs: list[tuple[int, int]]) -> None:
    oracle = pytest.importorskip("truescore.agreement")
    first, second = np.array(pairs).T
    found = kappa(first, second, np.arange(len(first)))
    if len({*first, *second}) == 1:
        assert found == (None, None, None)
    else:
        assert found.value == pytest.approx(oracle.cohen_kappa(first, second), abs=1e-12)


@pytest.mark.slow
def test_the_interval_is_that_of_fleiss_cohen_and_everitt() -> None:
    agree = pytest.importorskip("statsmodels.stats.inter_rater")
    generator = np.random.default_rng(3)
    first = generator.integers(0, 2, 4000)
    second = np.where(generator.random(4000) < 0.85, first, 1 - first)
    table = np.array([[((first == a) & (second == b)).sum() for b in (0, 1)] for a in (0, 1)])
    expected = agree.cohens_kappa(table)
    found = kappa(first, second, np.arange(4000))
    assert (found.hi - found.lo) / 2 == pytest.approx(1.9605 * expected.std_kappa, rel=0.002)


def test_clusters_widen_the_interval() -> None:
    first = np.repeat([1, 0, 1, 0, 1, 1], 50)
    second = np.repeat([1, 0, 1, 0, 0, 1], 50)  # one conversation is judged otherwise
    rows = kappa(first, second, np.arange(300))
    conversations = kappa(first, second, np.repeat(np.arange(6), 50))
    assert rows.value == conversations.value
    assert conversations.hi - conversations.lo > 3 * (rows.hi - rows.lo)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param([1, 0] * 20, [1, 0] * 20, (1.0, 0.8247, 1.0), id="all agree, which is no certainty"),
        pytest.param([1] * 10, [1] * 10, (None, None, None), id="only one label"),
        pytest.param([1], [0], (0.0, None, None), id="one row"),
    ],
)
def test_edges(first: list[int], second: list[int], expected: tuple[float | None, ...]) -> None:
    found = kappa(np.array(first), np.array(second), np.arange(len(first)))
    assert found == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    ("label", "code"),
    [
        *[pytest.param(word, 1, id=word) for word in ("CORRECT", " yes ", "True", "1", "0.8", "pass")],
        *[pytest.param(word, 0, id=word) for word in ("wrong", "No", "false", "0", "0.4")],
        *[pytest.param(word, None, id=word) for word in ("AMBIGUOUS", "?", "7")],
    ],
)
def test_labels_are_read_whatever_their_words(label: str, code: int | None) -> None:
    found = agreement(frame(["1", "1", "0"], [label, "1", "0"]), "judge", "human").row(0, named=True)
    assert found["left_out"] == (code is None)
    assert found["only_first"] == (code == 0)
    assert found["both_right"] == 1 + (code == 1)


def test_blank_labels_are_not_even_left_out() -> None:
    found = agreement(frame([1.0, 0.2, 0.0, None], ["right", "wrong", "", "right"]), "judge", "human").row(
        0, named=True
    )
    assert (found["count"], found["left_out"]) == (2, 0)


def test_rows_are_independent_where_no_sample_is_named() -> None:
    pairs = frame([1, 0, 1, 0], [1, 0, 0, 0])
    assert agreement(pairs, "judge", "human")["clusters"].to_list() == [4]
    of_two = pairs.with_columns(sample_id=pl.Series(["a", "a", "b", None]))
    assert agreement(of_two, "judge", "human")["clusters"].to_list() == [3]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        pytest.param(frame([1], [1]).drop("human"), "no column 'human'; the frame has: judge", id="column"),
        pytest.param(frame([1, None], [None, 1]), "not one row has both a judge and a human", id="no pair"),
    ],
)
def test_bad_input_is_told(labels: pl.DataFrame, message: str) -> None:
    with pytest.raises(InputError, match=message):
        agreement(labels, "judge", "human")
