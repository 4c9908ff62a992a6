"""himga-eval score, sql and runs: from a file of answers to numbers and a store to ask."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import polars as pl
import pytest

from himga_eval.cli.app import run
from himga_eval.store import Store
from tests.cli.conftest import DATA

LARCH, LOCOMO = str(DATA / "larch.jsonl"), f"--dataset=locomo={DATA / 'locomo_sample.json'}"


def lines(text: str) -> list[str]:
    """The lines of text, without the spaces that columns are made of."""
    return [" ".join(line.split()) for line in text.splitlines()]


def test_a_file_becomes_a_table_and_a_stored_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["score", LARCH, LOCOMO, "--run", "first", "--system", "larch"]) == 0
    out, err = capsys.readouterr()
    assert "first on locomo" in out
    assert "n 10 7 8 4 5 34 29" in lines(out)
    assert "f1 .608 .602 .649 .375 .700 .603 .586" in lines(out)
    assert "1 question without an answer, kept as missing: conv-2:7" in err
    assert err.endswith("kept as first in himga.duckdb\n")
    assert Store().runs().select("run", "system", "questions", "answered").row(0) == ("first", "larch", 34, 33)


def test_answers_without_question_types_have_a_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("plain.csv").write_text("question_id,prediction,ground_truth\nq1,Oslo,Oslo\nq2,,Rome\n", encoding="utf-8")
    for metrics in ("f1", ""):
        assert run(["score", "plain.csv", "--metrics", metrics]) == 0
        assert "plain on custom" in capsys.readouterr().out


def test_the_same_file_twice_is_no_new_run_and_other_answers_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = (
        Store().load("larch").select("dataset", "sample_id", "question_id", "question_type", "question", "ground_truth")
    )
    answers.with_columns(prediction=pl.lit("question")).write_ndjson("larch.jsonl")
    assert run(["score", "larch.jsonl", "--metrics", "f1"]) == 1
    out, err = capsys.readouterr()
    assert "larch on " in out, "the numbers come first: they cost nobody's store anything"
    assert "other answers under larch (50 answers differ)" in err
    assert "give the run another name (--run), or replace the stored one (--replace)" in err
    assert run(["score", "larch.jsonl", "--metrics", "f1", "--replace"]) == 0
    assert run(["score", "larch.jsonl", "--metrics", "f1"]) == 0
    assert Store().sql("select distinct prediction from results where run = 'larch'").rows() == [("question",)]


@pytest.mark.parametrize(
    ("args", "told"),
    [
        pytest.param(
            ["nothing.jsonl"], "no file nothing.jsonl; no run 'nothing.jsonl'; known: larch, wren", id="no file"
        ),
        pytest.param(["https://host/a.jsonl"], "https://host/a.jsonl is no file; download it", id="a URL"),
        pytest.param([str(DATA)], "data is a folder; give the path of a file; no run", id="a folder"),
        pytest.param(["himga.duckdb"], "is a DuckDB file: of a store give the name of a run", id="the store"),
        pytest.param(
            [LARCH, f"--dataset=locomo={DATA / 'longmemeval_sample.json'}"],
            "is longmemeval, not locomo",
            id="the other",
        ),
        pytest.param([LARCH, LARCH], "more than one run is named larch", id="twice the same"),
        pytest.param([LARCH, LARCH, "--run", "x"], "--run names one run, and there are 2", id="one name for two"),
        pytest.param([LARCH, "--dataset", "locomoo"], "no data set 'locomoo'; did you mean 'locomo'?", id="a data set"),
        pytest.param([LARCH, "--metrics", "F1"], "no metric 'F1'; did you mean 'f1'?", id="a metric"),
        pytest.param([LARCH, "--metrics", "judge_score"], "judge_score comes from judge_frame()", id="a judge's"),
        pytest.param([LARCH, "--fail-under", "f1"], "f1", id="a floor without a number"),
    ],
)
def test_errors(args: list[str], told: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["score", *args]) == 1
    err = capsys.readouterr().err
    assert "Traceback" not in err
    assert told in err.splitlines()[-1]


def test_questions_are_asked_in_sql(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query = (
        "select run, count(*) as n, round(avg(f1), 2) as f1 from scores where dataset = 'locomo' group by 1 order by 1"
    )
    assert run(["sql", query]) == 0
    assert lines(capsys.readouterr().out)[2:4] == ["larch 34 0.62", "wren 34 0.28"]
    assert run(["sql", query, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[1] == {"run": "wren", "n": 34, "f1": 0.28}
    assert run(["sql", query, "--format", "md"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "| run | n | f1 |"


@pytest.mark.parametrize(
    ("query", "told"),
    [
        pytest.param("select f2 from scores", 'Referenced column "f2" not found', id="no such column"),
        pytest.param("selec 1", 'syntax error at or near "selec" (line 1 of the query)', id="no SQL"),
        pytest.param("select 1,\n  prediction::int from scores", "(line 2 of the query)", id="no number"),
        pytest.param("delete from runs", "the store is opened for reading only", id="the store is for reading only"),
        pytest.param("select 1; select 2", "2 statements, and one is run at a time", id="two queries"),
        pytest.param("", "0 statements", id="no query"),
        pytest.param("select interval 1 month", "a column of the result is of a type", id="a type of no frame"),
    ],
)
def test_what_the_database_says_is_passed_on(
    query: str, told: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["sql", query]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")
    assert told in line


def test_runs_fit_a_terminal_and_keep_everything_for_programs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["runs"]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 100
    assert lines(out)[0] == "run system datasets questions answered metrics made (UTC)"
    assert lines(out)[2].startswith("larch locomo, longmemeval 50 49 4 20")
    assert run(["runs", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)[0]
    assert first["metrics"] == ["bleu1", "f1", "judge_score", "published_judge_score"]
    assert run(["runs", "--format", "csv"]) == 0
    (row, _) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert row["metrics"] == "bleu1, f1, judge_score, published_judge_score"


def test_without_a_store_it_says_how_to_make_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["runs"]) == 1
    assert "no store at himga.duckdb: `himga-eval score FILE` makes one" in capsys.readouterr().err


def test_settings_of_the_working_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "himga.duckdb").rename("mine.duckdb")
    file = folder / "himga-eval.toml"
    file.write_text(f'store = "mine.duckdb"\nmetrics = ["bleu1"]\ndataset = ["{LOCOMO[10:]}"]\n', encoding="utf-8")
    assert run(["table", "larch", "--format", "csv"]) == 0
    assert {row["metric"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))} == {"bleu1"}
    assert run(["table", "larch", "--format", "csv", "--metrics", "f1"]) == 0
    assert {row["metric"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))} == {"f1"}
    assert run(["score", LARCH, "--run", "anew", "--format", "csv"]) == 0
    assert {row["dataset"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))} == {"locomo"}
    file.write_text("colour = true\n", encoding="utf-8")
    assert run(["runs"]) == 1
    assert "no setting 'colour'" in capsys.readouterr().err
