"""Read a run from the files people have, and join it to the questions of a data set."""

from __future__ import annotations

import warnings
from pathlib import Path

import polars as pl

from himga_eval.errors import RunWarning
from himga_eval.formats.answers import read_answers
from himga_eval.formats.join import join_run
from himga_eval.formats.match import drop_failures
from himga_eval.formats.questions import Questions
from himga_eval.formats.report import JoinReport
from himga_eval.formats.types import with_official_types
from himga_eval.schema import require_unique, results_frame

__all__ = ["JoinReport", "Questions", "join_run", "read_answers", "read_run"]


def read_run(path: str | Path, questions: Questions | None = None) -> pl.DataFrame:
    """Read a file of answers as the results frame, joined to the questions of its data set where they are given.

    JSONL, JSON, CSV and Parquet are read, with our columns or the usual other names (`read_answers`), and the published
    layouts. With `questions` every question has a row (`join_run`). Without them types, golds and ids are the file's:
    LoCoMo's numbers get their official names, a group of answers is a sample, and an answer without an id is
    `<sample>:<position>`; a failed row does not count where there is another for the same question.

    Warns:
        RunWarning: answers or questions are without the other, golds or types differ, there is no gold at all.

    Raises:
        RunFileNotFound: no such file.
        RunFileError: it cannot be read, or has no answers; says where.
        DuplicateRows: a question is answered twice.
    """
    answers = read_answers(path)
    if questions is None:
        return _as_it_is(answers, Path(path))
    results, reports = join_run(answers, questions)
    for report in reports:
        if report.findings:
            warnings.warn("\n  ".join([f"{path}, run {report.run!r}:", *report.findings]), RunWarning, stacklevel=2)
    return results


def _as_it_is(answers: pl.DataFrame, path: Path) -> pl.DataFrame:
    if "ground_truth" not in answers.columns:
        message = (
            f"{path} has no gold answers, so there is nothing to score against; give the questions of its data set"
        )
        warnings.warn(message, RunWarning, stacklevel=3)
        answers = answers.with_columns(ground_truth=pl.lit(None, pl.String))
    answers = _with_ids(with_official_types(answers))
    answers = drop_failures(answers, ["run", "sample_id", "question_id"], pl.lit(1))
    results = results_frame(answers)
    require_unique(results)
    return results


def _with_ids(answers: pl.DataFrame) -> pl.DataFrame:
    """Give answers an id where they have none, and a sample: the group, what stands before the colon, or themselves."""

    def given(name: str) -> pl.Expr:
        return pl.col(name) if name in answers.columns else pl.lit(None, pl.String)

    group, position = given("sample_id"), pl.int_range(pl.len())
    positions = (
        pl.when(group.is_null())
        .then(position.over("run").cast(pl.String))
        .otherwise(pl.format("{}:{}", group, position.over("run", group)))
    )
    answers = answers.with_columns(question_id=pl.coalesce(given("question_id"), positions))
    own = pl.col("question_id").str.replace(r"^(.+):\d+$", "$1")
    return answers.with_columns(sample_id=pl.coalesce(group, own))
