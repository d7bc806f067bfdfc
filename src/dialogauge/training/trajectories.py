"""What a lookahead search leaves: committed trajectories, and the segments that were rolled out at each step.

They stand in the rows of the run. The prefix of step k is `conversation.messages[:step.start]`, the same for
all its candidates; what was chosen and what was not may have other user messages too. Source: Algorithm 1 of
DynSess.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypedDict

from dialogauge.agents import Ended
from dialogauge.core import Conversation, JudgeFailure, Message, Role, StoreError, round_score
from dialogauge.core.shape import Misfit, read_as
from dialogauge.runs import Row, StoredRun
from dialogauge.runs.shapes import StoredUsage

SEARCH: Final = "lookahead"
"""The kind of run."""


SearchEnded = Literal["turns", "user", "failed"]
"""How a scenario ended: all segments were committed, the user left before, or no candidate was left."""


class SaidMessage(TypedDict):
    """A message of a rollout, in OpenAI form."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class CandidateSegment:
    """What one candidate made of a step: a new segment behind the committed prefix, and its score."""

    name: str
    seed: int
    """Of the rollout."""
    messages: tuple[SaidMessage, ...]
    """The new segment alone; it begins with a user message."""
    turns: int
    """Replies in it."""
    ended: Ended
    truncated: int
    """Replies that the limit of tokens cut off."""
    score: float | None
    """The mean of the dimensions; None where rollout or judgement failed."""
    scores: Mapping[str, float]
    """By dimension, the mean of the repeats."""
    criteria: Mapping[str, tuple[str, ...]]
    """By list of criteria those that the judge found, once for each repeat that found them."""
    usage: Mapping[str, StoredUsage]
    """What it took, by role: `simulator`, `candidate`, `judge`."""
    failure: JudgeFailure | None = None
    """Why it dropped out."""

    @property
    def played(self) -> bool:
        """Whether neither side failed: it was judged, whatever came of that."""
        return self.turns > 0 and self.ended in ("turns", "user")


@dataclass(frozen=True, slots=True)
class SearchStep:
    """One step: segments of several candidates under one prefix, and which of them was committed."""

    number: int
    """From 1."""
    start: int
    """The index of the segment's first message in the committed conversation."""
    winner: str | None
    """Whose segment was committed; None where none was left."""
    candidates: tuple[CandidateSegment, ...]
    """In the order of the draw."""

    @property
    def committed(self) -> CandidateSegment | None:
        """The winner's segment."""
        return next((c for c in self.candidates if c.name == self.winner), None)

    def margin(self, loser: CandidateSegment) -> float | None:
        """Return by how much the winner's score is above another's; None where one has no score."""
        best = self.committed
        if best is None or best.score is None or loser.score is None:
            return None
        return round_score(best.score - loser.score)

    def pairs(self, min_margin: float) -> tuple[tuple[CandidateSegment, CandidateSegment], ...]:
        """Return the winner beside each loser whose score is lower, by at least `min_margin`."""
        best, margins = self.committed, ((c, self.margin(c)) for c in self.candidates)
        return tuple((best, c) for c, margin in margins if best and margin and margin >= min_margin)


@dataclass(frozen=True, slots=True)
class Trajectory:
    """What the search made of one scenario."""

    scenario: str
    """Its id."""
    conversation: Conversation
    """What was committed: instructions, greeting or context, and the segments of all winners."""
    steps: tuple[SearchStep, ...]
    judge: Mapping[str, Any]
    """Who scored: `name`, `digest`, `rubric`, and what the judge says of itself."""
    failure: JudgeFailure | None = None
    """Why it ended before its last step; the steps before hold."""


class SearchDetails(TypedDict):
    """What the row of a scenario holds under `details`."""

    steps: tuple[SearchStep, ...]
    ended: SearchEnded
    committed: tuple[SaidMessage, ...]
    """All that was committed, where the scenario failed: the run then keeps no conversation. Else empty."""


def spoken(message: Message) -> SaidMessage:
    """Return a message of a session as a row holds it."""
    return {"role": message.role, "content": message.text}


def search_details(row: Row) -> SearchDetails:
    """Return what the row of a scenario holds; StoreError for one that another version wrote."""
    try:
        return read_as(row["details"], SearchDetails)
    except Misfit as error:
        msg = f"the row of the scenario {row['conversation_id']!r} cannot be read: {error}"
        raise StoreError(msg, hint="another version of dialogauge wrote it: search anew") from error


def read_trajectories(run: StoredRun) -> Iterator[Trajectory]:
    """Yield what a run of `dialogauge lookahead` holds, scenario by scenario; masked if it is to be.

    Those that failed come with the steps before. Raises StoreError for a row that another version wrote.
    """
    judge: Mapping[str, Any] = run.manifest.facts.get("scored_by", {})
    for conversation, rows in run.judged():
        for row in rows:
            details, failure = search_details(row), row["failure"]
            if failure is not None:
                messages = tuple(Message(m["role"], m["content"]) for m in details["committed"])
                conversation = replace(conversation, messages=messages)
                failure = JudgeFailure(failure["kind"], failure["message"], failure.get("raw"))
            scenario = conversation.scenario or conversation.id
            yield Trajectory(scenario, conversation, details["steps"], judge, failure)
