"""What a reviewer asks of a file of answers: which recipe made its numbers, and whether claims about it hold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from himga_eval.across import RECOMPUTED, figures
from himga_eval.errors import InputError
from himga_eval.metrics.catalog import ALL_METRICS, LEXICAL
from himga_eval.protocols import load_protocol, names, variant
from himga_eval.schema import Results, normalise_question_type, results_frame
from himga_eval.scoring import PUBLISHED, finite, in_order, score

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


def check_claims(results: Results, claims: Sequence[str]) -> pl.DataFrame:
    """Look for a recipe that gives each printed figure to its last digit: CLAIMS.

    A claim holds where a protocol and average give it, from the texts or from the file's own scores; of several the
    first is named. One that fails has the nearest.

    Raises:
        InputError: no claim, or one of a metric or type that nothing here gives.
    """
    frame = results_frame(results)
    read = [read_claim(text) for text in claims]
    known = figures(frame, [claim.metric for claim in read])
    return pl.DataFrame(
        [_verdict(claim, known.filter(metric=claim.metric)) for claim in read], schema=CLAIMS, orient="row"
    )


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
    same = ("run", "source", "variant", "question_type", "label", "average")
    groups = near.group_by(same, maintain_order=True).agg(pl.col("mean").first(), pl.col("protocol").str.join(", "))
    usual_first = (pl.col("average") != "question", pl.col("source") != RECOMPUTED)
    run, _, variant, kind, label, average, mean, protocols = groups.sort(usual_first, maintain_order=True).row(0)
    whose = f"the file's own {claim.metric}" if variant is None else f"{claim.metric} {variant}"
    of_type = (
        "" if kind == "overall" else f" of {kind}" if labels[label] == kind else f" of {kind}, there called {label}"
    )
    of_run = f", of {run}" if figures["run"].n_unique() > 1 else ""
    return claim.text, HOLDS if holds else FAILS, mean, f"{whose}{of_type}, by {average}{of_run}", protocols


def _unit(values: pl.Series) -> float:
    """Tell what the last printed digit of a column is worth; next to nothing where it has all digits of a float."""
    printed = values.cast(pl.String).str.extract(r"\.(\d+)$").fill_null("")
    decimals = max(map(len, printed), default=0)
    return 10.0**-decimals if decimals <= 8 else 0.0
