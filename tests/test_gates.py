"""Gates: what is below a floor, what has regressed, and what the data cannot tell."""

from __future__ import annotations

import polars as pl
import pytest

from himga_eval.errors import InputError
from himga_eval.gates import Floor, UnknownCell, below, floor, regressions
from himga_eval.schema import COMPARISON, SUMMARY


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f1=0.5", Floor("overall", "f1", 0.5)),
        ("single_hop.judge_score=.7", Floor("single_hop", "judge_score", 0.7)),
        (" f1 = 1 ", Floor("overall", "f1", 1.0)),
        ("my.type.f1=0", Floor("my.type", "f1", 0.0)),
        ("session_recall_any@5=0.9", Floor("overall", "session_recall_any@5", 0.9)),
    ],
)
def test_floors_are_read(text: str, expected: Floor) -> None:
    assert floor(text) == expected


@pytest.mark.parametrize("text", ["f1", "f1=", "=0.5", "f1=half", "f1<0.5", "f1=0.5=0.6", "f1=nan"])
def test_what_is_no_floor_is_told(text: str) -> None:
    with pytest.raises(InputError, match="is no floor: write METRIC=NUMBER"):
        floor(text)


def summary() -> pl.DataFrame:
    rows = [("overall", "f1", 0.5), ("temporal", "f1", 0.3), ("overall", "judge_score", None)]
    cells = [
        {"run": run, "dataset": "locomo", "question_type": kind, "metric": m, "mean": v}
        for run in "ab"
        for kind, m, v in rows
    ]
    return pl.DataFrame(cells, schema=SUMMARY)


@pytest.mark.parametrize(
    ("text", "fallen"),
    [
        pytest.param("f1=0.5", 0, id="at the floor is not below it"),
        pytest.param("f1=0.51", 2, id="every run is held to it"),
        pytest.param("temporal.f1=0.5", 2, id="of a type"),
        pytest.param("judge_score=0", 2, id="what was not scored does not pass"),
    ],
)
def test_what_is_below(text: str, fallen: int) -> None:
    assert below(summary(), [floor(text)]).height == fallen


def test_several_floors() -> None:
    found = below(summary(), [floor("f1=0.9"), floor("temporal.f1=0.1"), floor("temporal.f1=0.4")])
    assert found.select("run", "question_type", "least").rows() == [
        ("a", "overall", 0.9),
        ("b", "overall", 0.9),
        ("a", "temporal", 0.4),
        ("b", "temporal", 0.4),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [("f2=0.5", "no .* 'f2'; known: f1, judge_score"), ("temporl.f1=0.5", "did you mean 'temporal'")],
)
def test_a_floor_for_what_is_not_there(text: str, message: str) -> None:
    with pytest.raises(UnknownCell, match=message):
        below(summary(), [floor(text)])


def comparison(lo: float | None, hi: float | None) -> pl.DataFrame:
    cells = [{"question_type": kind, "lo": lo, "hi": hi} for kind in ("temporal", "overall")]
    return pl.DataFrame(cells, schema=COMPARISON)


@pytest.mark.parametrize(
    ("lo", "hi", "gate"),
    [
        pytest.param(-0.09, -0.03, "regressed", id="wholly beyond the margin"),
        pytest.param(-0.09, -0.01, "undecided", id="worse, but perhaps within the margin"),
        pytest.param(-0.09, 0.05, "undecided", id="anything may be"),
        pytest.param(-0.01, 0.05, "passed", id="at most a little worse"),
        pytest.param(-0.01, -0.005, "passed", id="worse, but within the margin"),
        pytest.param(None, None, "undecided", id="no interval"),
    ],
)
def test_gates(lo: float | None, hi: float | None, gate: str) -> None:
    found = regressions(comparison(lo, hi), 0.02)
    assert found.select("question_type", "gate").rows() == [("overall", gate)]


def test_without_a_margin_no_change_is_undecided() -> None:
    assert regressions(comparison(-0.01, 0.01))["gate"].to_list() == ["undecided"]


def test_question_types_can_be_gated() -> None:
    assert (
        regressions(comparison(-1, -0.5), question_types=["temporal", "overall"])["gate"].to_list() == ["regressed"] * 2
    )
    with pytest.raises(UnknownCell, match="no metric or question type 'multi_hop'"):
        regressions(comparison(-1, 1), question_types=["multi_hop"])


def test_a_negative_margin_is_told() -> None:
    with pytest.raises(InputError, match=r"margin=-0\.1"):
        regressions(comparison(-1, 1), -0.1)
