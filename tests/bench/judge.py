"""What judging costs, and that it loses nothing: 5,000 judgements at 50 ms, a process that is killed, three at once.

Run it as `python tests/bench/judge.py [--answers N]`. Times are of the processor, not of the clock. It fails if a
judgement is lost, doubled or paid for twice; the figures are for reading.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SERVER = Path(__file__).parents[1] / "llm" / "fake_server.py"
CPU_MS = 5.0
MEMORY_MB = 200.0
CONCURRENCY = 32


@contextmanager
def server(latency_ms: float) -> Iterator[str]:
    """Run the fake server in a process of its own, and give its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with subprocess.Popen([sys.executable, SERVER, str(port), str(latency_ms)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def asked(url: str) -> int:
    """How many requests the server has had."""
    with urllib.request.urlopen(f"{url}/stats") as reply:
        count: int = json.load(reply)["asked"]
    return count


def start(url: str, cache: Path, first: int, count: int) -> subprocess.Popen[str]:
    """Judge some answers in a process of its own, which prints its figures."""
    environment = {**os.environ, "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none"}
    command = [sys.executable, __file__, "--judge", str(cache), str(first), str(count)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def judge(cache: Path, first: int, count: int) -> dict[str, Any]:
    """Judge answers numbered from `first` on: seconds of the processor, and megabytes over what importing takes."""
    import anthropic
    import genai_prices  # noqa: F401
    import instructor
    import openai  # noqa: F401
    import polars as pl

    from himga_eval.judge import judge_frame
    from himga_eval.llm import AnthropicClient

    instructor.from_anthropic(anthropic.AsyncAnthropic())  # it imports the rest when it is first used
    numbers = range(first, first + count)
    frame = pl.DataFrame(
        {
            "sample_id": [f"conv-{i % 10}" for i in numbers],
            "question_id": [f"q{i}" for i in numbers],
            "question": [f"What did they say about matter {i}? " * 8 for i in numbers],
            "ground_truth": [f"It was settled on day {i}." for i in numbers],
            "prediction": [f"They settled matter {i} after a while. " * 20 for i in numbers],
        }
    )
    memory, cpu, wall = peak_mb(), time.process_time(), time.monotonic()
    judgements = judge_frame(frame, AnthropicClient(), cache=cache, concurrency=CONCURRENCY, show_progress=False)
    return {
        "ok": int((judgements["status"] == "ok").sum()),
        "asked": int((~judgements["cached"]).sum()),
        "cpu_s": time.process_time() - cpu,
        "wall_s": time.monotonic() - wall,
        "memory_mb": peak_mb() - memory,
    }


def peak_mb() -> float:
    """The most memory this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def held(cache: Path) -> int:
    """How many judgements a cache holds, none of them twice."""
    import duckdb

    with duckdb.connect(cache, read_only=True) as connection:
        query = "select count(*), count(distinct cache_key), count(distinct question_id), count(score) from judgements"
        ((rows, keys, questions, scores),) = connection.sql(query).fetchall()
    assert rows == keys == questions == scores, (rows, keys, questions, scores)
    return int(rows)


def many(folder: Path, answers: int) -> None:
    """Judge many answers at 50 ms each."""
    cache = folder / "many.duckdb"
    with server(50) as url:
        figures = finish(start(url, cache, 0, answers))
        calls = asked(url)
    assert figures["ok"] == calls == held(cache) == answers
    cpu_ms = figures["cpu_s"] / answers * 1000
    print(
        f"{answers} judgements: {cpu_ms:.2f} ms of CPU a call (at most {CPU_MS}), "
        f"{figures['memory_mb']:.0f} MB over import (at most {MEMORY_MB:.0f}), "
        f"{answers / figures['wall_s']:.0f} a second, every key one row"
    )
    few = min(answers, 1000)
    with server(50) as url:
        sdk, filled = alone(url, few, filled=False), alone(url, few, filled=True)
    print(
        f"just now the SDK alone took {sdk:.2f} ms of CPU a call, with instructor {filled:.2f} ms; "
        f"we take {cpu_ms / filled:.2f} times as much"
    )


def killed(folder: Path, answers: int) -> None:
    """Kill a process with signal 9 in the middle, and run it again."""
    cache = folder / "killed.duckdb"
    with server(50) as url:
        victim = start(url, cache, 0, answers)
        while asked(url) < answers // 2:
            time.sleep(0.01)
        victim.kill()
        victim.communicate()
        before = asked(url)
        figures = finish(start(url, cache, 0, answers))
        twice = asked(url) - answers
    assert figures["ok"] == held(cache) == answers
    assert 0 <= twice <= CONCURRENCY, twice
    print(f"killed after {before} of {answers} calls: {twice} were made again, all in flight ({CONCURRENCY} at most)")


def together(folder: Path, answers: int) -> None:
    """Let three processes judge overlapping answers into one cache."""
    cache = folder / "together.duckdb"
    third = answers // 3
    with server(20) as url:
        processes = [start(url, cache, first, 2 * third) for first in (0, third, 2 * third)]
        assert [finish(process)["ok"] for process in processes] == [2 * third] * 3
    assert held(cache) == 4 * third
    print(f"three processes on one cache: {4 * third} answers, every key one row")


def alone(url: str, answers: int, *, filled: bool) -> float:
    """Milliseconds of the processor that a call of the same size takes without us, with instructor or without."""
    import asyncio

    import anthropic
    import instructor

    from himga_eval.judge.modes import SIX_STEPS
    from himga_eval.judge.verdicts import json_schema, schema

    call: dict[str, Any] = {"model": "m", "max_tokens": 1024, "system": "x" * 2000}
    call["messages"] = [{"role": "user", "content": "y" * 1200}]
    tool = {"name": "Verdict", "input_schema": json.loads(json_schema(SIX_STEPS))}

    async def ask() -> float:
        async with anthropic.AsyncAnthropic(max_retries=0) as sdk:
            client = instructor.from_anthropic(sdk)
            left = iter(range(answers))

            async def work() -> None:
                for _ in left:
                    if filled:
                        await client.create(response_model=schema(SIX_STEPS), max_retries=0, **call)
                    else:
                        await sdk.messages.create(tools=[tool], tool_choice={"type": "tool", "name": "Verdict"}, **call)

            began = time.process_time()
            await asyncio.gather(*(work() for _ in range(CONCURRENCY)))
            return (time.process_time() - began) / answers * 1000

    os.environ |= {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none"}
    return asyncio.run(ask())


def finish(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Wait for a process, and read its figures."""
    output, _ = process.communicate()
    assert process.returncode == 0, f"exit code {process.returncode}"
    figures: dict[str, Any] = json.loads(output.splitlines()[-1])
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=5000)
    parser.add_argument("--judge", nargs=3, metavar=("CACHE", "FIRST", "COUNT"))
    options = parser.parse_args()
    if options.judge:
        cache, first, count = options.judge
        print(json.dumps(judge(Path(cache), int(first), int(count))))
        return
    with tempfile.TemporaryDirectory() as name:
        many(Path(name), options.answers)
        killed(Path(name), max(options.answers // 5, 150))
        together(Path(name), max(options.answers // 10, 90))


if __name__ == "__main__":
    main()
