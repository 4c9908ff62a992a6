"""A protocol on a frame: which rows count, against which gold, by which variant."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from himga_eval.errors import InputError, RunWarning, UnknownMetric
from himga_eval.protocols import load_protocol
from himga_eval.scoring import score

TRAP = "a red kite"


def answer(kind: str | None, prediction: str | None, gold: str = "tea, cake", **columns: object) -> pl.DataFrame:
    return pl.DataFrame(
        {"question_type": [kind], "prediction": [prediction], "ground_truth": [gold], "dataset": ["locomo"]} | columns,
        schema_overrides={"question_type": pl.String, "prediction": pl.String},
    )


def value(frame: pl.DataFrame, protocol: str, metric: str = "f1") -> float | None:
    scored = score(frame, [metric], protocol=protocol)[metric]
    return scored[0]


@pytest.mark.parametrize(
    ("protocol", "kind", "prediction", "gold", "expected"),
    [
        pytest.param("himga", "single_hop", "no no no", "no yes", 0.4, id="himga: repeats count"),
        pytest.param("mem0", "single_hop", "no no no", "no yes", 2 / 3, id="mem0: once"),
        pytest.param("locomo", "multi_hop", "cake", "tea, cake", 0.5, id="locomo: multi-hop golds are cut at commas"),
        pytest.param("locomo", "single_hop", "cake", "tea, cake", 2 / 3, id="locomo: single-hop golds are not"),
        pytest.param("locomo", "open_domain", "tea", "tea; she likes it", 1.0, id="locomo: gold ends at the semicolon"),
        pytest.param("locomo", "temporal", "tea", "tea; hot", 2 / 3, id="locomo: of open-domain questions alone"),
        pytest.param("locomo", "adversarial", "It is NOT mentioned.", "x", 1.0, id="locomo: phrase of refusal"),
        pytest.param("locomo", "adversarial", "unknown", "unknown", 0.0, id="locomo: other refusals are none"),
        pytest.param(
            "magma", "adversarial", "The unknown soldier", "x", 1.0, id="magma: unknown anywhere is a refusal"
        ),
        pytest.param("magma", "adversarial", "  N/A ", "x", 1.0, id="magma: a whole answer that is a refusal"),
        pytest.param("magma", "adversarial", "", "x", 1.0, id="magma: blank is a refusal"),
        pytest.param("magma", "adversarial", "x", "x", 0.0, id="magma: the gold does not matter"),
        pytest.param("magma", "adversarial", None, "x", None, id="magma: a missing answer is none"),
        pytest.param("himga", "adversarial", "tea", "tea", 1.0, id="himga: adversarial answers have their gold"),
        pytest.param("mem0", None, "tea", "tea", 1.0, id="rows without a type count"),
    ],
)
def test_f1_under_a_protocol(
    protocol: str, kind: str | None, prediction: str | None, gold: str, expected: float | None
) -> None:
    assert value(answer(kind, prediction, gold), protocol) == (expected and pytest.approx(expected))


def test_a_refusal_settles_every_metric() -> None:
    scores = score(answer("adversarial", "not found"), protocol="magma")
    assert set(scores.select("exact_match", "f1", "bleu4", "meteor").row(0)) == {1.0}


def test_types_that_do_not_count_are_left_out() -> None:
    rows = pl.concat([answer("temporal", "tea"), answer("adversarial", "tea")])
    assert score(rows, ["f1"], protocol="mem0")["question_type"].to_list() == ["temporal"]
    assert score(rows, ["f1"]).height == 2


def test_the_trap_is_the_gold_where_the_protocol_says_so() -> None:
    frame = answer("adversarial", TRAP, "Not mentioned in the conversation", adversarial_answer=[TRAP])
    assert value(frame, "a-mem") == 1.0
    assert value(frame, "himga") == 0.0
    assert score(frame, ["f1"], protocol="a-mem")["ground_truth"][0] == "Not mentioned in the conversation"


def test_a_row_without_a_trap_keeps_its_gold() -> None:
    frame = answer("adversarial", "No", "No", adversarial_answer=pl.Series([None], dtype=pl.String))
    assert value(frame, "a-mem") == 1.0


def test_a_file_that_has_the_trap_as_gold_needs_no_more() -> None:
    assert value(answer("adversarial", TRAP, TRAP), "a-mem") == 1.0


def test_where_the_trap_is_not_known_there_is_no_score() -> None:
    with pytest.warns(
        RunWarning, match="a-mem scores adversarial answers against .* 1 rows have no adversarial_answer"
    ):
        assert value(answer("adversarial", TRAP, "Not mentioned in the conversation"), "a-mem") is None


def test_a_frame_without_types_is_scored_by_the_default_variant() -> None:
    frame = pl.DataFrame({"prediction": ["cake"], "ground_truth": ["tea, cake"]})
    assert value(frame, "locomo") == pytest.approx(2 / 3)


def test_the_name_of_the_protocol_goes_with_the_scores(tmp_path: Path) -> None:
    path = tmp_path / "home.toml"
    path.write_text('title = "t"\nsource = "s"\nrevision = "1"\n[metrics]\nf1 = "squad"\n', encoding="utf-8")
    scores = score(answer("temporal", "the tea", "tea"), protocol=path)
    assert scores.select("protocol", "f1").row(0) == ("home", 1.0)


def test_a_protocol_that_has_a_judge_alone_says_so() -> None:
    with pytest.raises(InputError, match=r"protocol 'longmemeval' has no metric of the two texts; .* judge_score"):
        score(answer("multi_session", "tea", dataset=["longmemeval"]), protocol="longmemeval")


def test_an_undefined_metric_is_an_error() -> None:
    with pytest.raises(UnknownMetric, match="protocol 'memoryos' defines no other"):
        score(answer("temporal", "tea"), ["bleu1"], protocol="memoryos")


def test_the_default_is_what_score_gives_without_a_protocol() -> None:
    rows = pl.concat([answer("temporal", "tea"), answer("multi_hop", "cake and tea"), answer("adversarial", None)])
    assert_frame_equal(score(rows, protocol=load_protocol("himga")), score(rows))
