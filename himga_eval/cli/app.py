"""The app that commands register on, and the one place where errors become exit codes.

0 ok, 1 error, 2 usage, 3 below a gate, 4 some rows failed, 5 a gate that the data cannot decide, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence

import typer

from himga_eval.errors import HimgaEvalError

BELOW_GATE = 3
UNDECIDED = 5

app = typer.Typer(
    name="himga-eval",
    help="Score long-term-memory agents on LoCoMo and LongMemEval.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def say(line: str) -> None:
    """Tell a person something that is no result: on stderr."""
    print(line, file=sys.stderr)


def run(args: Sequence[str] | None = None) -> int:
    """Run a command line and give its exit code."""
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = lambda message, *_, **__: say(f"note: {message}")
        try:
            app(args=args)
        except SystemExit as stop:
            return int(stop.code or 0)
        except BrokenPipeError:  # the reader of our output went away, as `| head` does
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        except (HimgaEvalError, OSError) as error:
            say(f"error: {error}")
            return 1
    return 0


def main() -> None:
    """Be the console script."""
    sys.exit(run())
