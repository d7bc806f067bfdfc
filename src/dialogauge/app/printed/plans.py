"""What `--dry-run --json` prints."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from dialogauge.llm import Expected


class PlanJson(TypedDict):
    """What a command would do."""

    run: str
    """The run directory."""
    judge: str
    left: int
    """Of what there is, so much the run does not hold yet."""
    asking: NotRequired[Expected]
    faults: list[str]


class JudgePlanJson(PlanJson):
    """What `judge` would do."""

    conversations: int
    units: int
    """Conversations times repeats."""


class ArenaPlanJson(PlanJson):
    """What `arena` would do."""

    agents: int
    meetings: int


class SatisfactionPlanJson(PlanJson):
    """What `satisfaction` would do."""

    turns: int


class ReplayPlanJson(PlanJson):
    """What `replay run` would do."""

    items: int
    candidates: int
    replies: int
    """That models would be asked for."""
    scores: int
    """Replies that would be scored."""


class ComparePlanJson(TypedDict):
    """What `compare` would judge."""

    planted: int
    """Conversations with a planted fault."""
    asking: NotRequired[Expected]


class TrustPlanJson(PlanJson):
    """What `trust` would judge again."""

    variants: int
    """Conversations of the sample without their scenario, and with another's."""
    planted: int
    """Conversations with a planted fault."""
