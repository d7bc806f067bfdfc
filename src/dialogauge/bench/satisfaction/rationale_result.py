"""What the rationale check found: reasons against people's, and where rationales take their words from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

__all__ = ["KINDS", "RationaleCase", "RationaleCheck", "RationaleKind", "ReasonAgreement", "TermUse"]

RationaleKind = Literal["core", "not_core", "off_task"]

KINDS: Final[Mapping[RationaleKind, str]] = {
    "core": "the judge gives the user's own reason",
    "not_core": "the judge names something else than what mattered to the user",
    "off_task": "more of the rationale belongs to the user's other scenarios than to this conversation",
}
"""The three kinds of PersTurnBench's appendix I, and how each is told."""


@dataclass(frozen=True, slots=True)
class RationaleCase:
    """One turn that both the user and the judge are dissatisfied with."""

    turn_id: str
    user: str
    kind: RationaleKind
    user_score: float
    user_reason: str
    judge_score: int
    judge_reason: str
    rationale: str
    here: tuple[str, ...]
    """Terms of the rationale that occur in the conversation."""
    of_sources: tuple[str, ...]
    """Terms that belong to the user's other scenarios."""

    def to_json(self) -> dict[str, Any]:
        """Write the case."""
        return {**asdict(self), "here": list(self.here), "of_sources": list(self.of_sources)}


@dataclass(frozen=True, slots=True)
class ReasonAgreement:
    """How often the judge gives the user's reason, on turns with a reason of both."""

    n: int
    agreed: float | None
    """Share of n; None when n is 0."""
    interval: tuple[float, float] | None
    """95 % by users."""
    kappa: float | None
    """Cohen's, unweighted; None where chance alone agrees always."""
    shuffled: float | None
    """Control: what the judge's own reasons agree when dealt anew, in expectation."""
    constant: float | None
    """Control: always the most frequent reason of the training users."""
    constant_reason: str | None

    def to_json(self) -> dict[str, Any]:
        """Write the figures with their controls."""
        return {
            "n": self.n,
            "agreed": self.agreed,
            "interval": None if self.interval is None else list(self.interval),
            "kappa": self.kappa,
            "controls": {"shuffled": self.shuffled, "constant": self.constant},
            "constant_reason": self.constant_reason,
        }


@dataclass(frozen=True, slots=True)
class TermUse:
    """Terms of rationales by where they occur, summed over rationales."""

    rationales: int = 0
    terms: int = 0
    here: int = 0
    """In the target conversation."""
    sources_only: int = 0
    """In the user's source scenarios and not in the target conversation: the contamination."""
    of_sources: int = 0
    """Of these, the ones that are at home there."""
    neither: int = 0
    off_task: int = 0
    """Rationales that are off-task."""

    def to_json(self) -> dict[str, Any]:
        """Write counts and shares; a share of nothing is null."""
        return {
            **asdict(self),
            "contamination": _share(self.sources_only, self.terms),
            "contamination_of_sources": _share(self.of_sources, self.terms),
            "off_task_share": _share(self.off_task, self.rationales),
        }


@dataclass(frozen=True, slots=True)
class RationaleCheck:
    """The whole check."""

    judged: int
    """Turns that the judge scored."""
    without_rationale: int
    not_comparable: int
    """Rationales without content terms, or in another language than the conversation."""
    table: Mapping[str, Mapping[str, int]]
    """Turns by the user's reason, then by the judge's; `satisfied` is a score of 4 or 5."""
    agreement: ReasonAgreement
    use: TermUse
    chance: TermUse | None
    """Control: the same rationales held against the history of another user; None when there is none."""
    missed: int
    """Turns that the user is dissatisfied with and the judge is not."""
    kinds: Mapping[RationaleKind, int]
    """Cases of each kind, among turns that both are dissatisfied with."""
    examples: Mapping[RationaleKind, Sequence[RationaleCase]]

    def to_json(self) -> dict[str, Any]:
        """Write the check as `summary.json` holds it."""
        return {
            "judged": self.judged,
            "without_rationale": self.without_rationale,
            "not_comparable": self.not_comparable,
            "reasons": {name: dict(row) for name, row in self.table.items()},
            "reason_agreement": self.agreement.to_json(),
            "terms": self.use.to_json(),
            "terms_by_chance": None if self.chance is None else self.chance.to_json(),
            "missed": self.missed,
            "kinds": dict(self.kinds),
            "examples": {kind: [c.to_json() for c in found] for kind, found in self.examples.items()},
        }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
