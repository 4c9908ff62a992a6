"""The words of a sentence as nltk 3.9.4's NLTKWordTokenizer splits them, for lower-cased text.

The rules are those of the Penn Treebank and of R. MacIntyre's contractions; each pads what it finds with
spaces, and the words are what whitespace separates in the end. Their order matters: an opening quote is one
after a space, which an earlier rule may have put there.
"""

from __future__ import annotations

import re

PAD = r" \g<0> "

BEFORE_SPACING = [
    # quotes that open
    (r"[«“‘„]|``?", PAD),
    (r'^"', " `` "),
    (r"(?<=[ (\[{<])(?:\"|'')", " `` "),
    (r"(?i)'(?!re|ve|ll|m|t|s|d|n)(?=\w\b)", "' "),
    # the period of the sentence, with the brackets and quotes that close after it
    (r"([^.])\.([\])}>\"'»”’ ]*)\s*$", r"\1 . \2 "),
    # a colon or comma, unless a digit follows; it takes the next character with it
    (r"([:,])(\D)", r" \1 \2"),
    (r"[:,]$", PAD),
    (r"\.{2,}", PAD),
    (r"[;@#$%&?!‒-―]", PAD),
    (r"([^'])' ", r"\1 ' "),
    (r"[*\][(){}<>»”’]|--", PAD),
    # quotes that close
    (r"''|\"", " '' "),
]

AFTER_SPACING = [
    (r"([^' ])('[smd]?) ", r"\1 \2 "),
    (r"([^' ])('ll|'re|'ve|n't) ", r"\1 \2 "),
    (
        r"(?i)\b(can(?=not)|d(?='ye)|gim(?=me)|gon(?=na)|got(?=ta)|lem(?=me)|more(?='n)|wan(?=na\s))"
        r"(not|'ye|me|na|ta|'n)\b",
        r" \1 \2 ",
    ),
    (r"(?i) ('t)(is)\b", r" \1 \2 "),
    (r"(?i) ('t)(was)\b", r" \1 \2 "),
]

CONTRACTION = re.compile(r"(?i)cannot|gimme|gonna|gotta|lemme|wanna")
"""The contractions of letters only."""

_BEFORE_SPACING = [(re.compile(pattern).sub, by) for pattern, by in BEFORE_SPACING]
_AFTER_SPACING = [(re.compile(pattern).sub, by) for pattern, by in AFTER_SPACING]


def words(sentence: str) -> list[str]:
    """Split a lower-cased sentence into words and signs."""
    for replace, by in _BEFORE_SPACING:
        sentence = replace(by, sentence)
    sentence = f" {' '.join(sentence.split())} "
    for replace, by in _AFTER_SPACING:
        sentence = replace(by, sentence)
    return sentence.split()
