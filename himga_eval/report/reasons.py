"""Find what a judge has said of answers in the store that keeps it."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from himga_eval import queries
from himga_eval.judge import cache
from himga_eval.judge.plan import make_plan, with_keys
from himga_eval.schema import KEY, Results
from himga_eval.store import Store


def kept_judgements(scores: Results, path: Path, prompts: Path | None = None) -> pl.DataFrame | None:
    """Read the judgements of these answers by the judge that judged most of them, None where there are none.

    `prompts` is the folder of prompts that were used, as for `judge_frame`.

    Raises:
        InputError: no column question.
        StoreError: the store can't be used.
    """
    asked = make_plan(scores, prompts=prompts).to_ask
    judges = cache.judges(path, asked)
    if judges.is_empty():
        return None
    model, settings, _ = judges.row(0)
    keyed = with_keys(asked, model, settings).select(*KEY, "judge_model", "cache_key")
    told = Store(path).sql(queries.load("judgements_told"), keys=keyed["cache_key"].unique().to_list())
    return keyed.join(told, on="cache_key", maintain_order="left")
