"""What is known of each kind of finding: how often it is right, by source, mode and language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dialogauge.stats import Estimate


@dataclass(frozen=True, slots=True)
class KindEvidence:
    """What people said of the turns in which one kind of finding was seen, in one source and mode."""

    source: str
    """The data: `RecLLMSim dev users`."""
    mode: str
    language: str
    fires: int
    """Rated turns with the finding."""
    share: float
    """Of these, the share that people were dissatisfied with, or whose task failed, 0 to 1."""
    base: float
    """The share of all turns of the same users or domains, 0 to 1."""
    lift: Estimate
    """`share` over `base`, with an interval clustered by users, or conversations where none is known."""

    def to_json(self) -> dict[str, Any]:
        """Write the evidence; what is undefined is null."""
        plain = {
            name: getattr(self, name) for name in ("source", "mode", "language", "fires", "share", "base")
        }
        return {**plain, "lift": self.lift.to_json()}
