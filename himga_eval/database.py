"""Open a DuckDB file: patiently where another process holds it, with a plain word where it cannot be used."""

from __future__ import annotations

import logging
import random
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from himga_eval.errors import StoreError, StoreLocked

logger = logging.getLogger(__name__)

WAIT_S = 30.0
"""How long to wait for another process to let go of the file."""

MARK = b"DUCK"
"""What a DuckDB file starts with, behind a checksum of eight bytes."""


@contextmanager
def connect(path: Path, *, read_only: bool = False, wait_s: float = WAIT_S) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the file for a moment. Keep the moment short: DuckDB lets one process write, or several read.

    Raises:
        StoreLocked: another process held the file for `wait_s` seconds; names it.
        StoreError: the file is damaged, no DuckDB database, of a newer DuckDB, or cannot be opened.
    """
    _require_database(path)
    if not read_only:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"cannot make the folder of {path}: {error.strerror}; name another file") from None
    connection = _open(path, read_only, time.monotonic() + wait_s, wait_s)
    try:
        yield connection
    finally:
        connection.close()


def _require_database(path: Path) -> None:
    """Refuse what is there and no DuckDB file; for a .json or .csv DuckDB opens a database in memory, which is lost."""
    head = b""
    try:
        for pause in (0, 0.1, 0.5):  # a process that is making the file may not have written yet
            time.sleep(pause)
            with path.open("rb") as file:
                if head := file.read(8 + len(MARK)):
                    break
    except FileNotFoundError:
        return
    except IsADirectoryError:
        raise StoreError(f"{path} is a folder; a store is a file, as {path / 'himga.duckdb'}") from None
    except (OSError, ValueError) as error:
        raise StoreError(f"cannot open {path}: {getattr(error, 'strerror', None) or error}") from None
    if not head.endswith(MARK):
        what = f"it starts with {head!r}" if head else "it is empty"
        raise StoreError(
            f"{path} is damaged or no DuckDB file: {what}. It was left as it is; move it aside or name another file"
        )


def _open(path: Path, read_only: bool, deadline: float, wait_s: float) -> duckdb.DuckDBPyConnection:
    pause, said = 0.01, False
    while True:
        try:
            return duckdb.connect(path, read_only=read_only)
        except duckdb.ConnectionException:
            # This process has the file open; DuckDB shares that connection, but not under other settings.
            if not read_only:
                raise StoreLocked(f"this process has {path} open for reading only; close that connection") from None
            read_only = False
        except duckdb.Error as error:
            message = str(error)
            if "Could not set lock" not in message:
                raise StoreError(_explain(path, message)) from None
            holder = _holder(message)
            if time.monotonic() > deadline:
                raise StoreLocked(
                    f"{path} is held by {holder}, for {wait_s:g} s now; "
                    "close it there (a notebook or `duckdb` shell with an open connection holds it) and run again"
                ) from None
            if not said and pause > 0.3:
                logger.warning("waiting for %s, held by %s", path, holder)
                said = True
            time.sleep(pause * random.uniform(0.5, 1.5))
            pause = min(pause * 2, 0.5)


def _holder(message: str) -> str:
    found = re.search(r"lock is held in (.*?) \(PID (\d+)\)", message)
    return f"process {found[2]} ({found[1]})" if found else "another process"


def _explain(path: Path, message: str) -> str:
    first = message.splitlines()[0]
    if "WAL" in message:
        return (
            f"the log {path}.wal is damaged, probably by a crash: {first}. Move it aside and run again: "
            f"{path} then opens as it was at its last checkpoint"
        )
    if "Corrupt" in message or "Could not read enough bytes" in message:
        return f"{path} is damaged: {first}. It was left as it is; move it aside or name another file"
    if "version" in message:
        return (
            f"{path} was written by another DuckDB than the {duckdb.__version__} here: {first}. "
            "Upgrade duckdb, or export the file with the DuckDB that wrote it"
        )
    return f"cannot open {path}: {first}"
