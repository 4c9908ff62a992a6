"""Judge answers with a language model, or by a rule where that is enough."""

from himga_eval.judge.answers import batch_judge, judge_answer, with_scores
from himga_eval.judge.cache import export, stats
from himga_eval.judge.judging import judge_frame
from himga_eval.judge.modes import MODES, Mode, register_mode
from himga_eval.judge.review import Estimate, estimate, recheck
from himga_eval.judge.rules import is_unanswerable
from himga_eval.judge.schema import JUDGEMENTS

__all__ = [
    "JUDGEMENTS",
    "MODES",
    "Estimate",
    "Mode",
    "batch_judge",
    "estimate",
    "export",
    "is_unanswerable",
    "judge_answer",
    "judge_frame",
    "recheck",
    "register_mode",
    "stats",
    "with_scores",
]
