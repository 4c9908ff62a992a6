"""Load the two encoders once a process: from a folder, the hub's cache or the hub."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import snapshot_download
from torch.nn.functional import normalize
from transformers import AutoConfig, AutoModel, AutoTokenizer
from transformers.utils import logging as transformers_logging

from himga_eval.errors import InputError, ModelError
from himga_eval.metrics._neural import Settings

BATCH_TOKENS = {"cpu": 1_024, "mps": 4_096, "cuda": 16_384}
"""Tokens that go through a model at once, unless told otherwise."""

LOCK = threading.RLock()
"""Held while a model is loaded or used: neither tokenisers nor memory budgets are for two at once."""

_LAYOUT = {
    "bert_f1": "config.json, model.safetensors, tokenizer.json, tokenizer_config.json",
    "sbert_similarity": "modules.json, 1_Pooling/config.json, sentence_bert_config.json, config.json, "
    "model.safetensors, tokenizer.json, tokenizer_config.json",
}
_FILES = ["*.json", "*.txt", "*.model", "*.safetensors"]
_NO_LIMIT = 100_000  # tokenisers without a limit of their own say 1e30


@dataclass(frozen=True)
class Model:
    """An encoder in memory; `forward` turns token ids (texts by tokens) to vectors of unit length."""

    tokenizer: Any
    forward: Callable[[torch.Tensor], torch.Tensor]
    prompt: str
    special: tuple[int, ...]
    max_tokens: int
    width: int
    device: str
    weights: str
    revision: str | None


_MODELS: dict[tuple[object, ...], Model] = {}


def load(settings: Settings) -> Model:
    """Load the model of these settings, or hand out the one that is loaded.

    Raises:
        ModelError: not on disk and not to be fetched, or not what the metric needs.
    """
    with LOCK:
        key = _key(settings)
        if key not in _MODELS:
            folder, revision = _locate(settings)
            build = _bert if settings.metric == "bert_f1" else _sbert
            try:
                model = build(settings, folder, revision)
            except ModelError:
                raise
            except Exception as error:  # whatever three libraries raise on files they cannot read
                raise ModelError(
                    f"{settings.metric}: the model {settings.model!r} cannot be loaded from {folder}, which "
                    f"should hold {_LAYOUT[settings.metric]}: {_line(error)}"
                ) from error
            if not model.tokenizer.is_fast:
                raise ModelError(f"{settings.metric}: the model {settings.model!r} has only a slow tokeniser")
            _MODELS[key] = model
        return _MODELS[key]


def loaded(settings: Settings) -> Model | None:
    """Hand out the model of these settings if it is in memory."""
    return _MODELS.get(_key(settings))


def find_device(name: str | None) -> str:
    """Take the device of that name, or the first there is of cuda, mps and cpu.

    Raises:
        InputError: no such device here.
    """
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name is None:
        return next(kind for kind, found in there.items() if found)
    kind, _, number = name.partition(":")
    if kind not in there or (number and not number.isdecimal()):
        raise InputError(f"no device {name!r}; known: {', '.join(there)}, or one of several as cuda:1")
    if not there[kind] or (kind == "cuda" and int(number or 0) >= torch.cuda.device_count()):
        raise InputError(
            f"no device {name!r} here; torch {torch.__version__} finds: "
            f"{', '.join(kind for kind, found in there.items() if found)} ({torch.cuda.device_count()} cuda)"
        )
    return name


def _key(settings: Settings) -> tuple[object, ...]:
    return settings.metric, settings.model, settings.revision, settings.layer, settings.device


def _locate(settings: Settings) -> tuple[Path, str | None]:
    folder = Path(settings.model).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            raise ModelError(_advice(settings, f"the folder {folder} has no config.json"))
        return folder, None
    if folder.is_absolute() or settings.model.startswith((".", "~")):
        raise ModelError(_advice(settings, f"there is no folder {folder}"))
    try:
        found = Path(snapshot_download(settings.model, revision=settings.revision, local_files_only=True))
        if _has_weights(found):
            return found, found.name
    except (OSError, ValueError):
        pass  # not in the cache
    try:
        found = Path(snapshot_download(settings.model, revision=settings.revision, allow_patterns=_FILES))
        if not _has_weights(found):
            snapshot_download(settings.model, revision=settings.revision, allow_patterns="pytorch_model*.bin")
    except Exception as error:  # of the hub, of the network, of the disk
        raise ModelError(_advice(settings, f"not on this disk, and not fetched: {_line(error)}")) from error
    return found, found.name


def _has_weights(folder: Path) -> bool:
    return (folder / "config.json").is_file() and any(
        any(folder.glob(pattern)) for pattern in ("*.safetensors", "pytorch_model*.bin")
    )


def _advice(settings: Settings, reason: str) -> str:
    name = settings.model if settings.revision is None else f"{settings.model} at {settings.revision}"
    return (
        f"{settings.metric} needs the model {name!r}: {reason}. Fetch it where there is a network, copy its "
        f"folder here and set {settings.variable} to it (or give model=...); the folder holds "
        f"{_LAYOUT[settings.metric]}"
    )


def _line(error: Exception) -> str:
    return f"{' '.join(str(error).split()) or type(error).__name__:.300}".rstrip(".")


def _bert(settings: Settings, folder: Path, revision: str | None) -> Model:
    # bert-score puts a space before the first word where the tokeniser knows of it (RoBERTa).
    tokenizer = AutoTokenizer.from_pretrained(folder, add_prefix_space=True)
    config = AutoConfig.from_pretrained(folder)
    layers = config.num_hidden_layers
    if settings.layer is None or not 0 <= settings.layer <= layers:
        raise ModelError(
            f"{settings.metric}: the model {settings.model!r} has layers 0 to {layers}, not {settings.layer}"
        )
    if config.is_encoder_decoder:
        raise ModelError(
            f"{settings.metric}: {settings.model!r} is a {config.model_type}, which decodes; take an encoder"
        )
    config.num_hidden_layers = settings.layer  # the layers above are neither read nor run
    with _quiet():
        encoder, report = AutoModel.from_pretrained(
            folder, config=config, dtype=torch.float32, output_loading_info=True
        )
    if lost := sorted(name for name in report["missing_keys"] if not name.startswith("pooler.")):
        raise ModelError(
            f"{settings.metric}: the weights in {folder} lack {len(lost)} tensors of a {config.model_type}, "
            f"the first is {lost[0]}"
        )
    encoder.pooler = None
    encoder.eval().to(settings.device)

    def forward(ids: torch.Tensor) -> torch.Tensor:
        hidden = encoder(input_ids=ids, attention_mask=torch.ones_like(ids))[0]
        return normalize(hidden, dim=-1)

    limit = tokenizer.model_max_length if tokenizer.model_max_length < _NO_LIMIT else 512
    return Model(
        tokenizer=tokenizer,
        forward=forward,
        prompt="",
        special=(tokenizer.cls_token_id, tokenizer.sep_token_id),
        max_tokens=min(limit, config.max_position_embeddings),
        width=config.hidden_size,
        device=settings.device,
        weights=_digest(encoder),
        revision=revision,
    )


def _sbert(settings: Settings, folder: Path, revision: str | None) -> Model:
    from sentence_transformers import SentenceTransformer

    with _quiet():
        encoder = SentenceTransformer(
            str(folder), device=settings.device, local_files_only=True, model_kwargs={"dtype": torch.float32}
        )
    encoder.eval()
    tokenizer = encoder.tokenizer

    def forward(ids: torch.Tensor) -> torch.Tensor:
        features = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        return normalize(encoder(features)["sentence_embedding"], dim=-1)

    return Model(
        tokenizer=tokenizer,
        forward=forward,
        prompt=encoder.prompts.get(encoder.default_prompt_name or "") or "",
        special=(tokenizer.cls_token_id, tokenizer.sep_token_id),
        max_tokens=encoder.max_seq_length or 512,
        width=int(encoder.get_embedding_dimension() or 0),
        device=settings.device,
        weights=_digest(encoder),
        revision=revision,
    )


def _digest(encoder: torch.nn.Module) -> str:
    """Tell weights apart by their biases and norms: 1 MB of a large model, and all of its layers."""
    digest = hashlib.sha256()
    for name, weight in encoder.named_parameters():
        if weight.ndim == 1:
            digest.update(name.encode())
            digest.update(weight.detach().float().cpu().numpy().tobytes())
    return digest.hexdigest()[:16]


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep transformers from drawing a bar and from reporting the layers we leave out."""
    level, bar = transformers_logging.get_verbosity(), transformers_logging.is_progress_bar_enabled()
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    try:
        yield
    finally:
        transformers_logging.set_verbosity(level)
        if bar:
            transformers_logging.enable_progress_bar()
