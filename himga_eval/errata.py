"""Lists of wrong golds as a layer over scores: with all, without the faulty, and with the golds corrected."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from himga_eval.errors import InputError, listed
from himga_eval.formats.files import read_table
from himga_eval.metrics.catalog import LEXICAL
from himga_eval.protocols import DEFAULT, ProtocolLike
from himga_eval.schema import KEY, Results, results_frame
from himga_eval.scoring import score, score_columns, summarise

ERRATA: dict[str, pl.DataType] = {
    "question_id": pl.String(),
    "question": pl.String(),
    "correct_answer": pl.String(),
    "reason": pl.String(),
}
"""The columns of a list of wrong golds; only question_id is needed. One without a correct answer is faulty still."""

LAYERS = ("all golds", "faulty left out", "golds corrected")
"""The layers that stand side by side."""

_AUDITED = r"^locomo_\d+_qa(\d+)$"
_HARMLESS = "WRONG_CITATION"


def read_errata(path: str | Path) -> pl.DataFrame:
    """Read a list of wrong golds: a file with the columns of ERRATA, or the JSON of locomo-audit.

    Of the audit's rows those about cited evidence alone are left out: their gold is right. Its `locomo_0_qa6` becomes
    `:6`, which names a question together with its text.

    Raises:
        InputError: a row has no question_id, or one of the audit's no text.
        RunFileError: the file cannot be read.
    """
    table = read_table(Path(path))
    if "error_type" in table.columns:
        table = table.filter(pl.col("error_type") != _HARMLESS)
        place = pl.col("question_id").str.extract(_AUDITED)
        table = table.with_columns(
            pl.when(place.is_not_null()).then(":" + place).otherwise("question_id").alias("question_id"),
            pl.col("error_type").alias("reason"),
        )
    if "question_id" not in table.columns or table["question_id"].null_count():
        raise InputError(f"{path}: a row has no question_id; it has: {', '.join(table.columns)}")
    absent = [pl.lit(None, pl.String).alias(name) for name in ERRATA if name not in table.columns]
    return table.with_columns(absent).select(pl.col(name).cast(dtype) for name, dtype in ERRATA.items())


def find_faulty(results: Results, errata: pl.DataFrame) -> pl.DataFrame:
    """Find the results whose gold is listed: their key, question_type, ground_truth, correct_answer and reason.

    Raises:
        InputError: the results have no ids, or none of the listed questions is among them.
    """
    frame = results_frame(results)
    if "question_id" not in frame.columns:
        raise InputError(f"errata go by question_id, and the results have: {', '.join(frame.columns)}")
    told = [name for name in ("question_type", "ground_truth") if name in frame.columns]
    rows = frame.select(*_key(frame), *told, *(["question"] if "question" in frame.columns else []))
    said = errata.select("question_id", "correct_answer", "reason")
    found = [rows.join(said, on="question_id", maintain_order="left")]
    if "question" in rows.columns:
        places = errata.filter(pl.col("question_id").str.starts_with(":")).rename({"question_id": "place"})
        placed = rows.with_columns(pl.col("question_id").str.extract(r"(:\d+)$").alias("place"))
        found.append(placed.join(places, on=["place", "question"], maintain_order="left").drop("place"))
    faulty = pl.concat(found).drop("question", strict=False).unique(_key(frame), maintain_order=True)
    if faulty.is_empty():
        raise InputError(
            f"none of the {errata.height} listed questions is among the results: the list has "
            f"{listed(errata['question_id'].to_list(), 2)}, the results {listed(frame['question_id'].to_list(), 2)}"
        )
    return faulty


def with_errata(scores: Results, errata: pl.DataFrame, *, protocol: ProtocolLike = DEFAULT) -> pl.DataFrame:
    """Stack the layers of scores, each a run of its own: all golds, the faulty left out, the golds corrected.

    Where a gold is corrected the lexical metrics are computed anew; what else was scored there is null, as it was given
    for the wrong gold. A faulty gold without a correction is in neither of the other two layers.

    Raises:
        InputError: none of the listed questions is among the scores.
    """
    frame = results_frame(scores)
    key, faulty = _key(frame), find_faulty(scores, errata)
    sound = frame.join(faulty, on=key, how="anti", maintain_order="left")
    lexical = [name for name in LEXICAL if name in frame.columns]
    other = [name for name in score_columns(frame) if name not in lexical]
    correct = faulty.drop_nulls("correct_answer").select(*key, "correct_answer")
    unknown = [pl.lit(None, frame.schema[name]).alias(name) for name in other]
    corrected = frame.drop(lexical).join(correct, on=key, maintain_order="left")
    corrected = corrected.with_columns(*unknown, ground_truth="correct_answer").drop("correct_answer")
    corrected = score(corrected, lexical, protocol=protocol) if lexical else corrected
    layers = (frame, sound, pl.concat([sound, corrected], how="diagonal_relaxed"))
    named = (
        layer.with_columns(pl.format("{}, {}", "run", pl.lit(name)).alias("run"))
        for name, layer in zip(LAYERS, layers, strict=True)
    )
    return pl.concat(named, how="diagonal_relaxed")


def ceiling(results: Results, errata: pl.DataFrame) -> pl.DataFrame:
    """Compute the share of sound golds by question type, which a system that is always right gets from a strict judge.

    The columns are run, dataset, question_type, questions, faulty and ceiling.

    Raises:
        InputError: none of the listed questions is among the results.
    """
    frame = results_frame(results)
    faulty = find_faulty(frame, errata).select(*_key(frame), ceiling=pl.lit(0.0))
    marked = frame.join(faulty, on=_key(frame), how="left", maintain_order="left").with_columns(
        pl.col("ceiling").fill_null(1.0), prediction=pl.lit("")
    )
    table = summarise(marked, metrics=["ceiling"])
    share = (pl.col("count") * (1 - pl.col("mean"))).round().cast(pl.Int64)
    return table.select("run", "dataset", "question_type", questions="count", faulty=share, ceiling="mean")


def _key(frame: pl.DataFrame) -> list[str]:
    return [name for name in KEY if name in frame.columns]
