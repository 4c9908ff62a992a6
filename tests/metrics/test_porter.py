from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from himga_eval.metrics._porter import IRREGULAR, STEP_2, STEP_3, STEP_4, stem

ENDINGS = [
    *STEP_2,
    *STEP_3,
    *STEP_4,
    *["s", "es", "ies", "ied", "eed", "ed", "ing", "ating", "bling", "izing", "y", "e", "ll", "logi", "alli", "*ded"],
]


@pytest.mark.parametrize(
    ("word", "root"),
    [
        pytest.param("ponies", "poni", id="plural"),
        pytest.param("ties", "tie", id="four-letters-keep-the-e"),
        pytest.param("hopping", "hop", id="doubled-consonant"),
        pytest.param("falling", "fall", id="not-of-l-s-z"),
        pytest.param("filing", "file", id="e-restored"),
        pytest.param("enjoy", "enjoy", id="y-after-a-vowel-stays"),
        pytest.param("happily", "happili", id="one-suffix-a-step"),
        pytest.param("rationally", "ration", id="alli-first"),
        pytest.param("skies", "sky", id="irregular"),
        pytest.param("as", "as", id="two-letters"),
        pytest.param("müller's,", "müller's,", id="signs-and-accents"),
    ],
)
def test_stems(word: str, root: str) -> None:
    assert stem(word) == root


WORDS = st.builds(
    "".join,
    st.tuples(
        st.text("aeiouybcdlstzwx", max_size=6),
        st.lists(st.sampled_from(ENDINGS), max_size=3).map("".join),
        st.sampled_from(["", "", ".", "'s", "é"]),
    ),
) | st.text().map(str.lower)


@settings(max_examples=300)
@given(WORDS)
@example("yyy")
@example("a*ded")
def test_as_nltk_stems(word: str) -> None:
    from nltk.stem.porter import PorterStemmer

    assert stem(word) == PorterStemmer().stem(word)


def test_irregular_forms_are_nltks() -> None:
    from nltk.stem.porter import PorterStemmer

    assert PorterStemmer().pool == IRREGULAR
