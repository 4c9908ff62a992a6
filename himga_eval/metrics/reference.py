"""The lexical metrics by the reference libraries, rouge_score and nltk: slow, and the measure of ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import polars as pl

from himga_eval.errors import DatasetNotFound
from himga_eval.metrics._lexical import lexical
from himga_eval.metrics.catalog import FAMILY, LEXICAL, resolve
from himga_eval.schema import Results, results_frame

RESOURCES = {
    "bleu": ("punkt_tab", ("tokenizers/punkt_tab/english",)),
    "meteor": ("wordnet", ("corpora/wordnet", "corpora/wordnet.zip")),
}
"""What nltk needs in its data folders, by family of metrics: its name for the downloader, and where it may lie."""

VERSION = "3.9"
"""The nltk whose words ours are."""

TOLERANCE = 1e-9

WEIGHTS = {"bleu1": (1.0,), "bleu2": (0.5, 0.5), "bleu4": (0.25, 0.25, 0.25, 0.25)}

COMPARISON: dict[str, pl.DataType] = {
    "metric": pl.String(),
    "rows": pl.Int64(),
    "largest_difference": pl.Float64(),
    "verdict": pl.String(),
    "where": pl.String(),
    "note": pl.String(),
}
"""The columns of a comparison."""

Scores = Callable[[str, str], Sequence[float]]


def reference(
    predictions: Sequence[str | None], ground_truths: Sequence[str | None], names: Sequence[str] = LEXICAL
) -> pl.DataFrame:
    """Score predictions against ground truths by the reference libraries: a Float64 column a name, null for null.

    Raises:
        DatasetNotFound: a metric needs nltk's punkt_tab or wordnet, and they are in none of nltk's data folders.
    """
    if missing := _missing(names):
        raise DatasetNotFound(_advice(missing))
    columns: dict[str, list[float | None]] = {name: [] for name in names}
    for family in dict.fromkeys(FAMILY[name] for name in names):
        asked = [name for name in names if FAMILY[name] == family]
        score = _FAMILIES[family](asked)
        for prediction, ground_truth in zip(predictions, ground_truths, strict=True):
            values: Sequence[float | None] = [None] * len(asked)
            if prediction is not None and ground_truth is not None:
                values = score(prediction, ground_truth)
            for name, value in zip(asked, values, strict=True):
                columns[name].append(value)
    return pl.DataFrame(columns, schema=dict.fromkeys(names, pl.Float64))


def compare(results: Results, metrics: Sequence[str] | None = None) -> pl.DataFrame:
    """Set our lexical metrics beside those of the reference libraries on these rows: a row a metric.

    The columns are metric, rows (how many were compared), largest_difference, verdict ("equal" to 1e-9, "differs", or
    "not compared"), where (the row that differs most) and note.

    Raises:
        UnknownMetric: not one of ALL_METRICS.
    """
    frame = results_frame(results)
    names = [name for name in resolve(metrics) if name in LEXICAL]
    absent = {name: missing for name in names if (missing := _missing([name]))}
    known = [name for name in names if name not in absent]
    ours = lexical(frame["prediction"], frame["ground_truth"], known)
    theirs = reference(frame["prediction"].to_list(), frame["ground_truth"].to_list(), known)
    rows = [
        (name, 0, None, "not compared", None, _advice(absent[name]))
        if name in absent
        else (name, *_difference(ours[name], theirs[name], frame), _note(name))
        for name in names
    ]
    return pl.DataFrame(rows, COMPARISON, orient="row")


def _difference(ours: pl.Series, theirs: pl.Series, frame: pl.DataFrame) -> tuple[int, float | None, str, str | None]:
    """Return how many rows were compared, the largest difference, the verdict, and the row that differs most."""
    gaps = [(gap, row) for row, gap in enumerate((ours - theirs).abs()) if gap is not None]
    if not gaps:
        return 0, None, "not compared", None
    largest, row = max(gaps)
    if largest <= TOLERANCE:
        return len(gaps), largest, "equal", None
    question = f" ({frame['question_id'][row]})" if "question_id" in frame.columns else ""
    return len(gaps), largest, "differs", f"row {row}{question}"


def _missing(names: Sequence[str]) -> list[str]:
    """List what nltk lacks to compute these metrics."""
    families = dict.fromkeys(FAMILY[name] for name in names)
    needed = [RESOURCES[family] for family in families if family in RESOURCES]
    return [resource for resource, paths in needed if not any(map(_found, paths))]


def _found(path: str) -> bool:
    import nltk

    try:
        nltk.data.find(path)
    except LookupError:
        return False
    return True


def _advice(missing: Sequence[str]) -> str:
    return (
        f"nltk has no {' and no '.join(missing)} in its data folders: "
        f"run `python -m nltk.downloader {' '.join(missing)}`, or set NLTK_DATA to a folder that has it; "
        "only the reference needs it"
    )


def _note(name: str) -> str | None:
    import nltk

    if FAMILY[name] != "bleu" or nltk.__version__.startswith(f"{VERSION}."):
        return None
    return f"nltk {nltk.__version__} is installed; ours are the words of nltk {VERSION}, and a few rows may differ"


def _exact(names: Sequence[str]) -> Scores:
    return lambda prediction, ground_truth: [float(prediction.strip().lower() == ground_truth.strip().lower())]


def _f1(names: Sequence[str]) -> Scores:
    separate = str.maketrans(".,!?", "    ")

    def score(prediction: str, ground_truth: str) -> list[float]:
        sides = [Counter(text.lower().translate(separate).split()) for text in (prediction, ground_truth)]
        shared = (sides[0] & sides[1]).total()
        if not shared:
            return [0.0]
        precision, recall = (shared / side.total() for side in sides)
        return [2 * precision * recall / (precision + recall)]

    return score


def _rouge(names: Sequence[str]) -> Scores:
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(list(names), use_stemmer=True)

    def score(prediction: str, ground_truth: str) -> list[float]:
        found = scorer.score(ground_truth, prediction)
        return [float(found[name].fmeasure) for name in names]

    return score


def _bleu(names: Sequence[str]) -> Scores:
    from nltk import word_tokenize
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    smoothing = SmoothingFunction().method1

    def score(prediction: str, ground_truth: str) -> list[float]:
        words, goal = word_tokenize(prediction.lower()), word_tokenize(ground_truth.lower())
        return [float(sentence_bleu([goal], words, WEIGHTS[name], smoothing)) for name in names]

    return score


def _meteor(names: Sequence[str]) -> Scores:
    from nltk.translate.meteor_score import meteor_score

    return lambda prediction, ground_truth: [float(meteor_score([ground_truth.split()], prediction.split()))]


_FAMILIES: dict[str, Callable[[Sequence[str]], Scores]] = {
    "exact": _exact,
    "f1": _f1,
    "rouge": _rouge,
    "bleu": _bleu,
    "meteor": _meteor,
}
