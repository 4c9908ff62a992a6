from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from himga_eval.data import Sample, load_dataset, read_questions
from himga_eval.errors import DuplicateRows, RunFileError
from himga_eval.formats import JoinReport, join_run, read_answers

Rows = list[dict[str, Any]]
ALL = [f"pier-1:{i}" for i in range(6)] + [f"pier-2:{i}" for i in range(3)]


def joined(rows: Rows, questions: Any) -> tuple[pl.DataFrame, JoinReport]:
    """Join rows of one run, which are given by text, to questions."""
    answers = pl.from_dicts(rows, infer_schema_length=None).with_columns(run=pl.lit("wren"))
    texts = [name for name in ("prediction", "error", "question_type", "ground_truth") if name in answers.columns]
    frame, (report,) = join_run(answers.cast(dict.fromkeys(texts, pl.String)), questions)
    return frame, report


def predictions(frame: pl.DataFrame) -> dict[str, str]:
    answered = frame.drop_nulls("prediction")
    return dict(zip(answered["question_id"], answered["prediction"], strict=True))


def by_text(question: str, prediction: str | None, group: str | None = None, **more: Any) -> dict[str, Any]:
    return {"sample_id": group, "question": question, "prediction": prediction, **more}


class TestById:
    def test_every_question_has_a_row_in_the_data_sets_order(self, harbour: pl.DataFrame) -> None:
        rows = [{"question_id": "pier-2:1", "prediction": "12"}, {"question_id": "pier-1:0", "prediction": "Green"}]
        frame, report = joined(rows, harbour)
        assert frame["question_id"].to_list() == ALL
        assert predictions(frame) == {"pier-1:0": "Green", "pier-2:1": "12"}
        assert frame["run"].unique().to_list() == ["wren"]
        assert frame.select("dataset", "ground_truth").row(0) == ("locomo", "Green")
        assert (report.matched_by, report.questions, report.answered) == ("question_id", 9, 2)

    def test_what_was_not_answered_is_listed_but_for_types_not_attempted(self, harbour: pl.DataFrame) -> None:
        rows = [{"question_id": "pier-1:0", "prediction": "Green"}, {"question_id": "pier-1:1", "prediction": None}]
        _, report = joined(rows, harbour)
        assert report.unanswered == ["pier-1:2", "pier-1:3", "pier-2:1"]
        assert report.not_attempted == {"temporal": 1, "multi_hop": 1, "adversarial": 2, "open_domain": 1}

    def test_answers_without_a_question_are_left_out(self, harbour: pl.DataFrame) -> None:
        rows = [{"question_id": i, "prediction": "x"} for i in ("pier-1:0", "zzz", None)]
        frame, report = joined(rows, harbour)
        assert frame.height == 9
        assert report.without_question == ["zzz", "row 2"]

    def test_other_texts_under_the_ids_are_told(self, harbour: pl.DataFrame) -> None:
        questions = [
            "What COLOUR is  Ada's boat? ",
            "When did Ben mend the net? Answer with a date.",
            "What does Ada sell?",
        ]
        rows = [{"question_id": f"pier-1:{i}", "question": q, "prediction": "x"} for i, q in enumerate(questions)]
        frame, report = joined(rows, harbour)
        assert report.other_questions == ["pier-1:1"]
        assert frame["file_question"].to_list()[:3] == [None, questions[1], None]
        assert frame["question"].to_list() == harbour["question"].to_list()

    @pytest.mark.parametrize("spelled", ["PIER-1:0", " pier-1:0\t"])
    def test_ids_in_another_spelling_are_found(self, harbour: pl.DataFrame, spelled: str) -> None:
        found, report = joined([{"question_id": spelled, "prediction": "Green"}], harbour)
        assert found.filter(question_id="pier-1:0")["prediction"].to_list() == ["Green"]
        assert (report.answered, report.matched_by, report.without_question) == (1, "question_id", [])

    def test_ids_that_differ_by_case_alone_are_told_apart(self, harbour: pl.DataFrame) -> None:
        asked = pl.DataFrame({"question_id": ["a", "A"], "ground_truth": ["1", "2"]})
        found, _ = joined([{"question_id": "A", "prediction": "x"}], asked)
        assert found["prediction"].to_list() == [None, "x"]

    def test_ids_of_another_numbering_do_not_count(self, harbour: pl.DataFrame) -> None:
        """The ids are the data set's, but the questions under them are others: the texts tell."""
        texts = harbour.filter(pl.col("sample_id") == "pier-1")["question"].to_list()[::-1]
        rows = [by_text(q, q, "pier-1", question_id=f"pier-1:{i}") for i, q in enumerate(texts)]
        frame, report = joined(rows, harbour)
        assert report.matched_by == "conversation and text"
        assert all(row["prediction"] == row["question"] for row in frame.drop_nulls("prediction").to_dicts())
        assert frame["file_question_id"].to_list()[:2] == ["pier-1:5", "pier-1:4"]

    def test_ids_that_are_unique_within_a_sample_only(self) -> None:
        columns = {"sample_id": ["a", "b"], "question_id": ["1", "1"], "ground_truth": ["x", "y"]}
        rows = [{"sample_id": "b", "question_id": "1", "prediction": "of b"}]
        frame, report = joined(rows, pl.DataFrame(columns))
        assert frame.select("sample_id", "prediction").rows() == [("a", None), ("b", "of b")]
        assert report.matched_by == "sample_id and question_id"


class TestByText:
    def test_a_question_that_two_conversations_have_goes_to_its_own(self, harbour: pl.DataFrame) -> None:
        rows = [
            by_text("How many gulls did Cleo count?", "12", "group-0"),
            by_text("What colour is Ada's boat?", "Blue", "group-0"),
            by_text("When did Ben mend the net?", "May", "group-1"),
            by_text("What colour is Ada's boat?", "Green", "group-1"),
        ]
        frame, report = joined(rows, harbour)
        assert predictions(frame) == {"pier-1:0": "Green", "pier-1:1": "May", "pier-2:0": "Blue", "pier-2:1": "12"}
        assert (report.matched_by, report.findings[1:]) == ("conversation and text", [])

    def test_a_group_with_the_name_of_a_conversation_is_that_one(self, harbour: pl.DataFrame) -> None:
        frame, _ = joined([by_text("What colour is Ada's boat?", "Blue", "pier-2")], harbour)
        assert predictions(frame) == {"pier-2:0": "Blue"}

    def test_groups_that_could_be_either_conversation_share_them(self, harbour: pl.DataFrame) -> None:
        rows = [by_text("What colour is Ada's boat?", str(i), f"group-{i}") for i in range(2)]
        assert sorted(predictions(joined(rows, harbour)[0])) == ["pier-1:0", "pier-2:0"]

    @pytest.mark.parametrize("group", [pytest.param(None, id="no-groups"), pytest.param("all", id="one-group-for-all")])
    def test_without_conversations_the_text_and_its_occurrence_tell(
        self, harbour: pl.DataFrame, group: str | None
    ) -> None:
        rows = [by_text(q, str(i), group) for i, q in enumerate(harbour["question"])]
        assert predictions(joined(rows, harbour)[0]) == {question: str(i) for i, question in enumerate(ALL)}

    def test_the_nth_answer_belongs_to_the_nth_place(self, harbour: pl.DataFrame) -> None:
        rows = [by_text("What does Ada sell?", p, "pier-1") for p in ("first", "second")]
        assert predictions(joined(rows, harbour)[0]) == {"pier-1:2": "first", "pier-1:3": "second"}

    def test_the_type_tells_an_adversarial_twin(self, harbour: pl.DataFrame) -> None:
        rows = [
            by_text("Who taught Ben to sail?", p, "pier-1", question_type=t) for p, t in (("No", "5"), ("Aunt", "1"))
        ]
        assert predictions(joined(rows, harbour)[0]) == {"pier-1:4": "Aunt", "pier-1:5": "No"}
        assert predictions(joined(rows[:1], harbour)[0]) == {"pier-1:5": "No"}

    def test_case_and_whitespace_do_not_matter(self, harbour: pl.DataFrame) -> None:
        rows = [by_text(" when did BEN mend\n the net?", "May", "g"), by_text("WHAT does Ada sell?", "Fish", "g")]
        frame, report = joined(rows, harbour)
        assert predictions(frame) == {"pier-1:1": "May", "pier-1:2": "Fish"}
        assert report.other_questions == []

    def test_an_exact_text_comes_before_another_case(self) -> None:
        questions = pl.DataFrame(
            {"question_id": ["a", "b"], "question": ["Who is May?", "Who is may?"], "ground_truth": ["", ""]}
        )
        rows = [by_text("Who is may?", "the month"), by_text("Who is May?", "a girl")]
        assert predictions(joined(rows, questions)[0]) == {"a": "a girl", "b": "the month"}

    def test_a_question_of_another_conversation_is_left_out(self) -> None:
        samples = {"a": [f"What is {i}?" for i in range(10)], "b": ["Why?", "Who?"]}
        rows = [(s, f"{s}:{i}", q, "x") for s, texts in samples.items() for i, q in enumerate(texts)]
        questions = pl.DataFrame(rows, schema=["sample_id", "question_id", "question", "ground_truth"], orient="row")
        answers = [by_text(q, "x", "g") for q in [*samples["a"], "Why?", "Where is Dov?"]]
        frame, report = joined(answers, questions)
        assert list(predictions(frame)) == [f"a:{i}" for i in range(10)]
        assert report.without_question == ["Why?", "Where is Dov?"]

    def test_ids_of_the_file_are_kept(self, harbour: pl.DataFrame) -> None:
        frame, _ = joined([by_text("When did Ben mend the net?", "x", "g", question_id="g_qa1")], harbour)
        assert frame["file_question_id"].to_list()[:2] == [None, "g_qa1"]


class TestRepeated:
    @pytest.mark.parametrize(
        ("rows", "kept"),
        [
            pytest.param([(None, "timeout"), ("Rome", None)], "Rome", id="failed-then-good"),
            pytest.param([(None, None), ("Rome", None)], "Rome", id="nothing-then-good"),
            pytest.param([("partial", "cut off"), ("Rome", None)], "Rome", id="error-with-a-text-then-good"),
            pytest.param([("Rome", None), (None, "timeout")], "Rome", id="good-then-failed"),
            pytest.param([(None, "a"), (None, "b"), ("Rome", " ")], "Rome", id="failed-twice-then-good"),
        ],
    )
    @pytest.mark.parametrize("key", ["question_id", "question"])
    def test_a_failed_row_besides_a_good_one_does_not_count(
        self, harbour: pl.DataFrame, rows: list[Any], kept: str, key: str
    ) -> None:
        name = {"question_id": "pier-1:1", "question": "When did Ben mend the net?"}[key]
        frame, report = joined([{key: name, "prediction": p, "error": e} for p, e in rows], harbour)
        assert predictions(frame) == {"pier-1:1": kept}
        assert (report.replaced, report.answered) == (["pier-1:1"], 1)

    def test_the_last_of_several_failures_stays(self, harbour: pl.DataFrame) -> None:
        frame, report = joined([{"question_id": "pier-1:1", "prediction": None, "error": e} for e in "ab"], harbour)
        assert frame["error"].to_list()[1] == "b"
        assert report.replaced == ["pier-1:1"]

    def test_a_question_that_stands_twice_may_be_answered_twice_and_fail_once(self, harbour: pl.DataFrame) -> None:
        texts = [None, "first", "second"]
        frame, report = joined([by_text("What does Ada sell?", p, "pier-1") for p in texts], harbour)
        assert predictions(frame) == {"pier-1:2": "first", "pier-1:3": "second"}
        assert report.replaced == ["pier-1:2"]

    @pytest.mark.parametrize(
        "rows",
        [
            pytest.param([{"question_id": "pier-1:1", "prediction": p} for p in ("May", "June")], id="by-id"),
            pytest.param([by_text("When did Ben mend the net?", p, "g") for p in ("May", "May")], id="by-text"),
            pytest.param(
                [by_text(q, "x", "g") for q in ("When did Ben mend the net?", "when did ben mend the net?")],
                id="other-case",
            ),
        ],
    )
    def test_two_answers_are_an_error(self, harbour: pl.DataFrame, rows: Rows) -> None:
        with pytest.raises(DuplicateRows) as error:
            joined(rows, harbour)
        assert "run 'wren' answers 1 questions more than once: pier-1:1; keep one row of each" in str(error.value)


class TestDifferences:
    def test_other_golds_are_kept_beside_the_data_sets(self, harbour: pl.DataFrame) -> None:
        golds = ["Green ", "4 May 2021", "", None]
        rows = [{"question_id": f"pier-1:{i}", "prediction": "x", "ground_truth": gold} for i, gold in enumerate(golds)]
        frame, report = joined(rows, harbour)
        assert report.other_golds == ["pier-1:1"]
        assert frame["ground_truth"].to_list() == harbour["ground_truth"].to_list()
        assert frame["file_ground_truth"].to_list()[:4] == [None, "4 May 2021", None, None]

    def test_other_types_are_kept_beside_the_data_sets(self, harbour: pl.DataFrame) -> None:
        labels = ["4", "2", "single-hop", "temporal"]
        rows = [{"question_id": f"pier-1:{i}", "prediction": "x", "question_type": t} for i, t in enumerate(labels)]
        frame, report = joined(rows, harbour)
        assert (report.other_types, report.naming) == (["pier-1:3"], {})
        assert frame["question_type"].to_list() == harbour["question_type"].to_list()
        assert frame["file_question_type"].to_list()[:4] == [None, None, None, "temporal"]

    def test_a_scheme_of_types_is_told_as_one(self, harbour: pl.DataFrame) -> None:
        theirs = {"single_hop": "open_domain", "multi_hop": "single_hop", "temporal": "temporal"}
        rows = [
            {"question_id": row["question_id"], "prediction": "x", "question_type": theirs[row["question_type"]]}
            for row in harbour.to_dicts()
            if row["question_type"] in theirs
        ]
        _, report = joined(rows, harbour)
        assert (report.naming, report.other_types) == ({"open_domain": "single_hop", "single_hop": "multi_hop"}, [])

    def test_where_nothing_differs_nothing_is_added(self, harbour: pl.DataFrame) -> None:
        answers = harbour.drop("adversarial_answer").with_columns(prediction=pl.lit("x"), run=pl.lit("wren"))
        frame, (report,) = join_run(answers, harbour)
        assert not [name for name in frame.columns if name.startswith("file_")]
        assert (report.findings, report.not_attempted) == ([], {})

    def test_what_the_data_set_knows_is_taken_from_it_and_the_rest_passes(self, harbour: pl.DataFrame) -> None:
        row = {
            "question_id": "pier-1:5",
            "prediction": "x",
            "adversarial_answer": "?",
            "dataset": "mine",
            "colour": "red",
        }
        frame, _ = joined([row], harbour)
        found = frame.filter(question_id="pier-1:5").row(0, named=True)
        assert (found["adversarial_answer"], found["dataset"], found["colour"]) == ("Ada", "locomo", "red")


def test_each_run_has_all_questions_and_a_report(harbour: pl.DataFrame) -> None:
    rows = [("larch", "pier-1:0"), ("wren", "pier-1:1"), ("larch", "pier-1:1")]
    answers = pl.DataFrame(rows, schema=["run", "question_id"], orient="row").with_columns(prediction=pl.lit("x"))
    frame, reports = join_run(answers, harbour)
    assert frame["run"].to_list() == ["larch"] * 9 + ["wren"] * 9
    assert [(report.run, report.answered) for report in reports] == [("larch", 2), ("wren", 1)]


@pytest.mark.parametrize(
    "row",
    [pytest.param({"question_id": "tide"}, id="by-id"), pytest.param({"question": "What is the tide?"}, id="by-text")],
)
def test_of_several_data_sets_a_run_belongs_to_those_it_answers(harbour: pl.DataFrame, row: dict[str, Any]) -> None:
    other = {"dataset": "mine", "sample_id": "s", "question_type": "sea", "ground_truth": "low"}
    rows = [{**other, "question_id": "tide", "question": "What is the tide?"}, {**other, "question_id": "moon"}]
    questions = pl.concat([harbour, pl.from_dicts(rows)], how="diagonal")
    frame, report = joined([{**row, "prediction": "low", "question_type": "sea"}], questions)
    assert frame.select("dataset", "question_id").rows() == [("mine", "tide"), ("mine", "moon")]
    assert (report.questions, report.answered, report.not_attempted) == (2, 1, {})


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        pytest.param([{"question_id": "q7", "prediction": "x"}], ["'q7'", "'pier-1:0'"], id="other-ids"),
        pytest.param([by_text("Who is Dov?", "x", "g")], ["'Who is Dov?'", "What colour"], id="other-questions"),
        pytest.param([{"prediction": "x"}], ["neither ids nor questions"], id="nothing-to-go-by"),
    ],
)
def test_answers_to_another_data_set_are_an_error(harbour: pl.DataFrame, rows: Rows, said: list[str]) -> None:
    with pytest.raises(RunFileError) as error:
        joined(rows, harbour)
    for part in ("none of its 1 answers belongs to one of the 9 questions", *said):
        assert part in str(error.value)


def test_a_report_reads_well(harbour: pl.DataFrame) -> None:
    rows = [
        {"question_id": "pier-1:0", "prediction": "x", "ground_truth": "Red", "question_type": "temporal"},
        {"question_id": "pier-1:2", "prediction": "x", "question_type": "single_hop"},
        {"question_id": "pier-1:4", "prediction": "x", "question_type": "inference"},
        {"question_id": "pier-1:4", "prediction": None, "question_type": "inference"},
        {"question_id": "zzz", "prediction": "x"},
    ]
    _, report = joined(rows, harbour)
    assert str(report).splitlines() == [
        "wren: 3 of 9 questions answered, matched by question_id",
        "wren: not attempted: temporal (1), adversarial (2), open_domain (1)",
        "wren: 1 question had a failed row besides the one that is used: pier-1:4",
        "wren: 2 questions without an answer, kept as missing: pier-1:3, pier-2:1",
        "wren: 1 answer without a question in the data set, left out: zzz",
        "wren: 1 gold other than the data set's, which are used; the file's are in file_ground_truth: pier-1:0",
        "wren: 1 question type other than the data set's, which are used; the file's are in file_question_type: "
        "pier-1:0",
        "wren: the file names question types by another scheme: its 'inference' is multi_hop; the data set's names are "
        "used",
    ]


@pytest.fixture(scope="module")
def locomo(shared: Path) -> list[Sample]:
    return load_dataset("locomo", shared / "data/locomo/locomo10.json")


class TestRealFiles:
    @pytest.mark.parametrize(
        "name", ["memobase_eval_0710_3000", "zep_locomo_grades", "locomo_audit_fc_gpt-4o-mini-memos"]
    )
    def test_all_1540_answers_find_their_question(self, shared: Path, locomo: list[Sample], name: str) -> None:
        answers = read_answers(shared / f"data/predictions/{name}.json")
        frame, (report,) = join_run(answers, locomo)
        assert (report.questions, report.answered, report.not_attempted) == (1986, 1540, {"adversarial": 446})
        assert report.findings == []
        assert report.replaced == []
        golds = [qa.answer for sample in locomo for qa in sample.qa_pairs]
        assert frame["ground_truth"].to_list() == golds
        # Each of the file's answers is there once, with its question, in the order in which its conversation has it.
        columns = ["question", "prediction"]
        found = frame.drop_nulls("prediction").select("sample_id", *columns)
        groups = {rows["question"][0]: rows for rows in answers.partition_by("sample_id", maintain_order=True)}
        for rows in found.partition_by("sample_id", maintain_order=True):
            assert rows.select(columns).equals(groups[rows["question"][0]].select(columns))

    def test_memobase_rows_are_those_of_the_oracle(self, shared: Path, locomo: list[Sample]) -> None:
        frame, _ = join_run(read_answers(shared / "data/predictions/memobase_eval_0710_3000.json"), locomo)
        oracle = pl.read_ndjson(shared / "oracles/memobase_0710_lexical.jsonl")
        columns = ["ground_truth", "prediction", "published_f1", "published_bleu1"]
        assert frame.drop_nulls("prediction").select(columns).sort(columns).equals(oracle.select(columns).sort(columns))

    def test_longmemeval_is_joined_by_id(self, shared: Path) -> None:
        path = shared / "data/predictions/longmemeval_s_rag_con.eval-gpt-4o-mini.jsonl"
        questions = read_questions(shared / "data/longmemeval/questions.json")
        frame, (report,) = join_run(read_answers(path), questions)
        assert (report.matched_by, report.questions, report.answered, report.findings) == ("question_id", 500, 500, [])
        assert frame["abstention"].sum() == 30
        by_type = frame.group_by("question_type").agg(pl.col("published_judge_score").mean())
        assert by_type["published_judge_score"].mean() == pytest.approx(0.5453, abs=5e-5)

    def test_mem0s_names_of_the_categories_are_seen_through(self, shared: Path, locomo: list[Sample]) -> None:
        mem0 = {"1": "single_hop", "2": "temporal", "3": "multi_hop", "4": "open_domain"}
        answers = read_answers(shared / "data/predictions/memobase_eval_0710_3000.json")
        frame, (report,) = join_run(answers.with_columns(pl.col("question_type").replace(mem0)), locomo)
        assert report.naming == {"multi_hop": "open_domain", "open_domain": "single_hop", "single_hop": "multi_hop"}
        assert report.other_types == []
        assert frame["question_type"].value_counts().sort("count")["count"].to_list() == [96, 282, 321, 446, 841]
