"""Manifests: what a run's numbers rest on, written with it and read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from himga_eval.errors import InputError
from himga_eval.formats import read_run
from himga_eval.manifest import (
    CHECKED,
    answers_digest,
    check_manifest,
    export,
    judge_settings,
    manifest,
    protocol_settings,
    read_manifest,
    told,
)
from himga_eval.protocols import load_protocol
from himga_eval.schema import EvalResult, results_frame
from himga_eval.scoring import score
from himga_eval.store import Store, UnknownRun


def answers() -> pl.DataFrame:
    kinds = ("multi_hop", "temporal", "adversarial")
    texts = (("no no no", "no yes"), ("May", "May 7"), (None, "unsaid"))
    return results_frame(
        [
            EvalResult("c1", f"c1:{i}", kind, "What?", gold, prediction)
            for i, (kind, (prediction, gold)) in enumerate(zip(kinds, texts, strict=True))
        ],
        run="larch",
    )


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    kept = Store(tmp_path_factory.mktemp("store") / "runs.duckdb")
    kept.save(score(answers(), ["f1"]), checksums={"locomo": "ab12" * 16}, settings={"seed": "3"}, system="Larch")
    kept.save(score(answers(), ["f1"], protocol="mem0"))
    return kept


@pytest.fixture(scope="module")
def exported(store: Store, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    parquet, noted = export(store, "larch", tmp_path_factory.mktemp("out"))
    return parquet, noted


def test_what_a_run_rests_on(store: Store) -> None:
    document = manifest(store, "larch")
    assert (document["run"], document["system"], document["questions"]) == ("larch", "Larch", 3)
    assert document["datasets"] == {"locomo": "ab12" * 16}
    assert document["protocols"] == {name: load_protocol(name).digest for name in ("himga", "mem0")}
    assert document["settings"] == {"seed": "3"}
    assert {"himga-eval", "polars", "duckdb"} <= set(document["versions"])
    assert document["means"]["himga"]["f1"] == pytest.approx((0.4 + 2 / 3) / 2)
    assert document["means"]["mem0"]["f1"] == pytest.approx(2 / 3)


def test_scores_under_another_protocol_stand_beside_the_whole_run(store: Store) -> None:
    assert store.load("larch").height == 3
    assert store.load("larch", protocol="mem0")["question_type"].to_list() == ["multi_hop", "temporal"]
    assert store.protocols("larch") == ["himga", "mem0"]


def test_a_protocol_of_ones_own_is_noted_by_its_hash(tmp_path: Path) -> None:
    path = tmp_path / "home.toml"
    path.write_text('title = "t"\nsource = "s"\nrevision = "1"\n[metrics]\nf1 = "squad"\n', encoding="utf-8")
    kept = Store(tmp_path / "runs.duckdb")
    kept.save(score(answers(), ["f1"], protocol=path), settings=protocol_settings(path))
    assert manifest(kept, "larch")["protocols"] == {"home": load_protocol(path).digest}


def test_a_run_that_is_not_there(store: Store) -> None:
    with pytest.raises(UnknownRun):
        manifest(store, "wren")


@pytest.mark.parametrize(
    ("change", "same"),
    [
        pytest.param(pl.col("run") + "x", True, id="another name"),
        pytest.param(pl.lit("new").alias("file_name"), True, id="another column"),
        pytest.param(pl.lit("May").alias("prediction"), False, id="another answer"),
        pytest.param(pl.lit("unsaid").alias("ground_truth"), False, id="another gold"),
    ],
)
def test_the_digest_is_of_answers_and_golds(change: pl.Expr, same: bool) -> None:
    changed = answers().with_columns(change)
    assert (answers_digest(changed) == answers_digest(answers())) is same


def test_the_digest_is_the_same_in_any_order() -> None:
    assert answers_digest(answers().reverse()) == answers_digest(answers())


def test_an_export_is_read_back_and_checked(exported: tuple[Path, Path]) -> None:
    parquet, noted = exported
    assert [path.name for path in (parquet, noted)] == ["larch.parquet", "larch.manifest.json"]
    assert pl.read_parquet(parquet).select("f1", "mem0.f1").row(0) == pytest.approx((0.4, 2 / 3))
    document = read_manifest(parquet)
    assert document == json.loads(noted.read_text(encoding="utf-8"))
    checked = check_manifest(read_run(parquet), document, {"locomo": "ab12" * 16})
    assert dict(checked.schema) == CHECKED
    assert set(checked["verdict"]) == {"same"}
    assert {"answers", "data set locomo", "protocol mem0", "f1 under himga", "f1 under mem0"} <= set(checked["what"])


@pytest.mark.parametrize(
    ("edit", "checksums", "expected"),
    [
        pytest.param({"answers": "0" * 64}, {}, {"answers": "differs"}, id="other answers"),
        pytest.param({"protocols": {"himga": "0" * 64}}, {}, {"protocol himga": "differs"}, id="another recipe"),
        pytest.param({"protocols": {"home": "0" * 64}}, {}, {"protocol home": "unknown"}, id="a recipe not here"),
        pytest.param({}, {"locomo": "x"}, {"data set locomo": "differs"}, id="another data set"),
        pytest.param({}, {}, {"data set locomo": "unknown"}, id="no data set given"),
        pytest.param({"means": {"himga": {"f1": 0.9}}}, {}, {"f1 under himga": "differs"}, id="another mean"),
        pytest.param({"versions": {"polars": "0.1"}}, {}, {"version of polars": "other version"}, id="another version"),
    ],
)
def test_what_a_manifest_does_not_agree_with(
    exported: tuple[Path, Path], edit: dict[str, Any], checksums: dict[str, str], expected: dict[str, str]
) -> None:
    document = {**(read_manifest(exported[0]) or {}), "means": {}, **edit}
    checked = check_manifest(read_run(exported[0]), document, checksums)
    assert expected.items() <= dict(checked.select("what", "verdict").iter_rows()).items()


def test_a_file_without_a_manifest_has_none(tmp_path: Path) -> None:
    assert read_manifest(tmp_path / "answers.jsonl") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("{", "is not valid JSON", id="cut"),
        pytest.param("[1]", "is no manifest of a run", id="something else"),
    ],
)
def test_a_file_that_is_no_manifest(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "larch.manifest.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_manifest(tmp_path / "larch.parquet")


def test_a_manifest_in_a_line(store: Store) -> None:
    line = told(manifest(store, "larch"))
    assert line.startswith(f"locomo ab12ab12; protocol himga {load_protocol('himga').digest[:8]}; protocol mem0 ")
    assert "; seed 3; duckdb " in line


def test_the_judge_is_noted_with_its_prompts() -> None:
    judged = pl.DataFrame(
        {
            "judge_model": ["m-1", "m-1", "rule"],
            "settings": ["{}", "{}", None],
            "mode": ["continuous", "preference", "adversarial"],
            "prompt_hash": ["aa", "bb", None],
            "prompt_source": ["built-in", "built-in", None],
        }
    )
    noted = judge_settings(judged)
    assert (noted["judge.model"], noted["judge.origin"]) == ("m-1", "built-in")
    assert noted["judge.prompts"] != judge_settings(judged.head(1))["judge.prompts"]
    assert judge_settings(judged.tail(1)) == {}
