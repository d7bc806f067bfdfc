"""Reactions of the user to the reply before: thanks, objections, complaints, repeated requests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dialogauge.core.patterns import lazy_pattern
from dialogauge.signals import reply_markers
from dialogauge.signals import user_markers as mark
from dialogauge.signals.answering import asks_something
from dialogauge.signals.caching import cached_on_view
from dialogauge.signals.dialogue import Dialogue, TextView, TurnView, quote_around
from dialogauge.signals.markers import Marker, MarkerSet
from dialogauge.signals.signal import FaultKind, Signal, note

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
"""Signal, broad marker, strength of an unambiguous wording, fault; in order of weight."""

_OTHER_MARKERS: Mapping[str, Marker] = {
    "self_correction": mark.SELF_CORRECTION,
    "change": mark.CHANGE,
    "thanks": mark.THANKS,
    "closing": mark.CLOSING,
    "more_detail": mark.MORE_DETAIL,
    "other_options": mark.OTHER_OPTIONS,
    "rejects": mark.REJECTS,
    "wants_other": mark.WANTS_OTHER,
    "left_out": mark.LEFT_OUT,
}
_REACTIONS = MarkerSet(
    [
        *((name, wide) for name, wide, _, _ in _COMPLAINTS),
        *mark.PLAIN_COMPLAINTS.items(),
        *_OTHER_MARKERS.items(),
    ]
)
_BRIEF, _SHORT = 12, 20
"""Longest messages, in words, that only insist, and that are about the reply alone."""
_VERBATIM = 0.85
"""Share of terms in common from which one message says the same as another."""
_LOOSE, _CAP = 0.45, 0.58
"""A match of a broad marker only may be about something else: alone it makes no fault."""
_CONTRAST = lazy_pattern(
    r"\b(?:but|now|yet|however|which|why|contradict\w*|match|agree|different|changed?|not|n't|isn't|doesn't|don't"
    r"|only|instead|suddenly|actually)\b|n't\b|却|但|可是|可|而|矛盾|不|没|哪个|为什么|为何|怎么(?:又|变|成|现在|会|突然|是)"
    r"|现在|又|明明|错|改口"
)
_POLITE = lazy_pattern(
    r"\b(?:please|could you|can you|would you|i'd like|i would like|let's|tell me more|book|more about)\b"
    r"|请|能不能|能否|可以(?:帮|给|再|把|详)|帮我|麻烦|详细|具体|介绍|怎么(?:走|去|做|买|弄|订|吃|用|样)"
)
"""A request that only refers to what was said before."""
_STOP = lazy_pattern(r"[.!?。！？;；,，…]")
_OTHERS = lazy_pattern(
    r"\b(?:he|she|they|him|her|them|my (?:boss|landlord|friend|sister|brother|mother|mum|mom|dad|father"
    r"|husband|wife|son|daughter|colleague|manager|teacher|doctor))\b"
    r"|他|她|老板|房东|同事|朋友|老师|医生"
)
_YOU = lazy_pattern(r"\b(?:you|your|yours)\b|你|您")


@dataclass(frozen=True, slots=True)
class Reaction:
    """The markers of one user message."""

    complaints: tuple[str, ...]
    """Names of complaints, in order of weight."""
    self_correction: bool
    change: bool
    """Asks to change something said or planned."""
    thanks: bool
    closing: bool
    more_detail: bool
    other_options: bool
    rejects: bool
    """Does not like what was proposed."""
    wants_other: bool
    left_out: bool
    """Says that something is missing or cannot be used."""

    @property
    def objects(self) -> bool:
        """Whether the user corrects, redirects or objects in any way."""
        return bool(self.complaints) or self.self_correction or self.change


@cached_on_view
def react(user: TextView) -> Reaction:
    """Return the markers of a user message; of a very long one only those at its edges."""
    names = _REACTIONS.matching(user.edges)
    complaints = tuple(name for name, *_ in _COMPLAINTS if name in names)
    if "said_otherwise" in complaints and _refers_only(user):
        complaints = tuple(c for c in complaints if c != "said_otherwise")
    if "self_correction" in names:  # the user corrects the user: an objection is not against the reply
        complaints = tuple(c for c in complaints if c in ("same_again", "off_topic", "not_answered"))
    return Reaction(complaints, **{name: name in names for name in _OTHER_MARKERS})


def repeats_request(now: TextView, before: TextView) -> float:
    """Return how much a user message repeats an earlier one, 0..1.

    The share of the shorter one's content terms that are in both; 0 below two shared terms.
    """
    shared = len(now.terms & before.terms)
    if shared < 2:
        return 0.0
    return shared / max(3, min(len(now.terms), len(before.terms)))


def find_reactions(dialogue: Dialogue) -> Iterator[Signal]:
    """Yield the complaints of each user message about the reply before it; all are hindsight."""
    for turn, after in zip(dialogue.turns, dialogue.turns[1:], strict=False):
        if turn.replied:
            yield from _judge_reply(turn, after)


def _judge_reply(turn: TurnView, after: TurnView) -> Iterator[Signal]:
    reaction = react(after.user)
    repeated = repeats_request(after.user, turn.user)
    weight = _weight(repeated, after, reaction)
    complaints = (c for c in _COMPLAINTS if c[0] in reaction.complaints)
    for rank, (name, wide, strength, kind) in enumerate(complaints):
        plain = _plain(name, wide, after.user.edges) if _can_concern(name, turn) else None
        if plain:
            strength = min(1.0, strength + weight - 0.02 * rank)
        else:
            doubt_of_tools = name == "doubted" and bool(turn.called)
            strength = min(_CAP, min(strength, _LOOSE) + weight - 0.02 * rank + 0.12 * doubt_of_tools)
        hit = plain or wide.search(after.user.edges)
        yield _signal(name, turn, after, max(0.2, strength), kind, hit.group() if hit else "")
    strength = _repeated_request(turn, after, repeated)
    if strength and not reaction.thanks:
        yield _signal("asked_again", turn, after, strength, None)
    yield from _wishes(turn, after, reaction)


def _wishes(turn: TurnView, after: TurnView, reaction: Reaction) -> Iterator[Signal]:
    """Yield what the user misses in the reply; a wish for more is no fault."""
    text = after.user.edges
    if reaction.left_out:
        hit = mark.LEFT_OUT.search(text)
        strength = 0.7 if after.user.units <= _SHORT and not reaction.self_correction else 0.5
        yield _signal("left_out", turn, after, strength, "non_answer", hit.group() if hit else "")
    if (reaction.rejects or reaction.wants_other) and after.user.units <= _SHORT:
        hit = mark.REJECTS.search(text) or mark.WANTS_OTHER.search(text)
        changes_mind = reaction.self_correction or reaction.change
        strength = 0.7 if reaction.rejects and not changes_mind else 0.5
        yield _signal("wants_other", turn, after, strength, None, hit.group() if hit else "")
    elif reaction.more_detail and after.user.units <= _SHORT:
        hit = mark.MORE_DETAIL.search(text)
        yield _signal("wants_detail", turn, after, 0.45, None, hit.group() if hit else "")


def _plain(name: str, wide: Marker, text: str) -> re.Match[str] | None:
    """Return the match of a complaint that can only mean the reply, and no third person."""
    pattern = mark.PLAIN_COMPLAINTS.get(name)
    hit = pattern.search(text) if pattern else None
    if hit is None and name == "not_changed":  # the broad wording is clear after a request for a change
        hit = wide.search(text)
    return None if hit and name != "not_changed" and _concerns_others(text, hit) else hit


def _concerns_others(text: str, hit: re.Match[str]) -> bool:
    start = max((m.end() for m in _STOP.finditer(text, 0, hit.start())), default=0)
    end = _STOP.search(text, hit.end())
    clause = text[start : end.start() if end else len(text)]
    return bool(_OTHERS.search(clause)) and not _YOU.search(clause)


def _refers_only(user: TextView) -> bool:
    """Whether a message takes up what was said before to ask for more, without holding it against anyone."""
    return bool(_POLITE.search(user.edges)) and not _CONTRAST.search(user.edges)


def _can_concern(name: str, turn: TurnView) -> bool:
    """Whether the complaint can be about this turn."""
    if name == "not_changed":  # needs a request for a change
        reaction = react(turn.user)
        return reaction.objects or reaction.other_options
    if name == "not_answered":  # the user answers a question back: "I meant the other one"
        return not (turn.reply.sentences and turn.reply.sentences[-1].text[-1] in "?？")
    return True


def _repeated_request(turn: TurnView, after: TurnView, repeated: float) -> float:
    """Return the strength of a request for what the reply left out; others may be follow-ups."""
    shared = turn.user.terms & after.user.terms
    missed = len(shared - turn.reply.terms) / len(shared) if shared else 0.0
    strength = 0.0
    if repeated >= 0.5:
        strength = min(0.6 if missed > 0.5 else 0.3, 0.2 + 0.5 * repeated)
        if _jaccard(turn.user.terms, after.user.terms) >= _VERBATIM:
            strength = 0.75
    elif missed > 0.5 and after.user.units <= _BRIEF and asks_something(after.user.edges):
        strength = 0.45
    if not strength or any(s.text[-1] in "?？" for s in turn.reply.sentences):
        return 0.0
    return 0.0 if reply_markers.ADMITS_FAILURE.search(turn.reply.edges) else strength


def _jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b) if a or b else 0.0


def _weight(repeated: float, after: TurnView, reaction: Reaction) -> float:
    """Return more weight for a repeated request, less beside thanks or in a long message."""
    weight = 0.1 if repeated >= 0.3 else 0.0
    if reaction.thanks:
        weight -= 0.35
    if reaction.self_correction:
        weight -= 0.3
    if after.user.units > 120:
        weight -= 0.2
    return weight


def _signal(
    name: str, turn: TurnView, after: TurnView, strength: float, kind: FaultKind | None, hit: str = ""
) -> Signal:
    return Signal(
        name,
        turn.number,
        strength,
        quote_around(after.user, hit),
        note(name, after.notes_in),
        "context_use" if kind in ("forgotten_fact", "contradiction", "loop") else "helpfulness",
        kind,
        after.number,
        hindsight=True,
    )
