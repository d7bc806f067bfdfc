"""The unit of work: what is queued, stored and resumed."""

from __future__ import annotations

from dataclasses import dataclass, field

from dialogauge.core.conversation import Conversation
from dialogauge.core.digests import digest_text
from dialogauge.core.judgement import Judged, JudgeFailure

__all__ = ["UnitResult", "WorkUnit"]


@dataclass(frozen=True, slots=True)
class WorkUnit:
    """One conversation for one judge, once: (study, target digest, judge digest, repeat, seed)."""

    study: str
    conversation: Conversation
    target_digest: str
    judge_digest: str
    repeat: int = 1
    """1-based."""
    seed: int = 0
    part: str | None = None
    """What of the conversation is judged, and from which circumstances, where a unit is not all of it."""
    key: str = field(init=False, compare=False)
    """The identity by which a stored result is found again: 32 hex digits."""

    def __post_init__(self) -> None:
        """Compute the key, once: it is asked for at every step of the work."""
        parts = [self.study, self.target_digest, self.judge_digest, str(self.repeat), str(self.seed)]
        parts += [] if self.part is None else [self.part]
        object.__setattr__(self, "key", digest_text("\x1f".join(parts)))


@dataclass(frozen=True, slots=True)
class UnitResult:
    """All that came of one unit: one row per judged target."""

    key: str
    repeat: int
    rows: tuple[Judged, ...]

    @property
    def failed(self) -> bool:
        """Whether any of its targets failed."""
        return any(isinstance(row.outcome, JudgeFailure) for row in self.rows)
