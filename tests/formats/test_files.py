from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from himga_eval.errors import RunFileError, RunFileNotFound
from himga_eval.formats import files
from himga_eval.formats.files import read_table

ROWS = [{"question_id": "q1", "prediction": "Rome"}, {"question_id": "q2", "prediction": None}]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("a.jsonl", LINES, id="jsonl"),
        pytest.param("a.json", LINES, id="lines-in-a-json-file"),
        pytest.param("a.jsonl", json.dumps(ROWS), id="array-in-a-jsonl-file"),
        pytest.param("a.jsonl", json.dumps(ROWS, indent=2), id="pretty-array-in-a-jsonl-file"),
        pytest.param("a.eval-results-gpt", LINES, id="extension-unknown"),
        pytest.param("a", LINES, id="no-extension"),
        pytest.param("a.jsonl", "\ufeff" + LINES, id="bom-before-lines"),
        pytest.param("a.json", "\ufeff" + json.dumps(ROWS), id="bom-before-document"),
        pytest.param("a.jsonl", LINES.replace("\n", "\r\n"), id="crlf"),
        pytest.param("a.jsonl", "\n\n" + LINES.replace("\n", "\n \n"), id="blank-lines"),
        pytest.param("a.jsonl", LINES.rstrip(), id="no-final-line-break"),
        pytest.param("a.csv", LINES, id="lines-in-a-csv-file"),
        pytest.param("a.csv", json.dumps(ROWS), id="array-in-a-csv-file"),
        pytest.param("a.csv", "question_id,prediction\nq1,Rome\nq2,\n", id="csv"),
        pytest.param("a.csv", "\ufeffquestion_id,prediction\r\nq1,Rome\r\nq2,\r\n", id="csv-of-windows"),
        pytest.param("a.csv", "question_id;prediction\nq1;Rome\nq2;\n", id="csv-with-semicolons"),
        pytest.param("a.csv", "question_id,prediction\n\nq1,Rome\n\nq2,\n\n", id="csv-with-blank-lines"),
        pytest.param("a.tsv", "question_id\tprediction\nq1\tRome\nq2\t\n", id="tsv"),
    ],
)
def test_the_same_rows_come_out_of_every_format(put: Any, name: str, content: str) -> None:
    assert read_table(put(name, content)).to_dicts() == ROWS


@pytest.mark.parametrize("name", ["run.parquet", "run.json", "run"])
def test_parquet_is_known_by_its_content(tmp_path: Path, name: str) -> None:
    pl.DataFrame(ROWS).with_columns(pl.lit(float("nan")).alias("f1")).write_parquet(tmp_path / name)
    assert read_table(tmp_path / name).to_dicts() == [{**row, "f1": None} for row in ROWS]


def test_objects_in_parquet_become_columns(tmp_path: Path) -> None:
    frame = pl.DataFrame({"prediction": ["x"], "label": [{"judge": {"model": "m"}, "ok": True}]})
    frame.write_parquet(tmp_path / "a.parquet")
    assert read_table(tmp_path / "a.parquet").to_dicts() == [
        {"prediction": "x", "label.judge.model": "m", "label.ok": True}
    ]


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity"])
def test_tokens_that_are_not_json_are_null(put: Any, token: str) -> None:
    table = read_table(put("a.jsonl", f'{{"prediction": "x", "f1": {token}}}\n{{"prediction": "y", "f1": 0.5}}\n'))
    assert table["f1"].to_list() == [None, 0.5]


def test_a_type_that_changes_late_makes_the_column_text(put: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[Any] = [{"question_id": str(i), "answer": 7} for i in range(200)]
    rows += [{"question_id": "z", "answer": "seven"}, {"question_id": "y", "answer": True}]
    path = put("a.jsonl", rows)
    expected = ["7"] * 200 + ["seven", "true"]
    assert read_table(path)["answer"].to_list() == expected
    monkeypatch.setattr(files, "CHUNK", 50)
    assert read_table(path)["answer"].to_list() == expected


def test_columns_that_come_late_are_kept(put: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "CHUNK", 2)
    rows = [{"a": "1"}, {"a": None}, {"a": None, "b": 2}, {"b": 2.5, "c": ["x"]}]
    table = read_table(put("a.jsonl", rows))
    assert table.to_dict(as_series=False) == {
        "a": ["1", None, None, None],
        "b": [None, None, 2.0, 2.5],
        "c": [None, None, None, ["x"]],
    }


class TestCsv:
    def test_words_for_nothing_stay_words(self, put: Any) -> None:
        path = put("a.csv", "question_id,prediction\na,NA\nb,null\nc,None\nd,true\ne,007\nf,1e5\n")
        assert read_table(path)["prediction"].to_list() == ["NA", "null", "None", "true", "007", "1e5"]

    def test_an_empty_text_is_told_from_null(self, tmp_path: Path) -> None:
        frame = pl.DataFrame({"question_id": ["1", "2"], "prediction": ["", None]})
        frame.write_csv(tmp_path / "a.csv")
        assert read_table(tmp_path / "a.csv").equals(frame)

    def test_quotes_separators_and_line_breaks_belong_to_the_text(self, put: Any) -> None:
        path = put("a.csv", 'question_id,prediction\r\nq1,"He said ""yes"",\r\n\r\nthen left"\r\n')
        assert read_table(path).rows() == [("q1", 'He said "yes",\r\n\r\nthen left')]

    def test_a_field_may_be_longer_than_the_standard_library_allows(self, put: Any) -> None:
        path = put("a.csv", f'question_id,prediction\nq1,"{"word " * 50_000}"\n')
        assert read_table(path)["prediction"].str.len_chars().to_list() == [250_000]


@settings(max_examples=50, deadline=None)
@given(
    texts=st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\n")), min_size=1, max_size=5
    ),
    suffix=st.sampled_from([".jsonl", ".json", ".csv", ".parquet"]),
)
def test_texts_survive_every_format(tmp_path_factory: pytest.TempPathFactory, texts: list[str], suffix: str) -> None:
    path = tmp_path_factory.mktemp("texts") / f"a{suffix}"
    frame = pl.DataFrame({"question_id": [str(i) for i in range(len(texts))], "prediction": texts})
    if suffix == ".csv":
        frame.write_csv(path)
    elif suffix == ".parquet":
        frame.write_parquet(path)
    elif suffix == ".json":
        path.write_text(json.dumps(frame.to_dicts(), ensure_ascii=False), encoding="utf-8")
    else:
        path.write_text("\n".join(json.dumps(row) for row in frame.to_dicts()), encoding="utf-8")
    assert read_table(path)["prediction"].to_list() == texts


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        pytest.param("a.jsonl", b"", ["is empty"], id="empty"),
        pytest.param("a.jsonl", b"\xef\xbb\xbf \n\n", ["is empty"], id="blank"),
        pytest.param("a.json", b"[]", ["has no rows"], id="empty-array"),
        pytest.param("a.csv", b"question_id,prediction\n", ["has no rows"], id="csv-of-a-header"),
        pytest.param(
            "a.jsonl",
            LINES.encode() + b'{"question_id": "q3", "pred',
            ["line 3", "not valid JSON", "the file ends within this line", '"q3", "pred'],
            id="last-line-cut",
        ),
        pytest.param(
            "a.jsonl",
            b'{"question_id": "q1"}\n\n{"question_id": q2}\n{"question_id": "q3"}\n',
            ["line 3", "Expecting value", '{"question_id": q2}'],
            id="bad-line-in-the-middle",
        ),
        pytest.param("a.jsonl", b'{"a": 1}\n{"a": 2},{"a": 3}\n', ["line 2", "Extra data"], id="two-objects-in-a-line"),
        pytest.param("a.jsonl", b'{"a": 1}\n[1, 2]\n', ["line 2", "a list, not an object"], id="a-line-is-no-object"),
        pytest.param("a.jsonl", b'{"a": 1}\n\0\0\0\n', ["line 2", "not valid JSON"], id="zero-bytes"),
        pytest.param("a.jsonl", b'{"a": 1}\n{"a": ' + b"9" * 5000 + b"}\n", ["line 2", "limit"], id="endless-number"),
        pytest.param("a.json", b'[{"a": 1},\n {"a": 2', ["line 2", "ends too early"], id="array-cut"),
        pytest.param("a.json", b'[{"a": 1}, "x"]', ["item 1", "a str, not an object"], id="array-of-mixed-things"),
        pytest.param("a.jsonl", b'{"a": 1}\n{"a": "caf\xe9"}\n', ["line 2", "0xe9", "UTF-8"], id="latin-1-lines"),
        pytest.param("a.json", b'[{"a": 1},\n{"a": "caf\xe9"}]', ["line 2", "0xe9", "UTF-8"], id="latin-1-document"),
        pytest.param(
            "a.csv", "question_id,prediction\nq1,café\n".encode("latin-1"), ["line 2", "UTF-8"], id="latin-1-csv"
        ),
        pytest.param("a.json", '{"a": 1}'.encode("utf-16"), ["UTF-16", "save it as UTF-8"], id="utf-16"),
        pytest.param("a.json", gzip.compress(LINES.encode()), ["gzip", "unpack"], id="gzip"),
        pytest.param("a.csv", b"", ["is empty"], id="empty-csv"),
        pytest.param("a.parquet", b"", ["is empty"], id="empty-parquet"),
        pytest.param("a.csv", "a,b\n1,2\n".encode("utf-16-le"), ["UTF-16"], id="utf-16-without-a-mark"),
        pytest.param("a.jsonl", b"<html>", ["is HTML or XML, as of a web page"], id="web-page"),
        pytest.param("a.jsonl", b"version https://git-lfs.github.com/spec/v1\n", ["git lfs pull"], id="git-lfs"),
        pytest.param("a.zst", b"\x28\xb5\x2f\xfd", ["Zstandard", "unpack"], id="zstandard"),
        pytest.param("a.jsonl", b"question_id,answer\n1,2\n", ["a CSV file is named .csv"], id="csv-named-jsonl"),
        pytest.param("a", b"\0" * 8 + b"DUCK", ["is a DuckDB file", "name of a run", "--store"], id="store"),
        pytest.param("a.xlsx", b"PK\x03\x04....", ["spreadsheet", "CSV"], id="spreadsheet"),
        pytest.param("a.parquet", b"PAR1\0\0", ["not a whole Parquet file"], id="parquet-cut"),
        pytest.param("a.txt", b"question,answer\n", ["neither", "question,answer", ".csv"], id="no-format"),
        pytest.param("a.csv", b"a,b,c\n1,2,3\n1,2\n", ["line 3", "2 fields", "the header has 3"], id="csv-row-short"),
        pytest.param("a.csv", b'a,b\n"1\n1",2\n1,2,3\n', ["line 4", "3 fields"], id="csv-row-long"),
        pytest.param("a.csv", b'a,b\n1,2\n1,"cut', ["line 3", "quote"], id="csv-cut-within-quotes"),
        pytest.param("a.csv", b'a,b\n1,"x"y\n', ["line 2", "quote"], id="csv-quote-not-doubled"),
        pytest.param("a.csv", b"a,a\n1,2\n", ["'a' stands twice"], id="csv-column-twice"),
        pytest.param("a.csv", b"a,b\r1,2\r", ["lines end in"], id="csv-of-an-old-mac"),
    ],
)
def test_what_cannot_be_read_is_said_with_the_place(put: Any, name: str, content: bytes, said: list[str]) -> None:
    path = put(name, content)
    with pytest.raises(RunFileError) as error:
        read_table(path)
    for part in (str(path), *said):
        assert part in str(error.value)


def test_a_line_at_fault_is_found_behind_the_first_chunk(put: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "CHUNK", 2)
    with pytest.raises(RunFileError, match="line 6: not valid JSON"):
        read_table(put("a.jsonl", '{"a": 1}\n' * 5 + "{\n"))


def test_a_missing_file_names_its_neighbour(put: Any) -> None:
    path = put("answers.jsonl", LINES)
    with pytest.raises(RunFileNotFound, match=r"no file .*answer\.jsonl; did you mean 'answers\.jsonl'\?") as error:
        read_table(path.with_name("answer.jsonl"))
    assert isinstance(error.value, FileNotFoundError)


@pytest.mark.parametrize("url", ["https://host/answers.jsonl", "s3://bucket/answers.jsonl"])
def test_a_url_is_no_file(url: str) -> None:
    with pytest.raises(RunFileNotFound, match=f"{url} is no file; download it, and give the path it then has"):
        read_table(Path(url))


def test_a_path_that_no_file_can_have(tmp_path: Path) -> None:
    with pytest.raises(RunFileError, match="cannot be read: embedded null byte"):
        read_table(tmp_path / "a\0b")


def test_a_missing_folder_is_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(RunFileNotFound, match="no file"):
        read_table(tmp_path / "nowhere" / "a.jsonl")


def test_a_folder_is_no_file(put: Any) -> None:
    path = put("a.jsonl", LINES)
    with pytest.raises(RunFileError, match=r"is a folder.*it holds: a\.jsonl"):
        read_table(path.parent)
