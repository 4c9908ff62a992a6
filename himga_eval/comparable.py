"""What makes a comparison of two runs void, and what else differs between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import polars as pl

from himga_eval import queries
from himga_eval.cuts import protocol_of
from himga_eval.errors import Incomparable, listed
from himga_eval.metrics.catalog import FAMILY
from himga_eval.scoring import finite

Settings: TypeAlias = Mapping[str, Mapping[str, str]]
"""What was noted of runs, by name: `{"larch": {"dataset.locomo": "<checksum>", "judge.model": "..."}}`."""

DIFFERENCES: dict[str, pl.DataType] = {
    "setting": pl.String(),
    "base": pl.String(),
    "base_value": pl.String(),
    "run": pl.String(),
    "value": pl.String(),
    "voids": pl.Boolean(),
}
"""The columns of what differs between runs: a row a setting; `voids` says that their scores cannot be compared."""

MEANING = ("model", "layer", "weights", "rescaled", "prompts", "options")
"""The settings `<metric>.<name>` that change what a metric means; where it ran, or how fast, does not. Revisions of
data sets (`dataset.<name>`) and of protocols (`protocol.<name>`) void too."""

JUDGE = ("judge_model", "prompt_hash")
"""The columns of judgements that say who judged, and by what wording."""

SAME = ("question_type", "question", "ground_truth")
"""What two runs must say alike of a question."""

KEY = ("dataset", "sample_id", "question_id")

_Found: TypeAlias = tuple[str, str, str, bool]


def differing(
    base: pl.DataFrame, run: pl.DataFrame, metrics: Sequence[str], settings: Settings | None = None
) -> pl.DataFrame:
    """List what differs between two runs: their questions, golds and protocols, and what was noted of them.

    A setting that is unknown of one run does not void the comparison.
    """
    names = str(base["run"][0]), str(run["run"][0])
    ours, theirs = ((settings or {}).get(name, {}) for name in names)
    found = [
        *_questions(base, run),
        *_golds(base, run),
        *_protocols(base, run, metrics),
        *_judges(base, run, metrics),
        *_ranges(base, run, metrics),
        *_noted(ours, theirs, metrics),
    ]
    rows = [(setting, names[0], left, names[1], right, voids) for setting, left, right, voids in found]
    return pl.DataFrame(rows, schema=DIFFERENCES, orient="row")


def require_comparable(differences: pl.DataFrame) -> None:
    """Check that nothing of what differs voids a comparison.

    Raises:
        Incomparable: lists what does.
    """
    void = differences.filter("voids")
    if void.height:
        reasons = [f"{row['setting']}: {row['base_value']} / {row['value']}" for row in void.iter_rows(named=True)]
        raise Incomparable(
            f"{void['base'][0]} and {void['run'][0]} are not comparable; {'; '.join(reasons)}. "
            "Score both alike, or compare what they share with force=True (--force)"
        )


def _questions(base: pl.DataFrame, run: pl.DataFrame) -> Iterator[_Found]:
    datasets = [frame["dataset"].unique().sort().to_list() for frame in (base, run)]
    if datasets[0] != datasets[1]:
        shared = set(datasets[0]).intersection(datasets[1])
        yield "data sets", listed(datasets[0]), listed(datasets[1]), not shared
    both = pl.concat([_asked(base, "base"), _asked(run, "run")])
    missing = queries.run("check_missing", {"results": both})
    for (dataset,), rows in missing.group_by("dataset", maintain_order=True):
        told = [_lacking(rows.filter(run=side)) for side in ("base", "run")]
        yield f"questions of {dataset}", told[0], told[1], True


def _lacking(rows: pl.DataFrame) -> str:
    if rows.is_empty():
        return "has all"
    kinds = rows["question_type"].fill_null("(none)").unique().sort()
    return f"lacks {rows.height:,} ({', '.join(kinds)}): {listed(rows['question_id'].to_list(), 3)}"


def _asked(frame: pl.DataFrame, side: str) -> pl.DataFrame:
    types = pl.col("question_type") if "question_type" in frame.columns else pl.lit(None, pl.String)
    return frame.select(pl.lit(side).alias("run"), *KEY, types.alias("question_type"), "prediction")


def _golds(base: pl.DataFrame, run: pl.DataFrame) -> Iterator[_Found]:
    """A gold that differs is the mark of another revision of the data set."""
    names = [name for name in SAME if name in base.columns and name in run.columns]
    pairs = base.select(*KEY, *names).join(run.select(*KEY, *names), on=KEY, suffix="_run", maintain_order="left")
    for name in names:
        other = pairs.filter(pl.col(name) != pl.col(f"{name}_run"))  # what one of them does not say is no difference
        if other.height:
            first = other.row(0, named=True)
            told = f"{other.height:,} differ, the first is {first['question_id']}: {first[name]!r:.80}"
            yield name, told, f"{first[f'{name}_run']!r:.80}", True


def _protocols(base: pl.DataFrame, run: pl.DataFrame, metrics: Sequence[str]) -> Iterator[_Found]:
    names = {(protocol_of(base, metric), protocol_of(run, metric)) for metric in metrics}
    for ours, theirs in sorted(names):
        if ours != theirs:
            yield "protocol", ours, theirs, True


def _judges(base: pl.DataFrame, run: pl.DataFrame, metrics: Sequence[str]) -> Iterator[_Found]:
    if "judge_score" not in metrics:
        return
    for name in JUDGE:
        if name in base.columns and name in run.columns:
            ours, theirs = (listed(frame[name].drop_nulls().unique().sort().to_list()) for frame in (base, run))
            if ours != theirs:
                yield name, ours or "none", theirs or "none", True


def _ranges(base: pl.DataFrame, run: pl.DataFrame, metrics: Sequence[str]) -> Iterator[_Found]:
    values = pl.concat(_values(frame, side, metrics) for frame, side in ((base, "base"), (run, "run")))
    outside = queries.run("check_scores", {"score_values": values})
    for (metric,), rows in outside.group_by("metric", maintain_order=True):
        told = [
            f"{part.height:,} outside its range, the first {part['score'][0]:g} of {part['question_id'][0]}"
            if part.height
            else "in its range"
            for part in (rows.filter(run=side) for side in ("base", "run"))
        ]
        yield f"scores of {metric}", told[0], told[1], True


def _values(frame: pl.DataFrame, side: str, metrics: Sequence[str]) -> pl.DataFrame:
    return frame.select(
        pl.lit(side).alias("run"), *KEY, pl.lit("").alias("protocol"), *(finite(name) for name in metrics)
    ).unpivot(index=["run", *KEY, "protocol"], variable_name="metric", value_name="score")


def _noted(ours: Mapping[str, str], theirs: Mapping[str, str], metrics: Sequence[str]) -> Iterator[_Found]:
    rooms = {*metrics, *(FAMILY.get(metric, metric) for metric in metrics)}
    for name in sorted({*ours, *theirs}):
        left, right = ours.get(name), theirs.get(name)
        if left == right:
            continue
        room, _, last = name.partition(".")
        voids = room in ("dataset", "protocol") or (room in rooms and last in MEANING)
        yield name, left or "unknown", right or "unknown", voids and left is not None and right is not None
