"""Charts by their spec, by what they draw as SVG, and by what a user may put in."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import duckdb
import polars as pl
import pytest
import vl_convert

from himga_eval import charts
from himga_eval.charts.look import COLOURS, SHAPES
from himga_eval.errors import InputError, UnknownMetric
from himga_eval.schema import QUESTION_TYPES, SUMMARY

LOCOMO, LONGMEMEVAL = QUESTION_TYPES.values()
COVERED = {"H01", "H03", "H04", "H05", "H06", "H07", "H09", "H10"}
ODD = ["run:1 f1[x] it's a.5", '"q" <b> {x} $y \\ модель é']


def row(kind: str, mean: float | None = 0.5, **other: Any) -> dict[str, Any]:
    """A row of a summary."""
    dataset = "locomo" if kind in LOCOMO else "longmemeval"
    standing = {
        "run": "larch",
        "dataset": dataset,
        "protocol": "himga",
        "metric": "f1",
        "question_type": kind,
        "mean": mean,
        "mean_lenient": mean,
        "count": 60,
        "scored": 0 if mean is None else 60,
        "missing": 0,
        "lo": None if mean is None else mean - 0.1,
        "hi": None if mean is None else mean + 0.1,
        "clusters": 10,
    }
    return standing | other


def summary(*rows: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), SUMMARY)


def pair(kind: str, difference: float | None, **other: Any) -> dict[str, Any]:
    """A row of a comparison."""
    standing = {
        "base": "wren",
        "run": "larch",
        "dataset": "locomo",
        "protocol": "himga",
        "question_type": kind,
        "metric": "f1",
        "base_mean": 0.5,
        "mean": 0.6,
        "difference": difference,
        "lo": None if difference is None else difference - 0.1,
        "hi": None if difference is None else difference + 0.1,
        "p_value": 0.01,
        "p_mcnemar": None,
        "p_adjusted": 0.02,
        "won": 30,
        "lost": 10,
        "tied": 20,
        "count": 60,
        "clusters": 10,
        "detectable": 0.08,
        "verdict": "undecided",
    }
    return standing | other


def comparison(*rows: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), infer_schema_length=None)


TWO_SETS = summary(
    *(
        row(kind, 0.3 + 0.05 * place, run=run, metric=metric)
        for run in ("larch", "wren")
        for metric in ("f1", "judge_score")
        for place, kind in enumerate([*LOCOMO, *LONGMEMEVAL])
    ),
    *(row("overall", run=run, dataset=dataset) for run in ("larch", "wren") for dataset in QUESTION_TYPES),
)
COMPARED = comparison(
    pair("overall", 0.02), pair("temporal", -0.2, verdict="worse"), pair("multi_hop", 0.3, verdict="better")
)
COSTS = TWO_SETS.filter(pl.col("question_type") == "overall").with_columns(seconds=pl.lit(1.5))
ALL_FOUR = {
    "by_type": charts.by_type(TWO_SETS, "f1"),
    "heatmap": charts.heatmap(TWO_SETS),
    "paired": charts.paired(COMPARED),
    "against_cost": charts.against_cost(COSTS, "seconds"),
}


def svg(chart: charts.Chart) -> str:
    return str(vl_convert.vegalite_to_svg(chart.to_dict(validate=False)))


def texts(chart: charts.Chart) -> list[str]:
    """Every text that the chart draws, in the order of the SVG."""
    return [
        "".join(node.itertext()) for node in ElementTree.fromstring(svg(chart)).iter() if node.tag.endswith("}text")
    ]


def marks(chart: charts.Chart, kind: str) -> list[str]:
    """What is told of each mark of a kind: "point", "rule mark", "bar" or "rect mark"."""
    nodes = ElementTree.fromstring(svg(chart)).iter()
    return [node.get("aria-label", "") for node in nodes if node.get("aria-roledescription") == kind]


def parts(spec: Any) -> Iterator[dict[str, Any]]:
    """Every object in a spec."""
    if isinstance(spec, dict):
        yield spec
        for value in spec.values():
            yield from parts(value)
    elif isinstance(spec, list):
        for value in spec:
            yield from parts(value)


def encodings(chart: charts.Chart, channel: str) -> list[dict[str, Any]]:
    return [
        part["encoding"][channel]
        for part in parts(chart.to_dict(validate=False))
        if channel in part.get("encoding", {})
    ]


@pytest.mark.parametrize("name", ALL_FOUR)
def test_every_chart_is_valid_and_drawn(name: str) -> None:
    assert ALL_FOUR[name].to_dict(validate=True)
    assert marks(ALL_FOUR[name], "rect mark" if name == "heatmap" else "point")


def test_a_panel_a_data_set_and_no_row_pools_them() -> None:
    for chart in (ALL_FOUR["by_type"], ALL_FOUR["against_cost"]):
        spec = chart.to_dict()
        rows = [
            {r["dataset"] for r in spec["datasets"][p["data"]["name"]]} for p in parts(spec["vconcat"]) if "data" in p
        ]
        assert {"locomo"} in rows
        assert {"longmemeval"} in rows
        assert {"locomo", "longmemeval"} not in rows


def test_titles_say_n_samples_interval_and_runs() -> None:
    drawn = texts(ALL_FOUR["by_type"])
    assert "f1 by question type" in drawn
    assert any("95 % interval, cluster-robust over samples" in text and "n: questions" in text for text in drawn)
    assert {"LoCoMo (10 samples)", "temporal (n=60)", "larch", "wren"} <= set(drawn)


def test_the_interval_is_named_as_its_maker_says() -> None:
    assert "Line: 90 % bootstrap (rough below 30 samples)." in " ".join(
        texts(charts.by_type(TWO_SETS, interval="90 % bootstrap"))
    )


def test_one_run_is_named_in_the_title() -> None:
    drawn = texts(charts.by_type(summary(row("temporal"))))
    assert "f1 of larch by question type" in drawn
    assert "larch" not in drawn  # no legend


def test_judge_score_is_first_of_the_metrics() -> None:
    assert "judge_score by question type" in texts(charts.by_type(TWO_SETS))


def test_runs_differ_by_colour_and_by_shape() -> None:
    rows = [row("temporal", run=f"run {i}") for i in range(2 * len(COLOURS))]
    chart = charts.by_type(summary(*rows))
    (colour, *_), (shape, *_) = (encodings(chart, channel) for channel in ("color", "shape"))
    looks = list(zip(colour["scale"]["range"], shape["scale"]["range"], strict=True))
    assert len(set(looks)) == len(rows)
    assert set(colour["scale"]["range"]) == set(COLOURS)
    assert set(shape["scale"]["range"]) == set(SHAPES)


def test_runs_have_their_colours_as_they_come() -> None:
    chart = charts.by_type(summary(row("multi_session", run="oak"), row("temporal", run="larch")))
    assert encodings(chart, "color")[0]["scale"]["domain"] == ["oak", "larch"]


def test_runs_of_several_protocols_are_told_apart() -> None:
    drawn = texts(charts.by_type(summary(row("temporal"), row("temporal", protocol="magma"))))
    assert {"larch (himga)", "larch (magma)"} <= set(drawn)


def test_small_groups_are_flagged_and_counts_that_differ_are_shown() -> None:
    drawn = texts(
        charts.by_type(summary(row("temporal", scored=12), row("temporal", run="wren", scored=48), row("multi_hop")))
    )
    assert {"temporal (n=12–48)†", "multi_hop (n=60)"} <= set(drawn)
    assert any("† fewer than 50" in text for text in drawn)


def test_a_panel_has_room_for_its_own_runs_alone() -> None:
    rows = [row("temporal"), row("temporal", run="wren"), row("multi_session", run="oak"), row("overall", run="oak")]
    chart = charts.by_type(summary(*rows[:3], rows[3] | {"dataset": "longmemeval"}))
    two, one = (panel["height"] for panel in chart.to_dict()["vconcat"])
    assert two > one / 2
    dots = [node for node in ElementTree.fromstring(svg(chart)).iter() if node.get("aria-roledescription") == "point"]
    heights = [float(re.findall(r"[\d.]+", dot.get("transform", ""))[1]) for dot in dots]
    assert heights == pytest.approx(
        [19 - 5.28, 19 + 5.28, 12, 36], abs=0.01
    )  # about the middle of bands of 38 and of 24


def test_a_grid_has_the_metrics_that_its_run_has() -> None:
    lacking = row("temporal", None, run="wren", metric="bleu1")
    drawn = texts(
        charts.heatmap(summary(row("temporal"), row("temporal", metric="bleu1"), row("temporal", run="wren"), lacking))
    )
    assert (drawn.count("f1"), drawn.count("bleu1")) == (2, 1)
    assert "temporal (n=60)" in drawn  # what is not scored is no group of 0


def test_n_is_what_the_mean_rests_on() -> None:
    assert "temporal (n=55)" in texts(charts.by_type(summary(row("temporal", scored=50, missing=5))))


def test_answerable_is_left_out_where_it_is_overall_again() -> None:
    with_adversarial = [row("overall", dataset="locomo"), row("answerable", dataset="locomo", count=50)]
    without = [row("overall"), row("answerable")]
    drawn = texts(charts.by_type(summary(*with_adversarial, *without)))
    assert drawn.count("answerable (n=60)") == 1
    assert drawn.count("overall (n=60)") == 2


def test_one_sample_has_a_dot_and_no_interval() -> None:
    chart = charts.by_type(summary(row("temporal", lo=None, hi=None, clusters=1)))
    assert "No interval" in " ".join(texts(chart))
    assert {"LoCoMo (1 sample)"} <= set(texts(chart))
    assert marks(chart, "point")


def test_h01_more_than_5000_rows() -> None:
    rows = [row(kind, metric=f"metric {i}") for i in range(1_001) for kind in LOCOMO]
    chart = charts.heatmap(summary(*rows))
    assert max(map(len, chart.to_dict()["datasets"].values())) == 5_005


@pytest.mark.parametrize("name", ODD, ids=["H03 and H04", "tags, braces, other letters"])
def test_odd_names_are_drawn_plain(name: str) -> None:
    odd: dict[str, Any] = {"run": name, "metric": name, "dataset": name, "question_type": name}
    one = charts.by_type(summary(row("x", **odd), row("x", **odd | {"run": "other"})))
    assert {name, f"{name} (n=60)", f"{name} (10 samples)", f"{name}, mean"} <= set(texts(one))
    assert {name, f"{name} (n=60)"} <= set(texts(charts.heatmap(summary(row("x", **odd)))))
    two = charts.paired(comparison(pair("x", 0.2, **odd | {"base": name})))
    assert {f"{name} (n=60)", f"{name} − {name}"} <= set(texts(two))
    costs = summary(row("overall", **odd | {"question_type": "overall"})).with_columns(pl.lit(2.0).alias(name))
    assert name in texts(charts.against_cost(costs, name))


@pytest.mark.parametrize(
    "empty",
    [
        pytest.param(pl.DataFrame(schema=SUMMARY), id="H05 typed"),
        pytest.param(pl.DataFrame(schema=list(SUMMARY)), id="H05 no dtypes"),
        pytest.param(pl.DataFrame(), id="H05 no columns"),
        pytest.param(summary(row("temporal", None), row("multi_hop", None)), id="all null"),
        pytest.param(summary(row("temporal", float("nan"))), id="all NaN"),
    ],
)
def test_nothing_to_draw_is_said(empty: pl.DataFrame) -> None:
    compared = (
        empty.with_columns(
            base="run",
            difference="mean",
            p_adjusted="mean",
            won="count",
            tied="count",
            lost="count",
            detectable="mean",
            verdict="run",
        )
        if empty.width
        else empty
    )
    spent = empty.with_columns(seconds="mean") if empty.width else empty
    drawn = [
        charts.by_type(empty),
        charts.heatmap(empty),
        charts.paired(compared),
        charts.against_cost(spent, "seconds"),
    ]
    for chart in drawn:
        assert any("no data" in text for text in texts(chart))
        assert chart.to_dict()["height"] < 100


def test_h06_nan_and_infinity_never_reach_the_spec() -> None:
    nan, inf = float("nan"), float("inf")
    bad = summary(row("temporal", 0.5), row("multi_hop", nan), row("open_domain", -inf), row("single_hop", 0.4, hi=inf))
    compared = comparison(
        pair("temporal", 0.5, detectable=inf), pair("multi_hop", nan), pair("single_hop", 0.2, lo=-inf)
    )
    costs = summary(*(row("overall", run=f"run {i}") for i in range(3))).with_columns(cost=pl.Series([1.0, nan, inf]))
    for chart in (
        charts.by_type(bad),
        charts.heatmap(bad),
        charts.paired(compared),
        charts.against_cost(costs, "cost"),
    ):
        assert not re.search(r"NaN|Infinity", chart.to_json())
        assert texts(chart)


@pytest.mark.parametrize("order", [LOCOMO[::-1], sorted(LOCOMO)], ids=["backwards", "by letter"])
def test_h07_types_stand_in_the_order_of_tables(order: list[str]) -> None:
    given = summary(*(row(kind) for kind in ["overall", *order]))
    for chart in (charts.by_type(given), charts.heatmap(given)):
        found = [text.split(" (")[0] for text in texts(chart) if "(n=" in text and "n: " not in text]
        assert found == [*LOCOMO, "overall"]


def test_h09_a_type_without_a_score_stays_and_says_so() -> None:
    chart = charts.by_type(summary(row("temporal", None), row("single_hop", 0.5)))
    assert {"temporal (n=0)", "no score (n=0)"} <= set(texts(chart))
    assert len(marks(chart, "point")) == 1
    grid = charts.heatmap(summary(row("temporal", None), row("single_hop", 0.5)))
    assert "–" in texts(grid)
    assert len(marks(grid, "rect mark")) == 1  # no colour for what has no value


@pytest.mark.parametrize(
    ("mean", "ends"),
    [
        pytest.param(0.5, [0, 1], id="0 to 1"),
        pytest.param(-0.2, [-0.3, 1], id="H10 below 0: the interval fits"),
        pytest.param(1.35, [0, 1.5], id="above 1"),
    ],
)
def test_h10_the_axis_is_0_to_1_unless_data_lie_beyond(mean: float, ends: list[float]) -> None:
    chart = charts.by_type(summary(row("temporal", mean), row("multi_hop", 0.4)))
    assert [x["scale"]["domain"] for x in encodings(chart, "x") if "scale" in x] == [ends]
    assert any(str(round(mean, 2)) in told for told in marks(chart, "point"))


def test_a_comparison_is_sorted_by_effect_below_its_cuts() -> None:
    drawn = texts(ALL_FOUR["paired"])
    assert [text for text in drawn if "(n=60)" in text] == ["overall (n=60)", "multi_hop (n=60)", "temporal (n=60)"]
    assert {"+0.020", "+0.300", "−0.200", "30", "20", "10", "larch − wren"} <= set(drawn)
    assert "larch, temporal, worse: -0.2 [-0.3, -0.1]" in marks(ALL_FOUR["paired"], "point")


def test_a_difference_that_could_not_be_computed_keeps_its_row() -> None:
    chart = charts.paired(comparison(pair("temporal", 0.1), pair("multi_hop", None, verdict=None, detectable=None)))
    assert {"multi_hop (n=60)", "–"} <= set(texts(chart))


def test_costs_of_very_different_size_have_a_logarithmic_axis() -> None:
    spread = summary(row("overall"), row("overall", run="wren")).with_columns(tokens=pl.Series([100, 90_000]))
    assert encodings(charts.against_cost(spread, "tokens"), "x")[0]["scale"]["type"] == "log"
    small = spread.with_columns(tokens=pl.Series([0.1, 90.0]))
    assert {"0.1", "1", "10", "100"} <= (told := set(texts(charts.against_cost(small, "tokens"))))
    assert "20" not in told
    assert "type" not in encodings(ALL_FOUR["against_cost"], "x")[0]["scale"]


def test_a_run_without_a_cost_is_left_out() -> None:
    costs = summary(row("overall"), row("overall", run="wren")).with_columns(dollars=pl.Series([None, 2.0]))
    assert marks(charts.against_cost(costs, "dollars"), "point") == ["wren: 0.5 [0.4, 0.6]"]


@pytest.mark.parametrize("draw", [charts.by_type, charts.heatmap, charts.paired], ids=lambda draw: draw.__name__)
def test_a_frame_of_another_kind_is_refused(draw: Any) -> None:
    with pytest.raises(InputError, match=r"no column .*; the frame has: prediction"):
        draw(pl.DataFrame({"prediction": ["a"]}))


def test_unknown_metrics_and_doubled_rows_are_refused() -> None:
    with pytest.raises(UnknownMetric, match=r"no metric 'bleu'.*known: judge_score, f1"):
        charts.by_type(TWO_SETS, "bleu")
    with pytest.raises(InputError, match=r"2 rows share run, dataset, question_type, metric.*'temporal'"):
        charts.by_type(summary(row("temporal", 0.1), row("temporal", 0.2)))
    with pytest.raises(InputError, match="no column dollars"):
        charts.against_cost(TWO_SETS, "dollars")


@pytest.mark.parametrize(
    "make",
    [pl.DataFrame.lazy, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow, lambda frame: duckdb.sql("from frame")],
    ids=["lazy", "pandas", "arrow", "duckdb"],
)
def test_frames_of_other_libraries_draw_the_same(make: Any) -> None:
    few = summary(row("temporal"), row("multi_hop"))
    assert charts.by_type(make(few)).to_dict() == charts.by_type(few).to_dict()


@pytest.mark.parametrize("suffix", ["png", "svg", "html"])
def test_saved_without_a_network(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"chart.{suffix}"
    charts.by_type(summary(row("temporal"), row("temporal", run="wren"))).save(path, inline=suffix == "html")
    saved = path.read_bytes()
    assert len(saved) > 5_000
    assert not re.search(rb"""(?:src|href)=["']?(?:https?:)?//""", saved)


def test_importing_the_package_does_not_import_altair_and_charts_switch_no_theme_on() -> None:
    code = (
        "import sys, himga_eval; assert 'altair' not in sys.modules; import altair; before = altair.theme.active;"
        "import himga_eval.charts; print(altair.theme.active == before, altair.data_transformers.active)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "default"]


def test_every_case_on_charts_is_covered_here(shared: Path) -> None:
    lines = (shared / "cases" / "public_cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if case["area"] == "chart"]
    assert {case["id"] for case in cases} == COVERED
