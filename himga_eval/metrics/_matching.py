"""Vectors to scores: greedy matching of tokens (BERTScore), dot product of texts (Sentence-BERT)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from tqdm.auto import tqdm

from himga_eval.errors import ModelError
from himga_eval.metrics._encode import Budget, Ints, Tokens, attempt, encode, tokenise
from himga_eval.metrics._models import LOCK, Model, load
from himga_eval.metrics._neural import Settings

Floats = NDArray[np.float64]

_CHUNK_BYTES = 1 << 29  # vectors held at once
_MATCH_BYTES = {"cpu": 1 << 21, "mps": 1 << 27, "cuda": 1 << 27}  # vectors laid side by side at once
_BAR_DELAY = 2.0  # seconds


def score_pairs(settings: Settings, texts: list[str], left: Ints, right: Ints, progress: bool | None) -> Floats:
    """Score pairs of texts, given by their places in `texts`: each text is encoded once a chunk.

    A chunk is as many pairs as have _CHUNK_BYTES of vectors; a text that is cut at the model's limit
    is counted, and said once.
    """
    with LOCK, torch.inference_mode():
        model = load(settings)
        tokens = tokenise(model, texts)
        if tokens.cut:
            warnings.warn(
                f"{settings.metric}: {tokens.cut} of {len(texts)} distinct texts are longer than the "
                f"{model.max_tokens} tokens the model reads; the rest of them is left out",
                stacklevel=2,
            )
        by_token = settings.metric == "bert_f1"
        match = _greedy if by_token else _cosine
        vectors_of = tokens.lengths if by_token else np.ones(len(texts), np.int64)
        most = _CHUNK_BYTES // (4 * model.width)
        whole = np.flatnonzero(~(tokens.blank[left] | tokens.blank[right]))
        chunks = [whole[part] for part in _chunks(left[whole], right[whole], vectors_of, most)]
        uniques = [np.unique(np.concatenate([left[c], right[c]]), return_inverse=True) for c in chunks]
        budget = Budget(settings.batch_tokens)
        scores = np.zeros(len(left))
        with tqdm(
            total=sum(len(unique) for unique, _ in uniques),
            desc=settings.metric,
            unit="text",
            disable=progress is False,
            delay=0 if progress else _BAR_DELAY,
        ) as bar:
            for chunk, (unique, places) in zip(chunks, uniques, strict=True):
                sides = places[: len(chunk)], places[len(chunk) :]
                scores[chunk] = match(model, tokens, unique, *sides, budget, bar)
    return np.clip(np.round(scores, 6), -1.0, 1.0)


def _chunks(left: Ints, right: Ints, vectors_of: Ints, most: int) -> Iterator[slice]:
    """Cut pairs into runs whose distinct texts have at most so many vectors, or into single pairs."""
    start, held, seen = 0, 0, set[int]()
    for place, pair in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        new = set(pair) - seen
        added = sum(int(vectors_of[text]) for text in new)
        if held + added > most and place > start:
            yield slice(start, place)
            start, held, seen, new = place, 0, set(), set(pair)
            added = sum(int(vectors_of[text]) for text in new)
        held += added
        seen |= new
    if start < len(left):
        yield slice(start, len(left))


def _cosine(model: Model, tokens: Tokens, texts: Ints, left: Ints, right: Ints, budget: Budget, bar: tqdm) -> Floats:
    vectors = torch.empty((len(texts), model.width), device=model.device)
    for batch, found in encode(model, tokens, texts, budget):
        vectors[torch.from_numpy(batch)] = found
        bar.update(len(batch))
    step = max(1, _MATCH_BYTES[_kind(model)] // (8 * model.width))
    scores = np.empty(len(left))
    for start in range(0, len(left), step):
        part = slice(start, start + step)
        one, other = (_double(vectors[torch.from_numpy(side[part])]) for side in (left, right))
        scores[part] = (one * other).sum(1).cpu()
    return scores


def _greedy(model: Model, tokens: Tokens, texts: Ints, left: Ints, right: Ints, budget: Budget, bar: tqdm) -> Floats:
    """F1 of the best partner of each token that is not special, among all tokens of the other text."""
    lengths = tokens.lengths[texts]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    vectors = torch.empty((int(starts[-1]), model.width), device=model.device)
    own = torch.empty(len(vectors), dtype=torch.bool, device=model.device)
    for batch, found in encode(model, tokens, texts, budget):
        span = np.arange(found.shape[1])
        places = torch.from_numpy(starts[batch][:, None] + span)
        vectors[places] = found
        own[places] = torch.from_numpy(tokens.own[tokens.starts[texts[batch]][:, None] + span]).to(own.device)
        bar.update(len(batch))

    def laid_out(side: Ints) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Vectors of texts side by side, which of them are tokens, and which of those count."""
        span = np.arange(lengths[side].max())
        inside = span < lengths[side][:, None]
        places = torch.from_numpy(np.where(inside, starts[side][:, None] + span, 0))
        mask = torch.from_numpy(inside).to(model.device)
        return _double(vectors[places]), mask, own[places] & mask

    def f1(pairs: Ints) -> Floats:
        one, one_mask, one_own = laid_out(left[pairs])
        other, other_mask, other_own = laid_out(right[pairs])
        similar = one @ other.transpose(1, 2)
        # -inf, not 0: a token whose best partner is dissimilar would take the padding.
        best_of_one = similar.masked_fill(~other_mask[:, None, :], -torch.inf).amax(2)
        best_of_other = similar.masked_fill(~one_mask[:, :, None], -torch.inf).amax(1)
        precision = ((best_of_one * one_own).sum(1) / one_own.sum(1)).cpu().numpy()
        recall = ((best_of_other * other_own).sum(1) / other_own.sum(1)).cpu().numpy()
        total: Floats = precision + recall
        mean: Floats = np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total != 0)
        return mean

    longer = np.maximum(lengths[left], lengths[right])
    order = np.argsort(-longer, kind="stable")
    most = _MATCH_BYTES[_kind(model)] // (8 * model.width)
    scores = np.empty(len(left))
    start = 0
    while start < len(order):
        pairs = order[start : start + max(1, most // int(longer[order[start]]))]
        values = attempt(f1, pairs)
        if values is None:
            if len(pairs) == 1:
                raise ModelError(f"memory of {model.device} runs out at a single pair; take device='cpu'")
            most //= 2
            continue
        scores[pairs] = values
        start += len(pairs)
    return scores


def _double(vectors: torch.Tensor) -> torch.Tensor:
    """Go on in double precision, so that padding and order are below what rounding shows (not on mps)."""
    return vectors if vectors.device.type == "mps" else vectors.double()


def _kind(model: Model) -> str:
    return model.device.split(":")[0]
