"""Put the report together: what is laid out and drawn elsewhere, every question as one block of data, and the page."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Mapping
from importlib.resources import files
from string import Template
from typing import Any

import polars as pl

from himga_eval.comparable import Settings
from himga_eval.costs import costs as costs_of
from himga_eval.cuts import complete
from himga_eval.errors import InputError
from himga_eval.report import drawings, sections
from himga_eval.report.questions import questions
from himga_eval.schema import Results, require_unique, results_frame
from himga_eval.scoring import PUBLISHED, score_columns, summarise

HEADLINES = ("judge_score", f"{PUBLISHED}judge_score", "f1", "bleu1")
"""What a report leads with, of what there is: the columns of most papers on LoCoMo."""


def build(
    scores: Results,
    *,
    judgements: pl.DataFrame | None = None,
    comparison: pl.DataFrame | None = None,
    moved: pl.DataFrame | None = None,
    costs: pl.DataFrame | None = None,
    settings: Settings | None = None,
    title: str = "Evaluation report",
) -> str:
    """Write scores as one HTML page that needs nothing besides itself, and give its text.

    `judgements` adds the judge's reasoning, `comparison` what comparing runs found, `moved` why single questions were
    won or lost, `costs` what judging has cost, and `settings` what was noted of the runs. Texts of the data stay text,
    whatever they hold.

    Raises:
        InputError: no rows, or no metric's column.
        DuplicateRows: a question stands twice in a run.
    """
    frame = complete(results_frame(scores))
    if frame.is_empty():
        raise InputError("there is nothing to report: not a single row")
    require_unique(frame)
    summary = summarise(frame)
    metrics, first = score_columns(frame), leading(frame)
    costs = costs_of(frame) if costs is None else costs
    shown = summary.filter(pl.col("metric").is_in(first))
    parts = {
        "title": sections.text(title),
        "subtitle": sections.subtitle(frame),
        "headline": sections.headline(shown, first),
        "tables": sections.tables(frame, shown),
        "comparison": "" if comparison is None else sections.compared(comparison),
        "runs": sections.runs(frame, costs),
        "about": sections.about(frame, metrics, settings or {}, judgements),
    }
    data = {
        "charts": drawings.charts(summary, first, comparison, costs),
        **questions(frame, metrics, first[0], judgements, moved),
    }
    return _page(parts, data)


def leading(scores: pl.DataFrame) -> list[str]:
    """Choose the metrics that a report leads with, of those that a frame has."""
    metrics = score_columns(scores)
    return [name for name in HEADLINES if name in metrics] or metrics[:1]


def _page(parts: Mapping[str, str], data: Mapping[str, Any]) -> str:
    """Fill the page. Its policy lets run one script, which is ours, and fetch nothing."""
    style, script = (_file(name) for name in ("page.css", "page.js"))
    packed = gzip.compress(json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode(), 9, mtime=0)
    return Template(_file("page.html")).substitute(
        parts,
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
        data=base64.b64encode(packed).decode(),
    )


def _file(name: str) -> str:
    return (files("himga_eval.report") / name).read_text(encoding="utf-8")


def _hash(source: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}"
