"""Draw the charts of a report as SVG, so that the page needs no library to show them."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import vl_convert

from himga_eval import charts as drawn
from himga_eval.scoring import finite

SECONDS = "median seconds an answer"


def charts(
    frame: pl.DataFrame, summary: pl.DataFrame, metrics: Sequence[str], comparison: pl.DataFrame | None
) -> dict[str, dict[str, str]]:
    """Draw every chart: by the figure it belongs to, and by what is chosen there, a metric or a run."""
    found = {
        "by_type": {name: _svg(drawn.by_type(summary, name)) for name in metrics},
        "heatmap": {run: _svg(drawn.heatmap(part)) for (run,), part in summary.group_by("run", maintain_order=True)},
    }
    if comparison is not None:
        compared = comparison["metric"].unique(maintain_order=True)
        found["paired"] = {name: _svg(drawn.paired(comparison, name)) for name in compared}
    timed = _timed(frame, summary)
    if timed.select(pl.struct("run", "dataset").n_unique()).item() > 1:
        found["cost"] = {metrics[0]: _svg(drawn.against_cost(timed, SECONDS, metrics[0]))}
    return found


def _timed(frame: pl.DataFrame, summary: pl.DataFrame) -> pl.DataFrame:
    """Put the median time of an answer beside the means, where times are known."""
    if "latency_s" not in frame.columns:
        return summary.clear()
    times = frame.group_by("run", "dataset").agg(finite("latency_s").median().alias(SECONDS)).drop_nulls()
    return summary.join(times, on=["run", "dataset"], maintain_order="left")


def _svg(chart: drawn.Chart) -> str:
    spec = chart.to_dict(validate=False) | {"background": None}
    return str(vl_convert.vegalite_to_svg(spec))
