"""Whether a token ends a sentence, as nltk 3.9.4's Punkt with its English model decides, for lower-cased text.

The method is that of T. Kiss and J. Strunk, "Unsupervised Multilingual Sentence Boundary Detection", Computational
Linguistics 32 (2006). In lower-cased text only a part of the model can speak: the abbreviations, the collocations,
and the few words that it saw begin a sentence in lower case and never in upper case.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import NamedTuple

from himga_eval.metrics._text import TABLES

NON_WORD = r"[)\";}\]*:@'({\[?!]"
"""A character that no word contains."""

_RUN = r"(?:-{2,}|\.{2,}|(?:\.\s){2,}\.)"
_TOKEN = re.compile(
    rf"{_RUN}"
    rf"|[^\s(\"`{{\[:;&#*@)}}\]\-,]\S*?(?=\s|$|{NON_WORD}|{_RUN}|,(?=$|\s|{NON_WORD}|{_RUN}))"
    r"|\S"
)
_NUMBER = re.compile(r"-?[.,]?\d[\d,.-]*")
_INITIAL = re.compile(r"[^\W\d]\.")


class Model(NamedTuple):
    """Punkt's parameters, as far as they matter in lower-cased text."""

    abbreviations: frozenset[str]
    collocations: dict[str, frozenset[str]]
    """A word that has a period, and the words that then do not begin a sentence."""
    beginnings: frozenset[str]
    """Words that begin a sentence in lower case, and never in upper case."""


@cache
def model() -> Model:
    """Read the parameters."""
    table = json.loads((TABLES / "punkt.json").read_text("utf-8"))
    return Model(
        frozenset(table["abbreviations"]),
        {first: frozenset(seconds) for first, seconds in table["collocations"].items()},
        frozenset(table["beginnings"]),
    )


def tokens(text: str) -> list[str]:
    """Split a text into words, which keep their period, and signs."""
    return [token for line in text.split("\n") for token in _TOKEN.findall(line)]


def has_break(text: str) -> bool:
    """Tell whether a sentence ends anywhere before the last token."""
    found = tokens(text)
    return any(map(ends_sentence, found, found[1:]))


def ends_sentence(token: str, following: str) -> bool:
    """Tell whether a sentence ends between two tokens."""
    if not token.endswith("."):
        return _is_stop(token)
    kind = _kind(token)
    next_kind = _kind(following) if _is_stop(following) else _number_or_itself(following)
    if next_kind in model().collocations.get(kind, ()):
        return False
    initial = _INITIAL.fullmatch(token)
    if initial or kind == "##number##":
        if following in {".", ",", ";", ":", "!", "?"}:
            return False
        if following[0].islower() and next_kind not in model().beginnings:
            return False
        if initial and following[0].isupper():  # a capital that has no small letter
            return False
    return _is_stop(token)


def always_ends_sentence(token: str) -> bool:
    """Tell whether a sentence ends after a token whatever follows."""
    if not _is_stop(token):
        return False
    kind = _kind(token)
    doubtful = kind == "##number##" or kind in model().collocations or _INITIAL.fullmatch(token)
    return not (token.endswith(".") and doubtful)


def _is_stop(token: str) -> bool:
    """Tell whether a token ends a sentence as far as it can tell alone."""
    if token in {".", "?", "!"}:
        return True
    if not token.endswith(".") or token.endswith(".."):
        return False
    word = token[:-1]
    abbreviations = model().abbreviations
    return word not in abbreviations and word.rsplit("-", 1)[-1] not in abbreviations


def _number_or_itself(token: str) -> str:
    return "##number##" if _NUMBER.fullmatch(token) else token


def _kind(token: str) -> str:
    """Name what the model knows a token by: a number, or the word without its period."""
    kind = _number_or_itself(token)
    return kind[:-1] if kind.endswith(".") and len(kind) > 1 else kind
