"""What a run of sessions comes to: how many were played, how each ended, and how long the replies were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dialogauge.core.json_keys import as_json, keys
from dialogauge.studies.simulator.check import SimulatorCheck


@dataclass(frozen=True, slots=True)
class SessionGroup:
    """The sessions of a candidate, or of one category."""

    name: str
    requested: int
    played: int
    ended: Mapping[str, int]
    """By how: `turns`, `user`, `candidate_failed`, `simulator_failed`; they sum to `requested`."""
    failures: Mapping[str, int]
    """By kind, of those that failed."""
    turns: int
    """Replies in sessions that were played."""
    length: float | None
    """Mean characters of a reply; None without a reply."""
    truncated: int
    """Replies that the limit of tokens cut off."""
    asked_again: int
    """Empty messages that were asked for once more."""


@keys(simulator="simulator?")
@dataclass(frozen=True, slots=True)
class SessionsResult:
    """What a run of sessions comes to."""

    candidates: Sequence[SessionGroup]
    categories: Sequence[SessionGroup] = ()
    """Over all candidates; empty where no scenario names one."""
    pending: int = 0
    """Sessions that are not played yet: the budget was spent, or the run was interrupted."""
    simulator: SimulatorCheck | None = None
    """What the simulated users do wrong; None where no model played a user."""

    @property
    def requested(self) -> int:
        """Sessions that came to an end, one way or another."""
        return sum(group.requested for group in self.candidates)

    @property
    def failed_share(self) -> float:
        """Share of them in which one side failed."""
        failed = sum(group.requested - group.played for group in self.candidates)
        return failed / self.requested if self.requested else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return `summary.json`."""
        written: dict[str, Any] = as_json(self)
        return written


@dataclass(slots=True)
class _SessionTally:
    ended: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    turns: int = 0
    length: int = 0
    truncated: int = 0
    asked_again: int = 0

    def add(self, row: Mapping[str, Any]) -> None:
        failure, details = row["failure"], row["details"]
        self.ended[details["ended"]] += 1
        if failure is not None:
            self.failures[failure["kind"]] += 1
            return
        self.turns += details["turns"]
        self.length += details["length"]
        self.truncated += details["truncated"]
        self.asked_again += details["asked_again"]

    def group(self, name: str) -> SessionGroup:
        return SessionGroup(
            name,
            self.ended.total(),
            self.ended.total() - self.failures.total(),
            dict(self.ended.most_common()),
            dict(self.failures.most_common()),
            self.turns,
            self.length / self.turns if self.turns else None,
            self.truncated,
            self.asked_again,
        )


def tally_sessions(rows: Iterable[Mapping[str, Any]], pending: int = 0) -> SessionsResult:
    """Bring the rows of sessions to figures by candidate and by category."""
    candidates: dict[str, _SessionTally] = {}
    categories: dict[str, _SessionTally] = {}
    for row in rows:
        candidates.setdefault(row["candidate"], _SessionTally()).add(row)
        if category := row["details"].get("category"):
            categories.setdefault(category, _SessionTally()).add(row)
    return SessionsResult(
        [tally.group(name) for name, tally in candidates.items()],
        [tally.group(name) for name, tally in categories.items()],
        pending,
    )
