"""Meetings: two agents on one dialogue, and what a referee says of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Literal, Protocol

from dialogauge.core import (
    Conversation,
    FailureKind,
    Judge,
    JudgeFailure,
    Judgement,
    PairRating,
    Request,
    Score,
    Usage,
    WorkUnit,
    conversation_digest,
    digest,
)
from dialogauge.core.judgement import usage_json
from dialogauge.judges.pairwise import PairJudge, PairVerdict
from dialogauge.judges.rubric.prompt import gathered
from dialogauge.stats import reply_length

Side = Literal["a", "b", "tie"]
DIALOGUES: Final = "dialogues"
"""Under this name a run keeps the digests of what was said: by dialogue, by agent."""
SCORE: Final[Mapping[str, float]] = {"a": 1.0, "tie": 0.5, "b": 0.0}
"""What the agent named first gets."""
_EQUAL: Final = 1e-9
"""Means nearer than this differ by rounding alone."""


@dataclass(frozen=True, eq=False)
class Meeting:
    """Two agents on one dialogue; of a referee who has spoken already, with what it said."""

    dialogue: str | None
    """Its id; None where nobody says: the vote then stands for itself."""
    a: str
    b: str
    conversations: tuple[Conversation, Conversation] | None = None
    qualities: tuple[float | None, float | None] | None = None
    """From 0 to 1, by the scores of a run; None for a dialogue without a score."""
    rating: PairRating | None = None
    """What a person said."""
    arena: str | None = None
    """The earlier arena that it stems from."""
    earlier: Mapping[str, Any] | None = None
    """Its row there."""

    @cached_property
    def lengths(self) -> tuple[int, int] | None:
        """Characters of all that either agent said; None where it is not known."""
        if self.conversations is None:
            before = (self.earlier or {}).get("lengths")
            return None if before is None else (before[0], before[1])
        a, b = (
            sum(reply_length(m.text) for m in conversation.messages if m.role == "assistant")
            for conversation in self.conversations
        )
        return a, b

    @property
    def shown_first(self) -> str | None:
        """Which side a person was shown first, `a` or `b`; None where nobody says."""
        before: str | None = (self.earlier or {}).get("shown_first")
        return before if self.rating is None else self.rating.shown_first

    @cached_property
    def digest(self) -> str:
        """Changes with anything that can change what a referee says."""
        talks = [conversation_digest(c) for c in self.conversations or ()]
        rating = self.rating
        spoken = None if rating is None else [rating.winner, rating.rater, rating.turn]
        before = [self.arena, (self.earlier or {}).get("winner")]
        qualities = self.qualities and list(self.qualities)
        return digest([self.dialogue, self.a, self.b, talks, qualities, spoken, before])


@dataclass(frozen=True, slots=True)
class OrderedVerdict:
    """What a model said when the two stood in one order."""

    first: Literal["a", "b"]
    """Who stood first."""
    winner: Side | None
    """None where it gave no verdict."""
    reason: str | None = None
    failure: FailureKind | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class MeetingVote:
    """What a referee says of a meeting: a vote, or why there is none."""

    meeting: Meeting
    winner: Side | None
    """None where there is no verdict."""
    rater: str | None = None
    orders: tuple[OrderedVerdict, ...] = ()
    """Of a model that was asked in both orders."""
    failure: tuple[FailureKind, str] | None = None
    usage: Usage = field(default_factory=Usage)
    item: int = 0
    """Its place among the votes of a unit."""

    @property
    def failed(self) -> bool:
        """Whether there is no vote."""
        return self.winner is None

    def to_row(self, unit: WorkUnit) -> dict[str, Any]:
        """Write the vote as a row."""
        m = self.meeting
        kind, message = self.failure or (None, None)
        return {
            "conversation_id": m.dialogue,
            "item": self.item,
            "arena": m.arena,
            "a": m.a,
            "b": m.b,
            "winner": self.winner,
            "rater": self.rater,
            "shown_first": m.shown_first,
            "orders": [asdict(one) for one in self.orders],
            "qualities": m.qualities and list(m.qualities),
            "lengths": m.lengths and list(m.lengths),
            "failure": None if kind is None else {"kind": kind, "message": message},
            "judge": (m.earlier or {}).get("judge", unit.judge),
            "usage": usage_json(self.usage),
        }


class Referee(Protocol):
    """Says who did better."""

    @property
    def name(self) -> str:
        """What pages call it."""

    @property
    def digest(self) -> str:
        """Changes with anything that can change a vote."""

    def describe(self) -> Mapping[str, Any]:
        """Return its settings for the manifest, without secrets."""

    async def vote(self, meeting: Meeting) -> MeetingVote:
        """Say who did better; raises as a judge does where going on makes no sense."""


@dataclass(frozen=True, slots=True)
class PeoplesVotes:
    """People, who have voted already."""

    name: str = "people"
    digest: str = digest("votes of people")

    def describe(self) -> Mapping[str, Any]:
        """Nothing to add."""
        return {}

    async def vote(self, meeting: Meeting) -> MeetingVote:
        """Return what the person said."""
        rating = meeting.rating
        winner = {"a": "a", "b": "b"}.get("" if rating is None else rating.winner, "tie")
        return MeetingVote(meeting, winner, None if rating is None else rating.rater)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Earlier:
    """The referees of earlier arenas: their votes are taken over as they stand."""

    name: str = "earlier arenas"
    digest: str = digest("votes of earlier arenas")

    def describe(self) -> Mapping[str, Any]:
        """Nothing to add."""
        return {}

    async def vote(self, meeting: Meeting) -> MeetingVote:
        """Return what was said."""
        row = meeting.earlier or {}
        orders = tuple(OrderedVerdict(**one) for one in row.get("orders") or ())
        failure = row.get("failure")
        why = None if failure is None else (failure["kind"], failure["message"])
        return MeetingVote(meeting, row.get("winner"), row.get("rater"), orders, why)


@dataclass(frozen=True, slots=True)
class MeanScores:
    """The scores of judged runs: who has the better mean on the dialogue."""

    judge: str
    """The judge of the runs."""
    judge_digest: str
    dimensions: tuple[str, ...]

    @property
    def name(self) -> str:
        """Whose scores."""
        return f"scores of {self.judge}"

    @property
    def digest(self) -> str:
        """By judge and dimensions; the scores themselves are part of a meeting."""
        return digest(["mean scores", self.judge_digest, list(self.dimensions)])

    def describe(self) -> Mapping[str, Any]:
        """Return what the means are of."""
        return {"scores_of": self.judge, "dimensions": list(self.dimensions)}

    async def vote(self, meeting: Meeting) -> MeetingVote:
        """Compare the means."""
        return _by_quality(meeting)


@dataclass(frozen=True, slots=True)
class JudgedHere:
    """A judge that costs nothing: the better mean of its scores of the replies."""

    judge: Judge
    _known: dict[str, float | None] = field(default_factory=dict)
    """By digest of a conversation its mean."""

    @property
    def name(self) -> str:
        """That of the judge."""
        return f"scores of {self.judge.name}"

    @property
    def digest(self) -> str:
        """That of the judge."""
        return digest(["mean scores", self.judge.digest])

    def describe(self) -> Mapping[str, Any]:
        """Return what the judge says of itself."""
        return self.judge.describe()

    async def vote(self, meeting: Meeting) -> MeetingVote:
        """Judge both dialogues, and compare the means."""
        if meeting.conversations is None:
            return MeetingVote(meeting, None, failure=("unreadable", "what was said is not in the data"))
        a, b = meeting.conversations
        return _by_quality(replace(meeting, qualities=(await self._quality(a), await self._quality(b))))

    async def _quality(self, conversation: Conversation) -> float | None:
        key = conversation_digest(conversation)
        if key not in self._known:
            rows = await self.judge.judge(Request(conversation))
            scales = {d.name: d.scale for d in self.judge.dimensions if d.level == "turn"}
            self._known[key] = mean_quality(
                scales[name].quality(score.value)
                for row in rows
                if isinstance(row.outcome, Judgement) and row.target.level == "turn"
                for name, score in row.outcome.scores.items()
                if isinstance(score, Score) and name in scales
            )
        return self._known[key]


@dataclass(frozen=True, slots=True)
class AskedTwice:
    """A model that compares two dialogues, asked in both orders: where it disagrees with itself is a tie."""

    judge: PairJudge

    @property
    def name(self) -> str:
        """That of the judge."""
        return self.judge.name

    @property
    def digest(self) -> str:
        """That of the judge."""
        return self.judge.digest

    def describe(self) -> Mapping[str, Any]:
        """Return what the judge says of itself."""
        return self.judge.describe()

    async def vote(self, meeting: Meeting) -> MeetingVote:
        """Ask in both orders."""
        if meeting.conversations is None:
            return MeetingVote(meeting, None, failure=("unreadable", "what was said is not in the data"))
        a, b = (talk.blinded() for talk in meeting.conversations)
        ahead, swapped = await gathered([self.judge.compare(a, b), self.judge.compare(b, a)])
        orders = _ordered(ahead, "a"), _ordered(swapped, "b")
        usage = ahead.usage + swapped.usage
        for one in orders:
            if one.winner is None:
                failure = one.failure or "judge_error", one.message or ""
                return MeetingVote(meeting, None, orders=orders, failure=failure, usage=usage)
        winner = orders[0].winner if orders[0].winner == orders[1].winner else "tie"
        return MeetingVote(meeting, winner, orders=orders, usage=usage)


def _ordered(verdict: PairVerdict, first: Literal["a", "b"]) -> OrderedVerdict:
    """Return a verdict with the sides named as the meeting names them."""
    if isinstance(verdict.winner, JudgeFailure):
        return OrderedVerdict(first, None, None, verdict.winner.kind, verdict.winner.message)
    turned: Mapping[str, Side] = {"a": "a", "b": "b"} if first == "a" else {"a": "b", "b": "a"}
    return OrderedVerdict(first, turned.get(verdict.winner, "tie"), verdict.reason)


def _by_quality(meeting: Meeting) -> MeetingVote:
    a, b = meeting.qualities or (None, None)
    if a is None or b is None:
        without = meeting.a if a is None else meeting.b
        return MeetingVote(meeting, None, failure=("judge_error", f"the dialogue of {without} has no score"))
    return MeetingVote(meeting, "tie" if abs(a - b) < _EQUAL else "a" if a > b else "b")


def mean_quality(values: Iterable[float]) -> float | None:
    """Return the mean of qualities; None of none."""
    known = list(values)
    return sum(known) / len(known) if known else None
