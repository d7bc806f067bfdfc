"""Values, names and claims that go against what was said before."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from dialogauge.signals import reply_markers, user_markers
from dialogauge.signals.facts import Fact, read_facts
from dialogauge.signals.reading import Dialogue, TurnView
from dialogauge.signals.signal import FaultKind, Signal, cut
from dialogauge.signals.wording import note
from dialogauge.text import normalise

__all__ = ["find_contradictions"]

_CANDIDATES = 40
_MOVABLE = re.compile(
    r"\b(?:total|left|leaving|remaining|sum|now|new|original|current|difference|refund|updated|instead|sorry|correct\w*|actually|option\w*|or|e\.g|example|around"
    r"|about|approximately|roughly|up to|each|per|extra|additional|another|more|less|from|between"
    r"|if|could|would|might|maybe|estimated)\b"
    r"|合计|总|剩|余|共|约|左右|大概|或|如果|若|更正|改|调整|抱歉|其中|每|另|额外|至少|最多|以内|建议|可以|例如|比如|~|-\d|到\d|至"
)
_NUMBER = re.compile(r"\d{1,9}(?:\.\d{1,4})?")
_PLANNED = ("people", "date", "weekday", "clock", "night")
_NAME_GIVEN = re.compile(
    r"\b(?:[Mm]y name is|[Mm]y name's|I am|I'm|[Tt]his is|[Cc]all me) ([A-Z][a-z]+)(?: ([A-Z][a-z]+))?\b"
    r"|我(?:叫|姓|是)([\u4e00-\u9fff]{1,3})(?=[,，。!！\s]|$)"
    r"|联系人(?:写|是|叫)?([\u4e00-\u9fff])(?:先生|女士|小姐|老师)"
)
_ADDRESSED = re.compile(
    r"(?:^|[.!?]\s+)(?:Hi|Hello|Hey|Dear|Thanks|Thank you|Sure|Welcome|Great|Of course|Sorry"
    r"|Certainly|No problem|Goodbye),? ([A-Z][a-z]{2,})(?=[,!.])"
    r"|^([\u4e00-\u9fff]{1,2})(?:先生|女士|小姐)[,，您]"
)
_NOT_NAMES = frozenset(
    [
        "there",
        "everyone",
        "all",
        "again",
        "sir",
        "madam",
        "team",
        "you",
        "friend",
        "for",
        "folks",
        "both",
        "so",
        "please",
        "yes",
        "no",
        "good",
    ]
)
_NOT = re.compile(
    r"\b(?:not|no|never|cannot|can't|isn't|aren't|doesn't|don't|won't|wasn't"
    r"|without|closed|unavailable|impossible)\b|不|没|无|未|非"
)


@dataclass(slots=True)
class _Memory:
    """What was said so far, by key term."""

    by_term: defaultdict[str, list[tuple[int, str, Fact]]] = field(default_factory=lambda: defaultdict(list))
    given: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Values by unit that the user or a tool gave."""
    numbers: set[str] = field(default_factory=set)
    """Every number in a tool result, whatever its unit."""
    changed: int = 0
    """The last turn in which the user asked for something else."""

    def add(self, turn: int, role: str, fact: Fact) -> None:
        for term in fact.key:
            self.by_term[term].append((turn, role, fact))

    def about(self, fact: Fact) -> list[tuple[int, str, Fact]]:
        found: dict[int, tuple[int, str, Fact]] = {}
        for term in fact.key:
            for entry in self.by_term[term][-_CANDIDATES:]:
                if entry[2].unit == fact.unit and _same_thing(fact, entry[2]):
                    found[id(entry[2])] = entry
        return sorted(found.values(), key=lambda e: (e[0], e[1], e[2].sentence, e[2].value))


def _same_thing(a: Fact, b: Fact) -> bool:
    """Whether two facts are values of one thing: the key of one lies within the key of the other."""
    small, large = (a.key, b.key) if len(a.key) <= len(b.key) else (b.key, a.key)
    if len(small) < 2 or len(large) > len(small) + 3 or not small <= large:
        return False
    chinese = sum(not t.isascii() for t in small) > len(small) / 2
    return len(small) >= (3 if chinese else 2)


# A reply that opens by saying what it shifts, cuts or adds gives new values on purpose.
_ADJUSTS = re.compile(
    r"\b(?:becomes?|drops? to|(?:down|back|up) to|comes? (?:down )?to|rearrang\w+|re-?calculat\w+"
    r"|reschedul\w+|shift(?:s|ed)?|mov(?:es?|ed) to|trim(?:s|med)?|cut (?:back|down)|adjust(?:s|ed)?"
    r"|free(?:s|d)? up|leaves you)\b"
    r"|变(?:成|为)|改(?:成|为|到)|调整|减(?:少|到|了|去|掉)|少的|(?:增加|加)到|挪(?:到|出|走)|腾(?:出|到)"
    r"|空(?:出|下)来|重新(?:算|排|分)|缩(?:短|到)|压(?:缩|到)"
)


def find_contradictions(dialogue: Dialogue) -> Iterator[Signal]:
    """Yield values, names and claims that contradict an earlier turn; conservative.

    A new value is no contradiction where the user or a tool gave it, where the user asked to change
    things since, or where the sentence says itself that it is an estimate, a sum or a correction.
    """
    memory = _Memory()
    claims: list[tuple[int, frozenset[str], bool]] = []
    names: set[str] = set()
    for turn in dialogue.turns:
        _learn(turn, memory, names)
        if turn.replied:
            facts = turn.reply.facts
            yield from _values(turn, facts, memory)
            yield from _plan(turn, facts, memory)
            yield from _names(turn, names)
            yield from _reversals(turn, claims, memory)
            for fact in facts:
                memory.add(turn.number, "assistant", fact)


def _learn(turn: TurnView, memory: _Memory, names: set[str]) -> None:
    text = turn.user.edges
    if any(
        p.search(text)
        for p in (
            user_markers.CHANGE,
            user_markers.SELF_CORRECTION,
            user_markers.OTHER_OPTIONS,
            user_markers.WRONG,
            user_markers.OBJECTS,
        )
    ):
        memory.changed = turn.number
    for fact in turn.user.facts:
        memory.given[fact.unit].add(fact.value)
        memory.add(turn.number, "user", fact)
    for tool in turn.tools:
        raw = f"{tool.text[:20_000]} {tool.arguments}"
        memory.numbers.update(f"{float(n):g}" for n in _NUMBER.findall(raw))
        for fact in read_facts(raw[:4000], normalise(raw[:4000]), 200):
            memory.given[fact.unit].add(fact.value)
    for match in _NAME_GIVEN.finditer(turn.user.text[:2000]):
        names.update(g for g in match.groups() if g)


def _values(turn: TurnView, facts: tuple[Fact, ...], memory: _Memory) -> Iterator[Signal]:
    if _ADJUSTS.search(turn.reply.head):
        return
    for fact in facts:
        if (
            not fact.sole
            or fact.value in memory.given[fact.unit]
            or fact.value in memory.numbers
            or _MOVABLE.search(normalise(fact.sentence))
        ):
            continue
        earlier = [e for e in memory.about(fact) if memory.changed <= e[0] < turn.number and e[2].sole]
        if not earlier or any(e[2].value == fact.value for e in earlier):
            continue
        number, role, old = earlier[-1]
        if _MOVABLE.search(normalise(old.sentence)):
            continue
        kind: FaultKind = "contradiction" if role == "assistant" else "forgotten_fact"
        text = note("other_value", turn.language, new=fact.shown, old=old.shown, turn=number)
        yield Signal("other_value", turn.number, 0.7, cut(fact.sentence), text, "context_use", kind)
        return


def _plan(turn: TurnView, facts: tuple[Fact, ...], memory: _Memory) -> Iterator[Signal]:
    """A confirmation whose number of people, date or hour is none that was ever given."""
    if turn.called or turn.reply.units > 120 or not reply_markers.CLAIMS_SUCCESS.search(turn.reply.edges):
        return
    for unit in _PLANNED:
        said = {f.value for f in facts if f.unit == unit}
        given = memory.given[unit]
        if len(said) == 1 and given and not said & given and len(given) <= 2:
            fact = next(f for f in facts if f.unit == unit)
            text = note(
                "other_value", turn.language, new=fact.shown, old="/".join(sorted(given)), turn=turn.number
            )
            yield Signal(
                "other_value", turn.number, 0.55, cut(fact.sentence), text, "context_use", "contradiction"
            )
            return


def _names(turn: TurnView, names: set[str]) -> Iterator[Signal]:
    if not names:
        return
    match = _ADDRESSED.search(turn.reply.text[:200])
    called = next((g for g in match.groups() if g), "") if match else ""
    if not called or called.lower() in _NOT_NAMES:
        return
    if called not in names and not any(n.startswith(called) or called.startswith(n) for n in names):
        text = note("other_value", turn.language, new=called, old="/".join(sorted(names)), turn=1)
        quote = cut(turn.reply.text)
        yield Signal("other_value", turn.number, 0.7, quote, text, "context_use", "forgotten_fact")


def _reversals(
    turn: TurnView, claims: list[tuple[int, frozenset[str], bool]], memory: _Memory
) -> Iterator[Signal]:
    """Say yes where an earlier turn said no, of what is all but word for word the same."""
    if turn.called or turn.reply.units > 200:  # a tool may have turned it round; long plans vary
        return
    mine = []
    for sentence in turn.reply.sentences[:40]:
        if 4 <= sentence.units <= 25 and len(sentence.terms) >= 3 and sentence.text[-1] not in "?？":
            mine.append((sentence, bool(_NOT.search(sentence.plain))))
    for sentence, negated in mine:
        for number, terms, before in claims[-80:]:
            shared = len(terms & sentence.terms)
            if before is negated or number < memory.changed or shared < 3:
                continue
            if shared / len(terms | sentence.terms) >= 0.6 and not reply_markers.ACKNOWLEDGES.search(
                turn.reply.head
            ):
                text = note("reversed", turn.language, turn=number)
                yield Signal(
                    "reversed", turn.number, 0.65, cut(sentence.text), text, "context_use", "contradiction"
                )
                claims.extend((turn.number, s.terms, n) for s, n in mine)
                return
    claims.extend((turn.number, s.terms, n) for s, n in mine)
