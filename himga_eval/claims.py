"""What a reviewer asks of a file of answers: which recipe made its numbers, and whether claims about it hold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from himga_eval.errors import InputError
from himga_eval.metrics.catalog import ALL_METRICS, LEXICAL
from himga_eval.protocols import Protocol, load_protocol, names, variant
from himga_eval.schema import Results, normalise_question_type, results_frame
from himga_eval.scoring import CUTS, PUBLISHED, averages, finite, in_order, score, summarise

RECIPES: dict[str, pl.DataType] = {
    "column": pl.String(),
    "variant": pl.String(),
    "protocols": pl.String(),
    "matches": pl.Int64(),
    "rows": pl.Int64(),
    "largest_difference": pl.Float64(),
}
"""The columns of what `find_recipes` finds."""

CLAIMS: dict[str, pl.DataType] = {
    "claim": pl.String(),
    "verdict": pl.String(),
    "found": pl.Float64(),
    "recipe": pl.String(),
    "protocols": pl.String(),
}
"""The columns of what `check_claims` finds."""

HOLDS, FAILS = "holds", "fails"


@dataclass(frozen=True)
class Claim:
    """A printed figure of a metric, over all questions or those of one type; `unit` is what its last digit is worth."""

    text: str
    metric: str
    label: str
    value: float
    unit: float


def read_claim(text: str) -> Claim:
    """Read "f1=.5145", "single_hop.f1=.6423" or "judge_score=75.78"; a value over 1 is a percentage.

    Raises:
        InputError: another form, or no metric of ours.
    """
    found = re.fullmatch(r"\s*(?:(.+)\.)?(\w+)\s*=\s*(\d*)\.?(\d*)\s*(%?)\s*", text)
    if not found or not found[3] + found[4] or found[2] not in ALL_METRICS:
        raise InputError(
            f"{text!r} is no claim; write metric=value or type.metric=value, as f1=.5145 or temporal.f1=64.23; "
            f"metrics: {', '.join(ALL_METRICS)}"
        )
    value, unit = float(f"{found[3] or 0}.{found[4] or 0}"), 10.0 ** -len(found[4])
    scale = 100 if found[5] or value > 1 else 1
    return Claim(text.strip(), found[2], found[1] or "overall", value / scale, unit / scale)


def find_recipes(results: Results) -> pl.DataFrame:
    """Find for every published score of the rows which protocols' metric reproduces it: RECIPES, the best first.

    A row matches where the two agree to the last digit that the file prints, or to 1e-9 where it prints them all. A
    judge's scores cannot be recomputed, and those that need a local model are not.
    """
    frame = results_frame(results)
    found = []
    for metric in (name for name in LEXICAL if f"{PUBLISHED}{name}" in frame.columns):
        column = f"{PUBLISHED}{metric}"
        close = _unit(frame[column].drop_nulls()) / 2 + 1e-9
        for protocol in (p for p in map(load_protocol, names()) if metric in p.metrics):
            scores = score(frame, [metric], protocol=protocol)
            gaps = scores.select((pl.col(metric) - finite(column)).abs()).to_series().drop_nulls()
            matches = (gaps <= close).sum()
            found.append((column, protocol.variant(metric), protocol.name, matches, len(gaps), gaps.max()))
    table = pl.DataFrame(found, schema=RECIPES, orient="row")
    alike = [name for name in RECIPES if name != "protocols"]
    grouped = table.group_by(alike, maintain_order=True).agg(pl.col("protocols").str.join(", "))
    return grouped.select(*RECIPES).sort(
        pl.col("column").rle_id(), -pl.col("matches") / pl.col("rows"), -pl.col("matches"), maintain_order=True
    )


def figures(results: Results, metric: str) -> pl.DataFrame:
    """Compute what each protocol makes of one metric of these answers, by question type and by each average.

    The columns are run, protocol, source ("recomputed", or "in the file" for scores that came with it), variant,
    question_type ("overall" for all that the protocol counts), label (what the protocol calls it), average and mean.

    Raises:
        InputError: a metric that is neither lexical nor in the file.
    """
    frame = results_frame(results)
    recipes = [protocol for protocol in map(load_protocol, names()) if metric in protocol.defined]
    found = [part for protocol in recipes for part in _figures(frame, protocol, metric)]
    if not found:
        raise InputError(f"{metric} is neither in the file nor to be recomputed from its texts")
    return pl.concat(found)


def check_claims(results: Results, claims: Sequence[str]) -> pl.DataFrame:
    """Look for a recipe that gives each printed figure to its last digit: CLAIMS.

    A claim holds where a protocol and average give it, from the texts or from the file's own scores; of several the
    first is named. One that fails has the nearest.

    Raises:
        InputError: no claim, or one of a metric or type that nothing here gives.
    """
    frame = results_frame(results)
    read = [read_claim(text) for text in claims]
    known = {metric: figures(frame, metric) for metric in dict.fromkeys(claim.metric for claim in read)}
    return pl.DataFrame([_verdict(claim, known[claim.metric]) for claim in read], schema=CLAIMS, orient="row")


def contradictions(results: Results) -> pl.DataFrame:
    """List the rows that a judge calls wrong though they equal the gold, or right though they hold no answer.

    The columns are judge (its column), run, question_id, ground_truth, prediction and score.
    """
    frame = results_frame(results).with_columns(
        variant("exact_match", "equal").alias("equal"), pl.col("prediction").str.strip_chars().alias("said")
    )
    blank = pl.col("said").fill_null("") == ""
    found = []
    for judge in (name for name in frame.columns if name.removeprefix(PUBLISHED) == "judge_score"):
        wrong = (pl.col(judge) < 0.5) & (pl.col("equal") == 1) & ~blank
        right = (pl.col(judge) >= 0.5) & (pl.col("equal").fill_null(0) == 0) & blank
        ids = [name for name in ("run", "question_id") if name in frame.columns]
        texts = ("ground_truth", "prediction")
        found.append(
            frame.filter(wrong | right).select(pl.lit(judge).alias("judge"), *ids, *texts, score=finite(judge))
        )
    return pl.concat(found) if found else pl.DataFrame()


def _figures(frame: pl.DataFrame, protocol: Protocol, metric: str) -> list[pl.DataFrame]:
    """Give the figures of one protocol: a frame, or none where it counts none of the rows."""
    lexical = metric in LEXICAL
    scores = score(frame, [metric] if lexical else [], protocol=protocol)
    columns = [name for name in (metric, f"{PUBLISHED}{metric}") if name in scores.columns]
    if scores.is_empty() or not columns:
        return []
    types = summarise(scores, metrics=columns).filter(~pl.col("question_type").is_in(CUTS))
    overall = averages(scores, metrics=columns).with_columns(question_type=pl.lit("overall"))
    shared = ("run", "metric", "question_type", "average", "mean")
    table = pl.concat([types.with_columns(average=pl.lit("question")).select(shared), overall.select(shared)])
    recomputed = (pl.col("metric") == metric) & lexical
    named = table.drop_nulls("mean").select(
        "run",
        pl.lit(protocol.name).alias("protocol"),
        pl.when(recomputed).then(pl.lit("recomputed")).otherwise(pl.lit("in the file")).alias("source"),
        pl.when(recomputed).then(pl.lit(protocol.variant(metric) if lexical else None)).alias("variant"),
        "question_type",
        pl.col("question_type").replace(protocol.labels).alias("label"),
        "average",
        "mean",
    )
    return [named]


def _verdict(claim: Claim, figures: pl.DataFrame) -> tuple[object, ...]:
    wanted = normalise_question_type(claim.label)
    labels = {label: normalise_question_type(label) for label in figures["label"].unique()}
    meant = (pl.col("question_type") == wanted) | (pl.col("label").replace(labels) == wanted)
    candidates = figures.filter(meant).with_columns(gap=(pl.col("mean") - claim.value).abs())
    if candidates.is_empty():
        known = ", ".join(in_order(figures["question_type"]))
        raise InputError(f"claim {claim.text!r}: there are no questions of that type; there are: {known}")
    close = claim.unit / 2 + 1e-9
    holds = candidates.select((pl.col("gap") <= close).any()).item()
    near = candidates.filter(pl.col("gap") <= (close if holds else pl.col("gap").min()))
    same = ("source", "variant", "question_type", "label", "average")
    groups = near.group_by(same, maintain_order=True).agg(pl.col("mean").first(), pl.col("protocol").str.join(", "))
    usual_first = (pl.col("average") != "question", pl.col("source") != "recomputed")
    _, variant, kind, label, average, mean, protocols = groups.sort(usual_first, maintain_order=True).row(0)
    whose = f"the file's own {claim.metric}" if variant is None else f"{claim.metric} {variant}"
    of_type = (
        "" if kind == "overall" else f" of {kind}" if labels[label] == kind else f" of {kind}, there called {label}"
    )
    return claim.text, HOLDS if holds else FAILS, mean, f"{whose}{of_type}, by {average}", protocols


def _unit(values: pl.Series) -> float:
    """Tell what the last printed digit of a column is worth; next to nothing where it has all digits of a float."""
    printed = values.cast(pl.String).str.extract(r"\.(\d+)$").fill_null("")
    decimals = max(map(len, printed), default=0)
    return 10.0**-decimals if decimals <= 8 else 0.0
