"""The bytes of a file as a frame of its own columns: JSONL, JSON, CSV, Parquet. Nothing is interpreted."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import polars as pl

from himga_eval.data.files import BOM, foreign, no_file
from himga_eval.database import MARK
from himga_eval.errors import RunFileError, RunFileNotFound, listed
from himga_eval.formats.columns import frame_of, stack
from himga_eval.formats.rows import Row, rows_of

CHUNK = 50_000
"""The lines that are held as Python objects at a time."""


def read_table(path: Path) -> pl.DataFrame:
    """Read a file as the frame of its own columns; objects within rows become columns `outer.inner`.

    What the file holds decides, not its extension, but for CSV, which is named .csv or .tsv. JSON numbers stay numbers
    where the whole column is, NaN and Infinity are null. All of CSV is text; there an empty cell is null, a quoted
    empty one is "".

    Raises:
        RunFileNotFound: no such file.
        RunFileError: not one of these, cut, empty, or not UTF-8; says in which line.
    """
    head = _head(path)
    start = head.removeprefix(BOM).lstrip()[:1]
    if head[8:].startswith(MARK):
        raise RunFileError(f"{path} is a DuckDB file: of a store give the name of a run, and this file as --store")
    if told := foreign(head):
        raise RunFileError(f"{path} {told}")
    if not start:
        raise RunFileError(f"{path} is empty")
    if head.startswith(b"PAR1"):
        table = _read_parquet(path)
    elif start in (b"{", b"["):
        table = _read_json(path)
    elif path.suffix.lower() in (".csv", ".tsv"):
        table = _read_csv(path)
    else:
        raise RunFileError(
            f"{path} is neither JSONL, JSON nor Parquet; it starts with {head[:40]!r}; a CSV file is named .csv or .tsv"
        )
    if table.is_empty():
        raise RunFileError(f"{path} has no rows")
    return table.with_columns(pl.selectors.by_dtype(pl.Null).cast(pl.String))


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(4096)
    except FileNotFoundError:
        raise RunFileNotFound(no_file(path)) from None
    except IsADirectoryError:
        inside = listed(sorted(p.name for p in path.iterdir())) or "nothing"
        raise RunFileError(f"{path} is a folder, not a file of answers; it holds: {inside}") from None
    except (OSError, ValueError) as error:
        raise RunFileError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _read_json(path: Path) -> pl.DataFrame:
    """Read one document, or a line each; a line that is a whole object, with others after it, tells."""
    with path.open("rb") as file:
        start = file.seek(3 if file.read(3) == BOM else 0)
        filled = (line for line in file if line.strip())
        first, second = next(filled), next(filled, None)
        file.seek(start)
        if second is not None and _is_object(first):
            return _read_lines(path, file)
        text = _decode(path, file.read())
    try:
        document = _loads(text)
    except (ValueError, RecursionError) as error:
        raise RunFileError(f"{path} is not valid JSON: {_at(error, text)}") from None
    return frame_of(rows_of(document, path))


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(_loads(line.decode()), dict)
    except (ValueError, RecursionError):
        return False


def _read_lines(path: Path, file: BinaryIO) -> pl.DataFrame:
    parts, number = [], 1
    while lines := list(islice(file, CHUNK)):
        parts.append(frame_of(_parse(path, lines, number)))
        number += len(lines)
    return stack(parts)


def _parse(path: Path, lines: Sequence[bytes], number: int) -> list[Row]:
    """Parse lines as one array, which is faster than one by one; where that fails, find the line at fault."""
    filled = [line for line in lines if line.strip()]
    try:
        rows = _loads(f"[{b','.join(filled).decode()}]")
    except (ValueError, RecursionError):
        _blame(path, lines, number)
    if len(rows) != len(filled) or not all(isinstance(row, dict) for row in rows):
        _blame(path, lines, number)
    return rows_of(rows, path) if rows else []


def _blame(path: Path, lines: Sequence[bytes], first: int) -> NoReturn:
    for number, line in enumerate(lines, first):
        if not line.strip():
            continue
        text = _decode(path, line, number)
        where = f"{path}, line {number}"
        try:
            value = _loads(text)
        except (ValueError, RecursionError) as error:
            cut = "" if line.endswith(b"\n") else "; the file ends within this line"
            reason = error.msg if isinstance(error, json.JSONDecodeError) else error
            raise RunFileError(f"{where}: not valid JSON ({reason}){cut}: {text.strip()!r:.80}") from None
        if not isinstance(value, dict):
            raise RunFileError(f"{where}: a {type(value).__name__}, not an object: {text.strip()!r:.80}")
    raise RunFileError(f"{path}: lines {first} to {first + len(lines) - 1} are not one object a line")


def _loads(text: str) -> Any:
    return json.loads(text, parse_constant=lambda _: None)


def _at(error: Exception, text: str) -> str:
    if not isinstance(error, json.JSONDecodeError):
        return str(error)
    cut = "; the file ends too early" if not text[error.pos :].strip() else ""
    return f"line {error.lineno}, column {error.colno}: {error.msg}{cut}"


def _decode(path: Path, content: bytes, number: int = 1) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = number + content.count(b"\n", 0, error.start)
        raise RunFileError(
            f"{path}, line {line}: not UTF-8 (byte 0x{content[error.start]:02x}, as in Latin-1 or Windows-1252 files); "
            "save the file as UTF-8"
        ) from None


def _read_csv(path: Path) -> pl.DataFrame:
    content = path.read_bytes()
    text = _decode(path, content)
    separator = max(",;\t", key=text.partition("\n")[0].count)
    header = _check_csv(path, text, separator)
    try:
        table = pl.read_csv(content, separator=separator, infer_schema=False)
    except pl.exceptions.PolarsError as error:
        raise RunFileError(f"{path}: {str(error).splitlines()[0]}") from None
    if table.columns != header:
        raise RunFileError(f"{path}: the header cannot be told apart from the rows; lines end in \\n or \\r\\n")
    return table.filter(pl.any_horizontal(pl.all().is_not_null()))


def _check_csv(path: Path, text: str, separator: str) -> list[str]:
    """Check that all rows have the fields of the header, which Polars fills up in silence; return the header."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    limit = csv.field_size_limit(sys.maxsize)
    line = 1
    try:
        header = next(reader, [])
        for name in header:
            if header.count(name) > 1:
                raise RunFileError(f"{path}: column {name!r} stands twice in the header")
        line = reader.line_num + 1
        for fields in reader:
            if fields and len(fields) != len(header):
                raise RunFileError(
                    f"{path}, line {line}: {len(fields)} fields, but the header has {len(header)}; "
                    "a text with the separator, a quote or a line break in it stands in quotes"
                )
            line = reader.line_num + 1
    except csv.Error as error:
        raise RunFileError(f"{path}, line {line}: {error}; a quote within a quoted text is doubled") from None
    finally:
        csv.field_size_limit(limit)
    return header


def _read_parquet(path: Path) -> pl.DataFrame:
    try:
        table = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise RunFileError(f"{path} is not a whole Parquet file: {str(error).splitlines()[0]}") from None
    while structs := [name for name, dtype in table.schema.items() if dtype == pl.Struct]:
        table = table.unnest(structs, separator=".")
    return table.with_columns(pl.selectors.float().fill_nan(None))
