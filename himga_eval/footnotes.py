"""Say under a table what its numbers rest on."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from himga_eval.schema import QUESTION_TYPES
from himga_eval.scoring import NO_TYPE, in_order
from himga_eval.stats import FEW

SMALL = 50
"""Groups of fewer questions are pointed at, under tables and in charts."""


def counted(rows: pl.DataFrame) -> list[str]:
    """Say of a data set how many questions were answered, and which types the overall mean includes."""
    kinds = rows.select("run", "dataset", pl.col("question_type").fill_null(NO_TYPE), "prediction")
    answers = kinds.group_by("run", "question_type", maintain_order=True).agg(
        pl.len().alias("asked"), pl.col("prediction").count().alias("answered")
    )
    attempted = answers.filter(pl.col("answered") > 0)
    told = [_answered(answers)]
    if missing := int((attempted["asked"] - attempted["answered"]).sum()):
        told.append(f"{missing:,} missing answer{'s count' if missing > 1 else ' counts'} as 0")
    found = in_order(attempted["question_type"])
    without = [*_not_attempted(answers), *_not_asked(kinds)]
    if not found:
        told.append(f"nothing was attempted: {', '.join(without)}")
    elif without:
        told.append(f"overall without {', '.join(without)}")
    else:
        told.append(f"overall: all {len(found)} types" if len(found) > 1 else f"overall: {found[0]}, the only type")
    return told


def unscored(summary: pl.DataFrame) -> list[str]:
    """Name the metrics that rest on fewer rows than were asked."""
    overall = summary.filter(pl.col("question_type") == "overall")
    rests = overall.with_columns(base=pl.col("scored") + pl.col("missing"))
    rests = rests.filter(pl.col("base") > 0, pl.col("base") < pl.col("count"))
    return [
        f"{metric} of {run} rests on {base:,} of {count:,} questions"
        for run, metric, base, count in rests.select("run", "metric", "base", "count").iter_rows()
    ]


def small(counts: pl.DataFrame) -> list[str]:
    """Name the question types with few questions."""
    few = in_order(counts.filter(pl.col("count") < SMALL)["question_type"])
    everywhere = len(few) == counts["question_type"].n_unique()
    return [f"below {SMALL} questions: {'everywhere' if everywhere else ', '.join(few)}"] if few else []


def samples(clusters: Iterable[int]) -> str:
    """Say over how many samples an interval is, and that it is rough where they are few."""
    numbers = sorted(set(clusters))
    over = f"cluster-robust over {either(numbers)} samples"
    return f"{over} (rough below {FEW})" if numbers[0] < FEW else over


def either(numbers: Iterable[int]) -> str:
    """Write numbers as "1 or 2"."""
    return " or ".join(f"{number:,}" for number in numbers)


def _answered(answers: pl.DataFrame) -> str:
    """Say how many questions each run has answered."""
    counts = answers.group_by("run", maintain_order=True).agg(pl.col("answered", "asked").sum())
    told = {run: f"{answered:,} of {asked:,}" for run, answered, asked in counts.iter_rows()}
    if len(set(told.values())) == 1:
        return f"{next(iter(told.values()))} questions answered{' by each run' if len(told) > 1 else ''}"
    return f"questions answered: {', '.join(f'{text} by {run}' for run, text in told.items())}"


def _not_attempted(answers: pl.DataFrame) -> list[str]:
    """Name the types without a single answer, and whose they are where others have answered."""
    idle = answers.filter(pl.col("answered") == 0)
    runs = idle.group_by("question_type", "asked", maintain_order=True).agg("run")
    everyone = answers["run"].n_unique()
    return [
        f"{kind} ({asked:,} not attempted{'' if len(by) == everyone else ' by ' + ' and '.join(by)})"
        for kind, asked, by in runs.iter_rows()
    ]


def _not_asked(rows: pl.DataFrame) -> list[str]:
    """Name the types of the data set that stand in no row."""
    known = QUESTION_TYPES.get(rows["dataset"][0], ())
    absent = [kind for kind in known if kind not in rows["question_type"]]
    return [f"{', '.join(absent)} (no questions)"] if absent else []
