"""The fields of an item, taken out with one clear error where one is absent or of the wrong kind."""

from __future__ import annotations

from typing import Any

from himga_eval.errors import DatasetError, listed


def need(item: Any, name: str, where: str) -> Any:
    """Return a field that has to be there.

    Raises:
        DatasetError: it is absent or null.
    """
    if not isinstance(item, dict):
        raise DatasetError(f"{where} is {type(item).__name__}, not an object: {item!r:.80}")
    if item.get(name) is None:
        raise DatasetError(f"{where}: no {name!r}; it has: {listed(sorted(item), 12) or 'nothing'}")
    return item[name]


def need_list(item: Any, name: str, where: str) -> list[Any]:
    """Return a list that has to be there.

    Raises:
        DatasetError: it is absent, null or something else.
    """
    return as_list(need(item, name, where), f"{where}: {name!r}")


def as_list(value: Any, what: str) -> list[Any]:
    """Return the value, which has to be a list.

    Raises:
        DatasetError: it is something else.
    """
    if not isinstance(value, list):
        raise DatasetError(f"{what} is {type(value).__name__}, not a list: {value!r:.80}")
    return value


def need_text(item: Any, name: str, where: str) -> str:
    """Return a text or number that has to be there, as text: 2022 is "2022".

    Raises:
        DatasetError: it is absent, null, a list or an object.
    """
    value = need(item, name, where)
    if isinstance(value, (list, dict)):
        raise DatasetError(f"{where}: {name!r} is {type(value).__name__}, not a text: {value!r:.80}")
    return str(value)
