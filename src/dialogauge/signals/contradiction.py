"""Claims that contradict earlier ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dialogauge.core.patterns import lazy_pattern
from dialogauge.signals import reply_markers, user_markers
from dialogauge.signals.caching import cached_on_view
from dialogauge.signals.dialogue import Dialogue, Sentence, TextView, TurnView
from dialogauge.signals.reactions import react
from dialogauge.signals.signal import Signal, finding

_CLAIMS = 80  # earlier claims that a reply is compared with
_SENTENCES = 40  # of a reply that are searched for claims
_SHARED = 3  # content terms of two claims that are about the same
_NOT = lazy_pattern(
    r"\b(?:not|no|never|cannot|can't|isn't|aren't|doesn't|don't|won't|wasn't"
    r"|without|closed|unavailable|impossible)\b|不|没|无|未|非"
)


def find_contradictions(dialogue: Dialogue) -> Iterator[Signal]:
    """Yield claims that negate an earlier one, or give another figure in the same words; conservative.

    Nothing contradicts what was said before the user asked for something else.
    """
    claims = _Claims()
    users: list[TextView] = []
    for turn in dialogue.turns:
        users.append(turn.user)
        if _redirects(turn.user):
            claims.clear()
        if turn.replied:
            yield from _reversals(turn, claims, users)
            claims.add(turn)


@dataclass(frozen=True, slots=True)
class _Claim:
    """A sentence that claims something."""

    sentence: Sentence
    negated: bool
    figures: frozenset[str]
    """Its content terms that begin with a digit."""
    words: frozenset[str]
    """The others."""


@dataclass(slots=True)
class _Claims:
    """The claims of earlier replies."""

    _replies: list[TurnView] = field(default_factory=list)
    """Not searched yet."""
    _terms: list[frozenset[str]] = field(default_factory=list)
    """Of all of them."""
    _claims: list[tuple[int, _Claim]] = field(default_factory=list)

    def clear(self) -> None:
        self._replies.clear()
        self._claims.clear()
        self._terms.clear()

    def add(self, turn: TurnView) -> None:
        if _makes_claims(turn):
            self._replies.append(turn)
            self._terms.append(turn.reply.terms)

    def may_oppose(self, reply: TextView) -> bool:
        """Whether a reply has enough words in common with one of the earlier ones."""
        many = len(self._terms) > _CLAIMS  # of which to compare each would take longer than the claims
        return many or any(len(reply.terms & terms) >= _SHARED for terms in self._terms)

    def last(self) -> list[tuple[int, _Claim]]:
        """Return turn and claim of the last claims since the user asked for something else."""
        for turn in self._replies:
            self._claims.extend((turn.number, claim) for claim in _claims(turn.reply))
        self._replies.clear()
        del self._claims[:-_CLAIMS]
        return self._claims


def _redirects(user: TextView) -> bool:
    """Whether a message asks for something else or says that something is wrong."""
    reaction = react(user)
    if reaction.change or reaction.self_correction or reaction.other_options:
        return True
    wrong = "called_wrong" in reaction.complaints and bool(user_markers.WRONG.search(user.edges))
    return wrong or "corrected" in reaction.complaints


def _makes_claims(turn: TurnView) -> bool:
    """Whether a reply makes claims that can be compared: no tool ran, and it is no long plan."""
    return not turn.called and turn.reply.units <= 200


@cached_on_view
def _claims(reply: TextView) -> tuple[_Claim, ...]:
    """The sentences with a claim."""
    claims = []
    for sentence in reply.sentences[:_SENTENCES]:
        if sentence.text[-1] not in "?？" and 4 <= sentence.units <= 25 and len(sentence.terms) >= 3:
            figures = frozenset(term for term in sentence.terms if term[0].isdigit())
            negated = _NOT.search(sentence.plain) is not None
            claims.append(_Claim(sentence, negated, figures, sentence.terms - figures))
    return tuple(claims)


def _reversals(turn: TurnView, claims: _Claims, users: Sequence[TextView]) -> Iterator[Signal]:
    """Yield a claim that goes against an earlier one in almost the same words.

    Of two claims one negates the other, or they differ in their one figure, which the user did not name.
    `users` are the user's messages up to the reply.
    """
    earlier = claims.last() if _makes_claims(turn) and claims.may_oppose(turn.reply) else []
    for now in _claims(turn.reply) if earlier else ():
        for number, before in earlier:
            if now.negated is not before.negated:
                mine, other = now.sentence.terms, before.sentence.terms
                shared = len(mine & other)
                opposed = shared >= _SHARED and shared / len(mine | other) >= 0.6
            elif len(now.figures) == 1 == len(before.figures) and now.figures != before.figures:
                shared = len(now.words & before.words)
                alike = shared >= _SHARED and shared / len(now.words | before.words) >= 0.8
                opposed = alike and not any(now.figures & user.terms for user in users)
            else:
                continue
            if opposed:
                if not reply_markers.ACKNOWLEDGES.search(turn.reply.head):
                    quote = now.sentence.text
                    yield finding(turn, "reversed", 0.7, quote, "context_use", "contradiction", turn=number)
                return
