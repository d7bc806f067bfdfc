"""Values, names and claims that go against what was said before."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from dialogauge.signals import reply_markers, user_markers
from dialogauge.signals.asking import Given, Statements
from dialogauge.signals.facts import Fact
from dialogauge.signals.lazy import once
from dialogauge.signals.reactions import react
from dialogauge.signals.reading import Dialogue, Sentence, TextView, TurnView
from dialogauge.signals.repair import had_to_act
from dialogauge.signals.signal import FaultKind, Signal, cut, note
from dialogauge.text import normalise

_CHANGES = re.compile(
    r"\b(?:actually|instead|not|changed?|moved?|wrong|rather|after all|turns out|make it|have to be)\b"
    r"|其实|改|换成|变成|不是|错|重新|更正|应该是|提前|推迟"
)
_LOOSE_UNITS = frozenset({"money", "percent", "minute", "gram", "calorie"})
"""Lists are full of them: another price is not the price in question."""
_MANY = 6


def find_replaced_values(dialogue: Dialogue) -> Iterator[Signal]:
    """Yield replies that hold the old value of what the user has just given anew, and not the new one.

    Both must be so: a reply that names the new value beside the old explains the change.
    """
    given: defaultdict[str, set[str]] = defaultdict(set)
    said: defaultdict[str, set[str]] = defaultdict(set)
    unread: list[TurnView] = []
    for turn in dialogue.turns:
        if _may_replace(turn):
            for earlier in unread:
                _note_values(earlier.user, given)
                _note_values(earlier.reply, said)
            unread.clear()
            yield from _stale(turn, turn.user.facts, given, said)
        unread.append(turn)


def _may_replace(turn: TurnView) -> bool:
    """Whether the user gives a value in asking for a change, and the reply was to act on it."""
    return turn.replied and _asks_for_change(turn) and bool(turn.user.facts) and had_to_act(turn)


def _note_values(text: TextView, values: defaultdict[str, set[str]]) -> None:
    for fact in text.facts:
        values[fact.unit].add(fact.value)


def _asks_for_change(turn: TurnView) -> bool:
    reaction = react(turn.user)
    return reaction.self_correction or reaction.change or bool(_CHANGES.search(turn.user.edges))


def _stale(
    turn: TurnView,
    told: tuple[Fact, ...],
    given: defaultdict[str, set[str]],
    said: defaultdict[str, set[str]],
) -> Iterator[Signal]:
    for unit in {f.unit: None for f in told if f.unit not in _LOOSE_UNITS}:
        new = {f.value for f in told if f.unit == unit} - given[unit] - said[unit]
        held = [f for f in turn.reply.facts if f.unit == unit]
        values = {f.value for f in held}
        if not new or not values or values & new or len(values) > _MANY:
            continue
        stale = next((f for f in held if f.value in given[unit]), None)
        unmoved = held[0] if values <= said[unit] and len(values) > 1 else None
        fact = stale or unmoved
        if fact:
            text = note("keeps_old", turn.language, what=fact.shown)
            quote = cut(fact.sentence)
            yield Signal("keeps_old", turn.number, 0.75, quote, text, "context_use", "ignored_correction")
            return


_CLAIMS = 80
"""Earlier ones that a reply is held against."""
_SENTENCES = 40
"""Of a reply that are read for claims."""
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
    for turn in dialogue.turns:
        memory.hear(turn)
        if turn.replied:
            yield from _values(turn, memory)
            yield from _plan(turn, memory.given)
            yield from _names(turn, memory.given)
            yield from _reversals(turn, memory)
            memory.keep(turn)


@dataclass(slots=True)
class _Memory:
    """What a reply can contradict."""

    given: Given = field(default_factory=Given)
    facts: Statements = field(default_factory=Statements)
    _unread: list[TurnView] = field(default_factory=list)
    """Replies whose claims nobody asked for yet."""
    _claims: list[tuple[int, Sentence, bool]] = field(default_factory=list)

    def hear(self, turn: TurnView) -> None:
        if _redirects(turn.user):
            self.facts.forget()
            self._unread.clear()
            self._claims.clear()
        self.given.add(turn)
        self.facts.add(turn.number, "user", turn.user)

    def keep(self, turn: TurnView) -> None:
        self.facts.add(turn.number, "assistant", turn.reply)
        if _makes_claims(turn):
            self._unread.append(turn)

    def claims(self) -> list[tuple[int, Sentence, bool]]:
        """The last claims since the user asked for something else: turn, sentence, whether it denies."""
        for turn in self._unread:
            self._claims.extend((turn.number, *claim) for claim in _claims(turn.reply))
        self._unread.clear()
        del self._claims[:-_CLAIMS]
        return self._claims


def _redirects(user: TextView) -> bool:
    """Whether a message asks for something else, or says that something was wrong."""
    reaction = react(user)
    if reaction.change or reaction.self_correction or reaction.other_options:
        return True
    if "corrected" in reaction.complaints:
        return True
    return "called_wrong" in reaction.complaints and bool(user_markers.WRONG.search(user.edges))


def _values(turn: TurnView, memory: _Memory) -> Iterator[Signal]:
    if not memory.facts.begin_before(turn.number) or _ADJUSTS.search(turn.reply.head):
        return
    for fact in turn.reply.facts:
        if not fact.sole or fact.value in memory.given.told(fact.unit) or _is_movable(fact):
            continue
        earlier = memory.facts.about(fact, turn.number)
        if not earlier or any(old.value == fact.value for _, _, old in earlier):
            continue
        number, role, old = earlier[-1]
        if _is_movable(old) or _was_found(fact, memory.given):
            continue
        kind: FaultKind = "contradiction" if role == "assistant" else "forgotten_fact"
        text = note("other_value", turn.language, new=fact.shown, old=old.shown, turn=number)
        yield Signal("other_value", turn.number, 0.7, cut(fact.sentence), text, "context_use", kind)
        return


def _was_found(fact: Fact, given: Given) -> bool:
    return fact.value in given.values(fact.unit) or fact.value in given.numbers()


def _is_movable(fact: Fact) -> bool:
    return bool(_MOVABLE.search(normalise(fact.sentence)))


def _plan(turn: TurnView, known: Given) -> Iterator[Signal]:
    """A confirmation whose number of people, date or hour is none that was ever given."""
    if turn.called or turn.reply.units > 120 or not reply_markers.CLAIMS_SUCCESS.search(turn.reply.edges):
        return
    facts = turn.reply.facts
    for unit in _PLANNED:
        said = {f.value for f in facts if f.unit == unit}
        given = known.values(unit) if len(said) == 1 else set()
        if given and not said & given and len(given) <= 2:
            fact = next(f for f in facts if f.unit == unit)
            text = note(
                "other_value", turn.language, new=fact.shown, old="/".join(sorted(given)), turn=turn.number
            )
            yield Signal(
                "other_value", turn.number, 0.55, cut(fact.sentence), text, "context_use", "contradiction"
            )
            return


def _names(turn: TurnView, given: Given) -> Iterator[Signal]:
    match = _ADDRESSED.search(turn.reply.text[:200])
    called = next((g for g in match.groups() if g), "") if match else ""
    if not called or called.lower() in _NOT_NAMES:
        return
    names = given.names()
    if names and not any(n.startswith(called) or called.startswith(n) for n in names):
        text = note("other_value", turn.language, new=called, old="/".join(sorted(names)), turn=1)
        quote = cut(turn.reply.text)
        yield Signal("other_value", turn.number, 0.7, quote, text, "context_use", "forgotten_fact")


def _makes_claims(turn: TurnView) -> bool:
    """Not so where a tool may have turned things round, nor in long plans, which vary."""
    return not turn.called and turn.reply.units <= 200


@once
def _claims(reply: TextView) -> tuple[tuple[Sentence, bool], ...]:
    """The sentences that say something, and whether each denies it."""
    return tuple(
        (sentence, bool(_NOT.search(sentence.plain)))
        for sentence in reply.sentences[:_SENTENCES]
        if sentence.text[-1] not in "?？" and 4 <= sentence.units <= 25 and len(sentence.terms) >= 3
    )


def _reversals(turn: TurnView, memory: _Memory) -> Iterator[Signal]:
    """Say yes where an earlier turn said no, of what is all but word for word the same."""
    earlier = memory.claims() if _makes_claims(turn) else []
    for sentence, negated in _claims(turn.reply) if earlier else ():
        for number, other, before in earlier:
            if before is not negated and _alike(sentence.terms, other.terms):
                if reply_markers.ACKNOWLEDGES.search(turn.reply.head):
                    return
                text = note("reversed", turn.language, turn=number)
                yield Signal(
                    "reversed", turn.number, 0.65, cut(sentence.text), text, "context_use", "contradiction"
                )
                return


def _alike(a: frozenset[str], b: frozenset[str]) -> bool:
    shared = len(a & b)
    return shared >= 3 and shared / len(a | b) >= 0.6
