"""Asking an agent every question: order, errors, resuming, workers."""

from __future__ import annotations

import threading
from datetime import datetime
from pathlib import Path

import pytest

from himga_eval.data.schema import EvidenceRef, QAPair, QuestionType, Sample
from himga_eval.errors import AgentError, InputError
from himga_eval.runner import run_eval
from himga_eval.schema import EvalResult
from himga_eval.store import Store


def dataset(samples: int = 2, questions: int = 2) -> list[Sample]:
    return [
        Sample(
            f"c{s}",
            "locomo",
            [],
            [
                QAPair(
                    f"c{s}:{q}",
                    f"Question {q} of {s}?",
                    f"gold {q}",
                    QuestionType.TEMPORAL,
                    EvidenceRef(turn_ids=["D1:1"]),
                    question_date=datetime(2023, 5, q + 1),
                )
                for q in range(questions)
            ],
        )
        for s in range(samples)
    ]


class Agent:
    """Any object will do; this one writes down what happens to it, and fails where it is told to."""

    def __init__(self, fail: tuple[str, ...] = (), log: list[str] | None = None) -> None:
        self.memory = self
        self.fail = fail
        self.log = [] if log is None else log
        self.asked: list[str] = []

    def reset(self) -> None:
        self.log.append("reset")

    def ingest_sample(self, sample: Sample) -> None:
        self.log.append(f"ingest {sample.sample_id}")
        if sample.sample_id in self.fail:
            raise OSError("disk full")

    def answer(self, question: str) -> str:
        self.log.append(question)
        self.asked.append(question)
        if question in self.fail:
            raise RuntimeError("model down")
        return f"answer to {question}"


def run(agent: object, samples: list[Sample] | None = None, **options: object) -> list[EvalResult]:
    return run_eval(dataset() if samples is None else samples, agent, show_progress=False, **options)


def test_memory_is_reset_and_filled_before_each_sample() -> None:
    agent = Agent()
    results = run(agent)
    first = ["reset", "ingest c0", "Question 0 of 0?", "Question 1 of 0?"]
    assert agent.log == [*first, "reset", "ingest c1", "Question 0 of 1?", "Question 1 of 1?"]
    assert [r.question_id for r in results] == ["c0:0", "c0:1", "c1:0", "c1:1"]


def test_a_result_holds_question_gold_and_answer() -> None:
    result = run(Agent())[0]
    assert (result.sample_id, result.question_type, result.ground_truth) == ("c0", QuestionType.TEMPORAL, "gold 0")
    assert result.prediction == "answer to Question 0 of 0?"
    assert result.evidence == ["D1:1"]
    assert result.latency_s is not None


def test_no_samples_give_no_results() -> None:
    assert run(Agent(), []) == []


def test_the_question_s_date_goes_to_an_agent_that_takes_one() -> None:
    class Dated(Agent):
        def answer(self, question: str, *, date: datetime | None = None) -> str:
            return str(date)

    assert run(Dated())[1].prediction == "2023-05-02 00:00:00"


def test_what_the_memory_retrieved_is_recorded() -> None:
    class Retrieving(Agent):
        def answer(self, question: str) -> str:
            self.retrieved = [question[:10]]
            return "yes"

    assert run(Retrieving())[0].retrieved == ["Question 0"]


def test_an_agent_without_answer_has_a_null_prediction() -> None:
    class Silent(Agent):
        def answer(self, question: str) -> None:
            return None

    assert run(Silent())[0].prediction is None


def test_without_a_store_an_exception_comes_out_with_the_answers_so_far() -> None:
    with pytest.raises(AgentError, match=r"answering c1:0 .*RuntimeError: model down") as caught:
        run(Agent(fail=("Question 0 of 1?",)))
    assert [r.question_id for r in caught.value.results] == ["c0:0", "c0:1"]
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_with_a_store_a_failed_question_is_kept_with_its_error(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs.duckdb")
    results = run(Agent(fail=("Question 0 of 0?",)), store=store, run="mine")
    assert (results[0].prediction, results[0].error) == (None, "RuntimeError: model down")
    assert [r.error is None for r in results] == [False, True, True, True]
    assert store.load("mine")["error"].to_list() == ["RuntimeError: model down", None, None, None]


def test_a_rerun_asks_only_what_has_no_answer(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs.duckdb")
    run(Agent(fail=("Question 0 of 1?",)), store=store, run="mine")
    again = Agent()
    results = run(again, store=store, run="mine")
    assert again.log == ["reset", "ingest c1", "Question 0 of 1?"]
    assert all(r.prediction for r in results)
    assert {r.run for r in results} == {"mine"}
    stored = store.load("mine")
    assert stored["question_id"].to_list() == ["c0:0", "c0:1", "c1:0", "c1:1"]
    assert stored["prediction"].null_count() == 0


def test_failures_in_a_row_end_the_run_and_keep_all(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs.duckdb")
    fail = tuple(f"Question {q} of 0?" for q in (1, 2, 3))
    with pytest.raises(AgentError, match=r"3 failures in a row.*running again asks only the rest") as caught:
        run(Agent(fail=fail), dataset(1, 6), store=store, run="mine", max_errors=3)
    assert len(caught.value.results) == 4
    assert store.load("mine")["prediction"].to_list() == ["answer to Question 0 of 0?", None, None, None]


def test_an_answer_in_between_starts_the_count_anew(tmp_path: Path) -> None:
    fail = ("Question 0 of 0?", "Question 2 of 0?", "Question 4 of 0?")
    results = run(Agent(fail=fail), dataset(1, 6), store=Store(tmp_path / "r.duckdb"), run="mine", max_errors=2)
    assert [r.error is None for r in results] == [False, True] * 3


def test_a_sample_that_cannot_be_ingested_fails_all_its_questions(tmp_path: Path) -> None:
    results = run(Agent(fail=("c0",)), store=Store(tmp_path / "r.duckdb"), run="mine")
    assert [r.error for r in results] == ["OSError: disk full"] * 2 + [None] * 2


def test_ctrl_c_keeps_the_answers_of_the_sample(tmp_path: Path) -> None:
    class Interrupted(Agent):
        def answer(self, question: str) -> str:
            if question == "Question 1 of 0?":
                raise KeyboardInterrupt
            return "yes"

    store = Store(tmp_path / "r.duckdb")
    with pytest.raises(KeyboardInterrupt):
        run(Interrupted(), store=store, run="mine")
    assert store.load("mine")["question_id"].to_list() == ["c0:0"]


def test_progress_counts_questions(capsys: pytest.CaptureFixture[str]) -> None:
    run_eval(dataset(), Agent())
    assert "4/4" in capsys.readouterr().err
    run_eval(dataset(), Agent(), show_progress=False)
    assert capsys.readouterr().err == ""


def test_the_time_of_ingesting_is_kept(tmp_path: Path) -> None:
    store = Store(tmp_path / "r.duckdb")
    run(Agent(), store=store, run="mine")
    found = store.sql("select count(*) as n from results where (extra->>'ingest_s')::double >= 0")
    assert found["n"].item() == 4


def test_workers_have_an_agent_each_and_keep_the_order() -> None:
    made: list[Agent] = []
    meet = threading.Barrier(2, timeout=20)

    class Meeting(Agent):
        def ingest_sample(self, sample: Sample) -> None:
            meet.wait()  # passes only if two samples are at work at once

    def make() -> Agent:
        made.append(Meeting())
        return made[-1]

    results = run(make, dataset(4), workers=2)
    assert [r.question_id for r in results] == [f"c{s}:{q}" for s in range(4) for q in range(2)]
    assert len(made) == 2
    assert all(agent.asked for agent in made)


def test_an_error_of_one_worker_stops_the_others() -> None:
    with pytest.raises(AgentError, match="model down") as caught:
        run(lambda: Agent(fail=("Question 0 of 3?",)), dataset(50), workers=2)
    assert len(caught.value.results) < 98


def test_workers_commit_what_they_answered(tmp_path: Path) -> None:
    store = Store(tmp_path / "r.duckdb")
    run(Agent, dataset(6), workers=3, store=store, run="mine")
    assert store.load("mine")["question_id"].to_list() == [f"c{s}:{q}" for s in range(6) for q in range(2)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param({"run": "mine"}, "store and run go together", id="run without store"),
        pytest.param({"workers": 0}, "workers is 0", id="no worker"),
        pytest.param({"max_errors": 0}, "max_errors is 0", id="no failure allowed at all"),
        pytest.param({"workers": 2}, "needs a function that makes an agent, not a Agent", id="one agent, two workers"),
    ],
)
def test_arguments_that_do_not_go_together(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(Agent(), **options)
