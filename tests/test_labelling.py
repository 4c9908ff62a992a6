"""Which answers a person should look at."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from himga_eval.errors import InputError
from himga_eval.labelling import draw, probabilities, worth_labelling


def answers(count: int = 100) -> pl.DataFrame:
    """Every tenth verdict is contradicted by the words."""
    return pl.DataFrame(
        {
            "run": "larch",
            "dataset": "locomo",
            "sample_id": [f"conv-{i % 5}" for i in range(count)],
            "question_id": [f"conv-{i % 5}:{i}" for i in range(count)],
            "question_type": "temporal",
            "question": "When?",
            "prediction": ["May"] * (count - 1) + [None],
            "ground_truth": "June",
            "judge_score": [float(i % 2) for i in range(count)],
            "f1": [float(i % 2 if i % 10 else 1 - i % 2) for i in range(count)],
        }
    )


def test_a_person_sees_what_it_takes_to_label() -> None:
    drawn = worth_labelling(answers(), 10)
    assert drawn.columns == [
        *("run", "dataset", "sample_id", "question_id", "question_type", "question", "ground_truth", "prediction"),
        *("judge_score", "probability", "human"),
    ]
    assert drawn.height == 10
    assert drawn["human"].null_count() == 10
    assert drawn["prediction"].null_count() == 0


def test_doubtful_answers_are_likelier_and_no_answer_is_out_of_reach() -> None:
    counts = pl.concat(worth_labelling(answers(), 10, seed=seed) for seed in range(60))
    doubtful = counts["question_id"].str.split(":").list.last().cast(pl.Int64).is_in(range(0, 100, 10))
    assert doubtful.mean() > 0.5  # one in ten of all
    assert counts["question_id"].n_unique() > 60


@pytest.mark.parametrize(
    ("column", "values"),
    [
        pytest.param("judge_score", [0.4, 0.0, 1.0, 1.0], id="neither right nor wrong"),
        pytest.param("judge_score_2", [1.0, 1.0, 0.0, 0.0], id="repeats disagree"),
    ],
)
def test_other_doubts(column: str, values: list[float]) -> None:
    frame = answers(5).head(4).with_columns(judge_score=pl.Series([1.0, 0.0, 0.0, 0.0])).drop("f1")
    frame = frame.with_columns(judge_score_1=pl.col("judge_score")) if column != "judge_score" else frame
    frame = frame.with_columns(pl.Series(column, values))
    chances = dict(worth_labelling(frame, 3).select("question_id", "probability").iter_rows())
    likeliest = max(chances.values())
    assert [i for i in range(4) if chances.get(f"conv-{i}:{i}") == likeliest] in ([0], [1])


def test_the_draw_is_the_same_every_time() -> None:
    assert worth_labelling(answers(), 10).equals(worth_labelling(answers(), 10))
    assert not worth_labelling(answers(), 10).equals(worth_labelling(answers(), 10, seed=1))


@given(st.lists(st.floats(0.01, 5), min_size=1, max_size=40), st.data())
def test_probabilities_add_up_and_follow_size(sizes: list[float], data: st.DataObject) -> None:
    count = data.draw(st.integers(1, len(sizes)))
    found = probabilities(np.array(sizes), count)
    assert found.sum() == pytest.approx(count)
    assert found.max() <= 1
    assert (np.diff(found[np.argsort(sizes)]) >= -1e-12).all()
    assert draw(found, np.random.default_rng(0)).sum() == count


def test_each_row_is_drawn_with_its_probability() -> None:
    chances = probabilities(np.array([1.0, 2.0, 3.0, 10.0]), 2)
    generator = np.random.default_rng(0)
    shares = np.mean([draw(chances, generator) for _ in range(4000)], axis=0)
    assert shares == pytest.approx(chances, abs=0.03)


@pytest.mark.parametrize("count", [0, 100, -1])
def test_as_many_as_there_are(count: int) -> None:
    with pytest.raises(InputError, match=f"count={count}: there are 99 answers with a judge_score"):
        worth_labelling(answers(), count)
