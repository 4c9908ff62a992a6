"""Ask an agent every question of a data set. No judge, no metric: what comes out is answers."""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

import polars as pl
from tqdm.auto import tqdm

from himga_eval.data.schema import QAPair, Sample
from himga_eval.errors import AgentError, InputError
from himga_eval.llm.pool import current_pool, metered
from himga_eval.schema import RESULTS, EvalResult, results_frame
from himga_eval.store import Store

MAX_ERRORS = 5
"""How many failures in a row end a run that has a store."""

Key = tuple[str, str]
"""A question of a data set: its sample's id and its own."""


def run_eval(
    dataset: Iterable[Sample],
    agent: Any,
    *,
    show_progress: bool = True,
    store: Store | None = None,
    run: str | None = None,
    workers: int = 1,
    max_errors: int = MAX_ERRORS,
) -> list[EvalResult]:
    """Collect the agent's answers, in the order of the data set.

    For each sample the agent's memory is reset, the sample ingested, and its questions asked in order. An agent is
    anything with `memory.reset()`, `ingest_sample(sample)` and `answer(question)`; where `answer` takes `date` it is
    given the question's. With `workers` above 1 `agent` is a function that makes one, and each worker has its own.

    With `store` and `run` the answers of each sample are committed as they come, and running again asks only what has
    no answer yet. A question on which the agent raises is then kept with its `error` and no prediction; `max_errors`
    failures in a row end the run, and so does the first after the budget of the pool around it has ended.

    Raises:
        AgentError: the agent raised. Its `results` are the answers so far.
        InputError: arguments that do not go together.
    """
    if (store is None) != (run is None):
        raise InputError("store and run go together: the store keeps the answers under the run's name")
    for name, value in {"workers": workers, "max_errors": max_errors}.items():
        if not isinstance(value, int) or value < 1:
            raise InputError(f"{name} is {value!r}; it is a whole number, 1 at least")
    if workers > 1 and not callable(agent):
        raise InputError(f"workers={workers} needs a function that makes an agent, not a {type(agent).__name__}")
    samples = list(dataset)
    session = _Session(samples, store, run, max_errors)
    with tqdm(total=len(session.places), disable=not show_progress, unit="question") as session.bar:
        session.bar.update(len(session.answers))
        try:
            if workers > 1:
                session.ask_in_parallel(samples, agent, workers)
            else:
                one = agent if hasattr(agent, "answer") else agent()
                for sample in samples:
                    session.ask(sample, one)
        except AgentError as error:
            error.results = session.results()
            raise
    return session.results()


class _Session:
    """What the workers of one run share."""

    def __init__(self, samples: list[Sample], store: Store | None, run: str | None, max_errors: int) -> None:
        keys = [(sample.sample_id, qa.question_id) for sample in samples for qa in sample.qa_pairs]
        self.places = {key: place for place, key in enumerate(keys)}
        self.answers = {key: answer for key, answer in _stored(store, run) if key in self.places}
        self.bar: Any = None
        self._store, self._run, self._max_errors = store, run, max_errors
        self._failures = 0
        self._stop = threading.Event()
        self._lock = threading.Lock()

    def results(self) -> list[EvalResult]:
        """Give the answers in the order of the data set."""
        return [self.answers[key] for key in sorted(self.answers, key=self.places.__getitem__)]

    def ask(self, sample: Sample, agent: Any) -> None:
        """Ask what has no answer of a sample, and commit the answers, whatever happens."""
        questions = [qa for qa in sample.qa_pairs if (sample.sample_id, qa.question_id) not in self.answers]
        if not questions or self._stop.is_set():
            return
        fresh: list[EvalResult] = []
        ingest = _Attempt()
        try:
            ingest = _attempt(lambda: _ingest(agent, sample))
            if ingest.error is not None:
                fresh = [self._result(sample, qa, ingest) for qa in questions]
                self._failed(f"ingesting {sample.sample_id}", ingest.error)
                return
            answer = _asker(agent)
            for qa in questions:
                if self._stop.is_set():
                    return
                tried = _attempt(lambda: answer(qa))  # noqa: B023
                fresh.append(self._result(sample, qa, tried, getattr(agent.memory, "retrieved", None)))
                self.bar.update()
                if tried.error is None:
                    self._failures = 0
                else:
                    self._failed(f"answering {qa.question_id} ({qa.question!r:.80})", tried.error)
        finally:
            self._keep(fresh, ingest.seconds)

    def ask_in_parallel(self, samples: list[Sample], make_agent: Callable[[], Any], workers: int) -> None:
        """Ask several samples at a time, each worker with an agent of its own."""
        agents: SimpleQueue[Any] = SimpleQueue()
        for _ in range(workers):
            agents.put(make_agent())

        def work(sample: Sample) -> None:
            agent = agents.get()
            try:
                self.ask(sample, agent)
            finally:
                agents.put(agent)

        with ThreadPoolExecutor(workers) as pool:
            futures = [pool.submit(work, sample) for sample in samples]
            try:
                for future in as_completed(futures):
                    future.result()
            finally:
                self._stop.set()  # whoever is still at work finishes its question, and commits
                pool.shutdown(cancel_futures=True)

    def _failed(self, doing: str, error: Exception) -> None:
        """Count a failure; raises AgentError where the run cannot go on."""
        told = f"the agent raised while {doing}: {_told(error)}"
        if self._store is None:
            self._stop.set()
            raise AgentError(f"{told}. The answers so far are this error's `results`") from error
        with self._lock:
            self._failures += 1
            failures = self._failures
        if failures >= self._max_errors or current_pool().budget_ended:
            self._stop.set()
            in_a_row = f"{failures} failures in a row, the last: " if failures > 1 else ""
            raise AgentError(
                f"{in_a_row}{told}. What was answered is in {self._store.path} "
                f"as {self._run}; running again asks only the rest"
            ) from error

    def _result(self, sample: Sample, qa: QAPair, tried: _Attempt, retrieved: list[str] | None = None) -> EvalResult:
        return EvalResult(
            run=self._run,
            sample_id=sample.sample_id,
            question_id=qa.question_id,
            question_type=qa.question_type,
            question=qa.question,
            ground_truth=qa.answer,
            prediction=None if tried.value is None else str(tried.value),
            dataset=sample.dataset,
            evidence=[*qa.evidence.turn_ids, *qa.evidence.session_ids] or None,
            retrieved=None if retrieved is None or tried.error is not None else list(retrieved),
            latency_s=tried.seconds,
            input_tokens=tried.input_tokens,
            output_tokens=tried.output_tokens,
            error=None if tried.error is None else _told(tried.error),
        )

    def _keep(self, fresh: list[EvalResult], ingest_s: float | None) -> None:
        """Take in the answers of a sample, and commit them where there is a store."""
        if self._store is None:
            fresh = [result for result in fresh if result.error is None]
        if not fresh:
            return
        with self._lock:
            self.answers |= {(result.sample_id, result.question_id): result for result in fresh}
            if self._store is not None:
                places = [self.places[result.sample_id, result.question_id] for result in fresh]
                frame = results_frame(fresh)
                self._store.append(frame.with_columns(ingest_s=pl.lit(ingest_s)), places)


@dataclass
class _Attempt:
    """What came of a call to the agent, and what it took."""

    value: Any = None
    error: Exception | None = None
    seconds: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


def _attempt(call: Callable[[], Any]) -> _Attempt:
    tried = _Attempt()
    started = time.perf_counter()
    with metered() as calls:
        try:
            tried.value = call()
        except Exception as error:
            tried.error = error
    tried.seconds = time.perf_counter() - started
    used = [call.usage for call in calls if call.usage is not None]
    if used:  # only our own clients tell their tokens
        tried.input_tokens = sum(usage.input_tokens for usage in used)
        tried.output_tokens = sum(usage.output_tokens for usage in used)
    return tried


def _ingest(agent: Any, sample: Sample) -> None:
    agent.memory.reset()
    agent.ingest_sample(sample)


def _asker(agent: Any) -> Callable[[QAPair], Any]:
    """Ask with the question's date where the agent takes one."""
    if "date" in inspect.signature(agent.answer).parameters:
        return lambda qa: agent.answer(qa.question, date=qa.question_date)
    return lambda qa: agent.answer(qa.question)


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _stored(store: Store | None, run: str | None) -> Iterator[tuple[Key, EvalResult]]:
    """Read the answers that the run has already; a failed question has none."""
    if store is None or run is None or not store.has(run):
        return
    frame = store.load(run).filter(pl.col("prediction").is_not_null())
    known = [name for name in RESULTS if name in frame.columns]
    for row in frame.select(known).iter_rows(named=True):
        yield (row["sample_id"], row["question_id"]), EvalResult(**row)
