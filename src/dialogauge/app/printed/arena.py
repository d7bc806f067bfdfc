"""What `arena --json` prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NotRequired, TypedDict

from dialogauge.core import Usage
from dialogauge.stats import Estimate, Standing, TieRule


@dataclass(frozen=True, kw_only=True)
class ArenaUsageJson(Usage):
    """What the judge's calls took."""

    by_role: Mapping[str, Usage]


@dataclass(frozen=True, kw_only=True)
class ArenaAgentJson(Standing):
    """One agent on the leaderboard."""

    elo: float | None
    elo_orders: float | None
    """How far Elo moves with the order of the votes."""
    about: Mapping[str, str | float]


class MatrixJson(TypedDict):
    """Who won how often against whom; nothing without a vote."""

    agents: NotRequired[list[str]]
    wins: NotRequired[list[list[int]]]
    ties: NotRequired[list[list[int]]]


class PositionJson(TypedDict):
    """Meetings judged in both orders."""

    meetings: int
    changed: Estimate
    first: Estimate


class BesideJson(TypedDict):
    """What a referee that knows nothing, or people, say of the same meetings."""

    name: str
    what: str
    agrees: Estimate
    ratings: Mapping[str, float]


class ArenaJson(TypedDict):
    """Agents ranked by votes between two."""

    study: Literal["arena"]
    referee: str
    answers: list[str]
    """What can be said, in sentences."""
    asked: int
    pending: int
    votes: int
    failures: Mapping[str, int]
    """By kind."""
    usage: ArenaUsageJson
    agents: list[ArenaAgentJson]
    groups: list[list[str]]
    """Agents that votes link."""
    matrix: MatrixJson
    ties: TieRule
    ridge: float | None
    tie: float | None
    twice_as_long: Estimate | None
    """Points that being twice as long is worth; null where lengths do not count."""
    position: PositionJson | None
    beside: list[BesideJson]
    missing: Mapping[str, list[str]]
    """By agent: conversations that others have."""
    absent: Mapping[str, list[str]]
    """By agent: runs that failed at their source."""
