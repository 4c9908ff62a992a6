"""What answers took, and what judging them has cost."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from himga_eval.costs import COSTS, cost_tables, costs
from himga_eval.judge.cache import keep
from himga_eval.judge.schema import STORED
from himga_eval.judge.templates import digest


def run_of(name: str, **columns: object) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "run": name,
            "dataset": "mine",
            "sample_id": "s",
            "question_id": ["q0", "q1", "q2"],
            "question": ["a?", "b?", "c?"],
            "ground_truth": "y",
            "prediction": ["x", "z", None],
            **columns,
        }
    )


TOOK = {"latency_s": [1.0, 3.0, 2.0], "input_tokens": [100, 300, None], "output_tokens": [10, None, None]}


def judged(path: Path, texts: tuple[str, str, str], dollars: float | None, repeat: int = 1) -> None:
    """Keep a judgement of an answer."""
    row: dict[str, object] = dict.fromkeys(STORED) | {
        "cache_key": digest(*texts, str(repeat)),
        "content_hash": digest(*texts),
        **dict.fromkeys(("judge_model", "settings", "mode", "prompt_hash", "prompt_source"), "x"),
        **{"repeat": repeat, "status": "ok", "score": 1.0, "attempts": 1, "cost_usd": dollars},
        "created_at": datetime.now(UTC),
    }
    keep(path, [row])


def test_what_answers_took() -> None:
    found = costs(pl.concat([run_of("larch", **TOOK), run_of("wren")], how="diagonal"))
    assert found.schema == COSTS
    larch, wren = found.rows(named=True)
    assert (larch["latency_p50_s"], larch["latency_p95_s"]) == pytest.approx((2.0, 2.9))
    assert (larch["input_tokens"], larch["output_tokens"]) == (200, 10)
    assert (larch["answered"], larch["timed"], larch["metered"]) == (2, 3, 2)
    assert {name for name, value in wren.items() if value is None} == {
        *("latency_p50_s", "latency_p95_s", "input_tokens", "output_tokens", "judge_usd"),
    }


def test_what_judging_has_cost(tmp_path: Path) -> None:
    cache = tmp_path / "cache.duckdb"
    judged(cache, ("a?", "y", "x"), 0.25)
    judged(cache, ("a?", "y", "x"), 0.5, repeat=2)
    judged(cache, ("of another run?", "y", "x"), 8.0)
    frame = pl.concat([run_of("larch"), run_of("wren"), run_of("finch").head(1).with_columns(prediction=pl.lit("w"))])
    found = costs(frame, cache)
    assert dict(found.select("run", "judge_usd").rows()) == {"larch": 0.75, "wren": 0.75, "finch": None}
    judged(cache, ("b?", "y", "z"), None)
    assert costs(frame, cache)["judge_usd"].to_list() == [None] * 3
    assert costs(frame, tmp_path / "absent.duckdb")["judge_usd"].to_list() == [None] * 3
    assert costs(frame.drop("question"), cache)["judge_usd"].to_list() == [None] * 3


def test_a_table_of_costs(tmp_path: Path) -> None:
    cache = tmp_path / "cache.duckdb"
    judged(cache, ("a?", "y", "x"), 1234.5)
    wren = run_of("wren").with_columns(prediction=pl.lit("w"))
    (table,) = cost_tables(costs(pl.concat([run_of("larch", **TOOK), wren], how="diagonal"), cache))
    assert table.title == "cost on mine"
    assert table.grid.columns[2:4] == ["seconds\np50", "seconds\np95"]
    assert table.grid.rows() == [
        ("larch", "2", "2.00", "2.90", "200", "10", "1,234.50"),
        ("wren", "3", "–", "–", "–", "–", "–"),
    ]
    assert table.note.startswith(
        "Seconds and tokens of an answer; tokens are means; judge $ is what all stored judgements"
    )


def test_a_part_that_was_measured_is_said_to_be_one() -> None:
    run = run_of("Larch", **TOOK | {"latency_s": [1.0, None, None]})
    (table,) = cost_tables(costs(run))
    assert "seconds of Larch rest on 1 of 2 answers" in table.note
