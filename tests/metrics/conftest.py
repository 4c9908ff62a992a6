"""NLTK with the data that the reference libraries need."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def nltk_data(shared: Path) -> Iterator[None]:
    """Let nltk find punkt_tab and wordnet."""
    import nltk

    before = list(nltk.data.path)
    nltk.data.path.insert(0, str(shared / "nltk_data"))
    yield
    nltk.data.path[:] = before
