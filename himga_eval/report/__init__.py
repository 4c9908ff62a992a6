"""One offline HTML file that shows what was run, what came out, and every question behind it."""

from himga_eval.report.build import build, leading

__all__ = ["build", "leading"]
