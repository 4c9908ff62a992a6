"""The server and the pool of the client tests; judges go through that pool, unless a test gives limits."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from himga_eval.llm import Pool
from tests.llm.conftest import pool, running_server, server

__all__ = ["pool", "running_server", "server"]


@pytest.fixture(autouse=True, scope="session")
def _around(pool: Pool) -> Iterator[None]:
    with pool:
        yield
