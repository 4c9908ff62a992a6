"""The same answers under every protocol, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from himga_eval.errors import InputError
from himga_eval.metrics.catalog import LEXICAL, resolve
from himga_eval.protocols import Protocol, ProtocolLike, load_protocol, names
from himga_eval.schema import RESULTS, SUMMARY, Results, results_frame
from himga_eval.scoring import CUTS, PUBLISHED, averages, in_order, score, summarise

RECOMPUTED, IN_THE_FILE = "recomputed", "in the file"

_WEIGHTS = {"question": "by_question", "type": "by_type", "conversation": "by_conversation"}
_KEY = ["run", "dataset", "protocol", "metric", "source"]
_PARTED = "\x1f"


def across(
    results: Results, metrics: Sequence[str] = ("f1",), *, protocols: Sequence[ProtocolLike] | None = None
) -> pl.DataFrame:
    """Score the same answers under every protocol that defines one of the metrics.

    There is a row a run, data set, metric and protocol; `variant` says how the protocol defines the metric. Then come
    its means by question type, null where it leaves the type out, and those over all that it counts, with the same
    weight for each question, type or conversation. A protocol that counts none of the answers has no row.

    Raises:
        UnknownMetric: not one of ALL_METRICS.
        InputError: no protocol defines any of the metrics for these answers.
    """
    table = figures(results, metrics, protocols=protocols).filter(source=RECOMPUTED)
    overall = pl.col("question_type") == "overall"
    kinds = in_order(table.filter(~overall)["question_type"])
    order = {metric: place for place, metric in enumerate(resolve(metrics))}
    heads = table.with_columns(
        pl.when(overall).then(pl.col("average").replace(_WEIGHTS)).otherwise("question_type").alias("head")
    )
    counts = table.filter(overall, average="question").select(*_KEY, questions="weights")
    wide = heads.pivot("head", index=[*_KEY, "variant"], values="mean", maintain_order=True).join(counts, on=_KEY)
    return wide.select("run", "dataset", "metric", "protocol", "variant", *kinds, *_WEIGHTS.values(), "questions").sort(
        pl.col("run").rank("dense"),
        "dataset",
        pl.col("metric").replace_strict(order, return_dtype=pl.Int64),
        maintain_order=True,
    )


def summarise_across(
    results: Results, metrics: Sequence[str] = ("f1",), *, protocols: Sequence[ProtocolLike] | None = None
) -> pl.DataFrame:
    """Summarise the same answers under every protocol that defines one of the metrics: the summary frame.

    Raises:
        UnknownMetric: not one of ALL_METRICS.
        InputError: no protocol gives any of the metrics for these answers.
    """
    chosen = _chosen(protocols)
    scores, columns = _stacked(results, resolve(metrics), chosen)
    table = _parted(summarise(scores, metrics=columns), chosen)
    return table.filter(~pl.col("metric").str.starts_with(PUBLISHED)).select(*SUMMARY)


def figures(
    results: Results, metrics: Sequence[str], *, protocols: Sequence[ProtocolLike] | None = None
) -> pl.DataFrame:
    """Compute what each protocol makes of these answers.

    There is a row a run, data set, protocol, metric, question type and average. `source` is "recomputed", or "in the
    file" for scores that came with the answers. question_type is "overall" for all that the protocol counts, `label`
    what the protocol calls it, `weights` over how many a mean is.

    Raises:
        UnknownMetric: not one of ALL_METRICS.
        InputError: no protocol gives any of the metrics for these answers.
    """
    chosen = _chosen(protocols)
    scores, columns = _stacked(results, resolve(metrics), chosen)
    by_type = summarise(scores, metrics=columns).filter(~pl.col("question_type").is_in(CUTS))
    overall = averages(scores, metrics=columns).with_columns(question_type=pl.lit("overall"))
    shared = ("run", "dataset", "metric", "question_type", "average", "mean", "weights")
    told = [by_type.with_columns(average=pl.lit("question"), weights="count"), overall]
    table = _parted(pl.concat(part.select(shared) for part in told).drop_nulls("mean"), chosen)
    file = pl.col("metric").str.starts_with(PUBLISHED) | (pl.col("metric") == "judge_score")
    table = table.with_columns(
        pl.when(file).then(pl.lit(IN_THE_FILE)).otherwise(pl.lit(RECOMPUTED)).alias("source"),
        pl.col("metric").str.strip_prefix(PUBLISHED),
    )
    return _named(table, chosen.values())


def _chosen(protocols: Sequence[ProtocolLike] | None) -> dict[str, Protocol]:
    return {protocol.name: protocol for protocol in map(load_protocol, names() if protocols is None else protocols)}


def _stacked(
    results: Results, metrics: Sequence[str], protocols: Mapping[str, Protocol]
) -> tuple[pl.DataFrame, list[str]]:
    """Score under every protocol, with runs named after run and protocol; and the columns that hold scores."""
    frame = results_frame(results)
    parts = [part for protocol in protocols.values() if (part := _scores(frame, protocol, metrics)) is not None]
    if not parts:
        raise InputError(f"no protocol gives {', '.join(metrics)} for these answers")
    scores = pl.concat(parts, how="diagonal_relaxed")
    return scores, [name for m in metrics for name in (m, f"{PUBLISHED}{m}") if name in scores.columns]


def _scores(frame: pl.DataFrame, protocol: Protocol, metrics: Sequence[str]) -> pl.DataFrame | None:
    """Score under one protocol, None where it gives nothing: what it defines, and what is in the file of that."""
    defined = [metric for metric in metrics if metric in protocol.defined]
    given = [f"{PUBLISHED}{m}" for m in defined if f"{PUBLISHED}{m}" in frame.columns]
    # A model is not run for what the file has.
    anew = [m for m in defined if m in LEXICAL or (m in protocol.metrics and f"{PUBLISHED}{m}" not in given)]
    if "judge_score" in defined and "judge_score" in frame.columns:
        given.append("judge_score")
    scores = score(frame, anew, protocol=protocol)
    if scores.is_empty() or not (anew or given):
        return None
    needed = [name for name in (*RESULTS, "abstention", "protocol") if name in scores.columns]
    return scores.select(*needed, *anew, *given).with_columns(pl.col("run") + f"{_PARTED}{protocol.name}")


def _parted(table: pl.DataFrame, protocols: Iterable[str]) -> pl.DataFrame:
    """Part the names of runs and protocols again, the protocols in this order."""
    both = pl.col("run").str.split(_PARTED)
    order = {name: place for place, name in enumerate(protocols)}
    return table.with_columns(both.list.first().alias("run"), both.list.last().alias("protocol")).sort(
        pl.col("protocol").replace_strict(order, return_dtype=pl.Int64), maintain_order=True
    )


def _named(table: pl.DataFrame, protocols: Iterable[Protocol]) -> pl.DataFrame:
    """Say how each protocol defines the metric and what it calls the type."""
    kinds = list(protocols)
    variants = [(p.name, metric, RECOMPUTED, p.variant(metric)) for p in kinds for metric in p.metrics]
    labels = [(p.name, kind, label) for p in kinds for kind, label in p.labels.items()]
    of_metric = pl.DataFrame(variants, ["protocol", "metric", "source", "variant"], orient="row")
    of_type = pl.DataFrame(labels, dict.fromkeys(("protocol", "question_type", "label"), pl.String), orient="row")
    return (
        table.join(of_metric, on=["protocol", "metric", "source"], how="left", maintain_order="left")
        .join(of_type, on=["protocol", "question_type"], how="left", maintain_order="left")
        .with_columns(pl.coalesce("label", "question_type").alias("label"))
    )
