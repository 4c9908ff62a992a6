"""What voids a comparison, and what is only listed."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from himga_eval.comparable import DIFFERENCES, differing, require_comparable
from himga_eval.compare import compare
from himga_eval.errors import Incomparable


def run_of(run: str, **columns: Any) -> pl.DataFrame:
    frame = pl.DataFrame(
        {
            "run": run,
            "dataset": "locomo",
            "sample_id": ["conv-1", "conv-1", "conv-2", "conv-2"],
            "question_id": ["conv-1:0", "conv-1:1", "conv-2:0", "conv-2:1"],
            "question_type": ["temporal", "single_hop", "temporal", "adversarial"],
            "question": ["When?", "Who?", "Since when?", "Whose?"],
            "ground_truth": ["May", "Ann", "June", "Not mentioned in the conversation"],
            "prediction": ["May", "Bob", "July", "no idea"],
            "judge_score": [1.0, 0.0, 0.0, 1.0],
        }
    )
    return frame.with_columns(
        **{name: pl.Series(v) if isinstance(v, list) else pl.lit(v) for name, v in columns.items()}
    )


def differences(other: pl.DataFrame, **settings: dict[str, str]) -> pl.DataFrame:
    return differing(run_of("larch"), other, ["judge_score"], settings)


def test_equal_runs_differ_in_nothing() -> None:
    found = differences(run_of("wren"))
    assert found.schema == DIFFERENCES
    assert found.is_empty()


VOID = [
    pytest.param(
        run_of("wren").head(3),
        r"questions of locomo: has all / lacks 1 \(adversarial\): conv-2:1",
        id="a question less",
    ),
    pytest.param(
        run_of("wren", prediction=["May", "Bob", "July", None]), r"lacks 1 \(adversarial\)", id="a type not attempted"
    ),
    pytest.param(run_of("wren", dataset="mine"), "data sets: locomo / mine", id="another data set"),
    pytest.param(
        run_of("wren", ground_truth=["May", "Ann", "7 June", "Not mentioned in the conversation"]),
        "ground_truth: 1 differ, the first is conv-2:0: 'June' / '7 June'",
        id="another gold",
    ),
    pytest.param(
        run_of("wren", question=["When?", "Who?", "Since?", "Whose?"]), "question: 1 differ", id="another question"
    ),
    pytest.param(
        run_of("wren", question_type=["temporal", "multi_hop", "temporal", "adversarial"]),
        "question_type: 1 differ",
        id="another type",
    ),
    pytest.param(run_of("wren", protocol="mem0"), "protocol: himga / mem0", id="another protocol"),
    pytest.param(
        run_of("wren", judge_score=[100.0, 0, 40, 100]),
        "scores of judge_score: in its range / 3 outside its range, the first 100 of conv-1:0",
        id="a score in percent",
    ),
]


@pytest.mark.parametrize(("other", "reason"), VOID)
def test_what_voids_a_comparison(other: pl.DataFrame, reason: str) -> None:
    with pytest.raises(Incomparable, match=f"larch and wren are not comparable; .*{reason}.*--force"):
        compare(run_of("larch"), other)


@pytest.mark.parametrize("other", [p.values[0] for p in VOID if p.id not in ("another data set",)])
def test_force_compares_all_the_same(other: pl.DataFrame) -> None:
    assert compare(run_of("larch"), other, force=True).height


def test_what_one_run_does_not_say_is_no_difference() -> None:
    assert differences(run_of("wren", question=[None] * 4, ground_truth=["May", None, "June", None])).is_empty()


def test_judges_are_told_apart_by_the_columns_of_judgements() -> None:
    larch = run_of("larch", judge_model="haiku", prompt_hash="a1")
    with pytest.raises(Incomparable, match="judge_model: haiku / opus; prompt_hash: a1 / b2"):
        compare(larch, run_of("wren", judge_model="opus", prompt_hash="b2"))
    with_f1 = [frame.with_columns(f1=0.5) for frame in (larch, run_of("wren", judge_model="opus", prompt_hash="a1"))]
    assert compare(*with_f1, metrics=["f1"]).height  # which no judge has touched


@pytest.mark.parametrize(
    ("ours", "theirs", "voids"),
    [
        pytest.param({"dataset.locomo": "a1"}, {"dataset.locomo": "b2"}, True, id="revision of the data set"),
        pytest.param({"protocol.himga": "a1"}, {"protocol.himga": "b2"}, True, id="revision of the protocol"),
        pytest.param({"judge.model": "haiku"}, {"judge.model": "opus"}, True, id="judge model"),
        pytest.param({"judge_score.prompts": "a1"}, {"judge_score.prompts": "b2"}, True, id="judge prompts"),
        pytest.param({"judge.model": "haiku"}, {}, False, id="unknown of one"),
        pytest.param({"bert.layer": "17"}, {"bert.layer": "5"}, False, id="setting of a metric that is not compared"),
        pytest.param({"judge.concurrency": "8"}, {"judge.concurrency": "2"}, False, id="what changes no verdict"),
        pytest.param({"agent.k": "5"}, {"agent.k": "10"}, False, id="setting of the agent"),
        pytest.param({"version.polars": "2.1"}, {"version.polars": "2.2"}, False, id="version"),
    ],
)
def test_settings_that_differ_are_listed_and_some_void(
    ours: dict[str, str], theirs: dict[str, str], voids: bool
) -> None:
    found = differences(run_of("wren"), larch=ours, wren=theirs)
    name = next(iter(ours))
    assert found.select("setting", "base_value", "value", "voids").rows() == [
        (name, ours[name], theirs.get(name, "unknown"), voids)
    ]
    if voids:
        with pytest.raises(Incomparable, match=name):
            require_comparable(found)
    else:
        require_comparable(found)


def test_a_run_with_a_further_data_set_is_compared_on_what_both_have() -> None:
    more = run_of("wren", dataset="mine", question_type="own").with_columns(question_id=pl.col("question_id") + "x")
    found = compare(run_of("larch"), pl.concat([run_of("wren"), more]))
    assert found["dataset"].unique().to_list() == ["locomo"]
