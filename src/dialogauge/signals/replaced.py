"""Values that the user replaced and a reply goes on with: the old date, the old size, the old length."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from dialogauge.signals.facts import Fact
from dialogauge.signals.reactions import react
from dialogauge.signals.reading import Dialogue, TextView, TurnView
from dialogauge.signals.repair import had_to_act
from dialogauge.signals.signal import Signal, cut
from dialogauge.signals.wording import note

__all__ = ["find_replaced_values"]

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
