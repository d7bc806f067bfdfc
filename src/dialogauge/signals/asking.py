"""Asking for what the user has already given."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from dialogauge.signals.facts import ANY_ASKED, ATTRIBUTES, Attribute, Fact, read_facts
from dialogauge.signals.reading import Dialogue, Sentence, TextView, ToolResult, TurnView
from dialogauge.signals.signal import Signal, cut, note
from dialogauge.signals.tool_use import failed_tools
from dialogauge.text import normalise

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


_ASKING = re.compile(
    r"[?？]|\b(?:please|could you|can you|tell me|i need|we need"
    r"|need (?:to know|your|the)|let me know|provide|send me|share|may i have|what is"
    r"|what's)\b"
    r"|请(?:您|你)?(?:提供|告诉|告知|问|发|说|把|填|再)|麻烦|方便(?:提供|告诉|问|说)|需要(?:您|你|知道|先)|能(?:否)?(?:提供|告诉|说)|告诉我|发我"
)
_OTHER = re.compile(
    r"\b(?:another|other|different|new|else|additional|correct|confirm|right"
    r"|verify|again|return|still|instead|any other|more)\b"
    r"|另|其他|其它|别的|新的|确认|核对|是否|还是|更改|准确|没错|对吗|对吧|再次|换"
)

_NOT_FOUND = re.compile(
    r"\b(?:couldn't|could not|can't|cannot|unable to|didn't|wasn't able to)"
    r" (?:find|locate|identify|match|see|access|look)"
    r"|\bnot found\b|\bno (?:account|record|match|order|booking|reservation)"
    r"|没(?:有)?(?:找到|查到)|查不到|找不到|未找到"
)
_ANOTHER = re.compile(
    r"\b(?:another|other|different|second|new|an|one more) "
    r"(?:order|booking|reservation|trip|account|address|item|parcel|flight|room)"
    r"|\b(?:don't|do not|can't|cannot|not) (?:have|remember|recall|know|sure|find)\b"
    r"|另(?:一|外)|别的|其他|不记得|不知道|忘了|没有订单"
)


_IDENTIFIERS = frozenset(
    {"the order number", "the e-mail address", "the phone number", "the postcode", "the address"}
)


def find_needless_questions(dialogue: Dialogue) -> Iterator[Signal]:
    """Yield questions for something that an earlier user message, or the current one, holds."""
    given = _Given()
    for turn in dialogue.turns:
        given.add(turn)
        if turn.replied:
            yield from (s for s in _asked(turn, given) if not _has_reason(turn))


class _Given:
    """In which turn the user first gave something; looked up when an assistant asks for it."""

    def __init__(self) -> None:
        self._turns: list[TurnView] = []
        self._looked_at: dict[str, int] = {}
        self._first: dict[str, int] = {}

    def add(self, turn: TurnView) -> None:
        self._turns.append(turn)

    def first(self, attribute: Attribute) -> int | None:
        """Look at the turns that came since it was last asked for."""
        name = attribute.english
        if name not in self._first:
            for turn in self._turns[self._looked_at.get(name, 0) :]:
                if attribute.given.search(turn.user.plain):
                    self._first[name] = turn.number
                    break
            self._looked_at[name] = len(self._turns)
        return self._first.get(name)


def _has_reason(turn: TurnView) -> bool:
    """Whether to ask anew is right: what was given was not found, or the user speaks of something else."""
    return bool(failed_tools(turn) or _NOT_FOUND.search(turn.reply.edges) or _ANOTHER.search(turn.user.plain))


def _asked(turn: TurnView, given: _Given) -> Iterator[Signal]:
    asked = [(s.text, s.plain) for s in _likely(turn) if _is_question(s) and ANY_ASKED.search(s.plain)]
    found = [(a, raw) for a in ATTRIBUTES for raw, p in asked if a.asked.search(p) and given.first(a)]
    if not found:
        return
    # Several things asked again at once are no chance agreement of words.
    kinds = {a.english for a, _ in found}
    attribute, raw = found[0]
    number = given.first(attribute)
    # A number or an address is given once; a date or a length of time may be another's.
    strength = 0.75 if kinds & _IDENTIFIERS else 0.6
    strength = min(0.95, strength + 0.15 * (len(kinds) - 1) - (0.1 if number == turn.number else 0.0))
    what = attribute.chinese if turn.language == "zh" else attribute.english
    text = note("asks_for_given", turn.language, what=what, turn=number)
    yield Signal("asks_for_given", turn.number, strength, cut(raw), text, "context_use", "forgotten_fact")


def _likely(turn: TurnView) -> tuple[Sentence, ...]:
    """All sentences of a short reply; of a long one the last five and those that end in a question mark."""
    reply = turn.reply
    if len(reply.sentences) <= 20:
        return reply.sentences
    late = reply.sentences[-5:]
    early = len(reply.questions) - sum(s.text[-1] in "?？" for s in late)
    return reply.questions[:early] + late


def _is_question(sentence: Sentence) -> bool:
    """A question or a plea for something, in a short line, that is not about another or for confirming."""
    plain = sentence.plain
    return len(plain) <= 200 and bool(_ASKING.search(plain)) and not _OTHER.search(plain)
