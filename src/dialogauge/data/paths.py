"""Paths into records, in the words of formats and field maps.

    a.b.0           keys and positions; a key may have dots itself, and -1 is the last
    a.*.b           b of each item of the list a
    a[type=x,y].b   b of those items of a, or of the object a, whose type is x or y
    a!.b            b of the JSON that stands in the text a
    <a              the text of the HTML a
    'word'          the word itself
    {a}-{b}         a text of several; absent where one of them is
    a | b           the first that is there and not empty
    .               the record itself

A condition is a path that is there, `path=x,y` one of these values, `path:text` (or list, object, number,
bool) that kind of value, and `not ` before it the contrary.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Any, Final

import orjson

from dialogauge.core.patterns import lazy_pattern
from dialogauge.data.json_values import too_deep
from dialogauge.data.markup import html_text

MISSING: Any = object()
"""The result of a path to nothing."""
Path = Callable[[Any], Any]
"""Returns what stands in a record, or `MISSING`."""

_HUMP: Final = lazy_pattern(r"(?<=[a-z0-9])(?=[A-Z])")
_INDEX: Final = lazy_pattern(r"-?[0-9]{1,9}")
_STEP: Final = lazy_pattern(r"\[([^=\]]+)=([^\]]*)\]|([*!])|([^.\[\]*!]+(?:\.[^.\[\]*!]+)*)|\.")
_CONDITION: Final = lazy_pattern(
    r"(not )?((?:\[[^\]]*\]|[^=\[])+?)(?:=(.*)|:(text|list|object|number|bool))?"
)
_EMPTY_BLOCKS: Final = [{"type": "text", "text": ""}]
_HOLE: Final = lazy_pattern(r"\{([^{}]+)\}")
_KINDS: Final[Mapping[str, type | tuple[type, ...]]] = {
    "text": str,
    "list": list,
    "object": dict,
    "number": (int, float),
    "bool": bool,
}


def look_up(record: Any, path: str) -> Any:  # noqa: ANN401  # any JSON value
    """Return the value at a key or dotted path, or `MISSING`.

    A key may itself have dots; a list item is named by its position, from the end by a negative one.
    """
    if isinstance(record, dict):
        if path in record:
            return record[path]
        head, dot, rest = path.partition(".")
        while dot:
            if head in record and (value := look_up(record[head], rest)) is not MISSING:
                return value
            more, dot, rest = rest.partition(".")
            head = f"{head}.{more}"
    elif isinstance(record, list):
        head, dot, rest = path.partition(".")
        number = int(head) if _INDEX.fullmatch(head) else len(record)
        if -len(record) <= number < len(record):
            return look_up(record[number], rest) if dot else record[number]
    return MISSING


@cache
def path_of(text: str) -> Path:
    """Return what reads a path; raises ValueError for one that cannot be read."""
    alternatives = [_alternative(part.strip()) for part in text.split(" | ")]
    return alternatives[0] if len(alternatives) == 1 else partial(_first, alternatives)


@cache
def condition_of(text: str) -> Callable[[Any], bool]:
    """Return what says whether a record meets a condition; raises ValueError for one that cannot be read."""
    match = _CONDITION.fullmatch(text.strip())
    if match is None:
        msg = f"{text!r} is no condition"
        raise ValueError(msg)
    negated, read = match[1] is not None, path_of(match[2])
    words, kind = None if match[3] is None else match[3].split(","), _KINDS.get(match[4] or "")

    def holds(record: Any) -> bool:  # noqa: ANN401  # any JSON value
        value = read(record)
        if words is not None:
            return (word_of(value) in words) is not negated
        fits = value is not MISSING if kind is None else isinstance(value, kind)
        return (fits and (kind is None or not isinstance(value, bool) or kind is bool)) is not negated

    return holds


def word_of(value: object) -> str | None:
    """Return a value as a path names it: true, false, null, a number or the text; None for anything else."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value) if isinstance(value, str | int | float) else None


def plain_name(key: str) -> str:
    """Return a key or the name of a column in small letters, its words parted by underscores."""
    return re.sub(r"[\s-]+", "_", _HUMP.sub("_", key.strip())).lower()


def is_there(value: object) -> bool:
    """Say whether a value is there, and not empty."""
    return value is not MISSING and value not in (None, "", [], {}, _EMPTY_BLOCKS)


def text_of(value: object) -> str | None:
    """Return a text, a number as one, and the texts of a list as lines; None for anything else."""
    if isinstance(value, list):
        texts = [text for one in value if (text := text_of(one)) is not None]
        return "\n".join(texts) if texts and len(texts) == len(value) else None
    return value if isinstance(value, str) else word_of(value) if type(value) in (int, float) else None


def _first(alternatives: list[Path], record: Any) -> Any:  # noqa: ANN401  # any JSON value
    values = (read(record) for read in alternatives)
    return next((value for value in values if is_there(value)), MISSING)


def _alternative(text: str) -> Path:
    if not text:
        msg = "an empty text is no path"
        raise ValueError(msg)
    if text.startswith("<"):
        return partial(_plain, _alternative(text[1:].strip()))
    if len(text) > 1 and text[0] == text[-1] == "'":
        return lambda record: text[1:-1]
    if "{" in text:
        parts = [(_alternative if n % 2 else str)(part) for n, part in enumerate(_HOLE.split(text))]
        return partial(_filled, parts)
    if text == ".":
        return lambda record: record
    steps = list(_steps(text))
    return partial(look_up, path=text) if steps == [text] else partial(_walk, tuple(steps))


def _steps(text: str) -> Iterator[Any]:
    at = 0
    while at < len(text):
        match = _STEP.match(text, at)
        if match is None or not text.strip():
            msg = f"{text!r} is no path: {text[at:]!r} cannot be read"
            raise ValueError(msg)
        at = match.end()
        if match[1]:
            yield match[1], match[2].split(",")
        elif match[3] or match[4]:
            yield match[3] or match[4]


def _walk(steps: tuple[Any, ...], value: Any) -> Any:  # noqa: ANN401  # any JSON value
    for number, step in enumerate(steps):
        if value is MISSING:
            break
        if step == "*":
            inner = (_walk(steps[number + 1 :], one) for one in value) if isinstance(value, list) else ()
            several = (each if isinstance(each, list) else [each] for each in inner if is_there(each))
            return [one for each in several for one in each]
        if step == "!":
            value = _parsed(value)
        elif isinstance(step, tuple):
            key, words = step
            if isinstance(value, list):
                value = [one for one in value if word_of(look_up(one, key)) in words]
            elif word_of(look_up(value, key)) not in words:
                value = MISSING
        else:
            value = look_up(value, step)
    return value


def _parsed(value: object) -> Any:  # noqa: ANN401  # any JSON value
    try:
        inner = orjson.loads(value) if isinstance(value, str) else value
    except orjson.JSONDecodeError:
        return MISSING
    return MISSING if too_deep(inner) else inner


def _plain(read: Path, record: Any) -> Any:  # noqa: ANN401  # any JSON value
    value = read(record)
    return html_text(value) if isinstance(value, str) else value


def _filled(parts: list[Any], record: Any) -> Any:  # noqa: ANN401  # any JSON value
    texts = [part if isinstance(part, str) else text_of(part(record)) for part in parts]
    return MISSING if None in texts else "".join(map(str, texts))
