"""Python values and columns as text, numbers and lists of ids, or one error that names the row that is none."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from datetime import date, time
from numbers import Number, Real
from typing import Any, NoReturn
from uuid import UUID

import polars as pl

from himga_eval.errors import InputError, RunWarning

WANTED: dict[pl.DataType, str] = {
    pl.String(): "a text",
    pl.Float64(): "a number",
    pl.Int64(): "a whole number of 64 bits",
    pl.Boolean(): "true or false",
    pl.List(pl.String()): "a list of ids",
}
"""The dtypes that columns are brought to, in words."""


def cast(column: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Bring a column to one of WANTED: 2022 is "2022", true "true", NaN null, a duration its seconds.

    Raises:
        InputError: a value that cannot be brought to it; names the first.
    """
    if column.dtype == dtype:
        return column.fill_nan(None) if dtype == pl.Float64 else column
    if column.dtype == pl.Object or (dtype == pl.String and (column.dtype.is_float() or column.dtype == pl.Binary)):
        return series(column.name, column.to_list(), dtype)
    if column.dtype == pl.Duration:
        column = column.dt.total_microseconds() / 1_000_000
    if dtype.is_numeric() and column.dtype == pl.String:
        column = column.str.strip_chars()
    found = _cast(column, dtype)
    whole = column.fill_nan(None) if column.dtype.is_float() else column
    if (lost := found.is_null() & whole.is_not_null()).any():
        row = lost.arg_max() or 0
        _refuse(column.name, row, column[row], WANTED[dtype])
    return found.fill_nan(None) if dtype == pl.Float64 else found


def series(name: str, values: Sequence[Any], dtype: pl.DataType) -> pl.Series:
    """Make a column of Python values, as `cast` would.

    Raises:
        InputError: a value that cannot be brought to the dtype; names the first.
    """
    if dtype == pl.String:
        return text_series(name, values)
    if isinstance(dtype, pl.List):
        return pl.Series(name, _each(name, values, _ids, WANTED[dtype]), dtype=dtype)
    try:
        return cast(pl.Series(name, values, dtype=dtype), dtype)
    except (TypeError, OverflowError):  # of several types: each may still be the text of a number
        return cast(text_series(name, values), dtype)


def text_series(name: str, values: Sequence[Any]) -> pl.Series:
    """Turn values of mixed types to text: 2022 is "2022", True "true"; None, NaN and pandas' NA are null.

    Warns:
        RunWarning: half of a surrogate pair, which UTF-8 does not have, was replaced.

    Raises:
        InputError: a list, an object or another thing that is no text; names the first.
    """
    texts = _each(name, values, _text, "a text")
    try:
        return pl.Series(name, texts, dtype=pl.String)
    except UnicodeEncodeError:
        return pl.Series(name, [text and whole_text(text, name) for text in texts], dtype=pl.String)


def whole_text(text: str, name: str) -> str:
    """Replace halves of surrogate pairs, as a limit of length leaves them where it cuts an emoji in two.

    Warns:
        RunWarning: there was one, in the column of this name.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        message = f"column {name!r}: half of a surrogate pair is replaced by U+FFFD in {whole!r:.80}"
        warnings.warn(message, RunWarning, stacklevel=2)
        return whole
    return text


def is_missing(value: Any) -> bool:
    """Tell None, NaN and pandas' NA and NaT."""
    if type(value).__name__ in ("NAType", "NaTType"):  # of no use in a condition
        return True
    return value is None or (isinstance(value, Real) and not isinstance(value, int) and math.isnan(value))


def _cast(column: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Cast what can be, and give null for what cannot."""
    nothing = pl.Series(column.name, [None] * len(column), dtype=dtype)
    if dtype == pl.Boolean:
        words = cast(column, pl.String()).str.strip_chars().str.to_lowercase()
        return words.replace_strict({"true": True, "1": True, "false": False, "0": False}, default=None)
    if (column.dtype.is_nested() and dtype == pl.String) or (column.dtype.is_temporal() and dtype.is_numeric()):
        return nothing
    try:
        found = column.cast(dtype, strict=False)
    except pl.exceptions.PolarsError:
        return nothing
    return found.set(found != column, None) if dtype == pl.Int64 and column.dtype.is_float() else found


def _each(name: str, values: Iterable[Any], convert: Callable[[Any], Any], wanted: str) -> list[Any]:
    """Convert every value; a TypeError or ValueError says that it cannot be."""
    converted = []
    for row, value in enumerate(values):
        try:
            converted.append(convert(value))
        except (TypeError, ValueError):
            _refuse(name, row, value, wanted)
    return converted


def _refuse(name: str, row: int, value: Any, wanted: str) -> NoReturn:
    if isinstance(value, pl.Series):
        value = value.to_list()
    raise InputError(f"column {name!r}, row {row}: {value!r:.80} ({type(value).__name__}) is not {wanted}") from None


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return str.__str__(value)  # the text of a subclass, as an enumeration is, and not its name
    if is_missing(value):
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # a column of integers with a gap arrives as floats
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (Number, date, time, UUID)):
        return str(value)
    raise TypeError


def _ids(value: Any) -> list[str | None] | None:
    if is_missing(value):
        return None
    if isinstance(value, (str, bytes, dict)):
        raise TypeError
    return [text and whole_text(text, "ids") for text in map(_text, value)]
