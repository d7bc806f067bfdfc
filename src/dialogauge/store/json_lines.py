"""JSON as it is written to files and terminals: one line is one line for every reader."""

from __future__ import annotations

import re
from typing import Any

import orjson

__all__ = ["json_document", "json_line"]

# JSON allows these in strings as they are. But C1 controls and marks of direction act on a terminal that
# shows the file, and many readers of lines take U+0085, U+2028 and U+2029 for their end.
_ACTED_ON = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)


def json_line(value: Any) -> bytes:  # noqa: ANN401 - any JSON value
    """Write a value as one line of JSON."""
    return _inert(orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE))


def json_document(value: Any) -> bytes:  # noqa: ANN401 - any JSON value
    """Write a value as indented JSON."""
    return _inert(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def _inert(raw: bytes) -> bytes:
    """Write what readers act on as escapes; the value stays the same."""
    if raw.isascii() and b"\x7f" not in raw:
        return raw
    text = raw.decode()
    return raw if _ACTED_ON.search(text) is None else _ACTED_ON.sub(_escape, text).encode()


def _escape(match: re.Match[str]) -> str:
    units = match.group().encode("utf-16-be")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))
