"""The sentences of a lower-cased text, as nltk 3.9.4's sent_tokenize cuts them."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from himga_eval.metrics._punkt import NON_WORD, always_ends_sentence, has_break, tokens
from himga_eval.metrics._text import Memo

_CANDIDATE = re.compile(rf"[.?!](?=(?P<sign>{NON_WORD})|\s+(?P<word>\S+))")
_INNER_CANDIDATE = re.compile(rf"[.?!](?={NON_WORD})")
_CLOSERS = re.compile(r"[\"')\]}]+?(?:\s+|(?=--)|$)", re.MULTILINE)


def sentences(text: str) -> list[str]:
    """Cut a text into its sentences."""
    found = []
    moved = 0  # how much of this sentence belongs to the one before: the quotes and brackets that close
    for (start, end), (next_start, next_end) in pairwise([*_spans(text), (0, 0)]):
        begin = start + moved
        closers = _CLOSERS.match(text[next_start:next_end])
        moved = closers.end() if closers else 0
        stop = next_start + len(closers.group().rstrip()) if closers else end
        if begin < stop:
            found.append(text[begin:stop])
    return found


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of sentences that end at the sign itself, whatever closes after it."""
    start = 0
    for candidate, context in _candidates(text):
        if has_break(context):
            yield start, candidate.end()
            start = candidate.end() if candidate["sign"] else candidate.start("word")
    yield start, len(text.rstrip())


def _candidates(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Yield the signs that may end a sentence, each with its word and what follows; of those in one word, the last."""
    previous = None
    start = end = 0  # of the word before the sign
    for candidate in _CANDIDATE.finditer(text):
        before = text[end : candidate.start()]
        space = max(map(before.rfind, string.whitespace))
        word_start = end + space + 1 if space > 0 else start
        if previous and end <= word_start:
            yield previous
        start, end = word_start, candidate.start()
        previous = candidate, text[start : candidate.end("sign" if candidate["sign"] else "word")]
    if previous:
        yield previous


UNCLEAR = -1


class Ending(NamedTuple):
    """Where sentences may end in a chunk, which is what stands between whitespace of ASCII."""

    inside: int
    """After so many characters, by a sign with another sign after it and quotes and brackets that close; 0 if not."""
    outside: bool
    """Perhaps at the end instead, by a sign with whitespace after it."""
    always: bool
    """At the end, whatever follows."""


def find_ending(chunk: str) -> Ending:
    """Find where sentences may end in a chunk."""
    inner = [candidate.end() for candidate in _INNER_CANDIDATE.finditer(chunk)]
    outside = chunk[-1] in ".?!"
    if inner[:1] == [1] and len(inner) + outside > 1:  # at the first sign and at another
        return Ending(UNCLEAR, outside=False, always=False)
    inside = 0
    if inner and has_break(chunk[: inner[-1] + 1]):
        closers = _CLOSERS.match(chunk[inner[-1] :])
        inside = inner[-1] + (closers.end() if closers else 0)
    return Ending(
        inside,
        outside=outside,
        always=outside and (has_break(chunk) or always_ends_sentence(tokens(chunk)[-1])),
    )


def end_in(chunk: str, ending: Ending, following: str | None) -> int:
    """Return after how many characters of a chunk a sentence ends: 0 for nowhere, UNCLEAR where it takes the text.

    `ending` is that of the chunk, and `following` the next chunk of the text.
    """
    if following is None or not ending.outside:
        return ending.inside
    if not (ending.always or _ENDS_BEFORE[f"{chunk} {following}"]):
        return 0
    return UNCLEAR if _CLOSERS.match(following) else len(chunk)


_ENDS_BEFORE = Memo(has_break)
"""Whether a sentence ends at the end of a chunk, given with a space and the next chunk."""
