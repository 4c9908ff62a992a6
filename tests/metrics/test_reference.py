from __future__ import annotations

import nltk
import polars as pl
import pytest

from himga_eval.errors import DatasetNotFound
from himga_eval.metrics import reference
from himga_eval.metrics.catalog import LEXICAL
from himga_eval.metrics.reference import compare

ANSWERS = pl.DataFrame(
    {
        "question_id": ["q1", "q2", "q3"],
        "prediction": ["She walked the dogs. Twice!", "in 2019", None],
        "ground_truth": ["She walks dogs", "2019", "no"],
    }
)
WITHOUT_NLTK_DATA = ("exact_match", "f1", "rouge1", "rouge2", "rougeL")


@pytest.fixture
def no_nltk_data(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])


def test_our_metrics_equal_the_reference(nltk_data: None) -> None:
    found = compare(ANSWERS)
    assert found["metric"].to_list() == list(LEXICAL)
    assert set(found["verdict"]) == {"equal"}
    assert set(found["rows"]) == {2}
    assert found["note"].null_count() == 9


def test_a_difference_says_how_large_and_where(nltk_data: None, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = pl.DataFrame({"f1": [0.5, 0.25, None]})
    monkeypatch.setattr(reference, "lexical", lambda *_: wrong)
    assert compare(ANSWERS, ["f1"]).rows() == [
        ("f1", 2, pytest.approx(2 / 3 - 0.25), "differs", "row 1 (q2)", None),
    ]


def test_without_nltk_data_the_rest_is_compared(no_nltk_data: None) -> None:
    found = compare(ANSWERS)
    compared = found.filter(verdict="equal")
    assert tuple(compared["metric"]) == WITHOUT_NLTK_DATA
    notes = dict(found.filter(verdict="not compared")["metric", "note"].iter_rows())
    assert notes.keys() == {"bleu1", "bleu2", "bleu4", "meteor"}
    assert notes["bleu1"] == (
        "nltk has no punkt_tab in its data folders: run `python -m nltk.downloader punkt_tab`, or set NLTK_DATA to a "
        "folder that has it; only the reference needs it"
    )
    assert "no wordnet in its data folders: run `python -m nltk.downloader wordnet`" in notes["meteor"]


def test_without_nltk_data_the_error_says_what_to_get(no_nltk_data: None) -> None:
    message = r"no punkt_tab and no wordnet in its data folders: run `python -m nltk\.downloader punkt_tab wordnet`"
    with pytest.raises(DatasetNotFound, match=message):
        reference.reference(["paris"], ["paris"])
    assert reference.reference(["paris"], ["paris"], ["f1"]).rows() == [(1.0,)]


def test_another_nltk_is_named(nltk_data: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nltk, "__version__", "3.10.4")
    notes = dict(compare(ANSWERS)["metric", "note"].iter_rows())
    assert "nltk 3.10.4 is installed" in notes["bleu4"]
    assert notes["meteor"] is None


def test_rows_without_both_texts_are_not_compared(nltk_data: None) -> None:
    found = compare(ANSWERS.with_columns(prediction=pl.lit(None, pl.String)))
    assert set(found["verdict"]) == {"not compared"}
    assert set(found["rows"]) == {0}
