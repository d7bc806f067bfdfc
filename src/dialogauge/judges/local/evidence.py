"""What is known of each kind of finding: how often it is right, by source, mode and language.

`evidence.json` holds numbers only; `tools/finding_evidence.py` writes it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from typing import Any, Final

from dialogauge.core import Conversation
from dialogauge.core.unit import words_digest
from dialogauge.core.values import Value
from dialogauge.signals import Signal
from dialogauge.stats import Estimate

POOLED: Final = "all sources together"
"""The source of the pooled evidence: what was seen, over what the base of each source leads one to expect."""
BLIND: Final = "blind reading"
"""The source of the evidence of readers who did not see the finding."""
PLANTED: Final = "planted faults"
"""The source of the evidence of kinds that are known by how they come about: planted in sound replies."""
HERE: Final = "this data"
"""The source of what a run's own ratings say of a kind."""
_APART: Final = frozenset((POOLED, BLIND, PLANTED))


class KindEvidence(Value):
    """What was said of the turns in which one kind of finding was seen, in one source and mode.

    Of a blind reading `base` and `lift` are those of turns without a finding, read in the same way. Of
    planted faults `share` is that of the planted replies with the finding, `base` that of the sound ones.
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
        if self.source == PLANTED:
            return (
                f"Planted in replies of data that the rule had not seen, it was found in {shares[0]}; "
                f"{shares[1]} of the sound replies there had it."
            )
        if self.source == HERE:
            return (
                f"In this data, {shares[0]} of {self.fires} such turns were rated poor, against {shares[1]} "
                f"of all rated turns{times}."
            )
        return (
            f"In rated data ({self.source}), people were dissatisfied with {shares[0]} of {self.fires} such "
            f"turns, against {shares[1]} of all turns{times}."
        )


class MissedEvidence(Value):
    """Of the targets of a source that people rated poor, or whose task failed, how many had no finding."""

    source: str
    mode: str
    language: str
    what: str
    """`turns` or `runs`."""
    poor: int
    without: int
    chosen_on: bool = False


class EvidenceTable(Value):
    """The table that ships."""

    kinds: Mapping[str, tuple[KindEvidence, ...]]
    weights: Mapping[str, float]
    """By how much a finding lowers the satisfaction, in points of 1 to 5: where to read first."""

    borne_out: frozenset[str] = frozenset()
    """Kinds whose lift is above 1 by an interval in some source, or by the blind reading."""

    missed: tuple[MissedEvidence, ...] = ()
    """How many poor targets have no finding, by source."""

    def best(self, kind: str, mode: str, language: str) -> KindEvidence | None:
        """Return what says most of a kind, from data on which nothing was chosen, whichever way it points.

        All kinds are cited from one source, so that their bases are one: of the language where there is one,
        and of those the one with the most. Kinds known by how they come about are cited from planted faults.
        """
        rows = {
            k: [e for e in every if e.mode == mode and not e.chosen_on] for k, every in self.kinds.items()
        }
        sizes: Counter[tuple[bool, str]] = Counter()
        for e in (e for every in rows.values() for e in every if e.source not in _APART):
            sizes[e.language == language, e.source] += e.fires
        house = max(sizes, key=lambda key: (key[0], sizes[key]), default=(False, ""))[1]
        telling = (e for e in rows.get(kind, ()) if e.source == PLANTED or e.fires >= TELLING)
        cited = [e for e in telling if e.source in (PLANTED, house)]
        return min(cited, key=lambda e: e.source != PLANTED, default=None)

    def penalty(self, signals: Iterable[Signal]) -> float:
        """Return by how much the named findings about a turn lower its satisfaction."""
        return sum(self.weights.get(kind, 0.0) for kind in {s.name for s in signals if s.named})


TELLING: Final = 5
"""Occurrences below which a share is not shown."""
OF_REPLY: Mapping[str, str] = {
    "asks_for_given": "Asks for something the user already gave",
    "reversed": "Contradicts an earlier reply",
    "refuses": "Declines a request that seems harmless",
    "broken": "Leaked system text or a bare error message",
    "other_language": "Not in the user's language",
    "empty": "Empty reply",
    "ignores_tool_error": "Ignores a failed tool call",
    "cut_off": "Stops in the middle",
    "echoes": "Only says the request again",
    "miscopied": "States a code that nothing holds",
}
"""The kinds that are named of the reply itself, in plain words."""
OF_USER: Mapping[str, str] = {
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
    missed = tuple(MissedEvidence(**row) for row in value["missed"])
    return EvidenceTable(kinds, value["weights"], frozenset(value["borne_out"]), missed)


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
