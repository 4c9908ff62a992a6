"""The functions of one prediction and its ground truth."""

from __future__ import annotations

import doctest
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from himga_eval import metrics
from himga_eval.errors import InputError
from himga_eval.metrics import bleu_scores, exact_match, meteor, rouge_scores, token_f1

FUNCTIONS = [exact_match, token_f1, rouge_scores, bleu_scores, meteor]
WORDS = ["the", "a", "dogs", "dog", "ran,", "run.", "Runs", "U.S.", "3.5", "'tis", "né"]
TEXTS = st.text() | st.lists(st.sampled_from(WORDS)).map(" ".join)


def scores(prediction: str | int, ground_truth: str | int) -> dict[str, float]:
    return {
        "exact_match": exact_match(prediction, ground_truth),
        "token_f1": token_f1(prediction, ground_truth),
        **rouge_scores(prediction, ground_truth),
        **bleu_scores(prediction, ground_truth),
        "meteor": meteor(prediction, ground_truth),
    }


def test_the_examples_of_the_docstrings() -> None:
    found = doctest.testmod(metrics)
    assert (found.attempted >= 5, found.failed) == (True, 0)


BEYOND = {f"M{number}" for number in range(48, 56)}


def test_known_pitfalls(shared: Path) -> None:
    wrong, seen = {}, 0
    for line in (shared / "cases" / "public_cases.jsonl").read_text("utf-8").splitlines():
        case = json.loads(line)
        expected = case.get("expected")
        if case["area"] != "metric" or case["id"] in BEYOND or "prediction" not in case["input"]:
            continue
        ground_truth = case["input"]["ground_truth"]
        if "int 2022" in expected.get("input_type_note", ""):
            ground_truth = int(ground_truth)
        ours = scores(case["input"]["prediction"], ground_truth)
        for name in ours.keys() & expected.keys():
            seen += 1
            if ours[name] != pytest.approx(expected[name], abs=1e-6):
                wrong[case["id"], name] = ours[name], expected[name]
    assert not wrong
    assert seen > 250


def test_the_docs_say_what_rouge_leaves_out() -> None:
    assert rouge_scores("Москва", "Москва")["rouge1"] == 0
    assert "Москва" in metrics.__doc__


@pytest.mark.parametrize(
    ("prediction", "ground_truth", "exact"),
    [
        pytest.param("", "paris", 0, id="blank-prediction"),
        pytest.param("paris", " \t\n", 0, id="blank-ground-truth"),
        pytest.param(" ", "\u2003", 1, id="both-blank-match-exactly"),
    ],
)
def test_a_blank_side_scores_nothing(prediction: str, ground_truth: str, exact: float) -> None:
    found = scores(prediction, ground_truth)
    assert found.pop("exact_match") == exact
    assert set(found.values()) == {0.0}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("value", "message"),
    [
        pytest.param(
            None, r"prediction is a text or a whole number, not None \(NoneType\); a missing answer", id="none"
        ),
        pytest.param(2.5, r"not 2\.5 \(float\)", id="float"),
        pytest.param(True, r"not True \(bool\)", id="bool"),
        pytest.param(["paris"], r"not \['paris'\] \(list\)", id="list"),
    ],
)
def test_what_is_no_text_is_an_error(function: Callable[..., object], value: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        function(value, "paris")


def test_a_whole_number_is_its_text() -> None:
    assert scores("2022", 2022) == scores("2022", "2022")
    assert exact_match(2022, "2022") == 1


@given(TEXTS, TEXTS)
def test_scores_lie_between_0_and_1(prediction: str, ground_truth: str) -> None:
    for name, score in scores(prediction, ground_truth).items():
        assert type(score) is float, name
        assert 0 <= score <= 1, name


@given(TEXTS, TEXTS)
def test_f1_rouge_and_exact_match_are_symmetric(one: str, other: str) -> None:
    assert exact_match(one, other) == exact_match(other, one)
    assert token_f1(one, other) == token_f1(other, one)
    assert rouge_scores(one, other) == rouge_scores(other, one)


@given(TEXTS)
def test_a_text_matches_itself(text: str) -> None:
    found = scores(text, text)
    assert found["exact_match"] == 1
    assert found["token_f1"] == float(bool(text.translate(str.maketrans(".,!?", "    ")).split()))
    assert found["bleu1"] == float(bool(text.split()))
    assert found["rouge1"] == found["rougeL"]
    words = len(text.split())
    assert found["meteor"] == (pytest.approx(1 - 0.5 / words**3) if words else 0)


@given(st.lists(st.sampled_from(["lake", "pier", "boat", "oar"]), min_size=1))
def test_order_counts_in_rouge_l_and_not_in_f1(words: list[str]) -> None:
    text, turned = " ".join(words), " ".join(reversed(words))
    assert token_f1(text, turned) == 1
    assert rouge_scores(text, turned)["rougeL"] <= rouge_scores(text, turned)["rouge1"] == 1


def test_eight_threads_agree() -> None:
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: meteor("the kid runs", "a child ran"), range(200)))
    assert len(found) == 1
    assert found.pop() == pytest.approx(1 / 6, abs=1e-6)
