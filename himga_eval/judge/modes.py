"""The rubrics a judge uses, a row each, and which question gets which."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import polars as pl

from himga_eval.errors import InputError, UnknownName
from himga_eval.judge.rules import is_unanswerable
from himga_eval.schema import QUESTION_TYPES, QuestionType

SIX_STEPS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


class UnknownMode(UnknownName):
    """A mode that no row stands for."""

    kind = "mode"


@dataclass(frozen=True)
class Mode:
    """How an answer is judged: by a prompt of this name, or by a rule that needs no model.

    The judge gives one score of `scale`, or says whether the answer is correct where `scale` is None. With
    mode="auto", questions of `question_types` are judged this way.
    """

    name: str
    scale: tuple[float, ...] | None = None
    question_types: tuple[str, ...] = ()
    rule: Callable[[str | None], float] | None = None


def _refusal(prediction: str | None) -> float:
    return float(is_unanswerable(prediction))


MODES: dict[str, Mode] = {
    mode.name: mode
    for mode in (
        Mode(
            "continuous",
            SIX_STEPS,
            (QuestionType.SINGLE_HOP, QuestionType.MULTI_HOP, QuestionType.TEMPORAL, QuestionType.OPEN_DOMAIN),
        ),
        Mode("adversarial", question_types=(QuestionType.ADVERSARIAL,), rule=_refusal),
        Mode("temporal_reasoning", question_types=(QuestionType.TEMPORAL_REASONING,)),
        Mode("knowledge_update", question_types=(QuestionType.KNOWLEDGE_UPDATE,)),
        Mode("preference", question_types=(QuestionType.SINGLE_SESSION_PREFERENCE,)),
        Mode(
            "default_binary",
            question_types=(
                QuestionType.SINGLE_SESSION_USER,
                QuestionType.SINGLE_SESSION_ASSISTANT,
                QuestionType.MULTI_SESSION,
            ),
        ),
        Mode("abstention"),
        Mode("generous"),
    )
}
"""The modes there are. Abstention goes by the question's id: LongMemEval's end in `_abs`; generous by protocol."""

ELSE = "continuous"
"""The mode of questions whose type none is registered for."""


def register_mode(mode: Mode) -> None:
    """Add a mode of your own, or replace one; its prompt stands in the folder given as `prompts`.

    Raises:
        InputError: a scale outside 0..1, or of fewer than two steps.
    """
    if mode.scale is not None and (len(mode.scale) < 2 or not all(0 <= step <= 1 for step in mode.scale)):
        raise InputError(f"the scale of mode {mode.name!r} is {mode.scale}; it needs two steps or more within 0..1")
    MODES[mode.name] = mode


def get_mode(name: str) -> Mode:
    """Look a mode up.

    Raises:
        UnknownMode: there is none of that name.
    """
    if name not in MODES:
        raise UnknownMode(name, MODES, "or auto, where there are question types to go by")
    return MODES[name]


def with_mode(frame: pl.DataFrame, mode: str, routes: Mapping[str, str] | None = None) -> pl.DataFrame:
    """Add the column `mode`: the given one, or with "auto" the one of each question.

    `routes` are a protocol's: modes by question type, "abstention" if it has one for that, and "default".

    Raises:
        UnknownMode: there is none of that name.
    """
    if mode != "auto":
        return frame.with_columns(pl.lit(get_mode(mode).name).alias("mode"))
    if routes is None:
        of_type = {str(kind): m.name for m in MODES.values() for kind in m.question_types}
        routes = of_type | {"abstention": "abstention", "default": ELSE}
    of_type = {kind: get_mode(name).name for kind, name in routes.items()}
    kinds = pl.col("question_type") if "question_type" in frame.columns else pl.lit(None, pl.String)
    chosen = kinds.replace_strict(of_type, default=of_type["default"], return_dtype=pl.String)
    if "question_id" in frame.columns and "abstention" in of_type:
        abstains = kinds.is_in(list(QUESTION_TYPES["longmemeval"])) & pl.col("question_id").str.ends_with("_abs")
        chosen = pl.when(abstains).then(pl.lit(of_type["abstention"])).otherwise(chosen)
    return frame.with_columns(chosen.alias("mode"))
