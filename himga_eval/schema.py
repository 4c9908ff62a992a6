"""The columns and dtypes of every frame, and the door through which results come in. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from himga_eval.errors import DuplicateRows, InputError, UnknownQuestionType, listed
from himga_eval.values import cast, is_missing, series

if TYPE_CHECKING:
    import pandas as pd


class QuestionType(StrEnum):
    """The question types of LoCoMo (the first five, official meaning) and LongMemEval."""

    SINGLE_HOP = "single_hop"
    MULTI_HOP = "multi_hop"
    TEMPORAL = "temporal"
    OPEN_DOMAIN = "open_domain"
    ADVERSARIAL = "adversarial"
    SINGLE_SESSION_USER = "single_session_user"
    SINGLE_SESSION_ASSISTANT = "single_session_assistant"
    SINGLE_SESSION_PREFERENCE = "single_session_preference"
    MULTI_SESSION = "multi_session"
    TEMPORAL_REASONING = "temporal_reasoning"
    KNOWLEDGE_UPDATE = "knowledge_update"


QUESTION_TYPES: dict[str, tuple[str, ...]] = {
    "locomo": tuple(QuestionType)[:5],
    "longmemeval": tuple(QuestionType)[5:],
}
"""The question types of each data set, in the order tables show them."""

CUSTOM = "custom"
"""The data set of results that belong to neither LoCoMo nor LongMemEval and name none."""


@dataclass
class EvalResult:
    """One answered question. A None prediction is a missing answer, never the word "None"."""

    sample_id: str
    question_id: str
    question_type: QuestionType | str | None
    question: str
    ground_truth: str
    prediction: str | None
    run: str | None = None
    dataset: str | None = None
    evidence: list[str] | None = None
    retrieved: list[str] | None = None
    latency_s: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    error: str | None = None


RESULTS: dict[str, pl.DataType] = {
    "run": pl.String(),
    "dataset": pl.String(),
    "sample_id": pl.String(),
    "question_id": pl.String(),
    "question_type": pl.String(),
    "question": pl.String(),
    "ground_truth": pl.String(),
    "prediction": pl.String(),
    "evidence": pl.List(pl.String()),
    "retrieved": pl.List(pl.String()),
    "latency_s": pl.Float64(),
    "input_tokens": pl.Int64(),
    "output_tokens": pl.Int64(),
    "error": pl.String(),
}
"""The columns of the results frame; only prediction and ground_truth are needed to score."""

_DTYPES = RESULTS | {"abstention": pl.Boolean()}

KEY = ("run", "dataset", "sample_id", "question_id")
"""What names a result."""

SUMMARY: dict[str, pl.DataType] = {
    "run": pl.String(),
    "dataset": pl.String(),
    "protocol": pl.String(),
    "question_type": pl.String(),
    "metric": pl.String(),
    "mean": pl.Float64(),
    "mean_lenient": pl.Float64(),
    "count": pl.Int64(),
    "scored": pl.Int64(),
    "missing": pl.Int64(),
    "lo": pl.Float64(),
    "hi": pl.Float64(),
    "clusters": pl.Int64(),
}
"""The columns of the summary frame: a row a run, data set, question type and metric."""

COMPARISON: dict[str, pl.DataType] = {
    "base": pl.String(),
    "run": pl.String(),
    "dataset": pl.String(),
    "protocol": pl.String(),
    "question_type": pl.String(),
    "metric": pl.String(),
    "base_mean": pl.Float64(),
    "mean": pl.Float64(),
    "difference": pl.Float64(),
    "lo": pl.Float64(),
    "hi": pl.Float64(),
    "p_value": pl.Float64(),
    "p_mcnemar": pl.Float64(),
    "p_adjusted": pl.Float64(),
    "won": pl.Int64(),
    "lost": pl.Int64(),
    "tied": pl.Int64(),
    "count": pl.Int64(),
    "clusters": pl.Int64(),
    "detectable": pl.Float64(),
    "verdict": pl.String(),
}
"""The columns of a comparison: a row a run beside the base, data set, question type and metric."""

Results: TypeAlias = "Sequence[EvalResult] | pl.DataFrame | pl.LazyFrame | pd.DataFrame"
"""Whatever is taken where results go in."""


def results_frame(results: Results, *, run: str | None = None) -> pl.DataFrame:
    """Bring results of any accepted shape to the results frame.

    Known columns get their dtype (a number becomes its text: 2022 is "2022"), question types their spelling, `dataset`
    is derived from them where absent, and `run` is filled in where absent or null. There is always a column of
    question types, null where none is known. Other columns pass through untouched, as does the order of rows.

    Raises:
        InputError: not a shape that holds results, or a column that cannot be brought to its dtype.
        UnknownQuestionType: a type that its data set does not have.
    """
    frame = _from_any(results)
    for name in ("prediction", "ground_truth"):
        if name not in frame.columns:
            raise InputError(f"no column {name!r}; the frame has: {', '.join(frame.columns) or 'none'}")
    frame = frame.with_columns(cast(frame[name], _DTYPES[name]) for name in frame.columns if name in _DTYPES)
    named = [pl.col("run")] if "run" in frame.columns else []
    frame = frame.with_columns(pl.coalesce(*named, pl.lit(run or "run")).alias("run"))
    frame = _with_types(frame)
    known = [c for c in RESULTS if c in frame.columns]
    return frame.select(*known, pl.exclude(known))


def require_key(frame: pl.DataFrame) -> None:
    """Check that every row has its key and none stands twice.

    Raises:
        InputError: a column of the key is absent or null.
        DuplicateRows: lists the doubled questions.
    """
    for name in KEY:
        if name not in frame.columns:
            raise InputError(
                f"no column {name!r}: a result is named by {', '.join(KEY)}; the frame has: {', '.join(frame.columns)}"
            )
        if nulls := frame[name].null_count():
            row = frame[name].is_null().arg_max()
            raise InputError(f"{nulls} rows have a null {name!r}, the first is row {row}; fill it in or drop them")
    require_unique(frame)


def require_unique(frame: pl.DataFrame) -> None:
    """Check that no key stands twice, by as much of the key as the frame has.

    Raises:
        DuplicateRows: lists the doubled questions.
    """
    if "question_id" not in frame.columns:
        return
    key = [name for name in KEY if name in frame.columns]
    doubled = frame.filter(pl.col("question_id").is_not_null() & pl.struct(key).is_duplicated())
    if doubled.height:
        ids = doubled.select(key).unique(maintain_order=True)
        names = [" / ".join(str(v) for v in row) for row in ids.rows()]
        raise DuplicateRows(
            f"{len(names)} questions stand more than once ({doubled.height} rows), by {', '.join(key)}: "
            f"{listed(names)}; keep one row of each, or give the runs different names"
        )


def normalise_question_type(value: str) -> str:
    """Fold the spellings of a question type to one: "Single-Session-User " is single_session_user."""
    return re.sub(r"[\s_-]+", "_", value.strip().lower())


def to_polars(frame: Any) -> pl.DataFrame | None:
    """Bring a Polars, lazy or pandas frame to a Polars frame; None where it is no frame.

    Raises:
        InputError: two columns of the same name, or a value that no column of its name can hold.
    """
    if isinstance(frame, pl.DataFrame):
        return frame
    if isinstance(frame, pl.LazyFrame):
        return frame.collect()
    if type(frame).__module__.split(".")[0] == "pandas" and hasattr(frame, "columns"):
        return _from_pandas(frame)
    return None


def _from_any(results: Any) -> pl.DataFrame:
    frame = to_polars(results)
    if frame is not None:
        return frame
    if isinstance(results, Iterable) and not isinstance(results, (str, bytes, dict)):
        rows = list(results)
        wrong = next(((i, r) for i, r in enumerate(rows) if not isinstance(r, EvalResult)), None)
        if wrong is None:
            return _from_results(rows)
        raise InputError(f"item {wrong[0]} is a {type(wrong[1]).__name__}, not an EvalResult: {wrong[1]!r:.80}")
    raise InputError(
        "results are a list of EvalResult, a Polars frame or lazy frame, or a pandas frame, "
        f"not a {type(results).__name__}"
    )


def _from_pandas(frame: pd.DataFrame) -> pl.DataFrame:
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        raise InputError(f"two columns have the same name; the frame has: {', '.join(names)}")
    columns: list[pl.Series] = []
    for name, column in zip(names, (frame[name] for name in frame.columns), strict=True):
        try:
            columns.append(pl.from_pandas(column).alias(name))
        except (TypeError, ValueError, OverflowError, NotImplementedError):  # Python objects of several types
            values = column.tolist()
            if name not in RESULTS:
                values = [None if is_missing(value) else str(value) for value in values]
            columns.append(series(name, values, RESULTS.get(name, pl.String())))
    return pl.DataFrame(columns)


def _from_results(rows: list[EvalResult]) -> pl.DataFrame:
    required = ("sample_id", "question_id", "question_type", "question", "ground_truth", "prediction")
    columns = []
    for name, dtype in RESULTS.items():
        values = [getattr(row, name) for row in rows]
        if name in required or any(v is not None for v in values):
            columns.append(series(name, values, dtype))
    return pl.DataFrame(columns)


def _with_types(frame: pl.DataFrame) -> pl.DataFrame:
    """Fill in `dataset` from the question types, and bring their spelling to ours; a blank type is none."""
    nothing = pl.Series([None] * frame.height, dtype=pl.String)
    types = frame.get_column("question_type", default=nothing).alias("question_type")
    types = types.set(types.str.strip_chars() == "", None)
    folded = {t: normalise_question_type(t) for t in types.unique().drop_nulls()}
    datasets = _datasets(frame.get_column("dataset", default=nothing), types, folded).alias("dataset")
    for dataset, known in QUESTION_TYPES.items():
        here = types.filter(datasets == dataset).unique().drop_nulls()
        if wrong := sorted(t for t in here if folded[t] not in known):
            raise UnknownQuestionType(wrong[0], known, f"in data set {dataset!r}")
    of_ours = datasets.is_in(list(QUESTION_TYPES))
    return frame.with_columns(datasets, types.replace(folded).zip_with(of_ours, types))


def _datasets(given: pl.Series, types: pl.Series, folded: Mapping[str, str]) -> pl.Series:
    """Tell the data set of each row: the one given, else that of its type, else the one around it."""
    if given.has_nulls():
        of_type = {t: dataset for dataset, known in QUESTION_TYPES.items() for t in known}
        derived = types.replace_strict(
            {t: of_type.get(f) for t, f in folded.items()}, return_dtype=pl.String, default=None
        )
        found = derived.drop_nulls().unique()
        strays = types.filter(given.is_null() & derived.is_null()).drop_nulls()
        if len(found) and len(strays):
            raise UnknownQuestionType(
                strays[0], of_type, "for types of your own, give the frame a column dataset with a name of your own"
            )
        given = given.fill_null(derived).fill_null(found[0] if len(found) == 1 else CUSTOM)
    # LoCoMo is locomo, however it is written.
    spelled = {name: name.strip().lower() for name in given.unique()}
    return given.replace({name: ours for name, ours in spelled.items() if ours in QUESTION_TYPES})
