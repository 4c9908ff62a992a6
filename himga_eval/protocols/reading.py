"""Protocols read from their TOML files, every field checked."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from himga_eval.errors import InputError, UnknownName
from himga_eval.metrics.variants import VARIANTS
from himga_eval.protocols.recipe import ADVERSARIAL, AVERAGES, REST, Judge, Protocol, ProtocolLike
from himga_eval.schema import QUESTION_TYPES, QuestionType

DEFAULT = "himga"
FOLDER = Path(str(files("himga_eval"))) / "protocols"


RESERVED = ("published", *(path.stem for path in FOLDER.glob("*.toml")))
"""The names that a protocol of one's own can't have; "published" are scores that came with the answers."""


class UnknownProtocol(UnknownName):
    """A protocol that does not exist."""

    kind = "protocol"


def names() -> list[str]:
    """List the built-in protocols, our own first."""
    found = sorted(path.stem for path in FOLDER.glob("*.toml"))
    return sorted(found, key=lambda name: name != DEFAULT)


def load_protocol(protocol: ProtocolLike) -> Protocol:
    """Read a protocol by its name, or from a file of one's own.

    Raises:
        UnknownProtocol: neither a built-in one nor a file.
        InputError: the file is no protocol, or called as a built-in one; says which field is wrong and what it may be.
    """
    if isinstance(protocol, Protocol):
        return protocol
    if protocol in names():
        return read_protocol(FOLDER / f"{protocol}.toml")
    path = Path(protocol)
    if not path.is_file():
        raise UnknownProtocol(str(protocol), names(), "or the path of a TOML file of your own")
    if path.stem in RESERVED:
        raise InputError(f"{path} would be called {path.stem!r}, which is built in; rename the file")
    return read_protocol(path)


def read_protocol(path: Path) -> Protocol:
    """Read the TOML file of a protocol; its name is the file's stem.

    Raises:
        InputError: not TOML, or a field is absent, unknown or of another kind.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not valid TOML: {error}") from None
    _only(document, {"title", "source", "revision", "known", "assumed", *_TABLES}, str(path))
    tables = {name: document.get(name, {}) for name in _TABLES}
    for name, fields in _TABLES.items():
        if not isinstance(tables[name], dict):
            raise InputError(f"{path}: {name} is a {type(tables[name]).__name__}, not a table [{name}]")
        _only(tables[name], fields, f"{path}, [{name}]")
    questions, adversarial, judge = tables["questions"], tables["adversarial"], tables["judge"]
    protocol = Protocol(
        name=path.stem,
        title=_text(document, "title", path),
        source=_text(document, "source", path),
        revision=_text(document, "revision", path),
        known=_texts(document, "known", path),
        assumed=_texts(document, "assumed", path),
        types=_texts(questions, "types", path),
        averages=_texts(questions, "averages", path) or ("question",),
        until=_mapping(questions, "until", path),
        labels=_mapping(document, "labels", path),
        metrics={metric: _by_type(given, f"{path}, [metrics] {metric}") for metric, given in tables["metrics"].items()},
        adversarial=adversarial.get("scored", "gold"),
        refusals=_texts(adversarial, "refusals", path),
        phrases=_texts(adversarial, "phrases", path),
        judge=_judge(judge, path) if judge else None,
    )
    for what, name, known in _choices(protocol):
        if name not in known:
            raise InputError(f"{path}: {UnknownName(name, known)} ({what})")
    if protocol.adversarial == "refusal" and not protocol.phrases:
        raise InputError(f"{path}: [adversarial] scored is 'refusal', and phrases says of none what a refusal is")
    return protocol


_TABLES: dict[str, set[str]] = {
    "questions": {"types", "averages", "until"},
    "labels": set(QuestionType),
    "metrics": set(VARIANTS),
    "adversarial": {"scored", "refusals", "phrases"},
    "judge": {"modes", "scale", "reply", "model"},
}
_KINDS = [str(kind) for kinds in QUESTION_TYPES.values() for kind in kinds]


def _choices(protocol: Protocol) -> Iterator[tuple[str, str, Sequence[str]]]:
    """List what is chosen from a list: in which field, the choice, and the list."""
    yield from (("[questions] types", kind, _KINDS) for kind in protocol.types)
    yield from (("[questions] averages", name, AVERAGES) for name in protocol.averages)
    yield from (("[questions] until", kind, _KINDS) for kind in protocol.until)
    yield "[adversarial] scored", protocol.adversarial, ADVERSARIAL
    for metric, variants in protocol.metrics.items():
        for kind, variant in variants.items():
            yield f"[metrics] {metric}", kind, [REST, *_KINDS]
            yield f"[metrics] {metric}", variant, list(VARIANTS[metric])
    for kind in protocol.judge.modes if protocol.judge else ():
        yield "[judge] modes", kind, [REST, "abstention", *_KINDS]


def _judge(table: dict[str, Any], path: Path) -> Judge:
    modes = _by_type(table.get("modes"), f"{path}, [judge] modes")
    where = f"{path}, [judge]"
    return Judge(modes, _text(table, "scale", where), _text(table, "reply", where), str(table.get("model", "")))


def _only(table: Mapping[str, Any], known: set[str], where: str) -> None:
    for name in table:
        if name not in known:
            raise InputError(f"{where}: {UnknownName(name, sorted(known))}")


def _text(table: Mapping[str, Any], name: str, where: object) -> str:
    value = table.get(name)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where}: {name} is {value!r}; it has to be a text")
    return value


def _texts(table: Mapping[str, Any], name: str, where: object) -> tuple[str, ...]:
    value = table.get(name, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InputError(f"{where}: {name} is {value!r}; it has to be a list of texts")
    return tuple(value)


def _mapping(table: Mapping[str, Any], name: str, where: object) -> dict[str, str]:
    value = table.get(name, {})
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise InputError(f"{where}: {name} is {value!r}; it has to give texts by question type")
    return value


def _by_type(given: object, where: str) -> dict[str, str]:
    """Read one name for all types, or a table of names by type with a default."""
    if isinstance(given, str):
        return {REST: given}
    if isinstance(given, dict) and REST in given and all(isinstance(item, str) for item in given.values()):
        return given
    raise InputError(f"{where} is {given!r}; it has to be a name, or names by question type with a {REST!r}")
