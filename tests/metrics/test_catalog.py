from __future__ import annotations

import pytest

from himga_eval.errors import InputError, UnknownMetric
from himga_eval.metrics.catalog import ALL_METRICS, LEXICAL, METRICS, resolve


def test_the_twelve_metrics_in_the_order_of_tables() -> None:
    names = "judge_score exact_match f1 rouge1 rouge2 rougeL bleu1 bleu2 bleu4 meteor bert_f1 sbert_similarity"
    assert " ".join(ALL_METRICS) == names
    assert list(LEXICAL) == names.split()[1:10]


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_a_metric_has_a_range_and_a_source(metric) -> None:
    assert (metric.lo, metric.hi) == ((-1, 1) if metric.extra else (0, 1))
    assert metric.source


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        pytest.param(None, list(LEXICAL), id="none-is-the-default"),
        pytest.param(["meteor", "f1"], ["meteor", "f1"], id="order-as-asked"),
        pytest.param(("f1", "f1"), ["f1"], id="each-once"),
        pytest.param([], [], id="nothing-is-nothing"),
    ],
)
def test_names_are_resolved(asked, found) -> None:
    assert resolve(asked) == found


def test_an_unknown_metric_names_the_nearest_and_all() -> None:
    with pytest.raises(
        UnknownMetric, match=r"no metric 'rouge_l'; did you mean 'rougeL'\? known: judge_score, .*bert_f1"
    ):
        resolve(["f1", "rouge_l"])


def test_a_string_is_not_a_list_of_names() -> None:
    with pytest.raises(InputError, match=r"write \['f1'\]"):
        resolve("f1")
