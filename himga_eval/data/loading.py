"""Data sets by name: loaded whole or in part, their counts checked, their questions as a frame."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import polars as pl

from himga_eval.data.files import detect_dataset, find_file
from himga_eval.data.locomo import read_locomo
from himga_eval.data.longmemeval import read_longmemeval
from himga_eval.data.sampling import Stratum, draw
from himga_eval.data.schema import QAPair, QuestionType, Sample
from himga_eval.errors import DatasetWarning, InputError, listed
from himga_eval.schema import QUESTION_TYPES

READERS: dict[str, Callable[[Path], Iterator[Sample]]] = {
    "locomo": read_locomo,
    "longmemeval": read_longmemeval,
}

COUNTS: dict[str, dict[str, int]] = {
    "locomo": {
        QuestionType.SINGLE_HOP: 841,
        QuestionType.MULTI_HOP: 282,
        QuestionType.TEMPORAL: 321,
        QuestionType.OPEN_DOMAIN: 96,
        QuestionType.ADVERSARIAL: 446,
    },
    "longmemeval": {
        QuestionType.SINGLE_SESSION_USER: 70,
        QuestionType.SINGLE_SESSION_ASSISTANT: 56,
        QuestionType.SINGLE_SESSION_PREFERENCE: 30,
        QuestionType.MULTI_SESSION: 133,
        QuestionType.TEMPORAL_REASONING: 133,
        QuestionType.KNOWLEDGE_UPDATE: 78,
    },
}
"""The questions of each type in the known revision."""

QUESTIONS: dict[str, pl.DataType] = {
    "dataset": pl.String(),
    "sample_id": pl.String(),
    "question_id": pl.String(),
    "question_type": pl.String(),
    "question": pl.String(),
    "ground_truth": pl.String(),
    "evidence": pl.List(pl.String()),
    "abstention": pl.Boolean(),
    "adversarial_answer": pl.String(),
    "question_date": pl.Datetime("us"),
}
"""The columns of the questions frame."""


def load_dataset(
    name: str,
    path: str | Path | None = None,
    *,
    limit: int | None = None,
    sample: int | None = None,
    seed: int = 0,
    sample_ids: Sequence[str] | None = None,
) -> list[Sample]:
    """Load "locomo" or "longmemeval" from `path`, DATASETS_ROOT, the cache or its publisher, in this order.

    `sample_ids` keeps these samples, `limit` the first so many of them; a sample is a conversation of
    LoCoMo and a question of LongMemEval. `sample` draws that many questions, stratified by type
    with abstention in proportion; samples then hold the drawn questions only. What is not kept is not
    held in memory.

    Warns:
        DatasetWarning: the counts are not those of the known revision, or `limit` leaves out types.

    Raises:
        UnknownDataset: no such data set.
        DatasetNotFound: the file is not there, and cannot be downloaded; says where to put it.
        DatasetError: the file is not what it should be; says where.
        InputError: a choice that cannot be met.
    """
    for what, value in (("limit", limit), ("sample", sample), ("seed", seed)):
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            raise InputError(f"{what}={value!r}: it is a whole number")
    if limit is not None and limit < 1:
        raise InputError(f"limit={limit}: it is the number of samples to keep, at least 1")
    file = find_file(name, path)
    if sample is None:
        samples = list(_chosen(name, file, sample_ids, limit))
        counts = Counter(qa.question_type.value for one in samples for qa in one.qa_pairs)
    else:
        strata = {
            qa.question_id: Stratum(qa.question_type, qa.abstention)
            for one in _chosen(name, file, sample_ids, limit)
            for qa in one.qa_pairs
        }
        counts = Counter(stratum.question_type for stratum in strata.values())
        drawn = draw(strata, sample, seed)
        samples = []
        for one in _chosen(name, file, sample_ids, limit):  # again, since a history is not held before it is drawn
            one.qa_pairs = [qa for qa in one.qa_pairs if qa.question_id in drawn]
            if one.qa_pairs:
                samples.append(one)
    if limit is not None:
        _warn_of_absent_types(name, limit, counts)
    elif sample_ids is None:
        _warn_of_other_counts(name, file, counts)
    return samples


def read_questions(path: str | Path) -> pl.DataFrame:
    """Read the questions frame of a data set file of either kind; no history is held in memory.

    Warns:
        DatasetWarning: the counts are not those of the known revision.

    Raises:
        DatasetError: the file is of neither data set, or not what it should be; says where.
    """
    name = detect_dataset(path)
    frame = questions_frame(READERS[name](Path(path)))
    _warn_of_other_counts(name, Path(path), Counter(frame["question_type"].to_list()))
    return frame


def questions_frame(samples: Iterable[Sample]) -> pl.DataFrame:
    """Make a frame with a row a question, in the order of the samples.

    `evidence` lists turns for LoCoMo ("D1:3") and sessions for LongMemEval.
    """
    rows = [_row(sample, qa) for sample in samples for qa in sample.qa_pairs]
    return pl.DataFrame(rows, schema=QUESTIONS, orient="row")


def _row(sample: Sample, qa: QAPair) -> tuple[object, ...]:
    evidence = qa.evidence.turn_ids if sample.dataset == "locomo" else qa.evidence.session_ids
    return (
        sample.dataset,
        sample.sample_id,
        qa.question_id,
        str(qa.question_type),
        qa.question,
        qa.answer,
        evidence,
        qa.abstention,
        qa.adversarial_answer,
        qa.question_date,
    )


def _chosen(name: str, file: Path, ids: Sequence[str] | None, limit: int | None) -> Iterator[Sample]:
    """Read the samples of these ids, as far as the limit."""
    return islice(READERS[name](file) if ids is None else _of_ids(name, file, ids), limit)


def _of_ids(name: str, file: Path, ids: Sequence[str]) -> Iterator[Sample]:
    if isinstance(ids, str) or not isinstance(ids, Iterable) or not ids:
        raise InputError(f"sample_ids={ids!r}: it is a list of sample ids")
    missing = set(ids)
    seen = []
    for sample in READERS[name](file):
        seen.append(sample.sample_id)
        if sample.sample_id in missing:
            missing.remove(sample.sample_id)
            yield sample
            if not missing:
                return
    raise InputError(f"{file} has no sample {listed(sorted(missing))}; it has: {listed(seen, 12)}")


def _warn_of_absent_types(name: str, limit: int, counts: Counter[str]) -> None:
    if absent := [t for t in QUESTION_TYPES[name] if t not in counts]:
        message = (
            f"limit={limit}: the first samples of {name} leave out {', '.join(absent)}; sample=N draws from every type"
        )
        warnings.warn(message, DatasetWarning, stacklevel=3)


def _warn_of_other_counts(name: str, file: Path, counts: Counter[str]) -> None:
    known = COUNTS[name]
    # A smaller file is an excerpt, or data of the user's own in the same format.
    if counts != known and 2 * counts.total() > sum(known.values()):
        other = [f"{t} {counts[t]:,}, not {n:,}" for t, n in known.items() if counts[t] != n]
        message = (
            f"{file} is not the revision of {name} that published numbers rest on: "
            f"{counts.total():,} questions, not {sum(known.values()):,} ({'; '.join(other)})"
        )
        warnings.warn(message, DatasetWarning, stacklevel=3)
