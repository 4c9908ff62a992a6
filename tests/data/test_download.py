from __future__ import annotations

import hashlib
import io
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from himga_eval.data import download
from himga_eval.data.download import Source, cache_folder, fetch
from himga_eval.errors import DatasetError, DatasetNotFound

CONTENT = random.Random(7).randbytes(1_000_000)


class Publisher(ThreadingHTTPServer):
    """Serves one file; `cuts` says after how many bytes each of the next answers breaks off."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.content = CONTENT
        self.cuts: list[int] = []
        self.ranges = True
        self.status = 200
        self.requests: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/data.json"


class Handler(BaseHTTPRequestHandler):
    server: Publisher

    def do_GET(self) -> None:
        asked = self.headers["Range"]
        self.server.requests.append(asked)
        if self.server.status != 200:
            self.send_error(self.server.status)
            return
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked and self.server.ranges else 0
        if start >= len(self.server.content):
            self.send_error(416)
            return
        body = self.server.content[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: self.server.cuts.pop(0)] if self.server.cuts else body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def publisher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Publisher]:
    with Publisher() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        source = Source("data.json", server.url, hashlib.sha256(CONTENT).hexdigest())
        monkeypatch.setitem(download.SOURCES, "locomo", source)
        monkeypatch.setenv("HIMGA_CACHE", str(tmp_path / "cache"))
        yield server
        server.shutdown()


@pytest.fixture
def part(publisher: Publisher) -> Path:
    """Where a download that was cut is kept."""
    cache_folder().mkdir()
    return cache_folder() / "data.json.part"


def files() -> list[str]:
    return sorted(p.name for p in cache_folder().iterdir())


def test_a_file_is_downloaded_once(publisher: Publisher) -> None:
    assert fetch("locomo").read_bytes() == CONTENT
    assert fetch("locomo") == cache_folder() / "data.json"
    assert publisher.requests == [None]
    assert files() == ["data.json"]


def test_a_cut_download_goes_on_where_it_stopped(publisher: Publisher) -> None:
    publisher.cuts = [300_000, 200_000]
    assert fetch("locomo").read_bytes() == CONTENT
    assert publisher.requests == [None, "bytes=300000-", "bytes=500000-"]


def test_the_next_call_goes_on_too(publisher: Publisher) -> None:
    publisher.cuts = [100_000, 100_000, 100_000]
    with pytest.raises(DatasetNotFound, match="cut 3 times, at 300,000 bytes, where the next call goes on"):
        fetch("locomo")
    assert files() == ["data.json.part"]
    assert fetch("locomo").read_bytes() == CONTENT
    assert publisher.requests[-1] == "bytes=300000-"
    assert files() == ["data.json"]


def test_a_publisher_without_ranges_sends_all_again(publisher: Publisher, part: Path) -> None:
    part.write_bytes(CONTENT[:1000])
    publisher.ranges = False
    assert fetch("locomo").read_bytes() == CONTENT
    assert publisher.requests == ["bytes=1000-"]


@pytest.mark.parametrize(
    "left",
    [
        pytest.param(b"of another file", id="begun with another file"),
        pytest.param(CONTENT + b"more", id="longer than the file"),
        pytest.param(CONTENT, id="whole, but never renamed"),
    ],
)
def test_a_part_that_does_not_fit_is_thrown_away(publisher: Publisher, part: Path, left: bytes) -> None:
    part.write_bytes(left)
    assert fetch("locomo").read_bytes() == CONTENT
    assert files() == ["data.json"]


def test_another_file_than_the_known_one_is_refused(publisher: Publisher) -> None:
    publisher.content = b"something else"
    found = hashlib.sha256(publisher.content).hexdigest()
    with pytest.raises(DatasetError, match=f"not the file that is known: SHA-256 {found}, not .*give its path"):
        fetch("locomo")
    assert not (cache_folder() / "data.json").exists()
    publisher.content = CONTENT
    assert fetch("locomo").read_bytes() == CONTENT


def test_a_missing_file_is_one_error(publisher: Publisher) -> None:
    publisher.status = 404
    with pytest.raises(DatasetNotFound, match=r"could not be downloaded \(HTTP Error 404: Not Found\); put data.json"):
        fetch("locomo")
    assert publisher.requests == [None]


def test_a_cache_that_cannot_be_written_is_one_error(
    publisher: Publisher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("HIMGA_CACHE", str(tmp_path / "file"))
    with pytest.raises(DatasetNotFound, match="could not be downloaded"):
        fetch("locomo")


def test_progress_goes_to_stderr_of_a_terminal(publisher: Publisher, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    fetch("locomo")
    assert "data.json: 100%" in terminal.getvalue()


def test_without_a_terminal_there_is_no_output(publisher: Publisher, capsys: pytest.CaptureFixture[str]) -> None:
    fetch("locomo")
    assert capsys.readouterr() == ("", "")


def test_two_processes_download_once(publisher: Publisher) -> None:
    code = (
        "import sys; from himga_eval.data import download as d;"
        "d.SOURCES['locomo'] = d.Source(*sys.argv[1:]); print(d.fetch('locomo'))"
    )
    command = [sys.executable, "-c", code, *download.SOURCES["locomo"]]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    outputs = {process.communicate()[0].strip() for process in both}
    assert outputs == {str(cache_folder() / "data.json")}
    assert len(publisher.requests) == 1
    assert (cache_folder() / "data.json").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        pytest.param({"HIMGA_CACHE": "/c", "XDG_CACHE_HOME": "/x"}, Path("/c"), id="HIMGA_CACHE"),
        pytest.param({"XDG_CACHE_HOME": "/x"}, Path("/x/himga_eval"), id="XDG_CACHE_HOME"),
        pytest.param({}, Path("/home/bo/.cache/himga_eval"), id="home"),
    ],
)
def test_the_cache_folder(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], expected: Path) -> None:
    for name in ("HIMGA_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: Path("/home/bo"))
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert cache_folder() == expected


def test_the_known_file_has_the_known_checksum(shared: Path) -> None:
    content = (shared / "data" / "locomo" / "locomo10.json").read_bytes()
    assert hashlib.sha256(content).hexdigest() == download.SOURCES["locomo"].sha256
