"""The command `himga-eval`: one module a group of commands, each registered on the app by being imported."""

from __future__ import annotations

from himga_eval.cli import agree, ask, compare, protocols, report, store, table
from himga_eval.cli.app import app, main

__all__ = ["agree", "app", "ask", "compare", "main", "protocols", "report", "store", "table"]
