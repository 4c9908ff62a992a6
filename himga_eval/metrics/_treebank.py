"""The words of a sentence as nltk 3.9.4's NLTKWordTokenizer splits them, for lower-cased text.

The rules are those of the Penn Treebank and of R. MacIntyre's contractions. Each pads what it finds with spaces; the
words are what whitespace separates in the end. Their order matters: a quote opens after a space, which an earlier rule
may have put there.
"""

from __future__ import annotations

import re

PAD = r" \g<0> "

# The signs that a rule is about, what it finds, and what it puts there.
BEFORE_SPACING = [
    # quotes that open
    ("«“‘„`", r"[«“‘„]|``?", PAD),
    ('"', r'^"', " `` "),
    ("\"'", r"(?<=[ (\[{<])(?:\"|'')", " `` "),
    ("'", r"(?i)'(?!re|ve|ll|m|t|s|d|n)(?=\w\b)", "' "),
    # the period of the sentence, with the quotes and brackets that close after it
    (".", r"([^.])\.([\])}>\"'»”’ ]*)\s*$", r"\1 . \2 "),
    # a colon or comma, unless a digit follows; it takes the next character along
    (":,", r"([:,])(\D)", r" \1 \2"),
    (":,", r"[:,]$", PAD),
    (".", r"\.{2,}", PAD),
    (";@#$%&?!‒–—―", r"[;@#$%&?!‒-―]", PAD),
    ("'", r"([^'])' ", r"\1 ' "),
    ("*][(){}<>»”’-", r"[*\][(){}<>»”’]|--", PAD),
    # quotes that close
    ("\"'", r"''|\"", " '' "),
]
AFTER_SPACING = [
    ("'", r"([^' ])('[smd]?) ", r"\1 \2 "),
    ("'", r"([^' ])('ll|'re|'ve|n't) ", r"\1 \2 "),
    (
        "cdglmw",
        r"(?i)\b(can(?=not)|d(?='ye)|gim(?=me)|gon(?=na)|got(?=ta)|lem(?=me)|more(?='n)|wan(?=na\s))"
        r"(not|'ye|me|na|ta|'n)\b",
        r" \1 \2 ",
    ),
    ("'", r"(?i) ('t)(is)\b", r" \1 \2 "),
    ("'", r"(?i) ('t)(was)\b", r" \1 \2 "),
]

CONTRACTION = re.compile(r"(?i)cannot|gimme|gonna|gotta|lemme|wanna")
"""The contractions of letters only."""

_RULES = [
    [(frozenset(signs), re.compile(pattern).sub, by) for signs, pattern, by in rules]
    for rules in (BEFORE_SPACING, AFTER_SPACING)
]


def words(sentence: str) -> list[str]:
    """Split a lower-cased sentence into words and signs."""
    signs = set(sentence)
    for rules in _RULES:
        for about, replace, by in rules:
            if not about.isdisjoint(signs):
                sentence = replace(by, sentence)
        sentence = f" {' '.join(sentence.split())} "
    return sentence.split()
