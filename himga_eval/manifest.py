"""What a run's numbers rest on, in one small document: data set, answers, protocols, judge, settings, versions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import polars as pl

from himga_eval.errors import InputError
from himga_eval.metrics.catalog import FAMILY, LEXICAL
from himga_eval.protocols import ProtocolLike, UnknownProtocol, load_protocol
from himga_eval.schema import KEY, Results, results_frame
from himga_eval.scoring import PUBLISHED, score, score_columns, summarise
from himga_eval.store import Store
from himga_eval.stored_rows import VERSIONS

MANIFEST = ".manifest.json"
"""What the name of a manifest ends in, beside the file of the same stem."""

CHECKED: dict[str, pl.DataType] = {
    "what": pl.String(),
    "noted": pl.String(),
    "found": pl.String(),
    "verdict": pl.String(),
}
"""The columns of what `check_manifest` finds; the verdict is one of the four below."""

SAME, DIFFERS, OTHER_VERSION, UNKNOWN = "same", "differs", "other version", "unknown"


def model_settings(metrics: Sequence[str]) -> dict[str, str]:
    """Spell what the neural metrics among these were computed with as settings of a run: `bert.model`, `bert.layer`."""
    from himga_eval.metrics._neural import neural_settings

    return {
        f"{FAMILY[metric]}.{name}": str(value)
        for metric in metrics
        if FAMILY.get(metric) in ("bert", "sbert")
        for name, value in neural_settings(metric).items()
        if value is not None
    }


def protocol_settings(protocol: ProtocolLike) -> dict[str, str]:
    """Give what is to be noted with a run of the protocol its scores are under: its name and hash."""
    recipe = load_protocol(protocol)
    return {f"protocol.{recipe.name}": recipe.digest}


def judge_settings(judgements: pl.DataFrame) -> dict[str, str]:
    """Give what is to be noted with a run of its judge: model, options, and the hash and origin of its prompts."""
    asked = judgements.drop_nulls("prompt_hash")
    if asked.is_empty():
        return {}
    prompts = sorted(set(asked.select("mode", "prompt_hash").iter_rows()))
    told = {"model": "judge_model", "options": "settings", "origin": "prompt_source"}
    noted = {f"judge.{name}": ", ".join(sorted(set(asked[column].drop_nulls()))) for name, column in told.items()}
    return noted | {"judge.prompts": hashlib.sha256(json.dumps(prompts).encode()).hexdigest()[:16]}


def basis(store: Store, run: str) -> dict[str, Any]:
    """Say what a stored run was made with: data sets and protocols with their hashes, settings, versions.

    Raises:
        UnknownRun: the store has no run of that name.
    """
    rooms: dict[str, dict[str, str]] = {"dataset": {}, "protocol": {}, "version": {}, "": {}}
    for name, value in store.noted(run)[run].items():
        room, _, rest = name.partition(".")
        rooms[room if room in rooms else ""][rest if room in rooms else name] = value
    return {
        "datasets": rooms["dataset"],
        "protocols": {name: rooms["protocol"].get(name) or _digest(name) for name in store.protocols(run)},
        "settings": rooms[""],
        "versions": rooms["version"],
    }


def basis_here(checksums: Mapping[str, str], protocol: ProtocolLike) -> dict[str, Any]:
    """Say the same of scores that are in no store yet."""
    recipe = load_protocol(protocol)
    versions = {package: found for package in VERSIONS if (found := _version(package))}
    return {"datasets": checksums, "protocols": {recipe.name: recipe.digest}, "settings": {}, "versions": versions}


def manifest(store: Store, run: str) -> dict[str, Any]:
    """Collect what the numbers of a stored run rest on, and its overall means by protocol and metric.

    Raises:
        UnknownRun: the store has no run of that name.
    """
    scores, found = store.load(run), basis(store, run)
    about = store.runs().filter(run=run).row(0, named=True)
    return {
        "run": run,
        "system": about["system"],
        "repeat": about["repeat"],
        "tags": dict(about["tags"] or {}),
        "created_at": about["created_at"].isoformat(),
        "questions": scores.height,
        "answers": answers_digest(scores),
        **found,
        "datasets": {name: found["datasets"].get(name) for name in about["datasets"]},
        "means": {name: _means(store.load(run, protocol=name)) for name in found["protocols"]},
    }


def answers_digest(results: Results) -> str:
    """Compute the SHA-256 of answers and golds: the same in any order, under any run name, beside any other columns."""
    frame = results_frame(results)
    told = [name for name in (*KEY[1:], "question_type", "ground_truth", "prediction") if name in frame.columns]
    rows = sorted(json.dumps(row) for row in frame.select(told).iter_rows())
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()


def told(manifest: Mapping[str, Any]) -> str:
    """Say a manifest in one line, to stand under a table; hashes are cut to eight digits."""
    hashed = {**manifest["datasets"], **{f"protocol {name}": value for name, value in manifest["protocols"].items()}}
    settings = [f"{name} {value}" for name, value in sorted(manifest["settings"].items())]
    versions = [f"{name} {value}" for name, value in manifest["versions"].items()]
    cut = [f"{name} {value[:8] if value else 'as in the file'}" for name, value in hashed.items()]
    return "; ".join([*cut, *settings, ", ".join(versions)])


def export(store: Store, run: str, folder: str | Path = ".") -> list[Path]:
    """Write a stored run as RUN.parquet, with its manifest beside it as RUN.manifest.json; give the two paths.

    Scores under the default protocol have a column of the metric's name, those under others of protocol.metric.

    Raises:
        UnknownRun: the store has no run of that name.
    """
    document = manifest(store, run)
    frame = store.load(run)
    for name in document["protocols"]:
        if name not in frame["protocol"]:
            theirs = store.load(run, protocol=name)
            columns = {
                column: f"{name}.{column}" for column in score_columns(theirs) if not column.startswith(PUBLISHED)
            }
            frame = frame.join(theirs.select(*KEY, *columns).rename(columns), on=KEY, how="left", maintain_order="left")
    stem = Path(folder) / run.replace("/", "_")
    stem.parent.mkdir(parents=True, exist_ok=True)
    paths = [stem.with_name(f"{stem.name}.parquet"), stem.with_name(stem.name + MANIFEST)]
    frame.write_parquet(paths[0])
    paths[1].write_text(json.dumps(document, indent=1, ensure_ascii=False, default=str) + "\n", encoding="utf-8")
    return paths


def read_manifest(answers: str | Path) -> dict[str, Any] | None:
    """Read the manifest beside a file of answers, if there is one.

    Raises:
        InputError: it is not one.
    """
    path = Path(answers).with_suffix(MANIFEST)
    if not path.is_file():
        return None
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path} is not valid JSON: {error}") from None
    if not isinstance(document, dict) or not {"answers", "datasets", "protocols", "means", "versions"} <= set(document):
        raise InputError(f"{path} is no manifest of a run; `himga-eval export` writes one")
    return document


def check_manifest(results: Results, document: Mapping[str, Any], checksums: Mapping[str, str]) -> pl.DataFrame:
    """Compare a manifest with the answers it came with, the data sets at hand, our protocols and versions: CHECKED.

    The lexical means are computed anew from the texts, under the protocols of these names. Another version is said, and
    is no failure.
    """
    frame = results_frame(results)
    rows: list[tuple[str, str | None, str | None]] = [("answers", document["answers"], answers_digest(frame))]
    rows += [(f"data set {name}", noted, checksums.get(name)) for name, noted in document["datasets"].items()]
    rows += [(f"protocol {name}", noted, _digest(name)) for name, noted in document["protocols"].items()]
    for name, means in document["means"].items():
        lexical = [metric for metric in LEXICAL if metric in means]
        if lexical and _digest(name):
            anew = _means(score(frame, lexical, protocol=name))
            rows += [
                (f"{metric} under {name}", _printed(means[metric]), _printed(anew.get(metric))) for metric in lexical
            ]
    checked = [(*row, _verdict(*row[1:])) for row in rows]
    for name, noted in document["versions"].items():
        found = _version(name)
        checked.append((f"version of {name}", noted, found, SAME if noted == found else OTHER_VERSION))
    return pl.DataFrame(checked, schema=CHECKED, orient="row")


def _verdict(noted: str | None, found: str | None) -> str:
    return UNKNOWN if noted is None or found is None else SAME if noted == found else DIFFERS


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _printed(mean: float | None) -> str | None:
    return None if mean is None else f"{mean:.9f}"


def _means(scores: pl.DataFrame) -> dict[str, float | None]:
    if not score_columns(scores):
        return {}
    overall = summarise(scores).filter(pl.col("question_type") == "overall", pl.col("protocol") != "published")
    return dict(overall.select("metric", "mean").iter_rows())


def _digest(protocol: str) -> str | None:
    """Give the hash of a protocol of that name, None where it is one of somebody's own that is not here."""
    try:
        return load_protocol(protocol).digest
    except UnknownProtocol:
        return None
