"""The report in a browser that has no network: what is drawn, what filters leave, and that texts stay texts."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from tests.report.chromium import Page
from tests.report.conftest import HOSTILE, RUNS

SET = """(name, value) => {
  const form = document.getElementById('filters');
  form.elements[name].value = value;
  form.dispatchEvent(new Event('input'));
}"""


def shown(page: Page) -> list[list[str]]:
    """The texts of the rows in view."""
    script = "[...document.querySelectorAll('.answer')].map(row => [...row.cells].map(cell => cell.innerText))"
    rows: list[list[str]] = page.run(script)
    return rows


def found(page: Page) -> list[str]:
    """The ids of the rows in view."""
    return [row[1].split("\n")[1] for row in shown(page)]


def text(page: Page, selector: str) -> str:
    return str(page.run(f"document.querySelector({selector!r}).innerText"))


@pytest.fixture
def page(chromium: Page, file: Path) -> Page:
    chromium.open(file)
    return chromium


@pytest.fixture
def opened(chromium: Page, file: Path) -> Page:
    """The page as another test left it: for tests that clear what was chosen."""
    if not chromium.run("location.href").startswith(file.as_uri()):
        chromium.open(file)
    return chromium


def test_it_is_drawn_without_a_complaint_or_a_request(page: Page) -> None:
    assert page.run("document.querySelectorAll('figure > svg').length") == 4
    assert page.run(
        "[...document.querySelectorAll('figure > svg')].every(svg => svg.querySelectorAll('.role-mark *').length > 3)"
    )
    assert len(shown(page)) == 14
    assert text(page, "#found") == "14 of 14 rows"
    assert page.complaints == []


def test_hostile_texts_are_shown_and_do_nothing(page: Page) -> None:
    for _ in shown(page):
        page.run("document.querySelectorAll('.answer[aria-expanded=false]').forEach(row => row.click())")
    everything = text(page, "body")
    for hostile in HOSTILE[:-1]:
        assert hostile in everything
    assert "模型 é 🐦" in everything
    assert page.run("typeof window.harmed") == "undefined"
    assert (
        page.run("document.querySelectorAll('img, script:not(#data):not(:last-child), figure script, i').length") == 0
    )
    assert page.complaints == []


def test_the_policy_stops_a_script_that_got_in(page: Page) -> None:
    page.run("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.harmed = 1\">')")
    page.run(
        "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.harmed = 1'}))"
    )
    page.run("fetch('http://127.0.0.1:9/').catch(() => 0)")
    assert page.run("typeof window.harmed") == "undefined"
    assert any("Content Security Policy" in complaint for complaint in page.complaints)


@pytest.mark.parametrize(
    ("chosen", "ids"),
    [
        pytest.param({"run": RUNS[1], "type": "temporal"}, ["conv-1:1", "conv-1:5"], id="run and type"),
        pytest.param({"verdict": "right", "run": "larch"}, ["conv-0:0", "lme-3", "conv-0:6"], id="right"),
        pytest.param({"verdict": "partly", "run": "larch"}, ["conv-0:2", "conv-1:5"], id="partly"),
        pytest.param({"verdict": "wrong", "run": "larch"}, ["conv-1:1", "lme-4"], id="wrong"),
        pytest.param({"verdict": "not scored"}, ["lme-3"], id="not scored"),
        pytest.param({"metric": "exact_match", "verdict": "right"}, [], id="by another metric"),
        pytest.param({"error": "no answer"}, ["lme-3"], id="no answer"),
        pytest.param({"error": "agent error"}, ["lme-3"], id="agent error"),
        pytest.param({"error": "judge failed"}, ["conv-0:2", "conv-0:2"], id="judge failed"),
        pytest.param({"change": "won"}, ["conv-1:1", "conv-0:2", "lme-4", "conv-1:5"], id="won"),
        pytest.param({"change": "lost", "cause": "error"}, ["lme-3"], id="lost by an error"),
        pytest.param({"q": "ONERROR", "run": "larch"}, ["conv-1:1"], id="search in any case"),
        pytest.param({"q": "because of gold javascript", "run": "larch"}, ["conv-1:5"], id="search in reasoning"),
        pytest.param({"q": "lme-3"}, ["lme-3", "lme-3"], id="search for an id"),
        pytest.param({"q": "nothing has this"}, [], id="nothing left"),
    ],
)
def test_filters_leave_the_rows_they_say(opened: Page, chosen: dict[str, str], ids: list[str]) -> None:
    opened.run("document.getElementById('clear').click()")
    for name, value in chosen.items():
        opened.run(f"({SET})({name!r}, {value!r})")
    assert found(opened) == ids
    assert text(opened, "#found") == f"{len(ids)} of 14 rows"
    assert dict(parse_qsl(opened.run("location.hash.slice(1)"))) == chosen


@pytest.mark.parametrize(
    "chosen", [{"run": RUNS[1], "q": "模型"}, {"metric": "f1", "verdict": "partly", "change": "won"}]
)
def test_the_address_leads_to_what_was_chosen(chromium: Page, file: Path, chosen: dict[str, str]) -> None:
    chromium.open(file)
    for name, value in chosen.items():
        chromium.run(f"({SET})({name!r}, {value!r})")
    by_hand, address = found(chromium), chromium.run("location.hash")
    chromium.open(file, address)
    assert found(chromium) == by_hand != []
    assert chromium.run("location.hash") == address
    assert all(
        chromium.run(f"document.getElementById('filters').elements[{name!r}].value") == chosen[name] for name in chosen
    )


def test_a_question_opens_with_everything_known_of_it(chromium: Page, file: Path) -> None:
    chromium.open(file, "#q=conv-1:1&run=larch")
    chromium.run("document.querySelector('.answer').click()")
    opened = text(chromium, ".opened")
    for told in (
        f"Question 1: {HOSTILE[1]}?",
        f"gold {HOSTILE[1]}",
        f"larch says {HOSTILE[1]}",
        f"{RUNS[1]} says {HOSTILE[1]}",
        f"0.4: because of gold {HOSTILE[1]}",
        "exact_match 0",
        "won against larch: other answer",
        "2.5 s",
    ):
        assert told in opened
    assert chromium.run("document.querySelectorAll('.opened .chip.hit').length") == 2  # D1:1, found by both
    chromium.run("document.querySelector('.answer').dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'}))")
    assert chromium.run("document.querySelector('.opened')") is None


def test_a_link_to_a_question_and_back(chromium: Page, file: Path) -> None:
    chromium.open(file)
    chromium.run("document.querySelector('.answer').click(); document.querySelector('.opened a').click()")
    chromium.run("new Promise(done => setTimeout(done, 50))")
    assert found(chromium) == ["conv-0:0", "conv-0:0"]
    chromium.run("document.querySelector('#clear').click()")
    assert len(shown(chromium)) == 14


def test_another_chart_is_chosen(page: Page) -> None:
    texts = "document.querySelector('[data-charts=by_type] > svg').textContent"
    assert "judge_score by question type" in page.run(texts)
    page.run("document.querySelector('[data-charts=by_type] select').value = 'f1'")
    page.run("document.querySelector('[data-charts=by_type] select').dispatchEvent(new Event('change'))")
    assert "f1 by question type" in page.run(texts)
    assert page.run("document.querySelectorAll('[data-charts=by_type] > svg').length") == 1


def test_a_mark_says_what_it_is_when_pointed_at(page: Page) -> None:
    page.run(
        "document.querySelector('[data-charts=by_type] .mark-symbol.role-mark [aria-label]')"
        ".dispatchEvent(new PointerEvent('pointermove', {bubbles: true, clientX: 9, clientY: 9}))"
    )
    assert text(page, "#tip") == "larch, single_hop: 1.0"
    page.run("document.body.dispatchEvent(new PointerEvent('pointermove', {bubbles: true}))")
    assert page.run("document.getElementById('tip').hidden")


def test_a_telephone_shows_answers_below_one_another(chromium: Page, file: Path) -> None:
    chromium.open(file, width=400)
    cells = "[...document.querySelector('.answer').cells].map(cell => cell.getBoundingClientRect().width)"
    assert min(chromium.run(cells)) > 300
    assert chromium.run("getComputedStyle(document.querySelector('#answers thead')).display") == "none"


@pytest.mark.parametrize("width", [1200, 400])
def test_nothing_is_wider_than_the_window(chromium: Page, file: Path, width: int) -> None:
    chromium.open(file, width=width, dark=width == 400)
    assert chromium.run("document.documentElement.scrollWidth") <= width
