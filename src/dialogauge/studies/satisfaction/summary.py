"""What came of a satisfaction study: the records that `summary.json` is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dialogauge.core import InputError
from dialogauge.core.json_keys import INSIDE, keys
from dialogauge.core.protocols import RatedBlock
from dialogauge.studies.evidence import NOTHING_CHECKED, RunEvidence
from dialogauge.studies.judging.gate import GateResult
from dialogauge.studies.judging.people import Light
from dialogauge.studies.judging.summary import Summary
from dialogauge.studies.judging.transcripts import ShownConversations
from dialogauge.studies.satisfaction.behaviour import Drift
from dialogauge.studies.satisfaction.blocks import StudyData
from dialogauge.studies.satisfaction.evaluation import Evaluation, GuardCounts
from dialogauge.studies.satisfaction.rationale import RationaleCheck
from dialogauge.studies.satisfaction.signals import JoinedScores


@dataclass(frozen=True, slots=True)
class UsersAndTurns:
    """So many users, and rated turns of theirs."""

    users: int
    turns: int

    @classmethod
    def of(cls, blocks: Sequence[RatedBlock]) -> UsersAndTurns:
        """Count those of some blocks."""
        return cls(len({b.view.user for b in blocks}), sum(len(b.ratings) for b in blocks))


@keys(known=INSIDE)
@dataclass(frozen=True, slots=True)
class StudyCounts:
    """What the figures stand on."""

    known: UsersAndTurns
    blocks: int
    """Of one user and one scenario."""
    population: UsersAndTurns
    """The training users."""
    without_history: UsersAndTurns
    left_out: Mapping[str, int]
    rating_faults: int

    @classmethod
    def of(cls, data: StudyData, faults: int) -> StudyCounts:
        """Count what is judged, and what is known; `faults` are ratings that cannot be used."""
        known = [b for b in data.blocks if b.view.history]
        return cls(
            UsersAndTurns.of(known),
            len(known),
            UsersAndTurns.of(data.others.blocks),
            UsersAndTurns.of([b for b in data.blocks if not b.view.history]),
            data.left_out,
            faults,
        )


@keys(evaluation=INSIDE, guard="guard?")
@dataclass(frozen=True, slots=True)
class Settled:
    """The part of the summary that is known before the rows are counted."""

    study: StudyCounts
    signals: tuple[JoinedScores, ...]
    """What became of the scores of stored runs that `local-user` reads."""
    evaluation: Evaluation
    boundary_only: tuple[str, ...] | None
    """The figures that say nothing of a judge that only knows satisfied and dissatisfied."""
    rationale: RationaleCheck | None
    drift: Drift
    guard: GuardCounts | None


@keys(rows=INSIDE, settled=INSIDE)
@dataclass(frozen=True, slots=True)
class SatisfactionSummary:
    """What came of judging each reply for its own user."""

    rows: Summary
    settled: Settled
    gates: tuple[GateResult, ...] = ()
    light: Light | None = None
    """Whether the judge agrees with its users: the answer of `judge`, over every turn that was judged."""
    evidence: RunEvidence = NOTHING_CHECKED
    """Whether its satisfaction is checked."""


@dataclass(frozen=True, slots=True)
class SatisfactionResult:
    """What came of the study."""

    summary: Summary
    rating_faults: tuple[InputError, ...]
    """Ratings that cannot be used: what they rate counts as unrated."""
    failures: Mapping[str, int]
    """How many turns failed, by the message, the most frequent first; numbers make no difference."""
    figures: Mapping[str, Any]
    """What `summary.json` holds: `SatisfactionSummary`."""
    sample: ShownConversations
    """What the page shows of the conversations."""

    def to_json(self) -> dict[str, Any]:
        """Return `summary.json`."""
        return dict(self.figures)
