"""The app that commands register on, and the one place where errors become exit codes.

0 ok, 1 error, 2 usage, 3 below a gate, 4 some rows failed, 5 a gate that the data cannot decide, 130 interrupted.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from himga_eval.errors import HimgaEvalError
from himga_eval.settings import apply_settings

BELOW_GATE = 3
FAILED_ROWS = 4
UNDECIDED = 5
INTERRUPTED = 130

FIRST = ("score", "table", "compare", "judge", "run", "report", "why", "sql", "runs")
"""The commands that the help lists first; the others follow as they are registered."""


class Commands(TyperGroup):
    """The commands in the order of use."""

    def list_commands(self, ctx: Any) -> list[str]:
        """List those that most people need first."""
        return sorted(self.commands, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))


app = typer.Typer(
    name="himga-eval",
    cls=Commands,
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
    given = sys.argv[1:] if args is None else args
    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = lambda message, *_, **__: say(f"note: {message}")
        try:
            app(["--format=json" if arg == "--json" else arg for arg in given])
        except SystemExit as stop:
            if stop.code == INTERRUPTED:
                say("interrupted; what was answered or judged so far is kept")
            return int(stop.code or 0)
        except (HimgaEvalError, OSError) as error:
            say(f"error: {error}")
            return 1
    return 0


def main() -> None:
    """Be the console script."""
    sys.exit(run())


def _version(wanted: bool) -> None:
    from importlib.metadata import version

    if wanted:
        print(f"himga-eval {version('himga-eval')}")
        raise typer.Exit


@app.callback()
def _himga_eval(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    """Score long-term-memory agents on LoCoMo and LongMemEval.

    Settings: a flag, else the environment, else himga-eval.toml in the working folder.
    """
    apply_settings()
