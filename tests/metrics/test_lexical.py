"""Whole columns: equality with the reference libraries, and how rows are put together."""

from __future__ import annotations

import json
import random
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from himga_eval.metrics import _lexical
from himga_eval.metrics._lexical import FAMILIES, lexical
from himga_eval.metrics.catalog import FAMILY, LEXICAL
from himga_eval.metrics.reference import reference

TOLERANCE = 1e-9


def read_lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def furthest(ours: pl.DataFrame, theirs: pl.DataFrame) -> dict[str, float]:
    """Name the metrics that differ."""
    gaps = {name: (ours[name] - theirs[name].cast(pl.Float64)).abs().max() for name in ours.columns}
    return {name: gap for name, gap in gaps.items() if gap > TOLERANCE}


def test_equal_to_the_oracle_of_short_answers(shared: Path) -> None:
    rows = read_lines(shared / "oracles" / "memobase_0710_lexical.jsonl")
    theirs = pl.DataFrame(rows, infer_schema_length=None)
    assert theirs.height == 1540
    assert not furthest(lexical(theirs["prediction"], theirs["ground_truth"], LEXICAL), theirs)


def test_equal_to_the_oracle_of_long_answers(shared: Path) -> None:
    answers = read_lines(shared / "data" / "predictions" / "longmemeval_s_rag_con.eval-gpt-4o-mini.jsonl")
    questions = json.loads((shared / "data" / "longmemeval" / "questions.json").read_text("utf-8"))
    predictions = {row["question_id"]: row["hypothesis"] for row in answers}
    golds = {row["question_id"]: str(row["answer"]) for row in questions}
    theirs = pl.DataFrame(read_lines(shared / "oracles" / "longmemeval_s_rag_con_lexical.jsonl"))
    assert theirs.height == 500
    ours = lexical(
        pl.Series([predictions[key] for key in theirs["question_id"]]),
        pl.Series([golds[key] for key in theirs["question_id"]]),
        LEXICAL,
    )
    assert not furthest(ours, theirs)


WORDS = re.findall(
    r"\S+",
    """
    The the a A she She walked walks walking dog dogs hound doctor physician quickly quick going went travel
    child kid kids Mr. Dr. U.S. Ph.D. e.g. etc. 2023. 2023 3.5 $5 50% 10:30 7th May, may. no! yes? what?! wow!!
    ... don't can't cannot it's dogs' 'tis "go" "go." (go.) “go.” ‘go’ go—stop 2019–2021 re-use -- é né Müller
    straße İstanbul ΑΣ Σ ﬁne ２０２２ Москва 北京 🍕 \u200b \x01 a.b.c x, y; z: 'n' `` '' " ' . .. ! ? ) ( <b> & #
    @me http://x.co/a?b=c ſ ǅ ꟊ Ᲊ
    """,
)
SPACES = [*[" "] * 12, "\n", "\n\n", "  ", "\t", "\u00a0", "\x1c", "\x1f", "\u2028"]
PIECES = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(SPACES)), max_size=14)
TEXTS = PIECES.map(lambda pieces: "".join(word + space for word, space in pieces)) | st.text(max_size=30)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[str, str]:
    """A prediction, and a ground truth that often shares much with it."""
    prediction = draw(TEXTS)
    if draw(st.booleans()):
        return prediction, draw(TEXTS)
    words = prediction.split(" ")
    draw(st.randoms(use_true_random=False)).shuffle(words)
    return prediction, " ".join(words[: draw(st.integers(0, len(words)))]) + draw(TEXTS)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(pairs(), min_size=1, max_size=8))
def test_equal_to_the_reference_libraries(nltk_data: None, rows: list[tuple[str, str]]) -> None:
    predictions, ground_truths = map(list, zip(*rows, strict=True))
    ours = lexical(pl.Series(predictions), pl.Series(ground_truths), LEXICAL)
    assert not furthest(ours, reference(predictions, ground_truths))


def test_equal_to_the_reference_libraries_on_long_texts(nltk_data: None) -> None:
    draw = random.Random(0)
    texts = ["".join(draw.choice(WORDS) + draw.choice(SPACES[:14]) for _ in range(300)) for _ in range(12)]
    shorter = [" ".join(text.split()[5:25]) for text in texts[:6]] + texts[6:][::-1]
    assert not furthest(lexical(pl.Series(texts), pl.Series(shorter), LEXICAL), reference(texts, shorter))


def test_lower_case_is_that_of_this_python() -> None:
    letters = [letter for letter in map(chr, range(0x110000)) if letter != letter.lower()]
    upper = pl.Series(letters)
    lower = pl.Series([letter.lower() for letter in letters])
    assert lexical(upper, lower, ["exact_match"])["exact_match"].min() == 1


@pytest.mark.parametrize("space", ["\x1c", "\x85", "\u00a0", "\u2003", "\u3000"])
def test_whitespace_is_that_of_python(space: str) -> None:
    found = lexical(pl.Series([f"{space}Paris{space}"]), pl.Series(["paris"]), LEXICAL).row(0, named=True)
    assert (found["exact_match"], found["f1"], found["bleu1"], found["meteor"]) == (1, 1, 1, 0.5)


@pytest.mark.parametrize("name", LEXICAL)
def test_a_null_side_gives_null(name: str) -> None:
    found = lexical(pl.Series(["x", None, None, ""]), pl.Series([None, "x", None, ""]), [name])
    assert found[name].to_list() == [None, None, None, float(name == "exact_match")]


@pytest.mark.parametrize(
    "asked", [["rougeL"], ["bleu1"], ["bleu4", "f1"], ["meteor", "exact_match"], list(LEXICAL)[::-1]]
)
def test_a_subset_has_the_same_scores_in_the_order_asked(asked: list[str]) -> None:
    predictions, ground_truths = pl.Series(WORDS * 2), pl.Series(WORDS[3:] + WORDS[:3] + WORDS)
    assert_frame_equal(
        lexical(predictions, ground_truths, asked), lexical(predictions, ground_truths, LEXICAL).select(asked)
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_a_subset_computes_only_what_it_needs(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("not asked for")

    others = {name: (refuse, refuse) for name in FAMILIES if name != family}
    monkeypatch.setattr(_lexical, "FAMILIES", {**FAMILIES, **others})
    asked = [name for name in LEXICAL if FAMILY[name] == family]
    assert lexical(pl.Series(["a b"]), pl.Series(["b a"]), asked).columns == asked


def test_rows_keep_their_place_across_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    predictions = pl.Series([None if number % 7 == 0 else f"word{number % 5} x" for number in range(1000)])
    ground_truths = pl.Series([f"word{number % 3} y" for number in range(1000)])
    whole = lexical(predictions, ground_truths, LEXICAL)
    monkeypatch.setattr(_lexical, "BATCH", 64)
    assert_frame_equal(lexical(predictions, ground_truths, LEXICAL), whole)
    assert whole["f1"].null_count() == 143


def test_eight_threads_agree() -> None:
    draw = random.Random(1)
    texts = [pl.Series([" ".join(draw.choices(WORDS, k=6)) for _ in range(200)]) for _ in range(9)]
    alone = [lexical(texts[at], texts[at + 1], LEXICAL) for at in range(8)]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda at: lexical(texts[at], texts[at + 1], LEXICAL), list(range(8)) * 4))
    for at, found in enumerate(together):
        assert_frame_equal(found, alone[at % 8])
