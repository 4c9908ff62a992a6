"""Every error of the package, in one tree.

::

    HimgaEvalError
    ├── InputError (ValueError)            a frame, list or argument that cannot be used as it is
    │   ├── UnknownName                    a name that does not exist; lists those that do
    │   │   ├── UnknownMetric
    │   │   ├── UnknownQuestionType
    │   │   └── UnknownDataset
    │   ├── DuplicateRows                  the same question answered twice in one run
    │   ├── Incomparable                   runs whose scores do not mean the same thing
    │   └── RunFileError                   a file of answers that cannot be read or joined
    │       └── RunFileNotFound (FileNotFoundError)
    ├── DatasetError (ValueError)          a data set that is not what it says it is
    │   └── DatasetNotFound (FileNotFoundError)
    ├── MissingExtra (ImportError)         an optional dependency is not installed
    ├── ModelError (RuntimeError)          a local model that cannot be loaded
    ├── LLMError (RuntimeError)            a call to a language model that failed for good
    ├── JudgeError (RuntimeError)          answers that could not be judged; what was judged is kept
    ├── AgentError (RuntimeError)          the agent raised; what it answered is kept
    └── StoreError (RuntimeError)          a DuckDB file that cannot be used
        ├── StoreLocked                    another process holds it
        └── RunExists                      a stored run of that name has other answers

    DatasetWarning (UserWarning)           a data set that is usable, but not what one may think
    RunWarning (UserWarning)               a run that is usable, but not what one may think

A message says what was wrong, with the values; what exists; and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any


class HimgaEvalError(Exception):
    """Whatever this package raises on purpose."""


class InputError(HimgaEvalError, ValueError):
    """A frame, list or argument that cannot be used as it is."""


class UnknownName(InputError):
    """A name that does not exist; the message has the nearest one and all that do."""

    kind = "name"

    def __init__(self, name: object, known: Iterable[str], hint: str = "") -> None:
        self.name = name
        self.known = tuple(known)
        near = get_close_matches(str(name).lower(), [k.lower() for k in self.known], n=1)
        meant = next((k for k in self.known if near and k.lower() == near[0]), None)
        nearest = f" did you mean {str(meant)!r}?" if meant else ""
        parts = [f"no {self.kind} {name!r}", f"{nearest} known: {', '.join(self.known) or 'none'}".strip()]
        super().__init__("; ".join([*parts, hint] if hint else parts))


class UnknownMetric(UnknownName):
    """A metric that is not in the catalogue."""

    kind = "metric"


class UnknownQuestionType(UnknownName):
    """A question type that LoCoMo and LongMemEval do not have."""

    kind = "question type"


class UnknownDataset(UnknownName):
    """A data set that cannot be loaded by name."""

    kind = "data set"


class DuplicateRows(InputError):
    """The same question answered twice in one run."""


class Incomparable(InputError):
    """Runs whose scores do not mean the same thing; the message lists why."""


class RunFileError(InputError):
    """A file of answers that cannot be read or joined."""


class RunFileNotFound(RunFileError, FileNotFoundError):
    """A file of answers that is not there."""


class RunWarning(UserWarning):
    """A run that is usable, but not what one may think: answers absent, other golds, other names of types."""


class DatasetError(HimgaEvalError, ValueError):
    """A data set that is not what it says it is."""


class DatasetNotFound(DatasetError, FileNotFoundError):
    """A data set that is neither on disk nor to be had."""


class DatasetWarning(UserWarning):
    """A data set that is usable, but not what one may think: other counts, types left out."""


class MissingExtra(HimgaEvalError, ImportError):
    """An optional dependency is not installed."""


class ModelError(HimgaEvalError, RuntimeError):
    """A local model that cannot be loaded."""


class LLMError(HimgaEvalError, RuntimeError):
    """A call to a language model that failed for good."""


class JudgeError(HimgaEvalError, RuntimeError):
    """Answers that could not be judged; what was judged is kept, and in `judgements`."""

    judgements: Any = None


class AgentError(HimgaEvalError, RuntimeError):
    """The agent raised; what it answered so far is in `results`."""

    results: Sequence[object] = ()


class StoreError(HimgaEvalError, RuntimeError):
    """A DuckDB file that cannot be used."""


class StoreLocked(StoreError):
    """Another process holds the file."""


class RunExists(StoreError):
    """A stored run of that name has other answers."""


def listed(values: Sequence[object], limit: int = 5) -> str:
    """Join the first few values for a message, and say how many are left out."""
    shown = ", ".join(str(v) for v in values[:limit])
    return shown if len(values) <= limit else f"{shown}, … ({len(values) - limit} more)"
