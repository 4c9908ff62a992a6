"""The question that each answer belongs to: by id, or by conversation, text and occurrence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from himga_eval.errors import DuplicateRows, RunFileError, listed
from himga_eval.formats.types import meaning

BY_TEXT = (
    ["conversation", "question", "meant"],
    ["conversation", "question"],
    ["conversation", "folded"],
    ["anywhere", "meant"],
    ["anywhere"],
    ["anywhere_folded"],
)
"""The keys under which an answer looks for its question, the strictest first; a null finds nothing.

The type comes in where the same question stands twice, answerable and not, as one of LoCoMo's does.
"""

MOSTLY = 0.9
"""A group with this share of its known questions in one sample is that conversation."""


@dataclass(frozen=True)
class Match:
    """Where the answers of a run belong."""

    by: str
    places: pl.DataFrame
    """Pairs of row and place; no row and no place stands twice."""
    replaced: list[str]
    """Ids of questions with a failed row besides the one that counts."""
    strangers: list[str]
    """Answers without a question, by what names them best."""


def match(rows: pl.DataFrame, asked: pl.DataFrame, run: str) -> Match:
    """Match the answers of one run, numbered by `row`, to questions, numbered by `place`; see `join_run`.

    Raises:
        DuplicateRows: a question is answered twice.
        RunFileError: not one answer has a question.
    """
    rows, asked = _with_folded_ids(rows, asked)
    key = _id_key(rows, asked)
    keys = (key,) if key else BY_TEXT
    keyed, places = (rows, asked) if key else _with_text_keys(rows, asked)
    found = pl.DataFrame(schema={"row": pl.UInt32, "place": pl.UInt32})
    for on in keys:
        free = keyed.join(found, on="row", how="anti", maintain_order="left")
        open_places = places.join(found, on="place", how="anti", maintain_order="left")
        found = found.vstack(_place(free, open_places, on))
    if found.is_empty():
        raise RunFileError(_nothing_found(rows, asked, run))
    # What is left with the text of a question that has its answer is a failure, or a second answer.
    left = keyed.join(found, on="row", how="anti", maintain_order="left")
    again = pl.concat(
        left.join(places.unique(on).select(*on, their_id="question_id"), on=on, maintain_order="left").select(
            "row", "their_id", _failed(left).alias("failed")
        )
        for on in keys
    ).unique("row", maintain_order=True)
    if (twice := again.filter(~pl.col("failed"))["their_id"].unique(maintain_order=True)).len():
        raise DuplicateRows(
            f"run {run!r} answers {len(twice):,} questions more than once: {listed(twice.to_list())}; keep one row "
            "of each, or tell the runs apart in a column run"
        )
    return Match(
        by=" and ".join(key).replace("known_id", "question_id") if key else "conversation and text",
        places=found,
        replaced=again["their_id"].unique(maintain_order=True).to_list(),
        strangers=_names(left.join(again, on="row", how="anti", maintain_order="left")),
    )


def drop_failures(rows: pl.DataFrame, on: Sequence[str], places: pl.Expr) -> pl.DataFrame:
    """Drop failed rows, the earliest first, where more rows share the key than there are places for it."""
    if not rows.select(_failed(rows).any()).item():
        return rows
    failed = _failed(rows).cast(pl.Int64)
    spare = (pl.len().cast(pl.Int64) - places.first()).over(on)
    return rows.filter((failed == 0) | (failed.cum_sum().over(on) > spare))


def _failed(rows: pl.DataFrame) -> pl.Expr:
    failed = pl.col("prediction").is_null()
    if "error" in rows.columns:
        failed |= (pl.col("error").str.strip_chars() != "").fill_null(False)
    return failed


def _place(rows: pl.DataFrame, asked: pl.DataFrame, on: list[str]) -> pl.DataFrame:
    """Give the n-th row of a key the n-th place of it."""
    slots = asked.drop_nulls(on).group_by(on).agg(pl.len().cast(pl.Int64).alias("slots"))
    kept = drop_failures(rows.join(slots, on=on, maintain_order="left"), on, pl.col("slots"))
    nth = pl.int_range(pl.len()).over(on).alias("nth")
    numbered = asked.drop_nulls(on).select("place", *on, nth)
    return kept.with_columns(nth).join(numbered, on=[*on, "nth"], maintain_order="left").select("row", "place")


def _with_folded_ids(rows: pl.DataFrame, asked: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Add the ids in one spelling: but for case and the space around them, where they still tell questions apart."""
    one = asked["question_id"].n_unique() == asked.select(folded("question_id")).to_series().n_unique()
    spelled = (folded("question_id") if one else pl.col("question_id")).alias("known_id")
    return (rows.with_columns(spelled) if "question_id" in rows.columns else rows), asked.with_columns(spelled)


def _id_key(rows: pl.DataFrame, asked: pl.DataFrame) -> list[str] | None:
    """Choose the columns that name a question in both, unless the texts under the same names are other ones."""
    key = ["known_id"] if asked["known_id"].is_unique().all() else ["sample_id", "known_id"]
    if not set(key) <= set(rows.columns):
        return None
    hits = rows.join(asked, on=key, suffix="_asked")
    if hits.is_empty():
        return None
    if "question" not in rows.columns or "question" not in asked.columns:
        return key
    agree = folded("question").eq(folded("question_asked")).fill_null(True)
    return key if hits.select(agree.mean()).item() >= 0.5 else None


def folded(column: str) -> pl.Expr:
    """Fold the case and whitespace of a column."""
    return stripped(column).str.to_lowercase().str.replace_all(r"\s+", " ")


def stripped(column: str) -> pl.Expr:
    """Strip the whitespace around a column's texts."""
    return pl.col(column).str.strip_chars()


def _with_text_keys(rows: pl.DataFrame, asked: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Add the columns of BY_TEXT; rows whose conversation was not found look for their question anywhere."""
    rows, asked = (_with_columns(frame, "sample_id", "question", "question_type", "dataset") for frame in (rows, asked))
    datasets, types = asked["dataset"].unique(maintain_order=True).to_list(), set(asked["question_type"])
    meanings = {
        label: next((m for m in (meaning(label, dataset) for dataset in datasets) if m in types), label)
        for label in rows["question_type"].unique().drop_nulls()
    }
    rows, asked = rows.with_columns(folded=folded("question")), asked.with_columns(folded=folded("question"))
    conversations = _conversations(rows, asked)
    conversation = pl.col("sample_id").replace_strict(conversations, default=None, return_dtype=pl.String)
    rows = rows.with_columns(meant=pl.col("question_type").replace(meanings), conversation=conversation)
    lost = pl.col("conversation").is_null()
    rows = rows.with_columns(anywhere=pl.when(lost).then("question"), anywhere_folded=pl.when(lost).then("folded"))
    asked = asked.with_columns(meant="question_type", conversation="sample_id")
    return rows, asked.with_columns(anywhere="question", anywhere_folded="folded")


def _with_columns(frame: pl.DataFrame, *names: str) -> pl.DataFrame:
    return frame.with_columns(pl.lit(None, pl.String).alias(name) for name in names if name not in frame.columns)


def _conversations(rows: pl.DataFrame, asked: pl.DataFrame) -> dict[str, str]:
    """Find the sample of each group of the file: that with most of its questions, and each sample once if it can be.

    A group whose questions are spread over several samples is no conversation.
    """
    groups = rows.select("folded", group="sample_id").drop_nulls().unique()
    samples = asked.group_by("sample_id", "folded").agg(pl.col("place").min())
    shared = groups.join(samples, on="folded")
    known = shared.group_by("group").agg(pl.col("folded").n_unique().alias("known"))
    pairs = (
        shared.group_by("group", "sample_id")
        .agg(pl.len().alias("common"), pl.col("place").min())
        .join(known, on="group")
        .filter(pl.col("common") >= MOSTLY * pl.col("known"))
        .with_columns(same=pl.col("group") == pl.col("sample_id"))
        .sort("common", "same", "place", descending=[True, True, False])
    )
    found: dict[str, str] = {}
    for once in (True, False):
        for group, sample in pairs.select("group", "sample_id").iter_rows():
            if group not in found and not (once and sample in found.values()):
                found[group] = sample
    return found


def _names(rows: pl.DataFrame) -> list[str]:
    ways = [pl.col(name).str.slice(0, 80) for name in ("question_id", "question") if name in rows.columns]
    return rows.select(pl.coalesce(*ways, pl.format("row {}", "row"))).to_series().to_list()


def _nothing_found(rows: pl.DataFrame, asked: pl.DataFrame, run: str) -> str:
    def examples(frame: pl.DataFrame) -> str:
        names = [name for name in ("question_id", "question") if name in frame.columns]
        return ", ".join(f"{name} {frame[name][0]!r:.60}" for name in names) or "neither ids nor questions"

    return (
        f"run {run!r}: none of its {rows.height:,} answers belongs to one of the {asked.height:,} questions of the "
        f"data set; its first has {examples(rows)}, the data set's {examples(asked)}"
    )
