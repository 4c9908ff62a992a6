"""Whether a printed table follows from its own columns: its overall figures under each label scheme and average."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from himga_eval.data.loading import COUNTS
from himga_eval.errors import InputError, UnknownDataset
from himga_eval.formats.files import read_table
from himga_eval.formats.names import fold
from himga_eval.protocols import load_protocol, names

OFFICIAL = "official"

TOTALS = ("overall", "average", "avg", "mean", "all", "total")
"""The names of a column of overall figures."""

SHORT = {
    "locomo": {
        **{"mh": "multi_hop", "multi": "multi_hop", "sh": "single_hop", "single": "single_hop", "t": "temporal"},
        **{"temp": "temporal", "od": "open_domain", "open": "open_domain", "open_dom": "open_domain"},
        **{"adv": "adversarial", "temporal_reasoning": "temporal"},
    },
    "longmemeval": {
        **{"ss_user": "single_session_user", "ss_assistant": "single_session_assistant"},
        **{"ss_preference": "single_session_preference", "temporal": "temporal_reasoning"},
    },
}
"""Usual short names of question types."""

FITS: dict[str, pl.DataType] = {
    "labels": pl.String(),
    "average": pl.String(),
    "fits": pl.Int64(),
    "rows": pl.Int64(),
    "largest_difference": pl.Float64(),
}
"""The columns of how many rows each reading of a table fits."""

ROWS: dict[str, pl.DataType] = {
    "row": pl.String(),
    "printed": pl.Float64(),
    "recomputed": pl.Float64(),
    "difference": pl.Float64(),
    "verdict": pl.String(),
}
"""The columns of what the reading that fits best makes of each row."""


@dataclass(frozen=True)
class TableCheck:
    """How a table was read, and what was found."""

    dataset: str
    fits: pl.DataFrame
    rows: pl.DataFrame
    findings: list[str]


@dataclass(frozen=True)
class _Printed:
    """Figures as printed; `units` are what their last digits are worth."""

    name: str
    overall: float
    unit: float
    figures: dict[str, float]
    units: dict[str, float]


def check_table(path: str | Path, dataset: str | None = None) -> TableCheck:
    """Recompute the overall figures of a printed table from its columns, under every label scheme and average.

    The table is a file with a row a system and a column a question type, and one named as in TOTALS. Questions are
    weighted by the numbers of the data set, which the columns tell. A row fits where it is within what rounding allows.

    Raises:
        RunFileError: the file cannot be read.
        InputError: too few columns are question types, none is of overall figures, or no row has all it takes.
    """
    table = read_table(Path(path))
    total = next((name for name in table.columns if fold(name) in TOTALS), None)
    if total is None:
        raise InputError(f"{path} has no column of overall figures ({', '.join(TOTALS)}): {', '.join(table.columns)}")
    dataset, kinds = _kinds(table.columns, dataset, path)
    texts = [name for name in table.columns if name not in (*kinds, total) and table[name].dtype == pl.String]
    printed = [row for row in (_printed(cells, kinds, total, texts) for cells in table.to_dicts()) if row]
    if not printed:
        raise InputError(f"{path}: no row has a number in {total} and in all of {', '.join(kinds)}")
    readings = []
    for scheme, meaning in _schemes(dataset).items():
        sizes = {kind: COUNTS[dataset][meaning.get(kind, kind)] for kind in kinds.values()}
        for average, weights in (("question", sizes), ("type", dict.fromkeys(sizes, 1))):
            readings.append((scheme, average, [_row(row, weights) for row in printed]))
    readings.sort(key=lambda reading: -sum(row[-1] == "fits" for row in reading[2]))
    fits = [
        (scheme, average, sum(row[-1] == "fits" for row in rows), len(rows), max(abs(row[3]) for row in rows))
        for scheme, average, rows in readings
    ]
    scheme, average, rows = readings[0]
    return TableCheck(
        dataset,
        pl.DataFrame(fits, schema=FITS, orient="row"),
        pl.DataFrame(rows, schema=ROWS, orient="row"),
        _findings(fits, kinds, _schemes(dataset)[scheme]),
    )


def _kinds(columns: list[str], dataset: str | None, path: str | Path) -> tuple[str, dict[str, str]]:
    """Tell the data set and, by column, the question type it is named after."""
    if dataset is not None and dataset not in COUNTS:
        raise UnknownDataset(dataset, COUNTS)
    found = {}
    for name, counts in COUNTS.items():
        known = SHORT[name] | {kind: kind for kind in map(str, counts)}
        found[name] = {column: known[fold(column)] for column in columns if fold(column) in known}
    best = dataset or max(found, key=lambda name: len(found[name]))
    if len(set(found[best].values())) < max(2, len(found[best])):
        raise InputError(
            f"{path}: two or more columns named after different question types of {best} are needed; "
            f"it has: {', '.join(columns)}"
        )
    return best, found[best]


def _schemes(dataset: str) -> dict[str, dict[str, str]]:
    """List the label schemes: what each calls a question type, and which it officially is."""
    kinds = [str(kind) for kind in COUNTS[dataset]]
    schemes = {OFFICIAL: {kind: kind for kind in kinds}}
    for protocol in map(load_protocol, names()):
        scheme = {fold(label): kind for kind, label in protocol.labels.items() if kind in kinds}
        if any(label in kinds and label != kind for label, kind in scheme.items()):
            schemes[protocol.name] = scheme
    return schemes


def _printed(cells: dict[str, object], kinds: dict[str, str], total: str, texts: list[str]) -> _Printed | None:
    """Read a row, or None where a figure is missing."""
    read = {name: _number(cells[name]) for name in (total, *kinds)}
    if any(number is None for number in read.values()):
        return None
    numbers = {name: number for name, number in read.items() if number}
    overall, unit = numbers[total]
    figures = {kind: numbers[name][0] for name, kind in kinds.items()}
    units = {kind: numbers[name][1] for name, kind in kinds.items()}
    return _Printed(" ".join(str(cells[name]) for name in texts), overall, unit, figures, units)


def _number(cell: object) -> tuple[float, float] | None:
    """Read a figure, as 46.8, .468 or "**70.0** ± .3", and what its last digit is worth."""
    found = re.match(r"[^\d.]*(\d*\.?(\d*))", str(cell))
    if cell is None or not found or not re.search(r"\d", found[1]):
        return None
    return float(found[1]), 10.0 ** -len(found[2])


def _row(row: _Printed, weights: dict[str, int]) -> tuple[str, float, float, float, str]:
    """Weigh the figures of a row, and tell whether its overall figure is that to within what rounding allows."""
    whole = sum(weights.values())
    recomputed = sum(weights[kind] * figure for kind, figure in row.figures.items()) / whole
    slack = (row.unit + sum(weights[kind] * unit for kind, unit in row.units.items()) / whole) / 2 + 1e-9
    difference = row.overall - recomputed
    return row.name, row.overall, recomputed, difference, "fits" if abs(difference) <= slack else "does not fit"


def _findings(
    fits: list[tuple[str, str, int, int, float]], kinds: dict[str, str], meaning: dict[str, str]
) -> list[str]:
    scheme, average, most, rows, _ = fits[0]
    told = [f"overall figures: {most} of {rows} are the mean by {average} under {scheme} labels"]
    if also := [f"{average} under {scheme}" for scheme, average, count, *_ in fits[1:] if count == most]:
        told.append(f"as many fit by {' and by '.join(also)}")
    told += [
        f"its {name!r} is the official {meaning[kind]}"
        for name, kind in kinds.items()
        if meaning.get(kind, kind) != kind
    ]
    return told
