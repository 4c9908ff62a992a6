"""The definitions that go by one metric's name, on the answers that tell them apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from himga_eval.metrics.catalog import ALL_METRICS
from himga_eval.metrics.variants import VARIANTS

F1 = VARIANTS["f1"]
PAIRS = [(metric, name) for metric, known in VARIANTS.items() for name, variant in known.items() if variant.pair]
TEXTS = st.text(st.sampled_from("ab ,.;'-Ü\n the and"), max_size=30)


def pair(metric: str, name: str, prediction: str, ground_truth: str) -> float:
    score = VARIANTS[metric][name].pair
    assert score is not None
    return score(prediction, ground_truth)


def test_every_metric_but_the_judge_has_variants() -> None:
    assert set(VARIANTS) == set(ALL_METRICS) - {"judge_score"}
    assert all(next(iter(known.values())).pair is None for known in VARIANTS.values())


@pytest.mark.parametrize(
    ("name", "prediction", "ground_truth", "expected"),
    [
        pytest.param("set", "no no no", "no yes", 2 / 3, id="set: a repeated token counts once"),
        pytest.param("squad", "no no no", "no yes", 2 / 5, id="squad: repeats count"),
        pytest.param("set", "the lake", "a lake", 0.5, id="set: articles count"),
        pytest.param("squad", "the lake", "a lake", 1.0, id="squad: articles do not"),
        pytest.param("squad", "tea and cake", "tea, cake", 0.8, id="squad: and counts"),
        pytest.param("stemmed", "tea and cake", "tea, cake", 1.0, id="stemmed: and does not"),
        pytest.param("stemmed", "running dogs", "a dog runs", 1.0, id="stemmed: stems"),
        pytest.param("stemmed", "Anna's", "annas", 1.0, id="stemmed: signs go without a gap"),
        pytest.param("word_set", "Anna's", "anna", 2 / 3, id="word_set: an apostrophe parts words"),
        pytest.param("set", "Anna's", "anna", 0.0, id="set: an apostrophe belongs to its word"),
        pytest.param("nltk_word_set", "tea, cake", "cake, bread", 2 / 3, id="nltk_word_set: a comma is a token"),
        pytest.param("nltk_word_set", "can't", "ca n't", 1.0, id="nltk_word_set: contractions are split"),
        pytest.param("stemmed_parts", "cake, tea", "tea, cake", 1.0, id="stemmed_parts: order of parts is free"),
        pytest.param("stemmed_parts", "cake", "tea, cake", 0.5, id="stemmed_parts: the mean over the golds"),
        pytest.param("stemmed_parts", "cake, tea, rum", "cake", 1.0, id="stemmed_parts: more answers cost nothing"),
        *(pytest.param(name, "", "tea", 0.0, id=f"{name}: blank answer") for name in F1 if F1[name].pair),
        *(pytest.param(name, "...", "...", 0.0, id=f"{name}: no token") for name in ("set", "squad", "word_set")),
    ],
)
def test_f1(name: str, prediction: str, ground_truth: str, expected: float) -> None:
    assert pair("f1", name, prediction, ground_truth) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "prediction", "ground_truth", "expected"),
    [
        pytest.param("squad", "The lake.", "lake", 1.0, id="squad: without article and sign"),
        pytest.param("squad", "tea cake", "cake tea", 0.0, id="squad: order counts"),
        pytest.param("token_sets", "tea and cake tea", "cake, tea", 1.0, id="token_sets: neither order nor repeats"),
        pytest.param("token_sets", "tea", "tea cake", 0.0, id="token_sets: a part is not equal"),
    ],
)
def test_exact_match(name: str, prediction: str, ground_truth: str, expected: float) -> None:
    assert pair("exact_match", name, prediction, ground_truth) == expected


def test_meteor_on_words_parts_the_comma_from_its_word() -> None:
    assert pair("meteor", "nltk_words", "tea, cake", "tea , cake") > 0.98


@pytest.mark.parametrize(("metric", "name"), PAIRS)
@settings(max_examples=50)
@given(prediction=TEXTS, ground_truth=TEXTS)
def test_scores_are_between_0_and_1(metric: str, name: str, prediction: str, ground_truth: str) -> None:
    assert 0 <= pair(metric, name, prediction, ground_truth) <= 1 + 1e-12


@pytest.mark.parametrize("name", [name for name in F1 if F1[name].pair and name != "stemmed_parts"])
@settings(max_examples=50)
@given(prediction=TEXTS, ground_truth=TEXTS)
def test_f1_is_symmetric(name: str, prediction: str, ground_truth: str) -> None:
    assert pair("f1", name, prediction, ground_truth) == pytest.approx(pair("f1", name, ground_truth, prediction))


@pytest.mark.parametrize(
    ("name", "mean"),
    [pytest.param("word_set", 0.5295, id="MemoryOS"), pytest.param("nltk_word_set", 0.4839, id="MemOS, nltk 3.9.4")],
)
def test_means_on_published_answers(shared: Path, name: str, mean: float) -> None:
    rows = oracle(shared)
    scores = [pair("f1", name, row["prediction"], row["ground_truth"]) for row in rows]
    assert sum(scores) / len(scores) == pytest.approx(mean, abs=5e-5)


@pytest.mark.parametrize("name", ["set", "squad"])
def test_f1_equals_the_oracle_in_every_row(shared: Path, name: str) -> None:
    gaps = [pair("f1", name, row["prediction"], row["ground_truth"]) - row[f"f1_{name}"] for row in oracle(shared)]
    assert max(map(abs, gaps)) <= 1e-9


def oracle(shared: Path) -> list[dict[str, object]]:
    lines = (shared / "oracles/memobase_0710_lexical.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]
