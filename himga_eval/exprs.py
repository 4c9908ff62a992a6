"""The metrics as Polars expressions: `frame.with_columns(exprs.f1(), exprs.rougeL(ground_truth="gold"))`.

Each takes two columns of text, by name or as expressions, and gives Float64 under its own name: null where either side
is null, and 0.0 where one is blank (1.0 for exact_match of two blanks). Whole numbers are taken as their text; another
dtype is an InputError. They work eager, lazy and streaming, and in `over` and `agg`. Several lexical metrics are
cheaper together: `frame.with_columns(exprs.lexical(["f1", "meteor"]).struct.unnest())`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import polars as pl

from himga_eval.errors import InputError
from himga_eval.metrics._lexical import lexical as lexical_columns
from himga_eval.metrics._neural import Options, neural_column
from himga_eval.metrics.catalog import FAMILY, LEXICAL, resolve

Text = str | pl.Expr
"""A column by name, or an expression."""


def exact_match(prediction: Text = "prediction", ground_truth: Text = "ground_truth") -> pl.Expr:
    """Compute 1 where the two are equal but for letter case and whitespace around them, else 0."""
    return _metric("exact_match", prediction, ground_truth)


def f1(prediction: Text = "prediction", ground_truth: Text = "ground_truth") -> pl.Expr:
    """Compute the F1 of the words the two share, as in SQuAD."""
    return _metric("f1", prediction, ground_truth)


def rouge1(prediction: Text = "prediction", ground_truth: Text = "ground_truth") -> pl.Expr:
    """Compute ROUGE-1, the F-measure of shared stems."""
    return _metric("rouge1", prediction, ground_truth)


def rouge2(prediction: Text = "prediction", ground_truth: Text = "ground_truth") -> pl.Expr:
    """Compute ROUGE-2, the F-measure of shared pairs of stems."""
    return _metric("rouge2", prediction, ground_truth)


def rougeL(prediction: Text = "prediction", ground_truth: Text = "ground_truth") -> pl.Expr:
    """Compute ROUGE-L, the F-measure of the longest common subsequence of stems."""
    return _metric("rougeL", prediction, ground_truth)


def bleu1(prediction: Text = "prediction", ground_truth: Text = "ground_truth") -> pl.Expr:
    """Compute sentence BLEU of single words."""
    return _metric("bleu1", prediction, ground_truth)


def bleu2(prediction: Text = "prediction", ground_truth: Text = "ground_truth") -> pl.Expr:
    """Compute sentence BLEU of words and pairs."""
    return _metric("bleu2", prediction, ground_truth)


def bleu4(prediction: Text = "prediction", ground_truth: Text = "ground_truth") -> pl.Expr:
    """Compute sentence BLEU of n-grams up to four words."""
    return _metric("bleu4", prediction, ground_truth)


def meteor(prediction: Text = "prediction", ground_truth: Text = "ground_truth") -> pl.Expr:
    """Compute METEOR: words matched as they are, by stem and by synonym."""
    return _metric("meteor", prediction, ground_truth)


def bert_f1(
    prediction: Text = "prediction", ground_truth: Text = "ground_truth", **options: Unpack[Options]
) -> pl.Expr:
    """Compute BERTScore F1, -1 to 1, of roberta-large's layer 17 or the model in `options`; needs the extra `eval`."""
    return _metric("bert_f1", prediction, ground_truth, options)


def sbert_similarity(
    prediction: Text = "prediction", ground_truth: Text = "ground_truth", **options: Unpack[Options]
) -> pl.Expr:
    """Compute the cosine, -1 to 1, of all-MiniLM-L6-v2 or the model in `options`; needs the extra `eval`."""
    return _metric("sbert_similarity", prediction, ground_truth, options)


def lexical(
    names: Sequence[str] | None = None, prediction: Text = "prediction", ground_truth: Text = "ground_truth"
) -> pl.Expr:
    """Compute several lexical metrics in one pass, all nine unless named: a struct with a field a metric.

    Raises:
        UnknownMetric: a name that is not a metric.
        InputError: a metric that is not lexical.
    """
    asked = resolve(names, LEXICAL)
    if other := [name for name in asked if name not in LEXICAL]:
        raise InputError(f"not lexical: {', '.join(other)}; lexical metrics: {', '.join(LEXICAL)}")

    def score(sides: Sequence[pl.Series]) -> pl.Series:
        return lexical_columns(*_aligned(sides), asked).to_struct("lexical")

    fields = pl.Struct(dict.fromkeys(asked, pl.Float64()))
    return pl.map_batches([prediction, ground_truth], score, fields, is_elementwise=True).alias("lexical")


def columns(
    names: Sequence[str], prediction: Text = "prediction", ground_truth: Text = "ground_truth"
) -> list[pl.Expr]:
    """Give an expression for each metric but judge_score; each is computed for itself.

    Raises:
        UnknownMetric: a name that is not a metric.
        InputError: judge_score, which takes a language model.
    """
    return [_metric(name, prediction, ground_truth) for name in resolve(names)]


def _metric(name: str, prediction: Text, ground_truth: Text, options: Options | None = None) -> pl.Expr:
    if name in LEXICAL:
        return lexical([name], prediction, ground_truth).struct.field(name)
    if FAMILY[name] == "judge":
        raise InputError("judge_score comes from judge_frame() or batch_judge(): it takes a language model")

    def score(sides: Sequence[pl.Series]) -> pl.Series:
        return neural_column(name, *_aligned(sides), options)

    return pl.map_batches([prediction, ground_truth], score, pl.Float64).alias(name)


def _aligned(sides: Sequence[pl.Series]) -> tuple[pl.Series, pl.Series]:
    """Repeat a literal for every row of the other side; any other difference in length is an error."""
    prediction, ground_truth = sides
    if len(prediction) != len(ground_truth):
        if 1 not in (len(prediction), len(ground_truth)):
            raise InputError(f"{len(prediction):,} predictions do not go with {len(ground_truth):,} ground truths")
        rows = len(ground_truth) if len(prediction) == 1 else len(prediction)
        prediction, ground_truth = (s if len(s) == rows else s.new_from_index(0, rows) for s in sides)
    return prediction, ground_truth
