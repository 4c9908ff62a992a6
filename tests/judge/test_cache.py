"""Judgements in DuckDB: what is kept, what is never overwritten, and files that are no cache."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from himga_eval.errors import InputError, StoreError, StoreLocked
from himga_eval.judge import export, stats
from himga_eval.judge.cache import cache_file, judges, keep, lookup
from himga_eval.judge.schema import STORED


def judgement(key: str = "k", **given: Any) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(STORED)
    row |= {"cache_key": key, "judge_model": "m", "settings": "{}", "mode": "continuous", "prompt_hash": "p"}
    row |= {"prompt_source": "built-in", "content_hash": f"c{key}", "repeat": 1, "attempts": 1}
    row |= {"status": "ok", "score": 0.6, "reasoning": "close", "created_at": datetime(2026, 1, 1, tzinfo=UTC)}
    return row | given


def failed(key: str = "k", **given: Any) -> dict[str, Any]:
    return judgement(key, status="invalid", score=None, error="odd", raw_reply="?", **given)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a" / "b" / "cache.duckdb"


def found(path: Path, *keys: str) -> dict[str, float]:
    return dict(lookup(path, pl.Series(keys, dtype=pl.String)).select("cache_key", "score").iter_rows())


def test_what_is_kept_comes_back_as_it_was(path: Path) -> None:
    row = judgement(reasoning='naïve 💡 "quoted" \x00', input_tokens=812, cost_usd=0.0012, dataset="locomo")
    keep(path, [row])
    (back,) = lookup(path, pl.Series(["k"])).iter_rows(named=True)
    assert back == row
    assert duckdb.connect(path).sql("select count(*) from judgements where score = 0.6").fetchall() == [(1,)]


def test_nothing_is_in_a_cache_that_does_not_exist(path: Path) -> None:
    assert lookup(path, pl.Series(["k"])).schema == pl.Schema(STORED)
    assert not path.exists()


def test_only_what_is_asked_for_is_found(path: Path) -> None:
    keep(path, [judgement("a"), judgement("b", score=1.0), failed("c")])
    assert found(path, "b", "c", "d") == {"b": 1.0}


@pytest.mark.parametrize(
    ("batches", "score"),
    [
        pytest.param([[failed()], [judgement()]], 0.6, id="a good one replaces a failed one"),
        pytest.param([[judgement()], [failed()]], 0.6, id="a failed one never replaces a good one"),
        pytest.param([[judgement()], [judgement(score=1.0)]], 0.6, id="nor does another good one"),
        pytest.param([[failed(), judgement(), failed()]], 0.6, id="the good one of a batch counts, wherever it stands"),
    ],
)
def test_equal_keys(path: Path, batches: list[list[dict[str, Any]]], score: float) -> None:
    for batch in batches:
        keep(path, batch)
    assert found(path, "k") == {"k": score}
    with duckdb.connect(path) as connection:
        assert connection.sql("select count(*) from judgements").fetchall() == [(1,)]


def test_of_failed_ones_the_latest_is_kept_with_its_reply(path: Path) -> None:
    later = datetime(2026, 2, 1, tzinfo=UTC)
    keep(path, [failed()])
    keep(path, [failed() | {"error": "odder", "raw_reply": "??", "created_at": later}])
    with duckdb.connect(path) as connection:
        assert connection.sql("select error, raw_reply from judgements").fetchall() == [("odder", "??")]


@pytest.mark.parametrize("score", [math.nan, math.inf])
def test_nan_is_never_stored(path: Path, score: float) -> None:
    keep(path, [judgement("a", score=1.0), judgement("b", score=score), failed("c")])
    with duckdb.connect(path) as connection:
        assert connection.sql("select avg(score), count(score) from judgements").fetchall() == [(1.0, 1)]
    assert found(path, "a", "b", "c") == {"a": 1.0}


def test_a_batch_is_kept_whole_or_not_at_all(path: Path) -> None:
    with pytest.raises(duckdb.Error):
        keep(path, [judgement("a"), judgement("b", status="odd", score=None)])
    keep(path, [judgement("c")])
    assert found(path, "a", "c") == {"c": 0.6}


def test_the_path_of_a_json_file_is_a_duckdb_file_beside_it() -> None:
    assert cache_file("out/scores.json") == Path("out/scores.duckdb")
    assert cache_file("out/scores.duckdb") == Path("out/scores.duckdb")


def test_judges_of_these_answers(path: Path) -> None:
    keep(path, [judgement("a"), judgement("b"), judgement("c", judge_model="other"), failed("d", judge_model="third")])
    rows = pl.DataFrame([judgement("a"), judgement("b"), judgement("d")]).with_columns(pl.col("repeat").cast(pl.Int32))
    assert judges(path, rows).rows() == [("m", "{}", 2)]


def test_stats_count_by_judge_mode_and_status(path: Path) -> None:
    keep(path, [judgement("a", cost_usd=0.5), judgement("b", cost_usd=None), failed("c")])
    assert stats(path).select("mode", "status", "judgements", "cost_usd").rows() == [
        ("continuous", "invalid", 1, None),
        ("continuous", "ok", 2, 0.5),
    ]


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl"])
def test_export(path: Path, tmp_path: Path, suffix: str) -> None:
    keep(path, [judgement("a"), failed("b")])
    to = tmp_path / "new" / f"all{suffix}"
    assert export(path, to) == 2
    read = {".parquet": pl.read_parquet, ".csv": pl.read_csv, ".jsonl": pl.read_ndjson}[suffix]
    assert read(to)["cache_key"].to_list() == ["a", "b"]
    with pytest.raises(InputError, match=r"\.xlsx.*must end in"):
        export(path, tmp_path / "all.xlsx")


def test_a_cache_that_does_not_exist_has_no_stats(path: Path) -> None:
    with pytest.raises(StoreError, match="no cache at"):
        stats(path)


def newer(path: Path) -> None:
    """Make the file say that a later DuckDB wrote it; DuckDB itself tells the checksum that goes with it."""
    keep(path, [judgement()])
    content = bytearray(path.read_bytes())
    content[12:20] = (1000).to_bytes(8, "little")
    path.write_bytes(content)
    with pytest.raises(duckdb.Error) as error:
        duckdb.connect(path)
    content[:8] = int(re.findall(r"computed checksum (\d+)", str(error.value))[0]).to_bytes(8, "little")
    path.write_bytes(content)


def half(path: Path) -> None:
    keep(path, [judgement(str(i), reasoning="x" * 200) for i in range(2000)])
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def foreign(path: Path) -> None:
    with duckdb.connect(path) as connection:
        connection.execute("create table judgements (question_id varchar, score double)")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        pytest.param(lambda p: p.write_bytes(b""), "damaged or no DuckDB file", id="an empty file"),
        pytest.param(lambda p: p.write_text('{"q1": {"sco'), "damaged or no DuckDB file", id="half a JSON"),
        pytest.param(half, "is damaged", id="half a database"),
        pytest.param(newer, r"another DuckDB than the \d.*storage version number 1000", id="a later DuckDB's"),
        pytest.param(foreign, "another version of himga_eval", id="another table of that name"),
        pytest.param(lambda p: p.mkdir(), "is a folder; a store is a file", id="a folder"),
    ],
)
def test_a_file_that_is_no_cache_is_an_error_and_left_alone(path: Path, spoil: Any, words: str) -> None:
    path.parent.mkdir(parents=True)
    spoil(path)
    before = path.read_bytes() if path.is_file() else None
    for use in (lambda: found(path, "k"), lambda: keep(path, [judgement()])):
        with pytest.raises(StoreError, match=rf"(?s){re.escape(str(path))}.*{words}|{words}.*{re.escape(str(path))}"):
            use()
    assert (path.read_bytes() if path.is_file() else None) == before


CRASH = """
import os, sys, duckdb
from himga_eval import queries
connection = duckdb.connect(sys.argv[1])
connection.execute(queries.load("create_judgements"))
connection.execute("create table ballast as select i, repeat('x', 50) from range(20000) t(i)")
os.kill(os.getpid(), 9)
"""


def test_a_damaged_log_is_an_error_that_says_the_way_out(path: Path) -> None:
    path.parent.mkdir(parents=True)
    subprocess.run([sys.executable, "-c", CRASH, str(path)], check=False)
    log = path.with_name("cache.duckdb.wal")
    content = bytearray(log.read_bytes())
    content[len(content) // 2] ^= 0xFF
    log.write_bytes(content)
    with pytest.raises(StoreError, match=r"cache\.duckdb\.wal is damaged.*[Mm]ove it aside"):
        found(path, "k")
    log.rename(log.with_name("aside"))
    assert found(path, "k") == {}


HOLD = """
import sys, duckdb
connection = duckdb.connect(sys.argv[1], read_only=sys.argv[2] == "True")
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("read_only", [pytest.param(True, id="a reader"), pytest.param(False, id="a writer")])
def test_another_process_that_holds_the_file_is_named(path: Path, read_only: bool) -> None:
    keep(path, [judgement()])
    command = [sys.executable, "-c", HOLD, str(path), str(read_only)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        holder.stdout.readline()
        with pytest.raises(StoreLocked, match=f"process {holder.pid}"):
            keep(path, [judgement("b")], wait_s=0.1)
        if read_only:
            assert found(path, "k") == {"k": 0.6}
        holder.stdin.close()
        keep(path, [judgement("b")])
    assert found(path, "k", "b") == {"k": 0.6, "b": 0.6}


def test_a_connection_of_ones_own_is_no_obstacle(path: Path) -> None:
    keep(path, [judgement()])
    with duckdb.connect(path) as connection:
        assert found(path, "k") == {"k": 0.6}
        keep(path, [judgement("b")])
        assert connection.sql("select count(*) from judgements").fetchall() == [(2,)]


WRITE = """
import json, sys
from datetime import UTC, datetime
from pathlib import Path
from himga_eval.judge.cache import keep
row = json.loads(sys.argv[3]) | {"created_at": datetime.now(UTC)}
first = int(sys.argv[2])
for start in range(first, first + 200, 20):
    keep(Path(sys.argv[1]), [row | {"cache_key": str(i)} for i in range(start, start + 20)])
"""


@pytest.mark.slow
def test_three_processes_lose_nothing(path: Path) -> None:
    row = json.dumps(judgement(), default=str)
    commands = [[sys.executable, "-c", WRITE, str(path), first, row] for first in ("0", "100", "200")]
    writers = [subprocess.Popen(command) for command in commands]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert sorted(int(k) for k in found(path, *map(str, range(400)))) == list(range(400))


def test_the_file_lies_beside_other_tables(path: Path) -> None:
    path.parent.mkdir(parents=True)
    with duckdb.connect(path) as connection:
        connection.execute("create table runs as select 1 as x")
    assert found(path, "k") == {}
    keep(path, [judgement()])
    assert found(path, "k") == {"k": 0.6}
    assert os.listdir(path.parent) == ["cache.duckdb"]
