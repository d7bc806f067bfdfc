"""Personal data inside JSON values: counted, and replaced by marks, with keys as the context of values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from dialogauge.data.json_values import too_deep
from dialogauge.text import PersonalKind, count_personal, find_personal, redact

__all__ = ["count_in_value", "redact_json_text", "redact_value"]


def count_in_value(value: object) -> Counter[PersonalKind]:
    """Count what looks personal in all texts and whole numbers of a JSON value, keys included."""
    found: Counter[PersonalKind] = Counter()
    for key, text in _texts("", value):
        if not key:
            found += count_personal(text)
        else:
            context = f"{key}: "
            spans = find_personal(context + text)
            found.update(span.kind for span in spans if span.start >= len(context))
    return found


def _texts(key: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, int) and not isinstance(value, bool):
        yield key, _digits(value)
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield "", str(name)
            yield from _texts(str(name), inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(key, inner)


def redact_value(value: Any, key: str = "") -> Any:  # noqa: ANN401 - any JSON value
    """Return a JSON value with every text redacted; a whole number that looks personal becomes its mark.

    Args:
        value: Any JSON value; it is not changed itself.
        key: The name it stands under: `phone` makes ten digits a telephone number.
    """
    if isinstance(value, str):
        return _redact_under(key, value)
    if isinstance(value, int) and not isinstance(value, bool):
        clean = _redact_under(key, _digits(value))
        return clean if "[" in clean else value
    if isinstance(value, Mapping):
        return _redact_mapping(value)
    if isinstance(value, list | tuple):
        return [redact_value(inner, key) for inner in value]
    return value


def _digits(value: int) -> str:
    # Python refuses to write out whole numbers of over 4,300 digits; no personal number has 20.
    return str(value) if abs(value) < 10**20 else ""


def _redact_under(key: str, text: str) -> str:
    if not key:
        return redact(text)
    context = f"{key}: "
    spans = find_personal(context + text)
    if not spans:
        return text
    if spans[0].start < len(context):
        return redact(text)
    return redact(context + text)[len(context) :]


def _redact_mapping(value: Mapping[Any, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, inner in value.items():
        name = clean = redact(str(key))
        number = 1
        while name in out:  # two addresses as keys are two entries still
            number += 1
            name = f"{clean} {number}"
        out[name] = redact_value(inner, str(key))
    return out


def redact_json_text(text: str) -> str:
    """Redact a text that may be JSON, as tools' arguments and results are, so that JSON stays JSON."""
    clean = redact(text)
    if clean == text or text.lstrip()[:1] not in ("{", "["):
        return clean
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return clean
    if too_deep(value):
        return clean
    try:
        orjson.loads(clean)
    except orjson.JSONDecodeError:
        return orjson.dumps(redact_value(value)).decode()
    return clean
