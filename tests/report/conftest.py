"""Two runs with everything a report can show, some of it meant to do harm, and a browser to look at it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from himga_eval.compare import compare, why
from himga_eval.report import build
from tests.report.chromium import CHROMIUM, Page, browser

HOSTILE = (
    "</script><script>window.harmed = 1</script>",
    "<img src=x onerror='window.harmed = 1'>",
    '" onmouseover="window.harmed = 1',
    "${window.harmed = 1} $data {{7*7}} {% raw %}",
    "]]><svg onload=window.harmed=1>&lt;b&gt;",
    "javascript:window.harmed=1",
    "line\u2028separator \x00 null, tab\t, 模型 é 🐦",
)
RUNS = ("larch", "wren <i>v2</i>")
TYPES = ("single_hop", "temporal", "adversarial", "multi_session", "multi_session", "temporal", "single_hop")


def answers(run: str) -> list[dict[str, Any]]:
    """A run's answers to seven questions, of which the second run fails one."""
    second = run != RUNS[0]
    rows = []
    for i, (kind, text) in enumerate(zip(TYPES, HOSTILE, strict=True)):
        lme = kind == "multi_session"
        score = (1.0, 0.0, 0.4)[(i + second) % 3]
        missing = second and i == 3
        rows.append(
            {
                "run": run,
                "dataset": "longmemeval" if lme else "locomo",
                "sample_id": f"lme-{i}" if lme else f"conv-{i % 2}",
                "question_id": f"lme-{i}" if lme else f"conv-{i % 2}:{i}",
                "question_type": kind,
                "question": f"Question {i}: {text}?",
                "ground_truth": f"gold {text}",
                "prediction": None if missing else f"{run} says {text}",
                "evidence": [f"D1:{i}"],
                "retrieved": [f"D1:{i}", "D9:9"] if i % 2 else ["D9:9"],
                "latency_s": 1.5 + i,
                "error": f"TimeoutError {text}" if missing else None,
                "judge_score": None if missing else score,
                "f1": None if missing else score / 2,
                "exact_match": None if missing else 0.0,
                "protocol": "himga",
            }
        )
    return rows


@pytest.fixture(scope="session")
def scores() -> pl.DataFrame:
    return pl.DataFrame([row for run in RUNS for row in answers(run)], infer_schema_length=None)


@pytest.fixture(scope="session")
def judgements(scores: pl.DataFrame) -> pl.DataFrame:
    """A judgement of each answer; the one of `conv-0:2` was refused."""
    refused = pl.col("question_id") == "conv-0:2"
    return scores.select(
        "run",
        "dataset",
        "sample_id",
        "question_id",
        pl.lit("fake-judge").alias("judge_model"),
        pl.when(refused).then(None).otherwise("judge_score").alias("score"),
        pl.when(refused).then(pl.lit("refused")).otherwise(pl.lit("ok")).alias("status"),
        pl.format("because of {}", "ground_truth").alias("reasoning"),
        pl.lit(None, pl.String).alias("error"),
        pl.lit(None, pl.String).alias("raw_reply"),
    )


@pytest.fixture(scope="session")
def report(scores: pl.DataFrame, judgements: pl.DataFrame) -> str:
    base, other = scores.partition_by("run", maintain_order=True)
    return build(
        scores,
        judgements=judgements,
        comparison=compare(base, other, metrics=["judge_score"]),
        moved=why(base, other, "judge_score"),
        settings={RUNS[0]: {"dataset.locomo": "abc123", "note": HOSTILE[0]}},
        title=f"Report {HOSTILE[0]}",
    )


@pytest.fixture(scope="session")
def file(report: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(report, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    if CHROMIUM is None:
        pytest.skip("no Chromium here: apt-get install chromium")
    with browser(tmp_path_factory.mktemp("profile")) as page:
        yield page
