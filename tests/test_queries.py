"""Every query has a case: a folder of small CSV tables, and the CSV it must give (or leave behind)."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import duckdb
import pytest

from himga_eval import queries

CASES = Path(__file__).parent / "sql"
NULL = "NULL"


def cases() -> list[Path]:
    return sorted(path.parent for path in CASES.rglob("*.csv") if path.stem.startswith("expected"))


def test_every_query_has_a_case() -> None:
    covered = {case.relative_to(CASES).parts[0] for case in cases()}
    assert set(queries.names()) == covered


@pytest.mark.parametrize("name", queries.names())
def test_every_query_says_what_it_is(name: str) -> None:
    lines = queries.load(name).splitlines()
    assert re.match(r"-- [A-Z].*[.,;a-z]$", lines[0])
    for word in ("Grain:", "Reads", "Takes"):
        assert any(line.startswith(f"-- {word}") for line in lines), f"{name}.sql does not say {word}"


@pytest.mark.parametrize("case", sorted(set(cases())), ids=lambda case: "/".join(case.relative_to(CASES).parts))
def test_query(case: Path) -> None:
    name = case.relative_to(CASES).parts[0]
    params_file = case / "params.json"
    params = json.loads(params_file.read_text()) if params_file.exists() else {}
    with duckdb.connect() as connection:
        connection.execute("set timezone = 'UTC'")
        for path in sorted(case.glob("*.csv")):
            if not path.stem.startswith("expected"):
                fill(connection, path)
        statement = queries.load(name)
        if (case / "expected.csv").exists():
            assert rows(connection.sql(statement, params=params or None)) == expected(case / "expected.csv")
            return
        connection.execute(statement.replace("{columns}", "max(score) filter (where metric = 'f1') as f1"), params)
        for path in case.glob("expected_*.csv"):
            assert rows(connection.sql(f"from {path.stem.removeprefix('expected_')}")) == expected(path)


def fill(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Make a table of a CSV file, with the types of our own statement where there is one."""
    source = f"read_csv('{path}', nullstr = '{NULL}', header = true, delim = ',', quote = '\"', escape = '\"')"
    ours = path.stem.removeprefix("incoming_")
    if f"create_{ours}" not in queries.names():
        connection.execute(f"create table {path.stem} as from {source}")
        return
    connection.execute(queries.load(f"create_{ours}"))
    if path.stem != ours:
        connection.execute(f"create table {path.stem} as from {ours} limit 0")
    connection.execute(f"insert into {path.stem} by name from {source}")


def rows(relation: duckdb.DuckDBPyRelation) -> list[dict[str, object]]:
    text = relation.select(", ".join(f'"{c}"::varchar as "{c}"' for c in relation.columns))
    return in_order([dict(zip(relation.columns, map(value, row), strict=True)) for row in text.fetchall()])


def expected(path: Path) -> list[dict[str, object]]:
    with path.open(newline="", encoding="utf-8") as file:
        return in_order([{k: approximately(value(v)) for k, v in row.items()} for row in csv.DictReader(file)])


def in_order(table: list[dict[str, object]]) -> list[dict[str, object]]:
    return sorted(table, key=lambda row: [(v is None, str(v) if isinstance(v, str) else "") for v in row.values()])


def value(text: str | None) -> object:
    if text in (None, NULL):
        return None
    try:
        return float(text)
    except ValueError:
        return text


def approximately(found: object) -> object:
    return pytest.approx(found, abs=1e-6) if isinstance(found, float) else found
