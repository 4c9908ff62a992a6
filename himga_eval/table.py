"""Lay a summary out for people: a table a data set, by question type, and the line under it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from himga_eval.footnotes import counted, either, samples, small, unscored
from himga_eval.protocols import DEFAULT
from himga_eval.scoring import in_order, summarise, without_twins
from himga_eval.styles import Interval, Style

LEAST = 3
"""Of fewer samples no interval is shown: it would span all there is."""

BESIDE = 3
"""So many metrics at most stand beside one another under a question type."""

LEAD = ("metric", "run", "protocol", "type", "question_type")
"""The columns that say what a row is."""


@dataclass(frozen=True)
class Table:
    """What is shown of one data set: a title, a grid of text, and a line that says what was counted how.

    A newline in a column's name parts it from the heads above it; `best` are the cells to set off, by row and column.
    """

    title: str
    grid: pl.DataFrame
    note: str
    best: frozenset[tuple[int, str]] = frozenset()


PLAIN = Style()

_NUMBERS = re.compile(r"([\d\s.,:%<±+–\-\[\]]|(?<=\d)e-?\d)*")


def tables(
    scores: pl.DataFrame,
    summary: pl.DataFrame | None = None,
    style: Style = PLAIN,
    notes: Mapping[str, str] | None = None,
) -> list[Table]:
    """Lay out a table a data set; LoCoMo and LongMemEval are never pooled.

    A column is a question type, and a row a metric and a run, with the counts on top. With several runs of one metric
    a row is a run alone; `style.beside` does so for up to BESIDE metrics, with a column a metric under each type, as
    papers print it. A cell is the strict mean and its interval, "–" where nothing was scored; best is what is printed
    as the highest of its metric and type, among runs under the same protocol. `notes` are added to what stands under
    the table of each data set.
    """
    summary = summarise(scores) if summary is None else summary
    laid = []
    for dataset in scores["dataset"].unique(maintain_order=True):
        rows, part = (frame.filter(pl.col("dataset") == dataset) for frame in (scores, summary))
        runs = part["run"].unique(maintain_order=True)
        shown = without_twins(part.filter(pl.col("mean").is_not_null().any().over("metric")))
        metrics = shown["metric"].unique(maintain_order=True)
        beside = len(runs) > 1 and (len(metrics) == 1 or (style.beside and len(metrics) <= BESIDE))
        grid, best = (_beside if beside else _stacked)(_written(shown, style))
        what = [*metrics] if beside and len(metrics) == 1 else [*runs] if len(runs) == 1 else []
        title = " on ".join([*what, dataset])
        best = best if style.best else frozenset()
        lines = [_note(rows, shown, style, bool(best)), (notes or {}).get(dataset, "")]
        laid.append(Table(title, grid, "\n".join(filter(None, lines)), best))
    return laid


def figure(value: float, *, percent: bool = False, sign: str = "") -> str:
    """Write a score to three digits: ".603", or "60.3" of a hundred; `sign` is "+" where a plus is to be seen."""
    text = format(100 * value, f"{sign}.1f") if percent else format(value, f"{sign}.3f")
    return text if percent or abs(value) >= 1 else text.replace("0.", ".", 1)


def parted(cell: str) -> tuple[str, str]:
    """Part a cell into its mean, which is set off where it is the best, and the interval beside it."""
    mean = re.split(r"(?=[ ±])", cell, maxsplit=1)[0]
    return mean, cell.removeprefix(mean)


def is_numeric(column: pl.Series) -> bool:
    """Tell a column of written numbers, which is set flush right, from one of text."""
    return column.name not in LEAD and all(map(_NUMBERS.fullmatch, column))


def _written(summary: pl.DataFrame, style: Style) -> pl.DataFrame:
    """Write every cell, and tell which are the best."""
    if style.interval is Interval.sd:
        summary = summary.with_columns(lo=pl.col("mean") - pl.col("sd"), hi=pl.col("mean") + pl.col("sd"))
    else:
        enough = pl.col("clusters") >= LEAST
        summary = summary.with_columns(lo=pl.when(enough).then("lo"), hi=pl.when(enough).then("hi"))
    cells = [_cell(mean, lo, hi, style) for mean, lo, hi in summary.select("mean", "lo", "hi").iter_rows()]
    rounded = pl.Series("rounded", [parted(cell)[0] for cell in cells]).cast(pl.Float64, strict=False)
    rivals = ("protocol", "metric", "question_type")
    best = (pl.col("rounded") == pl.col("rounded").max().over(rivals)) & (pl.len().over(rivals) > 1)
    return summary.with_columns(rounded, cell=pl.Series(cells, dtype=pl.String)).with_columns(
        best=best.fill_null(False)
    )


def _cell(mean: float | None, lo: float | None, hi: float | None, style: Style) -> str:
    if mean is None:
        return "–"

    def written(value: float) -> str:
        return figure(value, percent=style.percent)

    if lo is None or hi is None or style.interval is Interval.none:
        return written(mean)
    if style.interval is Interval.range:
        return f"{written(mean)} [{written(lo)},{written(hi)}]"
    return f"{written(mean)}±{written(max(hi - mean, mean - lo))}"


def _stacked(cells: pl.DataFrame) -> tuple[pl.DataFrame, frozenset[tuple[int, str]]]:
    """Make a row a metric and run, the runs of a metric below one another."""
    if cells.is_empty():  # nothing was attempted: the note says so
        return pl.DataFrame(schema={"metric": pl.String}), frozenset()
    sizes = pl.Series("cell", [f"{count:,}" for count in cells["count"]], pl.String)
    counts = cells.select(pl.lit("n").alias("metric"), "run", "question_type", sizes, best=False)
    counts = counts.unique(maintain_order=True)
    if counts.select(pl.struct("question_type", "cell").n_unique() == pl.col("question_type").n_unique()).item():
        counts = counts.with_columns(run=pl.lit("")).unique(maintain_order=True)
    rows = pl.concat([counts, cells.select(counts.columns)])
    rows = pl.concat(part for _, part in rows.group_by("metric", maintain_order=True))
    lead = ["metric"] if cells["run"].n_unique() == 1 else ["metric", "run"]
    heads = {kind: _head(kind) for kind in in_order(cells["question_type"])}
    return _pivoted(rows.with_columns(head=pl.col("question_type").replace(heads)), lead, list(heads.values()))


def _beside(cells: pl.DataFrame) -> tuple[pl.DataFrame, frozenset[tuple[int, str]]]:
    """Make a row a run, with the metrics of a type beside one another; how many questions it has is in the head."""
    metrics = cells["metric"].unique(maintain_order=True).to_list()
    counts = cells.group_by("question_type").agg(
        pl.col("count").min().alias("least"), pl.col("count").max().alias("most")
    )
    sizes = {kind: f"n={least:,}" if least == most else f"n={least:,}–{most:,}" for kind, least, most in counts.rows()}
    last = [f"\n{metric}" for metric in metrics] if len(metrics) > 1 else [""]
    heads = {
        (kind, metric): f"{_head(kind)}\n{sizes[kind]}{end}"
        for kind in in_order(cells["question_type"])
        for metric, end in zip(metrics, last, strict=True)
    }
    named = [heads[pair] for pair in cells.select("question_type", "metric").iter_rows()]
    return _pivoted(cells.with_columns(pl.Series("head", named)), ["run"], list(heads.values()))


def _head(kind: str) -> str:
    """Name the column of a question type, so that a type of somebody's own takes no other column's name."""
    return f"{kind} questions" if kind in LEAD else kind


def _pivoted(
    cells: pl.DataFrame, lead: list[str], columns: list[str]
) -> tuple[pl.DataFrame, frozenset[tuple[int, str]]]:
    text, best = (cells.pivot("head", index=lead, values=name, maintain_order=True) for name in ("cell", "best"))
    marked = ((row, name) for name in columns for row, is_best in enumerate(best[name]) if is_best)
    return text.select(*lead, pl.col(columns).fill_null("–")), frozenset(marked)


def _note(rows: pl.DataFrame, summary: pl.DataFrame, style: Style, bold: bool) -> str:
    told = [*counted(rows), *([] if style.interval is Interval.sd else unscored(summary))]
    if "f1" in summary.filter(protocol=DEFAULT)["metric"]:
        told.append("f1 counts repeated words (MAGMA, Mem0, A-MEM: once)")
    told += [*_spread(summary, style.interval), *small(summary)]
    if bold:
        mixed = (summary.group_by("metric").agg(pl.col("protocol").n_unique())["protocol"] > 1).any()
        told.append(f"bold: highest{' under the same protocol' if mixed else ''}")
    return "; ".join(told) + "."


def _spread(summary: pl.DataFrame, interval: Interval) -> list[str]:
    """Say what stands beside the means."""
    overall = summary.filter(pl.col("question_type") == "overall")
    if interval is Interval.sd:
        repeats = overall["repeats"].drop_nulls().unique().sort()
        return [f"±: standard deviation over {either(repeats)} runs of a system"]
    clusters = overall.drop_nulls("mean")["clusters"].drop_nulls().unique().sort()
    shown = clusters.filter(clusters >= LEAST)
    told = []
    if len(shown) and interval is not Interval.none:
        what = "±: to the farther end of the" if interval is Interval.half else "in brackets: the"
        told.append(f"{what} 95 % interval, {samples(shown)}")
    if len(shown) < len(clusters) and interval is not Interval.none:
        told.append(f"no interval below {LEAST} samples")
    return told
