"""Finds the one JSON object that a reply is meant to be.

The last complete top-level object wins: a model quotes first and answers last, so an object that a
conversation smuggled into the reply does not stand in for the verdict. Repair is the last resort, and
an object that was cut off is never completed by guessing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from dialogauge.llm.reasoning import split_reasoning

__all__ = ["Extracted", "NoJsonObject", "TruncatedJson", "extract_object"]

_MARKS = re.compile(r'[{}"]|\\.', re.DOTALL)
_LIKE_OBJECT = re.compile(r"""\{\s*(?:["'“”‘’}]|[A-Za-z_]\w*\s*:)""")
_REPAIR_LIMIT = 200_000
"""Characters; json-repair is not meant for more, and no verdict is that long."""


class NoJsonObject(ValueError):
    """The text holds no JSON object that can be read."""


class TruncatedJson(NoJsonObject):
    """The text ends inside a JSON object. Repair could close it, but what is missing stays missing."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """The object of a reply."""

    value: dict[str, Any]
    repaired: bool = False
    """Whether its JSON was faulty and had to be repaired."""


def extract_object(text: str) -> Extracted:
    """Return the last complete top-level JSON object of the text.

    Reasoning blocks, code fences and prose around it are passed over; an empty object counts only when
    there is no other. Raises `TruncatedJson` when the text ends inside an object, `NoJsonObject` when
    there is none or none that can be read.
    """
    text, _ = split_reasoning(text)
    whole = _load(text)
    if whole is not None:
        return Extracted(whole)
    empty: Extracted | None = None
    for span in reversed(list(_spans(text))):
        value = _load(span)
        if value:
            return Extracted(value)
        if value is not None:
            empty = Extracted(value)
        else:
            return Extracted(_repair(span), repaired=True)
    if empty is not None:
        return empty
    message = "the reply holds no JSON object" if text.strip() else "the reply is empty"
    raise NoJsonObject(message)


def _load(text: str) -> dict[str, Any] | None:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def _spans(text: str) -> Iterator[str]:
    """Yield every balanced top-level `{...}`; raises `TruncatedJson` if the last one is never closed.

    A brace that opens nothing like JSON is prose. Every character is looked at once.
    """
    position = 0
    while (opening := _LIKE_OBJECT.search(text, position)) is not None:
        end = _closing(text, opening.start())
        if end is None:
            # Or a quote too many hides the end; closing it by guess would complete what was cut off.
            message = "the JSON object of the reply is cut off"
            raise TruncatedJson(message)
        yield text[opening.start() : end]
        position = end


def _closing(text: str, start: int) -> int | None:
    """Return the position behind the brace that closes the one at `start`, minding strings."""
    depth, in_string = 0, False
    for mark in _MARKS.finditer(text, start):
        sign = mark.group()
        if sign == '"':
            in_string = not in_string
        elif in_string or sign[0] == "\\":
            continue
        elif sign == "{":
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                return mark.end()
    return None


def _repair(span: str) -> dict[str, Any]:
    from json_repair import repair_json  # needed for faulty replies only, and slow to load

    message = "the JSON of the reply is faulty beyond repair"
    if len(span) > _REPAIR_LIMIT:
        raise NoJsonObject(message)
    try:
        value = repair_json(span, return_objects=True, skip_json_loads=True)
    except (RecursionError, ValueError, IndexError):
        raise NoJsonObject(message) from None
    # Prose comes back as "" and two objects as a list: neither is the object that was asked for.
    if not isinstance(value, dict) or not value:
        raise NoJsonObject(message)
    return value
