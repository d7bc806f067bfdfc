"""Paths into records, in the words of formats and field maps.

    a.b.0           keys and positions; a key may have dots itself, and -1 is the last
    a.*.b           b of each item of the list a; of an object each value, with its key under @key
    a[type=x,y].b   b of those items of a, or of the object a, whose type is x or y
    a[type!=x].b    b of the others; what is missing is null
    a[id={c}].b     the same, where c says the value, or lists the values
    a[type~x].b     the same, where it begins like the pattern x; [.~x] is the text a itself
    a[{c}].b        b of what stands in the object a under the key that c says
    a!.b            b of the JSON that stands in the text a
    <a              the text of the HTML a
    'word'          the word itself
    {a}-{b}         a text of several; absent where one of them is
    a | b           the first that is there and not empty
    .               the record itself

An object of lists under [name=x] is a table by its columns: the row in which the name is x.

A condition is a path that is there, `path=x,y` one of these values, `path:text` (or list, object, number,
bool) that kind of value, `path:filled` neither empty nor blank, `path~pattern` a text that begins like this,
`not ` before it the contrary, and ` or ` between two either of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Any, Final

import orjson

from dialogauge.core.patterns import lazy_pattern
from dialogauge.data.field_map import MISSING, look_up
from dialogauge.data.formats.markup import html_text
from dialogauge.data.json_values import too_deep

Path = Callable[[Any], Any]
"""Returns what stands in a record, or `MISSING`."""

_STEP: Final = lazy_pattern(r"\[(?:([^=~!\]]+)(!?=|~))?([^\]]*)\]|([*!])|([^.\[\]*!]+(?:\.[^.\[\]*!]+)*)|\.")
_CONDITION: Final = lazy_pattern(
    r"(not )?((?:\[[^\]]*\]|[^=~\[])+?)(?:=(.*)|~(.*)|:(text|list|object|number|bool|filled))?"
)
_EMPTY_BLOCKS: Final = [{"type": "text", "text": ""}]
HOLE: Final = lazy_pattern(r"\{((?:[^{}]|\{[^{}]*\})+)\}")
"""A path in a text."""
_OR: Final = lazy_pattern(r" \| (?![^{}]*\})")
_FILTER: Final = lazy_pattern(r"\[[^\]]*\]")
_KINDS: Final[Mapping[str, type | tuple[type, ...]]] = {
    "text": str,
    "list": list,
    "object": dict,
    "number": (int, float),
    "bool": bool,
}


@cache
def path_of(text: str) -> Path:
    """Return what reads a path; raises ValueError for one that cannot be read."""
    alternatives = [_alternative(part.strip()) for part in _OR.split(text)]
    return alternatives[0] if len(alternatives) == 1 else partial(_first, alternatives)


@cache
def condition_of(text: str) -> Callable[[Any], bool]:
    """Return what says whether a record meets a condition; raises ValueError for one that cannot be read."""
    if " or " in text:
        either = [condition_of(one) for one in text.split(" or ")]
        return lambda record: any(holds(record) for holds in either)
    match = _CONDITION.fullmatch(text.strip())
    if match is None:
        msg = f"{text!r} is no condition"
        raise ValueError(msg)
    negated, read, kind = match[1] is not None, path_of(match[2]), match[5]
    words, pattern = None if match[3] is None else match[3].split(","), match[4]

    def holds(record: Any) -> bool:  # noqa: ANN401  # any JSON value
        value = read(record)
        if words is not None:
            fits = word_of(value) in words
        elif pattern is not None:
            fits = isinstance(value, str) and re.match(pattern, value) is not None
        elif kind == "filled":
            fits = is_there(value) and str(value).strip() != ""
        elif kind is not None:
            fits = isinstance(value, _KINDS[kind]) and (kind == "bool" or not isinstance(value, bool))
        else:
            fits = value is not MISSING
        return fits is not negated

    return holds


def word_of(value: object) -> str | None:
    """Return a value as a path names it: true, false, null, a number or the text; None for anything else."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value) if isinstance(value, str | int | float) else None


def is_there(value: object) -> bool:
    """Say whether a value is there, and not empty."""
    return value is not MISSING and value not in (None, "", [], {}, _EMPTY_BLOCKS)


def there(path: str, record: Any) -> Any:  # noqa: ANN401  # any JSON value
    """Return what stands under a path; None for nothing."""
    value = path_of(path)(record)
    return None if value is MISSING else value


def text_of(value: object) -> str | None:
    """Return a text, a number as one, the texts of a list and a table as lines; None for anything else."""
    if isinstance(value, list):
        texts = [text for one in value if (text := text_of(one)) is not None]
        return "\n".join(texts) if texts and len(texts) == len(value) else None
    if isinstance(value, dict):
        lists = {key: ", ".join(map(str, of)) if isinstance(of, list) else of for key, of in value.items()}
        return "\n".join(f"{key}: {of}" for key, of in lists.items() if is_there(of)) or None
    return value if isinstance(value, str) else word_of(value) if type(value) in (int, float) else None


def _first(alternatives: list[Path], record: Any) -> Any:  # noqa: ANN401  # any JSON value
    values = (read(record) for read in alternatives)
    return next((value for value in values if is_there(value)), MISSING)


def _alternative(text: str) -> Path:
    if text.startswith("<"):
        return partial(_plain, _alternative(text[1:].strip()))
    if len(text) > 1 and text[0] == text[-1] == "'":
        return lambda record: text[1:-1]
    if "{" in _FILTER.sub("", text):
        parts = [(path_of if n % 2 else str)(part) for n, part in enumerate(HOLE.split(text))]
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
        if match[3] is not None:
            words = [path_of(one[1:-1]) if one[:1] == "{" else one for one in match[3].split(",")]
            yield match[1], match[2], words
        elif match[4] or match[5]:
            yield match[4] or match[5]


def _walk(steps: tuple[Any, ...], value: Any, root: Any = None) -> Any:  # noqa: ANN401  # any JSON value
    root = value if root is None else root
    for number, step in enumerate(steps):
        if value is MISSING:
            break
        if step == "*":
            if isinstance(value, dict):
                pairs = value.items()
                value = [{"@key": key, **one} if isinstance(one, dict) else one for key, one in pairs]
            inner = (
                (_walk(steps[number + 1 :], one, root) for one in value) if isinstance(value, list) else ()
            )
            several = (each if isinstance(each, list) else [each] for each in inner if is_there(each))
            return [one for each in several for one in each]
        if step == "!":
            value = _parsed(value)
        elif isinstance(step, tuple):
            words = (word(root) if callable(word) else word for word in step[2])
            words = (each if isinstance(each, list) else [each] for each in words)
            value = _filtered(value, step[0], [one for each in words for one in each], step[1])
        else:
            value = look_up(value, step)
    return value


def _filtered(value: Any, key: str | None, words: list[Any], how: str) -> Any:  # noqa: ANN401
    """Return the items of a list, the object or the row of a table that a filter leaves."""
    if key is None:
        named = isinstance(value, dict) and isinstance(words[0], str)
        return value.get(words[0], MISSING) if named else MISSING
    words = [word_of(word) for word in words]

    def fits(of: Any) -> bool:  # noqa: ANN401  # any JSON value
        word = word_of(None if of is MISSING else of)
        if how == "~":
            return re.match(",".join(map(str, words)), word or "") is not None
        return (word in words) is (how == "=")

    if isinstance(value, list):
        return [one for one in value if fits(look_up(one, key))]
    own = value if key == "." else look_up(value, key)
    if isinstance(own, list):
        at = next((n for n, one in enumerate(own) if fits(one)), len(own))
        return {k: of[at] for k, of in value.items() if isinstance(of, list) and at < len(of)}
    return value if fits(own) else MISSING


def _parsed(value: object) -> Any:  # noqa: ANN401  # any JSON value
    try:
        inner = orjson.loads(value) if isinstance(value, str) else value
    except orjson.JSONDecodeError:
        return MISSING
    return MISSING if too_deep(inner) else inner


def _plain(read: Path, record: Any) -> Any:  # noqa: ANN401  # any JSON value
    value = read(record)
    if isinstance(value, list):
        return [html_text(one) if isinstance(one, str) else one for one in value]
    return html_text(value) if isinstance(value, str) else value


def _filled(parts: list[Any], record: Any) -> Any:  # noqa: ANN401  # any JSON value
    texts = [part if isinstance(part, str) else text_of(part(record)) for part in parts]
    return MISSING if None in texts else "".join(map(str, texts))
