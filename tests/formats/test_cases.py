"""The cases of public bug reports that concern files of answers, with their own inputs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from himga_eval.errors import RunFileError, RunWarning
from himga_eval.formats import join_run, read_answers, read_run


@pytest.fixture(scope="module")
def case(shared: Path) -> Callable[[str], dict[str, Any]]:
    lines = (shared / "cases/public_cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = {one["id"]: one["input"] for one in map(json.loads, lines)}
    return cases.__getitem__


def test_d13_types_have_many_spellings(put: Any, case: Any) -> None:
    types = case("D13")["question_types"]
    questions = pl.DataFrame({"question_id": ["0", "1", "2"], "question_type": types, "ground_truth": ["x"] * 3})
    rows = [{"question_id": str(i), "prediction": "x", "question_type": t} for i, t in enumerate(types)]
    frame, (report,) = join_run(read_answers(put("a.jsonl", rows)), questions)
    assert frame["question_type"].unique().to_list() == ["single_session_user"]
    assert report.other_types == []


def test_d18_unknown_ids_are_counted_and_not_scored(put: Any, case: Any) -> None:
    given = case("D18")
    questions = pl.DataFrame({"question_id": given["references"], "ground_truth": ["x"]})
    rows = [*given["predictions"], {"question_id": "q1", "prediction": "x"}]
    frame, (report,) = join_run(read_answers(put("a.jsonl", rows)), questions)
    assert frame["question_id"].to_list() == ["q1"]
    assert report.without_question == ["zzz"]


def test_d19_d31_lines_and_arrays(put: Any, case: Any) -> None:
    given = case("D19")
    assert read_answers(put(given["file_name"], given["content"]))["prediction"].to_list() == ["Rome"]
    assert read_answers(put("a.json", case("D31")["content"])).height == 2


def test_d22_d33_encodings(put: Any, case: Any) -> None:
    content = case("D22")["bytes"].partition("then ")[2]
    row = read_answers(put("a.jsonl", b"\xef\xbb\xbf" + content.encode())).row(0, named=True)
    assert (row["question_id"], row["prediction"]) == ("q1", "x")
    with pytest.raises(RunFileError, match=r"a\.csv, line 2: not UTF-8"):
        read_answers(put("a.csv", case("D33")["bytes_latin1"].encode("latin-1")))


def test_d24_a_type_that_changes_late(put: Any) -> None:
    rows = [{"question_id": str(i), "answer": 7} for i in range(200)] + [{"question_id": "z", "answer": "seven"}]
    assert read_answers(put("a.jsonl", rows))["prediction"].to_list() == ["7"] * 200 + ["seven"]


def test_d26_d27_d28_texts_of_csv(put: Any, case: Any, tmp_path: Path) -> None:
    rows = case("D26")["frame"]
    pl.from_dicts(rows).write_csv(tmp_path / "round.csv")
    assert read_answers(tmp_path / "round.csv").select("question_id", "prediction").to_dicts() == rows
    words = read_answers(put("words.csv", case("D27")["csv"]))["prediction"]
    assert words.to_list() == ["NA", "null", "None", "true"]
    assert read_answers(put("quotes.csv", case("D28")["csv"]))["prediction"].to_list() == [
        'He said "yes",\r\nthen left'
    ]


def test_d29_a_file_that_was_cut(put: Any, case: Any) -> None:
    with pytest.raises(RunFileError, match=r"line 2: not valid JSON .*the file ends within this line"):
        read_answers(put("a.jsonl", case("D29")["content"]))


def test_d30_nan_is_null(put: Any) -> None:
    answers = read_answers(put("a.jsonl", '{"prediction": "x", "judge_score": NaN}\n'))
    assert answers["published_judge_score"].to_list() == [None]


def test_d31_a_good_row_after_a_failed_one(put: Any, case: Any) -> None:
    with pytest.warns(RunWarning, match="no gold"):
        frame = read_run(put("a.jsonl", case("D31")["content"]))
    assert frame.select("question_id", "prediction").rows() == [("q1", "Rome")]
