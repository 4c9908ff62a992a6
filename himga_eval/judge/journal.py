"""Answers on disk the moment they come: a process that is killed loses none, and the next one takes them in."""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import IO, Any

from himga_eval.errors import StoreError, StoreLocked
from himga_eval.judge import cache

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows, which lets nobody delete a file that is open
    fcntl = None  # type: ignore[assignment]

logger = logging.getLogger(__name__)

FLUSH_S = 15.0
"""How often the cache is written to. Opening it takes as much as thirty calls, and the journal is on disk already."""

_numbers = count()


class Journal:
    """Write judgements to a file beside the cache as they come, and to the cache in batches.

    `add` may be called by any thread, the rest by one. Without a cache it only gathers.

    Raises:
        StoreError: no file can be written there; said before anything is asked and paid for.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.rows: list[dict[str, Any]] = []
        self._segments = [] if path is None else [_Segment(path)]
        self._lock = threading.Lock()
        self._flushed = time.monotonic()

    def add(self, row: dict[str, Any]) -> None:
        """Keep one judgement."""
        with self._lock:
            self.rows.append(row)
            if self.path is not None:
                if not self._segments or self._segments[-1].full:
                    self._segments.append(_Segment(self.path))
                self._segments[-1].add(row)

    def tick(self) -> None:
        """Write to the cache if it is time to; where another process holds it, there is no hurry."""
        if any(segment.rows for segment in self._segments) and time.monotonic() - self._flushed > FLUSH_S:
            try:
                self.flush(wait_s=1)
            except StoreLocked as error:
                logger.warning("%s; going on, with the answers kept in %s", error, self._segments[0].path)
                self._flushed = time.monotonic() + FLUSH_S

    def flush(self, wait_s: float = cache.WAIT_S) -> None:
        """Write to the cache what is not there yet.

        Raises:
            StoreLocked: another process holds it; the next run takes the answers in.
        """
        with self._lock:
            segments = list(self._segments)
            for segment in segments:
                segment.full = True
        rows = [row for segment in segments for row in segment.rows]
        if self.path is not None and rows:
            cache.keep(self.path, rows, wait_s=wait_s)
        with self._lock:
            for segment in segments:
                segment.remove()
                self._segments.remove(segment)
        self._flushed = time.monotonic()


class _Segment:
    """A file of judgements, a JSON line each, locked for as long as its process lives."""

    def __init__(self, cache_path: Path) -> None:
        self.path = cache_path.with_name(f"{cache_path.name}.{os.getpid()}-{next(_numbers)}.journal")
        self.rows: list[dict[str, Any]] = []
        self.full = False
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("w", encoding="utf-8")
        except OSError as error:
            raise StoreError(f"cannot write beside {cache_path}: {error.strerror}; name another file") from None
        _lock(self._file)

    def add(self, row: dict[str, Any]) -> None:
        self.rows.append(row)
        self._file.write(json.dumps(row, default=datetime.isoformat) + "\n")
        self._file.flush()

    def remove(self) -> None:
        self._file.close()
        self.path.unlink(missing_ok=True)


def recover(path: Path) -> int:
    """Take into the cache what processes that died had not written to it, and say how many judgements that were."""
    taken = 0
    for left in sorted(path.parent.glob(f"{path.name}.*.journal")):
        with left.open(encoding="utf-8") as file:
            if not _lock(file):
                continue  # its process is at work
            rows = [row for line in file if (row := _row(line))]
            if rows:
                cache.keep(path, rows)
        left.unlink(missing_ok=True)
        taken += len(rows)
    if taken:
        logger.info("took %d judgements of an interrupted run into %s", taken, path)
    return taken


def _row(line: str) -> dict[str, Any] | None:
    """Read a line back; the last one may be cut short."""
    try:
        row: dict[str, Any] = json.loads(line)
    except json.JSONDecodeError:
        return None
    return row | {"created_at": datetime.fromisoformat(row["created_at"])}


def _lock(file: IO[str]) -> bool:
    """Lock a file for as long as it is open, if nobody else has."""
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
    return True
