"""What a run of task success comes to: figures by domain and agent, what failed, and the checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from dialogauge.judges.success.bleu import corpus_bleu
from dialogauge.stats import Estimate, mean_estimate
from dialogauge.studies.passing import ByConversation

Row = Mapping[str, Any]

ALL: Final = "all"
"""The domain of whole dialogues, where there are several."""
_WITHIN_SHOWN: Final = 12


@dataclass(frozen=True, slots=True)
class SuccessGroup:
    """The dialogues of one agent in one domain."""

    domain: str | None
    """`ALL` for whole dialogues; None where the data does not say."""
    agent: str | None
    dialogues: int
    """Absent ones included."""
    absent: int
    """Runs that failed at their source: they are in no figure."""
    means: Mapping[str, Estimate]
    """By dimension; clustered by task, since one task can be run several times."""


@dataclass(frozen=True, slots=True)
class WithinHit:
    """A required output that stands in a reply only as part of something else."""

    conversation_id: str
    output: str
    turn: int
    quote: str
    success: float | None
    """What the dialogue is counted as all the same."""


@dataclass(frozen=True, slots=True)
class SuccessFigures:
    """All figures beside the summary of the rows."""

    groups: tuple[SuccessGroup, ...]
    failed: Mapping[str, Mapping[str, int]]
    """What failed -> agent -> dialogues; the commonest first. A dialogue can fail in several ways."""
    rewards: tuple[int, int]
    """Rewards that were stored and recomputed, and how many of them are equal."""
    outputs: tuple[int, int]
    """Required outputs that stand in a reply, and how many of them only within something else."""
    within: tuple[WithinHit, ...]
    """The first of these."""
    bleu: float | None
    """0 to 100; None without references."""
    read: Mapping[str, int]
    """Whose reading of the dialogue was taken -> dialogues."""


@dataclass(slots=True)
class _GroupValues:
    dialogues: int = 0
    absent: int = 0
    values: dict[str, list[tuple[float, str]]] = field(default_factory=dict)
    """By dimension the values, each with its task."""

    def add(self, scores: Mapping[str, Any], task: str) -> None:
        self.dialogues += 1
        for name, value in scores.items():
            if not isinstance(value, str):
                self.values.setdefault(name, []).append((float(value), task))

    def means(self) -> dict[str, Estimate]:
        out = {}
        for name, pairs in self.values.items():
            tasks = [task for _, task in pairs]
            unit = "tasks" if len(set(tasks)) < len(tasks) else "conversations"
            out[name] = mean_estimate([value for value, _ in pairs], tasks, unit=unit)
        return out


class SuccessTally(ByConversation):
    """Takes rows while they pass."""

    def __init__(self) -> None:
        """Begin before the first row."""
        super().__init__()
        self._groups: dict[tuple[str | None, str | None], _GroupValues] = {}
        self._failed: dict[str, Counter[str]] = {}
        self._rewards, self._outputs = [0, 0], [0, 0]
        self._within: list[WithinHit] = []
        self._bleu: list[list[int]] = []
        self._read = Counter[str]()

    def take(self, unit: Sequence[Row]) -> None:
        """Take the one row of a conversation."""
        (row,) = unit
        agent, details = row["candidate"], row["details"]
        if row["failure"] is not None:
            for domain in (ALL, row["scenario"]):
                group = self._groups.setdefault((domain, agent), _GroupValues())
                group.dialogues += 1
                group.absent += row["failure"]["kind"] == "absent"
            return
        task, scores = details["task"], row["scores"]
        self._groups.setdefault((ALL, agent), _GroupValues()).add(scores, task)
        if (domains := details.get("domains")) is not None:
            for domain, one in domains.items():
                values = {
                    "inform": one["inform"],
                    "success": one["inform"] and not one["missing"],
                    "inform_raw": one["inform_raw"],
                    "success_raw": one["inform_raw"] and not one["missing_raw"],
                }
                self._groups.setdefault((domain, agent), _GroupValues()).add(values, task)
            self._read[details["read"]] += 1
        else:
            self._groups.setdefault((row["scenario"], agent), _GroupValues()).add(scores, task)
        for reason in details["failed"]:
            self._failed.setdefault(reason, Counter())[agent or ""] += 1
        self._checks(row)

    def _checks(self, row: Row) -> None:
        details = row["details"]
        if (reward := details.get("reward")) is not None:
            self._rewards[0] += 1
            self._rewards[1] += reward["stored"] == reward["recomputed"]
        if "bleu" in details:
            self._bleu.append(details["bleu"])
        quotes = {e["criterion"]: e["quote"] for e in row["evidence"] if "criterion" in e}
        for hit in details.get("outputs", ()):
            self._outputs[0] += hit["turn"] is not None
            self._outputs[1] += hit["within"]
            if hit["within"] and len(self._within) < _WITHIN_SHOWN:
                success = row["scores"]["success"]
                self._within.append(
                    WithinHit(
                        row["conversation_id"],
                        hit["output"],
                        hit["turn"],
                        quotes.get(f"output {hit['output']!r}", ""),
                        None if isinstance(success, str) else float(success),
                    )
                )

    def result(self) -> SuccessFigures:
        """Return the figures of what has passed."""
        domains = {domain for domain, _ in self._groups if domain != ALL}
        if None in domains and self._read:  # of whole dialogues that name no scenario, beside their domains
            domains.discard(None)
        several = len(domains) > 1 or bool(self._read)
        keys = [key for key in self._groups if key[0] in domains or (key[0] == ALL and several)]
        order = sorted(keys, key=lambda key: (key[0] != ALL, key[0] or "", key[1] or ""))
        groups = tuple(
            SuccessGroup(d, a, group.dialogues, group.absent, group.means())
            for d, a in order
            for group in [self._groups[d, a]]
        )
        commonest = sorted(self._failed.items(), key=lambda item: (-item[1].total(), item[0]))
        return SuccessFigures(
            groups,
            {reason: dict(agents.most_common()) for reason, agents in commonest},
            (self._rewards[0], self._rewards[1]),
            (self._outputs[0], self._outputs[1]),
            tuple(self._within),
            corpus_bleu(self._bleu) if self._bleu else None,
            dict(self._read),
        )
