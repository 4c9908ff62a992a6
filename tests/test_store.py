"""The store: runs in and out, other answers refused, crashes and second processes survived."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import duckdb
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from himga_eval.errors import DuplicateRows, InputError, RunExists, StoreError, StoreLocked
from himga_eval.protocols import UnknownProtocol
from himga_eval.schema import EvalResult, results_frame
from himga_eval.scoring import score, summarise
from himga_eval.store import Store, UnknownRun


def results(run: str = "larch", predictions: tuple[str | None, ...] = ("Rome", "in Oslo", None)) -> pl.DataFrame:
    return results_frame(
        [
            EvalResult(f"c{i % 2}", f"c{i % 2}:{i}", "temporal", "Where?", "Oslo", prediction, evidence=["D1:1"])
            for i, prediction in enumerate(predictions)
        ],
        run=run,
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "runs.duckdb")


def test_what_goes_in_comes_out(store: Store) -> None:
    scores = score(results())
    assert store.save(scores) == ["larch"]
    assert_frame_equal(store.load("larch"), scores, check_column_order=False)


def test_the_summary_of_a_stored_run_is_that_of_the_frame(store: Store) -> None:
    scores = score(results())
    store.save(scores)
    assert_frame_equal(summarise(store.load()), summarise(scores))


def test_the_view_by_type_is_the_summary(store: Store) -> None:
    scores = score(results())
    store.save(scores)
    assert_frame_equal(store.sql("from by_type"), summarise(scores), check_row_order=False, check_dtypes=False)


def test_the_view_scores_has_a_column_a_metric(store: Store) -> None:
    store.save(score(results(), ["f1", "rougeL"]).with_columns(published_f1=pl.Series([0.5, 0.25, None])))
    found = store.sql("select prediction, f1, rougeL, published_f1 from scores order by position")
    assert found.rows() == [
        ("Rome", 0.0, 0.0, 0.5),
        ("in Oslo", pytest.approx(2 / 3), pytest.approx(2 / 3), 0.25),
        (None,) * 4,
    ]


def test_other_metrics_add_to_a_run(store: Store) -> None:
    store.save(score(results(), ["f1"]))
    store.save(score(results(), ["rouge1"]))
    assert {"f1", "rouge1"} <= set(store.load("larch").columns)
    assert store.runs()["metrics"].to_list() == [["f1", "rouge1"]]


def test_the_same_metric_is_replaced(store: Store) -> None:
    store.save(score(results(), ["f1"]))
    store.save(score(results(), ["f1"]).with_columns(f1=pl.lit(0.125)))
    assert store.load("larch")["f1"].to_list() == [0.125] * 3


def test_other_answers_under_a_name_are_refused(store: Store) -> None:
    store.save(score(results(), ["f1"]))
    changed = score(results(predictions=("Rome", "Bergen", "Oslo")), ["f1"])
    with pytest.raises(RunExists, match=r"larch \(2 answers differ\); give the run another name \(--run\).*--replace"):
        store.save(changed)
    assert store.load("larch")["prediction"].to_list() == ["Rome", "in Oslo", None]


def test_replace_takes_the_scores_of_the_old_answers_away(store: Store) -> None:
    store.save(score(results(), ["f1", "rouge1"]))
    store.save(score(results(predictions=("Oslo",)), ["f1"]), replace=True)
    found = store.load("larch")
    assert found["f1"].to_list() == [1.0]
    assert "rouge1" not in found.columns


def test_one_save_holds_several_runs(store: Store) -> None:
    both = pl.concat([score(results(run), ["f1"]) for run in ("wren", "larch")])
    assert store.save(both) == ["wren", "larch"]
    assert store.load("larch", "wren")["run"].unique(maintain_order=True).to_list() == ["larch", "wren"]


def test_what_is_known_of_a_run_is_kept(store: Store) -> None:
    frame = score(results(), ["f1"])
    store.save(
        frame, system="Larch 2", repeat=1, tags={"k": "10"}, checksums={"locomo": "abc"}, settings={"f1": "multiset"}
    )
    store.save(frame, tags={"note": "again"})
    row = store.sql("from runs").row(0, named=True)
    assert (row["system"], row["repeat"], row["datasets"]) == ("Larch 2", 1, {"locomo": "abc"})
    assert row["tags"] == {"k": "10", "note": "again"}
    assert row["settings"] == {"f1": "multiset"}
    assert set(row["versions"]) == {"himga-eval", "polars", "duckdb"}


def test_other_columns_are_kept_as_json(store: Store) -> None:
    store.save(score(results(), ["f1"]).with_columns(top_k=pl.lit(5), note=pl.struct(pl.lit("x").alias("y"))))
    assert (
        store.sql("select extra->>'$.note.y' as y, (extra->>'top_k')::int as k from results").rows() == [("x", 5)] * 3
    )
    store.save(store.load("larch"))  # and what was read back can be saved again
    assert store.sql("select (extra->>'top_k')::int as k from results").rows() == [(5,)] * 3


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        pytest.param(pl.Series([b"\xff"]), {"note": r"b'\xff'"}, id="bytes"),
        pytest.param(pl.Series([{1}], dtype=pl.Object), {"note": "{1}"}, id="objects"),
        pytest.param(pl.Series([{"a": [b"x"]}]), {"note": "{'a': [b'x']}"}, id="bytes within"),
        pytest.param(pl.Series([{"a": [1, None]}]), {"note": {"a": [1, None]}}, id="nested"),
        pytest.param(pl.Series([float("inf")]), {"note": None}, id="infinity"),
        pytest.param(pl.Series(["left"]).alias("position"), {"position": "left"}, id="a text named position"),
        pytest.param(pl.Series([7]).alias("position"), {"position": 7}, id="a number named position"),
        pytest.param(pl.Series(["a note"]).alias("extra"), {"extra": "a note"}, id="a text named extra"),
        pytest.param(pl.Series(["[1]"]).alias("extra"), {"extra": "[1]"}, id="a list named extra"),
    ],
)
def test_any_column_of_one_s_own_can_be_kept(store: Store, values: pl.Series, kept: dict[str, object]) -> None:
    store.save(results(predictions=("Rome",)).with_columns(values.alias(values.name or "note")))
    assert json.loads(store.load("larch")["extra"][0]) == kept


@pytest.mark.parametrize(
    ("noted", "message"),
    [
        pytest.param({"tags": ["a"]}, r"tags is a mapping of names to texts, not \['a'\]", id="a list of tags"),
        pytest.param({"tags": {"k": [1]}}, r"column 'tags', row 0: \[1\] .* not a text", id="a list in a tag"),
        pytest.param({"checksums": "abc"}, "checksums is a mapping", id="one checksum"),
        pytest.param({"settings": 3}, "settings is a mapping", id="a number of settings"),
        pytest.param({"repeat": "1"}, "repeat='1': it is the number of a repeat", id="a text for a repeat"),
        pytest.param({"repeat": 2**40}, "repeat=1099511627776", id="a repeat beyond counting"),
    ],
)
def test_what_cannot_be_noted_is_said_before_anything_is_written(
    store: Store, noted: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        store.save(results(), **noted)  # type: ignore[arg-type]
    assert not store.path.exists()


def test_scores_without_a_protocol_are_ours(store: Store) -> None:
    store.save(score(results(), ["f1"]).with_columns(protocol=pl.lit(None, pl.String)))
    assert store.load("larch")["f1"].to_list() == [0.0, pytest.approx(2 / 3), None]


def test_scores_that_are_no_numbers_are_not_stored(store: Store) -> None:
    with pytest.raises(InputError, match="column 'f1' is String: the scores of a metric are numbers"):
        store.save(results().with_columns(f1=pl.lit("good")))


def test_appending_replaces_a_failed_answer_with_its_scores(store: Store) -> None:
    store.save(score(results(), ["f1"]))
    again = results(predictions=("Rome", "in Oslo", "Oslo")).tail(1)
    store.append(again, [2])
    found = store.load("larch")
    assert found["prediction"].to_list() == ["Rome", "in Oslo", "Oslo"]
    assert found["f1"].to_list() == [0.0, pytest.approx(2 / 3), None]


def test_stores_merge(store: Store, tmp_path: Path) -> None:
    other = Store(tmp_path / "other.duckdb")
    store.save(score(results("larch"), ["f1"]))
    other.save(score(results("wren"), ["f1"]), system="Wren")
    assert store.merge(other) == ["wren"]
    assert store.runs().select("run", "system").rows() == [("larch", None), ("wren", "Wren")]
    assert_frame_equal(store.load("wren"), other.load("wren"))


def test_stores_with_other_answers_do_not_merge(store: Store, tmp_path: Path) -> None:
    other = Store(tmp_path / "other.duckdb")
    store.save(score(results(), ["f1"]))
    other.save(score(results(predictions=("Paris",)), ["f1"]))
    with pytest.raises(RunExists, match="larch"):
        store.merge(other)


@pytest.mark.parametrize(
    ("broken", "error", "message"),
    [
        pytest.param(results().drop("question_id"), InputError, "no column 'question_id'", id="no ids"),
        pytest.param(pl.concat([results()] * 2), DuplicateRows, "3 questions stand more than once", id="doubles"),
    ],
)
def test_rows_without_key_are_not_stored(
    store: Store, broken: pl.DataFrame, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        store.save(score(broken, ["f1"]))
    assert not store.path.exists()


def test_an_unknown_run_names_the_nearest(store: Store) -> None:
    store.save(results())
    with pytest.raises(UnknownRun, match=r"no run 'lark'; did you mean 'larch'\? known: larch; in .*runs\.duckdb"):
        store.load("lark")


def test_reading_a_store_that_is_not_there_says_how_to_make_one(store: Store) -> None:
    with pytest.raises(StoreError, match=r"no store at .*runs\.duckdb: `himga-eval score FILE` makes one"):
        store.runs()
    assert not store.path.exists()


def test_a_file_of_judgements_only_has_no_runs(store: Store) -> None:
    with duckdb.connect(store.path) as connection:
        connection.execute("create table judgements (cache_key varchar)")
    assert store.runs().is_empty()
    assert not store.has("larch")
    with pytest.raises(UnknownRun, match="no run 'larch'"):
        store.load("larch")


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        pytest.param("create table runs (id int)", "a table 'runs' of another program.*no column run", id="runs"),
        pytest.param("create table results (run int)", "a table 'results' .*no column dataset", id="results"),
        pytest.param("create table scores (run int)", "a table 'scores' .*it is no view", id="scores"),
        pytest.param("create view runs as select 1 as run", "a view 'runs' of another program", id="a view"),
    ],
)
def test_the_file_of_another_program_is_left_as_it_is(store: Store, statement: str, told: str) -> None:
    with duckdb.connect(store.path) as connection:
        connection.execute(statement)
    for use in (store.runs, store.load, lambda: store.save(results()), lambda: Store("mine.duckdb").merge(store)):
        with pytest.raises(StoreError, match=rf"runs\.duckdb holds {told}.*left as it is; name another file"):
            use()
    with duckdb.connect(store.path) as connection:
        assert len(connection.sql("show tables").fetchall()) == 1


def test_a_store_of_another_version_says_what_it_lacks(store: Store) -> None:
    store.save(results())
    with duckdb.connect(store.path) as connection:
        connection.execute("drop view scores; drop view by_type; drop view score_rows")
        connection.execute("alter table results rename column error to failure")
    with pytest.raises(StoreError, match=r"'results' .*of another version of himga_eval: it has no column error"):
        store.load("larch")


def test_what_a_newer_version_adds_is_read_and_kept(store: Store, tmp_path: Path) -> None:
    store.save(results())
    with duckdb.connect(store.path) as connection:
        connection.execute("alter table results add column mood varchar")
    store.save(score(results(), ["f1"]))
    assert store.load("larch").height == 3
    with pytest.raises(StoreError, match=r'cannot be used as a store: .*does not have a column with name "mood"'):
        Store(tmp_path / "other.duckdb").merge(store)


def test_merging_takes_a_store(store: Store) -> None:
    with pytest.raises(InputError, match=r"merge takes a store: Store\('other\.duckdb'\)"):
        store.merge("other.duckdb")  # type: ignore[arg-type]


def test_a_protocol_without_scores_names_those_that_have_some(store: Store) -> None:
    store.save(score(results(), ["f1"], protocol="squad"))
    with pytest.raises(
        UnknownProtocol, match=r"no protocol 'squat'; did you mean 'squad'.*known: himga, squad; for larch"
    ):
        store.load("larch", protocol="squat")


@pytest.mark.parametrize(
    ("query", "told"),
    [
        pytest.param("select 1; select 2", "2 statements, and one is run at a time: 'select 1; select 2'", id="two"),
        pytest.param("-- nothing", "0 statements, and one", id="none"),
        pytest.param(
            "select interval 1 month", "a column of the result is of a type that no frame has", id="an interval"
        ),
    ],
)
def test_a_query_that_gives_no_frame_is_refused(store: Store, query: str, told: str) -> None:
    store.save(results())
    with pytest.raises(InputError, match=told):
        store.sql(query)


def test_a_query_cannot_write(store: Store) -> None:
    store.save(results())
    with pytest.raises(duckdb.Error, match="read-only"):
        store.sql("delete from results")


def test_the_path_comes_from_the_argument_then_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Store().path == Path("himga.duckdb")
    monkeypatch.setenv("HIMGA_STORE", "elsewhere.duckdb")
    assert Store().path == Path("elsewhere.duckdb")
    assert Store("here.duckdb").path == Path("here.duckdb")


def test_a_killed_process_loses_no_committed_run(store: Store) -> None:
    code = """
import os, sys
import polars as pl
from himga_eval.protocols import UnknownProtocol
from himga_eval.schema import EvalResult, results_frame
from himga_eval.store import Store
store = Store(sys.argv[1])
for i in range(1000):
    store.save(results_frame([EvalResult("c", "q", "temporal", "Q", "gold", f"answer {i}")], run=f"run-{i}"))
    print(i, flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", code, str(store.path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        committed = [int(next(writer.stdout)) for _ in range(5)]
        os.kill(writer.pid, signal.SIGKILL)
        committed += [int(line) for line in writer.stdout]
    kept = store.runs()["run"].to_list()
    assert [f"run-{i}" for i in committed] == kept[: len(committed)]
    assert len(kept) - len(committed) <= 1  # one may have been committed and not yet told


def test_two_processes_save_at_once(store: Store) -> None:
    code = """
import sys
from himga_eval.protocols import UnknownProtocol
from himga_eval.schema import EvalResult, results_frame
from himga_eval.store import Store
for i in range(5):
    Store(sys.argv[1]).save(results_frame([EvalResult("c", "q", "temporal", "Q", "g", "a")], run=f"{sys.argv[2]}-{i}"))
"""
    writers = [subprocess.Popen([sys.executable, "-c", code, str(store.path), name]) for name in "ab"]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0]
    assert store.runs().height == 10


def test_who_holds_the_file_is_told(store: Store) -> None:
    store.save(results())
    code = "import sys, duckdb; held = duckdb.connect(sys.argv[1]); print(1, flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(store.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(StoreLocked, match=f"process {holder.pid}"):
            Store(store.path, wait_s=0.1).runs()
        holder.kill()


def test_more_is_noted_of_a_stored_run(store: Store) -> None:
    store.save(results(), checksums={"locomo": "abc"}, settings={"seed": "1"})
    store.note("larch", settings={"sample": "9"})
    noted = store.noted("larch")["larch"]
    assert {key: noted[key] for key in ("dataset.locomo", "seed", "sample")} == {
        "dataset.locomo": "abc",
        "seed": "1",
        "sample": "9",
    }
    with pytest.raises(UnknownRun):
        store.note("wren")


def test_scores_under_another_protocol_may_be_of_a_part(store: Store) -> None:
    whole = results()
    store.save(score(whole, ["f1"]))
    store.save(score(whole.head(2), ["f1"], protocol="squad"))
    assert store.load("larch").height == 3
    assert store.load("larch", protocol="squad").height == 2
    with pytest.raises(RunExists, match="larch"):
        store.save(score(results(predictions=("Paris", "in Oslo", None)), ["f1"], protocol="squad"))
    with pytest.raises(RunExists, match="larch"):
        store.save(score(whole.head(2), ["f1"]))
