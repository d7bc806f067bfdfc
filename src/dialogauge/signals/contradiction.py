"""Values, names and claims that contradict earlier messages."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from dialogauge.signals import reply_markers, user_markers
from dialogauge.signals.caching import cached_on_view
from dialogauge.signals.dialogue import Dialogue, Sentence, TextView, ToolResult, TurnView
from dialogauge.signals.facts import Fact, read_facts
from dialogauge.signals.reactions import react
from dialogauge.signals.repair import had_to_act
from dialogauge.signals.signal import FaultKind, Signal, finding
from dialogauge.text import normalise

# ruff: noqa: SIM905 - a pattern is read as a whole, and so is a list of words

T = TypeVar("T")

_CHANGES = re.compile(
    r"\b(?:actually|instead|not|changed?|moved?|wrong|rather|after all|turns out|make it|have to be)\b"
    r"|其实|改|换成|变成|不是|错|重新|更正|应该是|提前|推迟"
)
_LOOSE_UNITS = frozenset({"money", "percent", "minute", "gram", "calorie"})
"""Lists are full of them: another price may be the price of something else."""
_MANY = 6  # values of one unit in a reply
_CLAIMS = 80  # earlier claims that a reply is compared with
_SENTENCES = 40  # of a reply that are searched for claims
_MOVABLE = re.compile(
    r"\b(?:total|left|leaving|remaining|sum|now|new|original|current|difference|refund|updated|instead|sorry|correct\w*|actually|option\w*|or|e\.g|example|around"
    r"|about|approximately|roughly|up to|each|per|extra|additional|another|more|less|from|between"
    r"|if|could|would|might|maybe|estimated)\b"
    r"|合计|总|剩|余|共|约|左右|大概|或|如果|若|更正|改|调整|抱歉|其中|每|另|额外|至少|最多|以内|建议|可以|例如|比如|~|-\d|到\d|至"
)
_PLANNED = ("people", "date", "weekday", "clock", "night")
_ADDRESSED = re.compile(
    r"(?:^|[.!?]\s+)(?:Hi|Hello|Hey|Dear|Thanks|Thank you|Sure|Welcome|Great|Of course|Sorry"
    r"|Certainly|No problem|Goodbye),? ([A-Z][a-z]{2,})(?=[,!.])"
    r"|^([\u4e00-\u9fff]{1,2})(?:先生|女士|小姐)[,，您]"
)
_NOT_NAMES = frozenset(
    "there everyone all again sir madam team you friend for folks both so please yes no good".split()
)
_NOT = re.compile(
    r"\b(?:not|no|never|cannot|can't|isn't|aren't|doesn't|don't|won't|wasn't"
    r"|without|closed|unavailable|impossible)\b|不|没|无|未|非"
)
# A reply that begins with what it moves, cuts or adds gives new values on purpose.
_ADJUSTS = re.compile(
    r"\b(?:becomes?|drops? to|(?:down|back|up) to|comes? (?:down )?to|rearrang\w+|re-?calculat\w+"
    r"|reschedul\w+|shift(?:s|ed)?|mov(?:es?|ed) to|trim(?:s|med)?|cut (?:back|down)|adjust(?:s|ed)?"
    r"|free(?:s|d)? up|leaves you)\b"
    r"|变(?:成|为)|改(?:成|为|到)|调整|减(?:少|到|了|去|掉)|少的|(?:增加|加)到|挪(?:到|出|走)|腾(?:出|到)"
    r"|空(?:出|下)来|重新(?:算|排|分)|缩(?:短|到)|压(?:缩|到)"
)
_CANDIDATES = 40  # earlier facts per term
_NUMBER = re.compile(r"\d{1,9}(?:\.\d{1,4})?")
_OWN_NAME = re.compile(
    r"\b(?:[Mm]y name is|[Mm]y name's|I am|I'm|[Tt]his is|[Cc]all me) ([A-Z][a-z]+)(?: ([A-Z][a-z]+))?\b"
    r"|我(?:叫|姓|是)([\u4e00-\u9fff]{1,3})(?=[,，。!！\s]|$)"
    r"|联系人(?:写|是|叫)?([\u4e00-\u9fff])(?:先生|女士|小姐|老师)"
)


def _drain(pending: list[T]) -> list[T]:
    """Empty a list and return its entries."""
    entries = pending.copy()
    pending.clear()
    return entries


@dataclass(slots=True)
class StatedFacts:
    """Values and names that the user or a tool states; each text is searched on demand, once."""

    _turns: list[TurnView] = field(default_factory=list)
    _searched: Counter[str] = field(default_factory=Counter)
    """How many of the turns were searched, by what for."""
    _by_user: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _by_tools: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _numbers: set[str] = field(default_factory=set)
    _names: set[str] = field(default_factory=set)

    def add(self, turn: TurnView) -> None:
        """Add the user message and the tool results of a turn."""
        self._turns.append(turn)

    def _unsearched(self, purpose: str) -> list[TurnView]:
        turns = self._turns[self._searched[purpose] :]
        self._searched[purpose] = len(self._turns)
        return turns

    def user_values(self, unit: str) -> set[str]:
        """Return the values of a unit that the user states."""
        for turn in self._unsearched("values of the user"):
            _add_values(turn.user.facts, self._by_user)
        return self._by_user[unit]

    def values(self, unit: str) -> set[str]:
        """Return the values of a unit that the user or a tool states."""
        for turn in self._unsearched("values of tools"):
            for text in (_full_text(result)[:4000] for result in turn.tools):
                _add_values(read_facts(text, normalise(text), 200), self._by_tools)
        return self.user_values(unit) | self._by_tools[unit]

    def numbers(self) -> set[str]:
        """Return every number in a tool result, of any unit."""
        for turn in self._unsearched("numbers"):
            for result in turn.tools:
                self._numbers.update(f"{float(n):g}" for n in _NUMBER.findall(_full_text(result)))
        return self._numbers

    def names(self) -> set[str]:
        """Return the names that the user gives for themselves."""
        for turn in self._unsearched("names"):
            for match in _OWN_NAME.finditer(turn.user.text[:2000]):
                self._names.update(g for g in match.groups() if g)
        return self._names


def _add_values(facts: Iterable[Fact], values: defaultdict[str, set[str]]) -> None:
    for fact in facts:
        values[fact.unit].add(fact.value)


def _full_text(result: ToolResult) -> str:
    return f"{result.text[:20_000]} {result.arguments}"


@dataclass(slots=True)
class Statements:
    """Facts of both sides, by key term, since the user last asked for something else.

    Texts are read when a fact is compared, and indexed by term when there is a fact of the same unit.
    """

    _texts: list[tuple[int, str, TextView]] = field(default_factory=list)
    _unindexed: list[tuple[int, str, Fact]] = field(default_factory=list)
    _first: dict[str, int] = field(default_factory=dict)
    """Unit -> turn of its first value."""
    _by_term: defaultdict[str, list[tuple[int, str, Fact]]] = field(default_factory=lambda: defaultdict(list))

    def clear(self) -> None:
        """Drop everything, after the user asked for something else."""
        for entries in (self._texts, self._unindexed, self._first, self._by_term):
            entries.clear()

    def add(self, turn: int, role: str, text: TextView) -> None:
        """Add a text."""
        self._texts.append((turn, role, text))

    def has_text_before(self, turn: int) -> bool:
        """Say whether any text belongs to a turn before this one."""
        return bool(self._first) or (bool(self._texts) and self._texts[0][0] < turn)

    def about(self, fact: Fact, before: int) -> list[tuple[int, str, Fact]]:
        """Return turn, role and fact of earlier sole values of the same thing, in order."""
        self._read_texts()
        if self._first.get(fact.unit, before) >= before:
            return []
        for entry in _drain(self._unindexed):
            for term in entry[2].key:
                self._by_term[term].append(entry)
        hits: dict[int, tuple[int, str, Fact]] = {}
        for term in fact.key:
            for entry in self._by_term.get(term, ())[-_CANDIDATES:]:
                number, _, other = entry
                if other.unit == fact.unit and number < before and other.sole and _same_thing(fact, other):
                    hits[id(other)] = entry
        return sorted(hits.values(), key=lambda e: (e[0], e[1], e[2].sentence, e[2].value))

    def _read_texts(self) -> None:
        for turn, role, text in _drain(self._texts):
            for fact in text.facts:
                self._unindexed.append((turn, role, fact))
                self._first.setdefault(fact.unit, turn)


def _same_thing(a: Fact, b: Fact) -> bool:
    """Whether two facts are values of one thing: one key contains the other."""
    small, large = (a.key, b.key) if len(a.key) <= len(b.key) else (b.key, a.key)
    if len(small) < 2 or len(large) > len(small) + 3 or not small <= large:
        return False
    chinese = sum(not t.isascii() for t in small) > len(small) / 2
    return len(small) >= (3 if chinese else 2)


def find_contradictions(dialogue: Dialogue) -> Iterator[Signal]:
    """Yield values, names and claims that contradict an earlier turn; conservative.

    A new value is no contradiction if the user or a tool states it, if the user has asked for a change
    since, or if the sentence marks it as an estimate, a sum or a correction.
    """
    memory = _Memory()
    for turn in dialogue.turns:
        memory.add_user(turn)
        if turn.replied:
            yield from _values(turn, memory)
            yield from _plan(turn, memory.stated)
            yield from _names(turn, memory.stated)
            yield from _reversals(turn, memory)
            memory.add_reply(turn)


@dataclass(slots=True)
class _Memory:
    """What a reply can contradict."""

    stated: StatedFacts = field(default_factory=StatedFacts)
    facts: Statements = field(default_factory=Statements)
    _replies: list[TurnView] = field(default_factory=list)
    """Not searched for claims yet."""
    _claims: list[tuple[int, Sentence, bool]] = field(default_factory=list)

    def add_user(self, turn: TurnView) -> None:
        if _redirects(turn.user):
            self.facts.clear()
            self._replies.clear()
            self._claims.clear()
        self.stated.add(turn)
        self.facts.add(turn.number, "user", turn.user)

    def add_reply(self, turn: TurnView) -> None:
        self.facts.add(turn.number, "assistant", turn.reply)
        if _makes_claims(turn):
            self._replies.append(turn)

    def claims(self) -> list[tuple[int, Sentence, bool]]:
        """Return turn, sentence and negation of the last claims since the user asked for something else."""
        for turn in _drain(self._replies):
            self._claims.extend((turn.number, *claim) for claim in _claims(turn.reply))
        del self._claims[:-_CLAIMS]
        return self._claims


def _redirects(user: TextView) -> bool:
    """Whether a message asks for something else or says that something is wrong."""
    reaction = react(user)
    if reaction.change or reaction.self_correction or reaction.other_options:
        return True
    wrong = "called_wrong" in reaction.complaints and bool(user_markers.WRONG.search(user.edges))
    return wrong or "corrected" in reaction.complaints


def _values(turn: TurnView, memory: _Memory) -> Iterator[Signal]:
    if not memory.facts.has_text_before(turn.number) or _ADJUSTS.search(turn.reply.head):
        return
    for fact in turn.reply.facts:
        if not fact.sole or fact.value in memory.stated.user_values(fact.unit) or _is_movable(fact):
            continue
        earlier = memory.facts.about(fact, turn.number)
        if not earlier or any(old.value == fact.value for _, _, old in earlier):
            continue
        number, role, old = earlier[-1]
        if _is_movable(old) or _is_stated(fact, memory.stated):
            continue
        kind: FaultKind = "contradiction" if role == "assistant" else "forgotten_fact"
        values = {"new": fact.written, "old": old.written, "turn": number}
        yield finding(turn, "other_value", 0.7, fact.sentence, "context_use", kind, **values)
        return


def _is_stated(fact: Fact, stated: StatedFacts) -> bool:
    return fact.value in stated.values(fact.unit) or fact.value in stated.numbers()


def _is_movable(fact: Fact) -> bool:
    return bool(_MOVABLE.search(normalise(fact.sentence)))


def _plan(turn: TurnView, stated: StatedFacts) -> Iterator[Signal]:
    """Yield a confirmation whose number of people, date or hour nobody has stated."""
    if turn.called or turn.reply.units > 120 or not reply_markers.CLAIMS_SUCCESS.search(turn.reply.edges):
        return
    facts = turn.reply.facts
    for unit in _PLANNED:
        replied = {f.value for f in facts if f.unit == unit}
        values = stated.values(unit) if len(replied) == 1 else set()
        if values and not replied & values and len(values) <= 2:
            fact = next(f for f in facts if f.unit == unit)
            details = {"new": fact.written, "old": "/".join(sorted(values)), "turn": turn.number}
            yield finding(turn, "other_value", 0.55, fact.sentence, "context_use", "contradiction", **details)
            return


def _names(turn: TurnView, stated: StatedFacts) -> Iterator[Signal]:
    match = _ADDRESSED.search(turn.reply.text[:200])
    name = next((g for g in match.groups() if g), "") if match else ""
    if not name or name.lower() in _NOT_NAMES:
        return
    names = stated.names()
    if names and not any(n.startswith(name) or name.startswith(n) for n in names):
        details = {"new": name, "old": "/".join(sorted(names)), "turn": 1}
        yield finding(turn, "other_value", 0.7, turn.reply.text, "context_use", "forgotten_fact", **details)


def _makes_claims(turn: TurnView) -> bool:
    """Whether a reply makes claims that can be compared: no tool ran, and it is no long plan."""
    return not turn.called and turn.reply.units <= 200


@cached_on_view
def _claims(reply: TextView) -> tuple[tuple[Sentence, bool], ...]:
    """The sentences with a claim, and whether each negates it."""
    return tuple(
        (sentence, bool(_NOT.search(sentence.plain)))
        for sentence in reply.sentences[:_SENTENCES]
        if sentence.text[-1] not in "?？" and 4 <= sentence.units <= 25 and len(sentence.terms) >= 3
    )


def _reversals(turn: TurnView, memory: _Memory) -> Iterator[Signal]:
    """Yield a claim that an earlier turn negates, or the other way round, in almost the same words."""
    earlier = memory.claims() if _makes_claims(turn) else []
    for sentence, negated in _claims(turn.reply) if earlier else ():
        for number, other, before in earlier:
            if before is not negated and _alike(sentence.terms, other.terms):
                if reply_markers.ACKNOWLEDGES.search(turn.reply.head):
                    return
                yield finding(
                    turn, "reversed", 0.65, sentence.text, "context_use", "contradiction", turn=number
                )
                return


def _alike(a: frozenset[str], b: frozenset[str]) -> bool:
    shared = len(a & b)
    return shared >= 3 and shared / len(a | b) >= 0.6


def find_replaced_values(dialogue: Dialogue) -> Iterator[Signal]:
    """Yield replies with the old value of something that the user has just changed, without the new one.

    A reply that names the new value beside the old one explains the change.
    """
    by_user: defaultdict[str, set[str]] = defaultdict(set)
    by_assistant: defaultdict[str, set[str]] = defaultdict(set)
    unread: list[TurnView] = []
    for turn in dialogue.turns:
        if _may_replace(turn):
            for earlier in _drain(unread):
                _add_values(earlier.user.facts, by_user)
                _add_values(earlier.reply.facts, by_assistant)
            yield from _stale_value(turn, by_user, by_assistant)
        unread.append(turn)


def _may_replace(turn: TurnView) -> bool:
    """Whether the user states a value in a request for a change, and the reply had to act on it."""
    return turn.replied and _asks_for_change(turn) and bool(turn.user.facts) and had_to_act(turn)


def _asks_for_change(turn: TurnView) -> bool:
    reaction = react(turn.user)
    return reaction.self_correction or reaction.change or bool(_CHANGES.search(turn.user.edges))


def _stale_value(
    turn: TurnView, by_user: defaultdict[str, set[str]], by_assistant: defaultdict[str, set[str]]
) -> Iterator[Signal]:
    stated = turn.user.facts
    for unit in {f.unit: None for f in stated if f.unit not in _LOOSE_UNITS}:
        new = {f.value for f in stated if f.unit == unit} - by_user[unit] - by_assistant[unit]
        replied = [f for f in turn.reply.facts if f.unit == unit]
        values = {f.value for f in replied}
        if not new or not values or values & new or len(values) > _MANY:
            continue
        stale = next((f for f in replied if f.value in by_user[unit]), None)
        unchanged = replied[0] if values <= by_assistant[unit] and len(values) > 1 else None
        fact = stale or unchanged
        if fact:
            yield finding(
                turn, "keeps_old", 0.75, fact.sentence, "context_use", "ignored_correction", what=fact.written
            )
            return
