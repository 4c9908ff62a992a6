"""Judge one answer, or a list of results, and get plain numbers."""

from __future__ import annotations

import math
import os
from typing import Any, Literal

import polars as pl

from himga_eval import queries
from himga_eval.errors import InputError, JudgeError, LLMError, listed
from himga_eval.judge.cache import cache_file
from himga_eval.judge.judging import count_by_status, judge_frame
from himga_eval.judge.modes import get_mode
from himga_eval.judge.templates import read_prompt
from himga_eval.judge.verdicts import reader, schema
from himga_eval.llm.base import Request
from himga_eval.llm.chat import as_endpoint
from himga_eval.llm.pool import current_pool
from himga_eval.schema import Results, results_frame


def judge_answer(
    question: str, ground_truth: str, prediction: str | None, *, llm: Any = None, mode: str = "continuous"
) -> float:
    """Judge one answer, and return its score in 0..1; a missing answer gets 0.0.

    `llm` is a client of ours or anything with `chat`; mode "adversarial" needs none.

    Raises:
        UnknownMode: no such mode.
        InputError: the mode needs an llm, or there is no question or ground truth.
        JudgeError: the judge failed; a verdict that can't be read is never a 0.
    """
    chosen = get_mode(mode)
    if chosen.rule is None and llm is None:
        raise InputError(f"mode {mode!r} needs an llm: a client of himga_eval.llm, or anything with chat(messages)")
    if prediction is None:
        return 0.0
    if chosen.rule is not None:
        return chosen.rule(prediction)
    if question is None or ground_truth is None:
        raise InputError(f"there is no {'question' if question is None else 'ground truth'} to judge the answer by")
    client = as_endpoint(llm)
    wanted = schema(chosen.scale) if client.fills_schema else None
    messages = read_prompt(chosen).fill(str(question), str(ground_truth), str(prediction))
    try:
        verdict = current_pool().ask(client, Request(messages, read=reader(chosen.scale), schema=wanted))
    except LLMError as error:
        raise JudgeError(f"the answer could not be judged: {error}") from None
    return float(verdict.score)


def batch_judge(
    results: Results,
    *,
    llm: Any = None,
    mode: str = "auto",
    cache_path: str | os.PathLike[str] | None = None,
    on_error: Literal["raise", "nan"] = "raise",
    repeats: int = 1,
    judge: str | None = None,
    **more: Any,
) -> list[float]:
    """Judge all answers, and return their scores in order: 0..1, 0.0 for a missing answer.

    With `repeats` a score is the mean of so many judgements. An answer that could not be judged raises an error once
    all others are judged and kept, or is NaN with on_error="nan". `more` goes to `judge_frame`, which tells all detail.

    Raises:
        InputError: something is missing of the answers, the mode, the judge; also whatever else `judge_frame` raises.
        JudgeError: some could not be judged; its `judgements` are those of `judge_frame`.
    """
    if on_error not in ("raise", "nan"):
        raise InputError(f"on_error is {on_error!r}; it is 'raise' or 'nan'")
    frame = results_frame(results)
    if frame.is_empty():
        return []
    judgements = judge_frame(frame, llm, cache=cache_path, mode=mode, repeats=repeats, judge=judge, **more)
    failed = judgements.filter(pl.col("score").is_null() & frame["prediction"].is_not_null().gather(judgements["row"]))
    if failed.height and on_error == "raise":
        raise _failure(failed, judgements, cache_path)
    scores = with_scores(frame, judgements)["judge_score"].fill_null(math.nan)
    return [0.0 if gone else score for gone, score in zip(frame["prediction"].is_null(), scores, strict=True)]


def with_scores(results: Results, judgements: pl.DataFrame) -> pl.DataFrame:
    """Add `judge_score` to results, from the judgements that `judge_frame` made of them; null where there is none.

    It is the mean of an answer's repeats; where there are several, `judge_spread` is their standard deviation.
    """
    frame = results_frame(results).drop("judge_score", "judge_spread", strict=False)
    judged = queries.run("judgements_repeats", {"judged": judgements})
    repeated = ["spread"] if judged["judged"].max() not in (None, 0, 1) else []
    columns = judged.select("row", "score", *repeated).rename(
        {"score": "judge_score", "spread": "judge_spread"}, strict=False
    )
    return frame.with_row_index("row").join(columns, on="row", how="left", maintain_order="left").drop("row")


def _failure(failed: pl.DataFrame, judgements: pl.DataFrame, cache_path: Any) -> JudgeError:
    reasons = failed.select(pl.format("{}: {}", pl.coalesce("question_id", pl.format("row {}", "row")), "error"))
    if failed.height == judgements.height:
        kept = "a rerun asks them again"
    elif cache_path:
        kept = f"the others are kept in {cache_file(cache_path)}, and a rerun asks only these"
    else:
        kept = "give cache_path to keep the others, so that a rerun asks only these"
    error = JudgeError(
        f"{failed.height} of {judgements.height} judgements failed ({count_by_status(failed)}); {kept}. "
        f"Why: {listed(reasons.to_series().to_list(), 3)}"
    )
    error.judgements = judgements
    return error
