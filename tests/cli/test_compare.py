"""The commands that set runs side by side, from files, with their exit codes."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import polars as pl
import pytest

from himga_eval.cli.app import BELOW_GATE, UNDECIDED, run

LARCH, WREN = (str(Path(__file__).parents[2] / "data" / name) for name in ("larch.jsonl", "wren.jsonl"))


@pytest.fixture(autouse=True)
def _no_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIMGA_STORE", str(tmp_path / "himga.duckdb"))


def write(path: Path, scores: list[float], **columns: object) -> str:
    """Write answers with labels, ten questions a conversation."""
    rows = [
        {
            "dataset": "mine",
            "sample_id": f"conv-{i // 10}",
            "question_id": f"q{i}",
            "question_type": "temporal" if i % 2 else "place",
            "question": f"question {i}",
            "prediction": f"{path.stem} says {i}",
            "ground_truth": f"gold {i}",
            "published_judge_score": score,
            **columns,
        }
        for i, score in enumerate(scores)
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return str(path)


def test_two_files_are_compared_in_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", LARCH, WREN]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "published_judge_score of wren against larch on" in out
    assert "diff. is mean (wren) less base (larch); its 95 % interval is cluster-robust over 2 samples" in out
    assert "(rough below 30)" in out
    assert "below 50 questions: everywhere" in out


def test_what_no_score_can_reach_is_no_difference_to_be_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", LARCH, WREN, "--metrics", "f1"]) == 0
    assert "no overall difference would be found 80 % of the time" in " ".join(capsys.readouterr().out.split())


def test_programs_get_every_column(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", LARCH, WREN, "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {row["dataset"] for row in rows} == {"locomo", "longmemeval"}
    assert {row["metric"] for row in rows} == {"published_judge_score"}
    assert {"p_value", "p_mcnemar", "p_adjusted", "detectable", "verdict"} <= set(rows[0])


@pytest.mark.parametrize(
    ("scores", "options", "code", "told"),
    [
        pytest.param([0.0] * 100, [], BELOW_GATE, "regressed: ", id="all lost"),
        pytest.param([1.0, 0.0] * 5 + [1.0] * 90, [], UNDECIDED, "undecided: ", id="lost in one conversation"),
        pytest.param([1.0] * 99 + [0.0], ["--margin", "0.2"], 0, "passed: ", id="within the margin"),
        pytest.param([1.0, 0.0] * 50, ["--gate-on", "place"], UNDECIDED, "place on mine", id="a type without a change"),
        pytest.param(
            [1.0, 0.0] * 50, ["--gate-on", "temporal"], BELOW_GATE, "temporal on mine", id="a type that is lost"
        ),
    ],
)
def test_gates(
    scores: list[float], options: list[str], code: int, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base, other = write(tmp_path / "base.jsonl", [1.0] * 100), write(tmp_path / "other.jsonl", scores)
    assert run(["compare", base, other, "--fail-on", "regressed", *options]) == code
    assert told in capsys.readouterr().err


def test_incomparable_runs_are_refused_unless_forced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base, other = write(tmp_path / "base.jsonl", [1.0] * 20), write(tmp_path / "other.jsonl", [1.0] * 30)
    assert run(["compare", base, other]) == 1
    assert "base and other are not comparable; questions of mine: lacks 10" in capsys.readouterr().err
    assert run(["compare", base, other, "--force", "--format", "json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)[0]["count"] == 10
    assert "questions of mine differs: base: lacks 10" in captured.err


def test_settings_of_stored_runs_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from himga_eval.store import Store

    frame = pl.read_ndjson(write(tmp_path / "a.jsonl", [1.0] * 20)).with_columns(run=pl.lit("a"))
    store = Store()
    for name, model in (("a", "haiku"), ("b", "opus")):
        scored = frame.with_columns(run=pl.lit(name), judge_score="published_judge_score").drop("published_judge_score")
        store.save(scored, settings={"judge.model": model, "agent.k": name})
    assert run(["compare", "a", "b"]) == 1
    assert "judge.model: haiku / opus" in capsys.readouterr().err
    assert run(["compare", "a", "b", "--force"]) == 0
    assert "agent.k differs: a: a; b: b" in capsys.readouterr().err


def test_why_lists_what_moved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = write(tmp_path / "base.jsonl", [1.0, 0.0, 1.0], retrieved=["D1:1"])
    other = write(tmp_path / "other.jsonl", [0.0, 0.0, 1.0], retrieved=["D1:2"])
    assert run(["why", base, other, "--format", "csv", "--limit", "0"]) == 0
    captured = capsys.readouterr()
    (row,) = csv.DictReader(io.StringIO(captured.out))
    assert (row["question_id"], row["change"], row["cause"]) == ("q0", "lost", "other retrieval")
    assert captured.err == "lost, other retrieval: 1\n"
    assert run(["why", base, base.replace("base", "other"), "--limit", "1"]) == 0


def test_repeats_of_an_agent_and_of_a_judge(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [write(tmp_path / f"r{i}.jsonl", [1.0] * (10 + i) + [0.0] * (10 - i)) for i in range(3)]
    assert run(["repeats", *files, "--metrics", "published_judge_score", "--format", "csv"]) == 0
    rows = {row["question_type"]: row for row in csv.DictReader(io.StringIO(capsys.readouterr().out))}
    assert float(rows["overall"]["mean"]) == pytest.approx(0.55)
    assert float(rows["overall"]["sd"]) == pytest.approx(0.05)
    assert rows["overall"]["repeats"] == "3"
    judged = write(tmp_path / "j.jsonl", [1.0, 0.0], published_judge_score_1=1.0, published_judge_score_2=0.0)
    assert run(["repeats", judged, "--judge", "--metrics", "published_judge_score"]) == 0
    assert "the judgements anew" in capsys.readouterr().out


def test_retrieval_is_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "a.jsonl", [1.0, 0.0], retrieved=["D1:1", "D1:2"], evidence=["D1:2"])
    assert run(["retrieval", file, "--k", "1", "--k", "2", "--format", "csv"]) == 0
    rows = csv.DictReader(io.StringIO(capsys.readouterr().out))
    means = {row["metric"]: row["mean"] for row in rows if row["question_type"] == "overall"}
    assert (means["turn_recall_any@1"], means["turn_recall_any@2"], means["session_recall_all@1"]) == (
        "0.0",
        "1.0",
        "1.0",
    )
    assert run(["retrieval", file, "--metric", "published_judge_score", "--format", "csv"]) == 0
    last = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))[-1]
    assert (last["had_right"], last["had_wrong"]) == ("1", "1")


def test_refusals_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "a.jsonl", [1.0, 0.0], prediction="There is no information about that.")
    assert run(["refusals", file, "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["refused"] for row in rows] == ["1.0"] * 3


def test_a_floor_fails_the_build(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "a.jsonl", [1.0, 0.0, 1.0, 0.0])
    common = ["score", file, "--metrics", "f1", "--fail-under"]
    assert run([*common, "published_judge_score=0.5", "--fail-under", "place.published_judge_score=1"]) == 0
    assert run([*common, "temporal.published_judge_score=0.5"]) == BELOW_GATE
    assert "below 0.5: published_judge_score of a, temporal: 0.0000" in capsys.readouterr().err
    assert run([*common, "f1"]) == 1
