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
from himga_eval.metrics._sentences import UNCLEAR, end_in, find_ending, sentences
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
_ODD_SPACE = re.compile("[\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")


class Dependent:
    """A chunk whose words depend on its place."""

    __slots__ = ("chunk", "ending", "words")

    def __init__(self, chunk: str) -> None:
        self.chunk = chunk
        self.ending = find_ending(chunk)
        self.words: dict[tuple[str, int, str], Words] = {}

    def words_in(self, before: str, end: int, after: str) -> Words:
        """Split the chunk between these neighbours, with the end of a sentence after so many characters."""
        place = before, end, after
        words = self.words.get(place)
        if words is None:
            if 0 < end < len(self.chunk):
                words = _split(before, self.chunk[:end], "") + _split("", self.chunk[end:], after)
            else:
                words = _split(before, self.chunk, after)
            self.words[place] = words
        return words


def words(text: str, chunks: list[str]) -> list[str]:
    """Split a lower-cased text, given also as its chunks, into words and signs."""
    found = list(map(_WORDS.__getitem__, chunks))
    if Dependent in map(type, found) and not _settle(text, chunks, found):
        return [word for sentence in sentences(text) for word in _treebank.words(sentence)]
    return list(chain.from_iterable(found))  # type: ignore[arg-type]  # all are words now


def _settle(text: str, chunks: list[str], found: list[Words | Dependent]) -> bool:
    """Put words in place of the chunks that depend on what is around them; False where that takes the whole text."""
    one_space = " ".join(chunks) == text
    if not one_space and _ODD_SPACE.search(text):
        return False
    spaces: list[str] = []
    start = 0  # of the sentence
    for at, item in enumerate(found):
        if type(item) is not Dependent:
            continue
        chunk = item.chunk
        following = chunks[at + 1] if at + 1 < len(chunks) else None
        end = end_in(chunk, item.ending, following)
        last = following is None or end == len(chunk)
        if end == UNCLEAR or (last and chunk[0] in CLOSERS and at > start and _closes_period(chunk, chunks[at - 1])):
            return False
        before = "" if at == start else "x "
        after = "" if last else " x"
        if not one_space and (at == 0 or chunk[0] in "\"'" or chunk[-1] == "'"):
            spaces = spaces or _CHUNK.split(text)
            if spaces[at] and (before or at == 0):
                before = "x " if spaces[at][-1] == " " else "x\n"
            if after and spaces[at + 1][0] != " ":
                after = "\nx"
        found[at] = item.words_in(before, end, after)
        if end == len(chunk):
            start = at + 1
    return True


def _closes_period(chunk: str, previous: str) -> bool:
    """Tell whether a chunk makes the period of the one before the last of the sentence."""
    return not chunk.strip(CLOSERS) and previous.rstrip(CLOSERS)[-1:] in ("", ".")


def _words(chunk: str) -> Words | Dependent:
    """Split a chunk that gives the same words in any place."""
    if chunk.isalnum() and not _treebank.CONTRACTION.match(chunk):
        return (chunk,)
    return Dependent(chunk) if _DEPENDS.search(chunk) else _split("x ", chunk, " x")


def _split(before: str, chunk: str, after: str) -> Words:
    """Split a chunk between its neighbours: an x and a space or line break, or nothing where a sentence ends."""
    found = _treebank.words(before + chunk + after)
    return tuple(found[bool(before) : len(found) - bool(after)])


_WORDS: Memo[Words | Dependent] = Memo(_words)
