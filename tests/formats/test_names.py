from __future__ import annotations

import pytest

from himga_eval.errors import RunFileError
from himga_eval.formats.names import DATA_FIELDS, EITHER, NAMES, PUBLISHED, choose, fold
from himga_eval.metrics.catalog import ALL_METRICS


@pytest.mark.parametrize(
    ("name", "folded"),
    [
        ("ground_truth", "ground_truth"),
        ("GroundTruth", "ground_truth"),
        ("Ground truth ", "ground_truth"),
        ("ground-truth", "ground_truth"),
        ("Question ID", "question_id"),
        ("questionId", "question_id"),
        ("autoeval_label.label", "autoeval_label_label"),
        ("F1", "f1"),
    ],
)
def test_spellings_fold_to_one(name: str, folded: str) -> None:
    assert fold(name) == folded


@pytest.mark.parametrize(
    ("columns", "chosen"),
    [
        pytest.param("question_id prediction ground_truth", {"prediction": "prediction"}, id="ours"),
        pytest.param("qid response reference", {"prediction": "response", "ground_truth": "reference"}, id="usual"),
        pytest.param(
            "QuestionID Prediction Gold", {"question_id": "QuestionID", "ground_truth": "Gold"}, id="capitals"
        ),
        pytest.param("answer response", {"prediction": "response", "ground_truth": "answer"}, id="answer-is-the-gold"),
        pytest.param("answer gold", {"prediction": "answer", "ground_truth": "gold"}, id="answer-is-the-prediction"),
        pytest.param("question_id answer", {"prediction": "answer"}, id="answer-alone-is-the-prediction"),
        pytest.param(
            "answer response gold", {"prediction": "response", "ground_truth": "gold"}, id="answer-is-neither"
        ),
        pytest.param("prediction response hypothesis", {"prediction": "prediction"}, id="our-name-wins"),
        pytest.param("id qid prediction", {"question_id": "qid"}, id="the-usual-id-wins"),
        pytest.param("category question_type prediction", {"question_type": "question_type"}, id="our-type-wins"),
        pytest.param("prediction f1 grade", {"published_f1": "f1", "published_judge_score": "grade"}, id="scores"),
    ],
)
def test_choice_of_columns(columns: str, chosen: dict[str, str]) -> None:
    assert choose(columns.split(), {}, "a.jsonl").items() >= chosen.items()


def test_a_column_serves_once() -> None:
    chosen = choose(["answer", "response", "gold", "id"], {"ground_truth": "answer"}, "a.jsonl")
    assert chosen == {"ground_truth": "answer", "prediction": "response", "question_id": "id"}


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        pytest.param(
            "question_id text",
            [
                "no column of answers; it has: question_id, text",
                "prediction, or one of: response, hypothesis",
                "answer",
            ],
            id="no-answers",
        ),
        pytest.param("gold question", ["no column of answers; it has: gold, question"], id="golds-only"),
        pytest.param(
            "response hypothesis",
            ["2 columns may be the prediction: response, hypothesis; rename the right one to 'prediction'"],
            id="two-predictions",
        ),
        pytest.param("prediction gold reference", ["may be the ground_truth: gold, reference"], id="two-golds"),
        pytest.param(
            "prediction query question_text", ["may be the question: query, question_text"], id="two-questions"
        ),
        pytest.param("Response RESPONSE", ["may be the prediction: Response, RESPONSE"], id="two-spellings"),
        pytest.param(" ".join(DATA_FIELDS["LoCoMo"]), ["is LoCoMo itself", "name it 'prediction'"], id="locomo-itself"),
        pytest.param(" ".join(DATA_FIELDS["LongMemEval"]), ["is LongMemEval itself"], id="longmemeval-itself"),
    ],
)
def test_no_choice_lists_what_there_is(columns: str, said: list[str]) -> None:
    with pytest.raises(RunFileError) as error:
        choose(columns.split(), {}, "a.jsonl")
    for part in ("a.jsonl", *said):
        assert part in str(error.value)


def test_no_name_means_two_things() -> None:
    names = [name for ours, others in (NAMES | PUBLISHED).items() for name in {fold(ours), *others}]
    assert len(names) == len(set(names))
    assert EITHER not in names
    assert all(name == fold(name) for name in names)


def test_every_metric_has_a_published_column() -> None:
    assert {f"published_{metric}" for metric in ALL_METRICS} <= set(PUBLISHED)
