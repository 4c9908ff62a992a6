"""A protocol as Polars expressions: which rows count, what their gold is, and a column a metric."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import polars as pl

from himga_eval import exprs
from himga_eval.data.locomo import NOT_MENTIONED
from himga_eval.errors import RunWarning
from himga_eval.metrics.catalog import LEXICAL
from himga_eval.metrics.variants import VARIANTS
from himga_eval.protocols.recipe import REST, Protocol
from himga_eval.schema import QuestionType


def counted(frame: pl.DataFrame, protocol: Protocol) -> pl.DataFrame:
    """Keep the rows of the question types that the protocol counts, and those without a type."""
    if not protocol.types or "question_type" not in frame.columns:
        return frame
    return frame.filter(pl.col("question_type").is_in(protocol.types) | pl.col("question_type").is_null())


def with_golds(frame: pl.DataFrame, protocol: Protocol) -> pl.DataFrame:
    """Put the golds in place that the protocol scores against; null where a trap is wanted and not known.

    Warns:
        RunWarning: traps are not known.
    """
    if "question_type" not in frame.columns:
        return frame
    gold = pl.col("ground_truth")
    for kind, sign in protocol.until.items():
        ends = pl.col("question_type") == kind
        gold = pl.when(ends).then(gold.str.split(sign).list.first().str.strip_chars()).otherwise(gold)
    if protocol.adversarial == "trap":
        adversarial = pl.col("question_type") == QuestionType.ADVERSARIAL
        given = pl.col("adversarial_answer") if "adversarial_answer" in frame.columns else pl.lit(None, pl.String)
        trap = pl.coalesce(given, pl.when(gold != NOT_MENTIONED).then(gold))
        if lost := frame.filter(adversarial & trap.is_null() & gold.is_not_null()).height:
            message = (
                f"{protocol.name} scores adversarial answers against the answer they are to be lured into; {lost:,} "
                "rows have no adversarial_answer and so no score: join them to the data set (--dataset), which has it"
            )
            warnings.warn(message, RunWarning, stacklevel=3)
        gold = pl.when(adversarial).then(trap).otherwise(gold)
    return frame.with_columns(gold.alias("ground_truth"))


def metric_columns(frame: pl.DataFrame, protocol: Protocol, metrics: Sequence[str]) -> pl.DataFrame:
    """Score rows by the protocol's variants: a Float64 column a metric and nothing else.

    Warns:
        RunWarning: adversarial answers are to be scored against the trap, and the rows do not say what it is.
    """
    frame = with_golds(frame, protocol)
    ours = [metric for metric in metrics if _is_ours(metric, protocol.metrics[metric][REST])]
    lexical = [metric for metric in ours if metric in LEXICAL]
    if lexical:  # in one pass
        frame = frame.with_columns(exprs.lexical(lexical).struct.unnest())
    frame = frame.with_columns(exprs.columns([metric for metric in ours if metric not in LEXICAL]))
    typed = "question_type" in frame.columns
    return frame.select(_column(protocol, metric, metric in ours, typed) for metric in metrics)


def _column(protocol: Protocol, metric: str, scored: bool, typed: bool) -> pl.Expr:
    """Choose a metric's variant by question type; `scored` where the default one is a column already."""
    chosen = protocol.metrics[metric]
    column = pl.col(metric) if scored else variant(metric, chosen[REST])
    if not typed:
        return column.alias(metric)
    for kind, name in chosen.items():
        if kind != REST:
            column = pl.when(pl.col("question_type") == kind).then(variant(metric, name)).otherwise(column)
    if protocol.adversarial == "refusal":
        adversarial = pl.col("question_type") == QuestionType.ADVERSARIAL
        column = pl.when(adversarial).then(refusal(protocol)).otherwise(column)
    return column.alias(metric)


def variant(metric: str, name: str) -> pl.Expr:
    """Score prediction against ground_truth by one variant of a metric; null where either is."""
    pair = VARIANTS[metric][name].pair
    return _by_pairs(pair).alias(metric) if pair else exprs.columns([metric])[0]


def refusal(protocol: Protocol) -> pl.Expr:
    """Score 1 where the answer is a refusal by the protocol's phrases, 0 where it is none, null where there is none."""
    text = pl.col("prediction").str.strip_chars().str.to_lowercase()
    refused = text.is_in(list(protocol.refusals)) | text.str.contains_any(list(protocol.phrases))
    return refused.cast(pl.Float64)


def refuses(protocol: Protocol, answer: str) -> bool:
    """Tell the same of one answer."""
    text = answer.strip().lower()
    return text in protocol.refusals or any(phrase in text for phrase in protocol.phrases)


def _is_ours(metric: str, name: str) -> bool:
    return VARIANTS[metric][name].pair is None


def _by_pairs(pair: Callable[[str, str], float]) -> pl.Expr:
    def score(pairs: pl.Series) -> pl.Series:
        sides = pairs.struct.field("prediction"), pairs.struct.field("ground_truth")
        values = [None if None in texts else pair(*texts) for texts in zip(*sides, strict=True)]
        return pl.Series(values, dtype=pl.Float64)

    return pl.struct("prediction", "ground_truth").map_batches(score, return_dtype=pl.Float64, is_elementwise=True)
