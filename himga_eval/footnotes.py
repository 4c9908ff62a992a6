"""Say under a table what its numbers rest on."""

from __future__ import annotations

import polars as pl

from himga_eval.scoring import NO_TYPE, in_order

SMALL = 50
"""Groups of fewer questions are pointed at under the table."""


def counted(rows: pl.DataFrame) -> list[str]:
    """Say which types the overall mean includes, how many questions were answered, and what was not attempted."""
    kinds = rows.select("run", pl.col("question_type").fill_null(NO_TYPE), "prediction")
    answers = kinds.group_by("run", "question_type", maintain_order=True).agg(
        pl.len().alias("asked"), pl.col("prediction").count().alias("answered")
    )
    idle = answers.filter(pl.col("answered") == 0)
    attempted = answers.filter(pl.col("answered") > 0)
    answered = int(answers["answered"].sum())
    missing = int(attempted["asked"].sum()) - answered
    told = [
        f"overall is {', '.join(in_order(attempted['question_type'])) or 'nothing'}",
        f"{answered:,} of {rows.height:,} questions answered",
    ]
    if missing:
        told.append(f"{missing:,} missing answer{'s count' if missing > 1 else ' counts'} as 0")
    if idle.height:
        runs = idle.group_by("question_type", "asked", maintain_order=True).agg("run")
        everyone = answers["run"].n_unique()
        names = [
            f"{kind} ({asked:,})" if len(by) == everyone else f"{kind} by {' and '.join(by)} ({asked:,})"
            for kind, asked, by in runs.iter_rows()
        ]
        told.append(f"not attempted: {', '.join(names)}")
    return told


def unscored(summary: pl.DataFrame) -> list[str]:
    """Name the metrics that rest on fewer rows than were asked."""
    overall = summary.filter(pl.col("question_type") == "overall")
    rests = overall.with_columns(base=pl.col("scored") + pl.col("missing")).filter(pl.col("base") < pl.col("count"))
    return [
        f"{metric} of {run} rests on {base:,} of {count:,} questions"
        for run, metric, base, count in rests.select("run", "metric", "base", "count").iter_rows()
    ]


def small(summary: pl.DataFrame) -> list[str]:
    """Name the question types with few questions."""
    few = in_order(summary.filter(pl.col("count") < SMALL)["question_type"])
    everywhere = len(few) == summary["question_type"].n_unique()
    return [f"fewer than {SMALL} questions: {'everywhere' if everywhere else ', '.join(few)}"] if few else []
