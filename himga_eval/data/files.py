"""The files of the data sets: found, read item by item, told apart."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Generator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from himga_eval.errors import DatasetError, DatasetNotFound, UnknownDataset, listed
from himga_eval.schema import QUESTION_TYPES

FILE_NAMES = {
    "locomo": ("locomo10.json",),
    "longmemeval": tuple(
        f"longmemeval_{part}{end}"
        for part in ("s_cleaned", "s", "m_cleaned", "m", "oracle")
        for end in (".json", "")  # the first release has no extension
    ),
}
"""The names under which each data set is published."""

ROOT_VARIABLE = "DATASETS_ROOT"

BOM = b"\xef\xbb\xbf"
"""A mark that some editors put first."""

FOREIGN: dict[bytes, str] = {
    b"\xff\xfe": "is UTF-16; save it as UTF-8",
    b"\xfe\xff": "is UTF-16; save it as UTF-8",
    b"\x1f\x8b": "is compressed by gzip; unpack it first",
    b"BZh": "is compressed by bzip2; unpack it first",
    b"\xfd7zXZ": "is compressed by xz; unpack it first",
    b"\x28\xb5\x2f\xfd": "is compressed by Zstandard; unpack it first",
    b"PK\x03\x04": "is a zip archive or a spreadsheet; unpack it, or export it as CSV",
    b"<": "is HTML or XML, as of a web page that was saved in place of the file",
    b"version https://git-lfs": "is a pointer of Git LFS; `git lfs pull` brings the file",
}
"""How files start that are none of ours, and what to do about it."""

Item = dict[str, Any]


def find_file(name: str, path: str | Path | None = None) -> Path:
    """Find the file of a data set: at `path`, below DATASETS_ROOT, in the cache, or at its publisher.

    `path` is a file or a folder. A folder, or its subfolder of the data set's name, holds the file under
    one of its published names, or as the one JSON file with the fields of the data set.

    Raises:
        UnknownDataset: no such data set.
        DatasetNotFound: not at `path`; or nowhere, and it could not be downloaded.
        DatasetError: the file is of the other data set, or a folder holds more than one.
    """
    if name not in QUESTION_TYPES:
        raise UnknownDataset(name, QUESTION_TYPES)
    if path is not None:
        given = Path(path).expanduser()
        if given.is_file():
            return _of_name(name, given)
        if not given.is_dir():
            raise DatasetNotFound(f"{name}: {no_file(given)}")
        if found := _in_folder(name, given):
            return _of_name(name, found)
        raise DatasetNotFound(
            f"{name}: no such file in {given}; it is usually called {' or '.join(FILE_NAMES[name][:2])}, "
            f"and the folder holds: {listed(sorted(p.name for p in given.iterdir())) or 'nothing'}"
        )
    from himga_eval.data.download import fetch

    if root := os.environ.get(ROOT_VARIABLE):
        if not Path(root).is_dir():
            raise DatasetNotFound(f"{name}: {ROOT_VARIABLE} is {root!r}, which is not a folder")
        if found := _in_folder(name, Path(root)):
            return _of_name(name, found)
    return fetch(name)


def _of_name(name: str, path: Path) -> Path:
    """Give the file back, unless it is the other data set's."""
    if (told := _dataset_of(path)) not in (name, None):
        raise DatasetError(f"{path} is {told}, not {name}: load it under that name")
    return path


def _in_folder(name: str, folder: Path) -> Path | None:
    folders = [f for f in (folder, folder / name) if f.is_dir()]
    found = [f / n for f in folders for n in FILE_NAMES[name] if (f / n).is_file()]
    if not found:
        found = [p for f in folders for p in sorted(f.glob("*.json")) if _dataset_of(p) == name]
    if len(found) > 1:
        raise DatasetError(
            f"{name}: {folder} holds more than one: {listed([str(p.relative_to(folder)) for p in found])}; "
            "give the path of the file"
        )
    return found[0] if found else None


def detect_dataset(path: str | Path) -> str:
    """Tell from the content of a file whether it is "locomo" or "longmemeval".

    Raises:
        DatasetError: it is neither, or not a JSON list.
        DatasetNotFound: no such file.
    """
    fields = _first_fields(Path(path))
    if name := _told_by(fields):
        return name
    raise DatasetError(
        f"{path} is neither LoCoMo (fields qa, conversation) nor LongMemEval (fields question_id, "
        f"question_type, question); its first item has: {listed(sorted(fields), 12) or 'no fields'}"
    )


def dataset_checksum(path: str | Path) -> str:
    """Compute the SHA-256 of the content: the same for copies that differ in layout or order of keys only."""
    digest = hashlib.sha256()
    for item in read_items(Path(path)):
        digest.update(json.dumps(item, sort_keys=True, separators=(",", ":")).encode() + b"\n")
    return digest.hexdigest()


def read_items(path: Path) -> Generator[Item, None, None]:
    """Yield the objects of a JSON list one by one; no more than one is held, whatever the file's size.

    Raises:
        DatasetError: not a list of objects, or it breaks off; says behind which item.
        DatasetNotFound: no such file.
    """
    import ijson

    count = 0
    try:
        with path.open("rb") as file:
            head = file.read(4096)
            _require_list(path, head)
            file.seek(len(BOM) if head.startswith(BOM) else 0)
            for item in ijson.items(file, "item", use_float=True):
                if not isinstance(item, dict):
                    raise DatasetError(f"{path}, item {count} is {type(item).__name__}, not an object: {item!r:.80}")
                yield item
                count += 1
    except ijson.JSONError as error:
        reason = str(error).removeprefix("b'").replace("\\n", "\n").splitlines()[0]
        raise DatasetError(f"{path} is not valid JSON (UTF-8) behind its first {count} items: {reason}") from None
    except FileNotFoundError:
        raise DatasetNotFound(no_file(path)) from None
    except IsADirectoryError:
        raise DatasetError(no_file(path)) from None
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror}") from None
    if not count:
        raise DatasetError(f"{path} is an empty list")


def _require_list(path: Path, head: bytes) -> None:
    if told := foreign(head):
        raise DatasetError(f"{path} {told}")
    start = head.removeprefix(BOM).lstrip()
    if not start:
        raise DatasetError(f"{path} is empty")
    if not start.startswith(b"["):
        raise DatasetError(f"{path} is no JSON list of objects; it starts with {head[:40]!r}")


def foreign(head: bytes) -> str | None:
    """Tell from how a file starts that it is no text in UTF-8, and what to do about it."""
    told = next((what for mark, what in FOREIGN.items() if head.removeprefix(BOM).lstrip().startswith(mark)), None)
    return told or ("is UTF-16; save it as UTF-8" if b"\0" in head[:2] else None)


def no_file(path: Path) -> str:
    """Say that there is no such file, and which is meant."""
    if re.match(r"[a-z][a-z0-9+]+:/", str(path)):
        return f"{str(path).replace(':/', '://', 1)} is no file; download it, and give the path it then has"
    if path.is_dir():
        return f"{path} is a folder; give the path of a file"
    there = sorted(p.name for p in path.parent.iterdir()) if path.parent.is_dir() else []
    near = get_close_matches(path.name, there, n=1)
    return f"no file {path}" + (f"; did you mean {near[0]!r}?" if near else "")


def _first_fields(path: Path) -> set[str]:
    items = read_items(path)
    try:
        return set(next(items))
    finally:
        items.close()


def _told_by(fields: set[str]) -> str | None:
    if fields >= {"qa", "conversation"}:
        return "locomo"
    answered = fields & {"hypothesis", "prediction"}
    if fields >= {"question_id", "question_type", "question"} and not answered:
        return "longmemeval"
    return None


def _dataset_of(path: Path) -> str | None:
    try:
        return _told_by(_first_fields(path))
    except DatasetError:  # any other JSON file of the folder
        return None
