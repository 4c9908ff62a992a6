"""Draw one panel: the rows of one data set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from himga_eval.charts import frames, look

_PICKED = alt.selection_point(name="picked", fields=["run"], bind="legend")
_OUTCOMES = {"won": look.VERDICTS["better"], "tied": "#d3d3d3", "lost": look.VERDICTS["worse"]}


def dots(frame: pl.DataFrame, runs: Sequence[str], metric: str, span: list[float], room: int) -> look.Panel:
    """Draw means with intervals by question type, the runs of a type under one another; `runs` are of all panels."""
    here = frames.runs(frame)
    tips = look.tips("run", "question_type", "mean", "lo", "hi", "count", "scored", "missing", "clusters")
    frame = frame.with_columns(_told("mean", "run", "question_type"))
    base = alt.Chart().encode(
        y=look.rows(frame, room, grid=len(here) > 1),
        yOffset=alt.YOffset("run:N", scale=alt.Scale(domain=here, paddingInner=0, paddingOuter=0.8)),
        color=look.colour(runs),
        opacity=_unless_other_picked(),
        tooltip=tips,
        description="told:N",
    )
    scale = alt.Scale(domain=span, nice=False)
    x = alt.X("lo:Q", scale=scale, title=f"{metric}, mean", axis=look.numbers())
    line = base.mark_rule(strokeWidth=2.5).encode(x=x, x2="hi:Q")
    dot = base.mark_point(filled=True, size=64).encode(x="mean:Q", shape=look.shape(runs))
    unscored = base.transform_filter("!isValid(datum.mean)").mark_text(align="left", dx=4, fontSize=11)
    note = unscored.encode(x=alt.datum(span[0]), text=alt.value("no score (n=0)"))
    height = frame["label"].n_unique() * (len(here) * 14 + 10)
    return look.panel(frame, [line, dot, note], frames.title(frame), height)


def cells(frame: pl.DataFrame, span: list[float], room: int) -> look.Panel:
    """Draw means as coloured cells, question types by the metrics that have any."""
    metrics = frames.metrics(frame.drop_nulls("mean"))
    frame = frame.filter(pl.col("metric").is_in(metrics))
    frame = frame.with_columns(_written("mean", "{:.2f}"), _told("mean", "run", "question_type", "metric"))
    names = look.numbers(orient="top", labelAngle=-40, labelLimit=140, grid=False)
    base = alt.Chart().encode(
        x=alt.X("metric:N", title=None, scale=alt.Scale(domain=metrics), axis=names),
        y=look.rows(frame, room, grid=False),
        tooltip=look.tips("run", "question_type", "metric", "mean", "lo", "hi", "count", "scored", "missing"),
        description="told:N",
    )
    bar = alt.Legend(orient="right", gradientLength=120, format=".1f", titleFontWeight="normal", titleFontSize=11)
    shade = alt.Color("mean:Q", title="mean", scale=alt.Scale(scheme="viridis", domain=span), legend=bar)
    blank = base.mark_rect(stroke="white", strokeWidth=1.5, color=look.FAINT, aria=False)
    cell = base.mark_rect(stroke="white", strokeWidth=1.5).encode(color=shade)
    light = f"isValid(datum.mean) && datum.mean < {span[0] + (span[1] - span[0]) / 2}"  # viridis starts dark
    text = base.mark_text(fontSize=11, aria=False).encode(
        text="written:N", color=alt.when(light).then(alt.value("white")).otherwise(alt.value("black"))
    )
    name = f"{frames.title(frame)}, {frame['run'][0]}"
    return look.panel(frame, [blank, cell, text], name, frame["label"].n_unique() * look.ROW, len(metrics) * 44)


def differences(frame: pl.DataFrame, span: list[float], room: int) -> alt.HConcatChart:
    """Draw the differences of one run from its base, and beside them the questions won, tied and lost."""
    run, base, height, width = frame["run"][0], frame["base"][0], frame["label"].n_unique() * look.ROW, 290
    frame = frame.with_columns(
        _written("difference", "{:+.3f}"),
        _told("difference", "run", "question_type", "verdict"),
        undetectable=-pl.col("detectable"),
    )
    tips = look.tips("run", "base", "question_type", "difference", "lo", "hi", "p_adjusted", "verdict", "count")
    drawn = alt.Chart().encode(y=look.rows(frame, room), tooltip=tips, description="told:N")
    scale = alt.Scale(domain=span, nice=False)
    axis = look.numbers(title=f"{run} − {base}", labelExpr="datum.value == 0 ? '0' : format(datum.value, '+.1f')")
    band = drawn.mark_bar(color=look.FAINT, aria=False, clip=True).encode(
        x=alt.X("undetectable:Q", scale=scale, axis=axis), x2="detectable:Q"
    )
    zero = alt.Chart(alt.InlineData(values=[{}])).mark_rule(color=look.INK, aria=False).encode(x=alt.datum(0))
    line = drawn.mark_rule(strokeWidth=2.5).encode(x="lo:Q", x2="hi:Q", color=look.verdict())
    dot = drawn.mark_point(filled=True, size=64, opacity=1).encode(x="difference:Q", color=look.verdict())
    number = drawn.mark_text(align="right", fontSize=11, color=look.INK, aria=False).encode(
        x=alt.value(width + 42), text="written:N"
    )
    name = f"{frames.title(frame)}, {run} against {base}"
    left = look.panel(frame, [band, zero, line, dot, number], "", height, width)
    both: alt.HConcatChart = alt.hconcat(left, _outcomes(frame, room, height), spacing=12, title=look.heading(name))
    return both


def scatter(frame: pl.DataFrame, runs: Sequence[str], metric: str, cost: str, span: list[float]) -> look.Panel:
    """Draw means with intervals against a cost, a dot a run."""
    found: list[float] = frame["cost"].to_list()
    wide = min(found) > 0 and max(found) > 30 * min(found)
    scale = alt.Scale(type="log", nice=True) if wide else alt.Scale(zero=True, nice=True)
    written = "datum.label && datum.value < 1 ? format(datum.value, '~g') : datum.label"  # 0.1 is not 100m
    frame = frame.with_columns(_told("mean", "run"))
    base = alt.Chart().encode(
        x=alt.X("cost:Q", title=cost, scale=scale, axis=look.numbers(format="~s", labelExpr=written, grid=not wide)),
        color=look.colour(runs),
        opacity=_unless_other_picked(),
        tooltip=look.tips("run", "mean", "lo", "hi", "cost", cost=cost),
        description="told:N",
    )
    y = alt.Y("lo:Q", title=f"{metric}, mean", scale=alt.Scale(domain=span, nice=False), axis=look.numbers())
    line = base.mark_rule(strokeWidth=2.5).encode(y=y, y2="hi:Q")
    dot = base.mark_point(filled=True, size=80).encode(y="mean:Q", shape=look.shape(runs))
    return look.panel(frame, [line, dot], frames.title(frame), 240)


def pickable(panels: Sequence[look.Panel]) -> list[look.Panel]:
    """Let a click on the legend leave one run in view, in all panels: the first one holds what was picked."""
    first, *rest = panels
    return [first.add_params(_PICKED), *rest]


def _outcomes(frame: pl.DataFrame, room: int, height: float) -> look.Panel:
    counts = frame.unpivot(
        on=list(_OUTCOMES), index=["run", "question_type", "label", "count"], variable_name="outcome", value_name="k"
    ).with_columns(
        place=pl.col("outcome").replace_strict({"won": 0, "tied": 1, "lost": 2}, return_dtype=pl.Int64),
        told=pl.format("{}: {} of {} {}", "question_type", *_whole("k", "count"), "outcome"),
    )
    axis = look.numbers(format="%", values=[0, 0.5, 1], grid=False)
    share = alt.X("k:Q", stack="normalize", title="won, tied, lost", axis=axis)
    drawn = alt.Chart().encode(
        y=look.rows(frame, room).axis(None),
        order="place:O",
        description="told:N",
        tooltip=look.tips("run", "question_type", "outcome", "k", k="questions"),
    )
    fill = alt.Color("outcome:N", scale=alt.Scale(domain=list(_OUTCOMES), range=list(_OUTCOMES.values())), legend=None)
    bar = drawn.mark_bar(height={"band": 0.82}).encode(x=share, color=fill)
    ink = alt.when("datum.outcome == 'tied'").then(alt.value("black")).otherwise(alt.value("white"))
    roomy = alt.when("datum.k > 0.08 * datum.count").then(alt.Text("k:Q", format=",.0f")).otherwise(alt.value(""))
    number = drawn.mark_text(fontSize=10, aria=False).encode(x=share.bandPosition(0.5), text=roomy, color=ink)
    panel: look.Panel = look.panel(counts, [bar, number], "", height, 190).resolve_scale(color="independent")
    return panel


def _unless_other_picked() -> Any:
    return alt.when(_PICKED).then(alt.value(1)).otherwise(alt.value(0.12))


def _told(value: str, *what: str) -> pl.Expr:
    """Tell a mark in words, for those who hear the chart."""
    number = pl.coalesce(pl.col(value).round(3).cast(pl.String), pl.lit("no score"))
    interval = pl.coalesce(pl.format(" [{}, {}]", pl.col("lo").round(3), pl.col("hi").round(3)), pl.lit(""))
    return pl.format("{}: {}{}", pl.concat_str(what, separator=", "), number, interval).alias("told")


def _whole(*columns: str) -> list[pl.Expr]:
    return [pl.col(name).cast(pl.Int64) for name in columns]


def _written(column: str, form: str) -> pl.Expr:
    """Write a number with a real minus, "–" for null."""

    def write(value: float) -> str:
        return form.format(value).replace("-", "−")

    return pl.col(column).map_elements(write, return_dtype=pl.String).fill_null("–").alias("written")
