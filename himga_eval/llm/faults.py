"""Tell what went wrong with a call, whoever's client made it: by status code and kind of error, without an SDK."""

from __future__ import annotations

import json
import os
from email.utils import parsedate_to_datetime
from time import time

from himga_eval.llm.base import CallFailed, FailureKind

KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY")
"""Where the SDKs look for keys; no message repeats what stands there."""

_THROTTLED = {429, 503, 529}
_TRANSIENT = {408, 409}
_FATAL = {401, 402, 403, 404}
_CONNECTION = {"APIConnectionError", "ConnectionError", "TimeoutError", "TransportError"}


def failure(error: Exception) -> CallFailed:
    """Say what an exception raised by a client means for the pool."""
    if isinstance(error, CallFailed):
        return error
    said = _without_keys(f"{type(error).__name__}: {error}")
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return CallFailed(_kind(status, error), said, retry_after=_retry_after(error))
    if {cls.__name__ for cls in type(error).__mro__} & _CONNECTION:
        return CallFailed("transient", said)
    if isinstance(error, json.JSONDecodeError):
        return CallFailed("transient", f"the server's reply is not whole JSON: {error}")
    return CallFailed("error", said)


def _kind(status: int, error: Exception) -> FailureKind:
    if status in _FATAL or getattr(error, "code", None) == "insufficient_quota":
        return "fatal"
    if status in _THROTTLED:
        return "throttled"
    return "transient" if status in _TRANSIENT or status >= 500 else "error"


def _retry_after(error: Exception) -> float | None:
    """The seconds a server asks to be left alone, which it may give as a number or as a date."""
    headers = getattr(getattr(error, "response", None), "headers", {})
    value = headers.get("retry-after")
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time())
    except ValueError:
        return None


def _without_keys(text: str) -> str:
    for name in KEYS:
        if key := os.environ.get(name):
            text = text.replace(key, f"${name}")
    return text
