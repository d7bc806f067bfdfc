"""Needles: strings of which every match of a pattern contains at least one.

The search for a fixed string takes a hundredth of the time of a pattern. So a search for rare wordings in
many texts can skip most patterns.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from dialogauge.core.patterns import lazy_pattern
from dialogauge.text.tokens import ENGLISH_STOP, HAN_STOP

# An element of a pattern: escape, class, beginning of a group, end of one, bar, or a single character.
_ELEMENT = lazy_pattern(
    r"(?P<escape>\\.)|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])|(?P<around>\(\?<?[=!])|(?P<open>\((?:\?:)?(?!\?))"
    r"|(?P<close>\))|(?P<bar>\|)|(?P<any>[.^$])|(?P<odd>\(\?)|(?P<plain>.)",
    re.DOTALL,
)
_REPEAT = lazy_pattern(r"[*+?]\??|\{(\d*)(?:,\d*)?\}\??")
_SPECIAL = lazy_pattern(r"[\\.^$*+?{}\[\]()|]")
_BRACKET = lazy_pattern(r"[\\\[(]")
_LITERAL_ESCAPE: Final = frozenset("\\.^$*+?{}[]()|-/'\"#&~ ")
_NO_WIDTH: Final = frozenset("bBAZ")
_NOTHING: Final = frozenset({""})
_FEW = 12
"""Strings in place of which a pattern is looked for."""
_RARE, _ENOUGH = 2, 6  # letters: shorter strings are in every text, longer ones are no rarer


def alternatives(pattern: str) -> list[str]:
    """Split a pattern at the bars outside groups and sets."""
    if not _BRACKET.search(pattern):
        return pattern.split("|")
    out, depth, start = [], 0, 0
    for element in _ELEMENT.finditer(pattern):
        kind = element.lastgroup
        depth += (kind in ("open", "around", "odd")) - (kind == "close")
        if kind == "bar" and depth == 0:
            out.append(pattern[start : element.start()])
            start = element.end()
    return [*out, pattern[start:]]


def spread(pattern: str) -> list[str]:
    """Split a pattern at the bars outside groups, and at those of a group that it begins with.

    `\\b(?:a|b)c` becomes `\\bac` and `\\bbc`. Tried in this order, the parts match what the pattern matches.
    """
    out = []
    for part in alternatives(pattern):
        at = 0
        while (element := _ELEMENT.match(part, at)) is not None:
            if element.lastgroup == "around":
                at = _closing(part, element.end())
            elif element.group() in ("^", r"\b", r"\B", r"\A", r"\Z"):
                at = element.end()
            else:
                break
        end = _closing(part, at + 3) if part.startswith("(?:", at) else at
        if at == end or _REPEAT.match(part, end):
            out.append(part)
        else:
            out += [part[:at] + inner + part[end:] for inner in spread(part[at + 3 : end - 1])]
    return out


def required(pattern: str) -> list[frozenset[str]]:
    """Return sets of strings: every match contains at least one of each, the rarest set first.

    For one alternative without flags. Sets with a string of a single letter are left out.
    """
    sets: set[frozenset[str]] = set()
    run = _NOTHING
    for piece in _pieces(pattern):
        strings = frozenset({piece.letter}) if piece.letter else _strings_of(piece.inner)
        if strings is None:
            sets.add(run)
            inner = needles_of(piece.inner) if piece.inner and piece.least else None
            sets.add(inner or _NOTHING)
            run = _NOTHING
            continue
        if not piece.least:
            strings |= _NOTHING
        longer = frozenset(first + second for first in run for second in strings)
        if len(longer) > _FEW or piece.most > 1:
            sets.add(run)
            longer = strings
        run = longer
        if piece.most > 1:
            sets.add(run)
            run = _NOTHING
    sets.add(run)
    known = {_shortest(s) for s in sets if min(map(_letters, s)) >= _RARE}
    return sorted(known, key=lambda strings: (sum(map(_frequency, strings)), sorted(strings)))


@lru_cache(maxsize=4096)
def _strings_of(pattern: str) -> frozenset[str] | None:
    """Return all strings that a pattern matches, with what may stand around; None where they are many."""
    every: set[str] = set()
    for alternative in alternatives(pattern) if pattern else ():
        strings = _NOTHING
        for piece in _pieces(alternative):
            more = frozenset({piece.letter}) if piece.letter else _strings_of(piece.inner)
            if more is None or piece.most > 1:
                return None
            strings = frozenset(a + b for a in strings for b in (more if piece.least else more | _NOTHING))
            if len(strings) > _FEW:
                return None
        every |= strings
    return frozenset(every) if 0 < len(every) <= _FEW else None


def _shortest(strings: frozenset[str]) -> frozenset[str]:
    """Leave out the strings that contain another of them."""
    if len(strings) < 2:
        return strings
    return frozenset(n for n in strings if not any(other in n for other in strings if other != n))


@lru_cache(maxsize=4096)
def _frequency(string: str) -> float:
    """Guess how often a string is in a text of some length: function words in nearly every one."""
    words = re.findall("[a-z']+|[\u4e00-\u9fff]", string)
    rare = [word for word in words if word not in ENGLISH_STOP and word not in HAN_STOP]
    letters = sum(len(w) if w.isascii() else 2 for w in rare)
    return 0.35**letters if letters else 1.0 / len(string.strip() or " ")


@lru_cache(maxsize=4096)  # spread parts share what follows the group
def needles_of(pattern: str) -> frozenset[str] | None:
    """Return strings of which every match contains at least one; None without such strings.

    For patterns without flags. An unknown element may match any string.
    """
    sets = [_of_sequence(alternative) for alternative in alternatives(pattern)]
    if any(s is None for s in sets):
        return None
    return _shortest(frozenset().union(*(s for s in sets if s)))


def _of_sequence(text: str) -> frozenset[str] | None:
    """Return the rarest set of needles of one part of a sequence."""
    if text and not _SPECIAL.search(text):
        return frozenset({text}) if _letters(text) >= _RARE else None
    best, most = None, (_RARE, -sys.maxsize)
    for candidate in _candidates(text):
        rarity = min(_ENOUGH, *map(_letters, candidate)), -len(candidate)
        if rarity > most:
            best, most = candidate, rarity
    return best


def _letters(string: str) -> int:
    """Return the length of a string; a character outside ASCII counts as two letters."""
    return len(string) if string.isascii() else len(string) + sum(c > "\x7f" for c in string)


def _candidates(text: str) -> Iterator[frozenset[str]]:
    """Yield runs of required letters, and the needles of required groups."""
    run = ""
    for piece in _pieces(text):
        if piece.letter and piece.least:
            run += piece.letter
        if run and not (piece.letter and piece.least == piece.most == 1):
            yield frozenset({run})
            run = ""
        inner = needles_of(piece.inner) if piece.inner and piece.least else None
        if inner:
            yield inner
    if run:
        yield frozenset({run})


class _Piece(NamedTuple):
    """An element of a sequence with its repeat sign; elements without width are left out."""

    letter: str
    """The character that it matches; empty for any other element."""
    inner: str
    """The pattern inside a group."""
    least: int
    """The least number of occurrences."""
    most: int
    """The greatest number that is told apart: 0, 1 or more."""


def _pieces(text: str) -> Iterator[_Piece]:
    at = 0
    while (element := _ELEMENT.match(text, at)) is not None:
        kind, end = element.lastgroup, element.end()
        if kind in ("open", "around", "odd"):
            end = _closing(text, end)
        least, most, at = _times(text, end)
        if kind == "around" or (kind == "escape" and element.group()[1] in _NO_WIDTH):
            continue
        inner = text[element.end() : end - 1] if kind == "open" else ""
        yield _Piece(_letter(element), inner, least, most)


def _letter(element: re.Match[str]) -> str:
    """Return the single character that an element matches, if any."""
    if element.lastgroup == "plain":
        return element.group()
    second = element.group()[-1]
    return second if element.lastgroup == "escape" and second in _LITERAL_ESCAPE else ""


def _closing(text: str, at: int) -> int:
    """Return the position after the bracket that closes the group before `at`."""
    depth = 1
    for element in _ELEMENT.finditer(text, at):
        kind = element.lastgroup
        depth += (kind in ("open", "around", "odd")) - (kind == "close")
        if depth == 0:
            return element.end()
    return len(text)


def _times(text: str, at: int) -> tuple[int, int, int]:
    """Return least and most occurrences of the element that ends at `at`, and the end of its repeat sign."""
    repeat = _REPEAT.match(text, at)
    if repeat is None:
        return 1, 1, at
    sign = repeat.group()
    if sign[0] == "{":
        return int(repeat.group(1) or 0), sys.maxsize, repeat.end()
    return int(sign[0] == "+"), 1 if sign[0] == "?" else sys.maxsize, repeat.end()
