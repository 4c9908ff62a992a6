"""The same answers under every protocol, side by side."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from himga_eval.errors import InputError
from himga_eval.metrics.catalog import resolve
from himga_eval.protocols import Protocol, ProtocolLike, load_protocol, names
from himga_eval.schema import Results, results_frame
from himga_eval.scoring import CUTS, averages, in_order, score, summarise

_WEIGHTS = {"question": "by_question", "type": "by_type", "conversation": "by_conversation"}


def across(
    results: Results, metrics: Sequence[str] = ("f1",), *, protocols: Sequence[ProtocolLike] | None = None
) -> pl.DataFrame:
    """Score the same answers under every protocol that defines one of the metrics: a row a run, metric and protocol.

    `variant` says how the protocol defines the metric. Then come its means by question type, null where it leaves the
    type out, and those over all that it counts, with the same weight for each question, type or conversation. A
    protocol that counts none of the answers has no row.

    Raises:
        UnknownMetric: not one of ALL_METRICS.
        InputError: no protocol defines any of the metrics for these answers.
    """
    tables = [_means(protocol, scores) for protocol, scores in scores_across(results, metrics, protocols=protocols)]
    lead = ("run", "metric", "protocol", "variant")
    wide = pl.concat(tables, how="diagonal_relaxed")
    kinds = in_order(set(wide.columns).difference(lead, _WEIGHTS.values(), ["questions"]))
    order = {metric: place for place, metric in enumerate(resolve(metrics))}
    return wide.select(*lead, *kinds, *_WEIGHTS.values(), "questions").sort(
        pl.col("run").rank("dense"), pl.col("metric").replace_strict(order, return_dtype=pl.Int64), maintain_order=True
    )


def scores_across(
    results: Results, metrics: Sequence[str] = ("f1",), *, protocols: Sequence[ProtocolLike] | None = None
) -> list[tuple[Protocol, pl.DataFrame]]:
    """Score the same answers under every protocol that defines one of the metrics: protocols with their scores.

    Raises:
        UnknownMetric: not one of ALL_METRICS.
        InputError: no protocol defines any of the metrics for these answers.
    """
    frame, wanted = results_frame(results), resolve(metrics)
    found = []
    for protocol in map(load_protocol, names() if protocols is None else protocols):
        if defined := [metric for metric in wanted if metric in protocol.metrics]:
            found.append((protocol, score(frame, defined, protocol=protocol)))
    found = [(protocol, scores) for protocol, scores in found if scores.height]
    if not found:
        raise InputError(f"no protocol defines {', '.join(wanted)} for these answers")
    return found


def _means(protocol: Protocol, scores: pl.DataFrame) -> pl.DataFrame:
    key = ["run", "metric"]
    metrics = [name for name in protocol.metrics if name in scores.columns]
    types = summarise(scores, metrics=metrics).filter(~pl.col("question_type").is_in(CUTS))
    overall = averages(scores, metrics=metrics)
    weighed = overall.with_columns(pl.col("average").replace(_WEIGHTS)).pivot("average", index=key, values="mean")
    counted = overall.filter(average="question").select(*key, questions="weights")
    variants = {metric: protocol.variant(metric) for metric in metrics}
    return (
        types.pivot("question_type", index=key, values="mean", maintain_order=True)
        .join(weighed, on=key)
        .join(counted, on=key)
        .with_columns(
            pl.lit(protocol.name).alias("protocol"),
            pl.col("metric").replace_strict(variants, return_dtype=pl.String).alias("variant"),
        )
    )
