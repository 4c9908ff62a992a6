"""The names that columns of answers go by, as data, and the choice among them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from himga_eval.errors import RunFileError

NAMES: dict[str, tuple[str, ...]] = {
    "prediction": (
        *("response", "hypothesis", "predicted_answer", "prediction_text", "predicted", "pred", "generated_answer"),
        *("generated", "generated_text", "generation", "model_answer", "model_response", "model_output", "output"),
        *("system_answer", "system_response", "agent_answer", "agent_response"),
    ),
    "ground_truth": (
        *("golden_answer", "gold_answer", "gold", "golden", "ground_truth_answer", "gt", "gt_answer", "reference"),
        *("reference_answer", "expected_answer", "expected", "expected_output", "correct_answer", "true_answer"),
        *("target", "target_answer"),
    ),
    "question": ("query", "question_text"),
    "question_id": ("qid", "q_id", "question_idx", "qa_id", "id"),
    "sample_id": ("conversation_id", "conv_id", "group_id", "group"),
    "question_type": ("category", "category_name", "qtype", "type"),
    "dataset": ("data_set",),
    "run": ("run_name", "run_id"),
    "evidence": ("evidences", "evidence_ids", "answer_session_ids"),
    "retrieved": ("retrieved_ids", "retrieved_evidence", "retrieved_turns", "retrieved_sessions"),
    "latency_s": ("latency", "response_time", "duration_s", "latency_ms", "duration_ms", "response_time_ms"),
    "input_tokens": ("prompt_tokens",),
    "output_tokens": ("completion_tokens",),
    "error": ("error_message", "exception"),
}
"""Our columns and their other names, the usual ones first. Names are compared folded, see `fold`."""

EITHER = "answer"
"""It is the prediction in some files and the gold in others: whichever of them has no name of its own."""

MUST_BE_ONE = ("prediction", "ground_truth", "question")
"""Where two names of these are there, guessing would be wrong half of the time."""

PUBLISHED: dict[str, tuple[str, ...]] = {
    "published_judge_score": (
        *("judge_score", "llm_score", "llm_judge_score", "llm_judge", "llm", "judge", "judge_label", "autoeval_label"),
        *("autoeval_label_label", "grade", "is_correct", "correct", "label", "verdict", "score"),
    ),
    "published_exact_match": ("exact_match", "em"),
    "published_f1": ("f1", "f1_score", "token_f1"),
    "published_rouge1": ("rouge1", "rouge_1", "rouge1_f"),
    "published_rouge2": ("rouge2", "rouge_2", "rouge2_f"),
    "published_rougeL": ("rouge_l", "rougel", "rouge_l_f"),
    "published_bleu1": ("bleu1", "bleu_1", "bleu_score", "bleu"),
    "published_bleu2": ("bleu2", "bleu_2"),
    "published_bleu4": ("bleu4", "bleu_4"),
    "published_meteor": ("meteor", "meteor_score"),
    "published_bert_f1": ("bert_f1", "bert_score", "bertscore", "bert_score_f1", "bertscore_f1"),
    "published_sbert_similarity": ("sbert_similarity", "sbert", "sbert_score", "similarity"),
    "published_recall": ("recall",),
}
"""Scores that come with the answers; they keep clear of the columns that scoring adds."""

DATA_FIELDS = {
    "LoCoMo": {"question", "answer", "category", "evidence"},
    "LongMemEval": {"question_id", "question_type", "question", "answer", "answer_session_ids"},
}
"""The fields of the data sets themselves, where `answer` is no system's."""


def fold(name: str) -> str:
    """Fold the spellings of a name to one: "GroundTruth", "Ground truth" and "ground-truth" are ground_truth."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip())
    return re.sub(r"[^a-z0-9]+", "_", spaced.lower()).strip("_")


def is_known(name: str) -> bool:
    """Tell whether a name is one that a column of answers goes by."""
    return fold(name) in _KNOWN


_KNOWN = {EITHER, *NAMES, *(other for others in NAMES.values() for other in others)}


def choose(columns: Sequence[str], given: Mapping[str, str], where: object) -> dict[str, str]:
    """Choose the column of each of our names: `{ours: the file's}`; the given ones are settled already.

    Raises:
        RunFileError: no column of answers, or two that may be meant; lists those there are and the names that are read.
    """
    folded: dict[str, list[str]] = {}
    for column in columns:
        if column not in given.values():
            folded.setdefault(fold(column), []).append(column)
    chosen = dict(given)
    for name, others in (NAMES | PUBLISHED).items():
        if name in given:
            continue
        found = [column for spelling in (name, *others) for column in folded.get(fold(spelling), [])]
        if name in found:
            found = [name]
        if len(found) > 1 and name in MUST_BE_ONE:
            raise RunFileError(
                f"{where}: {len(found)} columns may be the {name}: {', '.join(found)}; rename the right one to {name!r}"
            )
        if found:
            chosen[name] = found[0]
    if either := folded.get(EITHER):
        if "prediction" not in chosen:
            _refuse_golds(columns, chosen, where)
            chosen["prediction"] = either[0]
        elif "ground_truth" not in chosen:
            chosen["ground_truth"] = either[0]
    if "prediction" not in chosen:
        raise RunFileError(
            f"{where}: no column of answers; it has: {', '.join(columns) or 'none'}; the answers' column is "
            f"prediction, or one of: {', '.join(NAMES['prediction'])}, {EITHER}"
        )
    return chosen


def _refuse_golds(columns: Sequence[str], chosen: Mapping[str, str], where: object) -> None:
    for dataset, fields in DATA_FIELDS.items():
        if fields <= set(columns) and "ground_truth" not in chosen:
            raise RunFileError(
                f"{where} is {dataset} itself, with its gold answers; if 'answer' is a system's, name it 'prediction'"
            )
