"""The door: results of any shape become the results frame, or one clear error."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest

from himga_eval.errors import DuplicateRows, InputError, RunWarning, UnknownQuestionType
from himga_eval.schema import (
    RESULTS,
    EvalResult,
    QuestionType,
    require_key,
    require_unique,
    results_frame,
)


def frame(**columns: object) -> pl.DataFrame:
    return pl.DataFrame({"prediction": ["Oslo"], "ground_truth": ["Rome"]} | columns)


def result(question_id: str = "q1", question_type: str | None = "temporal", **given: object) -> EvalResult:
    return EvalResult("c1", question_id, question_type, "Where?", "Rome", "Oslo", **given)


SHAPES = {
    "list of EvalResult": [result()],
    "Polars frame": results_frame([result()]),
    "lazy frame": results_frame([result()]).lazy(),
    "pandas frame": pd.DataFrame([asdict(result())]).dropna(axis="columns"),
}


@pytest.mark.parametrize("results", SHAPES.values(), ids=SHAPES.keys())
def test_every_shape_gives_the_same_frame(results: object) -> None:
    found = results_frame(results)
    assert found.row(0, named=True) == {
        "run": "run",
        "dataset": "locomo",
        "sample_id": "c1",
        "question_id": "q1",
        "question_type": "temporal",
        "question": "Where?",
        "ground_truth": "Rome",
        "prediction": "Oslo",
    }
    assert all(found.schema[name] == RESULTS[name] for name in found.columns)


def test_results_survive_json() -> None:
    kept = json.loads(json.dumps([asdict(result(question_type=QuestionType.TEMPORAL, latency_s=0.5))]))
    rebuilt = [EvalResult(**{**row, "question_type": QuestionType(row["question_type"])}) for row in kept]
    assert rebuilt == [result(question_type=QuestionType.TEMPORAL, latency_s=0.5)]


@pytest.mark.parametrize(
    ("column", "text"),
    [
        pytest.param([2022], "2022", id="integer"),
        pytest.param(pl.Series([2022.0]), "2022", id="integers with a gap arrive as floats"),
        pytest.param([3.5], "3.5", id="float"),
        pytest.param([float("nan")], None, id="NaN is nothing"),
        pytest.param([None], None, id="null"),
        pytest.param([True], "true", id="boolean"),
        pytest.param(pl.Series(["a"], dtype=pl.Categorical), "a", id="categorical"),
        pytest.param(pl.Series([2022], dtype=pl.Object), "2022", id="object"),
        pytest.param(["None"], "None", id="the word None stays a word"),
        pytest.param([""], "", id="blank stays blank"),
    ],
)
def test_numbers_become_their_text(column: object, text: str | None) -> None:
    found = results_frame(frame(ground_truth=column))
    assert found.schema["ground_truth"] == pl.String
    assert found["ground_truth"].to_list() == [text]


@pytest.mark.parametrize(
    ("column", "values", "expected"),
    [
        pytest.param(
            "prediction", ["Oslo", pd.NA, 3, float("nan"), True], ["Oslo", None, "3", None, "true"], id="text"
        ),
        pytest.param("evidence", [["a"], None, np.array(["b", 1]), ()], [["a"], None, ["b", "1"], []], id="lists"),
        pytest.param("latency_s", ["1.5", 2, None], [1.5, 2.0, None], id="numbers"),
        pytest.param("note", [{1, 2}, None, 2**70], ["{1, 2}", None, str(2**70)], id="a column of one's own"),
    ],
)
def test_mixed_objects_of_pandas(column: str, values: list[object], expected: list[object]) -> None:
    rows = pd.DataFrame({"prediction": "Oslo", "ground_truth": "Rome", column: pd.Series(values, dtype=object)})
    assert results_frame(rows)[column].to_list() == expected


def test_a_duration_is_its_seconds() -> None:
    assert results_frame(frame(latency_s=[timedelta(seconds=1.5)]))["latency_s"].to_list() == [1.5]


def test_half_an_emoji_is_replaced_with_a_word() -> None:
    whole = EvalResult("c1", "q1", "temporal", "Q", "g", "gulls \ud83d", evidence=["a\ude00"])
    with pytest.warns(RunWarning, match="half of a surrogate pair is replaced by U"):
        found = results_frame([whole])
    assert found.select("prediction", "evidence").row(0) == ("gulls \ufffd", ["a\ufffd"])


def test_null_characters_stay() -> None:
    assert results_frame(frame(prediction=["a\0b"]))["prediction"].to_list() == ["a\0b"]


def test_a_list_of_mixed_types_becomes_text() -> None:
    rows = [EvalResult("c1", f"q{i}", "temporal", "Q", gold, None) for i, gold in enumerate([2022, "2022", 1.5])]
    assert results_frame(rows)["ground_truth"].to_list() == ["2022", "2022", "1.5"]


@pytest.mark.parametrize(
    ("spelling", "dataset", "ours"),
    [
        pytest.param("single-session-user", "longmemeval", "single_session_user", id="hyphens"),
        pytest.param("Single-Session-User ", "longmemeval", "single_session_user", id="capitals and a blank"),
        pytest.param("Multi Hop", "locomo", "multi_hop", id="a space"),
        pytest.param("mine", "custom", "mine", id="a user's own"),
        pytest.param(None, "custom", None, id="none at all"),
        pytest.param("  ", "custom", None, id="a blank is none"),
    ],
)
def test_question_types_have_one_spelling(spelling: str | None, dataset: str, ours: str | None) -> None:
    found = results_frame(frame(question_type=pl.Series([spelling], dtype=pl.String)))
    assert found.select("dataset", "question_type").row(0) == (dataset, ours)


def test_there_is_always_a_column_of_question_types() -> None:
    assert results_frame(frame())["question_type"].to_list() == [None]


def test_a_row_without_type_belongs_to_the_data_set_around_it() -> None:
    found = results_frame(
        pl.concat([frame(question_type="temporal"), frame(question_type=pl.Series([None], dtype=pl.String))])
    )
    assert found["dataset"].to_list() == ["locomo", "locomo"]


def test_types_of_one_s_own_are_free_in_a_data_set_of_one_s_own() -> None:
    both = pl.concat([frame(question_type="temporal", dataset="mine"), frame(question_type="Whatever", dataset="mine")])
    assert results_frame(both)["question_type"].to_list() == ["temporal", "Whatever"]


def test_other_columns_and_the_order_of_rows_stay() -> None:
    rows = pl.concat([frame(note=[{"a": 1}], run="b"), frame(note=[{"a": 2}], run="a")])
    assert results_frame(rows)["note"].to_list() == [{"a": 1}, {"a": 2}]


def test_a_run_is_named_where_it_has_no_name() -> None:
    rows = pl.concat([frame(run="larch"), frame(run=pl.Series([None], dtype=pl.String))])
    assert results_frame(rows, run="wren")["run"].to_list() == ["larch", "wren"]


@pytest.mark.parametrize(
    ("results", "error", "message"),
    [
        pytest.param(pl.DataFrame({"answer": ["x"]}), InputError, r"no column 'prediction'.*has: answer", id="column"),
        pytest.param("answers.jsonl", InputError, "results are a list of EvalResult.*not a str", id="a path"),
        pytest.param([result(), {"a": 1}], InputError, "item 1 is a dict, not an EvalResult", id="an item"),
        pytest.param(
            frame(ground_truth=[["a", "b"]]),
            InputError,
            r"column 'ground_truth', row 0: \['a', 'b'\] \(list\) is not a text",
            id="a list of golds",
        ),
        pytest.param(
            frame(latency_s=["fast"]),
            InputError,
            r"column 'latency_s', row 0: 'fast' .*not a number",
            id="a text for a number",
        ),
        pytest.param(
            pl.concat([frame(question_type="temporal"), frame(question_type="singel_hop")]),
            UnknownQuestionType,
            "no question type 'singel_hop'; did you mean 'single_hop'.*dataset with a name of your own",
            id="a misspelt type among others",
        ),
        pytest.param(
            frame(evidence=["D1:1"]), InputError, "row 0: 'D1:1' .* not a list of ids", id="a text for a list"
        ),
        pytest.param(frame(input_tokens=[1.5]), InputError, "row 0: 1.5 .*not a whole number", id="a part of a token"),
        pytest.param(frame(prediction=[{"a": 1}]), InputError, "row 0: {'a': 1} .*not a text", id="an object"),
        pytest.param(
            frame(prediction=[b"\xff"]), InputError, r"row 0: b'\\xff' .*not a text", id="bytes that are no text"
        ),
        pytest.param(
            frame(abstention=["maybe"]), InputError, "row 0: 'maybe' .*not true or false", id="no truth value"
        ),
        pytest.param([result(latency_s="fast")], InputError, "'latency_s', row 0: 'fast'", id="a text among results"),
        pytest.param([result(evidence="D1")], InputError, "'evidence', row 0: 'D1'", id="an id for a list of ids"),
        pytest.param(
            [result(), result("q2", error=ValueError("x"))],
            InputError,
            r"column 'error', row 1: ValueError\('x'\) \(ValueError\) is not a text",
            id="an exception for a text",
        ),
        pytest.param(
            pd.DataFrame([[1, 2]], columns=[3, "3"]), InputError, "same name; .*has: 3, 3", id="names in pandas"
        ),
        pytest.param(
            frame(question_type="multi_session", dataset="locomo"),
            UnknownQuestionType,
            "no question type 'multi_session'.*in data set 'locomo'",
            id="a type of the other data set",
        ),
    ],
)
def test_bad_results_say_what_is_wrong(results: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        results_frame(results)


def test_no_results_give_an_empty_frame_with_its_columns() -> None:
    found = results_frame([])
    assert found.height == 0
    assert found.schema["prediction"] == pl.String


def test_a_doubled_question_is_listed() -> None:
    rows = results_frame([result("q1"), result("q1"), result("q2")])
    with pytest.raises(DuplicateRows, match=r"1 questions stand more than once \(2 rows\).*run / locomo / c1 / q1"):
        require_unique(rows)


def test_the_same_question_in_two_runs_is_no_double() -> None:
    require_key(results_frame([result(run="a"), result(run="b")]))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        pytest.param(frame(), "no column 'sample_id'", id="no key"),
        pytest.param(
            results_frame([result(), result(None)]), "1 rows have a null 'question_id', the first is row 1", id="a gap"
        ),
    ],
)
def test_a_row_without_key_is_pointed_at(rows: pl.DataFrame, message: str) -> None:
    with pytest.raises(InputError, match=message):
        require_key(results_frame(rows))
