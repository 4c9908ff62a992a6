"""Real processes: one that is killed, three at once, Ctrl-C in a terminal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

from tests.llm.fake_server import FakeServer

BENCH = Path(__file__).parents[1] / "bench" / "judge.py"

pytestmark = pytest.mark.slow


def test_nothing_is_lost_doubled_or_paid_for_twice() -> None:
    done = subprocess.run([sys.executable, BENCH, "--answers", "200"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "killed after" in done.stdout


def test_ctrl_c_in_a_terminal_keeps_what_was_answered(server: FakeServer, tmp_path: Path) -> None:
    server.latency = 0.05
    cache = tmp_path / "cache.duckdb"
    command = [sys.executable, BENCH, "--judge", cache, "0", "5000"]
    with subprocess.Popen(command, env={**os.environ}, stderr=subprocess.PIPE, text=True) as process:
        while len(server.requests) < 100:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "KeyboardInterrupt" in errors
    with duckdb.connect(cache, read_only=True) as connection:
        ((kept,),) = connection.sql("select count(score) from judgements").fetchall()
    assert len(server.requests) - 32 <= kept <= len(server.requests)
    assert os.listdir(tmp_path) == ["cache.duckdb"]


CHATS = """
from himga_eval.llm import AnthropicClient
print(AnthropicClient().chat([{"role": "user", "content": "hi"}]))
"""


def test_a_script_that_chats_ends_quietly(server: FakeServer) -> None:
    command = [sys.executable, "-W", "always::ResourceWarning", "-c", CHATS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "reply to: \n\nhi")
    assert done.stderr == ""
