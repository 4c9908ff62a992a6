"""Opening a DuckDB file: patience, and plain words."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from himga_eval.database import connect
from himga_eval.errors import StoreError, StoreLocked

HOLD = """
import sys, time, duckdb
held = duckdb.connect(sys.argv[1])
print("held", flush=True)
time.sleep(float(sys.argv[2]))
"""

DIE = """
import os, sys, duckdb
dying = duckdb.connect(sys.argv[1])
dying.execute("insert into t select range from range(1000)")
os.kill(os.getpid(), 9)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "some" / "where.duckdb"
    with connect(path) as connection:
        connection.execute("create table t as select 1 as x")
    return path


def hold(path: Path, seconds: float) -> subprocess.Popen[str]:
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(path), str(seconds)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    holder.stdout.readline()
    return holder


def test_folders_are_made(path: Path) -> None:
    assert path.is_file()


def test_another_process_is_waited_for(path: Path) -> None:
    with hold(path, 0.5) as holder, connect(path, wait_s=20) as connection:
        assert holder.wait(timeout=5) == 0  # it let go; before that the file could not be opened
        assert connection.sql("from t").fetchall() == [(1,)]


def test_a_process_that_does_not_let_go_is_named(path: Path) -> None:
    with hold(path, 60) as holder:
        try:
            with (
                pytest.raises(StoreLocked, match=rf"is held by process {holder.pid} .*for 0.2 s now"),
                connect(path, wait_s=0.2),
            ):
                pass
        finally:
            holder.kill()


def test_reading_while_this_process_writes(path: Path) -> None:
    with connect(path), connect(path, read_only=True) as reader:
        assert reader.sql("from t").fetchall() == [(1,)]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b'{"q1": {"sco', id="half a JSON"),
        pytest.param(b"x" * 20_000, id="something else"),
    ],
)
def test_a_file_that_is_no_database_is_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "cache.duckdb"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"cache.duckdb is damaged or no DuckDB file.*left as it is"), connect(path):
        pass
    assert path.read_bytes() == content


@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_a_damaged_file_says_so(path: Path, damage: str) -> None:
    content = bytearray(path.read_bytes())
    if damage == "cut":
        del content[len(content) // 2 :]
    else:
        content[5000] ^= 255
    path.write_bytes(content)
    with pytest.raises(StoreError, match="is damaged"), connect(path) as connection:
        connection.sql("from t").fetchall()


def test_a_damaged_log_says_how_to_get_out(path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", DIE, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    log = path.with_name(path.name + ".wal")
    content = bytearray(log.read_bytes())
    content[len(content) // 2] ^= 255
    log.write_bytes(content)
    with pytest.raises(StoreError, match=r"log .*wal is damaged.*Move it aside"), connect(path):
        pass
    os.rename(log, log.with_suffix(".aside"))
    with connect(path) as connection:
        assert connection.sql("from t").fetchall() == [(1,)]


@pytest.mark.parametrize("read_only", [True, False])
def test_a_folder_is_told_from_a_file(tmp_path: Path, read_only: bool) -> None:
    with pytest.raises(StoreError, match=r"is a folder; a store is a file, as .*himga\.duckdb"):  # noqa: SIM117
        with connect(tmp_path, read_only=read_only):
            pass


@pytest.mark.parametrize("name", ["answers.json", "answers.jsonl", "answers.csv"])
@pytest.mark.parametrize("content", [b"", b'{"question_id": "q1"}\n'])
def test_a_file_of_answers_is_never_opened_as_an_empty_database(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"is damaged or no DuckDB file: it (is empty|starts with)"), connect(path):
        pass
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("path", "told"),
    [
        pytest.param("file/himga.duckdb", "cannot open .*: Not a directory", id="below a file"),
        pytest.param(
            "/proc/none/himga.duckdb", "cannot make the folder of .*; name another file", id="no right to write"
        ),
        pytest.param("x" * 300, "cannot open .*: File name too long", id="too long a name"),
        pytest.param("a\0b", "cannot open .*: embedded null byte", id="a null character"),
    ],
)
def test_a_path_that_cannot_be_written_says_why(tmp_path: Path, path: str, told: str) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match=told), connect(tmp_path / path):
        pass


def test_the_connection_is_closed_after_an_error(path: Path) -> None:
    with pytest.raises(ZeroDivisionError), connect(path):
        raise ZeroDivisionError
    duckdb.connect(path, read_only=True).close()  # would be refused beside an open one
