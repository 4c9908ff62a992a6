"""Find the queries in `sql/` by name and run them on frames or on a store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from himga_eval.errors import UnknownName


class UnknownQuery(UnknownName):
    """A query that is not in `sql/`."""

    kind = "query"


def folder() -> Path:
    """Give the folder of the queries: inside the package in a wheel, beside it in a checkout."""
    package = Path(str(files("himga_eval")))
    installed = package / "sql"
    return installed if installed.is_dir() else package.parent / "sql"


def names() -> list[str]:
    """List the queries there are."""
    return sorted(path.stem for path in folder().glob("*.sql"))


def load(name: str) -> str:
    """Read the text of a query."""
    path = folder() / f"{name}.sql"
    if not path.is_file():
        raise UnknownQuery(name, names())
    return path.read_text(encoding="utf-8")


@contextmanager
def tables(frames: Mapping[str, pl.DataFrame]) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open an in-memory database in which each frame is a table of its name."""
    with duckdb.connect() as connection:
        for name, frame in frames.items():
            connection.register(name, frame)
        yield connection


def run(name: str, source: Mapping[str, pl.DataFrame] | duckdb.DuckDBPyConnection, **params: Any) -> pl.DataFrame:
    """Run a query on frames, or on an open database, and give its rows as a frame."""
    if isinstance(source, duckdb.DuckDBPyConnection):
        rows: pl.DataFrame = source.sql(load(name), params=params or None).pl()
        return rows
    with tables(source) as connection:
        return run(name, connection, **params)
