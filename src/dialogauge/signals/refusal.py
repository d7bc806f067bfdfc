"""Refusals of what seems harmless, told from careful ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dialogauge.signals import reply_markers as mark
from dialogauge.signals.lazy import once
from dialogauge.signals.reading import Dialogue, TextView, TurnView, quote_around
from dialogauge.signals.signal import Signal, note
from dialogauge.text import normalise

_BARE = 25
"""Words of a reply that does nothing but decline."""


def refuses(turn: TurnView) -> str:
    """Return the words by which the reply declines, or an empty string.

    They stand in the first 300 characters; a word in passing further down declines nothing.
    """
    return _refuses(turn.reply)


@once
def _refuses(reply: TextView) -> str:
    head = reply.head
    if not mark.MAY_REFUSE.search(head):
        return ""
    hit = mark.REFUSES.search(head)
    return hit.group() if hit else ""


def find_refusals(dialogue: Dialogue) -> Iterator[Signal]:
    """Yield refusals of what is not risky; weaker where policy or tools set limits, or a way is offered."""
    harmful = _harmful(dialogue)
    agent = False
    for index, turn in enumerate(dialogue.turns):
        agent = agent or bool(turn.called or turn.tools)
        hit = refuses(turn) if turn.replied else ""
        if not hit or harmful(index):
            continue
        strength = _strength(turn, limits=agent or _has_policy(dialogue.context))
        text = note("refuses", turn.language)
        quote = quote_around(turn.reply, hit)
        yield Signal("refuses", turn.number, strength, quote, text, "helpfulness", "refusal")


def _harmful(dialogue: Dialogue) -> Callable[[int], bool]:
    """Return what says whether the topic is risky at a turn; each message is searched once, if at all.

    A risky topic stays risky when the user asks again in other words.
    """
    found: list[bool] = []

    def harmful(index: int) -> bool:
        for turn in dialogue.turns[len(found) : index + 1]:
            risky = mark.HARM.search(turn.user.edges) is not None
            found.append(risky or (bool(found) and found[-1] and turn.user.units < 25))
        return found[index]

    return harmful


@once
def _has_policy(context: TextView) -> bool:
    return bool(mark.POLICY.search(normalise(context.text)))


def _strength(turn: TurnView, *, limits: bool) -> float:
    """Words of declining are one cue; scruples given, or nothing else said, the other.

    To own that one cannot see or do a thing, and to go on with what one can, is no refusal.
    """
    reply = turn.reply
    strength = 0.5
    if mark.SCRUPLE.search(reply.edges) or reply.units <= _BARE:
        strength += 0.4
    if limits or mark.CITES_RULE.search(reply.edges):
        strength -= 0.45
    if mark.ALTERNATIVE.search(reply.edges):
        strength -= 0.35
    if reply.units > 150:  # much said after declining: an answer with a reservation
        strength -= 0.4
    if turn.tools and mark.ADMITS_FAILURE.search(reply.edges):
        strength -= 0.4
    return max(0.2, strength)
