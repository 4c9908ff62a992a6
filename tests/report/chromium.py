"""Drive a headless Chromium through its debugging pipe, with the network cut."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import IO, Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-pipe",
)

# Chromium reads descriptor 3 and writes descriptor 4.
_WIRED = """
import os, sys
ends = [os.dup(int(end)) for end in sys.argv[1:3]]
for end, number in zip(ends, (3, 4)):
    os.dup2(end, number)
    os.set_inheritable(number, True)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Page:
    """A page of the browser; `complaints` are its errors, console messages and requests beyond the file."""

    def __init__(self, to: IO[bytes], source: IO[bytes]) -> None:
        self._to, self._from = to, source
        self._number, self._rest, self._session = 0, b"", ""
        self.complaints: list[str] = []
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for room in ("Page", "Runtime", "Log", "Network"):
            self._ask(f"{room}.enable")

    def open(self, path: Path, fragment: str = "", *, width: int = 1200, height: int = 900, dark: bool = False) -> None:
        """Load a file, and wait until the report has said that it is ready."""
        self.complaints.clear()
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._ask("Emulation.setEmulatedMedia", features=[scheme])
        self._ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self._ask("Page.navigate", url="about:blank")
        self._ask("Page.navigate", url=f"{path.as_uri()}{fragment}")
        deadline = monotonic() + 60
        while not self.run("document.documentElement?.dataset.ready"):
            assert monotonic() < deadline, f"the page did not get ready: {self.complaints}"
            sleep(0.02)

    def run(self, script: str) -> Any:
        """Evaluate an expression in the page, and give its value."""
        found = self._ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """Save what is in view, or the whole page."""
        shot = self._ask("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        told: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            told["sessionId"] = self._session
        self._to.write(json.dumps(told).encode() + b"\0")
        while True:
            reply = self._receive()
            if reply.get("id") == self._number:
                assert "error" not in reply, reply
                return dict(reply["result"])
            self._note(reply.get("method"), reply.get("params", {}))

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            more = self._from.read(1 << 16)
            assert more, "Chromium went away"
            self._rest += more
        message, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(message))

    def _note(self, method: str | None, params: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(params["exceptionDetails"])[:500])
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(f"console.{params['type']}: {json.dumps(params['args'])[:300]}")
        elif method == "Log.entryAdded":
            self.complaints.append(f"{params['entry']['source']}: {params['entry']['text']}")
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append(f"dialog: {params['message']}")
        elif method == "Network.requestWillBeSent" and not params["request"]["url"].startswith(
            ("file:", "about:", "data:")
        ):
            self.complaints.append(f"request: {params['request']['url']}")


@contextmanager
def browser(profile: Path) -> Iterator[Page]:
    """Start Chromium and give a page of it."""
    assert CHROMIUM
    commands, replies = os.pipe(), os.pipe()

    ends = commands[0], replies[1]
    process = subprocess.Popen(
        [sys.executable, "-c", _WIRED, *map(str, ends), CHROMIUM, *_FLAGS, f"--user-data-dir={profile}"],
        pass_fds=ends,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(commands[0])
    os.close(replies[1])
    with os.fdopen(commands[1], "wb", buffering=0) as to, os.fdopen(replies[0], "rb", buffering=0) as source:
        try:
            yield Page(to, source)
        finally:
            process.terminate()
            process.wait(20)
