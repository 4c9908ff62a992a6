"""Claims about a file of answers, and the recipes of the scores in it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from himga_eval.across import figures
from himga_eval.claims import CLAIMS, RECIPES, Claim, check_claims, contradictions, find_recipes, read_claim
from himga_eval.data import read_questions
from himga_eval.errors import InputError
from himga_eval.formats import read_run


@pytest.fixture(scope="module")
def answers() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "run": "larch",
            "sample_id": ["c1", "c1", "c2", "c2"],
            "question_id": [f"q{i}" for i in range(4)],
            "question_type": ["multi_hop", "multi_hop", "multi_hop", "temporal"],
            "ground_truth": ["no yes", "tea", "cake", "May 7"],
            "prediction": ["no no no", "tea", "", "May"],
            "published_f1": [0.67, 1.0, 0.0, 0.67],
            "published_judge_score": [0.0, 0.0, 1.0, 1.0],
        }
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("f1=.5145", ("f1", "overall", 0.5145, 1e-4), id="fraction"),
        pytest.param("judge_score=75.78", ("judge_score", "overall", 0.7578, 1e-4), id="over 1 is a percentage"),
        pytest.param("bleu1 = 0.5 %", ("bleu1", "overall", 0.005, 1e-3), id="a sign says so too"),
        pytest.param("single_hop.f1=.64", ("f1", "single_hop", 0.64, 1e-2), id="of a type"),
        pytest.param("Single-Hop.f1=1", ("f1", "Single-Hop", 1.0, 1.0), id="a paper's label"),
    ],
)
def test_read_claim(text: str, expected: tuple[object, ...]) -> None:
    claim = read_claim(text)
    assert (claim.metric, claim.label, claim.value, claim.unit) == pytest.approx(expected)


@pytest.mark.parametrize("text", ["f1", "f1=", "f1=high", "f2=.5", "=.5", "f1=.5.5"])
def test_what_is_no_claim(text: str) -> None:
    with pytest.raises(InputError, match=r"is no claim; write metric=value"):
        read_claim(text)


def test_the_recipe_of_published_scores(answers: pl.DataFrame) -> None:
    table = find_recipes(answers)
    assert dict(table.schema) == RECIPES
    best = table.row(0, named=True)
    assert (best["column"], best["variant"], best["matches"], best["rows"]) == ("published_f1", "set", 4, 4)
    assert best["protocols"] == "a-mem, magma, mem0"
    assert table.filter(variant="multiset")["matches"].item() == 3


def test_answers_without_published_scores_have_no_recipe(answers: pl.DataFrame) -> None:
    assert find_recipes(answers.drop("published_f1")).is_empty()


CHECKED = [
    pytest.param("f1=.5833", "holds", "f1 set, by question", "a-mem, magma, mem0", id="recipe by question"),
    pytest.param("f1=.5167", "holds", "f1 multiset, by question", "himga", id="another recipe"),
    pytest.param("f1=.61", "holds", "f1 set, by type", "a-mem, magma, mem0", id="another average"),
    pytest.param("f1=.585", "holds", "the file's own f1, by question", None, id="the file's own scores"),
    pytest.param("judge_score=50.0", "holds", "the file's own judge_score, by question", None, id="labels"),
    pytest.param("temporal.f1=.667", "holds", None, None, id="of a type"),
    pytest.param(
        "single_hop.f1=.5556",
        "holds",
        "f1 set of multi_hop, there called Single-Hop, by question",
        "mem0",
        id="of a type under a paper's label",
    ),
    pytest.param("f1=.9", "fails", None, None, id="no recipe gives it"),
]


@pytest.fixture(scope="module")
def checked(answers: pl.DataFrame) -> pl.DataFrame:
    return check_claims(answers, [str(case.values[0]) for case in CHECKED])


@pytest.mark.parametrize(("claim", "verdict", "recipe", "protocols"), CHECKED)
def test_claims(checked: pl.DataFrame, claim: str, verdict: str, recipe: str | None, protocols: str | None) -> None:
    assert dict(checked.schema) == CLAIMS
    found = checked.row(by_predicate=pl.col("claim") == claim, named=True)
    assert found["verdict"] == verdict
    assert recipe in (None, found["recipe"])
    assert protocols in (None, found["protocols"])


def test_a_failed_claim_names_the_nearest_figure(answers: pl.DataFrame) -> None:
    found = check_claims(answers, ["temporal.f1=.1"]).row(0, named=True)
    assert found["verdict"] == "fails"
    assert found["found"] == min(
        figures(answers, ["f1"]).filter(question_type="temporal")["mean"], key=lambda m: abs(m - 0.1)
    )


def test_a_claim_of_a_type_that_is_not_there(answers: pl.DataFrame) -> None:
    with pytest.raises(InputError, match="no questions of that type; there are: multi_hop, temporal, overall"):
        check_claims(answers, ["adversarial.f1=.9"])


def test_a_judges_scores_have_to_be_in_the_file(answers: pl.DataFrame) -> None:
    with pytest.raises(InputError, match="no protocol gives judge_score for these answers"):
        check_claims(answers.drop("published_judge_score"), ["judge_score=.9"])


def test_a_judge_that_contradicts_the_text(answers: pl.DataFrame) -> None:
    found = contradictions(answers)
    assert found.select("judge", "question_id", "score").rows() == [
        ("published_judge_score", "q1", 0.0),
        ("published_judge_score", "q2", 1.0),
    ]


def test_without_a_judge_nothing_contradicts(answers: pl.DataFrame) -> None:
    assert contradictions(answers.drop("published_judge_score")).is_empty()


def test_a_claim_is_data() -> None:
    assert read_claim("f1=.5") == Claim("f1=.5", "f1", "overall", 0.5, 0.1)


@pytest.fixture(scope="module")
def memobase(shared: Path) -> pl.DataFrame:
    asked = read_questions(shared / "data/locomo/locomo10.json")
    return read_run(shared / "data/predictions/memobase_eval_0710_3000.json", asked)


def test_the_recipes_of_memobase(memobase: pl.DataFrame) -> None:
    best = find_recipes(memobase).group_by("column", maintain_order=True).first()
    assert best.select("column", "variant", "matches", "rows").rows() == [
        ("published_f1", "set", 1540, 1540),
        ("published_bleu1", "method1", 1540, 1540),
    ]


def test_the_claims_of_memobase_hold(memobase: pl.DataFrame) -> None:
    claims = ["f1=.5145", "bleu1=.3978", "judge_score=75.78", "temporal.judge_score=85.05", "single_hop.f1=.4629"]
    assert check_claims(memobase, claims)["verdict"].to_list() == ["holds"] * 5
