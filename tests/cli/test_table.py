"""himga-eval table: runs side by side, as people and programs want them."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from himga_eval.cli.app import run
from himga_eval.judge.cache import keep
from himga_eval.judge.schema import STORED
from himga_eval.judge.templates import digest
from himga_eval.store import Store
from tests.cli.conftest import DATA


def printed(args: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert run(["table", *args]) == 0
    return capsys.readouterr().out


def lines(text: str) -> list[str]:
    """The lines of text, without the spaces that columns are made of."""
    return [" ".join(line.split()) for line in text.splitlines()]


def test_stored_runs_side_by_side(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(["larch", "wren", "--metrics", "f1"], capsys)
    assert out.startswith("f1 on locomo\n")
    assert "larch .608 .602 .649 .375 .700 .603 .586" in lines(out)
    assert "run n=10 n=7 n=8 n=4 n=5 n=34 n=29" in lines(out)
    assert "Rests on locomo" in out
    assert "bold" not in out, "what is piped is not bold"


def test_a_paper_in_latex(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(["larch", "wren", "--metrics", "f1,bleu1", "--format", "latex", "--percent"], capsys)
    assert r"\cmidrule(lr){2-3}" in out
    assert r"larch & \textbf{60.8} & \textbf{44.9} & " in out
    assert out.count(r"\begin{tabular}") == 2


def test_markdown_with_ranges(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(["larch", "wren", "--metrics", "f1", "--format", "md", "--interval", "range"], capsys)
    assert "| larch | **.608** | **.602** |" in out
    assert "**.448** [.253,.644]" in out
    assert "bold: highest." in out


def test_programs_get_the_summary(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(printed(["larch", "--metrics", "f1", "--json"], capsys))
    overall = next(row for row in rows if (row["dataset"], row["question_type"]) == ("locomo", "overall"))
    assert overall["mean"] == pytest.approx(0.6026353816040299)
    assert overall["count"] == 34
    assert "latency_p50_s" not in overall


def test_costs_have_a_table_of_their_own_and_columns_for_programs(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = Store().load("larch").select("question", "ground_truth", "prediction").row(0)
    row: dict[str, object] = dict.fromkeys(STORED) | {
        **{"cache_key": "k", "content_hash": digest(*texts), "repeat": 1, "status": "ok", "score": 1.0, "attempts": 1},
        **dict.fromkeys(("judge_model", "settings", "mode", "prompt_hash", "prompt_source"), "x"),
        **{"cost_usd": 0.25, "created_at": datetime.now(UTC)},
    }
    keep(folder / "himga.duckdb", [row])
    out = printed(["larch", "wren", "--metrics", "f1", "--cost"], capsys)
    assert "cost on locomo" in lines(out)
    assert "larch 33 1.86 2.80 2,218 7 0.25" in lines(out)
    assert "wren 32 0.66 1.00 736 5 –" in lines(out)
    rows = csv.DictReader(io.StringIO(printed(["larch", "--metrics", "f1", "--cost", "--format", "csv"], capsys)))
    assert {float(row["judge_usd"]) for row in rows if row["dataset"] == "locomo"} == {0.25}


def test_repeats_of_a_system(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["table", "larch", "wren", "--interval", "sd"]) == 1
    assert "no two of larch, wren are of one that the store knows of" in capsys.readouterr().err
    store = Store()
    for name in ("larch", "wren"):
        store.save(store.load(name), system="tree")
    out = printed(["larch", "wren", "--metrics", "f1", "--interval", "sd"], capsys)
    assert "tree on locomo" in out
    assert ".432±.242" in out  # of .6026 and .2605
    rows = json.loads(printed(["larch", "wren", "--metrics", "f1", "--interval", "sd", "--json"], capsys))
    assert {row["repeats"] for row in rows} == {2}
    assert {row["run"] for row in rows} == {"tree"}
    out = printed(["larch", "wren", "--metrics", "f1", "--interval", "sd", "--with", "published:mem0"], capsys)
    assert "Mem0 (mem0) .476 " in "\n".join(lines(out)), "what was published has no repeats"


def test_errata_for_programs_are_one_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "errata.csv").write_text("question_id,correct_answer\nconv-1:1,May\n", encoding="utf-8")
    rows = json.loads(printed(["larch", "--metrics", "f1", "--errata", "errata.csv", "--json"], capsys))
    temporal = [row for row in rows if row["question_type"] == "temporal"]
    assert len(temporal) == 3
    assert {(row["questions"], row["faulty"], row["ceiling"]) for row in temporal} == {(8, 1, 0.875)}


def test_files_stand_beside_stored_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Store().load("wren").with_columns(run=pl.lit("finch")).write_parquet("finch.parquet")
    out = printed(["larch", "finch.parquet", "--metrics", "f1"], capsys)
    assert any(line.startswith("finch .428 .230 ") for line in lines(out))
    assert Store().runs()["run"].to_list() == ["larch", "wren"]


def test_published_figures_beside(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(["larch", "--metrics", "f1", "--with", "published:mem0", "--format", "md"], capsys)
    assert "| Mem0 (mem0) | 47.6" not in out
    assert "| Mem0 (mem0) | .476 |" in out
    assert "under the same protocol" in out


@pytest.mark.parametrize(
    ("args", "told"),
    [
        pytest.param(["larhc"], "no run 'larhc'; did you mean 'larch'?", id="a run that is not stored"),
        pytest.param(["larch.csv"], "no file larch.csv; no run 'larch.csv'", id="a file"),
        pytest.param(["larch", "--metrics", "rouge_l"], "no metric 'rouge_l'; did you mean 'rougeL'?", id="a metric"),
        pytest.param(
            [str(DATA / "larch.jsonl"), "--metrics", "judge_score"],
            "larch has no column judge_score",
            id="no judgements",
        ),
        pytest.param(["larch", "larch"], "more than one run is named larch", id="twice the same"),
        pytest.param(["larch", "--protocol", "memo"], "no protocol 'memo'; did you mean 'memos'?", id="a protocol"),
    ],
)
def test_errors(args: list[str], told: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["table", *args]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"error: {told}")
