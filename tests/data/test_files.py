from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from himga_eval.data import dataset_checksum, detect_dataset, load_dataset
from himga_eval.data.download import SOURCES
from himga_eval.data.files import FILE_NAMES, find_file, read_items
from himga_eval.errors import DatasetError, DatasetNotFound, HimgaEvalError, UnknownDataset

LOCOMO = {"sample_id": "conv-7", "conversation": {}, "qa": []}
LONGMEMEVAL = {"question_id": "q1", "question_type": "multi-session", "question": "Where?", "answer": "Rome"}
ANSWER = LONGMEMEVAL | {"hypothesis": "Rome"}


def write(file: Path, *items: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(items), encoding="utf-8")
    return file


@pytest.fixture
def no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, no DATASETS_ROOT, and publishers that do not answer; returns the cache."""
    monkeypatch.setenv("HIMGA_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("DATASETS_ROOT", raising=False)
    for name, source in SOURCES.items():
        monkeypatch.setitem(SOURCES, name, source._replace(url="http://127.0.0.1:9/nothing.json"))
    return tmp_path / "cache"


@pytest.mark.parametrize(
    ("name", "files", "expected"),
    [
        pytest.param("locomo", {"locomo10.json": LOCOMO}, "locomo10.json", id="published name"),
        pytest.param("locomo", {"locomo/locomo10.json": LOCOMO}, "locomo/locomo10.json", id="in a subfolder"),
        pytest.param(
            "locomo", {"locomo10.json": LOCOMO, "audit.json": LOCOMO}, "locomo10.json", id="beside another file"
        ),
        pytest.param("longmemeval", {"longmemeval_s": LONGMEMEVAL}, "longmemeval_s", id="no extension"),
        pytest.param("longmemeval", {"longmemeval_oracle.json": LONGMEMEVAL}, "longmemeval_oracle.json", id="oracle"),
        pytest.param(
            "longmemeval",
            {"questions.json": LONGMEMEVAL, "conversations.json": LOCOMO, "answers.json": ANSWER},
            "questions.json",
            id="told by its content",
        ),
    ],
)
def test_a_folder_holds_the_file(tmp_path: Path, name: str, files: dict[str, Any], expected: str) -> None:
    for file, item in files.items():
        write(tmp_path / file, item)
    assert find_file(name, tmp_path) == tmp_path / expected


@pytest.mark.parametrize(
    ("files", "message"),
    [
        pytest.param(
            ["longmemeval_s.json", "longmemeval_oracle.json"],
            r"holds more than one: longmemeval_s.json, longmemeval_oracle.json; give the path",
            id="two published names",
        ),
        pytest.param(["a.json", "b.json"], "holds more than one: a.json, b.json", id="two told by content"),
        pytest.param(
            ["notes.txt"], r"usually called longmemeval_s_cleaned.json or .* the folder holds: notes.txt", id="none"
        ),
        pytest.param([], "the folder holds: nothing", id="an empty folder"),
    ],
)
def test_a_folder_that_does_not_tell_lists_what_it_holds(tmp_path: Path, files: list[str], message: str) -> None:
    for file in files:
        write(tmp_path / file, LONGMEMEVAL)
    with pytest.raises(DatasetError, match=message):
        find_file("longmemeval", tmp_path)


def test_a_path_that_is_not_there_is_never_downloaded(tmp_path: Path) -> None:
    with pytest.raises(DatasetNotFound, match=r"locomo: no file .*gone\.json"):
        find_file("locomo", tmp_path / "gone.json")


def test_an_unknown_data_set_names_the_nearest() -> None:
    with pytest.raises(UnknownDataset, match="no data set 'locommo'; did you mean 'locomo'"):
        load_dataset("locommo")


def test_datasets_root_goes_before_the_cache(tmp_path: Path, no_network: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cached = write(no_network / "locomo10.json", LOCOMO)
    assert find_file("locomo") == cached
    monkeypatch.setenv("DATASETS_ROOT", str(tmp_path / "root"))
    with pytest.raises(DatasetNotFound, match=r"DATASETS_ROOT is .*root', which is not a folder"):
        find_file("locomo")
    (tmp_path / "root").mkdir()
    assert find_file("locomo") == cached
    rooted = write(tmp_path / "root" / "locomo" / "locomo10.json", LOCOMO)
    assert find_file("locomo") == rooted


def test_offline_one_error_says_which_file_to_put_where(no_network: Path) -> None:
    with pytest.raises(DatasetNotFound) as caught:
        load_dataset("locomo")
    message = str(caught.value)
    assert message.startswith("locomo: no path given, nothing in DATASETS_ROOT or the cache")
    assert "http://127.0.0.1:9/nothing.json could not be downloaded" in message
    assert f"put locomo10.json into {no_network}, or into a folder that DATASETS_ROOT names" in message
    assert isinstance(caught.value, FileNotFoundError)


@pytest.mark.parametrize(
    ("item", "expected"),
    [pytest.param(LOCOMO, "locomo", id="locomo"), pytest.param(LONGMEMEVAL, "longmemeval", id="longmemeval")],
)
def test_a_data_set_is_told_by_its_content(tmp_path: Path, item: Any, expected: str) -> None:
    assert detect_dataset(write(tmp_path / "some.json", item)) == expected


@pytest.mark.parametrize("item", [pytest.param(ANSWER, id="answers"), pytest.param({"a": 1}, id="anything")])
def test_a_file_of_neither_kind_is_an_error_with_its_fields(tmp_path: Path, item: Any) -> None:
    with pytest.raises(DatasetError, match=f"neither LoCoMo .* nor LongMemEval .*: {', '.join(sorted(item))}"):
        detect_dataset(write(tmp_path / "some.json", item))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"", "broken.json is empty", id="empty"),
        pytest.param(b"[]", "is an empty list", id="empty list"),
        pytest.param(
            b'{"qa": []}\n', r"is no JSON list of objects; it starts with b'\{\"qa\"", id="an object or JSONL"
        ),
        pytest.param(b"question_id,question\n", "is no JSON list of objects; it starts with b'question_id", id="CSV"),
        pytest.param(b"\x1f\x8b\x08", "is compressed by gzip; unpack it first", id="compressed"),
        pytest.param('[{"a": 1}]'.encode("utf-16"), "is UTF-16; save it as UTF-8", id="UTF-16"),
        pytest.param('[{"a": 1}]'.encode("utf-16-le"), "is UTF-16; save it as UTF-8", id="UTF-16 without a mark"),
        pytest.param(b"<!DOCTYPE html>", "is HTML or XML, as of a web page", id="a web page"),
        pytest.param(b"version https://git-lfs.github.com/spec/v1", "`git lfs pull` brings the file", id="Git LFS"),
        pytest.param(b"[1]", "item 0 is int, not an object: 1", id="a list of numbers"),
        pytest.param(b'[{"a": 1}, {"b":', "first 1 items: parse error: premature EOF", id="breaks off"),
        pytest.param(b'[{"a": 1}]\n[{"a": 2}]', "first 1 items: .*trailing garbage", id="two lists"),
        pytest.param('[{"a": "caf\xe9"}]'.encode("latin-1"), "JSON .UTF-8. .*invalid bytes", id="latin-1"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_error(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "broken.json"
    file.write_bytes(content)
    with pytest.raises(HimgaEvalError, match=message) as caught:
        list(read_items(file))
    assert str(file) in str(caught.value)


def test_no_file_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(DatasetNotFound, match=r"no file .*gone\.json"):
        detect_dataset(tmp_path / "gone.json")
    with pytest.raises(DatasetError, match="is a folder; give the path of a file"):
        detect_dataset(tmp_path)
    write(tmp_path / "locomo10.json", LOCOMO)
    with pytest.raises(DatasetNotFound, match=r"no file .*locomo1\.json; did you mean 'locomo10\.json'\?"):
        find_file("locomo", tmp_path / "locomo1.json")
    with pytest.raises(DatasetNotFound, match=r"https://host/locomo10\.json is no file; download it"):
        find_file("locomo", "https://host/locomo10.json")


@pytest.mark.parametrize(("asked", "item"), [("locomo", LONGMEMEVAL), ("longmemeval", LOCOMO)])
def test_the_file_of_the_other_data_set_is_told(tmp_path: Path, asked: str, item: Any) -> None:
    other = {"locomo": "longmemeval", "longmemeval": "locomo"}[asked]
    file = write(tmp_path / FILE_NAMES[asked][0], item)
    for path in (file, tmp_path):
        with pytest.raises(DatasetError, match=f"is {other}, not {asked}: load it under that name"):
            load_dataset(asked, path)


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    file = tmp_path / "bom.json"
    file.write_bytes(b"\xef\xbb\xbf" + json.dumps([LOCOMO]).encode())
    assert list(read_items(file)) == [LOCOMO]


def test_the_checksum_is_of_the_content(tmp_path: Path) -> None:
    item = {"b": [1, 2.5, None], "a": "caf\u00e9"}
    base = dataset_checksum(write(tmp_path / "a.json", item, {"c": 1}))
    other = tmp_path / "b.json"
    other.write_text('[\n {"a": "caf\u00e9", "b": [1, 2.5, null]},\n {"c": 1}]', encoding="utf-8")
    assert dataset_checksum(other) == base
    assert dataset_checksum(write(tmp_path / "c.json", item, {"c": 2})) != base
    assert dataset_checksum(write(tmp_path / "d.json", {"c": 1}, item)) != base
