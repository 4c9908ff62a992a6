"""Draw the charts of a report as SVG, so that the page needs no library to show them."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import vl_convert

from himga_eval import charts as drawn


def charts(
    summary: pl.DataFrame, metrics: Sequence[str], comparison: pl.DataFrame | None, costs: pl.DataFrame
) -> dict[str, dict[str, str]]:
    """Draw every chart: by the figure it belongs to, and by what is chosen there: a metric, a run or a cost."""
    found = {
        "by_type": {name: _svg(drawn.by_type(summary, name)) for name in metrics},
        "heatmap": {run: _svg(drawn.heatmap(part)) for (run,), part in summary.group_by("run", maintain_order=True)},
    }
    if comparison is not None:
        compared = comparison["metric"].unique(maintain_order=True)
        found["paired"] = {name: _svg(drawn.paired(comparison, name)) for name in compared}
    spent = summary.join(costs, on=["run", "dataset"], maintain_order="left")
    chosen = [name for name in ("latency_p50_s", "input_tokens") if costs[name].count() > 1]
    if chosen:
        found["cost"] = {name: _svg(drawn.against_cost(spent, name, metrics[0])) for name in chosen}
    return found


def _svg(chart: drawn.Chart) -> str:
    spec = chart.to_dict(validate=False) | {"background": None}
    return str(vl_convert.vegalite_to_svg(spec))
