"""Published tables: figures as printed, under the official question types."""

from __future__ import annotations

import polars as pl
import pytest

from himga_eval.metrics.catalog import ALL_METRICS
from himga_eval.protocols import load_protocol, name_overall, published_tables, read_published
from himga_eval.protocols.published import UnknownTable
from himga_eval.schema import QUESTION_TYPES, SUMMARY
from himga_eval.scoring import CUTS


def mean(name: str, run: str, kind: str, metric: str) -> float:
    return read_published(name).filter(run=run, question_type=kind, metric=metric)["mean"].item()


@pytest.mark.parametrize("name", published_tables())
def test_a_table_is_a_summary(name: str) -> None:
    table, about = read_published(name), published_tables()[name]
    assert dict(table.schema) == SUMMARY
    assert about["paper"]
    assert load_protocol(about["recipe"])
    assert table["mean"].is_between(0, 1).all()
    assert table["mean"].null_count() == 0
    assert set(table["metric"]) <= set(ALL_METRICS)
    assert set(table["question_type"]) <= {*QUESTION_TYPES[about["dataset"]], *CUTS}
    assert not table.select("run", "question_type", "metric").is_duplicated().any()


@pytest.mark.parametrize(
    ("name", "run", "kind", "metric", "expected"),
    [
        pytest.param("magma", "MAGMA (magma)", "adversarial", "judge_score", 0.742, id="MAGMA table 1"),
        pytest.param("magma-1", "Nemori (magma)", "overall", "judge_score", 0.590, id="MAGMA table 1, as printed"),
        pytest.param("magma", "MAGMA (magma)", "knowledge_update", "judge_score", 0.667, id="MAGMA table 2"),
        pytest.param("magma", "MAGMA (magma)", "answerable", "f1", 0.467, id="MAGMA table 9 leaves adversarial out"),
        pytest.param("mem0", "Zep (mem0)", "single_hop", "judge_score", 0.766, id="Mem0's open-domain is single-hop"),
        pytest.param("mem0", "Zep (mem0)", "multi_hop", "f1", 0.3574, id="Mem0's single-hop is multi-hop"),
        pytest.param("mem0", "Mem0 (mem0)", "answerable", "judge_score", 0.6688, id="Mem0 table 2"),
        pytest.param("a-mem", "A-MEM (a-mem)", "adversarial", "bleu1", 0.4947, id="A-MEM table 1"),
    ],
)
def test_figures(name: str, run: str, kind: str, metric: str, expected: float) -> None:
    assert mean(name, run, kind, metric) == pytest.approx(expected)


def test_rows_that_mem0_took_over_from_a_mem_agree_under_official_names() -> None:
    shared = ["multi_hop", "temporal", "open_domain", "single_hop"]
    mem0, a_mem = (
        read_published(name).filter(pl.col("run").str.starts_with("MemGPT"), pl.col("question_type").is_in(shared))
        for name in ("mem0", "a-mem")
    )
    columns = ("question_type", "metric", "mean")
    assert sorted(mem0.select(columns).rows()) == sorted(a_mem.select(columns).rows())


@pytest.mark.parametrize(
    ("kinds", "names"),
    [
        pytest.param(["temporal", "adversarial", "overall", "answerable"], {"answerable"}, id="beside five types"),
        pytest.param(["temporal", "overall", "answerable"], {"answerable", "overall"}, id="beside four types"),
    ],
)
def test_an_overall_figure_without_adversarial_questions_says_so(kinds: list[str], names: set[str]) -> None:
    published = name_overall(read_published("mem0-2"), kinds)
    assert set(published["question_type"]) == names


def test_an_unknown_table_lists_the_known() -> None:
    with pytest.raises(UnknownTable, match=r"no published table 'memo'; .*magma, mem0, a-mem, magma-1"):
        read_published("memo")
