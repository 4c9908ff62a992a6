"""A protocol: the recipe of a paper as data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeAlias

from himga_eval.errors import UnknownMetric
from himga_eval.metrics.catalog import ALL_METRICS, LEXICAL, resolve

AVERAGES = ("question", "type", "conversation")
"""What an overall figure averages over, each with the same weight."""

ADVERSARIAL = ("gold", "trap", "refusal")
"""What an adversarial answer is scored against: its gold, the answer it is to be lured into, or a rule for refusals."""

REST = "default"
"""The key of a metric's variant, and of a judge's mode, for the question types that are not named."""


@dataclass(frozen=True)
class Judge:
    """How a model judges under a protocol: the mode of each question type, and what its reply is worth."""

    modes: Mapping[str, str]
    """By question type, "abstention" and "default"."""
    scale: str
    reply: str
    model: str = ""


@dataclass(frozen=True)
class Protocol:
    """The recipe under which a paper's numbers were made."""

    name: str
    title: str
    source: str
    revision: str
    known: tuple[str, ...]
    assumed: tuple[str, ...]
    types: tuple[str, ...]
    """The question types that count; none means all there are."""
    averages: tuple[str, ...]
    labels: Mapping[str, str]
    """What the paper calls the question types, where that is not the official name."""
    metrics: Mapping[str, Mapping[str, str]]
    """The variant of each metric, by question type and "default"."""
    adversarial: str = "gold"
    refusals: tuple[str, ...] = ()
    """Answers that are a refusal as a whole."""
    phrases: tuple[str, ...] = ()
    """What makes an answer a refusal wherever it stands in it."""
    until: Mapping[str, str] = field(default_factory=dict)
    """By question type, the sign at which its gold ends."""
    judge: Judge | None = None

    @property
    def digest(self) -> str:
        """The SHA-256 of the recipe: the same for files that differ in their wording only."""
        recipe = {name: value for name, value in asdict(self).items() if name not in _PROSE}
        return hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()

    @property
    def defined(self) -> tuple[str, ...]:
        """The metrics it defines, judge_score among them where it has a judge."""
        there = {*self.metrics, *(["judge_score"] if self.judge else [])}
        return tuple(metric for metric in ALL_METRICS if metric in there)

    def resolve(self, metrics: Sequence[str] | None) -> list[str]:
        """Check the names of metrics; without any it is the lexical ones that the protocol defines.

        Raises:
            UnknownMetric: not one of ours, or not one of the protocol's; lists those that are.
        """
        names = resolve(metrics, [metric for metric in LEXICAL if metric in self.metrics])
        for name in names:
            if name not in self.defined:
                raise UnknownMetric(name, self.defined, f"protocol {self.name!r} defines no other")
        return names

    def variant(self, metric: str) -> str:
        """Name the definition of a metric, as "set" or "stemmed, multi_hop: stemmed parts"."""
        chosen = self.metrics[metric]
        others = [f"{kind}: {name}" for kind, name in chosen.items() if kind != REST]
        return ", ".join([chosen[REST], *others])


_PROSE = ("name", "title", "source", "revision", "known", "assumed", "labels")

ProtocolLike: TypeAlias = "str | Path | Protocol"
"""A built-in protocol's name, the path of a file, or a protocol."""
