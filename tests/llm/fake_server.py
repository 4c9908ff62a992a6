"""A server on 127.0.0.1 that speaks Anthropic's Messages and OpenAI's chat, with faults on demand.

`server.script["some-model"] = ["429 retry-after=1", "ok"]` gives one step a request of that model, the last for good.
As a script, `python fake_server.py PORT LATENCY_MS`, it prints "up" and serves until it is killed.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import Any

HTML = "<html><body>502 from a proxy</body></html>"
USAGE = {
    "input_tokens": 100,
    "output_tokens": 20,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
}
STATUS = {
    "400": "invalid_request_error",
    "401": "authentication_error",
    "404": "not_found_error",
    "413": "request_too_large",
    "429": "rate_limit_error",
    "500": "api_error",
    "503": "api_error",
    "529": "overloaded_error",
}


def prompt_of(request: dict[str, Any]) -> str:
    """All the text of a request, in order."""
    system = request.get("system") or ""
    texts = [system] if isinstance(system, str) else [part["text"] for part in system]
    for message in request["messages"]:
        content = message["content"]
        texts += [content] if isinstance(content, str) else [part.get("text", "") for part in content]
    return "\n\n".join(texts)


def fitting(request: dict[str, Any]) -> dict[str, Any]:
    """The best verdict of whatever kind the request's schema asks for; {} without one."""
    tools = request.get("tools") or []
    schema = (tools[0].get("input_schema") or tools[0]["function"]["parameters"]) if tools else {"properties": {}}
    best = {"score": 1.0, "correct": True, "reasoning": "Same meaning."}
    return {name: best[name] for name in schema["properties"]}


class FakeServer:
    """`script`, `verdict` and `latency` say how it answers; `requests` holds the bodies it was sent, in order."""

    def __init__(self, latency: float = 0.0, port: int = 0) -> None:
        self._port = port
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self.reset(latency)

    def reset(self, latency: float = 0.0) -> None:
        """Forget what was asked, and answer well again."""
        self.latency = latency
        self.script: dict[str, list[str]] = {}
        self.verdict: Callable[[dict[str, Any]], dict[str, Any]] = fitting
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.steps: Counter[str] = Counter()
        self.answered = 0
        self.flying = 0
        self.most_flying = 0

    def __enter__(self) -> FakeServer:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(5)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def _serve(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", self._port, backlog=512)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._end.wait()
        server.close()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._exchange(reader, writer):
                pass
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        path = head[0].split()[1]
        headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
        body = json.loads(await reader.readexactly(int(headers.get("content-length", 0))) or b"{}")
        if path == "/stats":
            return await self._send(writer, "200", {"asked": len(self.requests), "answered": self.answered})
        self.requests.append(body)
        self.headers.append(headers)
        self.flying += 1
        self.most_flying = max(self.most_flying, self.flying)
        try:
            return await self._answer(writer, self._step(body["model"]), body, anthropic="/messages" in path)
        finally:
            self.flying -= 1

    def _step(self, model: str) -> str:
        steps = self.script.get(model, ["ok"])
        self.steps[model] += 1
        return steps[min(self.steps[model], len(steps)) - 1]

    async def _answer(self, writer: asyncio.StreamWriter, step: str, body: dict[str, Any], *, anthropic: bool) -> bool:
        name, _, option = step.partition(" ")
        if name == "hang":
            await asyncio.sleep(3600)
        if name == "reset":
            sock = writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            return False
        if name == "half":
            writer.write(b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{"id":"msg')
            await writer.drain()
            return False
        await asyncio.sleep(self.latency)
        if name in STATUS:
            error = {
                "type": "error",
                "error": {"type": STATUS[name], "message": option or "no", "code": option or None},
            }
            wait = option.removeprefix("retry-after=") if option.startswith("retry-after=") else None
            return await self._send(writer, name, error, {"retry-after": wait} if wait else {})
        if name == "html":
            return await self._send(writer, "200", HTML, {"content-type": "text/html"})
        reply = (anthropic_reply if anthropic else openai_reply)(name, option, body, self.verdict)
        if name == "cut":
            return await self._send(writer, "200", json.dumps(reply)[:-40])
        self.answered += 1
        return await self._send(writer, "200", reply)

    async def _send(
        self, writer: asyncio.StreamWriter, status: str, body: Any, headers: dict[str, str] | None = None
    ) -> bool:
        content = (body if isinstance(body, str) else json.dumps(body)).encode()
        given = {"content-type": "application/json", "content-length": str(len(content)), **(headers or {})}
        lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in given.items())]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + content)
        await writer.drain()
        return True


def anthropic_reply(
    name: str, option: str, body: dict[str, Any], verdict: Callable[[dict[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    tool = body["tools"][0]["name"] if body.get("tools") else "none"
    use = {"type": "tool_use", "id": "toolu_1", "name": tool, "input": verdict(body) if tool != "none" else {}}
    content: list[dict[str, Any]] = (
        [use] if tool != "none" else [{"type": "text", "text": f"reply to: {prompt_of(body)}"}]
    )
    stop, usage = "tool_use" if tool != "none" else "end_turn", dict(USAGE)
    if name == "refusal":
        content, stop = ([{"type": "text", "text": option}] if option else []), "refusal"
    elif name == "empty":
        content, stop = [], "end_turn"
    elif name == "text":
        content, stop = [{"type": "text", "text": option.replace("\\n", "\n")}], "end_turn"
    elif name == "max_tokens":
        stop = "max_tokens"
    elif name == "input":
        content = [{**use, "input": json.loads(option)}]
    elif name == "two":
        content = [use, {**use, "id": "toolu_2"}]
    elif name == "thinking":
        content = [{"type": "thinking", "thinking": "hm", "signature": "x"}]
        stop = "max_tokens"
    elif name == "cached":
        usage |= {"cache_read_input_tokens": 900, "cache_creation_input_tokens": 50}
    elif name == "usage":
        usage["input_tokens"], usage["output_tokens"] = map(int, option.split("/"))
        content = [{**use, "input": {"reasoning": "off", "score": 9}}]
    model = f"{body['model']}-20260101"
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": content}
    message |= {"stop_reason": stop, "stop_sequence": None}
    return message if name == "no-usage" else message | {"usage": usage}


def openai_reply(
    name: str, option: str, body: dict[str, Any], verdict: Callable[[dict[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    tool = body["tools"][0]["function"]["name"] if body.get("tools") else None
    message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None}
    finish = "tool_calls" if tool else "stop"

    def call(arguments: str) -> dict[str, Any]:
        return {"id": "call_1", "type": "function", "function": {"name": tool, "arguments": arguments}}

    if name == "refusal":
        message["refusal"], finish = option, "stop"
    elif name == "empty":
        finish = "stop"
    elif name == "text" or not tool:
        message["content"], finish = option.replace("\\n", "\n") or f"reply to: {prompt_of(body)}", "stop"
    elif name == "input":
        message["tool_calls"] = [call(option)]
    elif name == "two":
        message["tool_calls"] = [call(json.dumps(verdict(body)))] * 2
    else:
        message["tool_calls"] = [call(json.dumps(verdict(body)))]
    if name == "max_tokens":
        finish = "length"
    reply = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": f"{body['model']}-2026"}
    reply |= {"choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}]}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    usage |= {"prompt_tokens_details": {"cached_tokens": 30, "audio_tokens": 0}}
    return reply if name == "no-usage" else reply | {"usage": usage}


if __name__ == "__main__":
    with FakeServer(latency=float(sys.argv[2]) / 1000, port=int(sys.argv[1])):
        print("up", flush=True)
        while True:
            time.sleep(3600)
