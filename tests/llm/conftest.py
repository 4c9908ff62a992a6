"""A server to talk to, and keys that are none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from himga_eval.llm import Pool, asking
from tests.llm.fake_server import FakeServer


@pytest.fixture(scope="session")
def running_server() -> Iterator[FakeServer]:
    with FakeServer() as fake:
        yield fake


@pytest.fixture
def server(running_server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> FakeServer:
    """A server without memory. Anthropic's client finds it by itself; OpenAI's takes `base_url=server.url + "/v1"`."""
    monkeypatch.setattr(asking, "BACKOFF_S", 0.001)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", running_server.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-secret")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-oai-secret")
    running_server.reset()
    return running_server


@pytest.fixture(scope="session")
def pool() -> Iterator[Pool]:
    """A pool without caps, whose connections the tests share: opening one takes a while."""
    shared = Pool()
    yield shared
    shared.close()
