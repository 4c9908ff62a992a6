"""Rows per second of the lexical metrics beside a researcher's own loop: `python tests/bench/lexical.py`.

The loop is `metrics.reference`: one RougeScorer built once, word_tokenize of both sides and three sentence_bleu,
meteor_score, F1 and exact match in Python. Every line is a process of its own, which computes all nine metrics (tables
read, but no word seen before), each family alone, and then the loop on a sample of the same rows. Both are timed twice,
and the faster counts. Times are CPU seconds. The rows are made of the real answers beside the checkout, or of invented
words.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import polars as pl

from himga_eval import exprs
from himga_eval.metrics import _punkt, _synonyms
from himga_eval.metrics._text import Memo
from himga_eval.metrics.catalog import FAMILY, LEXICAL

SHARED = Path(os.environ.get("HIMGA_SHARED", Path(__file__).parents[3] / "shared"))
SAMPLE = {"short": 1_000, "long": 60}
LINES = [("short", 2_000), ("short", 100_000), ("short", 1_000_000), ("long", 2_000)]
SMALL = [("short", 2_000), ("long", 200)]
ASKED = {("short", 2_000): 5, ("short", 100_000): 18, ("long", 2_000): 25}
FAMILIES = {family: [name for name in LEXICAL if FAMILY[name] == family] for family in map(FAMILY.get, LEXICAL)}


def real_pairs() -> list[tuple[str, str]]:
    """Read a prediction and ground truth each from the published answers to LoCoMo."""
    lines = (SHARED / "oracles" / "memobase_0710_lexical.jsonl").read_text("utf-8").splitlines()
    return [(row["prediction"], row["ground_truth"]) for row in map(json.loads, lines)]


def real_turns() -> list[str]:
    """Read what was said in LoCoMo's conversations."""
    samples = json.loads((SHARED / "data" / "locomo" / "locomo10.json").read_text("utf-8"))
    sessions = [turns for sample in samples for turns in sample["conversation"].values() if isinstance(turns, list)]
    return [turn["text"] for turns in sessions for turn in turns if turn.get("text")]


def invented_texts(count: int, words: int) -> list[str]:
    """Make texts of about as many words, from a vocabulary in which few words are frequent."""
    draw = random.Random(words)
    syllables = ["ka", "lo", "mi", "ren", "to", "va", "shu", "pel", "dor", "an", "is", "be", "ing", "er", "s"]
    vocabulary = ["".join(draw.choices(syllables, k=draw.randint(1, 4))) for _ in range(5_000)]
    vocabulary += [word + sign for word in vocabulary[:2_000] for sign in (".", ",", "'s", "!")]
    weights = [1 / rank for rank in range(1, len(vocabulary) + 1)]
    sizes = (max(1, round(draw.gauss(words, words / 3))) for _ in range(count))
    return [" ".join(draw.choices(vocabulary, weights, k=size)) for size in sizes]


def make_short(count: int) -> Iterator[tuple[str, str]]:
    """Yield answers with one to three words changed at random, so that few rows are equal."""
    draw = random.Random(0)
    known = SHARED.is_dir()
    pairs = real_pairs() if known else list(zip(invented_texts(1_500, 4), invented_texts(1_500, 5), strict=True))
    vocabulary = [word for pair in pairs for text in pair for word in text.split()]
    for _ in range(count):
        prediction, ground_truth = draw.choice(pairs)
        words = prediction.split() or ["none"]
        for _ in range(draw.randrange(1, 4)):
            kind = draw.random()
            if kind < 0.4:
                words.insert(draw.randrange(len(words) + 1), draw.choice(vocabulary))
            elif kind < 0.7 and len(words) > 1:
                words.pop(draw.randrange(len(words)))
            else:
                words[draw.randrange(len(words))] = draw.choice(vocabulary)
        if draw.random() < 0.5:
            gold = ground_truth.split() or ["x"]
            gold.insert(draw.randrange(len(gold) + 1), draw.choice(vocabulary))
            ground_truth = " ".join(gold)
        yield " ".join(words), ground_truth


def make_long(count: int) -> Iterator[tuple[str, str]]:
    """Yield answers of 200 to 400 words, made of an answer among turns of conversations, a third of them in lines."""
    draw = random.Random(1)
    known = SHARED.is_dir()
    pairs = real_pairs() if known else list(zip(invented_texts(1_500, 4), invented_texts(1_500, 5), strict=True))
    turns = real_turns() if known else invented_texts(5_000, 25)
    for _ in range(count):
        prediction, ground_truth = draw.choice(pairs)
        wanted, parts = draw.randrange(200, 401), [prediction]
        words = len(prediction.split())
        while words < wanted:
            parts.insert(draw.randrange(len(parts) + 1), draw.choice(turns))
            words += len(parts[-1].split())
        yield ("\n" if draw.random() < 0.3 else " ").join(parts), ground_truth


def forget() -> None:
    """Empty what the metrics remember of words."""
    for memo in gc.get_objects():
        if isinstance(memo, Memo):
            memo.clear()


def seconds(work: Callable[[], object]) -> float:
    gc.collect()
    start = time.process_time()
    work()
    return time.process_time() - start


def resident() -> int:
    """Return the bytes in use now, or the most there were where that is not known."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return peak()


def peak() -> int:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def measure(frame: pl.DataFrame, kind: str) -> dict[str, float]:
    """Time all nine, each family, and the loop on a sample, in CPU seconds a row; and the memory of all nine."""
    _synonyms.load()
    _punkt.model()
    frame.head(1).select(exprs.exact_match())
    found: dict[str, float] = {}
    before = resident()
    found["all"] = time_metrics(frame, LEXICAL)
    found["memory"] = (peak() - before) / 2**20
    found |= {family: time_metrics(frame, names) for family, names in FAMILIES.items()}
    sample = frame.head(SAMPLE[kind])
    found["loop"] = time_loop(sample["prediction"].to_list(), sample["ground_truth"].to_list())
    return found


def time_metrics(frame: pl.DataFrame, names: Sequence[str]) -> float:
    """Time metrics that have seen no word before, in CPU seconds a row."""
    times = []
    for _ in range(2):
        forget()
        times.append(seconds(lambda: frame.with_columns(exprs.lexical(names).struct.unnest())))
    return min(times) / frame.height


def time_loop(predictions: list[str], ground_truths: list[str]) -> float:
    import nltk

    from himga_eval.metrics.reference import reference

    nltk.data.path.insert(0, str(SHARED / "nltk_data"))
    reference(predictions[:20], ground_truths[:20])
    return min(seconds(lambda: reference(predictions, ground_truths)) for _ in range(2)) / len(predictions)


def run_line(kind: str, count: int, folder: Path) -> dict[str, float]:
    """Make the rows here, and measure them in a process of its own."""
    path = folder / f"{kind}-{count}.parquet"
    rows = {"short": make_short, "long": make_long}[kind](count)
    pl.DataFrame(rows, ["prediction", "ground_truth"], orient="row").write_parquet(path)
    command = [sys.executable, __file__, "--measure", str(path), kind]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def cpu_of(code: str) -> float:
    """Return the CPU seconds of a fresh Python that runs some code: the least of three."""
    times = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def report(lines: list[tuple[str, int]]) -> None:
    if not SHARED.is_dir():
        print(f"no real answers in {SHARED}: the rows are made of invented words")
    print(
        f"{'rows':>16} {'all nine':>10} {'the loop':>10} {'ratio':>7} {'asked':>6} {'CPU s':>7} {'memory':>9}", end="  "
    )
    print(*(f"{family:>9}" for family in FAMILIES))
    with tempfile.TemporaryDirectory() as folder:
        for kind, count in lines:
            found = run_line(kind, count, Path(folder))
            rates = {name: f"{1 / found[name]:,.0f}" for name in ("all", "loop", *FAMILIES)}
            asked = f"{ASKED[kind, count]}x" if (kind, count) in ASKED else ""
            print(f"{count:>10,} {kind:5} {rates['all']:>10} {rates['loop']:>10}", end=" ")
            print(f"{found['loop'] / found['all']:>6.1f}x {asked:>6} {found['all'] * count:>7.2f}", end=" ")
            print(f"{found['memory']:>6.0f} MB", end="  ")
            print(*(f"{rates[family]:>9}" for family in FAMILIES), flush=True)
        path = Path(folder) / "short-2000.parquet"
        read = f"import polars as pl; from himga_eval import exprs; rows = pl.read_parquet({str(path)!r})"
        print(f"rows a CPU second; python alone {cpu_of('pass'):.2f} s, import polars {cpu_of('import polars'):.2f} s,")
        print(f"import himga_eval {cpu_of('import himga_eval'):.2f} s, all nine metrics of the first", end=" ")
        print(f"2,000 rows, a whole process, {cpu_of(f'{read}; rows.select(exprs.lexical())'):.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="2,000 short rows and 200 long ones")
    parser.add_argument("--measure", nargs=2, metavar=("FILE", "KIND"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        path, kind = asked.measure
        print(json.dumps(measure(pl.read_parquet(path), kind)))
    else:
        report(SMALL if asked.small else LINES)


if __name__ == "__main__":
    main()
