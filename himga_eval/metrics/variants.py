"""The definitions that go by the name of a metric, as functions of two texts; protocols choose among them."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from himga_eval.metrics._porter import stem
from himga_eval.metrics._text import Memo
from himga_eval.metrics._words import words

Tokens = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class Variant:
    """One definition of a metric: what it does, and how two texts are scored where that is not as in `exprs`."""

    about: str
    pair: Callable[[str, str], float] | None = None
    """Prediction and ground truth to a score."""


_SIGNS = str.maketrans(dict.fromkeys(".,!?", " "))
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_ARTICLES_AND = re.compile(r"\b(a|an|the|and)\b")
_WORD = re.compile(r"\b\w+\b")
_STEMS = Memo(stem)


def _plain(text: str) -> list[str]:
    return text.lower().translate(_SIGNS).split()


def _squad(text: str) -> list[str]:
    return _ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split()


def _locomo(text: str) -> list[str]:
    return _ARTICLES_AND.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split()


def _stems(text: str) -> list[str]:
    return [_STEMS[word] for word in _locomo(text)]


def _runs(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _nltk(text: str) -> list[str]:
    lowered = text.lower()
    return words(lowered, lowered.split())


def _of_bags(tokens: Tokens, prediction: str, ground_truth: str) -> float:
    """Count a repeated token each time."""
    found, wanted = tokens(prediction), tokens(ground_truth)
    return _f1(sum((Counter(found) & Counter(wanted)).values()), len(found), len(wanted))


def _of_sets(tokens: Tokens, prediction: str, ground_truth: str) -> float:
    """Count a token once."""
    found, wanted = set(tokens(prediction)), set(tokens(ground_truth))
    return _f1(len(found & wanted), len(found), len(wanted))


def _f1(common: int, found: int, wanted: int) -> float:
    if not common:
        return 0.0
    precision, recall = common / found, common / wanted
    return 2 * precision * recall / (precision + recall)


def _of_parts(prediction: str, ground_truth: str) -> float:
    """Cut both at commas, and average over the golds the best answer to each."""
    answers, golds = prediction.split(","), ground_truth.split(",")
    return sum(max(_of_bags(_stems, answer, gold) for answer in answers) for gold in golds) / len(golds)


def _equal(tokens: Callable[[str], object], prediction: str, ground_truth: str) -> float:
    return float(tokens(prediction) == tokens(ground_truth))


def _meteor_of_words(prediction: str, ground_truth: str) -> float:
    from himga_eval.metrics import meteor

    return meteor(" ".join(_nltk(prediction)), " ".join(_nltk(ground_truth)))


def _token_set(text: str) -> set[str]:
    return set(_locomo(text))


_ROUGE = {"rouge_score": Variant("rouge_score 0.1.2 with stemmer, F-measure")}
_BLEU = {"method1": Variant("nltk sentence BLEU on word_tokenize of the lower-cased texts, smoothing method1")}

VARIANTS: dict[str, dict[str, Variant]] = {
    "exact_match": {
        "equal": Variant("equal after strip and lower-casing"),
        "squad": Variant("equal without case, punctuation, a, an, the", partial(_equal, _squad)),
        "token_sets": Variant(
            "equal as sets of words, without punctuation, a, an, the, and", partial(_equal, _token_set)
        ),
    },
    "f1": {
        "multiset": Variant(". , ! ? to space; a repeated token counts each time"),
        "set": Variant(". , ! ? to space; a token counts once", partial(_of_sets, _plain)),
        "squad": Variant("without punctuation, a, an, the; repeats count", partial(_of_bags, _squad)),
        "stemmed": Variant(
            "Porter stems without punctuation, a, an, the, and; repeats count", partial(_of_bags, _stems)
        ),
        "stemmed_parts": Variant("stemmed, of the parts between commas: the best answer to each gold", _of_parts),
        "word_set": Variant("runs of letters, digits and underscores; a token counts once", partial(_of_sets, _runs)),
        "nltk_word_set": Variant("nltk's word_tokenize; a token counts once", partial(_of_sets, _nltk)),
    },
    "rouge1": _ROUGE,
    "rouge2": _ROUGE,
    "rougeL": _ROUGE,
    "bleu1": _BLEU,
    "bleu2": _BLEU,
    "bleu4": _BLEU,
    "meteor": {
        "whitespace": Variant("nltk METEOR on whitespace tokens, WordNet 3.0"),
        "nltk_words": Variant("nltk METEOR on word_tokenize of the lower-cased texts", _meteor_of_words),
    },
    "bert_f1": {"unrescaled": Variant("roberta-large layer 17, not rescaled")},
    "sbert_similarity": {"minilm": Variant("cosine of all-MiniLM-L6-v2")},
}
"""The variants of each metric; the first is ours."""
