"""The questions that answers are joined to, from whatever they are given as."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from himga_eval.data import Sample, questions_frame, read_questions
from himga_eval.errors import InputError, listed
from himga_eval.schema import results_frame, to_polars

if TYPE_CHECKING:
    import pandas as pd

Questions: TypeAlias = "Sequence[Sample] | pl.DataFrame | pl.LazyFrame | pd.DataFrame | str | Path"
"""Samples, a frame of questions, or the path of a data set's file."""

NEEDED = ("question_id", "ground_truth")


def asked_frame(questions: Questions) -> pl.DataFrame:
    """Bring questions to a frame with question_id, sample_id, ground_truth and what else is known of them.

    A question without a sample is its own. Columns that hold nothing are left out.

    Raises:
        InputError: not questions, none, or one that stands twice.
        DatasetError: the file is no data set's.
    """
    frame = _frame(questions)
    if missing := [name for name in NEEDED if name not in frame.columns]:
        raise InputError(f"the questions have no column {', '.join(missing)}; they have: {', '.join(frame.columns)}")
    if frame.is_empty():
        raise InputError("there are no questions to join the answers to")
    asked = results_frame(frame.with_columns(prediction=pl.lit(None, pl.String))).drop("run", "prediction")
    if "sample_id" not in asked.columns:
        asked = asked.with_columns(sample_id="question_id")
    key = ["sample_id", "question_id"]
    if asked.select(pl.any_horizontal(pl.col(key).is_null()).any()).item():
        raise InputError("a question of the data set has no question_id or sample_id")
    if twice := asked.filter(pl.struct(key).is_duplicated())["question_id"].unique(maintain_order=True).to_list():
        raise InputError(f"questions of the data set stand twice: {listed(twice)}")
    return asked.drop(c.name for c in asked if c.null_count() == asked.height and c.name not in NEEDED)


def _frame(questions: Any) -> pl.DataFrame:
    if isinstance(questions, (str, Path)):
        return read_questions(questions)
    frame = to_polars(questions)
    if frame is not None:
        return frame
    if isinstance(questions, Sequence) and all(isinstance(sample, Sample) for sample in questions):
        return questions_frame(questions)
    raise InputError(
        "questions are a list of Sample, a frame of questions or the path of a data set's file, "
        f"not a {type(questions).__name__}: {questions!r:.80}"
    )
