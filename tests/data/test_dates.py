from __future__ import annotations

import locale
from collections.abc import Iterator
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from himga_eval.data.dates import MONTHS, parse_date


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56), id="locomo, afternoon"),
        pytest.param("12:05 am on 1 January, 2024", datetime(2024, 1, 1, 0, 5), id="12 am is the night"),
        pytest.param("12:30 pm on 2 Dec, 2024", None, id="a month is written out"),
        pytest.param("12:30 pm on 2 December, 2024", datetime(2024, 12, 2, 12, 30), id="12 pm is noon"),
        pytest.param("8 May, 2023", datetime(2023, 5, 8), id="locomo, no time"),
        pytest.param("  1:56 PM on 8 MAY 2023 ", datetime(2023, 5, 8, 13, 56), id="case, blanks, no comma"),
        pytest.param("2023/05/30 (Tue) 23:17", datetime(2023, 5, 30, 23, 17), id="longmemeval"),
        pytest.param("2023/05/30", datetime(2023, 5, 30), id="longmemeval, no time"),
        pytest.param("2023-05-30T00:00:00+00:00", datetime(2023, 5, 30), id="iso with offset is naive"),
        pytest.param("2023-05-30T23:17:00-07:00", datetime(2023, 5, 30, 23, 17), id="the clock as written"),
        pytest.param("2023-05-30", datetime(2023, 5, 30), id="iso date"),
        pytest.param("13:05 pm on 8 May, 2023", None, id="no thirteenth hour on a twelve-hour clock"),
        pytest.param("1:75 pm on 8 May, 2023", None, id="no seventy-fifth minute"),
        pytest.param("1:56 pm on 31 April, 2023", None, id="no 31 April"),
        pytest.param("1:56 pm on 8 Brumaire, 2023", None, id="no such month"),
        pytest.param("2023/13/30 (Tue) 23:17", None, id="no thirteenth month"),
        pytest.param("last Tuesday", None, id="words"),
        pytest.param("", None, id="empty"),
        pytest.param(None, None, id="null"),
        pytest.param(1683553000, None, id="a number"),
    ],
)
def test_a_date_is_read_or_none(text: object, expected: datetime | None) -> None:
    assert parse_date(text) == expected


@given(st.datetimes(min_value=datetime(1000, 1, 1), max_value=datetime(9999, 12, 31)))
def test_both_styles_come_back_to_the_minute(moment: datetime) -> None:
    moment = moment.replace(second=0, microsecond=0)
    clock = f"{(moment.hour + 11) % 12 + 1}:{moment.minute:02} {'pm' if moment.hour >= 12 else 'am'}"
    locomo = f"{clock} on {moment.day} {MONTHS[moment.month - 1].title()}, {moment.year}"
    longmemeval = f"{moment:%Y/%m/%d} (Mon) {moment:%H:%M}"
    assert parse_date(locomo) == parse_date(longmemeval) == moment


@given(st.text(max_size=40))
def test_any_text_is_read_or_none(text: str) -> None:
    assert parse_date(text) is None or isinstance(parse_date(text), datetime)


@pytest.fixture
def other_locale() -> Iterator[None]:
    """A locale whose month names are not English, where the machine has one."""
    before = locale.setlocale(locale.LC_TIME)
    for name in ("de_DE.UTF-8", "fr_FR.UTF-8", "es_ES.UTF-8", "pl_PL.UTF-8"):
        try:
            locale.setlocale(locale.LC_TIME, name)
        except locale.Error:
            continue
        yield
        locale.setlocale(locale.LC_TIME, before)
        return
    pytest.skip("no locale with other month names is installed")


@pytest.mark.usefixtures("other_locale")
def test_the_locale_does_not_matter() -> None:
    assert parse_date("1:56 pm on 8 May, 2023") == datetime(2023, 5, 8, 13, 56)
    assert parse_date("1:56 pm on 8 December, 2023") == datetime(2023, 12, 8, 13, 56)
