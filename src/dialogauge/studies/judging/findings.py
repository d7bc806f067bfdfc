"""The findings of a run by kind, with what is known of each kind, and where to read first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from dialogauge.judges.local.evidence import KindEvidence


@dataclass(frozen=True, slots=True)
class FindingExample:
    """One finding, with its words."""

    conversation_id: str
    turn: int
    quote: str
    note: str
    """What is wrong, in the conversation's language."""


@dataclass(frozen=True, slots=True)
class KindSummary:
    """One kind of finding in a run."""

    kind: str
    title: str
    """In plain English: `The user doubts the reply`."""
    turns: int
    conversations: int
    evidence: KindEvidence | None
    """Measured where people rated; None for a kind that was only read."""
    example: FindingExample

    def to_json(self) -> dict[str, Any]:
        """Write the kind as it stands in `summary.json`."""
        plain = {name: getattr(self, name) for name in ("kind", "title", "turns", "conversations")}
        evidence = None if self.evidence is None else self.evidence.to_json()
        return {**plain, "evidence": evidence, "example": asdict(self.example)}


@dataclass(frozen=True, slots=True)
class ReadFirst:
    """A turn to read, and why."""

    conversation_id: str
    turn: int
    reason: str


@dataclass(frozen=True, slots=True)
class FindingsSummary:
    """What a judge that names kinds of findings saw in a run."""

    conversations: int
    """Requested, with a reply, and in a language that the judge was checked on."""
    with_finding: int
    """Of these, conversations with at least one named finding."""
    not_judged: Mapping[str, int]
    """Language -> conversations in a language that the judge was not checked on."""
    kinds: tuple[KindSummary, ...]
    """Commonest first."""
    first: tuple[ReadFirst, ...]
    """The turns to read first, best first."""

    def to_json(self) -> dict[str, Any]:
        """Write the findings as they stand in `summary.json`."""
        return {
            "conversations": self.conversations,
            "with_finding": self.with_finding,
            "not_judged": dict(self.not_judged),
            "kinds": [kind.to_json() for kind in self.kinds],
            "first": [asdict(place) for place in self.first],
        }
