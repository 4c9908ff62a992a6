"""The synonyms of a word in WordNet 3.0, as METEOR asks for them: single words in lower case."""

from __future__ import annotations

from functools import cache

import polars as pl

from himga_eval.metrics._text import TABLES, Memo

PARTS_OF_SPEECH = "nvar"

# What an inflected form may stand for, as WordNet's morphy tries it: part of speech, suffix, replacement.
_DETACHMENTS = """
n s, n ses s, n ves f, n xes x, n zes z, n ches ch, n shes sh, n men man, n ies y,
v s, v ies y, v es e, v es, v ed e, v ed, v ing e, v ing,
a er, a est, a er e, a est e
"""


@cache
def _detachments() -> dict[str, list[tuple[str, str]]]:
    """List part of speech and replacement by suffix."""
    rules: dict[str, list[tuple[str, str]]] = {}
    for rule in _DETACHMENTS.split(","):
        pos, suffix, *replacement = rule.split()
        rules.setdefault(suffix, []).append((pos, "".join(replacement)))
    return rules


@cache
def _table(name: str) -> dict[str, str]:
    """Read a table of words by part of speech and word in one: ndog."""
    table = pl.read_parquet(TABLES / f"{name}.parquet")
    return dict(zip((table["pos"] + table["word"]).to_list(), table["words"].to_list(), strict=True))


def load() -> None:
    """Read the tables now, rather than at the first word."""
    _table("synonyms"), _table("irregular")


def _synonyms(word: str) -> frozenset[str]:
    irregular, synonyms = _table("irregular"), _table("synonyms")
    bases = [pos + word for pos in PARTS_OF_SPEECH]
    regular = PARTS_OF_SPEECH
    for pos in PARTS_OF_SPEECH:
        if (forms := irregular.get(pos + word)) is not None:
            regular = regular.replace(pos, "")
            bases += [pos + form for form in forms.split()]
    for length in range(1, 5):
        for pos, replacement in _detachments().get(word[-length:], ()):
            if pos in regular and length <= len(word):
                bases.append(pos + word[:-length] + replacement)
    found = [synonyms[base] for base in bases if base in synonyms]
    return frozenset(" ".join(found).split()) if found else frozenset()


SYNONYMS = Memo(_synonyms)
"""The synonyms of a lower-cased word, for all parts of speech and base forms it may have."""
