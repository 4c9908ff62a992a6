"""What there is to judge, by which prompt and under which key."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from himga_eval.errors import InputError
from himga_eval.judge.modes import MODES, with_mode
from himga_eval.judge.schema import IDS, RULE
from himga_eval.judge.templates import Prompt, digest, read_prompt
from himga_eval.llm.base import Endpoint
from himga_eval.protocols import DEFAULT, Protocol, ProtocolLike, counted, load_protocol, refuses
from himga_eval.schema import Results, results_frame

TEXTS = ("question", "ground_truth", "prediction")


@dataclass(frozen=True)
class Plan:
    """The answers with their mode, a row an answer and repeat, and the prompts of these modes.

    `to_ask` are the rows that need a model; each has its prompt_hash and content_hash.
    """

    rows: pl.DataFrame
    prompts: dict[str, Prompt]

    @property
    def to_ask(self) -> pl.DataFrame:
        """The rows that need a model."""
        return self.rows.filter(pl.col("status").is_null())


def make_plan(
    results: Results,
    *,
    mode: str = "auto",
    protocol: ProtocolLike = DEFAULT,
    repeats: int = 1,
    prompts: Path | None = None,
) -> Plan:
    """Decide how each answer is judged, and judge what needs no model.

    Under another protocol than ours "auto" goes by its modes, a refusal by its phrases, and answers to questions that
    it does not count are left out.

    Raises:
        InputError: a column is missing, a prompt is, `repeats` is below 1, or the protocol has no judge.
        UnknownMode: no such mode.
    """
    if not isinstance(repeats, int) or repeats < 1:
        raise InputError(f"repeats is {repeats!r}; an answer is judged a whole number of times, once at least")
    recipe = load_protocol(protocol)
    if recipe.judge is None:
        raise InputError(f"protocol {recipe.name!r} has no judge; it defines: {', '.join(recipe.defined)}")
    frame = counted(results_frame(results).drop("row", strict=False).with_row_index("row"), recipe)
    frame = with_mode(frame, mode, None if recipe.name == DEFAULT else recipe.judge.modes)
    frame = frame.with_columns(
        pl.lit(None, dtype).alias(name) for name, dtype in IDS.items() if name not in frame.columns
    )
    by_rule = {name: m.rule for name, m in MODES.items() if m.rule}
    if recipe.phrases:
        by_rule["adversarial"] = partial(_by_phrase, recipe)
    modes = sorted(set(frame["mode"]) - by_rule.keys())
    if modes and "question" not in frame.columns:
        raise InputError(f"no column 'question', which the judge must see; the frame has: {', '.join(frame.columns)}")
    if "question" not in frame.columns:
        frame = frame.with_columns(pl.lit(None, pl.String).alias("question"))
    read = {name: read_prompt(MODES[name], prompts) for name in modes}
    frame = frame.select(*IDS, "mode", *TEXTS)
    judged = [_by_rule(by_rule.get(m), *texts) for m, *texts in frame.select("mode", *TEXTS).iter_rows()]
    columns = {"status": pl.String, "score": pl.Float64, "error": pl.String, "judge_model": pl.String}
    frame = pl.concat([frame, pl.DataFrame(judged, columns, orient="row")], how="horizontal")
    of_mode = {name: (prompt.hash, prompt.source) for name, prompt in read.items()}
    hashes = [
        (*of_mode[m], digest(*texts)) if status is None else (None, None, None)
        for m, status, *texts in frame.select("mode", "status", *TEXTS).iter_rows()
    ]
    names = dict.fromkeys(("prompt_hash", "prompt_source", "content_hash"), pl.String)
    frame = pl.concat([frame, pl.DataFrame(hashes, names, orient="row")], how="horizontal")
    repeat = pl.DataFrame({"repeat": range(1, repeats + 1)}, {"repeat": pl.Int32})
    return Plan(frame.join(repeat, how="cross", maintain_order="left_right"), read)


def with_keys(rows: pl.DataFrame, judge_model: str, settings: str) -> pl.DataFrame:
    """Add what a judge's verdict on each row is kept under."""
    columns = ("mode", "prompt_hash", "content_hash", "repeat")
    keys = [digest(judge_model, settings, *map(str, row)) for row in rows.select(columns).iter_rows()]
    return rows.with_columns(
        pl.lit(judge_model).alias("judge_model"),
        pl.lit(settings).alias("settings"),
        pl.Series("cache_key", keys, pl.String),
    )


def settings_of(client: Endpoint) -> str:
    """Spell out what a judge is set to: what of it can change a verdict besides the prompt."""
    return json.dumps({"verdict": "tool" if client.fills_schema else "text", **client.settings}, sort_keys=True)


def _by_phrase(protocol: Protocol, prediction: str | None) -> float:
    return float(refuses(protocol, prediction or ""))


def _by_rule(rule: Any, question: str | None, ground_truth: str | None, prediction: str | None) -> tuple[Any, ...]:
    """Status, score, error and judge of what needs no model; all None for what does."""
    if prediction is None:
        return "missing", None, "there is no answer", RULE
    if rule is not None:
        return "ok", rule(prediction), None, RULE
    if ground_truth is None or question is None:
        return "missing", None, f"there is no {'question' if question is None else 'ground truth'}", RULE
    return None, None, None, None
