"""Question types as files name them: LoCoMo's numbers, other spellings, and the schemes of other projects."""

from __future__ import annotations

import re
from collections import Counter

import polars as pl

from himga_eval.data.locomo import CATEGORIES
from himga_eval.schema import QUESTION_TYPES, normalise_question_type

CONSISTENT = 0.9
"""From this share of its questions on, another type is what the file's name stands for, not a slip."""


def meaning(label: str, dataset: str | None) -> str:
    """Tell which type of a data set a label is: "1" and "Multi-Hop" are multi_hop in LoCoMo; others are themselves."""
    if dataset not in QUESTION_TYPES:
        return label
    number = re.fullmatch(r"\s*([1-5])(\.0)?\s*", label)
    if number and dataset == "locomo":
        return str(CATEGORIES[int(number[1])])
    return normalise_question_type(label)


def with_official_types(answers: pl.DataFrame) -> pl.DataFrame:
    """Give LoCoMo's numbers their names where all types of a file are LoCoMo's."""
    if "question_type" not in answers.columns:
        return answers
    labels = {label: meaning(label, "locomo") for label in answers["question_type"].unique().drop_nulls()}
    if not set(labels.values()) <= set(QUESTION_TYPES["locomo"]):
        return answers
    return answers.with_columns(pl.col("question_type").replace(labels))


def compare_types(frame: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, str], list[str]]:
    """Compare `file_question_type` with `question_type`, and null the former where both say the same.

    Returns the frame, the labels that stand for another type throughout, `{label: type}`, and the ids of the other
    questions whose types differ.
    """
    if not {"file_question_type", "question_type"} <= set(frame.columns):
        return frame, {}, []
    pairs: dict[tuple[str, str], Counter[str | None]] = {}
    of_type: Counter[str | None] = Counter()
    counts = frame.drop_nulls("file_question_type").group_by("file_question_type", "dataset", "question_type").len()
    for label, dataset, ours, count in counts.iter_rows():
        pairs.setdefault((label, dataset), Counter())[ours] += count
        of_type[ours] += count
    naming: dict[str, str] = {}
    expected = []
    for (label, dataset), found in sorted(pairs.items()):
        own = meaning(label, dataset)
        most, count = found.most_common(1)[0]
        # A scheme uses the name for most of that type, too; a few rows of another type are slips.
        theirs = own not in QUESTION_TYPES.get(dataset, ()) or 2 * count > of_type[most]
        if most is not None and most != own and theirs and count >= CONSISTENT * found.total():
            naming[label] = most
        expected.append((label, dataset, own, naming.get(label, own)))
    names = ("file_question_type", "dataset", "own", "expected")
    table = pl.DataFrame(expected, schema=dict.fromkeys(names, pl.String), orient="row")
    frame = frame.join(table, on=names[:2], how="left", maintain_order="left")
    slips = frame.filter(pl.col("expected") != pl.col("question_type"))["question_id"].to_list()
    said = pl.when(pl.col("own").ne_missing(pl.col("question_type"))).then("file_question_type")
    return frame.with_columns(said.alias("file_question_type")).drop("own", "expected"), naming, slips
