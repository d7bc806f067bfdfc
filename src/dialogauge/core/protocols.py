"""The seams where rooms meet without knowing each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from dialogauge.core.conversation import Conversation
from dialogauge.core.judgement import Judged, Level
from dialogauge.core.scales import ONE_TO_FIVE, Scale

__all__ = ["DimensionSpec", "Judge", "PlainDimension"]


class DimensionSpec(Protocol):
    """What statistics and pages need to know of a dimension."""

    @property
    def name(self) -> str:
        """The key under which its scores stand."""

    @property
    def level(self) -> Level:
        """The level at which it is judged."""

    @property
    def scale(self) -> Scale:
        """The scale of its scores."""


@dataclass(frozen=True, slots=True)
class PlainDimension:
    """A dimension that is no more than what `DimensionSpec` asks for."""

    name: str
    level: Level
    scale: Scale = ONE_TO_FIVE


class Judge(Protocol):
    """Judges one conversation: every target in it, in one go."""

    @property
    def name(self) -> str:
        """What rows and pages call this judge."""

    @property
    def digest(self) -> str:
        """Changes with anything that can change a judgement: prompts, model, settings, coefficients."""

    @property
    def dimensions(self) -> tuple[DimensionSpec, ...]:
        """The dimensions it scores."""

    def describe(self) -> Mapping[str, Any]:
        """Return the settings for the manifest, as plain JSON values, without secrets."""

    async def judge(self, conversation: Conversation, *, repeat: int, seed: int) -> tuple[Judged, ...]:
        """Judge every target of the conversation.

        Returns one `Judged` per target: each replied turn in order, then the conversation. A target
        that cannot be judged has a `JudgeFailure`. Raises `EndpointError` or `BudgetSpent` only when
        going on makes no sense for any conversation.
        """
