"""A protocol in words, and in what two of them differ."""

from __future__ import annotations

from collections.abc import Iterable

from himga_eval.metrics.variants import VARIANTS
from himga_eval.protocols.reading import DEFAULT
from himga_eval.protocols.recipe import REST, Judge, Protocol
from himga_eval.schema import QUESTION_TYPES, QuestionType

OWN_WORDS = "its rubric is in our words; a folder with the paper's own, given as prompts, replaces it"


def described(protocol: Protocol) -> dict[str, list[str]]:
    """Say what a protocol does, where that is known from and what is assumed: lines by heading."""
    told = {
        "protocol": [f"{protocol.name}: {protocol.title}"],
        "source": [protocol.source, f"revision {protocol.revision}"],
        "questions": [", ".join(protocol.types) or "all there are"],
        "left out": leaves_out(protocol),
        "called otherwise": [f"{label!r} is {kind}" for kind, label in protocol.labels.items()],
        "metrics": [_metric(protocol, metric) for metric in protocol.metrics],
        "golds": [f"that of {kind} ends at {sign!r}" for kind, sign in protocol.until.items()],
        "adversarial answers": [] if _without_adversarial(protocol) else [_adversarial(protocol)],
        "judge": _judge(protocol.judge) if protocol.judge else ["none"],
        "averages": [f"by {average}" for average in protocol.averages],
        "known": list(protocol.known),
        "assumed": list(protocol.assumed),
        "hash": [protocol.digest],
    }
    return {heading: lines for heading, lines in told.items() if lines}


def note(protocol: Protocol, metrics: Iterable[str], prompts: str | None = None) -> str:
    """Say in a line what numbers under another protocol than ours are, to stand under a table; of ours nothing.

    `prompts` is where the judge's prompts came from, if they are not built in.
    """
    if protocol.name == DEFAULT:
        return ""
    shown = [metric for metric in metrics if metric in protocol.defined]
    told = [f"{metric} {protocol.variant(metric)}" for metric in shown if metric in protocol.metrics]
    if gone := leaves_out(protocol):
        told.append(f"{', '.join(gone)} left out")
    if "judge_score" in shown:
        told.append(f"its prompts are those of {prompts}" if prompts else OWN_WORDS)
    return f"Protocol {protocol.name}: {'; '.join(told)}."


def differences(one: Protocol, other: Protocol, metrics: Iterable[str]) -> list[str]:
    """Say in what the recipes of these metrics differ; empty where the numbers can be compared."""
    told = []
    for metric in metrics:
        if lacking := [protocol.name for protocol in (one, other) if metric not in protocol.defined]:
            told.append(f"{metric} is not defined by {' and '.join(lacking)}")
        elif metric == "judge_score":
            told += _judges(one, other)
        elif one.metrics[metric] != other.metrics[metric]:
            told.append(f"{metric} is {one.variant(metric)} in {one.name}, {other.variant(metric)} in {other.name}")
    gone = {protocol.name: leaves_out(protocol) for protocol in (one, other)}
    if gone[one.name] != gone[other.name]:
        told += [f"{name} leaves out {', '.join(kinds)}" for name, kinds in gone.items() if kinds]
    with_adversarial = not any(map(_without_adversarial, (one, other)))
    if with_adversarial and _adversarial(one) != _adversarial(other):
        told.append(f"adversarial answers are {_adversarial(one)} in {one.name}, {_adversarial(other)} in {other.name}")
    return told


def leaves_out(protocol: Protocol) -> list[str]:
    """List the question types that the protocol does not count of the data sets it is for."""
    own = [kinds for kinds in QUESTION_TYPES.values() if set(kinds) & set(protocol.types)]
    return [str(kind) for kinds in own for kind in kinds if kind not in protocol.types]


def _metric(protocol: Protocol, metric: str) -> str:
    chosen = [(kind, VARIANTS[metric][name].about) for kind, name in protocol.metrics[metric].items()]
    return f"{metric}: " + "; ".join(about if kind == REST else f"of {kind} {about}" for kind, about in chosen)


def _judge(judge: Judge) -> list[str]:
    modes = ", ".join(name if kind == REST else f"{kind}: {name}" for kind, name in judge.modes.items())
    return [f"modes {modes}", f"scale {judge.scale}", judge.reply, *([judge.model] if judge.model else []), OWN_WORDS]


def _judges(one: Protocol, other: Protocol) -> list[str]:
    if one.judge is None or other.judge is None or one.judge == other.judge:
        return []
    told = [f"judge_score is on {one.judge.scale} in {one.name}, on {other.judge.scale} in {other.name}"]
    return told if one.judge.scale != other.judge.scale else [f"{one.name} and {other.name} have other judges"]


def _without_adversarial(protocol: Protocol) -> bool:
    return bool(protocol.types) and QuestionType.ADVERSARIAL not in protocol.types


def _adversarial(protocol: Protocol) -> str:
    ways = {
        "gold": "scored against their gold",
        "trap": "scored against the answer they are to be lured into",
        "refusal": f"1 where they hold one of {len(protocol.phrases)} phrases, else 0",
    }
    return ways[protocol.adversarial]
