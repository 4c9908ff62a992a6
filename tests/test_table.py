"""Tables by question type: layout, intervals, what is set off, what stands under them."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
import pytest

from himga_eval.repeats import answer_spread
from himga_eval.scoring import summarise
from himga_eval.styles import Interval, Style
from himga_eval.table import Table, figure, is_numeric, tables


def run_of(
    name: str, scores: Mapping[str, list[float | None]], dataset: str = "mine", **metrics: float
) -> pl.DataFrame:
    """Make a run with a score an answer by question type, five questions a sample; None is a missing answer."""
    rows = [(kind, score) for kind, given in scores.items() for score in given]
    return pl.DataFrame(
        {
            "run": name,
            "dataset": dataset,
            "sample_id": [f"s{i // 5}" for i in range(len(rows))],
            "question_id": [f"q{i}" for i in range(len(rows))],
            "question_type": [kind for kind, _ in rows],
            "prediction": [None if score is None else "x" for _, score in rows],
            "ground_truth": "y",
            "f1": [score for _, score in rows],
            **metrics,
        },
        schema_overrides={"f1": pl.Float64},
    )


LARCH = run_of("larch", {"place": [1.0, 0.5] * 10, "time": [0.25] * 20})
WREN = run_of("wren", {"place": [0.5] * 20, "time": [1.0] + [0.25] * 19})


def table_of(*runs: pl.DataFrame, **style: object) -> Table:
    (table,) = tables(pl.concat(runs, how="diagonal"), style=Style(**style))  # type: ignore[arg-type]
    return table


def rows(table: Table) -> list[tuple[str, ...]]:
    return table.grid.rows()


@pytest.mark.parametrize(
    ("value", "how", "text"),
    [
        pytest.param(0.6031, {}, ".603", id="below one"),
        pytest.param(1.0, {}, "1.000", id="one"),
        pytest.param(0.9999, {}, "1.000", id="rounded up to one"),
        pytest.param(70.5, {}, "70.500", id="on another scale"),
        pytest.param(-0.25, {}, "-.250", id="negative"),
        pytest.param(0.25, {"sign": "+"}, "+.250", id="signed"),
        pytest.param(0.6031, {"percent": True}, "60.3", id="percent"),
        pytest.param(0.001, {"percent": True}, "0.1", id="small percent"),
    ],
)
def test_figures(value: float, how: dict[str, object], text: str) -> None:
    assert figure(value, **how) == text  # type: ignore[arg-type]


def test_one_run_has_a_row_a_metric() -> None:
    table = table_of(LARCH)
    assert table.title == "larch on mine"
    assert table.grid.columns == ["metric", "place", "time", "overall"]
    assert [row[0] for row in rows(table)] == ["n", "f1"]
    assert rows(table)[0] == ("n", "20", "20", "40")
    assert rows(table)[1][2] == ".250±.000"


def test_runs_of_a_metric_stand_below_one_another_under_the_counts_they_share() -> None:
    table = table_of(LARCH.with_columns(bleu1="f1"), WREN.with_columns(bleu1="f1"), interval=Interval.none)
    assert table.title == "mine"
    assert rows(table) == [
        ("n", "", "20", "20", "40"),
        ("f1", "larch", ".750", ".250", ".500"),
        ("f1", "wren", ".500", ".287", ".394"),
        ("bleu1", "larch", ".750", ".250", ".500"),
        ("bleu1", "wren", ".500", ".287", ".394"),
    ]


def test_counts_that_differ_stand_by_run() -> None:
    table = table_of(*(run.with_columns(bleu1="f1") for run in (LARCH, WREN.head(30))))
    assert rows(table)[:2] == [("n", "larch", "20", "20", "40"), ("n", "wren", "20", "10", "30")]


def test_a_paper_has_the_metrics_of_a_type_beside_one_another() -> None:
    both = [run.with_columns(bleu1=pl.col("f1") / 2) for run in (LARCH, WREN.head(30))]
    table = table_of(*both, beside=True, interval=Interval.none)
    assert table.grid.columns == [
        "run",
        *("place\nn=20\nf1", "place\nn=20\nbleu1"),
        *("time\nn=10–20\nf1", "time\nn=10–20\nbleu1"),
        *("overall\nn=30–40\nf1", "overall\nn=30–40\nbleu1"),
    ]
    assert rows(table)[0] == ("larch", ".750", ".375", ".250", ".125", ".500", ".250")


@pytest.mark.parametrize("beside", [True, False])
def test_a_single_metric_of_several_runs_names_the_table(beside: bool) -> None:
    table = table_of(LARCH, WREN, beside=beside, interval=Interval.none)
    assert table.title == "f1 on mine"
    assert table.grid.columns == ["run", "place\nn=20", "time\nn=20", "overall\nn=40"]
    assert rows(table) == [("larch", ".750", ".250", ".500"), ("wren", ".500", ".287", ".394")]


def test_too_many_metrics_stand_below_one_another() -> None:
    many = [run.with_columns(bleu1="f1", bleu2="f1", bleu4="f1") for run in (LARCH, WREN)]
    assert table_of(*many, beside=True).grid.columns[:2] == ["metric", "run"]


@pytest.mark.parametrize(
    ("other", "best"),
    [
        pytest.param({"place": [0.5], "time": [0.9]}, {("larch", "place"), ("wren", "time")}, id="one each"),
        pytest.param(
            {"place": [0.5], "time": [0.2501]},
            {("larch", "place"), ("larch", "time"), ("wren", "time")},
            id="ties as printed",
        ),
        pytest.param({"place": [0.5], "time": [None]}, {("larch", "place")}, id="no rival"),
    ],
)
def test_the_best_of_a_type_are_set_off(other: dict[str, list[float | None]], best: set[tuple[str, str]]) -> None:
    one, two = run_of("larch", {"place": [1.0], "time": [0.25]}), run_of("wren", other)
    table = table_of(one, two, best=True)
    found = {(table.grid["run"][row], name.split("\n")[0]) for row, name in table.best}
    assert {(run, kind) for run, kind in found if kind != "overall"} == best
    assert table.note.endswith("bold: highest.")


def test_a_run_alone_is_not_the_best() -> None:
    table = table_of(LARCH, best=True)
    assert table.best == frozenset()
    assert "bold" not in table.note


def test_runs_under_another_protocol_are_no_rivals() -> None:
    scores = pl.concat([LARCH, WREN])
    summary = summarise(scores)
    theirs = summary.filter(run="wren").with_columns(run=pl.lit("theirs"), protocol=pl.lit("mem0"), mean=pl.lit(0.99))
    (table,) = tables(scores, pl.concat([summary, theirs]), Style(best=True))
    assert {table.grid["run"][row] for row, _ in table.best} == {"larch", "wren"}
    assert "bold: highest under the same protocol." in table.note


@pytest.mark.parametrize(
    ("interval", "cell", "told"),
    [
        pytest.param(
            Interval.half,
            ".500±.345",
            "±: to the farther end of the 95 % interval, cluster-robust over 6 samples",
            id="half",
        ),
        pytest.param(Interval.range, ".500 [.155,.845]", "in brackets: the 95 % interval", id="range"),
        pytest.param(Interval.none, ".500", None, id="none"),
    ],
)
def test_intervals(interval: Interval, cell: str, told: str | None) -> None:
    scores = [*[1.0] * 5, *[0.0] * 5, *[1.0, 0.0] * 5, *[1.0] * 3, *[0.0] * 2, *[0.0] * 3, *[1.0] * 2]
    table = table_of(run_of("larch", {"place": list(scores)}), interval=interval)
    assert rows(table)[1][1] == cell
    assert ("(rough below 30)" in table.note) == (interval is not Interval.none)
    assert told is None or told in table.note


def test_an_interval_that_is_not_symmetric_is_as_wide_as_its_farther_end() -> None:
    run = run_of("larch", {"place": [0.0] * 20})
    hi = summarise(run)["hi"][0]
    assert 0.4 < hi < 1
    assert rows(table_of(run))[1][1] == f".000±{figure(hi)}"


def test_two_samples_have_no_interval() -> None:
    table = table_of(run_of("larch", {"place": [1.0, 0.0] * 5}))
    assert rows(table)[1][1] == ".500"
    assert "no interval below 3 samples" in table.note


def test_many_samples_are_not_few() -> None:
    table = table_of(run_of("larch", {"place": [1.0, 0.0] * 100}))
    assert "over 40 samples" in table.note
    assert "rough" not in table.note


def test_percent() -> None:
    assert rows(table_of(LARCH, percent=True, interval=Interval.none))[1] == ("f1", "75.0", "25.0", "50.0")


def test_repeats_of_a_system_have_a_row_and_their_deviation() -> None:
    scores = pl.concat([run_of(f"larch-{i}", {"place": [1.0] * i + [0.0] * (10 - i)}) for i in (4, 6)] + [WREN])
    systems = {"larch-4": "larch", "larch-6": "larch", "wren": "wren"}
    spread = answer_spread(scores, systems).rename({"name": "run"})
    (table,) = tables(scores, spread, Style(Interval.sd))
    assert rows(table) == [("larch", ".500±.141", "–", ".500±.141"), ("wren", ".500", ".287", ".394")]
    assert "±: standard deviation over 1 or 2 runs of a system" in table.note


def test_data_sets_are_never_pooled() -> None:
    other = run_of("larch", {"temporal": [1.0]}, "locomo").with_columns(rouge1=1.0)
    mine, locomo = tables(pl.concat([LARCH, other], how="diagonal"))
    assert (mine.title, locomo.title) == ("larch on mine", "larch on locomo")
    assert mine.grid["metric"].to_list() == ["n", "f1"]
    assert locomo.grid["metric"].to_list() == ["n", "f1", "rouge1"]


def test_what_was_counted_stands_under_the_table() -> None:
    one = run_of("larch", {"place": [1.0, None], "time": [None, None, None]})
    note = table_of(one, WREN).note
    assert note.startswith(
        "questions answered: 1 of 5 by larch, 40 of 40 by wren; 1 missing answer counts as 0; "
        "overall without time (3 not attempted by larch)"
    )
    assert "below 50 questions: everywhere" in note
    alike = table_of(one, one.with_columns(run=pl.lit("finch"))).note
    assert alike.startswith(
        "1 of 5 questions answered by each run; 2 missing answers count as 0; overall without time (3"
    )
    assert "(3 not attempted)" in alike


@pytest.mark.parametrize(
    ("scores", "dataset", "told"),
    [
        pytest.param({"place": [1.0], "time": [0.0]}, "mine", "overall: all 2 types", id="somebody's own types"),
        pytest.param({"place": [1.0]}, "mine", "overall: place, the only type", id="one type"),
        pytest.param(
            {"single_hop": [1.0], "temporal": [0.0]},
            "locomo",
            "overall without multi_hop, open_domain, adversarial (no questions)",
            id="types of the data set that nobody asked",
        ),
    ],
)
def test_the_types_of_the_overall_mean_are_told(scores: dict[str, list[float | None]], dataset: str, told: str) -> None:
    assert told in table_of(run_of("larch", scores, dataset)).note


def test_a_metric_with_gaps_says_what_it_rests_on() -> None:
    run = LARCH.with_columns(judge_score=pl.when(pl.int_range(pl.len()) < 10).then(1.0))
    assert "judge_score of larch rests on 10 of 40 questions" in table_of(run).note


def test_a_metric_that_a_run_lacks_is_a_dash_and_no_note() -> None:
    table = table_of(LARCH.with_columns(bleu1="f1"), WREN)
    assert rows(table)[-1] == ("bleu1", "wren", "–", "–", "–")
    assert "rests" not in table.note
    assert "no interval" not in table.note


def test_notes_of_a_data_set_stand_under_its_table() -> None:
    both = pl.concat([LARCH, run_of("larch", {"place": [1.0]}, "theirs")])
    mine, theirs = tables(both, notes={"theirs": "Rests on hearsay."})
    assert theirs.note.endswith(".\nRests on hearsay.")
    assert "hearsay" not in mine.note


def test_nothing_attempted_is_a_table_without_columns() -> None:
    table = table_of(run_of("larch", {"place": [None, None]}))
    assert table.grid.shape == (0, 1)
    assert "0 of 2 questions answered; nothing was attempted: place (2 not attempted)" in table.note


def test_types_named_like_columns() -> None:
    grid = table_of(run_of("larch", {"run": [1.0], "metric": [0.0]})).grid
    assert grid.columns == ["metric", "metric questions", "run questions", "overall"]


@pytest.mark.parametrize(
    ("column", "numeric"),
    [
        pytest.param(pl.Series("x", [".5 ±.1", "–", "-.2", "+1", "", "1,540"]), True, id="figures"),
        pytest.param(
            pl.Series("x", ["[-.1,+.2]", "12:3", "<.001", "2026-12-01 10:00", "2.7e-17"]), True, id="intervals and such"
        ),
        pytest.param(pl.Series("x", [".5", "a"]), False, id="text among figures"),
        pytest.param(pl.Series("x", ["0 or 1", "2 runs"]), False, id="text that starts with a figure"),
        pytest.param(pl.Series("run", ["1", "2"]), False, id="names that are numbers"),
    ],
)
def test_numbers_are_told_from_text(column: pl.Series, numeric: bool) -> None:
    assert is_numeric(column) is numeric
