"""The rows behind a summary are those that the summary counts."""

from __future__ import annotations

import polars as pl
import pytest

from himga_eval.cuts import in_cuts, shared_metrics, strict_rows
from himga_eval.errors import InputError
from himga_eval.schema import results_frame
from himga_eval.scoring import summarise


def rows(scores: list[float | None], predictions: list[str | None]) -> pl.DataFrame:
    base = {"question_type": "temporal", "ground_truth": "Rome"}
    columns = {"prediction": predictions, "judge_score": pl.Series(scores, dtype=pl.Float64)}
    return results_frame(pl.DataFrame(columns).with_columns(**{name: pl.lit(text) for name, text in base.items()}))


@pytest.mark.parametrize(
    ("scores", "predictions", "mean"),
    [
        pytest.param([1.0, None], ["Rome", None], 0.5, id="a missing answer is 0"),
        pytest.param([1.0, None], ["Rome", "Oslo"], 1.0, id="a failed judgement is in no mean"),
        pytest.param([None, None], ["Rome", None], None, id="a metric without a score is not given"),
        pytest.param([None, None], [None, None], None, id="nothing was attempted"),
    ],
)
def test_the_mean_of_the_rows_is_that_of_the_summary(
    scores: list[float | None], predictions: list[str | None], mean: float | None
) -> None:
    frame = rows(scores, predictions)
    overall = in_cuts(strict_rows(frame, ["judge_score"])).filter(question_type="overall")
    assert overall["judge_score"].mean() == mean
    assert summarise(frame).filter(question_type="overall")["mean"].to_list() == ([mean] if overall.height else [])


def test_metrics_of_several_frames_are_checked_in_each() -> None:
    frame = rows([1.0], ["Rome"])
    assert shared_metrics([frame, frame], None) == ["judge_score"]
    assert shared_metrics([frame, frame], ["judge_score"] * 2) == ["judge_score"]
    with pytest.raises(InputError, match="column 'judge_score' is String"):
        shared_metrics([frame, frame.with_columns(judge_score=pl.lit("good"))], None)
    with pytest.raises(InputError, match=r"write \['judge_score'\]"):
        shared_metrics([frame], "judge_score")
