from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from himga_eval.errors import RunFileError, RunWarning
from himga_eval.formats import read_answers

PREDICTIONS = "data/predictions"


def only(path: Path) -> dict[str, Any]:
    """Read a file of one answer."""
    answers = read_answers(path)
    assert answers.height == 1
    return answers.row(0, named=True)


MEM0 = {"question": "Where?", "answer": "Bergen", "response": "Oslo", "category": "4", "llm_score": 0, "f1_score": 0.5}
ZEP = {"question": "Where?", "answer": "Oslo", "golden_answer": "Bergen", "grade": True, "category": 4}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        pytest.param(
            {"3": [{**MEM0, "bleu_score": 0.25}]},
            {
                **{"sample_id": "3", "prediction": "Oslo", "ground_truth": "Bergen", "question_type": "4"},
                **{"published_judge_score": 0.0, "published_f1": 0.5, "published_bleu1": 0.25},
            },
            id="mem0-answer-is-the-gold",
        ),
        pytest.param(
            {"conv_0": [{**MEM0, "answer": 2022, "response_time": 1.5, "memories": ["a"], "conv_id": 0}]},
            {
                **{"sample_id": "conv_0", "ground_truth": "2022", "latency_s": 1.5, "memories": ["a"], "conv_id": 0},
            },
            id="mem0-before-its-evaluation",
        ),
        pytest.param(
            {"user_1": [ZEP]},
            {"sample_id": "user_1", "prediction": "Oslo", "ground_truth": "Bergen", "published_judge_score": 1.0},
            id="zep-answer-is-the-prediction",
        ),
        pytest.param(
            {"user_1": [{k: v for k, v in ZEP.items() if k != "grade"} | {"duration_ms": 250.0}]},
            {"prediction": "Oslo", "ground_truth": "Bergen", "latency_s": 0.25},
            id="zep-responses",
        ),
        pytest.param(
            {
                "detailed_results": {
                    "locomo_exp_user_0": [
                        {
                            **{"question_id": "locomo_0_qa7", "question": "Where?", "golden_answer": "Bergen"},
                            **{"generated_answer": "Oslo", "category": "4"},
                            "llm_judgments": {"judgment_1": True, "judgment_2": False, "judgment_3": True},
                        }
                    ]
                },
                "accuracy": 0.7,
            },
            {
                **{"question_id": "locomo_0_qa7", "prediction": "Oslo", "ground_truth": "Bergen"},
                "published_judge_score": pytest.approx(2 / 3),
                **{f"published_judge_score_{i}": score for i, score in ((1, 1.0), (2, 0.0), (3, 1.0))},
            },
            id="locomo-audit-three-judgements",
        ),
    ],
)
def test_published_layouts_of_locomo(put: Any, document: Any, expected: dict[str, Any]) -> None:
    row = only(put("published.json", document))
    assert {name: row.get(name) for name in expected} == expected
    assert row["run"] == "published"
    assert "answer" not in row


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        pytest.param({}, {"dataset": "longmemeval", "prediction": "Rome"}, id="hypothesis-alone"),
        pytest.param(
            {"autoeval_label": {"model": "m", "label": True}, "tokens": {"prompt_tokens": 9, "completion_tokens": 2}},
            {"published_judge_score": 1.0, "autoeval_label.model": "m", "input_tokens": 9, "output_tokens": 2},
            id="with-label-and-tokens",
        ),
        pytest.param({"question_type": "custom-kind"}, {"question_type": "custom-kind"}, id="types-of-ones-own"),
    ],
)
def test_longmemeval_hypotheses(put: Any, row: dict[str, Any], expected: dict[str, Any]) -> None:
    answer = only(put("hypotheses.jsonl", [{"question_id": "q1_abs", "hypothesis": "Rome", **row}]))
    assert expected.items() <= answer.items()
    assert ("dataset" in answer) == ("question_type" not in row)


def test_our_own_columns_are_nobodys_layout(put: Any) -> None:
    answer = only(put("a.jsonl", [{**MEM0, "ground_truth": "Tromsø"}]))
    assert (answer["prediction"], answer["ground_truth"], answer["answer"]) == ("Oslo", "Tromsø", "Bergen")
    answer = only(put("a.jsonl", [{**ZEP, "prediction": "Ålesund"}]))
    assert (answer["prediction"], answer["ground_truth"], answer["answer"]) == ("Ålesund", "Bergen", "Oslo")


class TestLocomoOutput:
    """LoCoMo's own evaluation writes samples whose questions have columns for each model."""

    QA = (
        {"question": "Where?", "answer": 12, "category": 1, "evidence": ["D1:3"]},
        {"question": "Who?", "category": 5},
    )

    def test_one_model_is_the_run_of_the_file(self, put: Any) -> None:
        qa = [
            {**self.QA[0], "gpt-4_prediction": "Oslo", "gpt-4_f1": 0.667, "gpt-4_prediction_context": ["D1:3", "D2:1"]},
            {**self.QA[1], "adversarial_answer": "Ada"},
        ]
        answers = read_answers(put("locomo10_qa.json", [{"sample_id": "conv-1", "qa": qa}]))
        expected = {"run": "locomo10_qa", "sample_id": "conv-1", "prediction": "Oslo", "ground_truth": "12"}
        first, second = answers.to_dicts()
        assert first.items() >= expected.items()
        assert (first["published_f1"], first["retrieved"]) == (0.667, ["D1:3", "D2:1"])
        assert (second["prediction"], second["ground_truth"], second["adversarial_answer"]) == (None, None, "Ada")

    def test_several_models_are_several_runs(self, put: Any) -> None:
        qa = {**self.QA[0], "gpt-4_prediction": "Oslo", "gpt-4_f1": 0.5, "gpt-4_turbo_prediction": "Rome"}
        qa |= {"gpt-4_turbo_f1": 0.25, "gpt-4_turbo_llm": 1}
        answers = read_answers(put("out.json", [{"sample_id": "conv-1", "qa": [qa]}]))
        columns = ["run", "prediction", "published_f1", "published_judge_score", "ground_truth"]
        assert answers.select(columns).rows() == [
            ("out:gpt-4", "Oslo", 0.5, None, "12"),
            ("out:gpt-4_turbo", "Rome", 0.25, 1.0, "12"),
        ]
        assert not any("gpt-4" in name for name in answers.columns)

    def test_the_data_set_itself_is_no_run(self, put: Any) -> None:
        with pytest.raises(RunFileError, match="is LoCoMo itself"):
            read_answers(put("locomo10.json", [{"sample_id": "conv-1", "qa": [self.QA[0]], "conversation": {}}]))


@pytest.mark.parametrize(
    ("value", "score"),
    [
        (True, 1.0), (1, 1.0), (0.25, 0.25), ("CORRECT", 1.0), (" wrong", 0.0), ("yes", 1.0), ("False", 0.0),
        ("0.4", 0.4), ("", None), ("NaN", None), (None, None),
    ],
)  # fmt: skip
def test_labels_become_scores(put: Any, value: Any, score: float | None) -> None:
    answers = read_answers(put("a.jsonl", [{"prediction": "x", "grade": value}, {"prediction": "y", "grade": value}]))
    assert answers["published_judge_score"].to_list() == [score, score]


def test_labels_that_are_no_scores_stay_text(put: Any) -> None:
    answers = read_answers(put("a.jsonl", [{"prediction": "x", "verdict": w} for w in ("correct", "half right")]))
    assert answers["published_judge_score"].to_list() == ["correct", "half right"]


def test_scores_keep_clear_of_our_columns(put: Any) -> None:
    row = {"prediction": "x", "f1": 0.5, "rougeL": 0.4, "bert_f1": 0.3, "judge_score": 1, "recall@5": 0.2}
    answer = only(put("a.jsonl", [row]))
    assert {name: value for name, value in answer.items() if "published" in name} == {
        **{"published_f1": 0.5, "published_rougeL": 0.4, "published_bert_f1": 0.3, "published_judge_score": 1.0}
    }
    assert answer["recall@5"] == 0.2


def test_telemetry_of_a_csv_file(put: Any) -> None:
    text = "prediction,latency_ms,prompt_tokens,completion_tokens,error,evidence,temperature\n"
    text += 'x,1500,12,3.0,,"D1:3; D2:4",0.7\n'
    text += "y,,,,timeout,\"['D1:3', 'D2:4']\",\n"
    text += 'z,NaN,0,0,false,"[""s_1""]",1\n'
    answers = read_answers(put("a.csv", text))
    assert answers.select(pl.exclude("run")).to_dict(as_series=False) == {
        "prediction": ["x", "y", "z"],
        "evidence": [["D1:3", "D2:4"], ["D1:3", "D2:4"], ["s_1"]],
        "latency_s": [1.5, None, None],
        "input_tokens": [12, None, 0],
        "output_tokens": [3, None, 0],
        "error": [None, "timeout", None],
        "temperature": ["0.7", None, "1"],
    }


def test_what_is_no_number_is_said(put: Any) -> None:
    with pytest.raises(RunFileError, match=r"a\.csv: column 'latency', row 1: 'fast' .*not a number"):
        read_answers(put("a.csv", "prediction,latency\nx,1\ny,fast\n"))


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        pytest.param("prediction", b"\xff", r"column 'prediction', row 1: b'\\xff' .*not a text", id="bytes"),
        pytest.param("evidence", [b"\xff"], "column 'evidence', row 0: .*not a list of ids", id="bytes in a list"),
        pytest.param("input_tokens", 1.5, "column 'input_tokens', row 1: 1.5 .*not a whole number", id="half a token"),
    ],
)
def test_what_parquet_holds_and_no_answer_is(tmp_path: Path, column: str, value: object, said: str) -> None:
    good = {"prediction": b"Oslo", "evidence": [b"D1:1"], "input_tokens": 1.0}[column]
    rows = pl.DataFrame({"prediction": ["x", "y"]}).with_columns(pl.Series(column, [good, value]))
    rows.write_parquet(tmp_path / "a.parquet")
    with pytest.raises(RunFileError, match=rf"a\.parquet: {said}.*rows are counted from 0"):
        read_answers(tmp_path / "a.parquet")


def test_text_and_times_of_parquet(tmp_path: Path) -> None:
    rows = pl.DataFrame({"prediction": [b"caf\xc3\xa9"], "latency_s": [timedelta(seconds=2)], "f1": [b"\xff"]})
    rows.write_parquet(tmp_path / "a.parquet")
    assert read_answers(tmp_path / "a.parquet").select("prediction", "latency_s").row(0) == ("café", 2.0)


def test_a_frame_is_no_file() -> None:
    with pytest.raises(RunFileError, match="given by its path, not by a DataFrame"):
        read_answers(pl.DataFrame({"prediction": ["x"]}))  # type: ignore[arg-type]


def test_half_an_emoji_in_a_name_of_a_column(put: Any) -> None:
    with pytest.warns(RunWarning, match="half of a surrogate pair"):
        answers = read_answers(put("a.jsonl", '{"prediction": "x", "note \\ud83d": {"\\ud83d": 1}}\n'))
    assert "note \ufffd.\ufffd" in answers.columns


def test_values_become_text(put: Any) -> None:
    row = {"question_id": 7, "prediction": ["Rome", "Oslo"], "gold": 2022, "category": 1, "sample_id": 3}
    answer = only(put("a.jsonl", [row]))
    assert (answer["question_id"], answer["ground_truth"], answer["question_type"], answer["sample_id"]) == (
        *("7", "2022", "1", "3"),
    )
    assert answer["prediction"] == '["Rome", "Oslo"]'


@pytest.mark.parametrize(
    ("name", "rows", "runs"),
    [
        pytest.param("larch.v2.jsonl", [{}, {}], ["larch.v2", "larch.v2"], id="the-stem"),
        pytest.param("a.jsonl", [{"run": "wren"}, {"run": None}], ["wren", "a"], id="the-column"),
        pytest.param("a.jsonl", [{"run_id": 1}, {"run_id": 2}], ["1", "2"], id="another-name"),
    ],
)
def test_names_of_runs(put: Any, name: str, rows: list[Any], runs: list[str]) -> None:
    answers = read_answers(put(name, [{"prediction": "x", **row} for row in rows]))
    assert answers["run"].to_list() == runs


def test_rows_that_are_no_rows(put: Any) -> None:
    with pytest.raises(RunFileError, match="no column of answers; it has: results; "):
        read_answers(put("a.json", {"results": [1, 2]}))


@pytest.mark.parametrize(
    ("name", "rows", "means"),
    [
        pytest.param(
            "memobase_eval_0710_3000.json",
            1540,
            {"published_bleu1": 0.3978, "published_f1": 0.5145, "published_judge_score": 0.7578},
            id="memobase",
        ),
        pytest.param("zep_locomo_grades.json", 1540, {"published_judge_score": 0.7513}, id="zep"),
        pytest.param(
            "locomo_audit_fc_gpt-4o-mini-memos.json",
            1540,
            {
                "published_judge_score": 0.7429,
                **{f"published_judge_score_{i}": mean for i, mean in ((1, 0.7422), (2, 0.7429), (3, 0.7435))},
            },
            id="locomo-audit",
        ),
        pytest.param(
            "longmemeval_s_rag_con.eval-gpt-4o-mini.jsonl", 500, {"published_judge_score": 0.528}, id="longmemeval"
        ),
    ],
)
def test_published_means_come_out_again(shared: Path, name: str, rows: int, means: dict[str, float]) -> None:
    answers = read_answers(shared / PREDICTIONS / name)
    assert answers.height == rows
    assert answers["prediction"].null_count() == 0
    found = answers.select(pl.col(r"^published_.*$").mean()).row(0, named=True)
    assert found == pytest.approx(means, abs=5e-5)


def test_zep_predictions_are_its_answers(shared: Path) -> None:
    path = shared / PREDICTIONS / "zep_locomo_grades.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    rows = [row for rows in document.values() for row in rows]
    answers = read_answers(path)
    assert answers["prediction"].to_list() == [row["answer"] for row in rows]
    assert answers["ground_truth"].to_list() == [str(row["golden_answer"]) for row in rows]
