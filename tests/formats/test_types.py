from __future__ import annotations

from itertools import chain, repeat

import polars as pl
import pytest

from himga_eval.formats.types import compare_types, meaning, with_official_types


@pytest.mark.parametrize(
    ("label", "dataset", "expected"),
    [
        ("1", "locomo", "multi_hop"),
        ("2", "locomo", "temporal"),
        ("3", "locomo", "open_domain"),
        ("4", "locomo", "single_hop"),
        (" 5.0 ", "locomo", "adversarial"),
        ("6", "locomo", "6"),
        ("Multi-Hop", "locomo", "multi_hop"),
        ("1", "longmemeval", "1"),
        ("Single-Session-User ", "longmemeval", "single_session_user"),
        ("1", "my-own", "1"),
        ("Free Text", "my-own", "Free Text"),
    ],
)
def test_meaning_of_a_label(label: str, dataset: str, expected: str) -> None:
    assert meaning(label, dataset) == expected


@pytest.mark.parametrize(
    ("labels", "official"),
    [
        pytest.param(["1", "5", None], ["multi_hop", "adversarial", None], id="numbers"),
        pytest.param(["2.0", "single-hop"], ["temporal", "single_hop"], id="numbers-and-names"),
        pytest.param(["1", "cooking"], ["1", "cooking"], id="types-of-ones-own"),
        pytest.param(["1", "9"], ["1", "9"], id="other-numbers"),
    ],
)
def test_numbers_get_their_names_where_all_are_locomos(labels: list[str | None], official: list[str | None]) -> None:
    assert with_official_types(pl.DataFrame({"question_type": labels}))["question_type"].to_list() == official


def compared(*pairs: tuple[str | None, str, int]) -> tuple[list[str | None], dict[str, str], list[str]]:
    """Compare rows given as the file's label, the data set's type and how many there are of them."""
    labels = list(chain.from_iterable(repeat((label, ours), count) for label, ours, count in pairs))
    frame = pl.DataFrame(labels, schema={"file_question_type": pl.String, "question_type": pl.String}, orient="row")
    frame = frame.with_columns(dataset=pl.lit("locomo"), question_id=pl.int_range(pl.len()).cast(pl.String))
    frame, naming, slips = compare_types(frame)
    return frame["file_question_type"].to_list(), naming, slips


def test_the_same_types_leave_nothing() -> None:
    assert compared(("4", "single_hop", 2), ("Multi-Hop", "multi_hop", 1), (None, "temporal", 1)) == (
        [None] * 4,
        {},
        [],
    )


def test_a_single_other_type_is_a_slip() -> None:
    kept, naming, slips = compared(("single_hop", "single_hop", 20), ("single_hop", "temporal", 1))
    assert (kept, naming, slips) == ([None] * 20 + ["single_hop"], {}, ["20"])


def test_other_names_throughout_are_a_scheme() -> None:
    kept, naming, slips = compared(
        ("single_hop", "multi_hop", 3),
        ("multi_hop", "open_domain", 2),
        ("temporal", "temporal", 2),
        ("world", "single_hop", 1),
    )
    assert naming == {"single_hop": "multi_hop", "multi_hop": "open_domain", "world": "single_hop"}
    assert kept == ["single_hop"] * 3 + ["multi_hop"] * 2 + [None] * 2 + ["world"]
    assert slips == []


def test_slips_within_a_scheme_are_told_apart() -> None:
    kept, naming, slips = compared(("single_hop", "multi_hop", 19), ("single_hop", "single_hop", 1))
    assert (naming, slips) == ({"single_hop": "multi_hop"}, ["19"])
    assert kept == ["single_hop"] * 19 + [None]


def test_a_label_without_a_meaning_is_no_scheme() -> None:
    kept, naming, slips = compared(("hard", "multi_hop", 2), ("hard", "temporal", 2))
    assert (kept, naming, slips) == (["hard"] * 4, {}, ["0", "1", "2", "3"])


def test_a_name_for_a_few_of_a_type_is_a_slip_even_if_for_nothing_else() -> None:
    assert compared(("4", "single_hop", 9), ("2", "single_hop", 1)) == ([None] * 9 + ["2"], {}, ["9"])
