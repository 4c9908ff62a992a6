"""Data sets from their publishers, into a cache."""

from __future__ import annotations

import hashlib
import os
import sys
from http import HTTPStatus
from http.client import HTTPException
from io import BufferedRandom
from pathlib import Path
from typing import NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from himga_eval.errors import DatasetError, DatasetNotFound


class Source(NamedTuple):
    """Where a file is published, and the SHA-256 of its bytes."""

    file: str
    url: str
    sha256: str


SOURCES = {
    "locomo": Source(
        "locomo10.json",
        "https://raw.githubusercontent.com/snap-research/locomo/main/data/locomo10.json",
        "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4",
    ),
    "longmemeval": Source(
        "longmemeval_s_cleaned.json",
        "https://huggingface.co/datasets/xiaowu0162/longmemeval-cleaned/"
        "resolve/98d7416c24c778c2fee6e6f3006e7a073259d48f/longmemeval_s_cleaned.json",
        "d6f21ea9d60a0d56f34a05b609c79c88a451d2ae03597821ea3d5a9678c3a442",
    ),
}
"""What is downloaded; other files of LongMemEval (M, oracle, the first release) are loaded by path."""

ATTEMPTS = 3
CHUNK = 1 << 18
TIMEOUT_S = 30


def cache_folder() -> Path:
    """Return the folder of downloads: HIMGA_CACHE, else himga_eval below XDG_CACHE_HOME or ~/.cache."""
    if own := os.environ.get("HIMGA_CACHE"):
        return Path(own).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "himga_eval"


def fetch(name: str) -> Path:
    """Return the data set's file in the cache, downloaded first where it is absent.

    A download that was cut goes on where it stopped, now or in the next call; a second process waits
    for the first. The file appears under its name only when it is whole and its checksum is right.

    Raises:
        DatasetNotFound: it could not be downloaded; says which file to put where.
        DatasetError: what came is not the file that is known.
    """
    source = SOURCES[name]
    target = cache_folder() / source.file
    if target.is_file():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.with_name(f"{source.file}.part").open("a+b") as part:
            _lock(part)
            if not target.is_file():  # the process that held the lock may have brought it
                _complete(source, part)
                Path(part.name).replace(target)
    except (OSError, HTTPException) as error:
        raise DatasetNotFound(
            f"{name}: no path given, nothing in DATASETS_ROOT or the cache, and {source.url} could not be "
            f"downloaded ({error}); put {source.file} into {target.parent}, or into a folder that "
            "DATASETS_ROOT names, or give its path"
        ) from None
    return target


def _complete(source: Source, part: BufferedRandom) -> None:
    """Append to the partial file until it is whole, and check it."""
    for _ in range(ATTEMPTS):
        start = part.seek(0, os.SEEK_END)
        try:
            whole = _append(source, part, start)
        except HTTPError as error:
            if error.code != HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                raise
            _empty(part)  # longer than the file it is a part of
            continue
        if not whole:
            continue
        part.seek(0)
        found = hashlib.file_digest(part, "sha256").hexdigest()
        if found == source.sha256:
            return
        _empty(part)
        if not start:  # else the parts may be of two files
            raise DatasetError(
                f"{source.url} is not the file that is known: SHA-256 {found}, not {source.sha256}; "
                "if you trust it, download it yourself and give its path"
            )
    raise ConnectionError(f"cut {ATTEMPTS} times, at {part.tell():,} bytes, where the next call goes on")


def _append(source: Source, part: BufferedRandom, start: int) -> bool:
    """Append what the publisher sends from `start` on; True if it came to the end."""
    from tqdm.auto import tqdm

    request = Request(source.url, headers={"Range": f"bytes={start}-"} if start else {})
    with urlopen(request, timeout=TIMEOUT_S) as response:
        if response.status != HTTPStatus.PARTIAL_CONTENT:
            start = 0
            _empty(part)
        length = response.headers["Content-Length"]
        total = start + int(length) if length else None
        # disable=None: no bar where nobody watches.
        with tqdm(desc=source.file, total=total, initial=start, unit="B", unit_scale=True, disable=None) as bar:
            while True:
                try:
                    chunk = response.read(CHUNK)
                except (OSError, HTTPException):
                    return False
                if not chunk:
                    return total in (None, part.tell())
                part.write(chunk)
                bar.update(len(chunk))


def _empty(part: BufferedRandom) -> None:
    part.seek(0)
    part.truncate()


def _lock(part: BufferedRandom) -> None:
    """Wait until no other process writes here, where the platform can tell."""
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(part, fcntl.LOCK_EX)
