"""Word and sentence boundaries, against nltk 3.9.4."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from himga_eval.metrics import _treebank
from himga_eval.metrics._sentences import sentences
from himga_eval.metrics._words import words

CHUNKS = re.findall(
    r"\S+",
    """
    mr. dr. u.s. ph.d. e.g. etc. inc.'s no. no.1 s.p.a. p.m., a. b. j. smith international administrators
    z-holiday go go. go.) (go.) "go." "go go" go." 'go' go.' go'. go.)--x “go.” go.” «go.» go.> *go.* go.--go
    --go what?! wow!! no! yes? ... .. . ? ! ?" ?' .' !') .'so. ?!x. " '' ' ) ( ] } -- - — “ ” ’ ` `` ``` `x `"x
    " "" ''x x'' x's' dogs' it's it's' don't can't. n't cannot gimme gonna gotta lemme more'n d'ye wanna 'tis
    'twas 'tis'twas cannot'tis well-cannot-do gımme a,, a:: , : foo: 10:30 2,000. 3.5 2023. 5. 1.) -5. x.y x.(a)
    3.(a) :) haha!!:) ſ 'ſ ϒ 𝐀b. né. @x $5 50% a&b; #1 * a*b
    """,
)
SPACES = [*[" "] * 8, "\n", "\n\n", "  ", "\t", "\r\n", "\x0b", "\u00a0", "\u2009", "\u202f", "\x1c", "\x85"]
CHARACTERS = "abcdesmt3 \n.,:;!?'\"`()[]{}<>«»“”‘’„-—–*@#$%&_ſı"


def joined(pieces: list[tuple[str, str]]) -> str:
    return "".join(chunk + space for chunk, space in pieces)


TEXTS = (
    st.lists(st.tuples(st.sampled_from(CHUNKS), st.sampled_from(SPACES)), max_size=9).map(joined)
    | st.text(CHARACTERS, max_size=16)
    | st.text(max_size=40)
).map(str.lower)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("he left. she stayed.", "he left . she stayed .", id="a-period-ends-a-sentence"),
        pytest.param("mr. smith left.", "mr. smith left .", id="not-that-of-an-abbreviation"),
        pytest.param("in 2023. then no.", "in 2023. then no .", id="not-that-of-a-number-before-a-small-letter"),
        pytest.param("b. smith; b. jones", "b. smith ; b. jones", id="nor-that-of-an-initial"),
        pytest.param('"go." he left', "`` go . '' he left", id="quotes-close-after-the-period"),
        pytest.param('she said\n"go"', "she said '' go ''", id="a-quote-after-a-line-break-does-not-open"),
        pytest.param("2019–2021—so", "2019 – 2021 — so", id="long-dashes-split"),
        pytest.param("'snake", "'snake", id="a-leading-quote-does-not"),
        pytest.param("i can't, i cannot", "i ca n't , i can not", id="contractions"),
        pytest.param("a,, b a,,", "a , , b a , ,", id="doubled-commas"),
        pytest.param("dogs' 'tis x's'", "dogs ' 't is x's '", id="apostrophes"),
        pytest.param("what?! (no.) yes", "what ? ! ( no . ) yes", id="several-signs"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_words(text: str, found: str) -> None:
    assert words(text, text.split()) == found.split()


@settings(max_examples=500)
@given(TEXTS)
@example("m.\n.'sb. x")
@example('.".!')
@example("5. ) x. ''")
def test_words_as_nltk_finds_them(nltk_data: None, text: str) -> None:
    from nltk import word_tokenize

    assert words(text, text.split()) == word_tokenize(text)


@settings(max_examples=200)
@given(TEXTS)
def test_sentences_as_nltk_cuts_them(nltk_data: None, text: str) -> None:
    from nltk import sent_tokenize

    assert sentences(text) == sent_tokenize(text)


@settings(max_examples=200)
@given(TEXTS)
def test_words_of_a_sentence_as_nltk_splits_them(text: str) -> None:
    from nltk.tokenize import NLTKWordTokenizer

    assert _treebank.words(text) == NLTKWordTokenizer().tokenize(text)


def test_a_text_is_split_the_same_whatever_was_split_before() -> None:
    texts = ['he said "go." then', 'he said\n"go." then', '"go."', "go.", "go. )", "so go. now", 'x "go."']
    first = [words(text, text.split()) for text in texts]
    assert [words(text, text.split()) for text in reversed(texts)] == first[::-1]
