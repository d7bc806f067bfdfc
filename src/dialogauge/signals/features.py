"""Features per turn for the fitted satisfaction model, and the list of all signals of a dialogue.

Features mean the same in both languages: lengths are logs of words (a Chinese character counts 0.6) or
relative to the conversation, overlaps are shares, markers are 0 or 1. No feature is a word of a data set.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from dialogauge.signals import reply_markers
from dialogauge.signals.answering import (
    asks_something,
    find_drift,
    find_non_answers,
    find_not_knowing,
    is_vague,
    overlap,
)
from dialogauge.signals.contradiction import find_contradictions, find_replaced_values
from dialogauge.signals.dialogue import Dialogue, TextView, TurnView
from dialogauge.signals.exclusions import find_ignored_exclusions
from dialogauge.signals.needless_questions import find_needless_questions
from dialogauge.signals.reactions import Reaction, find_reactions, react, repeats_request
from dialogauge.signals.refusal import find_refusals, refuses
from dialogauge.signals.repair import find_ignored_corrections
from dialogauge.signals.repetition import find_repetition
from dialogauge.signals.signal import Signal
from dialogauge.signals.tool_use import find_tool_faults

Mode = Literal["hindsight", "foresight"]

_FAMILIES: tuple[Callable[[Dialogue], Iterator[Signal]], ...] = (
    find_repetition,
    find_refusals,
    find_non_answers,
    find_not_knowing,
    find_drift,
    find_needless_questions,
    find_ignored_exclusions,
    find_contradictions,
    find_tool_faults,
    find_ignored_corrections,
    find_replaced_values,
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


FORESIGHT_FEATURES = (
    "turn_number",
    "reply_length",
    "reply_variety",
    "reply_shorter",
    "reply_longer",
    "request_length",
    "request_taken_up",
    "recalls_earlier",
    "new_content",
    "refuses",
    "vague",
    "asks_back",
    "apologises",
    "lists",
    "user_objects",
    "user_wants_detail",
    "user_wants_other",
    "user_thanks",
    "user_asks_again",
    "earlier_objections",
    "context_finding",
    "helpfulness_finding",
)
"""From the reply and the messages before it."""

HINDSIGHT_FEATURES = (
    "next_thanks",
    "next_closes",
    "next_complains",
    "next_objects",
    "next_wants_detail",
    "next_wants_other",
    "next_changes",
    "next_asks_again",
    "next_takes_up_reply",
    "next_new",
    "next_length",
    "next_asks",
    "no_next",
)
"""From the next user message, if there is one."""

FORM_FEATURES = ("reply_length", "reply_variety", "lists")
"""The form of a reply, without its content."""


def feature_names(mode: Mode) -> tuple[str, ...]:
    """Return the names of the features of a mode, in their order."""
    return FORESIGHT_FEATURES + (HINDSIGHT_FEATURES if mode == "hindsight" else ())


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


def read_features(
    dialogue: Dialogue, signals: Sequence[Signal], mode: Mode = "hindsight"
) -> dict[int, tuple[float, ...]]:
    """Return the features of every replied turn by its number, in the order of `feature_names(mode)`.

    `signals` are those of the same mode; foresight features ignore the hindsight ones.
    """
    history = _EarlierTurns()
    out: dict[int, tuple[float, ...]] = {}
    findings = _findings(signals)
    reactions = [react(t.user) for t in dialogue.turns]
    for index, turn in enumerate(dialogue.turns):
        if turn.replied:
            values = history.foresight(turn, reactions[index], findings)
            if mode == "hindsight":
                after = dialogue.turns[index + 1] if index + 1 < len(dialogue.turns) else None
                values += _hindsight(turn, after, reactions[index + 1] if after else None)
            out[turn.number] = values
        history.add(turn, reactions[index])
    return out


def _findings(signals: Sequence[Signal]) -> dict[tuple[int, str], float]:
    out: dict[tuple[int, str], float] = {}
    for s in signals:
        if not s.hindsight:
            out[s.turn, s.about] = max(s.strength, out.get((s.turn, s.about), 0.0))
    return out


@dataclass(slots=True)
class _EarlierTurns:
    """The messages before a turn."""

    terms: set[str] = field(default_factory=set)
    replies: _Norm = field(default_factory=_Norm)
    requests: _Norm = field(default_factory=_Norm)
    users: list[TextView] = field(default_factory=list)
    objections: int = 0

    def add(self, turn: TurnView, reaction: Reaction) -> None:
        self.terms.update(turn.user.terms, turn.reply.terms)
        self.requests.add(turn.user.units)
        self.users = [*self.users[-5:], turn.user]
        self.objections += bool(reaction.complaints)
        if turn.replied:
            self.replies.add(turn.reply.units)

    def foresight(
        self, turn: TurnView, reaction: Reaction, findings: dict[tuple[int, str], float]
    ) -> tuple[float, ...]:
        reply = turn.reply
        terms = reply.terms
        length, variety, lists = reply_form(reply)
        ratio = self.replies.ratio(reply.units)
        earlier = len(terms & self.terms)
        request = len((terms & turn.user.terms) - self.terms)
        recalled = earlier / len(terms) if terms else 0.0
        new = (len(terms) - earlier - request) / len(terms) if terms else 0.0
        again = max((repeats_request(turn.user, before) for before in self.users), default=0.0)
        return (
            math.log(turn.number),
            length,
            variety,
            max(0.0, -ratio),
            max(0.0, ratio),
            self.requests.ratio(turn.user.units),
            overlap(turn),
            recalled,
            new,
            float(bool(refuses(turn))),
            _vague_share(turn),
            float(bool(reply.sentences) and reply.sentences[-1].text[-1] in "?？"),
            float(bool(reply_markers.ADMITS_FAILURE.search(reply.head))),
            lists,
            float(bool(reaction.complaints)),
            float(reaction.more_detail),
            float(reaction.other_options or reaction.change),
            float(reaction.thanks),
            min(1.0, again),
            min(2.0, float(self.objections)),
            findings.get((turn.number, "context_use"), 0.0),
            findings.get((turn.number, "helpfulness"), 0.0),
        )


def reply_form(reply: TextView) -> tuple[float, float, float]:
    """Return the `FORM_FEATURES` of a reply."""
    return math.log1p(reply.units), len(reply.terms) / (reply.units + 1), _list_share(reply.text)


def _vague_share(turn: TurnView) -> float:
    sentences = turn.reply.sentences[:3] + turn.reply.sentences[-2:]
    return sum(map(is_vague, sentences)) / len(sentences) if sentences else 0.0


def _list_share(text: str) -> float:
    firsts = [line[0] for line in map(str.lstrip, text.split("\n")) if line]
    marked = sum(first in "-*•|#" or first.isdigit() for first in firsts)
    return marked / len(firsts) if firsts else 0.0


def _hindsight(turn: TurnView, after: TurnView | None, reaction: Reaction | None) -> tuple[float, ...]:
    if after is None or reaction is None:
        return (0.0,) * (len(HINDSIGHT_FEATURES) - 1) + (1.0,)
    terms = after.user.terms
    strong = [c for c in reaction.complaints if c not in ("frustrated", "corrected", "doubted")]
    return (
        float(reaction.thanks),
        float(reaction.closing),
        float(bool(strong) or "frustrated" in reaction.complaints),
        float("corrected" in reaction.complaints or "doubted" in reaction.complaints),
        float(reaction.more_detail),
        float(reaction.other_options),
        float(reaction.change),
        min(1.0, repeats_request(after.user, turn.user)),
        len(terms & turn.reply.terms) / len(terms) if terms else 0.0,
        len(terms - turn.reply.terms - turn.user.terms) / (len(terms) + 1),
        _within_2(math.log1p(after.user.units) - math.log1p(turn.user.units)),
        float(asks_something(after.user.edges)),
        0.0,
    )
