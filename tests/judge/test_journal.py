"""The journal: nothing that came is lost, whatever becomes of the process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from himga_eval.errors import StoreLocked
from himga_eval.judge import cache, journal
from himga_eval.judge.cache import lookup
from himga_eval.judge.journal import Journal, recover
from tests.judge.test_cache import judgement

DIES = """
import os, signal, sys
import polars as pl
from datetime import UTC, datetime
from pathlib import Path
from himga_eval.judge.journal import Journal
from himga_eval.judge.schema import STORED
journal = Journal(Path(sys.argv[1]))
row = {name: "x" if dtype == pl.String else None for name, dtype in STORED.items()}
row |= {"repeat": 1, "attempts": 1, "status": "ok", "score": 0.4, "created_at": datetime.now(UTC)}
for i in range(30):
    journal.add(row | {"cache_key": str(i)})
    if i == 9:
        journal.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache.duckdb"


def held(path: Path) -> int:
    return lookup(path, pl.Series([str(i) for i in range(100)])).height


def journals(path: Path) -> list[Path]:
    return sorted(path.parent.glob("*.journal"))


def test_what_is_added_is_in_a_file_at_once_and_in_the_cache_after_a_flush(path: Path) -> None:
    kept = Journal(path)
    kept.add(judgement("0"))
    (file,) = journals(path)
    assert '"cache_key": "0"' in file.read_text()
    assert held(path) == 0
    kept.flush()
    assert (held(path), journals(path)) == (1, [])
    kept.add(judgement("1"))
    kept.flush()
    assert (held(path), len(kept.rows)) == (2, 2)


def test_it_writes_to_the_cache_when_it_has_waited(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Journal(path)
    kept.add(judgement("0"))
    kept.tick()
    assert held(path) == 0
    monkeypatch.setattr(journal, "FLUSH_S", 0)
    kept.tick()
    assert held(path) == 1


def test_a_killed_process_loses_nothing(path: Path) -> None:
    subprocess.run([sys.executable, "-c", DIES, str(path)], check=False)
    assert held(path) == 10
    assert recover(path) == 20
    assert (held(path), journals(path)) == (30, [])
    assert recover(path) == 0


def test_a_line_that_was_cut_short_is_left_out(path: Path) -> None:
    kept = Journal(path)
    kept.add(judgement("0"))
    (file,) = journals(path)
    left = file.read_text()
    kept.flush()
    path.with_name("cache.duckdb.1-1.journal").write_text(left.replace('"0"', '"1"') + left[:40])
    assert recover(path) == 1
    assert held(path) == 2


def test_the_journal_of_a_process_at_work_is_left_alone(path: Path) -> None:
    kept = Journal(path)
    kept.add(judgement("0"))
    assert recover(path) == 0
    assert len(journals(path)) == 1
    kept.flush()


def test_a_cache_that_is_held_stops_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(journal, "FLUSH_S", 0)

    def locked(*args: object, **more: object) -> None:
        raise StoreLocked("held by process 1")

    kept = Journal(path)
    with monkeypatch.context() as patched:
        patched.setattr(cache, "keep", locked)
        kept.add(judgement("0"))
        kept.tick()
        assert "held by process 1; going on, with the answers kept in" in caplog.text
        with pytest.raises(StoreLocked):
            kept.flush()
    kept.add(judgement("1"))
    kept.flush()
    assert (held(path), journals(path)) == (2, [])


def test_without_a_cache_it_only_gathers() -> None:
    kept = Journal(None)
    kept.add(judgement("0"))
    kept.tick()
    kept.flush()
    assert len(kept.rows) == 1
