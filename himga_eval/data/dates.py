"""Dates as the data sets write them."""

from __future__ import annotations

import re
from datetime import datetime

_FIRST_HALF = ("january", "february", "march", "april", "may", "june")
_SECOND_HALF = ("july", "august", "september", "october", "november", "december")
MONTHS = (*_FIRST_HALF, *_SECOND_HALF)  # English, whatever the locale says

_LOCOMO = re.compile(
    r"(?:(?P<hour>\d{1,2}):(?P<minute>\d{2})\s*(?P<half>[ap])\.?m\.?\s+on\s+)?"
    r"(?P<day>\d{1,2})\s+(?P<month>[a-z]+),?\s+(?P<year>\d{4})",
    re.ASCII | re.IGNORECASE,
)
_LONGMEMEVAL = re.compile(
    r"(?P<year>\d{4})/(?P<month>\d{1,2})/(?P<day>\d{1,2})(?:\s*\([a-z]+\))?"
    r"(?:\s+(?P<hour>\d{1,2}):(?P<minute>\d{2}))?",
    re.ASCII | re.IGNORECASE,
)


def parse_date(value: object) -> datetime | None:
    """Read "1:56 pm on 8 May, 2023", "2023/05/30 (Tue) 23:17" or an ISO date; None if it is none of them.

    The result is naive: the time on the clock as it is written, an offset being dropped. A date
    without a time is its midnight.
    """
    if not isinstance(value, str):
        return None
    text = value.strip()
    try:
        if found := _LOCOMO.fullmatch(text):
            return _build(found, month=MONTHS.index(found["month"].lower()) + 1)
        if found := _LONGMEMEVAL.fullmatch(text):
            return _build(found, month=int(found["month"]))
        return datetime.fromisoformat(text).replace(tzinfo=None)
    except ValueError:  # 31 April, 25:00, Brumaire
        return None


def _build(found: re.Match[str], *, month: int) -> datetime:
    parts = found.groupdict()
    hour, half = int(parts["hour"] or 0), (parts.get("half") or "").lower()
    if half:
        if hour > 12:
            raise ValueError(f"{hour} on a twelve-hour clock")
        hour = hour % 12 + (12 if half == "p" else 0)
    return datetime(int(parts["year"]), month, int(parts["day"]), hour, int(parts["minute"] or 0))
