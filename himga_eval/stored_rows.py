"""What the store keeps of a frame of results: the rows of its tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import polars as pl

from himga_eval.errors import InputError
from himga_eval.schema import KEY, RESULTS, Results, require_key, results_frame
from himga_eval.scoring import PUBLISHED, finite, protocols, score_columns, scores_in
from himga_eval.values import text_series

VERSIONS = ("himga-eval", "polars", "duckdb")
"""The packages whose versions are noted with a run."""

_TEXTS: pl.DataType = pl.Map(pl.String, pl.String)
_RUNS: dict[str, pl.DataType] = {
    "run": pl.String(),
    "system": pl.String(),
    "repeat": pl.Int32(),
    "tags": _TEXTS,
    "created_at": pl.Datetime("us", "UTC"),
    "datasets": _TEXTS,
    "versions": _TEXTS,
    "settings": _TEXTS,
}


COLUMNS: dict[str, Sequence[str]] = {
    "runs": tuple(_RUNS),
    "results": (*RESULTS, "position", "extra"),
    "score_values": (*KEY, "protocol", "metric", "score"),
}
"""The tables of ours, and the columns that they have."""


def keyed(results: Results) -> pl.DataFrame:
    """Bring results to a frame that can be stored.

    Raises:
        InputError, DuplicateRows: a row has no key, or shares it; a score is no number.
    """
    frame = results_frame(results)
    require_key(frame)
    scores_in(frame)
    return frame


def run_rows(
    frame: pl.DataFrame,
    system: str | None = None,
    repeat: int | None = None,
    tags: Mapping[str, str] | None = None,
    checksums: Mapping[str, str] | None = None,
    settings: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """Make the rows of the table runs: what is said is said of every run.

    Raises:
        InputError: what is noted is no text, or no number of a repeat.
    """
    if not (repeat is None or (isinstance(repeat, int) and 0 <= repeat < 2**31)):
        raise InputError(f"repeat={repeat!r}: it is the number of a repeat, a whole one")
    datasets = frame.group_by("run", maintain_order=True).agg(pl.col("dataset").unique(maintain_order=True))
    known = _noted("checksums", checksums)
    said = {
        "system": system,
        "repeat": repeat,
        "tags": _noted("tags", tags),
        "created_at": datetime.now(UTC),
        "versions": {package: version(package) for package in VERSIONS},
        "settings": _noted("settings", settings),
    }
    rows = [
        {"run": run, "datasets": {name: known.get(name) for name in names}} | said for run, names in datasets.rows()
    ]
    return pl.DataFrame(rows, schema=_RUNS)


def _noted(what: str, given: Mapping[str, Any] | None) -> dict[str, str | None]:
    """Take names and what is said of them, numbers as their text."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(f"{what} is a mapping of names to texts, not {given!r:.80}")
    return dict(zip(text_series(what, list(given)), text_series(what, list(given.values())), strict=True))


def result_rows(frame: pl.DataFrame, places: pl.Series | None = None) -> pl.DataFrame:
    """Make the rows of the table results; what has no column of its own goes into `extra`, as JSON."""
    scores = score_columns(frame)
    other = [c for c in frame.columns if c not in (*RESULTS, *scores, "protocol")]
    if other == ["extra"] and _is_json(frame["extra"]):
        extra = pl.col("extra")  # as it was loaded
    elif other:
        extra = pl.struct(_as_json_has_it(frame[name]) for name in other).struct.json_encode()
    else:
        extra = pl.lit(None, pl.String)
    return frame.select(
        *(c for c in RESULTS if c in frame.columns),
        (pl.int_range(pl.len()).over("run") if places is None else pl.lit(places)).alias("position"),
        extra.alias("extra"),
    )


def _as_json_has_it(column: pl.Series) -> pl.Series:
    """Turn a column of bytes or Python objects, or with some inside, to text; others are as they are."""
    if _has_json(column.dtype):
        return column
    return pl.Series(column.name, [None if value is None else str(value) for value in column.to_list()])


def _has_json(dtype: Any) -> bool:
    if isinstance(dtype, pl.Struct):
        return all(_has_json(field.dtype) for field in dtype.fields)
    if isinstance(dtype, (pl.List, pl.Array)):
        return _has_json(dtype.inner)
    return dtype not in (pl.Binary, pl.Object)


def _is_json(column: pl.Series) -> bool:
    try:
        return column.dtype == pl.String and all(isinstance(json.loads(text), dict) for text in column.drop_nulls())
    except ValueError:
        return False


def value_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """Make the rows of the table score_values."""
    published = pl.col("metric").str.starts_with(PUBLISHED)
    return (
        frame.select(*KEY, protocols(frame), *(finite(name) for name in score_columns(frame)))
        .unpivot(index=[*KEY, "protocol"], variable_name="metric", value_name="score")
        .with_columns(pl.when(published).then(pl.lit("published")).otherwise("protocol").alias("protocol"))
    )
