"""The findings of a run by kind, with what is known of each kind, and where to read first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dialogauge.judges.local.evidence import OF_TOOLS, TITLES, KindEvidence, load_evidence
from dialogauge.studies.passing import ByConversation, Row, Smallest


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
    """Commonest first; those that people's ratings or blind reading bear out before all others."""
    first: tuple[ReadFirst, ...]
    """The turns to read first, best first."""


_FIRST: Final = 60
"""Turns to read first that are kept."""
_TENTH: Final = 10
_PLAIN: Final = "No finding: by the fitted model the least satisfying of the turns without one."


class FindingsTally(ByConversation):
    """Takes rows of a judge whose `details` list findings (`signals`), and keeps counts and a few places."""

    def __init__(self, mode: str = "hindsight") -> None:
        """Begin before the first row; `mode` is the judge's, and says which evidence is to the point."""
        super().__init__()
        self._mode = mode
        self._names = False
        self._judged = self._with = 0
        self._unsupported: Counter[str] = Counter()
        self._languages: Counter[str] = Counter()
        self._scored = self._named = 0
        self._turns: Counter[str] = Counter()
        self._conversations: Counter[str] = Counter()
        self._examples: dict[str, tuple[float, FindingExample]] = {}
        self._first = Smallest[ReadFirst](_FIRST)

    def take(self, unit: Sequence[Row]) -> None:
        """Count one conversation."""
        judged = [row for row in unit if not row["failure"]]
        if not judged:
            failures = {row["failure"]["kind"] for row in unit}
            language = unit[0]["details"].get("language") or "other"
            self._unsupported[language] += "unsupported_language" in failures
            return
        self._judged += 1
        self._languages[judged[-1]["details"].get("language", "other")] += 1
        kinds: set[str] = set()
        for row in judged:
            if row["turn"] is not None and (findings := row["details"].get("signals")) is not None:
                self._names = True
                kinds |= self._turn(row, findings)
        self._with += bool(kinds)
        self._conversations.update(kinds)

    def _turn(self, row: Row, findings: Sequence[Mapping[str, Any]]) -> set[str]:
        quotes = {e.get("signal"): e["quote"] for e in reversed(row["evidence"])}
        best: tuple[float, str] = (0.0, _PLAIN)
        weights = load_evidence().weights
        for finding in findings:
            name, strength = finding["name"], finding["strength"]
            self._turns[name] += 1
            place = FindingExample(row["conversation_id"], row["turn"], quotes.get(name, ""), finding["note"])
            if name not in self._examples or strength > self._examples[name][0]:
                self._examples[name] = (strength, place)
            best = max(best, (weights.get(name, 0.0) + strength / 100, finding["note"]))
        order = row["scores"].get("satisfaction")
        if isinstance(order, int | float) and (findings or "order_from" not in row["details"]):
            self._scored += 1
            self._named += bool(findings)
            turn = ReadFirst(row["conversation_id"], row["turn"], best[1])
            self._first.offer((order, row["conversation_id"], row["turn"]), self._judged, turn)
        return {finding["name"] for finding in findings}

    def result(self) -> FindingsSummary | None:
        """Return the summary once all rows have passed; None where no row lists findings."""
        self.close()
        if not self._names and not self._unsupported.total():
            return None
        language = max(self._languages, key=lambda one: self._languages[one], default="other")
        borne_out = load_evidence().borne_out
        kinds = tuple(
            KindSummary(
                kind,
                TITLES.get(kind) or OF_TOOLS.get(kind, kind),
                turns,
                self._conversations[kind],
                load_evidence().best(kind, self._mode, language),
                self._examples[kind][1],
            )
            for kind, turns in sorted(self._turns.most_common(), key=lambda one: one[0] not in borne_out)
        )
        unsupported = {name: n for name, n in self._unsupported.items() if n}
        worth = max(self._named, -(-self._scored // _TENTH))  # a small log is not read in full
        first = tuple(self._first.ascending()[:worth])
        return FindingsSummary(self._judged, self._with, unsupported, kinds, first)
