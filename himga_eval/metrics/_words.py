"""The words of a lower-cased text, as nltk 3.9.4's word_tokenize gives them, chunk by chunk.

A chunk is what stands between whitespace. Most chunks give the same words wherever they stand, and are split once in
the life of the process. The others depend on where sentences end and on the whitespace beside a quote; they are split
once in each such place. The little that depends on more is split text by text.
"""

from __future__ import annotations

import re
from itertools import chain

from himga_eval.metrics import _treebank
from himga_eval.metrics._punkt import NON_WORD
from himga_eval.metrics._sentences import UNCLEAR, end_in, sentences
from himga_eval.metrics._text import Memo

Words = tuple[str, ...]

CLOSERS = "])}>\"'»”’"
"""The signs that may follow the period of a sentence."""

_DEPENDS = re.compile(
    rf"[.?!](?:\Z|{NON_WORD})"  # a sentence may end here
    rf"|(?:^|\.)[{re.escape(CLOSERS)}]*\Z"  # the period of a sentence, or what closes after it
    r"|^\"|^''|'\Z"  # signs that look at their neighbours
)
_CHUNK = re.compile(r"\S+")
_ODD_SPACE = re.compile(r"[^\S \t\n\r\x0b\x0c]")


def words(text: str, chunks: list[str]) -> list[str]:
    """Split a lower-cased text, given also as its chunks, into words and signs."""
    found = list(map(_WORDS.__getitem__, chunks))
    if None in found and not _settle(text, chunks, found):
        return [word for sentence in sentences(text) for word in _treebank.words(sentence)]
    return list(chain.from_iterable(found))  # type: ignore[arg-type]  # none is None now


def _settle(text: str, chunks: list[str], found: list[Words | None]) -> bool:
    """Fill in the words of chunks that depend on their place; False where that takes the whole text."""
    spaces = ["", *[" "] * (len(chunks) - 1), ""]
    if " ".join(chunks) != text:
        if _ODD_SPACE.search(text):
            return False
        spaces = _CHUNK.split(text)
    start = 0  # of the sentence
    for at in [at for at, words in enumerate(found) if words is None]:
        chunk = chunks[at]
        following = chunks[at + 1] if at + 1 < len(chunks) else None
        end = end_in(chunk, following)
        last = following is None or end == len(chunk)
        if end == UNCLEAR or (last and at > start and _closes_after_period(chunk, chunks[at - 1])):
            return False
        before, after = "", ""
        if at != start or (at == 0 and spaces[0]):
            before = "x " if spaces[at][-1] == " " else "x\n"
        if not last:
            after = " x" if spaces[at + 1][0] == " " else "\nx"
        if 0 < end < len(chunk):
            found[at] = _IN_PLACE[before + chunk[:end]] + _IN_PLACE[chunk[end:] + after]
        else:
            found[at] = _IN_PLACE[before + chunk + after]
        if end == len(chunk):
            start = at + 1
    return True


def _closes_after_period(chunk: str, previous: str) -> bool:
    """Tell whether a chunk would make the period of the one before the last of the sentence."""
    return not chunk.strip(CLOSERS) and previous.rstrip(CLOSERS)[-1:] in ("", ".")


def _words(chunk: str) -> Words | None:
    """Split a chunk that gives the same words in any place."""
    if chunk.isalnum() and not _treebank.CONTRACTION.match(chunk):
        return (chunk,)
    return None if _DEPENDS.search(chunk) else _in_place(f"x {chunk} x")


def _in_place(place: str) -> Words:
    """Split a chunk that has an x before it unless it begins a sentence, and after it unless it ends one."""
    found = _treebank.words(place)
    return tuple(found[place.startswith(("x ", "x\n")) : len(found) - place.endswith((" x", "\nx"))])


_WORDS = Memo(_words)
_IN_PLACE = Memo(_in_place)
