"""Judge a frame of answers: ask only what no cache holds, and keep every answer as it comes."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from himga_eval.errors import InputError, LLMError, StoreLocked
from himga_eval.judge import cache as store
from himga_eval.judge.journal import Journal, recover
from himga_eval.judge.plan import TEXTS, Plan, make_plan, settings_of, with_keys
from himga_eval.judge.schema import JUDGEMENTS, STORED, VERDICT
from himga_eval.judge.verdicts import reader, schema
from himga_eval.llm.asking import Answer
from himga_eval.llm.base import Endpoint, Request, encodable
from himga_eval.llm.chat import as_endpoint
from himga_eval.llm.pool import Pool, pool_for
from himga_eval.protocols import DEFAULT, ProtocolLike
from himga_eval.schema import Results

logger = logging.getLogger(__name__)


def judge_frame(
    results: Results,
    llm: Any = None,
    *,
    cache: str | os.PathLike[str] | None,
    mode: str = "auto",
    protocol: ProtocolLike = DEFAULT,
    judge: str | None = None,
    repeats: int = 1,
    prompts: str | os.PathLike[str] | None = None,
    show_progress: bool = True,
    **limits: float | None,
) -> pl.DataFrame:
    """Judge every answer, and return the judgements frame: a row an answer and repeat, see `JUDGEMENTS`.

    `llm` is a client of ours or anything with `chat`; that is asked one call at a time, since it may not be
    thread-safe, unless `concurrency` is given or it is a coroutine. Without an `llm`, the verdicts of the one judge are
    meant that the cache holds for these answers, or of the one that `judge` names. `prompts` is a folder of prompts
    that replace the built-in ones by name. Under another protocol than ours its modes are used, and answers that it
    does not count have no row. `limits` are those of `Pool`: concurrency, rpm, tpm, max_cost, timeout, deadline.

    A judge that fails leaves a row that says why, without a score. Whatever ends the run, what was answered is in the
    cache, and a rerun asks only the rest.

    Raises:
        InputError: something is missing of the answers, the mode, the prompts, the judge.
        LLMError: the judge could not be reached at all, for want of a key, say.
        StoreError: the cache can't be used.
    """
    plan = make_plan(results, mode=mode, protocol=protocol, repeats=repeats, prompts=Path(prompts) if prompts else None)
    path = store.cache_file(cache) if cache else None
    if path is not None:
        recover(path)
    rows, known = find_known(plan, llm, path, judge)
    asking = rows.join(known, on="cache_key", how="anti").unique("cache_key", maintain_order=True)
    journal, stopped = Journal(None), None
    with pool_for(limits) as pool:
        if asking.height:
            journal = Journal(path)
            stopped = ask(pool, as_endpoint(llm), plan, asking, journal, show_progress=show_progress)
    answered = pl.DataFrame(journal.rows, STORED)
    return _judgements(plan, rows, known, answered, stopped)


def find_known(plan: Plan, llm: Any, path: Path | None, judge: str | None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Key the rows that need a model by the judge that is meant, and find what the cache holds of them."""
    rows = plan.to_ask
    if llm is not None:
        endpoint = as_endpoint(llm)
        rows = with_keys(rows, endpoint.model, settings_of(endpoint))
    else:
        rows = with_keys(rows, *_the_judge(rows, path, judge))
    known = pl.DataFrame(schema=STORED) if path is None else store.lookup(path, rows["cache_key"])
    if llm is None and (missing := rows.join(known, on="cache_key", how="anti")).height:
        raise InputError(
            f"llm is None, and {path} lacks {missing.height} of {rows.height} judgements; give an llm to ask for them"
        )
    return rows, known


def ask(
    pool: Pool, client: Endpoint, plan: Plan, asking: pl.DataFrame, journal: Journal, *, show_progress: bool
) -> str | None:
    """Ask for the verdicts on these rows, each into the journal as it comes; say why it stopped early, if it did.

    Raises:
        LLMError: it stopped before the judge had said anything at all.
    """
    by_key = {row["cache_key"]: row for row in asking.iter_rows(named=True)}

    def requests() -> Iterator[tuple[str, Request]]:
        for key, row in by_key.items():
            prompt = plan.prompts[row["mode"]]
            scale = prompt.mode.scale
            wanted = schema(scale) if client.fills_schema else None
            yield key, Request(prompt.fill(*(row[name] for name in TEXTS)), read=reader(scale), schema=wanted)

    with _progress(len(by_key), show_progress) as show:

        def tick() -> None:
            journal.tick()
            show(len(journal.rows), pool.spent)

        try:
            stopped = pool.run(client, requests(), lambda answer: journal.add(_row(by_key[answer.key], answer)), tick)
        finally:
            show(len(journal.rows), pool.spent)
            _flush(journal)
    if stopped and not pool.budget_ended and all(row["status"] == "error" for row in journal.rows):
        raise LLMError(stopped)
    return stopped


@contextmanager
def _progress(total: int, wanted: bool) -> Iterator[Callable[[int, float], None]]:
    """Give the function that shows how many answers are judged, for how many dollars."""
    if not wanted:
        yield lambda judged, spent: None
        return
    from tqdm.auto import tqdm

    with tqdm(total=total, desc="judging", unit="answer") as bar:

        def show(judged: int, spent: float) -> None:
            if spent:
                bar.set_postfix_str(f"${spent:.4f}", refresh=False)
            bar.update(judged - bar.n)

        yield show


def _flush(journal: Journal) -> None:
    try:
        journal.flush()
    except StoreLocked as error:
        raise StoreLocked(f"{error}. The {len(journal.rows)} new judgements wait beside it for the next run") from None


def _row(asked: dict[str, Any], answer: Answer) -> dict[str, Any]:
    """What is stored of an answer: what was asked, and what came of it."""
    verdict, usage = answer.value, answer.usage
    ok = answer.status == "ok"
    row = {
        **{name: asked[name] for name in STORED if name not in VERDICT},
        "status": answer.status,
        "score": verdict.score if ok else None,
        "reasoning": verdict.reasoning if ok else None,
        "raw_reply": None if ok else answer.text,
        "error": answer.error,
        "answered_by": answer.model,
        "attempts": answer.attempts,
        "input_tokens": usage and usage.input_tokens,
        "output_tokens": usage and usage.output_tokens,
        "cache_read_tokens": usage and usage.cache_read_tokens,
        "cache_write_tokens": usage and usage.cache_write_tokens,
        "cost_usd": answer.cost_usd,
        "latency_s": answer.latency_s,
        "created_at": datetime.now(UTC),
    }
    return {name: encodable(value) if isinstance(value, str) else value for name, value in row.items()}


def _judgements(
    plan: Plan, rows: pl.DataFrame, known: pl.DataFrame, answered: pl.DataFrame, stopped: str | None
) -> pl.DataFrame:
    """Put the rows that a model judged beside those that needed none."""
    ids = [name for name in JUDGEMENTS if name in rows.columns and name not in VERDICT]
    first = pl.col("cache_key").is_first_distinct() & pl.col("cache_key").is_in(answered["cache_key"].implode())
    verdicts = pl.concat([known, answered]).select("cache_key", *VERDICT)
    asked = (
        rows.select(ids)
        .join(verdicts, on="cache_key", how="left", maintain_order="left")
        .with_columns(
            cached=~first & pl.col("status").is_not_null(),
            error=pl.when(pl.col("status").is_null()).then(pl.lit(stopped)).otherwise("error"),
            status=pl.col("status").fill_null("unasked"),
        )
    )
    ruled = plan.rows.filter(pl.col("status").is_not_null()).with_columns(cached=pl.lit(False), attempts=pl.lit(0))
    frame = pl.concat([asked, ruled.drop(TEXTS)], how="diagonal_relaxed").sort("row", "repeat", maintain_order=True)
    frame = frame.with_columns(
        pl.lit(None, dtype).alias(name) for name, dtype in JUDGEMENTS.items() if name not in frame.columns
    )
    failed = frame.filter(~pl.col("status").is_in(["ok", "missing"]))
    if failed.height:
        told, commonest = count_by_status(failed), failed["error"].mode(maintain_order=True)[0]
        logger.warning("%d of %d judgements have no score (%s): %s", failed.height, frame.height, told, commonest)
    return frame.select(*JUDGEMENTS).cast(JUDGEMENTS)  # type: ignore[arg-type]


def count_by_status(frame: pl.DataFrame) -> str:
    """Say how many judgements failed how: "3 invalid, 1 refused"."""
    counts = frame["status"].value_counts(sort=True).rows()
    return ", ".join(f"{count} {status}" for status, count in counts)


def _the_judge(rows: pl.DataFrame, path: Path | None, judge: str | None) -> tuple[str, str]:
    """Find the one judge whose verdicts on these rows the cache holds."""
    if rows.is_empty():
        return "", ""
    if path is None:
        raise InputError(
            f"llm is None, and {rows.height} answers need a judge; give an llm, or a cache that holds verdicts"
        )
    found = store.judges(path, rows)
    named = found if judge is None else found.filter(pl.col("judge_model") == judge)
    if named.height == 1:
        model, settings, _ = named.row(0)
        return model, settings
    listed = "; ".join(f"{model} {settings} ({count} of {rows.height})" for model, settings, count in found.rows())
    if named.is_empty():
        held = f"it holds those of {listed}" if listed else "it holds none on them"
        raise InputError(
            f"llm is None, and {path} has no verdicts {f'of {judge!r} ' if judge else ''}on these answers; {held}"
        )
    hint = "name one as judge=" if judge is None else "give the llm with the settings that are meant"
    raise InputError(f"{path} holds the verdicts of several judges on these answers: {listed}; {hint}")
