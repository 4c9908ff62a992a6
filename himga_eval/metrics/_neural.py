"""BERTScore and Sentence-BERT for columns of text: which model, and each distinct pair once. Loads no torch."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, TypedDict

import polars as pl

from himga_eval.errors import InputError, MissingExtra
from himga_eval.metrics._lexical import as_text

_DEFAULT_MODEL = {
    "bert_f1": "roberta-large",
    "sbert_similarity": "sentence-transformers/all-MiniLM-L6-v2",
}
_VARIABLE = {"bert_f1": "HIMGA_BERT", "sbert_similarity": "HIMGA_SBERT"}
_PACKAGES = {
    "bert_f1": ("torch", "transformers"),
    "sbert_similarity": ("torch", "transformers", "sentence_transformers"),
}

LAYERS = {
    "bert-base-cased-finetuned-mrpc": 9,
    "bert-base-chinese": 8,
    "bert-base-multilingual-cased": 9,
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "deberta-base-mnli": 9,
    "deberta-large-mnli": 18,
    "deberta-xlarge-mnli": 40,
    "distilbert-base-multilingual-cased": 5,
    "distilbert-base-uncased": 5,
    "distilroberta-base": 5,
    "mpnet-base": 8,
    "roberta-base": 10,
    "roberta-large": 17,
    "roberta-large-mnli": 19,
    "xlm-roberta-base": 9,
    "xlm-roberta-large": 17,
}
"""The layer bert-score reads of each model, by the last part of its name."""


class Options(TypedDict, total=False):
    """What may be said about a neural metric; what is left out comes from the environment.

    `model` is a name on the hub or a folder (HIMGA_BERT_MODEL, HIMGA_SBERT_MODEL), `revision` its
    commit on the hub (HIMGA_BERT_REVISION, HIMGA_SBERT_REVISION), `layer` the one BERTScore reads
    (HIMGA_BERT_LAYER), `device` cuda, mps or cpu (HIMGA_DEVICE), `batch_tokens` how many tokens go
    through the model at once (HIMGA_BATCH_TOKENS), `progress` whether to draw a bar. A `model` given
    here leaves the revision and the layer of the environment aside: they belong to another model.
    """

    model: str | None
    revision: str | None
    layer: int | None
    device: str | None
    batch_tokens: int | None
    progress: bool | None


@dataclass(frozen=True)
class Settings:
    """All that decides a value, and how much is computed at once."""

    metric: str
    model: str
    revision: str | None
    layer: int | None
    device: str
    batch_tokens: int

    @property
    def variable(self) -> str:
        """The environment variable that names the model."""
        return f"{_VARIABLE[self.metric]}_MODEL"


def require(*metrics: str) -> None:
    """Check that the packages of these metrics are installed; metrics that need none pass.

    Raises:
        MissingExtra: names the package and the line that installs it.
    """
    for metric in metrics:
        for package in _PACKAGES.get(metric, ()):
            if find_spec(package) is None:
                raise MissingExtra(f'{metric} needs {package}, which is not installed: pip install "himga-eval[eval]"')


def neural_column(
    metric: str, predictions: pl.Series, ground_truths: pl.Series, options: Options | None = None
) -> pl.Series:
    """Score two columns of text row by row: null where a text is null, 0 where one is blank.

    The value of a row depends on its two texts and the model alone, whatever the other rows and the
    batch budget; it is rounded to 6 decimals.

    Raises:
        MissingExtra: the packages are not installed, and there is a row to score.
        ModelError: the model is not to be had.
        InputError: an option that does not exist or cannot be used, or a column that is not text.
    """
    options = options or {}
    for name in options:
        if name not in Options.__annotations__:
            # Polars makes errors of expressions anew, from their message alone: it takes a plain one.
            raise InputError(f"{metric} has no option {name!r}; known: {', '.join(Options.__annotations__)}")
    rows = pl.DataFrame([as_text(predictions, "prediction"), as_text(ground_truths, "ground_truth")])
    rows = rows.select(pl.all().str.strip_chars())
    whole = rows.drop_nulls()
    if whole.is_empty():
        return pl.Series(metric, [None] * rows.height, pl.Float64)
    require(metric)
    settings = settle(metric, options)
    # By ground truth: what several predictions are measured against is encoded once.
    pairs = whole.unique().sort("ground_truth", "prediction")
    blank = (pl.col("prediction") == "") | (pl.col("ground_truth") == "")
    scored = pairs.filter(~blank)
    if not scored.is_empty():
        scored = scored.with_columns(score=_scores(scored, settings, options.get("progress")))
    values = pl.concat([scored, pairs.filter(blank).with_columns(score=0.0)], how="diagonal")
    joined = rows.join(values, on=rows.columns, how="left", maintain_order="left")
    return joined["score"].fill_nan(None).alias(metric)


def _scores(pairs: pl.DataFrame, settings: Settings, progress: bool | None) -> pl.Series:
    from himga_eval.metrics._matching import score_pairs

    both = pl.concat([pairs["prediction"], pairs["ground_truth"]])
    texts = both.unique().sort().to_list()
    places = (both.rank("dense") - 1).to_numpy().astype("int64")
    left, right = places[: pairs.height], places[pairs.height :]
    return pl.Series(score_pairs(settings, texts, left, right, progress))


def settle(metric: str, options: Options | None = None) -> Settings:
    """Settle what an option leaves open, from the environment and the defaults.

    Raises:
        InputError: a value that cannot be used, or no layer for a model that is not in LAYERS.
    """
    from himga_eval.metrics._models import BATCH_TOKENS, find_device

    given = options or {}
    prefix = _VARIABLE[metric]
    model = given.get("model")
    named = model is not None
    model = model or os.environ.get(f"{prefix}_MODEL") or _DEFAULT_MODEL[metric]
    revision = given.get("revision") or (None if named else os.environ.get(f"{prefix}_REVISION") or None)
    device = find_device(given.get("device") or os.environ.get("HIMGA_DEVICE") or None)
    batch_tokens = given.get("batch_tokens")
    if batch_tokens is None:
        batch_tokens = _number("HIMGA_BATCH_TOKENS")
    if batch_tokens is None:
        batch_tokens = BATCH_TOKENS[device.split(":")[0]]
    if batch_tokens < 1:
        raise InputError(f"batch_tokens is at least 1, not {batch_tokens}")
    layer = given.get("layer")
    if metric == "bert_f1":
        layer = layer if layer is not None or named else _number("HIMGA_BERT_LAYER")
        layer = _layer(model) if layer is None else layer
    elif layer is not None:
        raise InputError(f"{metric} reads the last layer and takes no layer, but was given {layer}")
    return Settings(metric, model, revision, layer, device, batch_tokens)


def neural_settings(metric: str, options: Options | None = None) -> dict[str, Any]:
    """Tell what a metric is computed with, for the record; it loads no model.

    `revision`, `weights` (a digest of the model's biases and norms) and `max_tokens` are known once
    the model is loaded, None before. Scores compare where model, layer and weights are equal.

    Raises:
        MissingExtra: the packages are not installed.
        InputError: as `settle`.
    """
    require(metric)
    from himga_eval.metrics._models import loaded

    settings = settle(metric, options)
    model = loaded(settings)
    return {
        "model": settings.model,
        "revision": model.revision if model else settings.revision,
        "layer": settings.layer,
        "weights": model.weights if model else None,
        "max_tokens": model.max_tokens if model else None,
        "rescaled": False,
        "device": settings.device,
        "batch_tokens": settings.batch_tokens,
        **{package: version(package) for package in _PACKAGES[metric]},
    }


def _layer(model: str) -> int:
    name = model.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    if name not in LAYERS:
        raise InputError(
            f"no layer is known for the model {model!r}; give layer=... or set HIMGA_BERT_LAYER "
            f"(a folder may also be called after its model: {', '.join(LAYERS)})"
        )
    return LAYERS[name]


def _number(variable: str) -> int | None:
    value = os.environ.get(variable, "").strip()
    if not value:
        return None
    try:
        return int(value)
    except ValueError:
        raise InputError(f"{variable} is a whole number, not {value!r}") from None
