"""The unit of work: what is queued, stored and resumed."""

from __future__ import annotations

from dataclasses import dataclass, field

from dialogauge.core.conversation import Conversation
from dialogauge.core.digests import digest_text
from dialogauge.core.judgement import Judged, JudgeFailure

__all__ = ["UnitResult", "WorkUnit", "unit_key"]


def unit_key(
    study: str, target_digest: str, judge_digest: str, repeat: int, seed: int, part: str | None = None
) -> str:
    """Return the identity by which the stored result of a unit is found again: 32 hex digits."""
    whole = f"{study}\x1f{target_digest}\x1f{judge_digest}\x1f{repeat}\x1f{seed}"
    return digest_text(whole if part is None else f"{whole}\x1f{part}")


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
    """`unit_key` of the fields."""

    def __post_init__(self) -> None:
        """Compute the key, once: it is asked for at every step of the work."""
        key = unit_key(self.study, self.target_digest, self.judge_digest, self.repeat, self.seed, self.part)
        object.__setattr__(self, "key", key)


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
