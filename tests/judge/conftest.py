"""The server and the pool of the client tests."""

from tests.llm.conftest import pool, running_server, server

__all__ = ["pool", "running_server", "server"]
