"""Files of answers, written for one test."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

Put = Callable[..., Path]


@pytest.fixture
def put(tmp_path: Path) -> Put:
    """Write a file: bytes and text as they are, anything else as JSON; rows of a .jsonl a line each."""

    def write(name: str, content: Any) -> Path:
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif isinstance(content, str):
            path.write_bytes(content.encode())
        elif path.suffix == ".jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in content), encoding="utf-8")
        else:
            path.write_text(json.dumps(content), encoding="utf-8")
        return path

    return write


@pytest.fixture
def harbour() -> pl.DataFrame:
    """Two LoCoMo-like conversations; one question stands twice as it is, one as answerable and adversarial."""
    rows = [
        ("pier-1", "What colour is Ada's boat?", "single_hop", "Green", None),
        ("pier-1", "When did Ben mend the net?", "temporal", "3 May 2021", None),
        ("pier-1", "What does Ada sell?", "single_hop", "Mussels", None),
        ("pier-1", "What does Ada sell?", "single_hop", "Mussels", None),
        ("pier-1", "Who taught Ben to sail?", "multi_hop", "His aunt", None),
        ("pier-1", "Who taught Ben to sail?", "adversarial", "Not mentioned in the conversation", "Ada"),
        ("pier-2", "What colour is Ada's boat?", "open_domain", "Probably blue", None),
        ("pier-2", "How many gulls did Cleo count?", "single_hop", "12", None),
        ("pier-2", "Does Cleo own a lighthouse?", "adversarial", "Not mentioned in the conversation", "Yes"),
    ]
    frame = pl.DataFrame(
        rows, schema=["sample_id", "question", "question_type", "ground_truth", "adversarial_answer"], orient="row"
    )
    place = pl.int_range(pl.len()).over("sample_id")
    return frame.select(
        pl.lit("locomo").alias("dataset"),
        "sample_id",
        pl.format("{}:{}", "sample_id", place).alias("question_id"),
        pl.exclude("sample_id"),
    )
