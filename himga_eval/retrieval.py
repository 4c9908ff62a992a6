"""Retrieval metrics from what a memory gave back and where the evidence stands, as expressions.

The definitions are LongMemEval's (`src/retrieval/eval_utils.py`): an id counts once, at its first place, and nDCG
discounts the second place by log2(2), as the first is not discounted at all. Every metric is null where nothing was
recorded (`retrieved` is null), where there is nothing to find, and for questions that the history does not answer
(their id ends in `_abs`).

Ids are turns or sessions, as the data sets write them: LoCoMo's turns are `D1:3` and its sessions `session_1` or `D1`;
LongMemEval's turns are `<session>_<n>`. Ids of any other kind are taken for sessions. The evidence of a question may
name both. At the level "turn" turns are looked for; at the level "session" what was retrieved is brought to sessions
first, so that `k` counts sessions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import log2
from typing import Literal, TypeAlias

import polars as pl

from himga_eval.errors import InputError
from himga_eval.schema import Results, results_frame

Level: TypeAlias = Literal["turn", "session"]

LEVELS: tuple[Level, ...] = ("turn", "session")

Value: TypeAlias = float | int | bool | None

Counted: TypeAlias = Callable[[list[int], int], Value]
"""What is made of the places of the evidence in what was retrieved, from 0, and of how much evidence there is."""

Formula: TypeAlias = Callable[[int, list[int], int], float]
"""The same, of the first `k` retrieved."""

_LOCOMO = re.compile(r"(?:D|session_)(\d+)(:\d+)?", re.ASCII)


def recall_any(k: int, level: Level, *, retrieved: str = "retrieved", evidence: str = "evidence") -> pl.Expr:
    """Give 1 where any of the evidence is among the first `k` retrieved, else 0."""
    return _metric("recall_any", _any, k, level, retrieved, evidence)


def recall_all(k: int, level: Level, *, retrieved: str = "retrieved", evidence: str = "evidence") -> pl.Expr:
    """Give 1 where all of the evidence is among the first `k` retrieved, else 0."""
    return _metric("recall_all", _all, k, level, retrieved, evidence)


def ndcg(k: int, level: Level, *, retrieved: str = "retrieved", evidence: str = "evidence") -> pl.Expr:
    """Give the discounted gain of the evidence among the first `k` retrieved, as a share of the best there could be."""
    return _metric("ndcg", _ndcg, k, level, retrieved, evidence)


def mrr(k: int, level: Level, *, retrieved: str = "retrieved", evidence: str = "evidence") -> pl.Expr:
    """Give one over the place of the first evidence among the first `k` retrieved, 0 where there is none."""
    return _metric("mrr", _reciprocal, k, level, retrieved, evidence)


METRICS: dict[str, Callable[..., pl.Expr]] = {
    "recall_any": recall_any,
    "recall_all": recall_all,
    "ndcg": ndcg,
    "mrr": mrr,
}


def gold_rank(*, retrieved: str = "retrieved", evidence: str = "evidence") -> pl.Expr:
    """Give the place of the first evidence in what was retrieved, counted from 1; null where it is not there.

    Turns are looked for where the evidence names some, else sessions.
    """
    return _at_finest(lambda places, _: places[0] + 1 if places else None, retrieved, evidence, pl.Int64())


def had_evidence(*, retrieved: str = "retrieved", evidence: str = "evidence") -> pl.Expr:
    """Tell whether all of the evidence was retrieved; null where nothing was recorded, or there is nothing to find.

    Turns are looked for where the evidence names some, else sessions.
    """
    return _at_finest(lambda places, gold: len(places) == gold, retrieved, evidence, pl.Boolean())


def score_retrieval(results: Results, k: Sequence[int] = (5, 10)) -> pl.DataFrame:
    """Score retrieval of every row: the results frame with a column a metric, level and `k`.

    The columns are named `session_recall_any@5` and so on. The turn level of a run that retrieved sessions is null.

    Raises:
        InputError: no column retrieved or evidence, or a `k` below 1.
    """
    frame = results_frame(results)
    if missing := [name for name in ("retrieved", "evidence") if name not in frame.columns]:
        raise InputError(f"no column {' or '.join(missing)}: retrieval is scored from both; see BaseMemory.retrieved")
    turns = _per_row(
        lambda found, named: any(_is_turn(one, named) for one in found), "retrieved", "evidence", pl.Boolean()
    )
    at_turns = [metric(number, "turn") for number in k for metric in METRICS.values()]
    at_sessions = [metric(number, "session") for number in k for metric in METRICS.values()]
    return frame.with_columns(*(pl.when(turns.any().over("run")).then(one) for one in at_turns), *at_sessions)


def retrieval_columns(frame: pl.DataFrame) -> list[str]:
    """List the columns that `score_retrieval` made."""
    made = re.compile(rf"(?:{'|'.join(LEVELS)})_(?:{'|'.join(METRICS)})@\d+")
    return [name for name in frame.columns if made.fullmatch(name)]


def _metric(name: str, formula: Formula, k: int, level: Level, retrieved: str, evidence: str) -> pl.Expr:
    if k < 1:
        raise InputError(f"k={k}: it is how many of the retrieved are looked at, at least 1")
    value = _expression(partial(formula, k), level, retrieved, evidence, pl.Float64())
    abstention = pl.col("question_id").str.ends_with("_abs").fill_null(False)
    return pl.when(~abstention).then(value).alias(f"{level}_{name}@{k}")


def _any(k: int, places: list[int], gold: int) -> float:
    return float(any(place < k for place in places))


def _all(k: int, places: list[int], gold: int) -> float:
    return float(sum(place < k for place in places) == gold)


def _ndcg(k: int, places: list[int], gold: int) -> float:
    return _gain(place for place in places if place < k) / _gain(range(min(k, gold)))


def _reciprocal(k: int, places: list[int], gold: int) -> float:
    return 1 / (places[0] + 1) if places and places[0] < k else 0.0


def _gain(places: Iterable[int]) -> float:
    return sum(1 / log2(place + 1) if place else 1.0 for place in places)


def _at_finest(formula: Counted, retrieved: str, evidence: str, dtype: pl.DataType) -> pl.Expr:
    turns, sessions = (_expression(formula, level, retrieved, evidence, dtype) for level in LEVELS)
    names_turns = _per_row(lambda _, named: bool(_gold(named, "turn")), retrieved, evidence, pl.Boolean())
    return pl.when(names_turns).then(turns).otherwise(sessions)


def _expression(formula: Counted, level: Level, retrieved: str, evidence: str, dtype: pl.DataType) -> pl.Expr:
    """Make an expression of a formula over the places of the evidence and how much there is."""
    if level not in LEVELS:
        raise InputError(f"level={level!r}: it is one of {', '.join(LEVELS)}")

    def value(found: Sequence[str], named: Sequence[str]) -> Value:
        gold = _gold(named, level)
        if not gold:
            return None
        return formula([place for place, one in enumerate(_ranked(found, gold, level)) if one in gold], len(gold))

    return _per_row(value, retrieved, evidence, dtype)


def _per_row(
    value: Callable[[Sequence[str], Sequence[str]], Value], retrieved: str, evidence: str, dtype: pl.DataType
) -> pl.Expr:
    def rows(columns: Sequence[pl.Series]) -> pl.Series:
        pairs = zip(*(column.to_list() for column in columns), strict=True)
        return pl.Series(
            [None if found is None or not named else value(found, named) for found, named in pairs], dtype=dtype
        )

    return pl.map_batches([retrieved, evidence], rows, return_dtype=dtype, is_elementwise=True)


def _gold(named: Sequence[str], level: Level) -> set[str]:
    """The evidence of one level: the turns it names, or its sessions and those of its turns."""
    turns = {one for one in named if _is_turn(one, named)}
    if level == "turn":
        return turns
    return {_session(one) if one in turns else _folded(one) for one in named}


def _ranked(found: Sequence[str], gold: set[str], level: Level) -> list[str]:
    """What was retrieved, at the level of the gold, each once."""
    if level == "session":
        of_turns = not gold.intersection(found) and any(_session(one) in gold for one in found)
        found = [_session(one) if of_turns else _folded(one) for one in found]
    return list(dict.fromkeys(found))


def _is_turn(one: str, named: Sequence[str]) -> bool:
    """Tell LoCoMo's turns by their shape, others by their session, which is named too."""
    locomo = _LOCOMO.fullmatch(one)
    return bool(locomo[2]) if locomo else one != _session(one) in named


def _session(turn: str) -> str:
    return _folded(turn) if _LOCOMO.fullmatch(turn) else re.sub(r"_\d+$", "", turn)


def _folded(one: str) -> str:
    """Write a session or turn of LoCoMo as the session, and leave any other id."""
    locomo = _LOCOMO.fullmatch(one)
    return f"session_{locomo[1]}" if locomo else one
