"""Lay a comparison out for people: a table a run, data set and metric, and the line under it."""

from __future__ import annotations

import polars as pl

from himga_eval.footnotes import SMALL
from himga_eval.scoring import without_twins
from himga_eval.stats import FEW
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
            "other": figure(row["mean"]),
            "diff.": figure(row["difference"], sign="+"),
            "95 %": "–" if row["lo"] is None else f"[{figure(row['lo'], sign='+')},{figure(row['hi'], sign='+')}]",
            "won:lost": f"{row['won']}:{row['lost']}",
            "p": _p(row["p_adjusted"]),
            "verdict": row["verdict"],
        }
        for row in part.iter_rows(named=True)
    )


def _note(part: pl.DataFrame) -> str:
    clusters = max(part["clusters"])
    test = "McNemar's exact test" if part["p_mcnemar"].count() else "a sign-flip test over samples"
    told = [
        f"diff.: other less base, with its 95 % interval, cluster-robust over {clusters} samples"
        + (f", which are few: a rough interval (below {FEW})" if clusters < FEW else ""),
        f"p: Holm's, of {test}",
        "a verdict asks for p below .05 and an interval without 0",
    ]
    whole = part.filter(pl.col("question_type") == "overall")["detectable"].drop_nulls()
    if len(whole):
        told.append(f"an overall difference of {figure(whole[0])} would have been shown with 80 % power")
    small = [row["question_type"] for row in part.filter(pl.col("count") < SMALL).iter_rows(named=True)]
    if small:
        told.append(f"fewer than {SMALL} questions: {', '.join(small)}")
    return "; ".join(told) + "."


def _p(value: float | None) -> str:
    if value is None:
        return "–"
    return "<.001" if value < 0.001 else figure(value)
