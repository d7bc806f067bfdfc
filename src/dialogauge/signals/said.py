"""What was said so far, read when a reply gives cause to ask for it.

Most replies state nothing that an earlier one could speak against: then neither need be read for values.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TypeVar

from dialogauge.signals.facts import Fact, read_facts
from dialogauge.signals.reading import TextView, ToolResult, TurnView
from dialogauge.text import normalise

__all__ = ["Given", "Statements"]

T = TypeVar("T")

_CANDIDATES = 40
_NUMBER = re.compile(r"\d{1,9}(?:\.\d{1,4})?")
_NAME_GIVEN = re.compile(
    r"\b(?:[Mm]y name is|[Mm]y name's|I am|I'm|[Tt]his is|[Cc]all me) ([A-Z][a-z]+)(?: ([A-Z][a-z]+))?\b"
    r"|我(?:叫|姓|是)([\u4e00-\u9fff]{1,3})(?=[,，。!！\s]|$)"
    r"|联系人(?:写|是|叫)?([\u4e00-\u9fff])(?:先生|女士|小姐|老师)"
)


def _take(waiting: list[T]) -> list[T]:
    """Empty a list and return what it held."""
    taken = waiting.copy()
    waiting.clear()
    return taken


@dataclass(slots=True)
class Given:
    """Values and names that the user or a tool gave."""

    _messages: list[TextView] = field(default_factory=list)
    _results: list[ToolResult] = field(default_factory=list)
    """Like the message list, not read for values yet."""
    _counted: list[ToolResult] = field(default_factory=list)
    """Not read for numbers yet."""
    _introduced: list[TextView] = field(default_factory=list)
    """Not read for names yet."""
    _told: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _found: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _numbers: set[str] = field(default_factory=set)
    _names: set[str] = field(default_factory=set)

    def add(self, turn: TurnView) -> None:
        """Take in what the user and the tools said in a turn."""
        self._messages.append(turn.user)
        self._introduced.append(turn.user)
        self._results.extend(turn.tools)
        self._counted.extend(turn.tools)

    def told(self, unit: str) -> set[str]:
        """Return the values of a unit that the user gave."""
        for message in _take(self._messages):
            for fact in message.facts:
                self._told[fact.unit].add(fact.value)
        return self._told[unit]

    def values(self, unit: str) -> set[str]:
        """Return the values of a unit that the user or a tool gave."""
        for result in _take(self._results):
            raw = _raw(result)[:4000]
            for fact in read_facts(raw, normalise(raw), 200):
                self._found[fact.unit].add(fact.value)
        return self.told(unit) | self._found[unit]

    def numbers(self) -> set[str]:
        """Return every number in a tool result, whatever its unit."""
        for result in _take(self._counted):
            self._numbers.update(f"{float(n):g}" for n in _NUMBER.findall(_raw(result)))
        return self._numbers

    def names(self) -> set[str]:
        """Return the names by which the user wants to be known."""
        for message in _take(self._introduced):
            for match in _NAME_GIVEN.finditer(message.text[:2000]):
                self._names.update(g for g in match.groups() if g)
        return self._names


def _raw(result: ToolResult) -> str:
    return f"{result.text[:20_000]} {result.arguments}"


@dataclass(slots=True)
class Statements:
    """Facts of either side, by key term, since the user last asked for something else.

    They are read when a fact is held against them, and filed by term when one of its unit is there.
    """

    _unread: list[tuple[int, str, TextView]] = field(default_factory=list)
    _unfiled: list[tuple[int, str, Fact]] = field(default_factory=list)
    _first: dict[str, int] = field(default_factory=dict)
    """The turn of the first value of a unit."""
    _by_term: defaultdict[str, list[tuple[int, str, Fact]]] = field(default_factory=lambda: defaultdict(list))

    def forget(self) -> None:
        """Drop everything: what was said before no longer holds."""
        for place in (self._unread, self._unfiled, self._first, self._by_term):
            place.clear()

    def add(self, turn: int, role: str, text: TextView) -> None:
        """Take in a text; its facts are read when somebody asks for some."""
        self._unread.append((turn, role, text))

    def begin_before(self, turn: int) -> bool:
        """Say whether any text is of an earlier turn."""
        return bool(self._first) or (bool(self._unread) and self._unread[0][0] < turn)

    def about(self, fact: Fact, before: int) -> list[tuple[int, str, Fact]]:
        """Return the turn, role and fact of the sole values of the same thing in earlier turns, in order."""
        self._read()
        if self._first.get(fact.unit, before) >= before:
            return []
        self._file()
        found: dict[int, tuple[int, str, Fact]] = {}
        for term in fact.key:
            for entry in self._by_term.get(term, ())[-_CANDIDATES:]:
                number, _, other = entry
                if other.unit == fact.unit and number < before and other.sole and _same_thing(fact, other):
                    found[id(other)] = entry
        return sorted(found.values(), key=lambda e: (e[0], e[1], e[2].sentence, e[2].value))

    def _read(self) -> None:
        for turn, role, text in _take(self._unread):
            for fact in text.facts:
                self._unfiled.append((turn, role, fact))
                self._first.setdefault(fact.unit, turn)

    def _file(self) -> None:
        for entry in _take(self._unfiled):
            for term in entry[2].key:
                self._by_term[term].append(entry)


def _same_thing(a: Fact, b: Fact) -> bool:
    """Whether two facts are values of one thing: the key of one lies within the key of the other."""
    small, large = (a.key, b.key) if len(a.key) <= len(b.key) else (b.key, a.key)
    if len(small) < 2 or len(large) > len(small) + 3 or not small <= large:
        return False
    chinese = sum(not t.isascii() for t in small) > len(small) / 2
    return len(small) >= (3 if chinese else 2)
