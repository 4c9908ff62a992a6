"""Judging under a protocol: its modes, its phrases of refusal, the questions it counts."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from himga_eval.errors import InputError
from himga_eval.judge import estimate, judge_frame
from himga_eval.judge.answers import with_scores
from himga_eval.judge.modes import UnknownMode, get_mode
from himga_eval.protocols import load_protocol, names

MODES = {name: protocol.judge.modes for name in names() if (protocol := load_protocol(name)).judge}


class Judge:
    """Calls every answer correct, on whatever scale it is asked for."""

    model = "a judge for tests"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def chat(self, messages: list[dict[str, str]], **more: Any) -> str:
        text = messages[-1]["content"]
        self.asked.append("\n".join(message["content"] for message in messages))
        return '{"reasoning": "x", "score": 1.0}' if '"score"' in text else '{"reasoning": "x", "correct": true}'


def answers(*rows: tuple[str, str], **columns: object) -> pl.DataFrame:
    kinds, predictions = zip(*rows, strict=True)
    return pl.DataFrame(
        {
            "question_id": [f"q{i}" for i in range(len(rows))],
            "question_type": kinds,
            "question": "What?",
            "ground_truth": "tea",
            "prediction": predictions,
        }
        | columns
    )


def judged(frame: pl.DataFrame, protocol: str, **how: Any) -> pl.DataFrame:
    return judge_frame(frame, Judge(), cache=None, protocol=protocol, show_progress=False, **how)


@pytest.mark.parametrize(
    ("protocol", "kind", "mode"),
    [
        pytest.param("mem0", "temporal", "generous", id="mem0"),
        pytest.param("memos", "open_domain", "generous", id="memos"),
        pytest.param("magma", "temporal", "continuous", id="magma on LoCoMo"),
        pytest.param("magma", "knowledge_update", "knowledge_update", id="magma on LongMemEval"),
        pytest.param("longmemeval", "multi_session", "default_binary", id="longmemeval"),
        pytest.param("himga", "temporal", "continuous", id="himga"),
    ],
)
def test_a_protocol_chooses_the_mode(protocol: str, kind: str, mode: str) -> None:
    assert judged(answers((kind, "cake")), protocol)["mode"].to_list() == [mode]


@pytest.mark.parametrize(
    ("protocol", "mode"),
    [
        pytest.param("longmemeval", "abstention", id="rubric of its own"),
        pytest.param("magma", "default_binary", id="none"),
    ],
)
def test_unanswerable_questions_of_longmemeval(protocol: str, mode: str) -> None:
    frame = answers(("multi_session", "cake"), question_id=["q_abs"])
    assert judged(frame, protocol)["mode"].to_list() == [mode]


@pytest.mark.parametrize("protocol", MODES)
def test_the_modes_of_every_protocol_exist(protocol: str) -> None:
    assert all(get_mode(mode) for mode in MODES[protocol].values())


def test_our_own_protocol_says_what_auto_does() -> None:
    assert MODES["himga"]["adversarial"] == "adversarial"
    kinds = [kind for kind in MODES["himga"] if kind not in ("default", "abstention")]
    frame = answers(*((kind, "cake") for kind in kinds))
    assert judged(frame, "himga")["mode"].to_list() == [MODES["himga"][kind] for kind in kinds]


@pytest.mark.parametrize(
    ("protocol", "prediction", "score"),
    [
        pytest.param("magma", "the unknown soldier", 1.0, id="magma: unknown anywhere"),
        pytest.param("himga", "the unknown soldier", 0.0, id="himga: an answer"),
        pytest.param("magma", "I have no clue.", 0.0, id="magma: no phrase of its list"),
        pytest.param("himga", "I have no clue.", 1.0, id="himga: a refusal"),
    ],
)
def test_adversarial_answers_go_by_the_protocols_phrases(protocol: str, prediction: str, score: float) -> None:
    row = judged(answers(("adversarial", prediction)), protocol).row(0, named=True)
    assert (row["score"], row["judge_model"]) == (score, "rule")


def test_questions_that_do_not_count_are_not_asked() -> None:
    frame = answers(("adversarial", "cake"), ("temporal", "cake"))
    judge = Judge()
    judgements = judge_frame(frame, judge, cache=None, protocol="mem0", show_progress=False)
    assert judgements["row"].to_list() == [1]
    assert len(judge.asked) == 1
    assert with_scores(frame, judgements)["judge_score"].to_list() == [None, 1.0]
    assert estimate(frame, judge, cache=None, protocol="mem0").calls == 1


def test_the_generous_rubric_asks_for_yes_or_no() -> None:
    judge = Judge()
    judge_frame(answers(("temporal", "cake")), judge, cache=None, protocol="mem0", show_progress=False)
    assert "Be lenient" in judge.asked[0]
    assert '"correct": true or false' in judge.asked[0]


def test_a_protocol_without_a_judge_is_an_error() -> None:
    with pytest.raises(InputError, match="protocol 'squad' has no judge; it defines: exact_match, f1"):
        judged(answers(("temporal", "cake")), "squad")


def test_a_mode_that_does_not_exist_is_an_error(tmp_path: Any) -> None:
    path = tmp_path / "home.toml"
    head = 'title = "t"\nsource = "s"\nrevision = "1"\n'
    path.write_text(head + '[judge]\nmodes = "strict"\nscale = "0 or 1"\nreply = "yes"\n', encoding="utf-8")
    with pytest.raises(UnknownMode, match="no mode 'strict'"):
        judged(answers(("temporal", "cake")), path)
