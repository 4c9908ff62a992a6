"""Protocols in words."""

from __future__ import annotations

import pytest

from himga_eval.protocols import described, differences, leaves_out, load_protocol, names


@pytest.mark.parametrize("name", names())
def test_every_protocol_is_told_whole(name: str) -> None:
    told = described(load_protocol(name))
    assert {"protocol", "source", "known", "judge", "averages", "hash"} <= set(told)
    assert all(lines and all(lines) for lines in told.values())


@pytest.mark.parametrize(
    ("name", "heading", "line"),
    [
        pytest.param("mem0", "called otherwise", "'Single-Hop' is multi_hop", id="labels"),
        pytest.param("mem0", "left out", "adversarial", id="types left out"),
        pytest.param("locomo", "golds", "that of open_domain ends at ';'", id="golds"),
        pytest.param("a-mem", "adversarial answers", "scored against the answer they are to be lured into", id="trap"),
        pytest.param("magma", "adversarial answers", "1 where they hold one of 12 phrases, else 0", id="phrases"),
        pytest.param("squad", "judge", "none", id="no judge"),
    ],
)
def test_a_line(name: str, heading: str, line: str) -> None:
    assert line in described(load_protocol(name))[heading]


@pytest.mark.parametrize("name", ["magma", "mem0", "longmemeval", "memos"])
def test_a_judge_says_that_its_rubric_is_in_our_words(name: str) -> None:
    assert any("rubric is in our words" in line for line in described(load_protocol(name))["judge"])


@pytest.mark.parametrize(
    ("one", "other", "metrics", "expected"),
    [
        pytest.param("himga", "himga", ["f1", "judge_score"], [], id="the same"),
        pytest.param("a-mem", "magma", ["bleu1"], ["adversarial answers are"], id="adversarial answers"),
        pytest.param("mem0", "memos", ["f1"], ["f1 is set in mem0, nltk_word_set in memos"], id="variant"),
        pytest.param("mem0", "memoryos", ["bleu1"], ["bleu1 is not defined by memoryos"], id="undefined"),
        pytest.param("himga", "mem0", [], ["mem0 leaves out adversarial"], id="types"),
        pytest.param("magma", "longmemeval", ["judge_score"], ["judge_score is on 0 to 1"], id="scale of the judge"),
    ],
)
def test_differences(one: str, other: str, metrics: list[str], expected: list[str]) -> None:
    told = differences(load_protocol(one), load_protocol(other), metrics)
    assert len(told) == len(expected)
    assert all(line.startswith(start) for line, start in zip(told, expected, strict=True))


def test_a_protocol_for_all_types_leaves_none_out() -> None:
    assert leaves_out(load_protocol("himga")) == []
    assert leaves_out(load_protocol("longmemeval")) == []
