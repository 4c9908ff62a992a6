"""Scores long-term-memory agents on LoCoMo and LongMemEval, in a dataframe."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from himga_eval import exprs
    from himga_eval.errors import HimgaEvalError
    from himga_eval.formats import read_run
    from himga_eval.judge import batch_judge, judge_frame
    from himga_eval.runner import run_eval
    from himga_eval.schema import EvalResult, results_frame
    from himga_eval.scoring import compute_metrics, score, summarise
    from himga_eval.store import Store

__all__ = [
    "EvalResult",
    "HimgaEvalError",
    "Store",
    "batch_judge",
    "compute_metrics",
    "exprs",
    "judge_frame",
    "read_run",
    "results_frame",
    "run_eval",
    "score",
    "summarise",
]

_HOME = {
    "EvalResult": "schema",
    "HimgaEvalError": "errors",
    "Store": "store",
    "batch_judge": "judge",
    "compute_metrics": "scoring",
    "judge_frame": "judge",
    "read_run": "formats",
    "results_frame": "schema",
    "run_eval": "runner",
    "score": "scoring",
    "summarise": "scoring",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for, so that importing the package costs next to nothing."""
    if name not in _HOME:
        raise AttributeError(f"module 'himga_eval' has no attribute {name!r}; it has: {', '.join(__all__)}")
    return getattr(import_module(f"himga_eval.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
