from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from himga_eval.errors import RunWarning
from himga_eval.formats.columns import WIDEST, as_text, frame_of, stack


@pytest.mark.parametrize(
    ("values", "expected", "dtype"),
    [
        pytest.param(["a", None], ["a", None], pl.String(), id="texts"),
        pytest.param([1, 2], [1, 2], pl.Int64(), id="integers"),
        pytest.param([1, 2.5], [1.0, 2.5], pl.Float64(), id="integers-and-floats"),
        pytest.param([True, None], [True, None], pl.Boolean(), id="booleans"),
        pytest.param([None, None], [None, None], pl.Null(), id="nothing"),
        pytest.param([7, "seven", 7.0, 2.5, True], ["7", "seven", "7", "2.5", "true"], pl.String(), id="mixed"),
        pytest.param([2**70, 1], [str(2**70), "1"], pl.String(), id="beyond-64-bits"),
        pytest.param(["a\0b"], ["a\0b"], pl.String(), id="zero-character"),
        pytest.param([["a"], [], None], [["a"], [], None], pl.List(pl.String()), id="lists"),
        pytest.param([[], None], [[], None], pl.List(pl.String()), id="empty-lists"),
        pytest.param([["a"], [1]], ['["a"]', "[1]"], pl.String(), id="lists-of-mixed-things"),
        pytest.param([[{"id": 1}], "x"], ['[{"id": 1}]', "x"], pl.String(), id="lists-of-objects"),
        pytest.param([{"a": 1}, "é"], ['{"a": 1}', "é"], pl.String(), id="objects-and-texts"),
    ],
)
def test_a_column_keeps_every_value(values: list[Any], expected: list[Any], dtype: pl.DataType) -> None:
    column = frame_of([{"x": value} for value in values])["x"]
    assert column.to_list() == expected
    assert column.dtype == dtype


def test_objects_become_columns_and_lose_no_key() -> None:
    rows = [{"label": {"ok": True}}, {"label": {"ok": False, "by": {"model": "m"}}}, {"label": None}, {}]
    assert frame_of(rows).to_dict(as_series=False) == {
        "label.ok": [True, False, None, None],
        "label.by.model": [None, "m", None, None],
    }


def test_an_object_with_keys_of_its_own_in_each_row_stays_one_column() -> None:
    rows = [{"scores": {f"doc-{i}": i}} for i in range(WIDEST + 1)]
    assert frame_of(rows)["scores"][3] == '{"doc-3": 3}'


@pytest.mark.parametrize(
    "value", [pytest.param("boat \ud83d", id="text"), pytest.param(["boat \ud83d"], id="in-a-list")]
)
def test_half_of_a_surrogate_pair_is_replaced_with_a_warning(value: Any) -> None:
    with pytest.warns(RunWarning, match=r"column 'prediction': half of a surrogate pair is replaced by U\+FFFD"):
        column = frame_of([{"prediction": "⛵"}, {"prediction": value}])["prediction"]
    assert column[0] == "⛵"
    assert "boat \ufffd" in column[1]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        pytest.param([[1], ["a"]], ["1", "a"], id="number-and-text"),
        pytest.param([[7.0], ["a"]], ["7", "a"], id="whole-float-and-text"),
        pytest.param([[True], ["a"]], ["true", "a"], id="boolean-and-text"),
        pytest.param([[1], [2.5]], [1.0, 2.5], id="numbers"),
        pytest.param([[["a"]], ["b"]], ['["a"]', "b"], id="list-and-text"),
        pytest.param([[None], ["b"]], [None, "b"], id="nothing-and-text"),
    ],
)
def test_stacked_columns_agree_on_a_type(columns: list[list[Any]], expected: list[Any]) -> None:
    assert stack([pl.DataFrame({"x": values}) for values in columns])["x"].to_list() == expected


def test_a_column_that_only_some_have_is_null_elsewhere() -> None:
    assert stack([pl.DataFrame({"a": ["1"]}), pl.DataFrame({"b": ["2"]})]).rows() == [("1", None), (None, "2")]


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        pytest.param([2022, None], ["2022", None], id="integers"),
        pytest.param([2022.0, 1.5, None], ["2022", "1.5", None], id="floats"),
        pytest.param([True, False], ["true", "false"], id="booleans"),
        pytest.param([["a", "b"], None], ['["a", "b"]', None], id="lists"),
    ],
)
def test_text_of_any_column(values: list[Any], texts: list[str | None]) -> None:
    assert as_text(pl.Series("x", values)).to_list() == texts
