"""The same answers under every protocol."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from himga_eval.across import across, figures, summarise_across
from himga_eval.errors import InputError, UnknownMetric
from himga_eval.schema import SUMMARY

ANSWERS = pl.DataFrame(
    {
        "run": "larch",
        "sample_id": ["c1", "c1", "c2"],
        "question_id": ["q0", "q1", "q2"],
        "question_type": ["multi_hop", "temporal", "adversarial"],
        "ground_truth": ["no yes", "May 7", "unsaid"],
        "prediction": ["no no no", "May", "unknown"],
    }
)


def test_a_row_a_protocol_that_defines_the_metric() -> None:
    table = across(ANSWERS)
    assert table["protocol"].to_list() == ["himga", "a-mem", "locomo", "magma", "mem0", "memoryos", "memos", "squad"]
    assert table.columns == [
        *("run", "dataset", "metric", "protocol", "variant", "multi_hop", "temporal", "adversarial"),
        *("by_question", "by_type", "by_conversation", "questions"),
    ]


@pytest.mark.parametrize(
    ("protocol", "expected"),
    [
        pytest.param("himga", ("multiset", 0.4, 2 / 3, 0.0, 16 / 45, 3), id="himga"),
        pytest.param("magma", ("set", 2 / 3, 2 / 3, 1.0, 7 / 9, 3), id="magma: a refusal is right"),
        pytest.param("mem0", ("set", 2 / 3, 2 / 3, None, 2 / 3, 2), id="mem0: adversarial left out"),
    ],
)
def test_means(protocol: str, expected: tuple[object, ...]) -> None:
    row = across(ANSWERS).row(by_predicate=pl.col("protocol") == protocol, named=True)
    names = ("variant", "multi_hop", "temporal", "adversarial", "by_question", "questions")
    assert tuple(row[name] for name in names) == pytest.approx(expected)


def test_data_sets_are_never_pooled() -> None:
    others = ANSWERS.with_columns(question_type=pl.lit("multi_session"), prediction="ground_truth")
    table = across(pl.concat([ANSWERS, others]), protocols=["himga"])
    assert table.select("dataset", "by_question", "questions").rows() == [
        ("locomo", pytest.approx(16 / 45), 3),
        ("longmemeval", 1.0, 3),
    ]


def test_every_average() -> None:
    row = across(ANSWERS, protocols=["himga"]).row(0, named=True)
    assert (row["by_type"], row["by_conversation"]) == pytest.approx((16 / 45, (8 / 15 + 0) / 2))


def test_several_metrics_and_protocols_of_choice() -> None:
    table = across(ANSWERS, ["bleu1", "f1"], protocols=["mem0", "squad"])
    assert table.select("metric", "protocol").rows() == [("bleu1", "mem0"), ("f1", "mem0"), ("f1", "squad")]


def test_a_file_of_ones_own_is_a_protocol_among_others(tmp_path: Path) -> None:
    path = tmp_path / "home.toml"
    path.write_text('title = "t"\nsource = "s"\nrevision = "1"\n[metrics]\nf1 = "squad"\n', encoding="utf-8")
    assert across(ANSWERS, protocols=["himga", path])["protocol"].to_list() == ["himga", "home"]


def test_a_summary_goes_by_protocol() -> None:
    table = summarise_across(ANSWERS, ["f1"], protocols=["himga", "mem0"])
    assert dict(table.schema) == SUMMARY
    counts = table.filter(question_type="overall").select("run", "protocol", "count").rows()
    assert counts == [("larch", "himga", 3), ("larch", "mem0", 2)]


def test_figures_tell_what_is_in_the_file_from_what_is_recomputed() -> None:
    given = ANSWERS.with_columns(published_f1=pl.lit(0.5), published_judge_score=pl.lit(1.0))
    table = figures(given, ["f1", "judge_score"], protocols=["mem0", "squad"]).filter(question_type="overall")
    found = table.filter(average="question").select("protocol", "metric", "source", "variant", "mean", "weights").rows()
    assert sorted(found, key=str) == [
        ("mem0", "f1", "in the file", None, 0.5, 2),
        ("mem0", "f1", "recomputed", "set", pytest.approx(2 / 3), 2),
        ("mem0", "judge_score", "in the file", None, 1.0, 2),
        ("squad", "f1", "in the file", None, 0.5, 3),
        ("squad", "f1", "recomputed", "squad", pytest.approx(16 / 45), 3),
    ]


def test_answers_that_no_protocol_counts() -> None:
    with pytest.raises(InputError, match="no protocol gives bleu1 for these answers"):
        across(ANSWERS, ["bleu1"], protocols=["squad"])


def test_an_unknown_metric_has_the_nearest_name() -> None:
    with pytest.raises(UnknownMetric, match="did you mean 'rougeL'"):
        across(ANSWERS, ["rouge_l"])
