"""Settings of the command line in a file of the working folder: himga-eval.toml.

A setting is an environment variable by another name: what the environment sets holds, and a flag holds above both.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import NamedTuple

from himga_eval.errors import InputError, UnknownName

FILE = "himga-eval.toml"


class Setting(NamedTuple):
    """A setting's environment variable and type."""

    variable: str
    kind: type = str


SETTINGS = {
    "store": Setting("HIMGA_STORE"),
    "dataset": Setting("HIMGA_DATASET", list),
    "datasets_root": Setting("DATASETS_ROOT"),
    "metrics": Setting("HIMGA_METRICS", list),
    "protocol": Setting("HIMGA_PROTOCOL"),
    "model": Setting("LLM_PROVIDER"),
    "base_url": Setting("HIMGA_BASE_URL"),
    "prompts": Setting("HIMGA_PROMPTS"),
    "max_cost": Setting("HIMGA_MAX_COST", float),
    "rpm": Setting("HIMGA_RPM", float),
    "tpm": Setting("HIMGA_TPM", float),
    "concurrency": Setting("HIMGA_CONCURRENCY", int),
    "bert_model": Setting("HIMGA_BERT_MODEL"),
    "bert_layer": Setting("HIMGA_BERT_LAYER", int),
    "bert_revision": Setting("HIMGA_BERT_REVISION"),
    "sbert_model": Setting("HIMGA_SBERT_MODEL"),
    "sbert_revision": Setting("HIMGA_SBERT_REVISION"),
    "device": Setting("HIMGA_DEVICE"),
    "batch_tokens": Setting("HIMGA_BATCH_TOKENS", int),
}

_CALLED = {str: "text", list: "a list of texts", float: "a number", int: "a whole number"}
_JOINT = {"dataset": os.pathsep, "metrics": ","}


class UnknownSetting(UnknownName):
    """A key that is no setting."""

    kind = "setting"


def read_settings(path: Path = Path(FILE)) -> dict[str, str]:
    """Read a file of settings as environment variables; there are none where there is no file.

    Raises:
        InputError: not TOML, or a value of another type.
        UnknownSetting: a key that is no setting.
    """
    if not path.is_file():
        return {}
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not valid TOML: {error}") from None
    for key, value in given.items():
        if key not in SETTINGS:
            raise UnknownSetting(key, SETTINGS, f"in {path}")
        if not _is(value, SETTINGS[key].kind):
            raise InputError(f"{path}: {key} is {_CALLED[SETTINGS[key].kind]}, and not {value!r}")
    return {
        SETTINGS[key].variable: _JOINT[key].join(value) if isinstance(value, list) else str(value)
        for key, value in given.items()
    }


def apply_settings() -> None:
    """Set what the file in the working folder says and the environment leaves open."""
    for variable, value in read_settings().items():
        if not os.environ.get(variable):
            os.environ[variable] = value


def _is(value: object, kind: type) -> bool:
    if kind is list:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    return isinstance(value, (int, float) if kind is float else kind) and not isinstance(value, bool)
