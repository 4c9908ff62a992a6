"""Judgements in a DuckDB file, each paid for once. Every call opens the file for a moment only."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from himga_eval import queries
from himga_eval.database import WAIT_S, connect
from himga_eval.errors import InputError, StoreError
from himga_eval.judge.schema import STORED

__all__ = ["WAIT_S", "cache_file", "export", "judges", "keep", "lookup", "spent", "stats"]

_DAMAGE = (duckdb.IOException, duckdb.FatalException, duckdb.InternalException, duckdb.SerializationException)


def cache_file(path: str | os.PathLike[str]) -> Path:
    """Give the DuckDB file of a cache path: for `scores.json` it is `scores.duckdb` beside it."""
    file = Path(path)
    return file.with_suffix(".duckdb") if file.suffix == ".json" else file


def keep(path: Path, rows: Sequence[Mapping[str, Any]], *, wait_s: float = WAIT_S) -> None:
    """Store judgements, all or none. A good one is never overwritten.

    Raises:
        StoreLocked, StoreError: the file is held by another process, or can't be used.
    """
    incoming = pl.DataFrame([{name: row[name] for name in STORED} for row in rows], STORED)
    with _opened(path, wait_s=wait_s) as connection:
        connection.execute(queries.load("create_judgements"))
        _check(connection, path)
        connection.register("incoming", incoming)
        connection.execute(queries.load("judgements_upsert"))


def lookup(path: Path, keys: pl.Series) -> pl.DataFrame:
    """Find the good judgements under these keys; there are none in a file that does not exist.

    Raises:
        StoreLocked, StoreError: the file is held by another process, or can't be used.
    """
    if not path.exists():
        return pl.DataFrame(schema=STORED)
    found = _query(path, "judgements_lookup", keys.unique().to_frame("cache_key"))
    return found.select(*STORED).cast(STORED)  # type: ignore[arg-type]


def judges(path: Path, rows: pl.DataFrame) -> pl.DataFrame:
    """List the judges that have judged some of these rows: judge_model, settings, judged."""
    if not path.exists():
        return pl.DataFrame(schema={"judge_model": pl.String, "settings": pl.String, "judged": pl.Int64})
    return _query(path, "judgements_judges", rows.select("mode", "prompt_hash", "content_hash", "repeat"))


def spent(path: Path, wanted: pl.DataFrame) -> pl.DataFrame:
    """Add up what judging has cost by run and dataset: `wanted` has a content_hash an answer."""
    if not path.exists():
        return pl.DataFrame(schema={"run": pl.String, "dataset": pl.String, "judge_usd": pl.Float64})
    return _query(path, "judgements_spent", wanted)


def stats(path: str | os.PathLike[str]) -> pl.DataFrame:
    """Count what a cache holds, by judge, mode and status, with tokens and dollars.

    Raises:
        StoreLocked, StoreError: the file is held by another process, is no cache, or can't be used.
    """
    with _reading(_existing(path)) as connection:
        return queries.run("judgements_stats", connection)


def export(path: str | os.PathLike[str], to: str | os.PathLike[str]) -> int:
    """Write all judgements of a cache to a .parquet, .csv or .jsonl file, and say how many there are."""
    target = Path(to)
    if target.suffix not in (".parquet", ".csv", ".jsonl"):
        raise InputError(f"can't tell the format of {target}; it must end in .parquet, .csv or .jsonl")
    with _reading(_existing(path)) as connection:
        rows: pl.DataFrame = connection.sql("from judgements order by created_at, cache_key").pl()
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.suffix == ".parquet":
        rows.write_parquet(target)
    elif target.suffix == ".csv":
        rows.write_csv(target)
    else:
        rows.write_ndjson(target)
    return rows.height


def _existing(path: str | os.PathLike[str]) -> Path:
    file = cache_file(path)
    if not file.is_file():
        raise StoreError(f"no cache at {file}: judging with this path makes one")
    return file


@contextmanager
def _opened(path: Path, *, read_only: bool = False, wait_s: float = WAIT_S) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the file; damage may show only when its pages are read."""
    with connect(path, read_only=read_only, wait_s=wait_s) as connection:
        try:
            yield connection
        except _DAMAGE as error:
            told = str(error).splitlines()[0]
            raise StoreError(
                f"{path} is damaged: {told}. It was left as it is; move it aside or name another file"
            ) from None


@contextmanager
def _reading(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open for reading; a file without judgements, as a store is before the first, reads as one with none."""
    with _opened(path, read_only=True) as connection:
        if not _columns(connection):
            connection.execute(queries.load("create_judgements").replace("create table", "create temp table"))
        _check(connection, path)
        yield connection


def _query(path: Path, name: str, wanted: pl.DataFrame) -> pl.DataFrame:
    with _reading(path) as connection:
        connection.register("wanted", wanted)
        return queries.run(name, connection)


def _columns(connection: duckdb.DuckDBPyConnection) -> set[str]:
    try:  # the catalogue's own tables take ten times as long to ask
        return {name for name, *_ in connection.execute("from judgements limit 0").description}
    except duckdb.CatalogException:
        return set()


def _check(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Make sure that the table is the one we know."""
    columns = _columns(connection)
    if columns != STORED.keys():
        differing = ", ".join(sorted(columns ^ STORED.keys()))
        raise StoreError(
            f"the judgements in {path} were written by another version of himga_eval: the columns {differing} differ. "
            "It was left as it is; name another file"
        )
