"""How tables are written."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Interval(StrEnum):
    """What stands beside a mean."""

    half = "half"
    range = "range"
    sd = "sd"
    none = "none"


@dataclass(frozen=True)
class Style:
    """With which interval means are written, in percent, the best set off, metrics below or beside one another."""

    interval: Interval = Interval.half
    percent: bool = False
    best: bool = False
    beside: bool = False
