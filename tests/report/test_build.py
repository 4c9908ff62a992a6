"""The report as a file: what it holds, what it refuses, how large it is."""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from himga_eval.cli.app import run
from himga_eval.errors import DuplicateRows, InputError
from himga_eval.formats import read_run
from himga_eval.judge import judge_frame, with_scores
from himga_eval.metrics.catalog import ALL_METRICS
from himga_eval.report import build, leading
from himga_eval.store import Store
from tests.report.conftest import HOSTILE, RUNS

ROOT = Path(__file__).parents[2]


def held(page: str) -> dict[str, Any]:
    """The block of data in a page."""
    packed = re.search(r'id="data">([^<]*)<', page)
    assert packed
    return dict(json.loads(gzip.decompress(base64.b64decode(packed[1]))))


def visible(page: str) -> str:
    """The page's own text, without its script, style and data."""
    bare = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", " ", bare))


def test_the_page_refers_to_nothing_outside(report: str) -> None:
    assert not re.search(r"""(?:src|href|action)\s*=\s*["'](?!#)""", report)
    assert "default-src 'none'" in report
    assert not re.search(r"https?:", report.replace("http-equiv", ""))
    assert all(
        "http" not in svg.replace("http://www.w3.org", "")
        for group in held(report)["charts"].values()
        for svg in group.values()
    )


def test_the_page_says_what_was_run_and_what_came_out(report: str) -> None:
    told = visible(report)
    for part in (
        *("2 runs on locomo and longmemeval", "13 answers"),
        *("judge_score answerable", "f1 overall", "judge_score task_averaged"),
        *("dataset.locomo", "abc123", "judge_model", "fake-judge", "version.himga-eval", "Rajpurkar et al. 2016"),
        *("cluster-robust", "won:lost", "undecided", "seconds p50"),
        *RUNS,
    ):
        assert part in re.sub(r"\s+", " ", told), part


def test_texts_of_the_data_never_stand_in_the_page_as_markup(report: str) -> None:
    assert HOSTILE[0] not in report
    assert report.count("</script>") == 2
    assert "<i>" not in report
    assert HOSTILE[0] in visible(report)


def test_every_question_stands_once_and_every_answer_is_there(report: str, scores: pl.DataFrame) -> None:
    data = held(report)
    assert data["questions"]["question_id"] == scores["question_id"].to_list()[:7]
    assert data["answers"]["prediction"] == scores["prediction"].to_list()
    assert [data["questions"]["question"][place] for place in data["answers"]["question"]] == scores[
        "question"
    ].to_list()
    assert data["scores"]["f1"] == scores["f1"].to_list()
    assert data["metrics"] == ["judge_score", "exact_match", "f1"]


def test_two_answers_are_enough_and_optional_parts_stay_away() -> None:
    page = build(pl.DataFrame({"prediction": ["a", None], "ground_truth": ["a", "b"], "f1": [1.0, float("nan")]}))
    data = held(page)
    assert data["runs"] == ["run"]
    assert data["questions"]["question_id"] == [None, None]
    assert data["scores"] == {"f1": [1.0, None]}
    assert set(data["charts"]) == {"by_type", "heatmap"}
    assert "NaN" not in json.dumps(data)


def test_a_report_leads_with_judged_scores_then_those_of_papers() -> None:
    columns = [*ALL_METRICS, "published_f1", "published_judge_score"]
    frame = pl.DataFrame({name: [0.5] for name in columns})
    assert leading(frame) == ["judge_score", "published_judge_score", "f1", "bleu1"]
    assert leading(frame.select("meteor", "bleu2")) == ["bleu2"]


@pytest.mark.parametrize(
    ("frame", "error", "message"),
    [
        pytest.param(
            pl.DataFrame({"prediction": ["a"], "ground_truth": ["a"]}),
            InputError,
            "no column of any metric",
            id="unscored",
        ),
        pytest.param(
            pl.DataFrame({"prediction": [], "ground_truth": [], "f1": []}), InputError, "not a single row", id="empty"
        ),
        pytest.param(
            pl.DataFrame(
                {"prediction": ["a"] * 2, "ground_truth": ["a"] * 2, "question_id": ["q"] * 2, "f1": [1.0] * 2}
            ),
            DuplicateRows,
            "stand more than once",
            id="doubled",
        ),
    ],
)
def test_what_cannot_be_reported_is_refused(frame: pl.DataFrame, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        build(frame)


def test_the_command_writes_a_report_of_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "new" / "report.html"
    files = [str(ROOT / "data" / name) for name in ("larch.jsonl", "wren.jsonl")]
    store = ["--store", str(tmp_path / "none.duckdb")]
    assert run(["report", *files, "-o", str(target), "--title", "Larch & wren", *store]) == 0
    data = held(target.read_text(encoding="utf-8"))
    assert data["runs"] == ["larch", "wren"]
    assert data["leading"] == "published_judge_score"
    assert {"won", "lost"} <= set(data["answers"]["change"])
    assert {"paired", "cost"} <= set(data["charts"])
    assert "<title>Larch &amp; wren</title>" in target.read_text(encoding="utf-8")
    said = capsys.readouterr()
    assert f"96 answers are in {target}" in said.err
    assert said.out == ""


class Judge:
    """A client that finds every answer close enough, but loses its words over one."""

    model = "fake-judge"

    def chat(self, messages: list[dict[str, str]], **_: Any) -> str:
        if "Kittiwake" in str(messages):
            return "I would rather not say"
        return '{"score": 0.8, "correct": true, "reasoning": "close enough"}'


def test_the_command_shows_what_the_store_has_of_a_judge(tmp_path: Path) -> None:
    store = Store(tmp_path / "himga.duckdb")
    answers = read_run(ROOT / "data" / "larch.jsonl").filter(pl.col("sample_id") == "conv-1")
    judgements = judge_frame(answers, Judge(), cache=store.path, show_progress=False)
    store.save(with_scores(answers, judgements), settings={"note": "a pilot"})
    assert run(["report", "larch", "-o", str(tmp_path / "report.html"), "--store", str(store.path)]) == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    judged = held(page)["answers"]["judged"]
    by_id = dict(zip(answers["question_id"], judged, strict=True))
    assert by_id["conv-1:1"] == [["0.8", "ok", "close enough"]]
    assert by_id["conv-1:0"][0][:2] == ["", "invalid"]
    assert {"fake-judge", "a pilot"} <= set(re.split(r"\s{2,}", visible(page)))


def test_the_command_says_why_there_is_no_comparison(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {"dataset": "locomo", "sample_id": "c", "question_id": "c:0", "question_type": "temporal", "prediction": "a"}
    for run_name, gold in (("one", "a"), ("two", "b")):
        line = json.dumps(row | {"run": run_name, "ground_truth": gold})
        (tmp_path / f"{run_name}.jsonl").write_text(line, encoding="utf-8")
    target = tmp_path / "report.html"
    names = [*(str(tmp_path / f"{name}.jsonl") for name in ("one", "two")), "-o", str(target), "--metrics", "f1"]
    assert run(["report", *names, "--store", str(tmp_path / "none.duckdb")]) == 0
    assert "no comparison: one and two are not comparable" in capsys.readouterr().err
    assert "paired" not in held(target.read_text(encoding="utf-8"))["charts"]


def test_runs_that_can_be_compared_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {"dataset": "locomo", "sample_id": "c", "question_id": "c:0", "question_type": "temporal", "prediction": "a"}
    for run_name, gold in (("one", "a"), ("two", "b"), ("three", "a")):
        line = json.dumps(row | {"run": run_name, "ground_truth": gold})
        (tmp_path / f"{run_name}.jsonl").write_text(line, encoding="utf-8")
    target = tmp_path / "report.html"
    files = [str(tmp_path / f"{name}.jsonl") for name in ("one", "two", "three")]
    assert run(["report", *files, "-o", str(target), "--metrics", "f1", "--store", str(tmp_path / "none.duckdb")]) == 0
    assert "no comparison: one and two are not comparable" in capsys.readouterr().err
    page = target.read_text(encoding="utf-8")
    assert "three against one" in visible(page)
    assert "two against one" not in visible(page)


def test_a_setting_that_all_runs_share_stands_once(scores: pl.DataFrame) -> None:
    settings = {run: {"agent.k": "5", "agent.note": run} for run in RUNS}
    told = re.sub(r"\s+", " ", visible(build(scores, settings=settings)))
    assert told.count("agent.k 5 every run") == 1
    assert f"agent.note {RUNS[1]} {RUNS[1]}" in told


@pytest.mark.slow
def test_7500_rows_with_reasons_stay_below_two_and_a_half_megabytes() -> None:
    rng = np.random.default_rng(0)
    words = np.array(["".join(rng.choice(list("etaoinshrdlucm"), rng.integers(2, 9))) for _ in range(9_000)])

    def prose(count: int) -> list[str]:
        chosen = (rng.pareto(0.35, (7_500, count)) * 6).astype(int) % len(words)
        return [" ".join(words[row]) for row in chosen]

    reasons = prose(50)
    assert len(gzip.compress("\n".join(reasons).encode(), 9)) > 0.33 * sum(map(len, reasons))  # no easier than English
    row = pl.int_range(7_500, eager=True)
    frame = pl.DataFrame(
        {
            "run": [f"run {i}" for i in row // 2_500],
            "dataset": "locomo",
            "sample_id": [f"conv-{i}" for i in row % 10],
            "question_id": [f"conv-{i % 10}:{i}" for i in row % 2_500],
            "question_type": np.tile(["single_hop", "multi_hop", "temporal", "open_domain", "adversarial"], 1_500),
            "question": prose(11)[:2_500] * 3,
            "ground_truth": prose(5)[:2_500] * 3,
            "prediction": prose(12),
            "evidence": [[f"D{i % 19}:{i % 23}"] for i in row % 2_500],
            **{name: rng.random(7_500) for name in ALL_METRICS},
        }
    )
    judgements = frame.select(
        *("run", "dataset", "sample_id", "question_id", pl.col("judge_score").alias("score")),
        status=pl.lit("ok"),
        reasoning=pl.Series(reasons),
        error=pl.lit(None, pl.String),
        raw_reply=pl.lit(None, pl.String),
        judge_model=pl.lit("fake-judge"),
    )
    assert len(build(frame, judgements=judgements).encode()) < 2_500_000
