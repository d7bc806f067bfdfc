"""How long an endpoint asks to wait: its headers, and the words of its message."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from dialogauge.core.patterns import lazy_pattern

_PART = lazy_pattern(
    r"[\s,]*(?:and\s+)?(\d+(?:\.\d+)?)\s*"
    r"(ms|milli\w*|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])",
    re.IGNORECASE,
)
_BARE = lazy_pattern(r"(\d+(?:\.\d+)?)(?=$|[\s\"',;)}\]]|\.(?!\d))")
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_ASKED = lazy_pattern(
    r"(?:try(?:ing)? again|retry(?:ing)?|wait)\b[^.\d\n]{0,40}?(?=\d)"
    r"|retry[_-]?(?:delay|after)\w*\W{1,6}(?:seconds\W{1,4})?(?=\d)",
    re.IGNORECASE,
)
_RESETS: Final = (
    ("x-ratelimit-reset-requests", "x-ratelimit-remaining-requests"),
    ("x-ratelimit-reset-tokens", "x-ratelimit-remaining-tokens"),
    ("anthropic-ratelimit-requests-reset", "anthropic-ratelimit-requests-remaining"),
    ("anthropic-ratelimit-tokens-reset", "anthropic-ratelimit-tokens-remaining"),
    ("x-ratelimit-reset", "x-ratelimit-remaining"),
    ("ratelimit-reset", "ratelimit-remaining"),
)
"""Headers that say when a limit is renewed, each with the one that says what is left of it."""
_EPOCH, _EPOCH_MS = 1e9, 1e11
"""From here on a number is a time: seconds or milliseconds since 1970."""

Headers = Callable[[str], str | None]


def read_retry_after(headers: Headers, now: float) -> float | None:
    """Return the seconds that the headers ask to wait; None if they ask for none.

    `now` is in seconds since 1970, for dates.
    """
    in_ms = _number(headers("retry-after-ms"))
    if in_ms is not None:
        return in_ms / 1000
    text = headers("Retry-After")
    if text is None:
        return None
    seconds = _number(text)
    if seconds is not None:
        return seconds
    try:
        date = parsedate_to_datetime(text)
    except (TypeError, ValueError, OverflowError):
        return None
    return _until(date, now)


def read_reset(headers: Headers, now: float) -> float | None:
    """Return the seconds until the limit that is used up is renewed; None if no header says so.

    Where none is said to be used up, it is the one that is renewed first.
    """
    resets = [(_moment(headers(reset), now), headers(left)) for reset, left in _RESETS]
    spent = [wait for wait, left in resets if wait is not None and _number(left) == 0]
    return max(spent) if spent else min((wait for wait, _ in resets if wait is not None), default=None)


def wait_in_words(text: str) -> float | None:
    """Return the seconds in "try again in 6m0s" or `"retryDelay": "17s"`; None if the text has none."""
    for asked in _ASKED.finditer(text):
        seconds = _duration(text, asked.end())
        if seconds is not None:
            return seconds
        bare = _BARE.match(text, asked.end())
        if bare is not None:
            unit = "ms" if re.search(r"ms\W*$", asked.group(), re.IGNORECASE) else "s"
            return float(bare.group(1)) * _UNITS[unit]
    return None


def _duration(text: str, start: int = 0) -> float | None:
    total, any_part = 0.0, False
    while (part := _PART.match(text, start)) is not None:
        name = part.group(2).lower()
        unit = "ms" if name == "ms" or name.startswith("milli") else name[0]
        total, any_part, start = total + float(part.group(1)) * _UNITS[unit], True, part.end()
    return total if any_part else None


def _moment(text: str | None, now: float) -> float | None:
    if text is None:
        return None
    number = _number(text)
    if number is not None:
        at = number / 1000 if number > _EPOCH_MS else number
        return max(0.0, at - now) if at > _EPOCH else number
    duration = _duration(text)
    if duration is not None:
        return duration
    try:
        return _until(datetime.fromisoformat(text), now)
    except ValueError:
        return None


def _until(date: datetime, now: float) -> float:
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, date.timestamp() - now)


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else None
    except ValueError:
        return None
    return value if value is not None and 0 <= value < float("inf") else None
