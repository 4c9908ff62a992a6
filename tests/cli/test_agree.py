"""The commands that hold a judge against people."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from himga_eval.cli.app import run


@pytest.fixture(autouse=True)
def _no_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIMGA_STORE", str(tmp_path / "himga.duckdb"))


@pytest.fixture
def answers(tmp_path: Path) -> str:
    path = tmp_path / "larch.jsonl"
    rows = [
        {
            "dataset": "mine",
            "sample_id": f"conv-{i % 5}",
            "question_id": f"q{i}",
            "question_type": "temporal",
            "question": f'question "{i}",\nin two lines',
            "prediction": f"answer {i}",
            "ground_truth": f"gold {i}",
            "published_judge_score": float(i % 4 > 0),
        }
        for i in range(100)
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return str(path)


def test_labels_of_two_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "labels.csv"
    file.write_text(
        "question_type,judge_score,human\na,1,CORRECT\na,0,WRONG\nb,1,WRONG\nb,1,AMBIGUOUS\n", encoding="utf-8"
    )
    assert run(["agree", str(file), "--format", "csv"]) == 0
    rows = {row["question_type"]: row for row in csv.DictReader(io.StringIO(capsys.readouterr().out))}
    assert (rows["a"]["raw"], rows["b"]["raw"], rows["overall"]["count"], rows["overall"]["left_out"]) == (
        *("1.0", "0.0", "3", "1"),
    )
    assert run(["agree", str(file), "--first", "nobody"]) == 1
    assert "no column 'nobody'" in capsys.readouterr().err


def test_from_the_draw_through_labels_to_a_corrected_mean(
    answers: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet = tmp_path / "labels.csv"
    metric = ["--metric", "published_judge_score"]
    assert run(["label", answers, "--count", "40", "-o", str(sheet), *metric]) == 0
    assert "40 answers to label" in capsys.readouterr().err
    with sheet.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 40
    for row in rows:  # the judge is too kind: it passes all but a quarter, where a person passes half
        row["human"] = "right" if int(row["question_id"][1:]) % 4 > 1 else "wrong"
    with sheet.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    assert run(["calibrate", answers, "--labels", str(sheet), "--format", "csv", *metric]) == 0
    overall = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))[-1]
    assert (overall["judge_mean"], overall["labelled"]) == ("0.75", "40")
    assert float(overall["lo"]) < 0.5 < float(overall["hi"]) < 0.75


def test_the_draw_is_printed_where_no_file_is_named(answers: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["label", answers, "--count", "3", "--metric", "published_judge_score"]) == 0
    assert len(list(csv.DictReader(io.StringIO(capsys.readouterr().out)))) == 3
