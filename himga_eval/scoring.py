"""Score a frame of results and summarise it: where the metrics and the SQL meet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from numbers import Real
from typing import Any

import duckdb
import polars as pl
import polars.selectors as cs

from himga_eval import queries
from himga_eval.errors import InputError, listed
from himga_eval.metrics._neural import require
from himga_eval.metrics.catalog import ALL_METRICS, each_once, resolve
from himga_eval.protocols import DEFAULT, ProtocolLike, counted, load_protocol, metric_columns
from himga_eval.schema import QUESTION_TYPES, SUMMARY, Results, require_unique, results_frame
from himga_eval.values import is_missing

CUTS = ("overall", "answerable", "task_averaged", "abstention")
"""The rows of a summary that are not question types."""

NO_TYPE = "(none)"
"""The group of rows without a question type."""

PUBLISHED = "published_"
"""The prefix of scores that came with the answers."""


def score(results: Results, metrics: Sequence[str] | None = None, *, protocol: ProtocolLike = DEFAULT) -> pl.DataFrame:
    """Score every row: the results frame with a Float64 column a metric, and the protocol's name.

    Without `metrics` it is the lexical ones that the protocol defines: nine of ours. A null prediction or ground truth
    gives null, a blank one 0.0 (exact_match of two blanks is 1). A metric's column that is already there is computed
    anew; judge_score is not computed here, see `himga_eval.judge`. Under another protocol than ours, a built-in one or
    a file of one's own, rows of question types that it does not count are left out.

    Warns:
        RunWarning: the protocol scores adversarial answers against the trap, and the rows do not say what it is.

    Raises:
        UnknownMetric: not one of ALL_METRICS, or none that the protocol defines.
        UnknownProtocol: neither a built-in protocol nor a file.
        MissingExtra: a neural metric, without the extra that it needs.
        InputError: no column prediction or ground_truth, or judge_score asked for.
    """
    recipe = load_protocol(protocol)
    names = recipe.resolve(metrics)
    if "judge_score" in names:
        raise InputError("judge_score comes from judge_frame() or batch_judge(), not from score()")
    frame = counted(results_frame(results), recipe)
    if metrics is None and not names and not score_columns(frame):
        raise InputError(
            f"protocol {recipe.name!r} has no metric of the two texts; it defines {', '.join(recipe.defined)}, which "
            "judge_frame() gives (himga-eval judge --protocol)"
        )
    if not frame.is_empty():
        require(*names)  # a metric that cannot be had is told before any work is done
    return frame.with_columns(pl.lit(recipe.name).alias("protocol"), *metric_columns(frame, recipe, names))


def summarise(scores: Results, *, metrics: Sequence[str] | None = None) -> pl.DataFrame:
    """Average scores by question type and over the usual cuts: the summary frame.

    Without `metrics` it averages all of ours that the frame has, and the published ones. Rows are ordered by run,
    metric and type. "overall" is all types; "answerable" leaves out LoCoMo's adversarial and LongMemEval's abstention
    questions; "abstention" and "task_averaged" are LongMemEval's. `count` rows were asked, of which `missing` have no
    prediction (0 in `mean`, left out of `mean_lenient`) and `scored` have a score; `lo` and `hi` bound the mean with
    95 % confidence, cluster-robust over the samples (Cameron and Miller 2015), null where there are fewer than two.
    A question type without a single answer has no row.

    Raises:
        InputError: no metric's column.
        DuplicateRows: a question stands twice in a run.
    """
    wide = _wide(scores, metrics)
    with _score_rows(wide) as connection:
        summary = queries.run("summary", connection)
    return _ordered(summary.cast(pl.Schema(SUMMARY)), wide["run"].unique(maintain_order=True))


def averages(scores: Results, *, metrics: Sequence[str] | None = None) -> pl.DataFrame:
    """Average scores over all rows with the same weight for each question, each question type, or each sample.

    The columns are run, dataset, protocol, metric, average ("question", "type", "conversation"), mean and weights.
    Means are strict, as in `summarise`.

    Raises:
        InputError: no metric's column.
        DuplicateRows: a question stands twice in a run.
    """
    with _score_rows(_wide(scores, metrics)) as connection:
        return queries.run("averages", connection)


def compute_metrics(
    results: Results, judge_scores: Sequence[float | None] | None, *, metrics: Sequence[str] | None = None
) -> dict[str, dict[str, Any]]:
    """Compute the strict means as a dict: `{"overall": {metric: mean}, "by_type": {type: {metric: mean, "count": n}}}`.

    Without `metrics` it is all twelve. A cell with nothing scored is None; an empty input gives zeros. `judge_scores`
    are in the order of the results, NaN or None where there is none; they may be None where judge_score is not asked.

    Raises:
        UnknownMetric: not one of ALL_METRICS.
        InputError: the scores are not as many as the results, or these are of several runs or data sets.
        DuplicateRows: a question stands twice in a run.
    """
    names = resolve(metrics or None, ALL_METRICS)
    nothing = {"overall": dict.fromkeys(names, 0.0), "by_type": {}}
    if isinstance(results, Sized) and len(results) == 0:
        return nothing
    frame = results_frame(results)
    if frame.is_empty():
        return nothing
    require_unique(frame)
    for name in ("run", "dataset"):
        if frame[name].n_unique() > 1:
            found = ", ".join(frame[name].unique(maintain_order=True))
            raise InputError(f"results of several {name}s ({found}) have no one overall mean; compute each by itself")
    if "judge_score" in names:
        frame = frame.with_columns(_judge_scores(judge_scores, frame.height))
    frame = score(frame, [name for name in names if name != "judge_score"])
    summary = summarise(frame, metrics=names)
    counts = dict(frame["question_type"].fill_null(NO_TYPE).value_counts().iter_rows())
    means = {(kind, name): mean for kind, name, mean in summary["question_type", "metric", "mean"].iter_rows()}
    return {
        "overall": {name: means.get(("overall", name)) for name in names},
        "by_type": {
            kind: {**{name: means.get((kind, name)) for name in names}, "count": counts[kind]}
            for kind in in_order(counts)
        },
    }


def _judge_scores(scores: Iterable[float | None] | None, rows: int) -> pl.Series:
    """Take the scores that a judge gave; NaN is none."""
    if isinstance(scores, (str, Mapping)) or not isinstance(scores, Iterable | None):
        raise InputError(f"judge scores are a list, a score for each result in their order, not {scores!r:.80}")
    given = [] if scores is None else [None if is_missing(value) else value for value in scores]
    if len(given) != rows:
        raise InputError(f"{len(given)} judge scores for {rows} results; give one a result, in their order")
    for place, value in enumerate(given):
        if value is not None and not (isinstance(value, Real) and 0 <= value <= 1):
            raise InputError(f"judge score {place} is {value!r}; a score is a number from 0 to 1, NaN or None for none")
    return pl.Series("judge_score", [None if value is None else float(value) for value in given], dtype=pl.Float64)


def in_order(question_types: Iterable[str]) -> list[str]:
    """Put question types in the order of tables: the data sets' own, a user's by name, no type, the cuts."""
    known = [str(t) for types in QUESTION_TYPES.values() for t in types]
    last = [NO_TYPE, *CUTS]
    found = set(question_types)
    own = sorted(found.difference(known, last))
    return [t for t in (*known, *own, *last) if t in found]


def without_twins(frame: pl.DataFrame) -> pl.DataFrame:
    """Leave out the cut "answerable" of a data set where it counts the same questions as "overall"."""
    overall, answerable = (
        pl.col("count").filter(pl.col("question_type") == cut).sum().over("dataset")
        for cut in ("overall", "answerable")
    )
    return frame.filter((pl.col("question_type") != "answerable") | (overall != answerable))


def score_columns(frame: pl.DataFrame) -> list[str]:
    """List the columns that hold scores: our metrics, then the published ones."""
    published = cs.starts_with(PUBLISHED) & (cs.numeric() | cs.boolean())
    return [*(m for m in ALL_METRICS if m in frame.columns), *frame.select(published).columns]


def scores_in(frame: pl.DataFrame, metrics: Sequence[str] | None = None) -> list[str]:
    """Name the columns of scores to use: those asked for, or else all that the results frame has.

    Raises:
        InputError: a column that is not there, or that holds no numbers.
    """
    there = score_columns(frame)
    names = there if metrics is None else each_once(metrics)
    if missing := [name for name in names if name not in frame.columns]:
        runs = frame["run"].unique(maintain_order=True).to_list()
        raise InputError(
            f"{listed(runs) or 'the frame'} has no column {listed(missing)}: "
            f"score() adds metrics, judge_frame() judgements; it has: {', '.join(there) or 'no scores'}"
        )
    for name in names:
        dtype = frame.schema[name]
        if not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)):
            raise InputError(f"column {name!r} is {dtype}: the scores of a metric are numbers")
    return names


def protocols(frame: pl.DataFrame) -> pl.Expr:
    """Take the protocol of each row's scores, which is ours where none is said."""
    said = [pl.col("protocol").cast(pl.String)] if "protocol" in frame.columns else []
    return pl.coalesce(*said, pl.lit(DEFAULT)).alias("protocol")


def finite(name: str) -> pl.Expr:
    """Take a column as Float64, null where it is NaN or infinite, so that no mean ever is."""
    value = pl.col(name).cast(pl.Float64)
    return pl.when(value.is_finite()).then(value).alias(name)


@contextmanager
def _score_rows(wide: pl.DataFrame) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database with the table that the statements about averages read."""
    with queries.tables({"wide_scores": wide}) as connection:
        connection.execute(f"create temp view score_rows as {queries.load('score_rows')}")
        yield connection


_WIDE = ("run", "dataset", "protocol", "cluster", "question_type", "abstention", "answered")


def _wide(scores: Results, metrics: Sequence[str] | None) -> pl.DataFrame:
    """The frame that sql/score_rows.sql reads."""
    frame = results_frame(scores)
    require_unique(frame)
    if cuts := set(CUTS).intersection(frame["question_type"]):
        raise InputError(f"no question type can be called {', '.join(sorted(cuts))}: a summary has a row of that name")
    names = scores_in(frame, metrics)
    if not names:
        raise InputError(f"no column of any metric: score() adds them; the frame has: {', '.join(frame.columns)}")
    if taken := set(_WIDE).intersection(names):
        raise InputError(
            f"no metric can be called {', '.join(sorted(taken))}: what is averaged has a column of that name"
        )

    def given(name: str, default: pl.Expr) -> pl.Expr:
        return pl.col(name) if name in frame.columns else default.alias(name)

    row = pl.int_range(pl.len()).cast(pl.String)
    of_id = pl.col("question_id").str.ends_with("_abs") if "question_id" in frame.columns else pl.lit(False)
    return frame.select(
        "run",
        "dataset",
        protocols(frame),
        pl.coalesce(given("sample_id", pl.lit(None, pl.String)), row).alias("cluster"),
        "question_type",
        given("abstention", of_id).fill_null(False),
        pl.col("prediction").is_not_null().alias("answered"),
        *(finite(name) for name in names),
    )


def _ordered(summary: pl.DataFrame, runs: pl.Series) -> pl.DataFrame:
    def rank(column: str, order: Iterable[str]) -> pl.Expr:
        places = {name: place for place, name in enumerate(order)}
        return pl.col(column).replace_strict(places, default=len(places), return_dtype=pl.Int64)

    keys = (rank("run", runs), "dataset", "protocol", rank("metric", ALL_METRICS), "metric")
    return summary.sort(*keys, rank("question_type", in_order(summary["question_type"])))
