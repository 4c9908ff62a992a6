"""Arrows point one way, and importing the package takes nothing heavy with it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import himga_eval

PACKAGE = Path(himga_eval.__file__).parent

LAYERS = [
    {"errors"},
    {"values"},
    {"schema", "queries", "database", "settings", "stats", "styles"},
    {"data", "metrics", "llm", "gates", "retrieval"},
    {"exprs", "memory", "formats"},
    {"agent", "protocols"},
    {"judge", "scoring", "labels", "arithmetic"},
    {"across", "footnotes", "stored_rows"},
    {"store", "table", "charts", "cuts", "errata", "claims", "agreement"},
    {
        "runner",
        "bootstrap",
        "calibration",
        "comparable",
        "comparison_table",
        "costs",
        "failures",
        "labelling",
        "manifest",
        "markup",
        "plaintext",
        "repeats",
    },
    {"compare"},
    {"report"},
    {"cli"},
]
"""A module imports from its own room and from layers above it in this list."""


def rooms() -> dict[str, set[str]]:
    """Which rooms of the package each room imports, wherever the import stands."""
    found: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        if path == PACKAGE / "__init__.py":
            continue
        room = path.relative_to(PACKAGE).with_suffix("").parts[0]
        names = found.setdefault(room, set())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "himga_eval":
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("himga_eval."):
                names.add(str(node.module).split(".")[1])
            elif isinstance(node, ast.Import):
                names.update(a.name.split(".")[1] for a in node.names if a.name.startswith("himga_eval."))
    return {room: names - {room} for room, names in found.items()}


def test_every_room_has_a_layer() -> None:
    assert set(rooms()) == set().union(*LAYERS)


@pytest.mark.parametrize("room", sorted(rooms()))
def test_arrows_point_one_way(room: str) -> None:
    level = next(i for i, layer in enumerate(LAYERS) if room in layer)
    assert rooms()[room] <= set().union(*LAYERS[:level])


def test_importing_the_package_takes_nothing_heavy_with_it() -> None:
    heavy = ("torch", "transformers", "anthropic", "openai", "instructor", "altair", "nltk")
    code = f"import sys, himga_eval; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there() -> None:
    assert all(hasattr(himga_eval, name) for name in himga_eval.__all__)
