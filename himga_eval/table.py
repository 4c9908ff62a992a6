"""Lay a summary out for people: a table by question type, as text, Markdown or LaTeX, and the line under it."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from himga_eval.protocols import DEFAULT
from himga_eval.scoring import NO_TYPE, in_order, summarise

SMALL = 50
"""Groups of fewer questions are pointed at under the table."""

FEW = 3
"""Of fewer samples no interval is shown: it would span all there is."""


@dataclass(frozen=True)
class Table:
    """What is shown of one data set: a title, a grid of text, and a line that says what was counted how."""

    title: str
    grid: pl.DataFrame
    note: str


def tables(scores: pl.DataFrame, summary: pl.DataFrame | None = None) -> list[Table]:
    """Lay out a table a data set; LoCoMo and LongMemEval are never pooled.

    A row is a metric (and a run, where there are several), a column a question type; the counts stand on top. A cell is
    the strict mean and half the width of its interval, "–" where nothing was scored.
    """
    summary = summarise(scores) if summary is None else summary
    laid = []
    for dataset in scores["dataset"].unique(maintain_order=True):
        rows, part = (frame.filter(pl.col("dataset") == dataset) for frame in (scores, summary))
        runs = part["run"].unique(maintain_order=True)
        title = f"{runs[0]} on {dataset}" if len(runs) == 1 else dataset
        laid.append(Table(title, _grid(part, len(runs) == 1), _note(rows, part)))
    return laid


def markdown(table: Table) -> str:
    """Write a table in Markdown."""
    header, body = table.grid.columns, table.grid.rows()
    rule = ["---" if name in _LEAD else "---:" for name in header]
    lines = [header, rule, *([cell.replace("|", "\\|") for cell in row] for row in body)]
    return "\n".join([f"**{table.title}**", "", *(f"| {' | '.join(line)} |" for line in lines), "", table.note])


def latex(table: Table) -> str:
    """Write a table in LaTeX; the document needs the package booktabs."""
    header, *body = ([_escaped(cell) for cell in line] for line in [table.grid.columns, *table.grid.rows()])
    lead = sum(name in _LEAD for name in table.grid.columns)
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{'l' * lead}{'r' * (len(header) - lead)}}}",
            r"\toprule",
            rf"{' & '.join(header)} \\",
            r"\midrule",
            *(rf"{' & '.join(line)} \\" for line in body),
            r"\bottomrule",
            r"\end{tabular}",
            f"% {table.title}: {table.note}",
        ]
    )


_LEAD = ("metric", "run")


def _grid(summary: pl.DataFrame, alone: bool) -> pl.DataFrame:
    summary = summary.filter(pl.col("mean").is_not_null().any().over("metric"))  # not the metrics of other data sets
    kinds = in_order(_without_twin(summary)["question_type"])
    means = [_cell(*row) for row in summary.select("mean", "lo", "hi", "clusters").iter_rows()]
    scored = summary.select("metric", "run", "question_type", pl.Series("cell", means, pl.String))
    counted = summary.select(
        pl.lit("n").alias("metric"), "run", "question_type", pl.format("{}", "count").alias("cell")
    )
    cells = pl.concat([counted.unique(maintain_order=True), scored])
    # The runs of a metric stand below one another, to be compared.
    cells = pl.concat(part for _, part in cells.group_by("metric", maintain_order=True))
    grid = cells.pivot("question_type", index=_LEAD, values="cell", maintain_order=True)
    return grid.select("metric", *([] if alone else ["run"]), *(pl.col(kind).fill_null("–") for kind in kinds))


def _cell(mean: float | None, lo: float | None, hi: float | None, clusters: int | None) -> str:
    if mean is None:
        return "–"
    told = lo is not None and hi is not None and clusters is not None and clusters >= FEW
    return f"{_decimals(mean)} ±{_decimals((hi - lo) / 2)}" if told else _decimals(mean)


def _decimals(value: float) -> str:
    return f"{value:.3f}".replace("0.", ".", 1)


def _without_twin(summary: pl.DataFrame) -> pl.DataFrame:
    """Leave out "answerable" where it counts the same questions as "overall"."""
    total = pl.col("count").filter(pl.col("question_type") == "overall").sum()
    answerable = pl.col("count").filter(pl.col("question_type") == "answerable").sum()
    twins: bool = summary.select(total == answerable).item()
    return summary.filter(pl.col("question_type") != "answerable") if twins else summary


def _note(rows: pl.DataFrame, summary: pl.DataFrame) -> str:
    told = [*_counted(rows), *_unscored(summary)]
    if "f1" in summary.filter(protocol=DEFAULT)["metric"]:
        told.append("f1 counts a repeated token each time (MAGMA, Mem0 and A-MEM: once)")
    clusters = summary.filter(pl.col("question_type") == "overall")["clusters"].drop_nulls().unique().sort()
    shown = [n for n in clusters if n >= FEW]
    if shown:
        told.append(f"± is half a 95 % interval, cluster-robust over {' or '.join(f'{n:,}' for n in shown)} samples")
    if len(shown) < len(clusters):
        told.append(f"of fewer than {FEW} samples no interval is shown")
    small = in_order(summary.filter(pl.col("count") < SMALL)["question_type"])
    if small:
        everywhere = len(small) == summary["question_type"].n_unique()
        told.append(f"fewer than {SMALL} questions: {'everywhere' if everywhere else ', '.join(small)}")
    return "; ".join(told) + "."


def _counted(rows: pl.DataFrame) -> list[str]:
    """Say which types the overall mean includes, how many questions were answered, and what was not attempted."""
    kinds = rows.select("run", pl.col("question_type").fill_null(NO_TYPE), "prediction")
    answers = kinds.group_by("run", "question_type", maintain_order=True).agg(
        pl.len().alias("asked"), pl.col("prediction").count().alias("answered")
    )
    idle = answers.filter(pl.col("answered") == 0)
    attempted = answers.filter(pl.col("answered") > 0)
    answered = answers["answered"].sum()
    missing = attempted["asked"].sum() - answered
    told = [
        f"overall is {', '.join(in_order(attempted['question_type'])) or 'nothing'}",
        f"{answered:,} of {rows.height:,} questions answered",
    ]
    if missing:
        told.append(f"{missing:,} missing answer{'s count' if missing > 1 else ' counts'} as 0")
    if idle.height:
        alone = answers["run"].n_unique() == 1
        names = [
            f"{kind} ({asked:,})" if alone else f"{kind} by {run} ({asked:,})" for run, kind, asked, _ in idle.rows()
        ]
        told.append(f"not attempted: {', '.join(names)}")
    return told


def _unscored(summary: pl.DataFrame) -> list[str]:
    """Name the metrics that rest on fewer rows than were asked."""
    overall = summary.filter(pl.col("question_type") == "overall")
    rests = overall.with_columns(base=pl.col("scored") + pl.col("missing")).filter(pl.col("base") < pl.col("count"))
    return [
        f"{metric} of {run} rests on {base:,} of {count:,} questions"
        for run, metric, base, count in rests.select("run", "metric", "base", "count").iter_rows()
    ]


def _escaped(text: str) -> str:
    """Make text safe for LaTeX."""
    return "".join(_LATEX.get(char, char) for char in text)


_LATEX = {
    "\\": r"\textbackslash{}",
    "±": r"$\pm$",
    "–": "--",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{char: f"\\{char}" for char in "&%$#_{}"},
}
