"""Lay every question and every answer out as columns, for the page to search and show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from himga_eval.charts.look import COLOURS
from himga_eval.schema import KEY
from himga_eval.scoring import finite, in_order

_ASKED = ("dataset", "sample_id", "question_id", "question_type", "question", "ground_truth")
_TOLD = ("prediction", "error", "retrieved", "latency_s", "input_tokens", "output_tokens")


def questions(
    frame: pl.DataFrame,
    metrics: Sequence[str],
    leading: str,
    judgements: pl.DataFrame | None,
    moved: pl.DataFrame | None,
) -> dict[str, Any]:
    """Give the questions, each once, and the answers, each with the place of its question: a list a column.

    Runs and types are listed by themselves; `judged` holds score, status and words of each judgement of an answer.
    """
    names = frame["run"].unique(maintain_order=True).to_list()
    frame = frame.with_row_index("row")
    asked = [name for name in _ASKED if name in frame.columns]
    evidence = [pl.col("evidence").first()] if "evidence" in frame.columns else []
    nameless = pl.when(pl.col("question_id").is_null()).then("row").alias("nameless")
    groups = frame.group_by(*asked, nameless, maintain_order=True).agg("row", *evidence).with_row_index("place")
    places = groups.select("place", "row").explode("row").sort("row")["place"]
    answers = frame.select(
        pl.col("run").replace_strict({name: place for place, name in enumerate(names)}, return_dtype=pl.Int64),
        places.alias("question"),
        *(name for name in _TOLD if name in frame.columns),
    )
    return {
        "runs": names,
        "colours": list(COLOURS),
        "types": in_order(frame["question_type"]),
        "metrics": list(metrics),
        "leading": leading,
        **({} if moved is None or moved.is_empty() else {"moved": moved["metric"][0], "base": moved["base"][0]}),
        "questions": groups.drop("row", "place", "nameless").to_dict(as_series=False),
        "answers": answers.to_dict(as_series=False) | _judged(frame, judgements) | _moved(frame, moved),
        "scores": frame.select(finite(name).round(4) for name in metrics).to_dict(as_series=False),
    }


def _judged(frame: pl.DataFrame, judgements: pl.DataFrame | None) -> dict[str, list[Any]]:
    if judgements is None:
        return {}
    words = pl.coalesce("reasoning", "error", "raw_reply")
    said = judgements.group_by(KEY).agg(
        judged=pl.concat_list(pl.col("score").round(4).cast(pl.String).fill_null(""), "status", words.fill_null(""))
    )
    return {"judged": frame.join(said, on=KEY, how="left", maintain_order="left")["judged"].to_list()}


def _moved(frame: pl.DataFrame, moved: pl.DataFrame | None) -> dict[str, list[Any]]:
    if moved is None:
        return {}
    known = moved.select(*KEY, "change", "cause").unique(KEY, keep="first")
    return (
        frame.join(known, on=KEY, how="left", maintain_order="left").select("change", "cause").to_dict(as_series=False)
    )
