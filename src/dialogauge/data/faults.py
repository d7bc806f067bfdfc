"""Faults with their place first, and the hints that go with broken JSON."""

from __future__ import annotations

import re

from dialogauge.core import FileFault, Place, RecordFault

__all__ = ["file_fault", "json_hint", "record_fault", "shown"]

_NOT_FINITE = re.compile(rb"[:\[,]\s*-?(NaN|Infinity)\b")


def file_fault(place: Place, message: str, hint: str | None = None) -> FileFault:
    """Return the fault of a whole file."""
    return FileFault(message, place=place, hint=hint)


def record_fault(place: Place, message: str, hint: str | None = None) -> RecordFault:
    """Return the fault of one record."""
    return RecordFault(message, place=place, hint=hint)


def shown(value: object, limit: int = 40) -> str:
    """Return a value as a message shows it, cut to `limit` characters."""
    try:
        text = repr(value)
    except RecursionError:
        return "something nested too deep to be shown"
    return text if len(text) <= limit else text[: limit - 1] + "…"


def json_hint(line: bytes, error: str) -> str | None:
    """Guess what is wrong with a line that should be one JSON value."""
    text = line.strip()
    tests = (
        (_NOT_FINITE.search(text) is not None, "NaN and Infinity are not JSON: write null"),
        (text.startswith((b"{'", b"[{'")), "looks like a printed Python dict: write it with json.dumps"),
        (text.endswith(b","), "one JSON object per line without commas between them, or one JSON array"),
        (
            text.startswith(b"[") and not text.endswith(b"]"),
            "looks like a JSON array over several lines: give it a file of its own",
        ),
        (not text.startswith((b"{", b"[")), "one JSON object per line is expected"),
        (
            "unexpected end" in error or "control character" in error,
            "the line ends in the middle of a value: truncated, or with a raw line break in a text?",
        ),
    )
    return next((hint for fits, hint in tests if fits), None)
