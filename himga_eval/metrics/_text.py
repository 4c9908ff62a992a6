"""What all lexical metrics share: memory of what was computed once, and the tables beside this module."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

TABLES = Path(__file__).with_name("tables")

V = TypeVar("V")


class Memo(dict[str, V]):
    """A dictionary that computes what it lacks.

    It lives as long as the process and is shared by threads: entries are only ever added, each the same whoever
    computes it. When it is full it starts anew. Long keys are computed each time; real words are short.
    """

    def __init__(self, compute: Callable[[str], V], *, entries: int = 200_000, key_length: int = 100) -> None:
        super().__init__()
        self.compute = compute
        self.entries = entries
        self.key_length = key_length

    def __missing__(self, key: str) -> V:
        value = self.compute(key)
        if len(key) <= self.key_length:
            if len(self) >= self.entries:
                self.clear()
            self[key] = value
        return value
