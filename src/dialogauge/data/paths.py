"""Paths into records, in the words of formats and field maps.

    a.b.0           keys and positions; a key may have dots itself, and -1 is the last
    a.*.b           b of each item of the list a; of an object each value, with its key under @key
    a[type=x,y].b   b of those items of a, or of the object a, whose type is x or y
    a[type!=x].b    b of the others; what is missing is null
    a[id={c}].b     the same, where c says the value, or lists the values
    a[{c}].b        b of what stands in the object a under the key that c says
    a[not b:text].c c of those that meet any other condition; in [.~x] it is on a itself
    a!.b            b of the JSON that stands in the text a
    a~pattern       what the pattern, or its first group, finds at the beginning of the text a
    <a              the text of the HTML a
    'word'          the word itself; behind a condition where it is met: [a=b].'word'
    {a}-{b}         a text of several; absent where one of them is
    a | b           the first that is there and not empty
    .               the record itself

An object of lists under [name=x] is a table by its columns: the row in which the name is x.

A condition is a path that is there, `path=x,y` one of these values, `path={other}` what stands at another
path, `path:text` (or list, object, number, bool) that kind of value, `path:filled` neither empty nor blank,
`path~pattern` a text that begins like this, `not ` before it the contrary, and ` or ` between two either of
them.
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
_STEP: Final = lazy_pattern(r"\[([^\]]+)\]|([*!]|'[^']*'|[^.\[\]*!]+(?:\.[^.\[\]*!]+)*)|\.")
_EQUAL: Final = lazy_pattern(r"(?!not )(?:([^=!:~| ]+)(!?)=)?(.*)")
_CONDITION: Final = lazy_pattern(
    r"(not )?((?:\[[^\]]*\]|[^=~\[])+?)(?:=(.*)|~(.*)|:(text|list|object|number|bool|filled))?"
)
_EMPTY_BLOCKS: Final = [{"type": "text", "text": ""}]
HOLE: Final = lazy_pattern(r"\{((?:[^{}]|\{[^{}]*\})+)\}")
"""A path in a text."""
_OR: Final = lazy_pattern(r" \| (?![^{}]*\}|[^\[\]]*\])")
_FILTER: Final = lazy_pattern(r"\[[^\]]*\]")
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
    negated, read, fits = match[1] is not None, path_of(match[2]), _test(match[3], match[4], match[5])
    if match[3] is not None and match[3].startswith("{"):
        other = path_of(match[3][1:-1])
        return lambda record: (is_there(of := read(record)) and of == other(record)) is not negated
    return lambda record: fits(read(record)) is not negated


def _test(words: str | None, pattern: str | None, kind: str | None) -> Callable[[Any], bool]:
    """Return what says whether a value meets the end of a condition."""
    if words is not None:
        several = frozenset(words.split(","))
        return lambda value: word_of(value) in several
    if pattern is not None:
        begins = _pattern(pattern).match
        return lambda value: isinstance(value, str) and begins(value) is not None
    if kind == "filled":
        return lambda value: is_there(value) and str(value).strip() != ""
    if kind is None:
        return lambda value: value is not MISSING
    types = _KINDS[kind]
    return lambda value: isinstance(value, types) and (kind == "bool" or not isinstance(value, bool))


def word_of(value: object) -> str | None:
    """Return a value as a path names it: true, false, null, a number or the text; None for anything else."""
    if type(value) is str:
        return value
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value) if isinstance(value, str | int | float) else None


def plain_name(key: str) -> str:
    """Return a key or the name of a column in small letters, its words parted by underscores."""
    return re.sub(r"[\s-]+", "_", _HUMP.sub("_", key.strip())).lower()


def is_there(value: object) -> bool:
    """Say whether a value is there, and not empty."""
    if value is None or value is MISSING:
        return False
    return not isinstance(value, str | list | dict) or (len(value) > 0 and value != _EMPTY_BLOCKS)


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
    for read in alternatives:
        if is_there(value := read(record)):
            return value
    return MISSING


def _alternative(text: str) -> Path:
    if not text or "[=" in text:
        msg = f"{text!r} is no path"
        raise ValueError(msg)
    if text.startswith("<"):
        return partial(_plain, _alternative(text[1:].strip()))
    if len(text) > 1 and text[0] == text[-1] == "'":
        return lambda record: text[1:-1]
    bare = _FILTER.sub("", text)
    if "~" in bare:
        where, _, pattern = text.partition("~")
        return partial(_matched, _alternative(where), _pattern(pattern))
    if "{" in bare:
        parts = [(path_of if n % 2 else str)(part) for n, part in enumerate(HOLE.split(text))]
        return partial(_filled, parts)
    if text == ".":
        return lambda record: record
    steps = list(_steps(text))
    if steps != [text]:
        return partial(_walk, tuple(steps))
    return partial(_dotted, text, *text.split(".", 1)) if "." in text else partial(_member, text)


def _member(key: str, record: Any) -> Any:  # noqa: ANN401  # any JSON value
    """Look up a key without dots."""
    return record.get(key, MISSING) if type(record) is dict else look_up(record, key)


def _dotted(path: str, head: str, rest: str, record: Any) -> Any:  # noqa: ANN401  # any JSON value
    """Look up a dotted path, which mostly is a key in an object."""
    if type(record) is dict and path not in record:
        inner = record.get(head, MISSING)
        if type(inner) is dict and rest in inner:
            return inner[rest]
        if inner is MISSING and "." not in rest:
            return MISSING
    return look_up(record, path)


def _steps(text: str) -> Iterator[Any]:
    at = 0
    while at < len(text):
        match = _STEP.match(text, at)
        if match is None or not text.strip():
            msg = f"{text!r} is no path: {text[at:]!r} cannot be read"
            raise ValueError(msg)
        at = match.end()
        if match[1]:
            equal = _EQUAL.fullmatch(match[1])
            if equal is None or (equal[1] is None and equal[3][:1] != "{"):
                yield condition_of(match[1])
                continue
            words = [path_of(one[1:-1]) if one[:1] == "{" else one for one in equal[3].split(",")]
            yield equal[1], bool(equal[2]), words
        elif match[2]:
            yield match[2]


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
            value = _filtered(value, step[0], [one for each in words for one in each], negated=step[1])
        elif callable(step):
            if isinstance(value, list):
                value = [one for one in value if step(one)]
            elif not step(value):
                value = MISSING
        elif step[0] == "'":
            value = step[1:-1]
        else:
            value = look_up(value, step)
    return value


def _filtered(value: Any, key: str | None, words: list[Any], *, negated: bool) -> Any:  # noqa: ANN401
    """Return the items of a list, the object or the row of a table that a filter leaves."""
    if key is None:
        named = isinstance(value, dict) and isinstance(words[0], str)
        return value.get(words[0], MISSING) if named else MISSING
    words = [word_of(word) for word in words]

    def fits(of: Any) -> bool:  # noqa: ANN401  # any JSON value
        return (word_of(None if of is MISSING else of) in words) is not negated

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


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        msg = f"{text!r} is no pattern: {error}"
        raise ValueError(msg) from error


def _matched(read: Path, pattern: re.Pattern[str], record: Any) -> Any:  # noqa: ANN401  # any JSON value
    value = read(record)
    match = pattern.match(value) if isinstance(value, str) else None
    return MISSING if match is None else match[min(1, pattern.groups)]


def _plain(read: Path, record: Any) -> Any:  # noqa: ANN401  # any JSON value
    value = read(record)
    if isinstance(value, list):
        return [html_text(one) if isinstance(one, str) else one for one in value]
    return html_text(value) if isinstance(value, str) else value


def _filled(parts: list[Any], record: Any) -> Any:  # noqa: ANN401  # any JSON value
    texts = [part if isinstance(part, str) else text_of(part(record)) for part in parts]
    return MISSING if None in texts else "".join(map(str, texts))
