"""How charts look: colours, shapes, axes, legends, titles. All of it is said in the chart, so no theme is needed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeAlias

import altair as alt
import polars as pl

from himga_eval.scoring import CUTS

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
"""Okabe and Ito's palette (2008), which the colour-blind can tell apart, without its yellow and black."""

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
"""Runs differ by shape too, so that a chart can be read in grey."""

VERDICTS = {"better": COLOURS[0], "undecided": "#757575", "worse": COLOURS[5]}
"""The colours of a comparison's verdicts."""

Panel: TypeAlias = alt.LayerChart | alt.FacetChart
"""What `alt.layer` says it gives."""

INK, GREY, GRID, FAINT = "#222222", "#5f5f5f", "#e3e3e3", "#ededed"
WIDTH = 400
ROW = 23

_FORMATS = {"mean": ".3f", "lo": ".3f", "hi": ".3f", "difference": "+.3f", "p_adjusted": ".3~g", "cost": ".4~g"}
_PLAIN: dict[str, Any] = {
    "domain": False,
    "ticks": False,
    "labelFontSize": 11,
    "titleFontSize": 11,
    "titleFontWeight": "normal",
}
_LEGEND = alt.Legend(orient="top", labelFontSize=12, labelLimit=240, symbolSize=90, columns=4, offset=12)


def numbers(**extra: Any) -> alt.Axis:
    """Make the axis of a number."""
    return alt.Axis(**{**_PLAIN, "gridColor": GRID, "tickCount": 5, "labelFlush": False, "labelPadding": 5, **extra})


def rows(frame: pl.DataFrame, room: int, **extra: Any) -> alt.Y:
    """Make the axis of labels, as wide as `room` characters, in the order of the frame and with the cuts in bold."""
    labels = frame["label"].unique(maintain_order=True).to_list()
    cuts = frame.filter(pl.col("question_type").is_in(CUTS))["label"].unique(maintain_order=True).to_list()
    bold = {"condition": {"test": f"indexof({json.dumps(cuts)}, datum.value) >= 0", "value": "bold"}, "value": "normal"}
    width = min(6.3 * room, 280)  # about as wide as that many characters are
    axis = alt.Axis(
        **{
            **_PLAIN,
            "labelFontSize": 12,
            "labelLimit": 280,
            "labelPadding": 6,
            "labelColor": INK,
            "labelFontWeight": bold,
        },
        **{"tickBand": "extent", "gridColor": GRID, "minExtent": width, **extra},
    )
    scale = alt.Scale(domain=labels, padding=0)
    return alt.Y("label:N", title=None, scale=scale, axis=axis)


def colour(runs: Sequence[str]) -> alt.Color:
    """Give each run its colour."""
    scale = alt.Scale(domain=runs, range=[COLOURS[place % len(COLOURS)] for place in range(len(runs))])
    return alt.Color("run:N", title=None, scale=scale, legend=_LEGEND if len(runs) > 1 else None)


def shape(runs: Sequence[str]) -> alt.Shape:
    """Give each run its shape; past the last colour they are shifted, so that no two runs look alike."""
    turned = [SHAPES[(place + place // len(COLOURS)) % len(SHAPES)] for place in range(len(runs))]
    scale = alt.Scale(domain=runs, range=turned)
    return alt.Shape("run:N", title=None, scale=scale, legend=_LEGEND if len(runs) > 1 else None)


def verdict() -> alt.Color:
    """Give each verdict its colour."""
    scale = alt.Scale(domain=list(VERDICTS), range=list(VERDICTS.values()))
    return alt.Color("verdict:N", title=None, scale=scale, legend=_LEGEND)


def tips(*columns: str, **titles: str) -> list[alt.Tooltip]:
    """Show columns when pointed at."""
    return [
        alt.Tooltip(field=name, type="quantitative", format=_FORMATS[name], title=titles.get(name, name))
        if name in _FORMATS
        else alt.Tooltip(field=name, type="nominal", title=titles.get(name, name))
        for name in columns
    ]


def panel(frame: pl.DataFrame, layers: Sequence[alt.Chart], title: str, height: float, width: float = WIDTH) -> Panel:
    """Draw layers on a frame, under a title.

    Rows are put in as they are: Altair's limit on rows and its guesses at dtypes are for raw frames.
    """
    return alt.layer(
        *layers,
        data=alt.InlineData(values=frame.to_dicts()),
        width=width,
        height=height,
        view=alt.ViewBackground(stroke=None),
        title=heading(title),
    )


def heading(title: str) -> alt.Title:
    """Make the title of a panel, flush with its axis."""
    return alt.Title(title, anchor="start", frame="group", fontSize=12, offset=6)


def stacked(panels: Sequence[Panel | alt.HConcatChart], title: str, lines: Sequence[str]) -> alt.VConcatChart:
    """Put panels under one another, under one title and one legend."""
    head = alt.Title(
        title, subtitle=list(lines), anchor="start", fontSize=15, subtitleFontSize=11, subtitleColor=GREY, offset=10
    )
    chart = alt.vconcat(*panels, spacing=14, title=head)
    shared: alt.VConcatChart = chart.resolve_scale(color="shared", shape="shared", yOffset="independent")
    return shared


def nothing(name: str) -> alt.Chart:
    """Say that there is nothing to draw."""
    text = f"no data: nothing is scored by {name}"
    chart = alt.Chart(alt.InlineData(values=[{"text": text}])).mark_text(fontSize=13, color=GREY).encode(text="text:N")
    sized: alt.Chart = chart.properties(width=WIDTH, height=60, view=alt.ViewBackground(stroke=GRID))
    return sized
