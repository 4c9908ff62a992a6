"""What joining answers to questions found, as counts, ids and sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from himga_eval.errors import listed


@dataclass(frozen=True)
class JoinReport:
    """What became of a run's answers and of the questions they belong to."""

    run: str
    questions: int
    answered: int
    matched_by: str
    """Of the columns by which answers found their questions."""
    not_attempted: Mapping[str, int] = field(default_factory=dict)
    """Question types without a single answer, and the number of their questions."""
    unanswered: Sequence[str] = ()
    """Questions of the other types without an answer; they are kept, with a null prediction."""
    without_question: Sequence[str] = ()
    """Answers, by id, question or row, that no question of the data set belongs to; they are left out."""
    replaced: Sequence[str] = ()
    """Questions with a failed row besides the one that counts."""
    other_questions: Sequence[str] = ()
    other_golds: Sequence[str] = ()
    other_types: Sequence[str] = ()
    """Questions whose text, gold answer or type in the file is not the data set's, which is the one used."""
    naming: Mapping[str, str] = field(default_factory=dict)
    """The file's names of question types that stand for another type throughout: `{the file's: the data set's}`."""

    @property
    def notes(self) -> list[str]:
        """Say what is as it may be."""
        lines = [f"{self.answered:,} of {self.questions:,} questions answered, matched by {self.matched_by}"]
        if self.not_attempted:
            types = ", ".join(f"{kind} ({count:,})" for kind, count in self.not_attempted.items())
            lines.append(f"not attempted: {types}")
        if self.replaced:
            lines.append(_counted(self.replaced, "question", "had a failed row besides the one that is used"))
        return lines

    @property
    def findings(self) -> list[str]:
        """Say what may be amiss; empty where nothing is."""
        said = [
            _counted(self.unanswered, "question", "without an answer, kept as missing"),
            _counted(self.without_question, "answer", "without a question in the data set, left out"),
            _counted(
                self.other_questions, "question", "read otherwise in the data set; the file's are in file_question"
            ),
            _counted(
                self.other_golds,
                "gold",
                "other than the data set's, which are used; the file's are in file_ground_truth",
            ),
            _counted(
                self.other_types,
                "question type",
                "other than the data set's, which are used; the file's are in file_question_type",
            ),
        ]
        if self.naming:
            names = ", ".join(f"{theirs!r} is {ours}" for theirs, ours in self.naming.items())
            said.append(f"the file names question types by another scheme: its {names}; the data set's names are used")
        return [line for line in said if line]

    def __str__(self) -> str:
        return "\n".join(f"{self.run}: {line}" for line in (*self.notes, *self.findings))


def _counted(ids: Sequence[str], noun: str, rest: str) -> str:
    if not ids:
        return ""
    return f"{len(ids):,} {noun}{'s' if len(ids) > 1 else ''} {rest}: {listed(ids)}"
