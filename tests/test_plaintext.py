"""Tables as plain text: what fits a width, what stands below, what is set off."""

from __future__ import annotations

import unicodedata

import polars as pl
import pytest

from himga_eval.plaintext import plaintext
from himga_eval.table import Table

WIDE = Table("", pl.DataFrame({"query": ["one", "two"], **{f"column_{i:02}": ["x" * 12, "y"] for i in range(8)}}), "")
RUNS = Table(
    "locomo",
    pl.DataFrame(
        {
            "metric": ["n", "f1", "f1", "bleu1", "bleu1"],
            "run": ["", "larch", "wren", "larch", "wren"],
            "place": ["20", ".5±.1", ".4±.1", ".3", "–"],
        }
    ),
    "two runs.",
    frozenset({(1, "place"), (3, "place")}),
)


def test_runs_stand_under_their_metric() -> None:
    assert plaintext(RUNS, 80).splitlines() == [
        "locomo",
        "",
        "metric   place",
        "──────────────",
        "n           20",
        "f1",
        "  larch  .5±.1",
        "  wren   .4±.1",
        "bleu1",
        "  larch     .3",
        "  wren       –",
        "",
        "two runs.",
    ]


def test_counts_of_each_run_are_a_section_too() -> None:
    grid = pl.DataFrame({"metric": ["n", "n", "f1"], "run": ["a", "b", "a"], "place": ["1", "2", ".5"]})
    assert plaintext(Table("", grid, ""), 80).splitlines()[2:] == [
        "n",
        "  a         1",
        "  b         2",
        "f1",
        "  a        .5",
    ]


def test_the_title_and_the_means_of_the_best_are_bold() -> None:
    told = plaintext(RUNS, 80, bold=True).splitlines()
    assert told[0] == "\x1b[1mlocomo\x1b[0m"
    assert told[6] == "  larch  \x1b[1m.5\x1b[0m±.1"
    assert told[9] == "  larch     \x1b[1m.3\x1b[0m"
    assert sum("\x1b" in line for line in told) == 3


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_columns_that_do_not_fit_stand_below_whole(width: int) -> None:
    printed = plaintext(WIDE, width).splitlines()
    assert max(map(len, printed)) <= width
    cells = " ".join(printed).split()
    assert cells.count("x" * 12) == 8, "no text is folded"
    parts = cells.count("query")
    assert parts > 1
    assert cells.count("one") == parts, "each part says what its rows are"


@pytest.mark.parametrize(
    ("width", "head"),
    [
        pytest.param(27, ["run  single_hop  answerable"], id="there is room"),
        pytest.param(26, ["     single_", "run      hop  answerable"], id="there is none"),
    ],
)
def test_names_break_at_underscores_only_where_they_must(width: int, head: list[str]) -> None:
    grid = pl.DataFrame({"run": ["a"], "single_hop": [".5"], "answerable": [".123±.456"]})
    assert plaintext(Table("", grid, ""), width).splitlines()[: len(head)] == head


def test_prose_is_folded_to_the_room_there_is_and_names_are_not() -> None:
    grid = pl.DataFrame({"question_id": ["conv-1:" + "9" * 30], "question": ["a word of a question " * 5]})
    printed = plaintext(Table("", grid, ""), 70).splitlines()
    assert max(map(len, printed)) <= 70
    assert printed[2].startswith("conv-1:" + "9" * 30)
    assert " ".join(line[39:].strip() for line in printed[2:]) == ("a word of a question " * 5).strip()


def test_letters_of_any_script_keep_columns_in_line() -> None:
    grid = pl.DataFrame({"run": ["模型", "e\u0301te", "oak"], "n": ["1", "2", "3"]})
    ends = []
    for line in plaintext(Table("", grid, ""), 80).splitlines()[2:]:
        ends.append(sum(2 if unicodedata.east_asian_width(c) == "W" else not unicodedata.combining(c) for c in line))
    assert len(set(ends)) == 1


def test_text_is_no_markup_and_no_command_to_a_terminal() -> None:
    grid = pl.DataFrame({"run": ["[red]x[/red]", "\x1b[31mred\x07\ttab"], "[u]head": ["1", "2"]})
    printed = plaintext(Table("[b]title", grid, "[i]note"), 80)
    assert "\x1b" not in printed
    assert "\x07" not in printed
    assert all(text in printed for text in ("[red]x[/red]", "[u]head", "[b]title", "[i]note"))


def test_long_lines_under_a_table_are_folded_and_lines_kept() -> None:
    note = "so many words " * 20 + "\nand a line of its own."
    printed = plaintext(Table("", pl.DataFrame({"run": ["a"], "n": ["1"]}), note), 60).splitlines()
    assert max(map(len, printed)) <= 60
    assert printed[-1] == "and a line of its own."


@pytest.mark.parametrize("columns", [["run"], ["run", "f1"], ["metric", "run", "f1"]])
def test_a_table_without_rows_has_its_heads(columns: list[str]) -> None:
    printed = plaintext(Table("", pl.DataFrame(schema=dict.fromkeys(columns, pl.String)), ""), 80)
    assert printed.split()[0] == columns[0]
