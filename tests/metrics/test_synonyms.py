from __future__ import annotations

import random

import pytest

from himga_eval.metrics._synonyms import SYNONYMS


@pytest.mark.parametrize(
    ("word", "synonym"),
    [
        pytest.param("doctor", "physician", id="same-meaning"),
        pytest.param("dogs", "hound", id="plural"),
        pytest.param("went", "travel", id="irregular-form"),
        pytest.param("wolves", "wolf", id="regular-form"),
        pytest.param("abaci", "abacus", id="irregular-plural"),
        pytest.param("ice_cream", "icecream", id="words-joined-by-an-underscore"),
    ],
)
def test_synonyms(word: str, synonym: str) -> None:
    assert synonym in SYNONYMS[word]


@pytest.mark.parametrize("word", ["", "xyzzy", "the", "Москва", "s", "!?", "n"])
def test_words_without_synonyms_or_meaning_are_no_error(word: str) -> None:
    assert all(name == name.lower() and "_" not in name for name in SYNONYMS[word])


@pytest.mark.slow
def test_the_table_is_nltks_reader(nltk_data: None) -> None:
    from nltk.corpus import wordnet

    draw = random.Random(0)
    lemmas = sorted({name.lower() for name in wordnet.all_lemma_names()})
    irregular = sorted({form for forms in wordnet._exception_map.values() for form in forms})
    endings = ["s", "es", "ed", "ing", "er", "est", "ies", "ves", "men", "shes"]
    inflected = [word + ending for word in draw.sample(lemmas, 2_000) for ending in endings]
    cut = [word[:-1] + ending for word in draw.sample(lemmas, 2_000) for ending in endings]
    for word in [*draw.sample(lemmas, 20_000), *irregular, *inflected, *cut]:
        names = {name for synset in wordnet.synsets(word) for name in synset.lemma_names()}
        assert SYNONYMS[word] == {name for name in names if "_" not in name and name == name.lower()}, word
