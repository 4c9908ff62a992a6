from __future__ import annotations

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from himga_eval.errors import DuplicateRows
from himga_eval.formats import join_run

TEXTS = ["Why?", "why?", "Who?", "Where is Ada?", "where  is ada?", "When did it rain?"]
SAMPLES = st.dictionaries(
    st.sampled_from(["a", "b", "c"]), st.lists(st.sampled_from(TEXTS), min_size=1, max_size=8), min_size=1
)


def frames(samples: dict[str, list[str]], order: list[str], named: bool) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Build the questions, and an answer to each of them that says which one it belongs to."""
    rows = [(name, f"{name}:{i}", text) for name, texts in samples.items() for i, text in enumerate(texts)]
    asked = pl.DataFrame(rows, schema=["sample_id", "question_id", "question"], orient="row")
    answers = pl.concat(asked.filter(sample_id=name) for name in order).select(
        pl.lit("wren").alias("run"),
        pl.col("sample_id") if named else pl.lit(None, pl.String).alias("sample_id"),
        "question",
        pl.col("question_id").alias("prediction"),
    )
    return asked.with_columns(ground_truth=pl.lit("x")), answers


@settings(max_examples=50, deadline=None)
@given(data=st.data(), samples=SAMPLES, named=st.booleans())
def test_every_answer_finds_its_question(data: st.DataObject, samples: dict[str, list[str]], named: bool) -> None:
    order = data.draw(st.permutations(list(samples))) if named else list(samples)
    asked, answers = frames(samples, order, named)
    joined, (report,) = join_run(answers, asked)
    assert joined["prediction"].to_list() == asked["question_id"].to_list()
    assert (report.answered, report.without_question, report.replaced) == (asked.height, [], [])


@settings(max_examples=50, deadline=None)
@given(data=st.data(), samples=SAMPLES)
def test_no_answer_is_lost_or_put_under_another_question(data: st.DataObject, samples: dict[str, list[str]]) -> None:
    asked, answers = frames(samples, list(samples), True)
    kept = data.draw(st.lists(st.sampled_from(range(answers.height)), min_size=1, unique=True))
    groups = data.draw(st.lists(st.sampled_from(["g", "h", None]), min_size=len(kept), max_size=len(kept)))
    answers = answers[sorted(kept)].with_columns(
        sample_id=pl.Series(groups, dtype=pl.String), prediction=pl.col("question")
    )
    try:
        joined, (report,) = join_run(answers, asked)
    except DuplicateRows:  # two conversations of the data set may look like one group of the file
        return
    found = joined.drop_nulls("prediction")
    folded = found.select(pl.col("question", "prediction").str.to_lowercase().str.replace_all(r"\s+", " "))
    assert folded["question"].to_list() == folded["prediction"].to_list()
    assert report.answered + len(report.without_question) == answers.height
