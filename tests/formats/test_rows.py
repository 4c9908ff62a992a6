from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from himga_eval.errors import RunFileError
from himga_eval.formats.rows import rows_of

A = {"question_id": "q1", "prediction": "Rome"}
B = {"question_id": "q2", "prediction": "Oslo"}
LONE = {"question": "Where?", "response": "Rome"}


@pytest.mark.parametrize(
    ("document", "rows"),
    [
        pytest.param([A, B], [A, B], id="list"),
        pytest.param([], [], id="empty-list"),
        pytest.param({"results": [A, B], "accuracy": 0.5}, [A, B], id="results"),
        pytest.param({"predictions": [A], "results": {"overall": 0.5}}, [A], id="results-are-not-always-the-rows"),
        pytest.param({"results": {"by_type": {"x": 1}}, "rows": [A]}, [A], id="a-list-comes-before-an-object"),
        pytest.param({"results": []}, [], id="no-results"),
        pytest.param({"question_id": ["q1", "q2"], "prediction": ["Rome", "Oslo"]}, [A, B], id="columns"),
        pytest.param(
            {"question_id": {"0": "q1", "1": "q2"}, "prediction": {"0": "Rome", "1": "Oslo"}},
            [A, B],
            id="pandas-columns",
        ),
        pytest.param({"q1": {"prediction": "Rome"}, "q2": {"prediction": "Oslo"}}, [A, B], id="rows-by-id"),
        pytest.param({"k1": A, "k2": B}, [A, B], id="rows-by-another-key-keep-their-id"),
        pytest.param({"q1": "Rome", "q2": None}, [A, {"question_id": "q2", "prediction": None}], id="texts-by-id"),
        pytest.param(A, [A], id="one-row"),
        pytest.param({**LONE, "evidence": ["D1:3"]}, [{**LONE, "evidence": ["D1:3"]}], id="one-row-with-a-list"),
        pytest.param(
            {"conv_0": [LONE, LONE], "conv_1": []},
            [{"sample_id": "conv_0", **LONE}, {"sample_id": "conv_0", **LONE}],
            id="lists-by-conversation",
        ),
        pytest.param(
            {"detailed_results": {"user_0": [LONE]}, "metadata": {"num_runs": 3}},
            [{"sample_id": "user_0", **LONE}],
            id="lists-by-conversation-under-a-head",
        ),
        pytest.param(
            [{"sample_id": "s1", "qa": [LONE, LONE]}, {"sample_id": "s2", "qa": []}],
            [{"sample_id": "s1", **LONE}, {"sample_id": "s1", **LONE}],
            id="locomo-samples",
        ),
        pytest.param({"sample_id": "s1", "qa": [LONE]}, [{"sample_id": "s1", **LONE}], id="one-locomo-sample"),
    ],
)
def test_every_shape_gives_its_rows(document: Any, rows: list[dict[str, Any]]) -> None:
    assert rows_of(document, Path("run.json")) == rows


@pytest.mark.parametrize(
    ("document", "said"),
    [
        pytest.param({}, "keys: none", id="empty-object"),
        pytest.param(
            {"model": "m", "scores": [1], "meta": {}},
            "keys: model, scores, meta; rows may stand under: results",
            id="no-rows",
        ),
        pytest.param(
            {"question_id": ["q1"], "prediction": []}, "different lengths: question_id 1, prediction 0", id="uneven"
        ),
        pytest.param([A, ["x"]], "item 1: a list, not an object: ['x']", id="a-list-among-the-rows"),
        pytest.param("Rome", "holds a str", id="a-text"),
    ],
)
def test_other_shapes_are_errors(document: Any, said: str) -> None:
    with pytest.raises(RunFileError) as error:
        rows_of(document, Path("run.json"))
    assert str(error.value).startswith("run.json")
    assert said in str(error.value)
