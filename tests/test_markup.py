"""Tables in Markdown and LaTeX."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

from himga_eval.markup import latex, markdown
from himga_eval.table import Table

HOSTILE = "a_b & 50% #1 {x} ~^\\ $ <i> [z]* | “é”"

PLAIN = Table(
    "f1 on mine",
    pl.DataFrame({"metric": ["n", "f1", "f1"], "run": ["", "larch", "wren"], "place": ["20", ".750 ±.1", "–"]}),
    "two runs.",
    frozenset({(1, "place")}),
)
HEADS = Table(
    "",
    pl.DataFrame(
        {
            "run": ["larch"],
            "single_hop\nn=20\nf1": [".5"],
            "single_hop\nn=20\nbleu1": [".4"],
            "overall\nn=30\nf1": [".6"],
            "overall\nn=30\nbleu1": [".7"],
        }
    ),
    "",
)
NAMES = Table(HOSTILE, pl.DataFrame({"run": [HOSTILE, "[b]", "*c"], HOSTILE: ["1", "2", "3"]}), f"under\n{HOSTILE}")


def test_markdown() -> None:
    assert markdown(PLAIN).splitlines() == [
        "**f1 on mine**",
        "",
        "| metric | run | place |",
        "| --- | --- | ---: |",
        "| n |  | 20 |",
        "| f1 | larch | **.750** ±.1 |",
        "| f1 | wren | – |",
        "",
        "two runs.",
    ]


def test_markdown_has_the_heads_in_the_name_of_a_column() -> None:
    head, rule, row = markdown(HEADS).splitlines()
    assert head == "| run | single_hop n=20 f1 | single_hop n=20 bleu1 | overall n=30 f1 | overall n=30 bleu1 |"
    assert rule == "| --- | ---: | ---: | ---: | ---: |"
    assert row == "| larch | .5 | .4 | .6 | .7 |"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        pytest.param("a|b", "a\\|b", id="a cell's end"),
        pytest.param("*bold*", "\\*bold\\*", id="emphasis"),
        pytest.param("<b>", "\\<b>", id="HTML"),
        pytest.param("[a](b)", "[a\\](b)", id="a link"),
        pytest.param("single_hop", "single_hop", id="an underscore in a word"),
        pytest.param("_x_", "\\_x\\_", id="underscores around a word"),
        pytest.param("two\nlines", "two lines", id="line breaks"),
    ],
)
def test_marks_in_text_stay_text_in_markdown(text: str, written: str) -> None:
    assert markdown(Table("", pl.DataFrame({"run": [text]}), "")).splitlines()[-1] == f"| {written} |"


def test_latex() -> None:
    assert latex(PLAIN).splitlines() == [
        "% f1 on mine",
        "% two runs.",
        r"\noindent\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{\setlength{\tabcolsep}{4pt}%",
        r"\begin{tabular}{llr}",
        r"\toprule",
        r"metric & run & place \\",
        r"\midrule",
        r"n &  & 20 \\ \addlinespace",
        r"f1 & larch & \textbf{.750} $\pm$.1 \\",
        r"f1 & wren & -- \\",
        r"\bottomrule",
        r"\end{tabular}}",
    ]


def test_latex_has_common_heads_above_their_columns() -> None:
    lines = latex(HEADS).splitlines()
    assert lines[1:8] == [
        r"\begin{tabular}{lrrrr}",
        r"\toprule",
        r" & \multicolumn{2}{c}{\shortstack[c]{single\_ \\ hop}} & \multicolumn{2}{c}{overall} \\",
        r" & \multicolumn{2}{c}{n=20} & \multicolumn{2}{c}{n=30} \\",
        r"\cmidrule(lr){2-3} \cmidrule(lr){4-5}",
        r"run & f1 & bleu1 & f1 & bleu1 \\",
        r"\midrule",
    ]


def test_comments_are_lines_of_their_own() -> None:
    before, _ = latex(NAMES).split(r"\noindent")
    assert [line[0] for line in before.splitlines()] == ["%", "%"]


def test_commands_in_text_stay_text_in_latex() -> None:
    text = latex(Table("", pl.DataFrame({"run": [HOSTILE]}), ""))
    assert r"a\_b \& 50\% \#1 \{x\} \textasciitilde{}\textasciicircum{}\textbackslash{} \$ " in text
    assert r"\textless{}i\textgreater{} {[}z{]}{*} \textbar{}" in text


@pytest.mark.slow
def test_latex_compiles(tmp_path: Path) -> None:
    if not shutil.which("pdflatex"):
        pytest.skip("no pdflatex here: Debian has it in texlive-latex-base, booktabs in texlive-latex-recommended")
    long = Table("", pl.DataFrame({"run": [], "single_session_user": []}, schema_overrides={"run": pl.String}), "")
    wide = Table("", pl.DataFrame({"run": ["larch"], **{f"type {i}": [".514±.051"] for i in range(20)}}), "")
    body = "\n\n".join(latex(table) for table in (PLAIN, HEADS, NAMES, long, wide))
    (tmp_path / "paper.tex").write_text(
        "\\documentclass{article}\n\\usepackage{booktabs,graphicx}\n\\begin{document}\n" + body + "\n\\end{document}\n",
        "utf-8",
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout
    assert (tmp_path / "paper.pdf").stat().st_size > 0
