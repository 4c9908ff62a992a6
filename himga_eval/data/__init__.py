"""LoCoMo and LongMemEval, loaded; no scores."""

from __future__ import annotations

from himga_eval.data.files import dataset_checksum, detect_dataset
from himga_eval.data.loading import load_dataset, questions_frame, read_questions
from himga_eval.data.schema import EvidenceRef, Message, QAPair, QuestionType, Sample, Session

__all__ = [
    "EvidenceRef",
    "Message",
    "QAPair",
    "QuestionType",
    "Sample",
    "Session",
    "dataset_checksum",
    "detect_dataset",
    "load_dataset",
    "questions_frame",
    "read_questions",
]
