"""A JSON document of answers as flat rows, whatever its shape."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from himga_eval.errors import RunFileError, listed
from himga_eval.formats.names import is_known

Row = dict[str, Any]

WRAPPERS = ("results", "detailed_results", "individual_results", "predictions", "answers", "responses", "rows", "data")
"""The keys under which a document with a head of its own holds its rows."""


def rows_of(document: Any, path: Path) -> list[Row]:
    """Take the rows out of a JSON document: a list of them, or an object of one of SHAPES.

    A LoCoMo sample, which has its questions in `qa`, is as many rows.

    Raises:
        RunFileError: another shape.
    """
    if isinstance(document, list):
        for i, row in enumerate(document):
            if not isinstance(row, dict):
                raise RunFileError(f"{path}, item {i}: a {type(row).__name__}, not an object: {row!r:.80}")
        return [row for item in document for row in _questions_of(item)]
    if not isinstance(document, dict):
        raise RunFileError(f"{path} holds a {type(document).__name__}, not answers: {document!r:.80}")
    for shape in SHAPES:
        rows = shape(document, path)
        if rows is not None:
            return rows
    raise RunFileError(
        f"{path} is an object whose values are not rows; its keys: {listed(list(document), 12) or 'none'}; "
        f"rows may stand under: {', '.join(WRAPPERS)}"
    )


def _wrapped(document: Row, path: Path) -> list[Row] | None:
    """`{"results": <rows>, "metadata": ...}`; a list is taken for the rows before an object is."""
    for fits in (_is_rows, _is_groups, _is_objects):
        for name in WRAPPERS:
            if fits(document.get(name)):
                return rows_of(document[name], path)
    return None


def _by_conversation(document: Row, path: Path) -> list[Row] | None:
    """`{"conv-26": [<row>, ...], ...}`."""
    if not _is_groups(document):
        return None
    return [{"sample_id": name, **row} for name, rows in document.items() for row in rows]


def _by_column_and_index(document: Row, path: Path) -> list[Row] | None:
    """`{"question_id": {"0": ..., "1": ...}, "prediction": {...}}`, as pandas writes a frame."""
    if not _is_objects(document) or not _is_named(document):
        return None
    return _zipped({name: list(column.values()) for name, column in document.items()}, path)


def _by_id(document: Row, path: Path) -> list[Row] | None:
    """`{"q1": <row>, ...}`."""
    if not _is_objects(document):
        return None
    return [{"question_id": name, **row} for name, row in document.items()]


def _by_column(document: Row, path: Path) -> list[Row] | None:
    """`{"question_id": [...], "prediction": [...]}`."""
    if not document or not all(isinstance(column, list) for column in document.values()):
        return None
    return _zipped(document, path)


def _single(document: Row, path: Path) -> list[Row] | None:
    """`{"question_id": "q1", "prediction": ...}`, or one LoCoMo sample."""
    return _questions_of(document) if _is_named(document) or "qa" in document else None


def _texts_by_id(document: Row, path: Path) -> list[Row] | None:
    """`{"q1": "Rome", ...}`."""
    if not document or any(isinstance(value, (list, dict)) for value in document.values()):
        return None
    return [{"question_id": name, "prediction": value} for name, value in document.items()]


SHAPES = (_wrapped, _by_conversation, _by_column_and_index, _by_id, _by_column, _single, _texts_by_id)


def _questions_of(item: Row) -> list[Row]:
    if not _is_rows(item.get("qa")):
        return [item]
    return [{"sample_id": item.get("sample_id"), **qa} for qa in item["qa"]]


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(row, dict) for row in value)


def _is_groups(value: Any) -> bool:
    return isinstance(value, dict) and bool(value) and all(_is_rows(rows) for rows in value.values())


def _is_objects(value: Any) -> bool:
    return isinstance(value, dict) and bool(value) and all(isinstance(row, dict) for row in value.values())


def _is_named(document: Row) -> bool:
    return any(is_known(name) for name in document)


def _zipped(columns: dict[str, list[Any]], path: Path) -> list[Row]:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise RunFileError(f"{path} is an object of columns of different lengths: {told}")
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
