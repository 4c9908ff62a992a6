from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from himga_eval.errors import DuplicateRows, RunFileError, RunWarning, UnknownQuestionType
from himga_eval.formats import read_run
from himga_eval.schema import RESULTS, require_key

GOLD = {"prediction": "x", "ground_truth": "y"}


class TestWithoutQuestions:
    def test_a_file_in_our_columns_is_the_results_frame(self, put: Any) -> None:
        row = {
            **{"dataset": "locomo", "sample_id": "conv-26", "question_id": "conv-26:17", "question_type": "temporal"},
            **{"question": "When?", "ground_truth": "2022", "prediction": "2021", "evidence": ["D1:3"], "note": "n"},
        }
        frame = read_run(put("larch.jsonl", [row]))
        assert frame.to_dicts() == [{"run": "larch", **row}]
        assert all(frame.schema[name] == dtype for name, dtype in RESULTS.items() if name in frame.columns)

    def test_a_group_is_a_sample_and_a_place_in_it_an_id(self, put: Any) -> None:
        row = {"question": "Where?", "answer": 2022, "response": "x", "category": "1"}
        frame = read_run(put("a.json", {"7": [row, row], "3": [{**row, "category": "5"}]}))
        require_key(frame)
        assert frame.select("dataset", "sample_id", "question_id", "question_type", "ground_truth").rows() == [
            ("locomo", "7", "7:0", "multi_hop", "2022"),
            ("locomo", "7", "7:1", "multi_hop", "2022"),
            ("locomo", "3", "3:0", "adversarial", "2022"),
        ]

    @pytest.mark.parametrize(
        ("row", "ids"),
        [
            pytest.param({}, ("0", "0"), id="none"),
            pytest.param({"question_id": "conv-26:17"}, ("conv-26", "conv-26:17"), id="ours"),
            pytest.param({"question_id": "e47becba"}, ("e47becba", "e47becba"), id="a-sample-of-its-own"),
            pytest.param({"conv_id": 3, "qid": 8}, ("3", "8"), id="both"),
        ],
    )
    def test_ids(self, put: Any, row: dict[str, Any], ids: tuple[str, str]) -> None:
        assert read_run(put("a.jsonl", [{**GOLD, **row}])).select("sample_id", "question_id").row(0) == ids

    def test_a_failed_row_followed_by_a_good_one_is_one_row(self, put: Any) -> None:
        rows = [
            {"question_id": "q1", "prediction": None, "error": "timeout", "gold": "Rome"},
            {"question_id": "q2", "prediction": None, "error": "timeout", "gold": "Oslo"},
            {"question_id": "q1", "prediction": "Rome", "gold": "Rome"},
        ]
        frame = read_run(put("a.jsonl", rows))
        assert frame.select("question_id", "prediction").rows() == [("q2", None), ("q1", "Rome")]

    def test_two_answers_are_an_error(self, put: Any) -> None:
        with pytest.raises(DuplicateRows, match="q1"):
            read_run(put("a.jsonl", [{**GOLD, "question_id": "q1"}] * 2))

    def test_the_same_question_of_two_runs_is_none(self, put: Any) -> None:
        rows = [{**GOLD, "question_id": "q1", "run": run} for run in ("larch", "wren")]
        assert read_run(put("a.jsonl", rows)).height == 2

    def test_no_gold_is_a_warning(self, put: Any) -> None:
        path = put("a.jsonl", [{"question_id": "q1", "hypothesis": "x"}])
        with pytest.warns(RunWarning, match=r"a\.jsonl has no gold answers.*give the questions of its data set"):
            frame = read_run(path)
        assert frame["ground_truth"].to_list() == [None]

    @pytest.mark.parametrize(
        ("types", "expected"),
        [
            pytest.param(
                ["single-session-user", "single_session_user", "Single-Session-User "],
                ["single_session_user"] * 3,
                id="spellings",
            ),
            pytest.param([1, "2", 4.0], ["multi_hop", "temporal", "single_hop"], id="numbers"),
            pytest.param(["cooking", "sailing"], ["cooking", "sailing"], id="of-ones-own"),
        ],
    )
    def test_question_types(self, put: Any, types: list[Any], expected: list[str]) -> None:
        rows = [{**GOLD, "category": t} for t in types]
        assert read_run(put("a.jsonl", rows))["question_type"].to_list() == expected

    def test_an_unknown_type_among_known_ones_is_an_error(self, put: Any) -> None:
        with pytest.raises(UnknownQuestionType, match="temporl"):
            read_run(put("a.jsonl", [{**GOLD, "question_type": t} for t in ("temporal", "temporl")]))

    def test_memobase_counts(self, shared: Path) -> None:
        frame = read_run(shared / "data/predictions/memobase_eval_0710_3000.json")
        require_key(frame)
        assert dict(frame["question_type"].value_counts().iter_rows()) == {
            **{"multi_hop": 282, "temporal": 321, "open_domain": 96, "single_hop": 841}
        }
        oracle = pl.read_ndjson(shared / "oracles/memobase_0710_lexical.jsonl")
        ids = oracle.select(pl.format("{}:{}", "group", "index").alias("question_id"), "prediction", "ground_truth")
        assert frame.select("question_id", "prediction", "ground_truth").equals(ids)


class TestWithQuestions:
    def test_all_is_well_in_silence(self, put: Any, harbour: pl.DataFrame) -> None:
        rows = [{"question_id": name, "prediction": "x"} for name in harbour["question_id"]]
        path = put("larch.jsonl", rows)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            frame = read_run(path, harbour)
        assert frame.select("run", "prediction").unique().rows() == [("larch", "x")]

    def test_what_may_be_amiss_is_one_warning_a_run(self, put: Any, harbour: pl.DataFrame) -> None:
        rows = [
            {"question_id": "pier-1:2", "prediction": "x", "gold": "Cod"},
            {"question_id": "zzz", "prediction": "x"},
        ]
        path = put("larch.jsonl", [*rows, {"question_id": "pier-1:2", "prediction": "y", "run": "wren"}])
        with pytest.warns(RunWarning) as caught:
            frame = read_run(path, harbour)
        assert frame.height == 2 * harbour.height
        assert len(caught) == 2
        assert caught[0].filename == __file__
        assert str(caught[0].message).splitlines() == [
            f"{path}, run 'larch':",
            "  3 questions without an answer, kept as missing: pier-1:0, pier-1:3, pier-2:1",
            "  1 answer without a question in the data set, left out: zzz",
            "  1 gold other than the data set's, which are used; the file's are in file_ground_truth: pier-1:2",
        ]

    def test_unknown_types_of_the_file_are_no_error(self, put: Any, harbour: pl.DataFrame) -> None:
        rows = [
            {**row, "prediction": "x", "question_type": "easy"} for row in harbour.drop("adversarial_answer").to_dicts()
        ]
        rows[0]["question_type"] = "temporal"
        with pytest.warns(RunWarning, match="question types other than the data set's"):
            frame = read_run(put("a.jsonl", rows), harbour)
        assert frame["question_type"].to_list() == harbour["question_type"].to_list()

    def test_answers_to_other_questions_name_both(self, put: Any, harbour: pl.DataFrame) -> None:
        with pytest.raises(RunFileError, match=r"run 'a': none of its 1 answers.*'q1'.*'pier-1:0'"):
            read_run(put("a.jsonl", [{"question_id": "q1", "prediction": "x"}]), harbour)

    def test_the_path_of_a_data_set_will_do(self, shared: Path) -> None:
        name = "longmemeval_s_rag_con.eval-gpt-4o-mini"
        frame = read_run(shared / f"data/predictions/{name}.jsonl", shared / "data/longmemeval/questions.json")
        assert frame["run"].unique().to_list() == [name]
        assert (frame.height, frame["prediction"].null_count(), frame["ground_truth"].null_count()) == (500, 0, 0)
        assert frame["published_judge_score"].mean() == pytest.approx(0.528)
