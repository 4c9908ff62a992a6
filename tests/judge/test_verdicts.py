"""Reading verdicts: what is taken, and what is refused rather than guessed."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from himga_eval.judge.modes import SIX_STEPS
from himga_eval.judge.verdicts import instruction, json_schema, reader, schema
from himga_eval.llm.base import CallFailed, Reply

CORRECT = '{"correct": true, "reasoning": "same"}'


def read(text: str, scale: tuple[float, ...] | None) -> float:
    return reader(scale)(Reply(text)).score


@pytest.mark.parametrize(
    ("text", "score"),
    [
        pytest.param('{"score": 0.6, "reasoning": "half"}', 0.6, id="bare"),
        pytest.param('{"score": 1}', 1.0, id="an integer, no reasoning"),
        pytest.param('{"reasoning": "close", "score": "0.8"}', 0.8, id="the number as text"),
        pytest.param('{"score": 0.6000000000000001}', 0.6, id="a float's last digit"),
        pytest.param('```json\n{"reasoning": "same city", "score": 1.0}\n```', 1.0, id="fenced"),
        pytest.param('```\n{"score": 0.2}\n```', 0.2, id="fenced without a language"),
        pytest.param('Here is my verdict:\n```json\n{"score": 0.4}\n```', 0.4, id="fenced after a remark"),
        pytest.param('My verdict: {"score": 0.8, "reasoning": "close"}.', 0.8, id="after a remark"),
        pytest.param('{"score": 0.0, "reasoning": "wrong"}\nAnything else?', 0.0, id="before a remark"),
        pytest.param('{"score": 0.2, "reasoning": "it said {\\"score\\": 1}"}', 0.2, id="a quote inside the reasoning"),
        pytest.param('{"score": 0.4, "correct": true, "extra": [1]}', 0.4, id="other names are ignored"),
    ],
)
def test_scores_that_are_taken(text: str, score: float) -> None:
    assert read(text, SIX_STEPS) == score


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("", "empty", id="nothing"),
        pytest.param("  \n", "empty", id="blanks"),
        pytest.param("not json", "no JSON object", id="prose"),
        pytest.param("0.8", "no JSON object", id="a bare number"),
        pytest.param(
            "There are 5 facts and on 2026/04/19 it was right, so score: 0.8", "no JSON object", id="numbers in prose"
        ),
        pytest.param('{"score": 0.75}', "none of 0, 0.2", id="off the scale's steps"),
        pytest.param('{"score": 1.5}', "none of", id="above the scale"),
        pytest.param('{"score": -0.3}', "none of", id="below the scale"),
        pytest.param('{"score": 5}', "none of", id="another scale"),
        pytest.param('{"score": true}', "no score", id="a boolean"),
        pytest.param('{"score": null}', "no score", id="null"),
        pytest.param('{"score": NaN}', "no JSON", id="NaN"),
        pytest.param('{"score": "nan"}', "none of", id="NaN as text"),
        pytest.param('{"score": Infinity}', "no JSON", id="infinity"),
        pytest.param('{"score": "high"}', "could not convert", id="a word"),
        pytest.param('{"score": [1.0]}', "no score", id="a list"),
        pytest.param('{"reasoning": "ok"}', "Field required", id="no score"),
        pytest.param('{"result": {"score": 1.0}}', "Field required", id="nested"),
        pytest.param('[{"score": 1}, {"score": 0}]', "more than one", id="a list of two"),
        pytest.param('{"score": 1} {"score": 0}', "more than one", id="two objects"),
        pytest.param('```json\n{"score": 1}\n```\n```json\n{"score": 0}\n```', "more than one", id="two blocks"),
        pytest.param('{"score": 0, "score": 1}', "stands twice", id="the name twice"),
        pytest.param('The answer demands "{"score": 1}"', "quoted", id="quoted from the answer"),
        pytest.param('It says {"score": 1} but it is wrong', "amid other text", id="amid prose"),
        pytest.param('{"score": 0.6', "delimiter", id="cut short"),
        pytest.param("{'score': 1}", "property name", id="Python instead of JSON"),
        pytest.param("yes", "no JSON object", id="yes, where a score is wanted"),
    ],
)
def test_scores_that_are_refused(text: str, why: str) -> None:
    with pytest.raises(CallFailed, match=why) as failed:
        read(text, SIX_STEPS)
    assert failed.value.kind == "invalid"
    assert failed.value.reply == Reply(text)


@pytest.mark.parametrize(
    "text",
    [CORRECT, f"```json\n{CORRECT}\n```", "Yes.", "**Yes**", "YES\n", "yes, the same city", "yes, because it is right"],
)
def test_yes(text: str) -> None:
    assert read(text, None) == 1.0


@pytest.mark.parametrize(
    "text",
    [
        '{"correct": false}',
        "no",
        "No.",
        "INCORRECT",
        "not correct",
        "partially correct",
        "Verdict: **No**",
        "wrong - it names another city",
        "no, because the answer is not correct",
    ],
)
def test_no(text: str) -> None:
    assert read(text, None) == 0.0


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"correct": "true"}', id="a quoted boolean"),
        pytest.param('{"correct": "yes"}', id="a quoted word"),
        pytest.param('{"correct": 1}', id="a number"),
        pytest.param('{"correct": null}', id="null"),
        pytest.param('{"score": 1.0}', id="a score, where yes or no is wanted"),
        pytest.param('"yes"', id="the word in quotes"),
        pytest.param('"Yes" is what the answer wants to hear', id="the word quoted from the answer"),
        pytest.param("Yes and no", id="both"),
        pytest.param("Yes/No", id="either"),
        pytest.param("yesterday", id="a longer word"),
        pytest.param("notable", id="a longer word that starts with no"),
        pytest.param("Correct answer: Lisbon. It is wrong.", id="a heading"),
        pytest.param("It is correct", id="a sentence"),
        pytest.param("", id="nothing"),
    ],
)
def test_neither_yes_nor_no(text: str) -> None:
    with pytest.raises(CallFailed) as failed:
        read(text, None)
    assert failed.value.kind == "invalid"


@given(st.sampled_from(SIX_STEPS), st.text())
def test_whatever_the_reasoning_the_score_comes_through(score: float, reasoning: str) -> None:
    text = json.dumps({"reasoning": reasoning, "score": score})
    assert reader(SIX_STEPS)(Reply(text)) == (score, reasoning)


@given(st.text())
def test_any_text_is_a_verdict_or_a_failure(text: str) -> None:
    for scale in (SIX_STEPS, None):
        with suppress(CallFailed):
            assert read(text, scale) in SIX_STEPS


@pytest.mark.parametrize(("scale", "name"), [(SIX_STEPS, "score"), (None, "correct")])
def test_the_schema_asks_for_reasons_first(scale: Any, name: str) -> None:
    spelled = json.loads(json_schema(scale))
    assert list(spelled["properties"]) == ["reasoning", name]
    assert spelled["required"] == ["reasoning", name]
    assert schema(scale).__name__ == "Verdict"
    assert schema(scale) is schema(scale)
    assert f'"{name}"' in instruction(scale)


def test_fields_filled_in_by_a_tool_are_taken() -> None:
    assert reader(None)(Reply("", {"correct": True, "reasoning": "r"})) == (1.0, "r")
    assert reader(SIX_STEPS)(Reply("", {"score": 0.4, "reasoning": "r"})) == (0.4, "r")
