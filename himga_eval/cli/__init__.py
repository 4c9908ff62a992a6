"""The command `himga-eval`: one module a group of commands, each registered on the app by being imported."""

from __future__ import annotations

from himga_eval.cli import ask, store
from himga_eval.cli.app import app, main

__all__ = ["app", "ask", "main", "store"]
