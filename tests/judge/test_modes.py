"""Which question is judged how."""

from __future__ import annotations

import polars as pl
import pytest

from himga_eval.errors import InputError
from himga_eval.judge import MODES, Mode, register_mode
from himga_eval.judge.modes import UnknownMode, with_mode
from himga_eval.schema import QUESTION_TYPES, results_frame


def modes(question_type: str | None, question_id: str = "q", mode: str = "auto", **columns: str) -> list[str]:
    frame = pl.DataFrame(
        {"question_type": [question_type], "question_id": [question_id], "ground_truth": ["g"], "prediction": ["p"]}
        | {name: [value] for name, value in columns.items()},
        schema_overrides={"question_type": pl.String},
    )
    found: list[str] = with_mode(results_frame(frame), mode)["mode"].to_list()
    return found


@pytest.mark.parametrize(
    ("question_type", "question_id", "mode"),
    [
        ("single_hop", "conv-26:1", "continuous"),
        ("multi_hop", "conv-26:1", "continuous"),
        ("temporal", "conv-26:1", "continuous"),
        ("open_domain", "conv-26:1", "continuous"),
        ("adversarial", "conv-26:1", "adversarial"),
        ("temporal-reasoning", "8f2a", "temporal_reasoning"),
        ("knowledge-update", "8f2a", "knowledge_update"),
        ("single-session-preference", "8f2a", "preference"),
        ("single-session-user", "8f2a", "default_binary"),
        ("single-session-assistant", "8f2a", "default_binary"),
        ("multi-session", "8f2a", "default_binary"),
        pytest.param("multi-session", "1a2b3c4d_abs", "abstention", id="abstention goes by the id"),
        pytest.param("temporal-reasoning", "1a2b_abs", "abstention", id="whatever the type"),
        pytest.param("multi-session", "8f2a_abstract", "default_binary", id="the id's end, not its middle"),
        pytest.param("single_hop", "q_abs", "continuous", id="a LongMemEval type only"),
        pytest.param(None, "q", "continuous", id="no type"),
    ],
)
def test_auto(question_type: str | None, question_id: str, mode: str) -> None:
    assert modes(question_type, question_id) == [mode]


def test_every_question_type_has_a_mode_of_its_own() -> None:
    routed = {kind for mode in MODES.values() for kind in mode.question_types}
    assert routed == set(QUESTION_TYPES["locomo"]) | set(QUESTION_TYPES["longmemeval"])


def test_a_type_of_your_own_is_judged_by_steps() -> None:
    assert modes("riddle", dataset="mine") == ["continuous"]


def test_a_given_mode_is_for_all() -> None:
    assert modes("adversarial", mode="continuous") == ["continuous"]


def test_an_unknown_mode_is_an_error_that_lists_those_there_are() -> None:
    with pytest.raises(UnknownMode, match=r"no mode 'continous'; did you mean 'continuous'\?.*default_binary"):
        modes("single_hop", mode="continous")


def test_a_mode_of_your_own_is_used_for_its_types(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("himga_eval.judge.modes.MODES", dict(MODES))
    register_mode(Mode("riddles", (0.0, 0.5, 1.0), ("riddle",)))
    assert modes("riddle", dataset="mine") == ["riddles"]


@pytest.mark.parametrize("scale", [(1.0,), (0.0, 5.0), (-1.0, 1.0), (0.0, float("nan"))])
def test_a_scale_lies_within_0_and_1(scale: tuple[float, ...]) -> None:
    with pytest.raises(InputError, match="two steps or more within"):
        register_mode(Mode("odd", scale))
