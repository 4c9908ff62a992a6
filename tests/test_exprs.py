from __future__ import annotations

import subprocess
import sys

import polars as pl
import pytest
from polars.testing import assert_frame_equal, assert_series_equal

from himga_eval import exprs
from himga_eval.errors import InputError, UnknownMetric
from himga_eval.metrics.catalog import LEXICAL

FRAME = pl.DataFrame(
    {
        "kind": ["a", "a", "b", "b"],
        "prediction": ["in May 2023", "She walked the dogs.", None, ""],
        "ground_truth": ["May 2023", "She walks dogs", "x", ""],
    }
)
F1 = [0.8, 4 / 7, None, 0.0]


@pytest.mark.parametrize("name", LEXICAL)
def test_an_expression_has_the_name_of_its_metric(name: str) -> None:
    found = FRAME.select(getattr(exprs, name)())
    assert found.schema == {name: pl.Float64}
    assert_frame_equal(found, FRAME.select(exprs.lexical().struct.unnest()).select(name))


def test_columns_by_name_or_expression() -> None:
    renamed = FRAME.rename({"prediction": "answer", "ground_truth": "gold"})
    by_name = renamed.select(exprs.f1("answer", "gold"))
    by_expression = renamed.select(exprs.f1(pl.col("answer").str.to_uppercase(), ground_truth=pl.col("gold")))
    assert by_name["f1"].to_list() == by_expression["f1"].to_list() == pytest.approx(F1)


def test_a_literal_stands_for_every_row() -> None:
    assert FRAME.select(exprs.exact_match(ground_truth=pl.lit("in may 2023")))["exact_match"].to_list() == [
        1,
        0,
        None,
        0,
    ]
    assert pl.select(exprs.f1(pl.lit("a b"), pl.lit("a c"))).item() == 0.5


def test_several_in_one_pass() -> None:
    found = FRAME.with_columns(exprs.lexical(["meteor", "f1"]).struct.unnest())
    assert found.columns == [*FRAME.columns, "meteor", "f1"]
    assert found["f1"].to_list() == pytest.approx(F1)
    assert FRAME.select(exprs.lexical())["lexical"].struct.fields == list(LEXICAL)


def test_an_expression_a_metric() -> None:
    assert FRAME.select(exprs.columns(["rougeL", "f1"])).columns == ["rougeL", "f1"]


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_lazy_frames_know_their_schema_and_agree(engine: str) -> None:
    lazy = FRAME.lazy().with_columns(exprs.f1(), exprs.rougeL(), exprs.lexical(["bleu4"]).struct.unnest())
    assert dict(lazy.collect_schema())["rougeL"] == pl.Float64
    eager = FRAME.with_columns(exprs.f1(), exprs.rougeL(), exprs.bleu4())
    assert_frame_equal(lazy.collect(engine=engine), eager)


def test_a_streamed_scan(tmp_path) -> None:
    FRAME.write_parquet(tmp_path / "answers.parquet")
    found = pl.scan_parquet(tmp_path / "answers.parquet").select(exprs.f1()).collect(engine="streaming")
    assert found["f1"].to_list() == pytest.approx(F1)


def test_over_and_agg() -> None:
    means = FRAME.group_by("kind", maintain_order=True).agg(exprs.f1().mean(), exprs.f1().count().alias("n"))
    assert means.rows() == [("a", pytest.approx((0.8 + 4 / 7) / 2), 2), ("b", 0.0, 1)]
    over = FRAME.select(exprs.f1().over("kind"), exprs.f1().mean().over("kind").alias("mean"))
    assert over["f1"].to_list() == pytest.approx(F1)
    assert over["mean"].to_list() == pytest.approx([means["f1"][0]] * 2 + [0.0] * 2)
    lists = FRAME.group_by("kind", maintain_order=True).agg(exprs.f1())
    assert_series_equal(lists["f1"].explode(), FRAME.select(exprs.f1())["f1"])


def test_filters_and_sorts_by_a_metric() -> None:
    assert FRAME.filter(exprs.f1() > 0.7).height == 1
    assert FRAME.sort(exprs.f1(), nulls_last=True)["prediction"].to_list()[-1] is None


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(FRAME.clear(), id="no-rows"),
        pytest.param(FRAME.with_columns(prediction=None), id="all-null"),
        pytest.param(FRAME.with_columns(prediction=None, ground_truth=None), id="both-all-null"),
    ],
)
def test_nothing_to_score(frame: pl.DataFrame) -> None:
    found = frame.select(exprs.lexical().struct.unnest())
    assert found.schema == dict.fromkeys(LEXICAL, pl.Float64)
    assert found.height == frame.height
    assert set(found.null_count().row(0)) == {frame.height}


@pytest.mark.parametrize("dtype", [pl.Int64, pl.UInt8, pl.Categorical, pl.Enum(["7", "8"])], ids=str)
def test_what_has_a_text_is_taken_as_its_text(dtype: pl.DataType) -> None:
    numbers = pl.Series([7, 8]) if dtype in (pl.Int64, pl.UInt8) else pl.Series(["7", "8"])
    frame = pl.DataFrame({"prediction": numbers.cast(dtype), "ground_truth": ["7", "9"]})
    assert frame.select(exprs.exact_match())["exact_match"].to_list() == [1, 0]


@pytest.mark.parametrize("dtype", [pl.Boolean, pl.Float64, pl.List(pl.String), pl.Date], ids=str)
def test_another_dtype_is_an_error_that_names_the_column(dtype: pl.DataType) -> None:
    frame = pl.DataFrame({"prediction": ["x"], "gold": pl.Series([None], dtype=dtype)})
    with pytest.raises(InputError, match=r"ground_truth \(column 'gold'\) is .*cast it to String"):
        frame.select(exprs.f1(ground_truth="gold"))


def test_unknown_and_other_metrics_are_errors() -> None:
    with pytest.raises(UnknownMetric, match="did you mean 'meteor'"):
        exprs.lexical(["meteo"])
    with pytest.raises(InputError, match="not lexical: bert_f1"):
        exprs.lexical(["f1", "bert_f1"])
    with pytest.raises(InputError, match="judge_score comes from"):
        exprs.columns(["judge_score"])


def test_importing_takes_no_library_along() -> None:
    heavy = (
        "import sys, himga_eval.exprs, himga_eval.metrics; print({'nltk', 'torch', 'rouge_score'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", heavy], capture_output=True, text=True, check=True).stdout == "set()\n"
