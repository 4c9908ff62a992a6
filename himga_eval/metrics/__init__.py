"""The metrics of one prediction against its ground truth; for frames see `himga_eval.exprs` and `himga_eval.score`.

Numbers are taken as their text. A blank side scores 0, but two blanks match exactly. All but
bert_f1 and sbert_similarity compare words, so:

- ROUGE knows only the letters a-z and the digits: nothing is left of "Москва", which scores 0 even against itself,
  and "Zoë" is the words "zo" and nothing else.
- Text without spaces, as in Chinese, is one word.
- Accents and full-width digits are not folded, and numbers not read: "2,000" is not "2000".
"""

from __future__ import annotations

from typing import Unpack

import polars as pl

from himga_eval.errors import InputError
from himga_eval.metrics._lexical import score_texts
from himga_eval.metrics._neural import Options, neural_column
from himga_eval.metrics.catalog import ALL_METRICS, LEXICAL

__all__ = [
    "ALL_METRICS",
    "LEXICAL",
    "bert_f1",
    "bleu_scores",
    "exact_match",
    "meteor",
    "rouge_scores",
    "sbert_similarity",
    "token_f1",
]


def exact_match(prediction: str | int, ground_truth: str | int) -> float:
    """Return 1 if the two are equal but for letter case and whitespace around them, else 0.

    Raises:
        InputError: None, or anything else that is neither text nor a whole number.

    >>> exact_match(" Lake Garda", "lake garda")
    1.0
    """
    return _scores(prediction, ground_truth, "exact_match")["exact_match"]


def token_f1(prediction: str | int, ground_truth: str | int) -> float:
    """Return the F1 of the words the two share, 0 to 1; a repeated word counts as often as it stands.

    Letter case is ignored, and `. , ! ?` separate words as whitespace does (Rajpurkar et al. 2016).

    Raises:
        InputError: None, or anything else that is neither text nor a whole number.

    >>> token_f1("in May 2023", "May 2023")
    0.8
    """
    return _scores(prediction, ground_truth, "f1")["f1"]


def rouge_scores(prediction: str | int, ground_truth: str | int) -> dict[str, float]:
    """Return rouge1, rouge2 and rougeL, each 0 to 1: F-measures of shared stems, pairs, and common subsequence.

    They equal rouge_score 0.1.2 with its stemmer (Lin 2004).

    Raises:
        InputError: None, or anything else that is neither text nor a whole number.

    >>> rouge_scores("She walked the dogs", "She walks dogs")["rougeL"]
    0.8571428571428571
    """
    return _scores(prediction, ground_truth, "rouge1", "rouge2", "rougeL")


def bleu_scores(prediction: str | int, ground_truth: str | int) -> dict[str, float]:
    """Return bleu1, bleu2 and bleu4, each 0 to 1: n-gram precision with a penalty for brevity.

    They equal nltk 3.9.4's sentence_bleu with smoothing method1 on word_tokenize of the lower-cased texts (Papineni et
    al. 2002).

    Raises:
        InputError: None, or anything else that is neither text nor a whole number.

    >>> bleu_scores("a red kite", "the red kite")["bleu1"]
    0.6666666666666666
    """
    return _scores(prediction, ground_truth, "bleu1", "bleu2", "bleu4")


def meteor(prediction: str | int, ground_truth: str | int) -> float:
    """Return METEOR, 0 to 1: words matched as they are, by stem and by synonym, less for scattered matches.

    It equals nltk 3.9.4's meteor_score on words between whitespace, with WordNet 3.0 (Lavie and Agarwal 2007). Even
    equal texts stay under 1.

    Raises:
        InputError: None, or anything else that is neither text nor a whole number.

    >>> meteor("the doctor came", "the physician came")
    0.9814814814814815
    """
    return _scores(prediction, ground_truth, "meteor")["meteor"]


def bert_f1(prediction: str | int, ground_truth: str | int, **options: Unpack[Options]) -> float:
    """Return BERTScore F1, -1 to 1: how near each token's vector is to the nearest of the other text.

    It equals bert-score 0.3.13 on roberta-large's layer 17, not rescaled, or on the model in `options` (Zhang et al.
    2020). Unrelated texts come to about 0.85. For many texts take `exprs.bert_f1`.

    Raises:
        MissingExtra: the extra `eval` is not installed.
        ModelError: the model is neither on disk nor to be fetched.
        InputError: None, or anything else that is neither text nor a whole number; an option that cannot be used.
    """
    return _neural_score("bert_f1", prediction, ground_truth, options)


def sbert_similarity(prediction: str | int, ground_truth: str | int, **options: Unpack[Options]) -> float:
    """Return the cosine of the two texts' vectors, -1 to 1, by all-MiniLM-L6-v2 or the model in `options`.

    It equals sentence-transformers, and that model reads 256 tokens of a text (Reimers and Gurevych 2019). For many
    texts take `exprs.sbert_similarity`.

    Raises:
        MissingExtra: the extra `eval` is not installed.
        ModelError: the model is neither on disk nor to be fetched.
        InputError: None, or anything else that is neither text nor a whole number; an option that cannot be used.
    """
    return _neural_score("sbert_similarity", prediction, ground_truth, options)


def _neural_score(metric: str, prediction: str | int, ground_truth: str | int, options: Options) -> float:
    sides = pl.Series([_text(prediction, "prediction")]), pl.Series([_text(ground_truth, "ground_truth")])
    value: float = neural_column(metric, *sides, options).item()
    return value


def _scores(prediction: str | int, ground_truth: str | int, *names: str) -> dict[str, float]:
    texts = _text(prediction, "prediction"), _text(ground_truth, "ground_truth")
    columns = score_texts([texts[0]], [texts[1]], names)
    return {name: columns[name][0] for name in names}


def _text(value: object, name: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    hint = "; a missing answer has no score, so leave the row out" if value is None else ""
    raise InputError(f"{name} is a text or a whole number, not {value!r} ({type(value).__name__}){hint}")
