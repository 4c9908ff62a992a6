"""The layouts of published result files, as data; one is recognised before any other name of a column is tried."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class Layout:
    """A published layout: the columns that tell it, those that rule it out, and what its columns are to us."""

    name: str
    has: frozenset[str]
    columns: Mapping[str, str]
    lacks: frozenset[str] = frozenset()
    judgements: str | None = None
    dataset: str | None = None


LAYOUTS = (
    Layout(
        name="Zep's LoCoMo responses and grades",
        has=frozenset({"question", "answer", "golden_answer"}),
        lacks=frozenset({"response", "generated_answer", "hypothesis"}),
        columns={
            "prediction": "answer",
            "ground_truth": "golden_answer",
            "question_type": "category",
            "published_judge_score": "grade",
        },
    ),
    Layout(
        name="LoCoMo evaluation of Mem0 and Memobase",
        has=frozenset({"question", "answer", "response", "category"}),
        columns={
            "prediction": "response",
            "ground_truth": "answer",
            "question_type": "category",
            "latency_s": "response_time",
            "published_judge_score": "llm_score",
            "published_f1": "f1_score",
            "published_bleu1": "bleu_score",
        },
    ),
    Layout(
        name="LoCoMo evaluation of EverMemOS and locomo-audit",
        has=frozenset({"question", "golden_answer", "generated_answer"}),
        columns={"prediction": "generated_answer", "ground_truth": "golden_answer", "question_type": "category"},
        judgements="llm_judgments.",
    ),
    Layout(
        name="LongMemEval hypotheses",
        has=frozenset({"question_id", "hypothesis"}),
        columns={
            "prediction": "hypothesis",
            "published_judge_score": "autoeval_label.label",
            "input_tokens": "tokens.prompt_tokens",
            "output_tokens": "tokens.completion_tokens",
        },
        dataset="longmemeval",
    ),
)


ANSWERED = "_prediction"
"""What LoCoMo's own evaluation ends the columns of a model's answers with, as in `gpt-4-turbo_prediction`."""


def recognise(columns: Iterable[str]) -> Layout | None:
    """Recognise a published layout by its columns; a file with a column of ours for either text is in nobody's."""
    there = set(columns)
    if there & {"prediction", "ground_truth"}:
        return None
    return next((one for one in LAYOUTS if one.has <= there and not one.lacks & there), None)


def split_models(table: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Split the output of LoCoMo's own evaluation, `*_qa.json`, which has a set of columns for each model.

    A model's columns lose its name: prediction, f1, recall, and retrieved for what it was given as context. A table in
    another layout gives nothing.
    """
    models = [name.removesuffix(ANSWERED) for name in table.columns if name.endswith(ANSWERED)]
    if not models or "prediction" in table.columns or not {"question", "category"} <= set(table.columns):
        return {}
    # The longest name comes last and wins: gpt-4_turbo_f1 is no column of gpt-4.
    owner = {name: model for model in sorted(models, key=len) for name in table.columns if name.startswith(f"{model}_")}
    shared = [name for name in table.columns if name not in owner]
    parts = {}
    for model in models:
        own = {name: name.removeprefix(f"{model}_") for name in table.columns if owner.get(name) == model}
        parts[model] = table.select(*shared, *own).rename(own).rename({"prediction_context": "retrieved"}, strict=False)
    return parts
