"""What is known of each kind of finding: how often it is right, by source, mode and language.

`evidence.json` holds numbers only; `tools/finding_evidence.py` writes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

from dialogauge.core import Conversation
from dialogauge.core.unit import words_digest
from dialogauge.signals import Signal
from dialogauge.stats import Estimate

POOLED: Final = "all sources together"
"""The source of the pooled evidence: what was seen, over what the base of each source leads one to expect."""
BLIND: Final = "blind reading"
"""The source of the evidence of readers who did not see the finding."""


@dataclass(frozen=True, slots=True)
class KindEvidence:
    """What was said of the turns in which one kind of finding was seen, in one source and mode.

    A kind that is too rare where people rated was read blind: then `base` and `lift` are those of turns
    without a finding, read in the same way.
    """

    source: str
    """The data, such as `RecLLMSim dev users`; `POOLED` or `BLIND`."""
    mode: str
    language: str
    fires: int
    """Rated turns (conversations, for rewards) with the finding."""
    share: float
    """Of these, the share that people were dissatisfied with, whose task failed, or that was really at
    fault, 0 to 1."""
    base: float
    """The same share of all turns of the same users or domain, 0 to 1."""
    lift: Estimate
    """`share` over `base`, with an interval clustered by users, or conversations where none is known; of two
    shares of replies for a blind reading."""
    chosen_on: bool = False
    """Whether the kind was chosen with a look at this source."""

    @property
    def words(self) -> str:
        """Say in a sentence what was measured."""
        times = "" if self.lift.value is None else f": {self.lift.value:.1f} times as often"
        if self.lift.interval is not None:
            times += f" [{self.lift.interval[0]:.1f}, {self.lift.interval[1]:.1f}]"
        shares = f"{100 * self.share:.1f} %", f"{100 * self.base:.1f} %"
        if self.source == BLIND:
            return (
                f"Too rare in rated data to measure. Readers (language models) who did not see the finding "
                f"saw a fault in {shares[0]} of {self.fires} such replies, against {shares[1]} of replies "
                f"without a finding{times}."
            )
        if self.source.startswith("tau"):
            return (
                f"In agent runs with rewards ({self.source}), {shares[0]} of {self.fires} such runs failed, "
                f"against {shares[1]} of all runs{times}."
            )
        if self.source == POOLED:
            return (
                f"On data with ratings or rewards, people were dissatisfied (or the task failed) in "
                f"{shares[0]} of {self.fires} such cases, against {shares[1]} of all{times}."
            )
        return (
            f"In rated data ({self.source}), people were dissatisfied with {shares[0]} of {self.fires} such "
            f"turns, against {shares[1]} of all turns{times}."
        )


@dataclass(frozen=True, slots=True)
class EvidenceTable:
    """The table that ships."""

    kinds: Mapping[str, tuple[KindEvidence, ...]]
    weights: Mapping[str, float]
    """By how much a finding lowers the satisfaction, in points of 1 to 5: where to read first."""

    borne_out: frozenset[str] = frozenset()
    """Kinds whose lift is above 1 by an interval in some source, or by the blind reading."""

    def best(self, kind: str, mode: str, language: str) -> KindEvidence | None:
        """Return what says most of the kind, whichever way it points.

        First what was read or rated in all data, by the occurrences; else what is of the language, what the
        kind was not chosen on, and the most seen.
        """
        known = [e for e in self.kinds.get(kind, ()) if e.mode == mode and e.fires >= _TELLING]

        def worth(e: KindEvidence) -> tuple[int, bool, bool, int]:
            in_all = e.fires if e.source in (POOLED, BLIND) else 0
            return in_all, e.language == language, not e.chosen_on, e.fires

        return max(known, key=worth, default=None)

    def penalty(self, signals: Iterable[Signal]) -> float:
        """Return by how much the named findings about a turn lower its satisfaction."""
        return sum(self.weights.get(kind, 0.0) for kind in {s.name for s in signals if s.named})


_TELLING = 5
"""Occurrences below which a share is not shown."""
OF_REPLY: Mapping[str, str] = {
    "repeats_reply": "Repeats an earlier reply",
    "asks_again": "Repeats a question it asked before",
    "asks_for_given": "Asks for something the user already gave",
    "reversed": "Contradicts an earlier reply",
    "refuses": "Declines a request that seems harmless",
    "broken": "Leaked system text or a bare error message",
    "other_language": "Not in the user's language",
    "empty": "Empty reply",
    "ignores_tool_error": "Ignores a failed tool call",
}
"""The kinds that are named of the reply itself, in plain words."""
OF_USER: Mapping[str, str] = {
    "told_already": "User says they already said this",
    "not_answered": "User says the question was not answered",
    "doubted": "User doubts the reply",
    "left_out": "User says something is missing or unusable",
    "wants_other": "User wants something else",
    "wants_detail": "User asks for missing detail",
}
"""Those of the user's next message, which only hindsight reads."""
TITLES: Mapping[str, str] = {**OF_REPLY, **OF_USER}
OF_TOOLS: Mapping[str, str] = {
    "unsourced": "States a figure without a source",
    "out_of_nothing": "Offers something out of an empty result",
    "acts_unasked": "Acts with details that nobody gave",
    "too_many_results": "Presents many results without asking",
}
"""Those of agents that use tools, which only `td-turn` and `td-dialogue` name."""


@cache
def load_evidence() -> EvidenceTable:
    """Return the table that ships with the package."""
    file = resources.files("dialogauge.judges.local") / "evidence.json"
    value = json.loads(file.read_text(encoding="utf-8"))
    kinds = {kind: tuple(map(_evidence, rows)) for kind, rows in value["kinds"].items()}
    return EvidenceTable(kinds, value["weights"], frozenset(value["borne_out"]))


def _evidence(row: Mapping[str, Any]) -> KindEvidence:
    return KindEvidence(**{**row, "lift": Estimate(**row["lift"])})


LOOKED_AT_BYTES: Final = 4
"""Of a `words_digest`, kept for each conversation at which somebody looked to choose signals."""


def looked_at(conversation: Conversation) -> bool:
    """Say whether signals were chosen with a look at this conversation: figures of it are in hindsight.

    `looked_at.bin` holds the first four bytes of each digest; `tools/looked_at.py` writes it.
    """
    return bytes.fromhex(words_digest(conversation)[: 2 * LOOKED_AT_BYTES]) in _looked_at()


@cache
def _looked_at() -> frozenset[bytes]:
    packed = resources.files(__package__).joinpath("looked_at.bin").read_bytes()
    return frozenset(packed[i : i + LOOKED_AT_BYTES] for i in range(0, len(packed), LOOKED_AT_BYTES))
