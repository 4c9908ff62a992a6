"""Keep runs, their results and their scores in one DuckDB file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from himga_eval import queries
from himga_eval.database import WAIT_S, connect
from himga_eval.errors import InputError, RunExists, StoreError, UnknownName, listed
from himga_eval.metrics.catalog import ALL_METRICS
from himga_eval.protocols import DEFAULT, UnknownProtocol
from himga_eval.schema import KEY, RESULTS, Results
from himga_eval.scoring import protocols
from himga_eval.stored_rows import COLUMNS, keyed, result_rows, run_rows, value_rows

_TABLES = ("create_runs", "create_results", "create_score_values")
_INSERTS = ("insert_results", "insert_score_values", "upsert_runs")
_OPTIONAL = (*RESULTS, "extra")[8:]


class UnknownRun(UnknownName):
    """A run that is not in the store."""

    kind = "run"


class Store:
    """A DuckDB file of runs: `himga.duckdb` here, unless `path` or HIMGA_STORE says otherwise.

    Its tables are runs, results and score_values; its views, for people, scores (a column a metric) and by_type (the
    summary of every run). Connections are opened for a moment only, so that a notebook, a `duckdb` shell and a
    running evaluation get along; a process that finds the file held waits `wait_s` seconds, then says who holds it.
    A save is one transaction: whatever happens, a run is in the file whole or not at all.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, *, wait_s: float = WAIT_S) -> None:
        if path == ":memory:":
            raise InputError("a store is a file: what is kept in memory is a frame")
        self.path = Path(path or os.environ.get("HIMGA_STORE") or "himga.duckdb")
        self.wait_s = wait_s

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r})"

    def save(
        self,
        scores: Results,
        *,
        system: str | None = None,
        repeat: int | None = None,
        tags: Mapping[str, str] | None = None,
        checksums: Mapping[str, str] | None = None,
        settings: Mapping[str, str] | None = None,
        replace: bool = False,
    ) -> list[str]:
        """Save results with whatever scores they have, and give the names of their runs.

        A run that is stored already gets the new scores beside its old ones, as long as its answers are the same; under
        another protocol than ours they may be a part of its answers. `checksums` names the revision of each data set;
        what is said of a run is said of every run in the frame.

        Raises:
            RunExists: a stored run of that name has other answers, and `replace` is not set.
            InputError, DuplicateRows: a row has no key, or shares it; a score is no number; what is noted is no text.
        """
        frame = keyed(scores)
        noted = run_rows(frame, system, repeat, tags, checksums, settings)
        with self._writing() as connection:
            _register(connection, noted, result_rows(frame), value_rows(frame))
            part = DEFAULT not in frame.select(protocols(frame)).to_series()
            self._replace(connection, replace, part=part)
        return noted["run"].to_list()

    def append(self, results: Results, places: Sequence[int]) -> None:
        """Add answers to a run as they come, `places` being where they stand in it.

        A question that is stored already is replaced, with its scores.

        Raises:
            InputError, DuplicateRows: a row has no key, or shares it; a score is no number.
        """
        frame = keyed(results)
        with self._writing() as connection:
            _register(connection, run_rows(frame), result_rows(frame, pl.Series(places)), value_rows(frame))
            _execute(connection, "delete_answers_again", "delete_scores_again", *_INSERTS)

    def load(self, *names: str, protocol: str = DEFAULT) -> pl.DataFrame:
        """Read stored runs back: their results with a column a metric, as `score` gives them.

        Under another protocol than ours it is the results that were scored under it.

        Raises:
            UnknownRun: the store has no run of that name.
            UnknownProtocol: none of the runs has scores under it.
        """
        with self._reading() as connection:
            known = queries.run("stored_runs", connection)["run"].to_list()
            for name in names:
                if name not in known:
                    raise UnknownRun(name, known, f"in {self.path}")
            runs = list(names) or known
            results = queries.run("stored_results", connection, runs=runs)
            values = queries.run("stored_scores", connection, runs=runs, protocol=protocol)
        if protocol != DEFAULT:
            if protocol not in values["protocol"]:
                had = sorted({DEFAULT, *(name for run in runs for name in self.protocols(run))})
                raise UnknownProtocol(protocol, had, f"for {listed(runs)} in {self.path}")
            results = results.join(values.filter(protocol=protocol), on=KEY, how="semi", maintain_order="left")
        results = results.drop(
            "position", *(c.name for c in results if c.name in _OPTIONAL and c.null_count() == len(c))
        )
        found = set(values["metric"])
        columns = [*(m for m in ALL_METRICS if m in found), *sorted(found.difference(ALL_METRICS))]
        wide = values.pivot("metric", index=KEY, values="score").select(*KEY, *columns)
        return results.with_columns(protocol=pl.lit(protocol)).join(wide, on=KEY, how="left", maintain_order="left")

    def has(self, run: str) -> bool:
        """Tell whether there is a store with a run of that name."""
        return self.path.is_file() and run in self.runs()["run"]

    def runs(self) -> pl.DataFrame:
        """List the runs with their system, data sets, numbers of questions and answers, metrics and time."""
        with self._reading() as connection:
            return queries.run("stored_runs", connection)

    def note(
        self, run: str, *, checksums: Mapping[str, str] | None = None, settings: Mapping[str, str] | None = None
    ) -> None:
        """Note more of a stored run: the revision of its data sets, and settings it was made with.

        Raises:
            UnknownRun: the store has no run of that name.
        """
        more = run_rows(self.load(run), checksums=checksums, settings=settings)
        with self._writing() as connection:
            connection.register("incoming_runs", more)
            _execute(connection, "upsert_runs")

    def noted(self, *names: str) -> dict[str, dict[str, str]]:
        """Read what was noted of runs: `{run: {"dataset.locomo": ..., "version.polars": ..., <setting>: ...}}`.

        Raises:
            UnknownRun: the store has no run of that name.
        """
        with self._reading() as connection:
            known = queries.run("stored_runs", connection)["run"].to_list()
            rows = queries.run("stored_settings", connection)
        if unknown := [name for name in names if name not in known]:
            raise UnknownRun(unknown[0], known, f"in {self.path}")
        told: dict[str, dict[str, str]] = {name: {} for name in names or known}
        for run, name, value in rows.filter(pl.col("run").is_in(list(told))).iter_rows():
            told[run][name] = value
        return told

    def protocols(self, run: str) -> list[str]:
        """List the protocols that a run has scores under."""
        with self._reading() as connection:
            return queries.run("stored_protocols", connection, run=run)["protocol"].to_list()

    def sql(self, query: str, **params: Any) -> pl.DataFrame:
        """Run a query of your own on the file, which is opened for reading only, and give its rows.

        Errors of DuckDB pass through: they say what is wrong with the query.

        Raises:
            InputError: no query, or several; or rows that no frame can hold.
        """
        with self._opened() as connection:
            if (statements := len(connection.extract_statements(query))) != 1:
                raise InputError(f"{statements} statements, and one is run at a time: {query!r:.200}")
            found = connection.sql(query, params=params or None)
            if found is None:
                raise InputError(f"{query!r:.200} gives no rows")
            try:
                rows: pl.DataFrame = found.pl()
            except pl.exceptions.PolarsError as error:
                told = str(error).partition(". Hint")[0]
                raise InputError(f"a column of the result is of a type that no frame has ({told}); cast it") from None
        return rows

    def merge(self, other: Store) -> list[str]:
        """Copy every run of another store into this one, and give their names.

        Raises:
            RunExists: a run of the same name has other answers here.
        """
        if not isinstance(other, Store):
            raise InputError(f"merge takes a store: Store({other!r})")
        with other._reading() as connection:
            runs, results, values = (
                connection.sql(f"from {name}").pl() for name in ("runs", "results", "score_values")
            )
        with self._writing() as connection:
            _register(connection, runs, results, values)
            self._replace(connection, replace=False)
        merged: list[str] = runs["run"].to_list()
        return merged

    def _replace(self, connection: duckdb.DuckDBPyConnection, replace: bool, *, part: bool = False) -> None:
        """Put the registered runs in the place of what is stored of them, if that has no other answers.

        Of a part of the answers only the scores are new.
        """
        changed = queries.run("stored_changes", connection, part=part)
        if changed.height and not replace:
            told = [f"{run} ({answers} answers differ)" for run, answers in changed.rows()]
            raise RunExists(
                f"{self.path} has other answers under {listed(told)}; "
                "give the run another name (--run), or replace the stored one (--replace)"
            )
        if changed.height:
            _execute(connection, "delete_replaced_scores")
        if part and changed.is_empty():
            _execute(connection, "insert_new_results", "delete_score_values", *_INSERTS[1:])
        else:
            _execute(connection, "delete_results", "delete_score_values", *_INSERTS)

    @contextmanager
    def _opened(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open for reading."""
        if not self.path.exists():
            raise StoreError(f"no store at {self.path}: `himga-eval score FILE` makes one, --store names another")
        with connect(self.path, read_only=True, wait_s=self.wait_s) as connection:
            if not _check_tables(connection, self.path):
                for name in _TABLES:  # a file of judgements only: it has no runs, which is no error
                    connection.execute(queries.load(name).replace("create table", "create temp table"))
            yield connection

    @contextmanager
    def _reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open for statements of ours."""
        with _plainly(self.path), self._opened() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open for one transaction, with the tables made."""
        with _plainly(self.path), connect(self.path, wait_s=self.wait_s) as connection:
            _check_tables(connection, self.path)
            connection.begin()
            _execute(connection, *_TABLES, "view_score_rows")
            yield connection
            columns = [_column(metric) for metric in queries.run("stored_metrics", connection)["metric"]]
            connection.execute(queries.load("view_scores").replace("{columns}", ",\n        ".join(columns)))
            connection.execute(f"create or replace view by_type as {queries.load('summary')}")
            connection.commit()


@contextmanager
def _plainly(path: Path) -> Iterator[None]:
    """Say in one line what DuckDB could not do with the file: a full disk, damage that shows only when it is read."""
    try:
        yield
    except duckdb.Error as error:
        raise StoreError(f"{path} cannot be used as a store: {str(error).splitlines()[0]}") from None


def _check_tables(connection: duckdb.DuckDBPyConnection, path: Path) -> list[str]:
    """List the tables of ours that are there.

    Raises:
        StoreError: a table or view of a name of ours is somebody else's.
    """
    found = queries.run("stored_columns", connection)
    for name, kind, columns in found.iter_rows():
        lacking = [column for column in COLUMNS.get(name, ()) if column not in columns]
        wanted = "table" if name in COLUMNS else "view"
        if lacking or kind != wanted:
            what = f"has no column {listed(lacking)}" if lacking else f"is no {wanted}"
            raise StoreError(
                f"{path} holds a {kind} {name!r} of another program, or of another version of himga_eval: it {what}. "
                "It was left as it is; name another file (--store)"
            )
    return [name for name in found["name"] if name in COLUMNS]


def _register(
    connection: duckdb.DuckDBPyConnection, runs: pl.DataFrame, results: pl.DataFrame, values: pl.DataFrame
) -> None:
    """Name the three frames as the statements in sql/ do."""
    for name, frame in (("incoming_runs", runs), ("incoming", results), ("incoming_scores", values)):
        connection.register(name, frame)


def _execute(connection: duckdb.DuckDBPyConnection, *names: str) -> None:
    for name in names:
        connection.execute(queries.load(name))


def _column(metric: str) -> str:
    """Say in SQL how the view scores gets a metric's column."""
    text, name = metric.replace("'", "''"), metric.replace('"', '""')
    return f"""max(score) filter (where metric = '{text}') as "{name}\""""
