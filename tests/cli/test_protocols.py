"""The commands on recipes: protocols, across, check, export, and what stands beside a table."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from himga_eval.cli.app import run
from himga_eval.protocols.published import TABLES

DATA = Path(__file__).parents[2] / "data"
LARCH, LOCOMO = str(DATA / "larch.jsonl"), f"locomo={DATA / 'locomo_sample.json'}"
Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    monkeypatch.setenv("HIMGA_STORE", str(tmp_path / "himga.duckdb"))
    monkeypatch.setenv("COLUMNS", "200")

    def call(*args: object) -> tuple[int, str, str]:
        code = run([str(arg) for arg in args])
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """Four answers of LoCoMo's kinds, with scores of two kinds in the file."""
    path = tmp_path / "wren.jsonl"
    rows = [
        ("conv-1:0", "multi_hop", "no no no", "no yes", 2 / 3, 1),
        ("conv-1:1", "temporal", "May", "May 7", 2 / 3, 0),
        ("conv-1:2", "single_hop", "tea", "tea", 1.0, 0),
        ("conv-2:0", "adversarial", "unknown", "Not mentioned in the conversation", 0.0, 1),
    ]
    names = ("question_id", "question_type", "prediction", "ground_truth", "f1", "judge_score")
    path.write_text("\n".join(json.dumps(dict(zip(names, row, strict=True))) for row in rows), encoding="utf-8")
    return path


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_the_list_names_all_nine(cli: Cli) -> None:
    code, out, _ = cli("protocols", "list", "--format", "csv")
    listed = {row["protocol"]: row for row in rows(out)}
    assert code == 0
    assert len(listed) == 9
    assert (listed["mem0"]["f1"], listed["mem0"]["leaves_out"]) == ("set", "adversarial")


@pytest.mark.parametrize("format", ["text", "json"])
def test_show_says_what_is_assumed(cli: Cli, format: str) -> None:
    code, out, _ = cli("protocols", "show", "mem0", "--format", format)
    assert code == 0
    assert "assumed" in out
    assert "'Single-Hop' is multi_hop" in out


def test_an_unknown_protocol_is_one_line(cli: Cli) -> None:
    code, out, err = cli("protocols", "show", "mem-0")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "no protocol 'mem-0'; did you mean 'mem0'?" in err


def test_the_same_answers_under_every_protocol(cli: Cli, answers: Path, tmp_path: Path) -> None:
    chart = tmp_path / "across.json"
    code, out, err = cli("protocols", "across", answers, "--format", "csv", "--chart", chart)
    found = {row["protocol"]: row for row in rows(out)}
    assert code == 0
    assert set(found) == {"himga", "a-mem", "locomo", "magma", "mem0", "memoryos", "memos", "squad"}
    assert [found[name]["adversarial"] for name in ("magma", "mem0", "a-mem")] == ["1.0", "", ""]
    assert "note: a-mem scores adversarial answers against" in err
    assert "wren (mem0)" in chart.read_text(encoding="utf-8")


def test_score_under_a_protocol_keeps_the_whole_run(cli: Cli, answers: Path) -> None:
    code, out, err = cli("score", answers, "--protocol", "mem0", "--metrics", "f1")
    assert code == 0
    assert "Protocol mem0: f1 set; adversarial left out." in " ".join(out.split())
    assert "kept as wren" in err
    _, out, _ = cli("sql", "select count(*) as n from results", "--format", "json")
    assert json.loads(out) == [{"n": 4}]
    _, out, _ = cli("table", "wren", "--protocol", "mem0", "--metrics", "f1", "--format", "csv")
    overall = next(row for row in rows(out) if row["question_type"] == "overall")
    assert (overall["protocol"], overall["count"], overall["mean"][:6]) == ("mem0", "3", "0.7777")


def test_a_protocol_of_ones_own_by_its_path(cli: Cli, answers: Path, tmp_path: Path) -> None:
    path = tmp_path / "home.toml"
    path.write_text('title = "t"\nsource = "s"\nrevision = "1"\n[metrics]\nf1 = "squad"\n', encoding="utf-8")
    code, out, _ = cli("score", answers, "--protocol", path)
    assert code == 0
    assert "Protocol home: f1 squad." in " ".join(out.split())


def test_a_metric_that_the_protocol_does_not_define(cli: Cli, answers: Path) -> None:
    code, _, err = cli("score", answers, "--protocol", "squad", "--metrics", "bleu1")
    assert code == 1
    assert "known: exact_match, f1; protocol 'squad' defines no other" in err


def test_what_a_table_rests_on_stands_under_it(cli: Cli) -> None:
    _, out, _ = cli("score", LARCH, "--dataset", LOCOMO, "--metrics", "f1")
    under = " ".join(out.split())
    assert "Rests on locomo " in under
    assert "protocol himga " in under
    assert "himga-eval " in under
    _, out, _ = cli("table", "larch")
    assert under.split("Rests on ")[1].split(";")[0] == " ".join(out.split()).split("Rests on ")[1].split(";")[0]


def test_published_figures_stand_beside_with_a_warning_where_the_recipe_differs(cli: Cli, answers: Path) -> None:
    code, out, err = cli("table", answers, "--metrics", "f1", "--with", "published:mem0", "--format", "csv")
    found = {(row["run"], row["question_type"]): row["mean"] for row in rows(out)}
    assert code == 0
    assert float(found["Zep (mem0)", "multi_hop"]) == pytest.approx(0.3574)
    assert ("wren", "multi_hop") in found
    assert "warning: published:mem0 has another recipe: f1 is multiset in himga, set in mem0" in err


def test_the_same_recipe_needs_no_warning(cli: Cli, answers: Path) -> None:
    _, _, err = cli("table", answers, "--metrics", "f1", "--protocol", "mem0", "--with", "published:mem0")
    assert "warning" not in err


def test_labels_in_the_file_stand_beside_a_papers_judge(cli: Cli, answers: Path) -> None:
    _, out, err = cli("table", answers, "--metrics", "published_judge_score", "--with", "published:mem0-2")
    assert "Mem0 (mem0)" in out
    assert "published_judge_score came with the answers" in err


@pytest.mark.parametrize(
    ("beside", "message"),
    [
        pytest.param("mem0", "is published:NAME, as published:mem0", id="no room"),
        pytest.param("published:mem", "no published table 'mem'; did you mean 'mem0'", id="unknown"),
        pytest.param("published:magma-2", "and not f1 of these data sets", id="another data set"),
    ],
)
def test_what_cannot_stand_beside(cli: Cli, answers: Path, beside: str, message: str) -> None:
    code, _, err = cli("table", answers, "--metrics", "f1", "--with", beside)
    assert code == 1
    assert message in err


def test_errata_show_three_layers_the_ceiling_and_the_list(cli: Cli, answers: Path, tmp_path: Path) -> None:
    errata = tmp_path / "errata.csv"
    errata.write_text("question_id,correct_answer\nconv-1:1,May\n", encoding="utf-8")
    code, out, _ = cli("score", answers, "--metrics", "f1", "--errata", errata)
    told = " ".join(out.split())
    assert code == 0
    assert all(layer in told for layer in ("wren, all golds", "wren, faulty left out", "wren, golds corrected"))
    assert "errata.csv lists 1 of these golds as faulty: conv-1:1." in told
    assert "ceiling" in told
    _, out, _ = cli("sql", "select ground_truth from results where question_id = 'conv-1:1'", "--format", "json")
    assert json.loads(out) == [{"ground_truth": "May 7"}]


def test_a_claim_that_holds(cli: Cli, answers: Path) -> None:
    code, out, _ = cli("check", answers, "--claim", "f1=.7778", "--format", "json")
    found = json.loads(out)
    assert code == 0
    assert [row["verdict"] for row in found["claims"]] == ["holds"]
    assert found["recipes of the scores in the file"][0]["protocols"] == "a-mem, mem0"
    assert [row["question_id"] for row in found["rows where judge and exact match contradict"]] == ["conv-1:2"]


def test_a_claim_that_fails_exits_with_3(cli: Cli, answers: Path) -> None:
    code, out, err = cli("check", answers, "--claim", "f1=.95", "--claim", "f1=.7778")
    assert code == 3
    assert "fails" in out
    assert "1 of what was claimed does not hold" in err


def test_a_stored_run_is_checked_like_a_file(cli: Cli, answers: Path) -> None:
    cli("score", answers, "--metrics", "f1")
    assert cli("check", "wren", "--claim", "f1=.7778")[0] == 0


def test_check_says_how_the_answers_meet_the_data_set(cli: Cli) -> None:
    code, out, _ = cli("check", LARCH, "--dataset", LOCOMO, "--format", "json")
    findings = [row["finding"] for row in json.loads(out)["coverage"]]
    assert code == 0
    assert any("questions answered, matched by question_id" in finding for finding in findings)


def test_a_table_that_does_not_follow_from_its_columns_exits_with_3(cli: Cli) -> None:
    code, out, _ = cli("check", "--table", TABLES / "magma-1.csv", "--format", "json")
    found = json.loads(out)
    off = [row["row"] for row in found["rows of the table"] if row["verdict"] == "does not fit"]
    assert code == 3
    assert off == ["Full Context judge_score", "Nemori judge_score"]
    assert found["readings of the table"][0]["average"] == "question"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        pytest.param([], "nothing to check", id="nothing"),
        pytest.param(["--table", "t.csv", "--claim", "f1=.5"], "there are none", id="a claim about no answers"),
    ],
)
def test_check_needs_something_to_check(cli: Cli, args: list[str], message: str) -> None:
    code, _, err = cli("check", *args)
    assert code == 1
    assert message in err


def test_an_export_passes_its_check_until_it_is_edited(cli: Cli, tmp_path: Path) -> None:
    cli("score", LARCH, "--dataset", LOCOMO, "--metrics", "exact_match,f1")
    code, _, err = cli("export", "larch", "--to", tmp_path / "out")
    assert code == 0
    assert "larch.manifest.json" in err
    parquet = tmp_path / "out" / "larch.parquet"
    assert cli("check", parquet, "--dataset", LOCOMO)[0] == 0
    frame = pl.read_parquet(parquet)
    frame.with_columns(prediction=pl.col("ground_truth")).write_parquet(parquet)
    code, out, _ = cli("check", parquet, "--dataset", LOCOMO, "--format", "json")
    differing = [row["what"] for row in json.loads(out)["manifest"] if row["verdict"] == "differs"]
    assert code == 3
    assert differing == ["answers", "exact_match under himga", "f1 under himga"]


def test_reference_libraries_agree(cli: Cli, answers: Path) -> None:
    pytest.importorskip("rouge_score")
    code, out, _ = cli("check", answers, "--reference", "--format", "json")
    assert code == 0
    assert json.loads(out)["reference libraries"]
