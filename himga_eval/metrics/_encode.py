"""Texts to vectors: tokenised once, in batches of texts of equal length, halved when memory runs out.

Without padding, and with small batches filled up, a vector is the same to the last bit whatever the
batch (on one processor; on a GPU, and from one processor to the next, it moves by some 1e-7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from himga_eval.errors import ModelError
from himga_eval.metrics._models import Model

A = TypeVar("A")
T = TypeVar("T")
Ints = NDArray[np.int64]

_SLICE = 4_096  # texts tokenised at once

# Tokens. A matrix of a few rows takes another path through the processor's algebra library, with
# other last bits.
_FILL = 64


@dataclass(frozen=True)
class Tokens:
    """The token ids of all texts in a row, and where each text starts; `own` marks no special token."""

    ids: NDArray[np.int32]
    starts: Ints
    own: NDArray[np.bool_]
    cut: int

    @property
    def lengths(self) -> Ints:
        """How many tokens each text has, special ones included."""
        return np.diff(self.starts)

    @property
    def blank(self) -> NDArray[np.bool_]:
        """Which texts hold special tokens only."""
        before: Ints = np.concatenate([[0], np.cumsum(self.own)])
        none: NDArray[np.bool_] = before[self.starts[1:]] == before[self.starts[:-1]]
        return none


@dataclass
class Budget:
    """How many tokens go through the model at once; halved for good when memory runs out."""

    tokens: int


def tokenise(model: Model, texts: list[str]) -> Tokens:
    """Bring texts to token ids, each cut at the model's limit, and count those that were cut."""
    ids: list[NDArray[np.int32]] = []
    lengths = [0]
    cut = 0
    for start in range(0, len(texts), _SLICE):
        encoded = model.tokenizer(
            [model.prompt + text for text in texts[start : start + _SLICE]],
            truncation=True,
            max_length=model.max_tokens,
            return_attention_mask=False,
            return_token_type_ids=False,
        )
        cut += sum(bool(encoding.overflowing) for encoding in encoded.encodings)
        lengths += map(len, encoded["input_ids"])
        ids += [np.asarray(text, np.int32) for text in encoded["input_ids"]]
    flat = np.concatenate(ids)
    return Tokens(flat, np.cumsum(lengths), ~np.isin(flat, model.special), cut)


def encode(model: Model, tokens: Tokens, texts: Ints, budget: Budget) -> Iterator[tuple[Ints, torch.Tensor]]:
    """Run texts through the model, longest first; yield places in `texts` and their vectors.

    Raises:
        ModelError: one text alone does not fit into memory.
    """

    def run(ids: NDArray[np.int32]) -> torch.Tensor:
        return model.forward(torch.from_numpy(ids.astype(np.int64)).to(model.device))

    lengths = tokens.lengths[texts]
    order = np.argsort(-lengths, kind="stable")
    falling = -lengths[order]
    start = 0
    while start < len(order):
        length = -int(falling[start])
        equal = int(np.searchsorted(falling, -length, side="right"))
        batch = order[start : min(equal, start + max(1, budget.tokens // length))]
        rows = np.resize(batch, max(len(batch), -(-_FILL // length)))
        ids = tokens.ids[tokens.starts[texts[rows]][:, None] + np.arange(length)]
        vectors = attempt(run, ids)
        if vectors is None:
            if len(batch) == 1:
                raise ModelError(
                    f"memory of {model.device} runs out at a single text of {length} tokens; "
                    "take device='cpu' or a smaller model"
                )
            budget.tokens = length * (len(batch) // 2)
            continue
        yield batch, vectors[: len(batch)]
        start += len(batch)


def attempt(work: Callable[[A], T], batch: A) -> T | None:
    """Do the work on a batch, or return None when memory ran out; other errors pass."""
    try:
        return work(batch)
    except (RuntimeError, MemoryError) as error:
        if not _out_of_memory(error):
            raise
    # Outside the handler: its traceback would hold on to the tensors that fill the memory.
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    elif torch.backends.mps.is_available():
        torch.mps.empty_cache()
    return None


def _out_of_memory(error: Exception) -> bool:
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    signs = ("DefaultCPUAllocator", "out of memory", "ALLOC_FAILED")
    return any(sign in str(error) for sign in signs)
