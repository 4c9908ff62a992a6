"""Rows of any keys and values as a frame that loses none of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from himga_eval.values import text_series, whole_text

WIDEST = 50
"""An object with more keys than this over all rows is no record; it stays one column, as JSON text."""

_SCALARS: dict[frozenset[type], pl.DataType] = {
    frozenset(): pl.Null(),
    frozenset({str}): pl.String(),
    frozenset({bool}): pl.Boolean(),
    frozenset({int}): pl.Int64(),
    frozenset({float}): pl.Float64(),
    frozenset({int, float}): pl.Float64(),
}


def frame_of(rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """Make a frame of rows: objects become columns `outer.inner`, values of mixed types text.

    Warns:
        RunWarning: half of a surrogate pair, which UTF-8 does not have, was replaced.
    """
    names = dict.fromkeys(name for row in rows for name in row)
    columns = (column for name in names for column in _columns(whole_text(name, name), [row.get(name) for row in rows]))
    return pl.DataFrame(list({column.name: column for column in columns}.values()))


def stack(parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Put frames below each other; a column whose type is not the same in all becomes text."""
    kinds: dict[str, set[pl.DataType]] = {}
    for part in parts:
        for name, dtype in part.schema.items():
            if dtype != pl.Null:
                kinds.setdefault(name, set()).add(dtype)
    mixed = {name for name, found in kinds.items() if len(found) > 1 and not all(d.is_numeric() for d in found)}
    alike = [part.with_columns(as_text(part[name]) for name in part.columns if name in mixed) for part in parts]
    return pl.concat(alike, how="diagonal_relaxed")


def as_text(column: pl.Series) -> pl.Series:
    """Turn a column of any type to text: 2022 is "2022", true "true", a list its JSON.

    Raises:
        InputError: bytes that are not UTF-8; names the row.
    """
    if column.dtype == pl.String:
        return column
    if column.dtype.is_nested() or column.dtype.is_float() or column.dtype in (pl.Binary, pl.Object):
        return _texts(column.name, column.to_list())
    return column.cast(pl.String)


def _columns(name: str, values: list[Any]) -> list[pl.Series]:
    kinds = frozenset(map(type, values)) - {type(None)}
    if kinds == {dict}:
        keys = dict.fromkeys(key for value in values if value for key in value)
        if len(keys) <= WIDEST:
            inner = ((key, [value.get(key) if value else None for value in values]) for key in keys)
            return [column for key, found in inner for column in _columns(f"{name}.{whole_text(key, key)}", found)]
    try:
        if kinds == {list} and not any(isinstance(item, (list, dict)) for value in values for item in value or ()):
            return [_list_column(name, values)]
        if kinds in _SCALARS:
            return [pl.Series(name, values, dtype=_SCALARS[kinds])]
    except (OverflowError, TypeError, UnicodeEncodeError):
        pass  # an integer beyond 64 bits, or half of a surrogate pair
    return [_texts(name, values)]


def _list_column(name: str, values: list[Any]) -> pl.Series:
    # Arrow builds lists forty times as fast as Polars does.
    import pyarrow as pa  # type: ignore[import-untyped]

    try:
        column = pl.Series(name, pa.array(values))
    except pa.ArrowException:  # items of several types
        return _texts(name, values)
    return column.cast(pl.List(pl.String)) if column.dtype == pl.List(pl.Null) else column


def _texts(name: str, values: Iterable[Any]) -> pl.Series:
    nested = (list, dict)
    return text_series(
        name, [json.dumps(v, ensure_ascii=False, default=str) if isinstance(v, nested) else v for v in values]
    )
