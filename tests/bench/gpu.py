"""Check the neural metrics on one CUDA device, in under five minutes: `python tests/bench/gpu.py`.

On random weights of roberta-large's shape: the same values as on the CPU, pairs per second by batch budget,
and batches halved when memory runs out. `--smoke` does all of it in small on the CPU.
"""

from __future__ import annotations

import argparse
import random
import resource
import runpy
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
import torch

from himga_eval.metrics import _encode
from himga_eval.metrics._neural import Options, neural_column

LARGE = {
    "vocab_size": 50_265,
    "hidden_size": 1_024,
    "num_hidden_layers": 17,
    "num_attention_heads": 16,
    "intermediate_size": 4_096,
}
FAR = 1e-4  # two devices add up in another order
SMALL = {"cpu": 1 << 26, "cuda": 3 << 29}  # bytes beside what is in use, for the check that batches are halved

make_roberta = runpy.run_path(str(Path(__file__).parents[1] / "metrics" / "roberta.py"))["make_roberta"]


def texts(count: int) -> list[str]:
    """Invented answers, most of them short."""
    draw = random.Random(0)
    syllables = ["ka", "lo", "mi", "ren", "to", "va", "shu", "pel", "dor", "an", "is", "be"]
    words = ["".join(draw.choices(syllables, k=draw.randint(1, 3))) for _ in range(2_000)]
    return [
        " ".join(draw.choices(words, k=min(120, max(1, round(draw.lognormvariate(1.5, 0.9)))))) for _ in range(count)
    ]


def score(rows: list[str], options: Options) -> np.ndarray:
    """Score the first half of the texts against the second."""
    half = len(rows) // 2
    return neural_column("bert_f1", pl.Series(rows[:half]), pl.Series(rows[half : 2 * half]), options).to_numpy()


def furthest(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(one - other).max())


def with_little_memory(rows: list[str], options: Options) -> tuple[np.ndarray, int]:
    """Score in batches that do not fit into memory; also say how often it ran out."""
    refused = 0
    of_memory = _encode._out_of_memory

    def counting(error: Exception) -> bool:
        nonlocal refused
        refused += of_memory(error)
        return of_memory(error)

    _encode._out_of_memory = counting
    limit = resource.getrlimit(resource.RLIMIT_AS)
    if options["device"] == "cpu":
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + SMALL["cpu"], limit[1]))
    else:
        torch.cuda.empty_cache()
        whole = torch.cuda.mem_get_info()[1]
        torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_allocated() + SMALL["cuda"]) / whole)
    try:
        return score(rows, options | {"batch_tokens": 1 << 22}), refused
    finally:
        _encode._out_of_memory = of_memory
        resource.setrlimit(resource.RLIMIT_AS, limit)
        if options["device"] != "cpu":
            torch.cuda.set_per_process_memory_fraction(1.0)


def check(rows: list[str], options: Options, budgets: list[int]) -> bool:
    """Print what was found; tell whether it is as it should be."""
    few = rows[:120]
    far = [furthest(score(few, options), score(few, options | {"device": "cpu"}))]
    print(f"{options['device']}, torch {torch.__version__}: furthest from the CPU {far[0]:.1e}")

    first = None
    for budget in budgets:
        start = time.perf_counter()
        values = score(rows, options | {"batch_tokens": budget})
        seconds = time.perf_counter() - start
        first = values if first is None else first
        far.append(furthest(values, first))
        peak = f", {torch.cuda.max_memory_allocated() >> 20:,} MB" if options["device"] == "cuda" else ""
        print(f"{budget:8,} tokens a batch: {len(values) / seconds:9,.0f} pairs/s, furthest {far[-1]:.1e}{peak}")

    long = [" ".join(rows[n : n + 80]) for n in range(min(1_000, len(rows) - 80))]  # all cut at 512 tokens
    expected = score(long, options)
    values, refused = with_little_memory(long, options)
    far.append(furthest(values, expected))
    print(f"memory ran out {refused} times, furthest {far[-1]:.1e}")
    return refused > 0 and max(far) <= FAR


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--smoke", action="store_true", help="a tiny model on the CPU")
    smoke = arguments.parse_args().smoke
    if not smoke and not torch.cuda.is_available():
        sys.exit(f"no CUDA device for torch {torch.__version__}; --smoke runs in small on the CPU")
    rows = texts(400 if smoke else 20_000)
    budgets = [256, 1_024] if smoke else [1_024, 4_096, 16_384, 65_536, 262_144]
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "model"
        make_roberta(folder, rows[:2_000], **({} if smoke else LARGE))
        options: Options = {
            "model": str(folder),
            "layer": 4 if smoke else 17,
            "device": "cpu" if smoke else "cuda",
            "progress": False,
        }
        if not check(rows, options, budgets):
            sys.exit("the check failed")


if __name__ == "__main__":
    main()
