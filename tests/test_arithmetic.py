"""Printed tables against their own arithmetic."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from himga_eval.arithmetic import FITS, ROWS, check_table
from himga_eval.errors import InputError, RunFileNotFound, UnknownDataset
from himga_eval.protocols import load_protocol
from himga_eval.protocols.published import TABLES


def table(folder: Path, *lines: str) -> Path:
    path = folder / "table.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def mem0_as_printed(folder: Path) -> Path:
    """Mem0's tables 1 and 2 under the names its paper gives the columns."""
    by_type = pl.read_csv(TABLES / "mem0-1.csv", infer_schema=False).filter(metric="judge_score")
    overall = pl.read_csv(TABLES / "mem0-2.csv", infer_schema=False).select("system", "overall")
    path = folder / "mem0.csv"
    by_type.join(overall, on="system").drop("metric").rename(dict(load_protocol("mem0").labels)).write_csv(path)
    return path


def test_magma_table_1_is_question_weighted_and_two_rows_are_off() -> None:
    checked = check_table(TABLES / "magma-1.csv")
    assert (dict(checked.fits.schema), dict(checked.rows.schema)) == (FITS, ROWS)
    assert checked.fits.row(0)[:4] == ("official", "question", 3, 5)
    off = checked.rows.filter(verdict="does not fit").select("row", "printed", "recomputed").rows()
    assert off == [
        ("Full Context judge_score", 0.481, pytest.approx(0.4936, abs=5e-5)),
        ("Nemori judge_score", 0.59, pytest.approx(0.6057, abs=5e-5)),
    ]


def test_mem0s_single_hop_is_the_official_multi_hop(tmp_path: Path) -> None:
    checked = check_table(mem0_as_printed(tmp_path))
    assert checked.fits.row(0)[:4] == ("mem0", "question", 6, 6)
    assert checked.fits.filter(labels="official")["fits"].to_list() == [0, 0]
    assert "its 'Single-Hop' is the official multi_hop" in checked.findings
    assert "its 'Open-Domain' is the official single_hop" in checked.findings


@pytest.mark.parametrize(
    ("name", "fits", "off"),
    [
        pytest.param("magma-2", 2, ["MAGMA judge_score"], id="MAGMA table 2: its own row is off"),
        pytest.param(
            "magma-9",
            2,
            [
                f"{system} {metric}"
                for system in ("Full Context", "A-MEM", "MemoryOS", "Nemori")
                for metric in ("f1", "bleu1")
            ],
            id="MAGMA table 9: its own row alone fits",
        ),
    ],
)
def test_other_tables_of_magma(name: str, fits: int, off: list[str]) -> None:
    checked = check_table(TABLES / f"{name}.csv")
    assert checked.fits["fits"][0] == fits
    assert checked.rows.filter(verdict="does not fit")["row"].to_list() == off


@pytest.mark.parametrize(
    ("lines", "reading", "verdicts"),
    [
        pytest.param(
            ["system,Multi Hop,Temporal,Overall", "larch,10.0,20.0,15.0"],
            ("official", "type", 1, 1),
            ["fits"],
            id="by type",
        ),
        pytest.param(
            ["system,MH,T,avg", "larch,10,20,15.3"],
            ("official", "question", 1, 1),
            ["fits"],
            id="short names, by question",
        ),
        pytest.param(
            ["system,MH,T,avg", "larch,10.0,20.0,15.5"], ("official", "question", 0, 1), ["does not fit"], id="neither"
        ),
        pytest.param(
            ["system,MH,T,avg", "larch,**10.0**,20.0 ± .5,15.3%", "wren,10,–,12"],
            ("official", "question", 1, 1),
            ["fits"],
            id="marks around figures; a row with a gap is passed over",
        ),
        pytest.param(
            ["system,ss-user,ss-preference,average", "larch,0,1,.3"],
            ("official", "question", 1, 1),
            ["fits"],
            id="LongMemEval",
        ),
    ],
)
def test_readings(tmp_path: Path, lines: list[str], reading: tuple[object, ...], verdicts: list[str]) -> None:
    checked = check_table(table(tmp_path, *lines))
    assert checked.fits.row(0)[:4] == reading
    assert checked.rows["verdict"].to_list() == verdicts


def test_rounding_of_the_columns_is_allowed_for(tmp_path: Path) -> None:
    lines = ["system,Multi-Hop,Temporal,Overall", "a,.1,.2,.2", "b,.10,.20,.20"]
    assert check_table(table(tmp_path, *lines)).rows["verdict"].to_list() == ["fits", "does not fit"]


@pytest.mark.parametrize(
    ("lines", "error", "message"),
    [
        pytest.param(["system,MH,T", "a,1,2"], InputError, "no column of overall figures", id="no overall"),
        pytest.param(["system,x,y,overall", "a,1,2,3"], InputError, "two or more columns named after", id="no types"),
        pytest.param(
            ["system,MH,multi-hop,overall", "a,1,2,3"], InputError, "different question types", id="one twice"
        ),
        pytest.param(
            ["system,MH,T,overall", "a,1,,3"], InputError, "no row has a number in overall", id="no whole row"
        ),
    ],
)
def test_a_table_that_cannot_be_checked(tmp_path: Path, lines: list[str], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        check_table(table(tmp_path, *lines))


def test_no_such_table(tmp_path: Path) -> None:
    with pytest.raises(RunFileNotFound):
        check_table(tmp_path / "none.csv")


def test_no_such_data_set(tmp_path: Path) -> None:
    with pytest.raises(UnknownDataset, match="did you mean 'locomo'"):
        check_table(table(tmp_path, "system,MH,T,avg", "a,1,2,3"), "locomoo")
