"""Draw finished frames as Altair charts: no maths, no saving, no theme switched on.

LoCoMo and LongMemEval stand in panels of their own. Nothing here needs a network: `chart.save` writes .png, .svg and,
with `inline=True`, .html; in a notebook `alt.renderers.enable("svg")` draws offline.
"""

from __future__ import annotations

from typing import TypeAlias

import altair as alt
import polars as pl

from himga_eval.charts import frames, panels
from himga_eval.charts.frames import Frame
from himga_eval.charts.look import nothing, stacked
from himga_eval.scoring import finite
from himga_eval.stats import FEW

__all__ = ["INTERVAL", "against_cost", "by_type", "heatmap", "paired"]

Chart: TypeAlias = alt.Chart | alt.VConcatChart

INTERVAL = "95 % interval, cluster-robust over samples"
"""What lo and hi are, unless another method made them."""


def by_type(summary: Frame, metric: str | None = None, *, interval: str = INTERVAL) -> Chart:
    """Draw the means of one metric by question type, run beside run: a dot, and the line of its interval.

    Without `metric` it is the summary's first, judge_score before all others. `interval` says how lo and hi were made.

    Raises:
        InputError: the frame is no summary.
        UnknownMetric: the summary has no such metric.
    """
    frame, name = frames.of_metric(frames.read(summary, frames.SUMMARY), metric)
    if not frame["mean"].count():
        return nothing(name)
    runs = frames.runs(frame)  # as they came, before types are put in order
    frame = frames.labelled(frame)
    span, room = frames.span(frame, "mean", "lo", "hi"), frames.widest(frame)
    drawn = [panels.dots(part, runs, name, span, room) for part in frames.by_dataset(frame)]
    title = f"{name} of {runs[0]} by question type" if len(runs) == 1 else f"{name} by question type"
    lines = [f"Dot: mean. {_line(frame, interval)} {frames.counted(frame)}"]
    return stacked(panels.pickable(drawn), title, lines)


def heatmap(summary: Frame) -> Chart:
    """Draw the means of all metrics by question type as a grid, a panel a data set and run.

    Raises:
        InputError: the frame is no summary.
    """
    frame = frames.read(summary, frames.SUMMARY)
    if not frame["mean"].count():
        return nothing("any metric")
    frame = frames.labelled(frame)
    span, room = frames.span(frame, "mean"), frames.widest(frame)
    scored = (of_run for part in frames.by_dataset(frame) for of_run in frames.by_run(part) if of_run["mean"].count())
    drawn = [panels.cells(of_run, span, room) for of_run in scored]
    lines = ["Metrics have no common scale: compare down a column, not along a row.", frames.counted(frame)]
    return stacked(drawn, "Mean score by question type and metric", lines)


def paired(comparison: Frame, metric: str | None = None, *, interval: str = INTERVAL) -> Chart:
    """Draw what comparing runs found for one metric: differences with intervals, sorted, beside wins, ties and losses.

    Right of zero the run is ahead of the base. Better and worse are the comparison's own verdicts. The grey band is
    what these data are too few to show.

    Raises:
        InputError: the frame is no comparison.
        UnknownMetric: the comparison has no such metric.
    """
    frame, name = frames.of_metric(frames.read(comparison, frames.COMPARISON), metric)
    if not frame["difference"].count():
        return nothing(name)
    frame = frames.labelled(frame)
    span, room = frames.span(frame, "difference", "lo", "hi", floor=-0.1, ceiling=0.1), frames.widest(frame)
    drawn = [
        panels.differences(frames.by_effect(of_run), span, room)
        for part in frames.by_dataset(frame)
        for of_run in frames.by_run(part)
    ]
    lines = [
        f"Dot: difference of means. {_line(frame, interval)} Grey: less than these data could have shown.",
        f"Verdicts are adjusted for the number of tests. Bars: questions won, tied, lost. {frames.counted(frame)}",
    ]
    return stacked(drawn, f"{name}, paired on the same questions", lines)


def against_cost(costs: Frame, cost: str, metric: str | None = None, *, interval: str = INTERVAL) -> Chart:
    """Draw the mean of one metric against what it took: the column `cost`, in seconds, tokens or dollars.

    The other columns are a summary's: run, dataset, metric, mean, lo and hi; of question types the rows "overall" are
    drawn. Costs that spread over more than a factor 30 have a logarithmic axis.

    Raises:
        InputError: a column is absent.
        UnknownMetric: the frame has no such metric.
    """
    frame, name = frames.of_metric(frames.read(costs, (*frames.COSTS, cost)), metric)
    if "question_type" in frame.columns:
        frame = frame.filter(pl.col("question_type") == "overall")
    frame = frame.with_columns(finite(cost).alias("cost")).drop_nulls(["mean", "cost"])
    if frame.is_empty():
        return nothing(f"{name} and {cost}")
    runs, span = frames.runs(frame), frames.span(frame, "mean", "lo", "hi")
    drawn = [panels.scatter(part, runs, name, cost, span) for part in frames.by_dataset(frame)]
    lines = [f"Dot: a run. {_line(frame, interval)} Up and left is better."]
    return stacked(panels.pickable(drawn), f"{name} against {cost}", lines)


def _line(frame: pl.DataFrame, interval: str) -> str:
    if not frame["lo"].count():
        return "No interval: it takes two samples."
    few = "clusters" in frame.columns and (frame["clusters"] < FEW).any()
    return f"Line: {interval}{f' (rough below {FEW} samples)' if few else ''}."
