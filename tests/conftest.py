"""Markers, and the real files beside the checkout where they are present."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from himga_eval.settings import SETTINGS

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("HIMGA_SHARED", ROOT.parent / "shared"))

# How long an example takes is nobody's business here: the machine may be busy.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run-slow", action="store_true", help="run tests that take long or load a model")
    parser.addoption("--run-integration", action="store_true", help="run tests that call a real service")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for marker in ("slow", "integration"):
        if not config.getoption(f"--run-{marker}"):
            skip = pytest.mark.skip(reason=f"{marker}: opt in with --run-{marker}")
            for item in items:
                if marker in item.keywords:
                    item.add_marker(skip)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data sets, answers and oracles."""
    if not SHARED.is_dir():
        pytest.skip("no real files here: HIMGA_SHARED or ../shared is not a folder")
    return SHARED


@pytest.fixture
def own_environment() -> Iterator[None]:
    """Let no setting of the caller in, and none of a test out."""
    kept = dict(os.environ)
    for setting in SETTINGS.values():
        os.environ.pop(setting.variable, None)
    yield
    os.environ.clear()
    os.environ.update(kept)
