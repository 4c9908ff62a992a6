"""Lay a comparison out for people: a table a run, data set and metric, and the line under it."""

from __future__ import annotations

import polars as pl

from himga_eval.footnotes import samples, small
from himga_eval.scoring import without_twins
from himga_eval.table import Table, figure


def comparison_tables(comparison: pl.DataFrame) -> list[Table]:
    """Lay out a table a run, data set and metric: means, their difference, who won how often, and the verdict."""
    groups = comparison.group_by("base", "run", "dataset", "metric", maintain_order=True)
    return [
        Table(f"{metric} of {run} against {base} on {dataset}", _grid(without_twins(part)), _note(part))
        for (base, run, dataset, metric), part in groups
    ]


def _grid(part: pl.DataFrame) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "type": row["question_type"],
            "n": f"{row['count']:,}",
            "base": figure(row["base_mean"]),
            "mean": figure(row["mean"]),
            "diff.": figure(row["difference"], sign="+"),
            "95 %": "–" if row["lo"] is None else f"[{figure(row['lo'], sign='+')},{figure(row['hi'], sign='+')}]",
            "won:lost": f"{row['won']}:{row['lost']}",
            "p": _p(row["p_adjusted"]),
            "verdict": row["verdict"],
        }
        for row in part.iter_rows(named=True)
    )


def _note(part: pl.DataFrame) -> str:
    test = "McNemar's exact test" if part["p_mcnemar"].count() else "a sign-flip test over samples"
    told = [
        f"diff. is mean ({part['run'][0]}) less base ({part['base'][0]})",
        f"its 95 % interval is {samples([part['clusters'].max()])}",  # type: ignore[list-item]
        f"p: {test}, adjusted by Holm",
        "better or worse: p below .05 and an interval without 0",
    ]
    whole = part.filter(pl.col("question_type") == "overall")["detectable"].drop_nulls()
    if len(whole):
        least = f"an overall difference of {figure(whole[0])}" if whole[0] <= 1 else "no overall difference"
        told.append(f"{least} would be found 80 % of the time")
    return "; ".join([*told, *small(part)]) + "."


def _p(value: float | None) -> str:
    if value is None:
        return "–"
    return "<.001" if value < 0.001 else figure(value)
