"""The columns of the judgements frame, and of the table that keeps judgements."""

from __future__ import annotations

import polars as pl

IDS: dict[str, pl.DataType] = {
    "row": pl.Int64(),
    "run": pl.String(),
    "dataset": pl.String(),
    "sample_id": pl.String(),
    "question_id": pl.String(),
    "question_type": pl.String(),
}
"""Which answer is judged; `row` is its place in what was given."""

ASKED: dict[str, pl.DataType] = {
    "judge_model": pl.String(),
    "settings": pl.String(),
    "mode": pl.String(),
    "prompt_hash": pl.String(),
    "prompt_source": pl.String(),
    "content_hash": pl.String(),
    "repeat": pl.Int32(),
}
"""What a verdict depends on."""

VERDICT: dict[str, pl.DataType] = {
    "status": pl.String(),
    "score": pl.Float64(),
    "reasoning": pl.String(),
    "raw_reply": pl.String(),
    "error": pl.String(),
    "answered_by": pl.String(),
    "attempts": pl.Int32(),
    "input_tokens": pl.Int64(),
    "output_tokens": pl.Int64(),
    "cache_read_tokens": pl.Int64(),
    "cache_write_tokens": pl.Int64(),
    "cost_usd": pl.Float64(),
    "latency_s": pl.Float64(),
    "created_at": pl.Datetime("us", "UTC"),
}
"""What came of asking."""

JUDGEMENTS: dict[str, pl.DataType] = {
    **IDS,
    **ASKED,
    **VERDICT,
    "cache_key": pl.String(),
    "cached": pl.Boolean(),
}
"""The judgements frame: a row an answer and repeat, in the order of the answers.

`status` is ok; refused, invalid, truncated or error for a judge that failed; unasked where the run stopped before; and
missing where there is no answer to judge, or nothing to judge it by. Only ok has a score. Equal answers are asked once:
`cached` is false for the first of them alone, so that the dollars where it is false are those that were paid.
"""

STORED: dict[str, pl.DataType] = {
    "cache_key": pl.String(),
    **{name: dtype for name, dtype in IDS.items() if name not in ("row", "run")},
    **ASKED,
    **VERDICT,
}
"""The columns of the table `judgements`."""

RULE = "rule"
"""The judge of modes that need no model."""
