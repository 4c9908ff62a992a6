"""A file of answers under our names: columns chosen, texts and numbers brought to their types."""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from himga_eval.errors import InputError, RunFileError
from himga_eval.formats.columns import as_text, stack
from himga_eval.formats.files import read_table
from himga_eval.formats.layouts import Layout, recognise, split_models
from himga_eval.formats.names import choose, fold
from himga_eval.schema import RESULTS
from himga_eval.values import cast

NOTHING = dict.fromkeys(("", "nan", "none", "null"), None)
"""The words that stand for no number."""

SCORES = {
    **dict.fromkeys(("true", "yes", "correct", "right", "pass"), "1"),
    **dict.fromkeys(("false", "no", "wrong", "incorrect", "fail"), "0"),
    **NOTHING,
}
"""The words that stand for a score in published files, or for none."""

NO_ERROR = {"": None, "false": None}


def read_answers(path: str | Path) -> pl.DataFrame:
    """Read a file of answers as it stands, under our names: a row an answer, in the file's order.

    A published layout (LAYOUTS, and LoCoMo's own `*_qa.json`) is recognised before another name of a column is tried
    (NAMES). Labels and scores arrive as `published_*`, numbers where they can be read as such. Question types are the
    file's own words. `run` is the file's stem where the file does not say; of several models, stem:model. Other columns
    are as they are.

    Raises:
        RunFileNotFound: no such file.
        RunFileError: it cannot be read, or has no column of answers, or two; says what it has and what is read.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise RunFileError(f"a file of answers is given by its path, not by a {type(path).__name__}")
    path = Path(path)
    table = read_table(path)
    models = split_models(table)
    if not models:
        return _named(table, path, path.stem)
    several = len(models) > 1
    return stack(
        [_named(part, path, f"{path.stem}:{model}" if several else path.stem) for model, part in models.items()]
    )


def _named(table: pl.DataFrame, path: Path, run: str) -> pl.DataFrame:
    layout = recognise(table.columns)
    chosen = choose(table.columns, _given(layout, table), path)
    columns = [_typed(table[theirs], ours, path) for ours, theirs in chosen.items()]
    answers = pl.DataFrame([*columns, *table.drop(*chosen.values())])
    if layout and layout.judgements:
        answers = _with_judgements(answers, layout.judgements)
    if layout and layout.dataset and not {"dataset", "question_type"} & set(answers.columns):
        answers = answers.with_columns(dataset=pl.lit(layout.dataset))
    old = [pl.col("run")] if "run" in answers.columns else []
    answers = answers.with_columns(run=pl.coalesce(*old, pl.lit(run)))
    known = [name for name in RESULTS if name in answers.columns]
    return answers.select(*known, pl.exclude(known))


def _given(layout: Layout | None, table: pl.DataFrame) -> Mapping[str, str]:
    if layout is None:
        return {}
    there = set(table.columns)
    return {ours: theirs for ours, theirs in layout.columns.items() if theirs in there and ours not in there}


def _typed(column: pl.Series, ours: str, path: Path) -> pl.Series:
    """Bring a column of the file to the type of ours."""
    wanted = RESULTS.get(ours)
    try:
        if wanted is None:
            typed = _score(column)
        elif wanted == pl.List:
            typed = _list(column, wanted)
        elif wanted == pl.String:
            typed = as_text(column).replace(NO_ERROR) if ours == "error" else as_text(column)
        else:
            numbers = _finite(cast(_words(column), pl.Float64()))
            typed = cast(numbers / 1000 if fold(column.name).endswith("_ms") else numbers, wanted)
    except InputError as error:
        raise RunFileError(f"{path}: {error} (rows are counted from 0)") from None
    return typed.alias(ours)


def _score(column: pl.Series) -> pl.Series:
    """Read labels or scores as numbers where every one can be, else leave them as they are."""
    if not (column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.String)):
        return column
    words = _words(column).replace(SCORES) if column.dtype == pl.String else column
    numbers = _finite(words.cast(pl.Float64, strict=False))
    return numbers if numbers.null_count() == words.null_count() else column


def _words(column: pl.Series) -> pl.Series:
    """Fold the case and space around texts, and null those that stand for nothing; numbers are left alone."""
    if column.dtype != pl.String:
        return column
    return column.str.strip_chars().str.to_lowercase().replace(NOTHING)


def _finite(numbers: pl.Series) -> pl.Series:
    return numbers.set(~numbers.is_finite(), None)


def _list(column: pl.Series, wanted: pl.DataType) -> pl.Series:
    """Read a list of ids, which a CSV file has as text: `['D1:3', 'D2:4']` or `D1:3; D2:4`."""
    if column.dtype.is_nested():
        return cast(column, wanted)
    lists = [None if text is None else _ids(text) for text in as_text(column)]
    return pl.Series(column.name, lists, dtype=wanted)


def _ids(text: str) -> list[str]:
    if text.lstrip().startswith("["):
        for parse in (json.loads, ast.literal_eval):
            try:
                return [str(item) for item in parse(text.strip())]
            except (ValueError, SyntaxError):
                continue
    return [part for part in re.split(r"[;,\s]+", text) if part]


def _with_judgements(answers: pl.DataFrame, prefix: str) -> pl.DataFrame:
    """Name several judgements of a row published_judge_score_1, _2, ...; their mean is published_judge_score."""
    theirs = [name for name in answers.columns if name.startswith(prefix)]
    singles = [_score(answers[name]).alias(f"published_judge_score_{i}") for i, name in enumerate(theirs, 1)]
    if not singles:
        return answers
    mean = pl.mean_horizontal(singles).alias("published_judge_score")
    return answers.drop(theirs).with_columns(mean, *singles)
