"""Features per turn for the fitted satisfaction model, and the list of all signals of a dialogue.

Features mean the same in both languages: lengths are logs of words (a Chinese character counts 0.6) or
relative to the conversation, overlaps are shares, markers are 0 or 1. No feature is a word of a data set.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Literal

from dialogauge.signals import reply_markers
from dialogauge.signals.answering import (
    asks_something,
    find_non_answers,
    overlap,
    vague_sentences,
)
from dialogauge.signals.contradiction import find_contradictions
from dialogauge.signals.copying import find_echoes, find_miscopied
from dialogauge.signals.cut_off import find_cut_off
from dialogauge.signals.delivery import find_undelivered
from dialogauge.signals.dialogue import Dialogue, TextView, TurnView
from dialogauge.signals.needless_questions import find_needless_questions
from dialogauge.signals.reactions import find_reactions, react, repeats_request
from dialogauge.signals.refusal import find_refusals, refuses
from dialogauge.signals.repetition import find_repetition
from dialogauge.signals.signal import Signal
from dialogauge.signals.tool_use import find_tool_faults

Mode = Literal["hindsight", "foresight"]

_FAMILIES: tuple[Callable[[Dialogue], Iterator[Signal]], ...] = (
    find_repetition,
    find_refusals,
    find_undelivered,
    find_cut_off,
    find_echoes,
    find_miscopied,
    find_non_answers,
    find_needless_questions,
    find_contradictions,
    find_tool_faults,
)
"""They read the reply and the messages before it, never those after it."""


def find_signals(dialogue: Dialogue, mode: Mode = "hindsight") -> tuple[Signal, ...]:
    """Return every finding by turn, the strongest first.

    In `foresight`, the signals of a turn ignore all messages after its reply; `hindsight` also reads the
    next user message.
    """
    signals = [s for family in _FAMILIES for s in family(dialogue)]
    if mode == "hindsight":
        signals.extend(find_reactions(dialogue))
    return tuple(sorted(signals, key=lambda s: (s.turn, -s.strength, s.name)))


@dataclass(slots=True)
class _Norm:
    """The mean log length of the texts so far."""

    total: float = 0.0
    count: int = 0

    def ratio(self, units: float) -> float:
        """Return the log of length over mean length so far, within ±2; 0 without earlier texts."""
        return _within_2(math.log1p(units) - self.total / self.count) if self.count else 0.0

    def add(self, units: float) -> None:
        self.total += math.log1p(units)
        self.count += 1


def _within_2(value: float) -> float:
    return max(-2.0, min(2.0, value))


@dataclass(slots=True)
class _EarlierTurns:
    """The messages before a turn."""

    terms: set[str] = field(default_factory=set)
    replies: _Norm = field(default_factory=_Norm)
    requests: _Norm = field(default_factory=_Norm)
    users: list[TextView] = field(default_factory=list)
    objections: int = 0

    def add(self, turn: TurnView) -> None:
        self.terms.update(turn.user.terms, turn.reply.terms)
        self.requests.add(turn.user.units)
        self.users = [*self.users[-5:], turn.user]
        self.objections += bool(react(turn.user).complaints)
        if turn.replied:
            self.replies.add(turn.reply.units)


class _Place:
    """A reply and the messages before it."""

    def __init__(self, turn: TurnView, before: _EarlierTurns, strengths: Mapping[str, float]) -> None:
        self.turn, self.user, self.reply, self.before = turn, turn.user, turn.reply, before
        self.reaction = react(turn.user)
        self.length, self.variety, self.lists = reply_form(turn.reply)
        self.ratio = before.replies.ratio(turn.reply.units)
        self.strengths = strengths
        """Of the strongest finding, by dimension."""


_FORESIGHT: Mapping[str, Callable[[_Place], float]] = {
    "turn_number": lambda p: math.log(p.turn.number),
    "reply_length": lambda p: p.length,
    "reply_variety": lambda p: p.variety,
    "reply_shorter": lambda p: max(0.0, -p.ratio),
    "reply_longer": lambda p: max(0.0, p.ratio),
    "request_length": lambda p: p.before.requests.ratio(p.user.units),
    "request_taken_up": lambda p: overlap(p.turn),
    "recalls_earlier": lambda p: _share(p.reply.terms & p.before.terms, p.reply.terms),
    "new_content": lambda p: _share(p.reply.terms - p.before.terms - p.user.terms, p.reply.terms),
    "refuses": lambda p: bool(refuses(p.turn)),
    "vague": lambda p: _vague_share(p.reply),
    "asks_back": lambda p: bool(p.reply.sentences) and p.reply.sentences[-1].text[-1] in "?？",
    "apologises": lambda p: bool(reply_markers.ADMITS_FAILURE.search(p.reply.head)),
    "lists": lambda p: p.lists,
    "user_objects": lambda p: bool(p.reaction.complaints),
    "user_wants_detail": lambda p: p.reaction.more_detail,
    "user_wants_other": lambda p: p.reaction.other_options or p.reaction.change,
    "user_thanks": lambda p: p.reaction.thanks,
    "user_asks_again": lambda p: max((repeats_request(p.user, u) for u in p.before.users), default=0.0),
    "earlier_objections": lambda p: min(2, p.before.objections),
    "context_finding": lambda p: p.strengths["context_use"],
    "helpfulness_finding": lambda p: p.strengths["helpfulness"],
}
"""From the reply and the messages before it."""


class _Next:
    """The user message after a reply."""

    def __init__(self, turn: TurnView, after: TurnView) -> None:
        self.turn, self.user = turn, after.user
        self.reaction = react(after.user)
        self.complaints = frozenset(self.reaction.complaints)


_HINDSIGHT: Mapping[str, Callable[[_Next], float]] = {
    "next_thanks": lambda n: n.reaction.thanks,
    "next_closes": lambda n: n.reaction.closing,
    "next_complains": lambda n: bool(n.complaints - {"corrected", "doubted"}),
    "next_objects": lambda n: bool(n.complaints & {"corrected", "doubted"}),
    "next_wants_detail": lambda n: n.reaction.more_detail,
    "next_wants_other": lambda n: n.reaction.other_options,
    "next_changes": lambda n: n.reaction.change,
    "next_asks_again": lambda n: repeats_request(n.user, n.turn.user),
    "next_takes_up_reply": lambda n: _share(n.user.terms & n.turn.reply.terms, n.user.terms),
    "next_new": lambda n: (
        len(n.user.terms - n.turn.reply.terms - n.turn.user.terms) / (len(n.user.terms) + 1)
    ),
    "next_length": lambda n: _within_2(math.log1p(n.user.units) - math.log1p(n.turn.user.units)),
    "next_asks": lambda n: asks_something(n.user.edges),
    "no_next": lambda _: 0.0,
}
"""From the next user message; without one all are 0 and `no_next` is 1."""

_FITTED = ("repeats_reply", "asks_again")
"""Kinds that the fitted model reads, though nothing bears them out enough to be named."""

FORM_FEATURES = ("reply_length", "reply_variety", "lists")
"""The form of a reply, without its content."""


def feature_names(mode: Mode) -> tuple[str, ...]:
    """Return the names of the features of a mode, in their order."""
    return (*_FORESIGHT, *(_HINDSIGHT if mode == "hindsight" else ()))


def read_features(
    dialogue: Dialogue, signals: Sequence[Signal], mode: Mode = "hindsight"
) -> dict[int, tuple[float, ...]]:
    """Return the features of every replied turn by its number, in the order of `feature_names(mode)`.

    `signals` are those of the same mode; foresight features ignore the hindsight ones.
    """
    strengths: dict[int, dict[str, float]] = {
        t.number: {"context_use": 0.0, "helpfulness": 0.0} for t in dialogue.replied
    }
    for signal in signals:
        if (signal.named or signal.name in _FITTED) and not signal.hindsight:
            of_turn = strengths[signal.turn]
            of_turn[signal.about] = max(signal.strength, of_turn[signal.about])
    before = _EarlierTurns()
    out: dict[int, tuple[float, ...]] = {}
    for turn, after in zip_longest(dialogue.turns, dialogue.turns[1:]):
        if turn.replied:
            place = _Place(turn, before, strengths[turn.number])
            values = tuple(float(rule(place)) for rule in _FORESIGHT.values())
            out[turn.number] = values + (_hindsight(turn, after) if mode == "hindsight" else ())
        before.add(turn)
    return out


def _hindsight(turn: TurnView, after: TurnView | None) -> tuple[float, ...]:
    if after is None:
        return (0.0,) * (len(_HINDSIGHT) - 1) + (1.0,)
    following = _Next(turn, after)
    return tuple(float(rule(following)) for rule in _HINDSIGHT.values())


def reply_form(reply: TextView) -> tuple[float, float, float]:
    """Return the `FORM_FEATURES` of a reply."""
    return math.log1p(reply.units), len(reply.terms) / (reply.units + 1), _list_share(reply.text)


def _share(part: Collection[str], of: Collection[str]) -> float:
    return len(part) / len(of) if of else 0.0


def _vague_share(reply: TextView) -> float:
    sentences = reply.sentences[:3] + reply.sentences[-2:]
    return len(vague_sentences(reply, sentences)) / len(sentences) if sentences else 0.0


def _list_share(text: str) -> float:
    firsts = [line[0] for line in map(str.lstrip, text.split("\n")) if line]
    marked = sum(first in "-*•|#" or first.isdigit() for first in firsts)
    return marked / len(firsts) if firsts else 0.0
