"""Answers joined to the questions of a data set, and what was found on the way."""

from __future__ import annotations

import polars as pl

from himga_eval.formats.match import folded, match, stripped
from himga_eval.formats.questions import Questions, asked_frame
from himga_eval.formats.report import JoinReport
from himga_eval.formats.types import compare_types
from himga_eval.schema import results_frame

NO_TYPE = "(none)"

SAID: dict[str, pl.Expr] = {
    "question_id": pl.col("file_question_id") == pl.col("question_id"),
    "question": folded("file_question") == folded("question"),
    "ground_truth": stripped("file_ground_truth").replace("", None) == stripped("ground_truth"),
}
"""What the file may say of a question and the data set knows: whether it is the same; null where one says nothing."""


def join_run(answers: pl.DataFrame, questions: Questions) -> tuple[pl.DataFrame, list[JoinReport]]:
    """Join answers to the questions they belong to: the results frame, and a report for each run.

    Every question has a row in each run, in the data set's order, with a null prediction where it was not answered; of
    several data sets, those that the run has an answer to.
    What the data set knows of a question is taken from it; question, ground truth and type of the file stay in
    `file_question`, `file_ground_truth` and `file_question_type` where they differ, and an id of its own in
    `file_question_id`.

    Answers find their question by question_id where the file has the data set's; else by text, exact or but for case
    and whitespace, within the conversation that most questions of a group stand in. The n-th answer to a question that
    stands several times belongs to its n-th place. A failed row (a null prediction, or an error) does not count where
    there is another for the same question, nor do the earlier ones of several.

    Raises:
        DuplicateRows: a question is answered twice.
        RunFileError: not one answer has a question in the data set.
        InputError: `questions` are not questions.
    """
    asked = asked_frame(questions).with_row_index("place")
    parts = [_join_one(rows, asked, str(run)) for (run,), rows in answers.group_by("run", maintain_order=True)]
    frames, reports = zip(*parts, strict=True)
    joined = results_frame(pl.concat(frames, how="diagonal_relaxed"))
    idle = [c.name for c in joined if c.name.startswith("file_") and c.null_count() == joined.height]
    return joined.drop(idle), list(reports)


def _join_one(answers: pl.DataFrame, asked: pl.DataFrame, run: str) -> tuple[pl.DataFrame, JoinReport]:
    rows = answers.with_row_index("row")
    found = match(rows, asked, run)
    theirs = rows.join(found.places, on="row").drop("row", "run", "sample_id", strict=False)
    theirs = theirs.rename({name: f"file_{name}" for name in (*SAID, "question_type") if name in theirs.columns})
    theirs = theirs.select("place", pl.exclude(asked.columns))
    asked = _of_run(asked, found.places)
    frame = asked.join(theirs, on="place", how="left", maintain_order="left").drop("place")
    frame = frame.with_columns(
        pl.when(~same).then(f"file_{name}").alias(f"file_{name}")
        for name, same in SAID.items()
        if f"file_{name}" in frame.columns and name in frame.columns
    )
    frame, naming, slips = compare_types(frame)
    types, answered = _types(frame), pl.col("prediction").is_not_null()
    attempted = answered.any().over(types)
    report = JoinReport(
        run=run,
        questions=frame.height,
        answered=frame["prediction"].count(),
        matched_by=found.by,
        not_attempted=dict(frame.filter(~attempted).group_by(types, maintain_order=True).len().iter_rows()),
        unanswered=_ids(frame, attempted & ~answered),
        without_question=found.strangers,
        replaced=found.replaced,
        other_questions=_ids(frame, _said(frame, "question")),
        other_golds=_ids(frame, _said(frame, "ground_truth")),
        other_types=slips,
        naming=naming,
    )
    return frame.with_columns(run=pl.lit(run)), report


def _of_run(asked: pl.DataFrame, places: pl.DataFrame) -> pl.DataFrame:
    """Keep the data sets that the run has an answer to."""
    if "dataset" not in asked.columns:
        return asked
    return asked.join(asked.join(places, on="place", how="semi"), on="dataset", how="semi", maintain_order="left")


def _types(frame: pl.DataFrame) -> pl.Expr:
    return pl.col("question_type").fill_null(NO_TYPE) if "question_type" in frame.columns else pl.lit(NO_TYPE)


def _said(frame: pl.DataFrame, name: str) -> pl.Expr:
    return pl.col(f"file_{name}").is_not_null() if f"file_{name}" in frame.columns else pl.lit(False)


def _ids(frame: pl.DataFrame, chosen: pl.Expr) -> list[str]:
    return frame.filter(chosen)["question_id"].to_list()
