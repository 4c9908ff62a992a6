from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from himga_eval.data import QAPair, QuestionType, Sample
from himga_eval.errors import DatasetError, InputError
from himga_eval.formats.questions import asked_frame

QUESTIONS = pl.DataFrame(
    {
        "sample_id": ["pier-1", "pier-1"],
        "question_id": ["pier-1:0", "pier-1:1"],
        "question_type": ["Single-Hop", "temporal"],
        "question": ["What colour is it?", "When?"],
        "ground_truth": ["Green", "2021"],
    }
)
SAMPLE = Sample(
    "pier-1",
    "locomo",
    [],
    [
        QAPair("pier-1:0", "What colour is it?", "Green", QuestionType.SINGLE_HOP),
        QAPair("pier-1:1", "When?", "2021", QuestionType.TEMPORAL),
    ],
)


def locomo_file(folder: Path) -> Path:
    qa = [
        {"question": "What colour is it?", "answer": "Green", "category": 4, "evidence": []},
        {"question": "When?", "answer": 2021, "category": 2, "evidence": []},
    ]
    path = folder / "mine.json"
    path.write_text(json.dumps([{"sample_id": "pier-1", "qa": qa, "conversation": {}}]))
    return path


@pytest.mark.parametrize("kind", ["frame", "lazy", "pandas", "samples", "path", "path-as-text"])
def test_questions_are_taken_in_every_shape(tmp_path: Path, kind: str) -> None:
    given: dict[str, Any] = {
        "frame": lambda: QUESTIONS,
        "lazy": QUESTIONS.lazy,
        "pandas": QUESTIONS.to_pandas,
        "samples": lambda: [SAMPLE],
        "path": lambda: locomo_file(tmp_path),
        "path-as-text": lambda: str(locomo_file(tmp_path)),
    }
    asked = asked_frame(given[kind]())
    expected = QUESTIONS.with_columns(question_type=pl.Series(["single_hop", "temporal"]))
    assert asked.select(QUESTIONS.columns).equals(expected)
    assert asked["dataset"].to_list() == ["locomo", "locomo"]


def test_what_holds_nothing_is_left_out() -> None:
    assert "question_date" not in asked_frame([SAMPLE]).columns


def test_an_id_and_a_gold_are_enough() -> None:
    asked = asked_frame(pl.DataFrame({"question_id": [1, 2], "ground_truth": [2021, 2022]}))
    assert asked.select("question_id", "sample_id", "ground_truth").rows() == [("1", "1", "2021"), ("2", "2", "2022")]


def test_a_data_set_without_golds_keeps_the_column() -> None:
    asked = asked_frame(QUESTIONS.with_columns(ground_truth=pl.lit(None, pl.String)))
    assert asked["ground_truth"].to_list() == [None, None]


@pytest.mark.parametrize(
    ("questions", "said"),
    [
        pytest.param(
            QUESTIONS.drop("ground_truth"), "no column ground_truth; they have: sample_id, question_id", id="no-gold"
        ),
        pytest.param(QUESTIONS.clear(), "there are no questions", id="empty-frame"),
        pytest.param([], "there are no questions", id="empty-list"),
        pytest.param(pl.concat([QUESTIONS] * 2), "stand twice: pier-1:0, pier-1:1", id="twice"),
        pytest.param(QUESTIONS.with_columns(question_id=pl.lit(None, pl.String)), "no question_id", id="null-ids"),
        pytest.param([{"question_id": "q1"}], "a list of Sample, a frame of questions or the path", id="list-of-rows"),
        pytest.param(
            pd.DataFrame([[1, 2, 3]], columns=["question_id", "question_id", "ground_truth"]),
            "two columns have the same name; the frame has: question_id, question_id",
            id="names twice in pandas",
        ),
        pytest.param(7, "not a int: 7", id="number"),
    ],
)
def test_what_are_no_questions_is_said(questions: Any, said: str) -> None:
    with pytest.raises(InputError) as error:
        asked_frame(questions)
    assert said in str(error.value)


def test_a_path_that_is_no_data_sets(put: Any) -> None:
    with pytest.raises(DatasetError, match="neither LoCoMo"):
        asked_frame(put("other.json", [{"a": 1}]))
