"""Look before judging at what it will cost, and after it at how steady the judge is."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from himga_eval.errors import InputError
from himga_eval.judge import cache as store
from himga_eval.judge.journal import Journal, recover
from himga_eval.judge.judging import ask, find_known
from himga_eval.judge.plan import TEXTS, make_plan
from himga_eval.judge.schema import STORED
from himga_eval.judge.verdicts import json_schema
from himga_eval.llm.base import Endpoint, Usage
from himga_eval.llm.chat import as_endpoint
from himga_eval.llm.pool import pool_for
from himga_eval.llm.prices import price
from himga_eval.protocols import DEFAULT, ProtocolLike
from himga_eval.schema import Results

BYTES_A_TOKEN = 4
"""Of English text, about."""

OUTPUT_TOKENS = 80
"""Of a verdict, about, where no stored one tells better."""


@dataclass(frozen=True)
class Estimate:
    """What judging will take. Calls are exact unless some fail; tokens and dollars are estimates, by `basis`."""

    answers: int
    judgements: int
    by_rule: int
    missing: int
    cached: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    basis: str

    def __str__(self) -> str:
        equal = self.judgements - self.by_rule - self.missing - self.cached - self.calls
        counts = {"cached": self.cached, "equal to another": equal, "by rule": self.by_rule, "missing": self.missing}
        spared = ", ".join(f"{count:,} {why}" for why, count in counts.items() if count)
        text = f"{self.calls:,} calls for {self.judgements:,} judgements of {self.answers:,} answers"
        text += f" ({spared})" if spared else ""
        if self.calls == 0:
            return text
        digits = 2 if (self.cost_usd or 0) >= 1 else 4
        cost = "price unknown" if self.cost_usd is None else f"about ${self.cost_usd:.{digits}f}"
        return f"{text}; about {self.input_tokens:,} tokens in, {self.output_tokens:,} out, {cost} ({self.basis})"


def estimate(
    results: Results,
    llm: Any,
    *,
    cache: str | os.PathLike[str] | None,
    mode: str = "auto",
    protocol: ProtocolLike = DEFAULT,
    repeats: int = 1,
    prompts: str | os.PathLike[str] | None = None,
    again: int | None = None,
) -> Estimate:
    """Say how many calls `judge_frame` would make, and about how many tokens and dollars they take. It asks nothing.

    With `again` it is for a `recheck` of so many.

    Raises:
        InputError: something is missing of the answers, the mode, the prompts, the stored verdicts.
        StoreError: the cache can't be used.
    """
    plan = make_plan(results, mode=mode, protocol=protocol, repeats=repeats, prompts=Path(prompts) if prompts else None)
    path = store.cache_file(cache) if cache else None
    client = as_endpoint(llm)
    if path is not None:
        recover(path)
    rows, known = find_known(plan, client, path, None)
    if again is None:
        judged, asking = plan.rows, rows.join(known, on="cache_key", how="anti").unique("cache_key")
        cached = rows.join(known, on="cache_key", how="semi").height
    else:
        judged = asking = _drawn(rows, known, again, 0, client, path)
        cached = 0
    calls = asking.height
    size = 0
    for name, *texts in asking.select("mode", *TEXTS).iter_rows():
        prompt = plan.prompts[name]
        size += sum(len(m["content"].encode()) for m in prompt.fill(*texts)) + len(json_schema(prompt.mode.scale))
    each = known["output_tokens"].mean()
    told = known["output_tokens"].count()
    input_tokens = size // BYTES_A_TOKEN
    output_tokens = round(calls * (float(each) if isinstance(each, (int, float)) else OUTPUT_TOKENS))
    # A call of average length: many calls are not priced like a single long one.
    usage = Usage(round(input_tokens / calls), round(output_tokens / calls)) if calls else Usage()
    usd = price(usage, client.model, client.provider)
    statuses = judged["status"].to_list()
    return Estimate(
        answers=judged["row"].n_unique(),
        judgements=judged.height,
        by_rule=statuses.count("ok"),
        missing=statuses.count("missing"),
        cached=cached,
        calls=calls,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cost_usd=None if usd is None else calls * usd,
        basis=f"{BYTES_A_TOKEN} bytes a token in, "
        + (f"the mean of {told} stored verdicts out" if told else f"{OUTPUT_TOKENS} tokens a verdict out"),
    )


def recheck(
    results: Results,
    llm: Any,
    *,
    cache: str | os.PathLike[str],
    n: int,
    seed: int = 0,
    mode: str = "auto",
    protocol: ProtocolLike = DEFAULT,
    repeats: int = 1,
    prompts: str | os.PathLike[str] | None = None,
    show_progress: bool = True,
    **limits: float | None,
) -> pl.DataFrame:
    """Ask `n` stored verdicts on these answers again, and return both scores of each; the stored ones stay.

    A row has the columns of what is stored, `score_again`, `error_again`, and `changed`, null where the judge failed.

    Raises:
        InputError: the cache holds no verdict of this judge on these answers, or `n` is below 1.
        LLMError: nothing could be asked at all.
        StoreError: the cache can't be used.
    """
    plan = make_plan(results, mode=mode, protocol=protocol, repeats=repeats, prompts=Path(prompts) if prompts else None)
    path = store.cache_file(cache)
    recover(path)
    client = as_endpoint(llm)
    rows, known = find_known(plan, client, path, None)
    asking = _drawn(rows, known, n, seed, client, path)
    journal = Journal(None)
    with pool_for(limits) as pool:
        ask(pool, client, plan, asking, journal, show_progress=show_progress)
    again = pl.DataFrame(journal.rows, STORED).select("cache_key", score_again="score", error_again="error")
    return (
        known.join(asking, on="cache_key", how="semi", maintain_order="left")
        .join(again, on="cache_key", how="left", maintain_order="left")
        .with_columns(changed=pl.col("score") != pl.col("score_again"))
    )


def _drawn(
    rows: pl.DataFrame, known: pl.DataFrame, n: int, seed: int, client: Endpoint, path: Path | None
) -> pl.DataFrame:
    """Draw the rows of `n` known verdicts, or of all where there are fewer."""
    if n < 1:
        raise InputError(f"{n} verdicts to ask again; it takes one at least")
    if known.is_empty():
        raise InputError(f"{path} holds no verdict of {client.model} on these answers; judge them first")
    drawn = known.sort("cache_key").sample(min(n, known.height), seed=seed)
    return rows.join(drawn, on="cache_key", how="semi").unique("cache_key", maintain_order=True)
