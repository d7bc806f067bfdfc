"""JSON objects in what a model wrote: read strictly, or mended where the text leaves one reading.

A slip of syntax is mended: trailing commas, quotes of another kind, bare keys, unescaped quotes and line
breaks in texts, Python's `None`, `True` and `False`. A value is never: a number must stand in the text as a
JSON number between the signs of JSON. The time is linear in the length of the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, NoReturn

import orjson

from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.shape import may_repeat_keys
from dialogauge.text import split_reasoning

LONGEST: Final = 200_000
"""Characters; no verdict is longer, and a longer reply is not read."""
MOST: Final = 500
"""JSON objects in one reply."""
_DEEPEST: Final = 64


class NoJsonObject(ValueError):
    """The text has no readable JSON object."""


class TruncatedJson(NoJsonObject):
    """The text ends inside a JSON object; repair could close it but not restore the rest."""


class UnclearJson(NoJsonObject):
    """The object says something twice, or in a way that is no JSON value: what is meant would be a guess."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """An object of a reply."""

    value: dict[str, Any]
    repaired: bool = False
    """Whether its JSON was faulty and had to be repaired."""


def extract_object(text: str) -> Extracted:
    """Return the last top-level JSON object of the text; raises what `extract_objects` raises."""
    return extract_objects(text)[-1]


def extract_objects(text: str) -> tuple[Extracted, ...]:
    """Return the top-level JSON objects of the text, in order; there is at least one.

    Reasoning blocks, code fences and prose around them are ignored, and so are objects before the last that
    cannot be read. Empty objects count only if there is no other. Raises `TruncatedJson` if the text ends
    inside an object, `UnclearJson` if the last one leaves open what it says, `NoJsonObject` without a
    readable object.
    """
    text, _ = split_reasoning(text)
    if len(text) > LONGEST:
        message = f"the reply of {len(text)} characters is too long to be read"
        raise NoJsonObject(message)
    # Most texts are one faultless object, for sure not too deep.
    flat = text.startswith("{") and text.count("{") + text.count("[") <= _DEEPEST
    whole = _strict(text) if flat else None
    return tuple(_each(text)) if whole is None else (Extracted(whole),)


def _each(text: str) -> list[Extracted]:
    """Look for the objects in a text that is more than an object, or a faulty one."""
    spans = list(islice(_spans(text), MOST + 1))
    if len(spans) > MOST:
        message = f"the reply holds more than {MOST} JSON objects"
        raise NoJsonObject(message)
    empty: Extracted | None = None
    full: list[Extracted] = []
    for start, end in reversed(spans):
        try:
            one = _read(text[start:end], _GOES_ON.match(text, end))
        except NoJsonObject:
            if not full:
                raise
            continue
        if one.value:
            full.append(one)
        else:
            empty = empty or one
    full = full[::-1] or ([empty] if empty else [])
    if not full:
        message = "the reply holds no JSON object" if text.strip() else "the reply is empty"
        raise NoJsonObject(message)
    return full


_MARKS = lazy_pattern(r'[{}\[\]"]|\\.', re.DOTALL)
_LIKE_OBJECT = lazy_pattern(r"""\{\s*(?:["'“”‘’}]|[A-Za-z_]\w*\s*:)""")
_GOES_ON = lazy_pattern(r"""[\s}\]]*,\s*["'“”‘’][^"'“”‘’]{0,64}["'“”‘’]\s*:""")


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of every balanced top-level `{...}` in one pass.

    Raises `TruncatedJson` if the last is not closed. A brace without JSON behind it is prose.
    """
    position = 0
    while (opening := _LIKE_OBJECT.search(text, position)) is not None:
        end = _closing(text, opening.start())
        if end is None:
            # Or an extra quote hides the end; a guess could complete a truncated object.
            message = "the JSON object of the reply is cut off"
            raise TruncatedJson(message)
        yield opening.start(), end
        position = end


def _closing(text: str, start: int) -> int | None:
    """Return the position after the brace that closes the one at `start`; braces in strings do not count.

    Raises `NoJsonObject` for an object that is nested too deep.
    """
    depth = {"{": 0, "[": 0}
    in_string = False
    for mark in _MARKS.finditer(text, start):
        sign = mark.group()
        if sign == '"':
            in_string = not in_string
        elif in_string or sign[0] == "\\":
            continue
        elif sign in depth:
            depth[sign] += 1
            if sum(depth.values()) > _DEEPEST:
                message = f"the JSON of the reply is nested deeper than {_DEEPEST}"
                raise NoJsonObject(message)
        else:
            depth["{" if sign == "}" else "["] -= 1
            if depth["{"] == 0:
                return mark.end()
    return None


def _read(span: str, rest: re.Match[str] | None) -> Extracted:
    if rest is not None:
        message = f"the JSON object ends before {_shown(rest[0].strip())}: a brace is amiss"
        raise UnclearJson(message)
    value = _strict(span)
    return Extracted(_Mending(span).object(), repaired=True) if value is None else Extracted(value)


def _strict(text: str) -> dict[str, Any] | None:
    """Read a text that begins with a brace; None where it is not one object of faultless JSON."""
    try:
        value: dict[str, Any] = orjson.loads(text)
        if may_repeat_keys(text.encode(), value):
            _ONCE.decode(text)
    except UnclearJson:
        raise
    except ValueError:
        return None
    return value


def _single(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its members; UnclearJson for a key that it has twice."""
    value: dict[str, Any] = {}
    for key, member in pairs:
        if key in value:
            message = f"the key {_shown(key)} appears twice in one object"
            raise UnclearJson(message)
        value[key] = member
    return value


_ONCE = json.JSONDecoder(object_pairs_hook=_single)
"""Reads no object that has a key twice."""


def _shown(text: str) -> str:
    return json.dumps(text if len(text) <= 40 else text[:37] + "...", ensure_ascii=False)


_SPACE = lazy_pattern(r"[ \t\r\n]*")
_SCALAR = lazy_pattern(
    r"(?:(?P<word>true|false|null|True|False|None)|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"
    r"(?=[ \t\r\n]*[,}\]])"
)
_WORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_BARE_KEY = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]{0,63}(?=[ \t\r\n]*:)")
_CLOSERS = {'"': '"', "'": "'", "“": "“”", "”": "“”", "‘": "‘’", "’": "‘’"}
_STOPS = {ends: lazy_pattern(rf"\\.|[{ends}]", re.DOTALL) for ends in set(_CLOSERS.values())}
_QUOTED_KEY = r"""["'“”‘’][^"'“”‘’]{0,64}["'“”‘’]|[A-Za-z_][A-Za-z0-9_]{0,63}"""
_AFTER_KEY = lazy_pattern(r"\s*:")
_AFTER_MEMBER = lazy_pattern(rf"\s*(?:\}}|,\s*(?:\}}|(?:{_QUOTED_KEY})\s*:))")
_AFTER_ENTRY = lazy_pattern(r"\s*(?:\]|,\s*[^\s,])")
_MEMBER = lazy_pattern(rf",\s*(?:{_QUOTED_KEY})\s*:")
_ESCAPE = lazy_pattern(r"\\(?:u([0-9A-Fa-f]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"} | {c: c for c in "\"'\\/“”‘’"}


class _Mending:
    """Reads one object of faulty JSON from the left, without ever going back."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0

    def object(self) -> dict[str, Any]:
        pairs: list[tuple[str, Any]] = []
        for _ in self._members("}"):
            if self._next() in _CLOSERS:
                key = self._string(_AFTER_KEY)
            else:
                token = _BARE_KEY.match(self.text, self.at)
                if token is None:
                    self._refuse("is no key")
                self.at = token.end()
                key = token[0]
            self._expect(":")
            pairs.append((key, self._value(_AFTER_MEMBER)))
        return _single(pairs)

    def _members(self, end: str) -> Iterator[None]:
        """Stop at the place of each member, and after the end."""
        self.depth += 1
        if self.depth > _DEEPEST:
            self._refuse("is nested too deep")
        self.at += 1
        first = True
        while self._next() != end:
            if not first:
                self._expect(",")
                if self._next() == end:
                    break
            first = False
            yield
        self.at += 1
        self.depth -= 1

    def _value(self, after: re.Pattern[str]) -> Any:  # noqa: ANN401 (any JSON value)
        sign = self._next()
        if sign == "{":
            return self.object()
        if sign == "[":
            return [self._value(_AFTER_ENTRY) for _ in self._members("]")]
        if sign in _CLOSERS:
            return self._string(after)
        token = _SCALAR.match(self.text, self.at)
        if token is None:
            self._refuse("is no JSON value")
        self.at = token.end()
        if token["word"]:
            return _WORDS[token["word"]]
        try:
            return orjson.loads(token[0])
        except orjson.JSONDecodeError:  # of more digits than a number has
            self._refuse("is no number", token.start())

    def _string(self, after: re.Pattern[str]) -> str:
        """Read a text up to the first quote behind which JSON goes on.

        Unescaped quotes in it must come in pairs, with nothing like a further member between: else it is open
        which of them ends it.
        """
        start, ends = self.at + 1, _CLOSERS[self.text[self.at]]
        inner = 0
        quotes = (stop.start() for stop in _STOPS[ends].finditer(self.text, start) if stop[0][0] != "\\")
        for place in quotes:
            if after.match(self.text, place + 1):
                break
            inner += not _is_apostrophe(self.text, place)
        else:
            self._refuse("is a text without an end")
        if inner % 2 or (inner and _MEMBER.search(self.text, start, place)):
            self._refuse("is a text with quotes of which any may be its end")
        self.at = place + 1
        return _unescaped(self.text[start:place])

    def _next(self) -> str:
        """Go to the next sign that is no space, and return it."""
        space = _SPACE.match(self.text, self.at)
        self.at = self.at if space is None else space.end()
        return self.text[self.at : self.at + 1]

    def _expect(self, sign: str) -> None:
        if self._next() != sign:
            self._refuse(f"stands where {sign} should")
        self.at += 1

    def _refuse(self, what: str, place: int | None = None) -> NoReturn:
        place = self.at if place is None else place
        line, here = self.text.count("\n", 0, place) + 1, _shown(self.text[place : place + 41])
        message = f"the JSON of the reply is faulty beyond repair: line {line}: {here} {what}"
        raise UnclearJson(message)


def _is_apostrophe(text: str, place: int) -> bool:
    return text[place] in "'’" and text[place - 1].isalpha() and text[place + 1 : place + 2].isalpha()


def _unescaped(text: str) -> str:
    """Resolve the escapes of a JSON text; what is no escape stays, half a surrogate pair becomes U+FFFD."""

    def resolved(escape: re.Match[str]) -> str:
        return chr(int(escape[1], 16)) if escape[1] else _ESCAPED.get(escape[2], escape[0])

    return _ESCAPE.sub(resolved, text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
