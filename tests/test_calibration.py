"""A judge corrected by people, against ppi-python and truescore, and its coverage by simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from himga_eval import stats
from himga_eval.calibration import CALIBRATION, Corrected, calibrate, corrected_mean
from himga_eval.errors import DuplicateRows, InputError, RunWarning
from himga_eval.labelling import worth_labelling
from himga_eval.stats import Codes, Floats


def draw(generator: np.random.Generator, rows: int, labelled: int) -> tuple[Floats, Floats]:
    """A lenient judge of answers of which three in five are right, and labels on some."""
    truth = (generator.random(rows) < 0.6).astype(float)
    judge = np.where(generator.random(rows) < np.where(truth == 1, 0.95, 0.3), 1.0, 0.0)
    human = np.full(rows, np.nan)
    chosen = generator.choice(rows, labelled, replace=False)
    human[chosen] = truth[chosen]
    return judge, human


def corrected(judge: Floats, human: Floats, clusters: Codes | None = None) -> Corrected:
    groups = np.arange(len(judge)) if clusters is None else clusters
    return corrected_mean(judge, human, groups, np.full(len(judge), np.mean(~np.isnan(human))))


@pytest.mark.parametrize("seed", range(5))
def test_estimate_and_interval_are_truescores(seed: int) -> None:
    oracle = pytest.importorskip("truescore.correct")
    judge, human = draw(np.random.default_rng(seed), 4000, 600)
    index = np.flatnonzero(~np.isnan(human))
    expected = oracle.ppi_estimate(judge, human[index], index)
    found = corrected(judge, human)
    assert found.value == pytest.approx(expected.point, abs=1e-12)
    # Its weight is of the mean over unlabelled rows, ours of the mean over all.
    assert found.weight * (4000 - 600) / 4000 == pytest.approx(expected.lambda_, abs=1e-12)
    assert found.hi - found.lo == pytest.approx(expected.high - expected.low, rel=0.02)


def test_clusters_widen_the_interval_as_in_truescore() -> None:
    oracle = pytest.importorskip("truescore.correct")
    generator = np.random.default_rng(8)
    clusters = np.repeat(np.arange(80), 25)
    shares = np.clip(0.6 + generator.normal(0, 0.2, 80), 0, 1)[clusters]
    truth = (generator.random(2000) < shares).astype(float)
    judge = np.where(generator.random(2000) < np.where(truth == 1, 0.95, 0.3), 1.0, 0.0)
    human = np.where(clusters < 30, truth, np.nan)  # whole clusters, which is what truescore takes
    index = np.flatnonzero(clusters < 30)
    expected = oracle.ppi_estimate(judge, human[index], index, clusters=clusters)
    found, naive = corrected(judge, human, clusters), corrected(judge, human)
    assert found.value == pytest.approx(expected.point, abs=1e-12)
    assert found.hi - found.lo == pytest.approx(expected.high - expected.low, rel=0.1)
    assert found.hi - found.lo > 1.5 * (naive.hi - naive.lo)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_estimate_and_interval_are_those_of_ppi_python() -> None:
    oracle = pytest.importorskip("ppi_py")
    judge, human = draw(np.random.default_rng(0), 4000, 600)
    known = ~np.isnan(human)
    sides = human[known], judge[known], judge[~known]
    found = corrected(judge, human)
    assert found.value == pytest.approx(float(np.squeeze(oracle.ppi_mean_pointestimate(*sides))), abs=1e-12)
    low, high = (float(np.squeeze(bound)) for bound in oracle.ppi_mean_ci(*sides, alpha=0.05))
    assert (found.lo, found.hi) == pytest.approx((low, high), abs=0.001)


def test_a_useless_judge_does_no_harm() -> None:
    generator = np.random.default_rng(2)
    judge, human = generator.integers(0, 2, 3000).astype(float), np.full(3000, np.nan)
    human[:300] = generator.integers(0, 2, 300)
    found = corrected(judge, human)
    alone = stats.mean_interval(human[:300], np.arange(300))
    assert found.weight < 0.2
    assert found.hi - found.lo < 1.03 * (alone.hi - alone.lo)


def test_a_good_judge_narrows_the_interval() -> None:
    judge, human = draw(np.random.default_rng(1), 3000, 150)
    alone = stats.mean_interval(human[~np.isnan(human)], np.arange(150))
    found = corrected(judge, human)
    assert found.hi - found.lo < 0.85 * (alone.hi - alone.lo)
    assert found.lo < 0.6 < found.hi
    assert not found.lo < judge.mean() < found.hi


def test_a_judge_that_never_erred_on_a_few_labels_is_not_taken_to_be_perfect() -> None:
    judge = np.array([1.0, 0.0] * 100)
    human = np.where(np.arange(200) < 20, judge, np.nan)
    plain = stats.mean_interval(judge, np.arange(200))
    found = corrected(judge, human)
    assert found.value == pytest.approx(0.5, abs=0.01)
    assert found.hi - found.lo > 1.5 * (plain.hi - plain.lo)


def test_labels_on_one_cluster_give_no_interval() -> None:
    judge, human = np.array([1.0, 0.0] * 10), np.full(20, np.nan)
    human[:3] = [1, 1, 0]
    found = corrected_mean(judge, human, np.arange(20) // 10, np.full(20, 0.15))
    assert (found.lo, found.hi) == (None, None)


def answers(count: int = 40, **columns: Any) -> pl.DataFrame:
    places = range(count)
    return pl.DataFrame(
        {
            "run": "larch",
            "dataset": "locomo",
            "sample_id": [f"conv-{i % 4}" for i in places],
            "question_id": [f"conv-{i % 4}:{i}" for i in places],
            "question_type": ["temporal" if i % 2 else "single_hop" for i in places],
            "prediction": "x",
            "ground_truth": "y",
            "judge_score": [float(i % 4 != 0) for i in places],
        }
    ).with_columns(**{name: pl.Series(values) for name, values in columns.items()})


def labels(scores: pl.DataFrame, human: list[str | None]) -> pl.DataFrame:
    return scores.head(len(human)).select("question_id", human=pl.Series(human, dtype=pl.String))


def test_every_type_and_cut_is_corrected_on_its_own() -> None:
    scores = answers()
    found = calibrate(scores, labels(scores, ["wrong", "right", "wrong", "right"] * 3 + ["AMBIGUOUS", ""]))
    assert found.schema == CALIBRATION
    assert found["question_type"].to_list() == ["single_hop", "temporal", "overall", "answerable"]
    temporal, overall = (
        found.row(by_predicate=pl.col("question_type") == kind, named=True) for kind in ("temporal", "overall")
    )
    assert (temporal["judge_mean"], temporal["mean"], temporal["bias"]) == (1, 1, 0)
    assert (overall["labelled"], overall["left_out"], overall["count"], overall["clusters"]) == (12, 1, 40, 4)
    assert overall["judge_mean"] == 0.75
    assert overall["mean"] == pytest.approx(0.75 - overall["bias"])
    assert overall["bias"] == pytest.approx(0.25, abs=0.05)
    assert 0 <= overall["lo"] <= overall["mean"] <= overall["hi"] <= 1


def test_a_type_without_labels_is_unknown() -> None:
    scores = answers()
    found = calibrate(scores, scores.filter(question_type="temporal").head(6).select("question_id", human=pl.lit("1")))
    single = found.row(by_predicate=pl.col("question_type") == "single_hop", named=True)
    assert (single["judge_mean"], single["mean"], single["lo"], single["labelled"]) == (0.5, None, None, 0)


def test_a_missing_answer_is_wrong_without_being_labelled() -> None:
    scores = answers(prediction=["x"] * 20 + [None] * 20)
    found = calibrate(scores, labels(scores, ["right"] * 20)).row(
        by_predicate=pl.col("question_type") == "overall", named=True
    )
    assert found["judge_mean"] == 0.375
    assert found["mean"] == pytest.approx(0.5)  # every answer is right, half are missing


def test_labels_drawn_with_unequal_probability_are_weighted_back() -> None:
    generator = np.random.default_rng(0)
    means = []
    for seed in range(40):
        truth = generator.random(400) < 0.5
        judge = np.where(generator.random(400) < 0.25, ~truth, truth).astype(float)
        scores = answers(400, judge_score=judge, f1=np.where(truth, 0.9, 0.1))
        drawn = worth_labelling(scores, 80, seed=seed)
        told = drawn.join(scores.select("question_id", truth=pl.Series(truth.astype(float))), on="question_id")
        overall = calibrate(scores, told.with_columns(human="truth").drop("run")).filter(question_type="overall")
        means.append(overall["mean"][0] - truth.mean())
    assert abs(np.mean(means)) < 0.02  # 40 draws of a deviation of .04


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        pytest.param(pl.DataFrame({"id": ["a"]}), InputError, "labels have no column 'question_id'", id="no id"),
        pytest.param(pl.DataFrame({"question_id": ["a"]}), InputError, "labels have no column 'human'", id="no label"),
        pytest.param(
            pl.DataFrame({"question_id": ["conv-0:0"] * 2, "human": ["1", "0"]}),
            DuplicateRows,
            "more than once",
            id="twice",
        ),
        pytest.param(
            pl.DataFrame({"question_id": ["conv-0:0"], "human": ["?"]}),
            InputError,
            "no human label can be used",
            id="unclear",
        ),
        pytest.param(
            pl.DataFrame({"question_id": ["conv-0:0"], "human": ["1"], "probability": [0.0]}),
            InputError,
            "probability 0.0 of conv-0:0 is not above 0",
            id="probability",
        ),
    ],
)
def test_bad_labels_are_told(given: pl.DataFrame, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        calibrate(answers(), given)


def test_labels_do_not_say_of_which_run_they_are() -> None:
    runs = pl.concat([answers(), answers().with_columns(run=pl.lit("wren"))])
    with pytest.raises(InputError, match="labels without a column run, and 2 runs: larch, wren"):
        calibrate(runs, labels(answers(), ["1"]))


def test_labels_of_strangers_are_told() -> None:
    given = pl.DataFrame({"question_id": ["conv-0:0", "conv-1:1", "conv-9:9"], "human": ["0", "1", "1"]})
    with pytest.warns(RunWarning, match="1 labels are of questions not there: conv-9:9"):
        calibrate(answers(), given)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["at random", "by doubt"])
@pytest.mark.parametrize(("clusters", "rows", "labelled"), [(10, 84, 60), (10, 154, 150), (500, 1, 60)])
def test_the_interval_covers_what_it_says(clusters: int, rows: int, labelled: int, how: str) -> None:
    from himga_eval.labelling import FLOOR, draw, probabilities

    generator = np.random.default_rng(3)
    covered = 0
    for _ in range(1500):
        sizes = generator.integers(rows // 2 + rows % 2, rows * 3 // 2 + 1, clusters)
        groups = np.repeat(np.arange(clusters), sizes)
        shares = np.clip(0.6 + generator.normal(0, 0.1 if rows > 1 else 0, clusters), 0.02, 0.98)[groups]
        truth = (generator.random(len(groups)) < shares).astype(float)
        judge = np.where(generator.random(len(groups)) < np.where(truth == 1, 0.92, 0.35), 1.0, 0.0)
        doubt = np.where(judge != truth, 0.3 + 0.7 * generator.random(len(groups)), 0.5 * generator.random(len(groups)))
        sure = np.ones(len(groups)) if how == "at random" else doubt + FLOOR * doubt.mean()
        probability = probabilities(sure, labelled)
        chosen = draw(probability, generator)
        human = np.where(chosen, truth, np.nan)
        found = corrected_mean(judge, human, groups, probability)
        covered += found.lo <= 0.6 <= found.hi
    assert covered / 1500 >= 0.92
