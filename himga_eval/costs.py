"""What answers took, and what judging them has cost."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from himga_eval import queries
from himga_eval.judge.cache import spent
from himga_eval.judge.plan import TEXTS
from himga_eval.judge.templates import digest
from himga_eval.schema import CUSTOM, Results, results_frame
from himga_eval.scoring import finite
from himga_eval.table import Table

COSTS: dict[str, pl.DataType] = {
    "run": pl.String(),
    "dataset": pl.String(),
    "answered": pl.Int64(),
    "timed": pl.Int64(),
    "latency_p50_s": pl.Float64(),
    "latency_p95_s": pl.Float64(),
    "metered": pl.Int64(),
    "input_tokens": pl.Float64(),
    "output_tokens": pl.Float64(),
    "judge_usd": pl.Float64(),
}
"""The columns of costs: percentiles of the `timed` answers, mean tokens of the `metered` ones."""

_TOOK = ("latency_s", "input_tokens", "output_tokens")


def costs(answers: Results, cache: Path | None = None) -> pl.DataFrame:
    """Sum up what the answers of each run took: a row a run and data set, null for what nobody measured.

    `cache` is the DuckDB file of judgements. `judge_usd` is what all of them on the answers of a run have cost, whoever
    judged; one that two runs share counts for both.
    """
    frame = results_frame(answers)
    if "dataset" not in frame.columns:
        frame = frame.with_columns(dataset=pl.lit(CUSTOM))
    known = [finite(name) if name in frame.columns else pl.lit(None, pl.Float64).alias(name) for name in _TOOK]
    found = frame.select("run", "dataset").unique(maintain_order=True)
    summed = queries.run("costs", {"answers": frame.select("run", "dataset", "prediction", *known)})
    found = found.join(summed, on=["run", "dataset"], how="left", maintain_order="left")
    if cache is None or "question" not in frame.columns:
        return found.with_columns(judge_usd=None).select(*COSTS).cast(COSTS)  # type: ignore[arg-type]
    asked = frame.drop_nulls(TEXTS)
    hashes = pl.Series("content_hash", [digest(*texts) for texts in asked.select(TEXTS).iter_rows()], pl.String)
    dollars = spent(cache, asked.select("run", "dataset", hashes))
    found = found.join(dollars, on=["run", "dataset"], how="left", maintain_order="left")
    return found.select(*COSTS).cast(COSTS)  # type: ignore[arg-type]


def cost_tables(found: pl.DataFrame) -> list[Table]:
    """Lay costs out for people: a table a data set, a row a run."""
    return [_table(part, str(dataset)) for (dataset,), part in found.group_by("dataset", maintain_order=True)]


def _table(part: pl.DataFrame, dataset: str) -> Table:
    grid = pl.DataFrame(
        {
            "run": row["run"],
            "answered": f"{row['answered']:,}",
            "seconds\np50": _written(row["latency_p50_s"], ".2f"),
            "seconds\np95": _written(row["latency_p95_s"], ".2f"),
            "tokens\nin": _written(row["input_tokens"], ",.0f"),
            "tokens\nout": _written(row["output_tokens"], ",.0f"),
            "judge\n$": _written(row["judge_usd"], ",.2f"),
        }
        for row in part.iter_rows(named=True)
    )
    known = {"timed": "seconds", "metered": "tokens"}
    partial = [
        f"{what} of {row['run']} rest on {row[column]:,} of {row['answered']:,} answers"
        for row in part.iter_rows(named=True)
        for column, what in known.items()
        if 0 < row[column] < row["answered"]
    ]
    dollars = "judge $ is what all stored judgements of these answers have cost"
    told = [
        "Seconds and tokens of an answer; tokens are means",
        *([dollars] if part["judge_usd"].count() else []),
        *partial,
    ]
    return Table(f"cost on {dataset}", grid, "; ".join(told) + ".")


def _written(value: float | None, digits: str) -> str:
    return "–" if value is None else format(value, digits)
