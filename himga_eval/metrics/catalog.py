"""The twelve metrics: a row each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from himga_eval.errors import InputError, UnknownMetric


@dataclass(frozen=True, slots=True)
class Metric:
    """What there is to know of a metric before computing it."""

    name: str
    family: str
    """Metrics of one family share their tokens or model, and are computed together."""
    lo: float
    hi: float
    extra: str | None
    """The optional dependency it needs: pip install "himga-eval[eval]"."""
    source: str


METRICS = (
    Metric("judge_score", "judge", 0, 1, None, "an LLM judge, see himga_eval.judge"),
    Metric("exact_match", "exact", 0, 1, None, "equal after strip and lower-casing"),
    Metric("f1", "f1", 0, 1, None, "Rajpurkar et al. 2016 (SQuAD), normalised as in LoCoMo's answers"),
    Metric("rouge1", "rouge", 0, 1, None, "Lin 2004; rouge_score 0.1.2 with stemmer, F-measure"),
    Metric("rouge2", "rouge", 0, 1, None, "Lin 2004; rouge_score 0.1.2 with stemmer, F-measure"),
    Metric("rougeL", "rouge", 0, 1, None, "Lin 2004; rouge_score 0.1.2 with stemmer, F-measure"),
    Metric("bleu1", "bleu", 0, 1, None, "Papineni et al. 2002; nltk 3.9.4 sentence_bleu, method1"),
    Metric("bleu2", "bleu", 0, 1, None, "Papineni et al. 2002; nltk 3.9.4 sentence_bleu, method1"),
    Metric("bleu4", "bleu", 0, 1, None, "Papineni et al. 2002; nltk 3.9.4 sentence_bleu, method1"),
    Metric("meteor", "meteor", 0, 1, None, "Lavie and Agarwal 2007; nltk 3.9.4 meteor_score, WordNet 3.0"),
    Metric("bert_f1", "bert", -1, 1, "eval", "Zhang et al. 2020; bert-score, roberta-large layer 17, not rescaled"),
    Metric("sbert_similarity", "sbert", -1, 1, "eval", "Reimers and Gurevych 2019; cosine of all-MiniLM-L6-v2"),
)

ALL_METRICS = tuple(metric.name for metric in METRICS)
"""The names of all metrics, in the order of columns and tables."""

LEXICAL = ALL_METRICS[1:10]
"""The metrics that need nothing but the two texts."""

FAMILY = {metric.name: metric.family for metric in METRICS}
"""The family of each metric."""


def resolve(metrics: Sequence[str] | None, default: Sequence[str] = LEXICAL) -> list[str]:
    """Check the names of metrics: those asked for, each once and in the order asked, or else the default.

    Raises:
        UnknownMetric: a name that is not in ALL_METRICS; says which is nearest.
        InputError: no list of names.
    """
    if metrics is None:
        return list(default)
    names = each_once(metrics)
    for name in names:
        if name not in ALL_METRICS:
            raise UnknownMetric(name, known=ALL_METRICS)
    return names


def each_once(metrics: Sequence[str]) -> list[str]:
    """Take a list of names, each once and in the order given.

    Raises:
        InputError: a single string where a list of names belongs, or no list at all.
    """
    if isinstance(metrics, str) or not isinstance(metrics, Iterable):
        one = f"one string: write [{metrics!r}]" if isinstance(metrics, str) else f"{metrics!r}"
        raise InputError(f"metrics is a list of names, not {one}")
    return list(dict.fromkeys(metrics))
