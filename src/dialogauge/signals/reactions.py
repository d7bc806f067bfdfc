"""What a user message says of the reply before it: thanks, objection, complaint, asking again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dialogauge.signals import reply_markers
from dialogauge.signals import user_markers as mark
from dialogauge.signals.answering import asks_something
from dialogauge.signals.lazy import once
from dialogauge.signals.markers import Marker, MarkerSet
from dialogauge.signals.reading import Dialogue, TextView, TurnView, quote_around
from dialogauge.signals.refusal import refuses
from dialogauge.signals.signal import FaultKind, Signal, note
from dialogauge.signals.user_markers import PLAIN_COMPLAINTS

_COMPLAINTS: tuple[tuple[str, Marker, float, FaultKind | None], ...] = (
    ("same_again", mark.AGAIN, 0.85, "loop"),
    ("off_topic", mark.OFF_TOPIC, 0.8, "drift"),
    ("not_changed", mark.UNCHANGED, 0.75, "ignored_correction"),
    ("told_already", mark.TOLD_ALREADY, 0.75, "forgotten_fact"),
    ("said_otherwise", mark.SAID_OTHERWISE, 0.75, "contradiction"),
    ("not_answered", mark.NOT_ASKED, 0.75, "non_answer"),
    ("called_wrong", mark.WRONG, 0.7, None),
    ("doubted", mark.DOUBT, 0.5, None),
    ("corrected", mark.OBJECTS, 0.4, None),
    ("frustrated", mark.FRUSTRATION, 0.4, None),
)
"""Signal, wide marker, strength where it is meant in one way only, the fault; the more telling first."""


_TOLD = MarkerSet(
    [
        *((name, wide) for name, wide, _, _ in _COMPLAINTS),
        *PLAIN_COMPLAINTS.items(),
        ("self_correction", mark.SELF_CORRECTION),
        ("change", mark.CHANGE),
        ("thanks", mark.THANKS),
        ("closing", mark.CLOSING),
        ("more_detail", mark.MORE_DETAIL),
        ("other_options", mark.OTHER_OPTIONS),
        ("repeat_please", mark.REPEAT_PLEASE),
    ]
)
_BRIEF = 12
"""Words of a message that does nothing but insist."""
_LOOSE, _CAP = 0.45, 0.58
"""What only a wide marker tells may be about the matter, or about others: alone it makes no fault."""


_STOP = re.compile(r"[.!?。！？;；,，…]")
_OTHERS = re.compile(
    r"\b(?:he|she|they|him|her|them|my (?:boss|landlord|friend|sister|brother|mother|mum|mom|dad|father"
    r"|husband|wife|son|daughter|colleague|manager|teacher|doctor))\b"
    r"|他|她|老板|房东|同事|朋友|老师|医生"
)
_YOU = re.compile(r"\b(?:you|your|yours)\b|你|您")


@dataclass(frozen=True, slots=True)
class Reaction:
    """The markers of one user message."""

    complaints: tuple[str, ...]
    """Names of complaints, the most telling first."""
    self_correction: bool
    change: bool
    """Asks to change something said or planned."""
    thanks: bool
    closing: bool
    more_detail: bool
    other_options: bool
    repeat_please: bool

    @property
    def objects(self) -> bool:
        """Whether the user corrects, redirects or objects in any way."""
        return bool(self.complaints) or self.self_correction or self.change


@once
def react(user: TextView) -> Reaction:
    """Read the markers of a user message; only the edges of a very long one."""
    told = _TOLD.matching(user.edges)
    own = "self_correction" in told
    complaints = tuple(name for name, *_ in _COMPLAINTS if name in told)
    if own:  # the user's own slip: pushing back is then no word against the reply
        complaints = tuple(c for c in complaints if c in ("same_again", "off_topic", "not_answered"))
    return Reaction(
        complaints,
        own,
        change="change" in told,
        thanks="thanks" in told,
        closing="closing" in told,
        more_detail="more_detail" in told,
        other_options="other_options" in told,
        repeat_please="repeat_please" in told,
    )


def repeats_request(now: TextView, before: TextView) -> float:
    """Return how far a user message asks again what an earlier one asked, 0..1.

    The share of the shorter one's content terms that both have; 0 below two shared terms.
    """
    shared = len(now.terms & before.terms)
    if shared < 2:
        return 0.0
    return shared / max(3, min(len(now.terms), len(before.terms)))


def find_reactions(dialogue: Dialogue) -> Iterator[Signal]:
    """Yield what each user message holds against the reply before it; all of it is hindsight."""
    for turn, after in zip(dialogue.turns, dialogue.turns[1:], strict=False):
        if turn.replied:
            yield from _judge_reply(turn, after)


def _judge_reply(turn: TurnView, after: TurnView) -> Iterator[Signal]:
    reaction = react(after.user)
    repeated = repeats_request(after.user, turn.user)
    found = [c for c in _COMPLAINTS if c[0] in reaction.complaints]
    if mark.CHALLENGED.search(after.user.edges) and refuses(turn):
        yield _signal("refusal_challenged", (turn, after), 0.6, "refusal", "")
    weight = _weight(repeated, after, reaction)
    for rank, (name, wide, strength, kind) in enumerate(found):
        plain = _plain(name, wide, after.user.edges) if _bears(name, turn) else None
        if plain:
            strength = min(1.0, strength + weight - 0.02 * rank)
        else:
            doubt_of_tools = name == "doubted" and bool(turn.called)
            strength = min(_CAP, min(strength, _LOOSE) + weight - 0.02 * rank + 0.12 * doubt_of_tools)
        hit = plain or wide.search(after.user.edges)
        yield _signal(name, (turn, after), max(0.2, strength), kind, hit.group() if hit else "")
    strength = _asked_again(turn, after, repeated)
    if strength and not reaction.thanks:
        yield _signal("asked_again", (turn, after), strength, None, "")


def _plain(name: str, wide: Marker, text: str) -> re.Match[str] | None:
    """The words of a complaint that can only mean the reply; not those that speak of a third person."""
    pattern = PLAIN_COMPLAINTS.get(name)
    hit = pattern.search(text) if pattern else None
    if hit is None and name == "not_changed":  # said where a change was asked for, it needs no plainer words
        hit = wide.search(text)
    return None if hit and name != "not_changed" and _of_others(text, hit) else hit


def _of_others(text: str, hit: re.Match[str]) -> bool:
    start = max((m.end() for m in _STOP.finditer(text, 0, hit.start())), default=0)
    end = _STOP.search(text, hit.end())
    clause = text[start : end.start() if end else len(text)]
    return bool(_OTHERS.search(clause)) and not _YOU.search(clause)


def _bears(name: str, turn: TurnView) -> bool:
    """Whether the turn is such that the complaint can be meant of it."""
    if name == "not_changed":  # a change must have been asked for
        reaction = react(turn.user)
        return reaction.objects or reaction.other_options
    if name == "not_answered":  # the user answers a question back: "I meant the other one"
        return not (turn.reply.sentences and turn.reply.sentences[-1].text[-1] in "?？")
    return True


def _asked_again(turn: TurnView, after: TurnView, repeated: float) -> float:
    """Asking again for what the reply left out; else it may be a choice or a follow-up."""
    shared = turn.user.terms & after.user.terms
    missed = len(shared - turn.reply.terms) / len(shared) if shared else 0.0
    strength = 0.0
    if repeated >= 0.5:
        strength = min(0.6 if missed > 0.5 else 0.3, 0.2 + 0.5 * repeated)
    elif missed > 0.5 and after.user.units <= _BRIEF and asks_something(after.user.edges):
        strength = 0.45
    if not strength or any(s.text[-1] in "?？" for s in turn.reply.sentences):
        return 0.0
    return 0.0 if reply_markers.ADMITS_FAILURE.search(turn.reply.edges) else strength


def _weight(repeated: float, after: TurnView, reaction: Reaction) -> float:
    """A complaint that asks again weighs more; one beside thanks or in a long message less."""
    weight = 0.1 if repeated >= 0.3 else 0.0
    if reaction.thanks:
        weight -= 0.35
    if reaction.self_correction:
        weight -= 0.3
    if after.user.units > 120:
        weight -= 0.2
    return weight


def _signal(
    name: str, pair: tuple[TurnView, TurnView], strength: float, kind: FaultKind | None, hit: str
) -> Signal:
    turn, after = pair
    return Signal(
        name,
        turn.number,
        strength,
        quote_around(after.user, hit),
        note(name, after.language),
        "context_use" if kind in ("forgotten_fact", "contradiction", "loop") else "helpfulness",
        kind,
        after.number,
        hindsight=True,
    )
