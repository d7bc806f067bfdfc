"""What a run of task success comes to: figures by domain and agent, what failed, and the checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Final

from dialogauge.stats import Estimate, mean_estimate
from dialogauge.studies.passing import ByConversation

Row = Mapping[str, Any]

ALL: Final = "all"
"""The domain of whole dialogues, where there are several."""
_WITHIN_SHOWN: Final = 12
_REWARD: Final = "reward"


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
    successes: int = 0
    """Dialogues that count as a success."""
    reward: Estimate | None = None
    """The mean reward, where some rewards lie between 0 and 1."""
    weighted: bool = False
    """Whether its domains are weighted to the mix of all agents that have every domain."""


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
    read: Mapping[str, int]
    """Whose reading of the dialogue was taken -> dialogues."""


@dataclass(slots=True)
class _GroupValues:
    dialogues: int = 0
    absent: int = 0
    checked: int = 0
    values: dict[str, list[tuple[float, str, str | None]]] = field(default_factory=dict)
    """By dimension the values, each with its task and its domain."""

    def add(self, scores: Mapping[str, Any], task: str, domain: str | None) -> None:
        self.dialogues += 1
        self.checked += 1
        for name, value in scores.items():
            if not isinstance(value, str):
                self.values.setdefault(name, []).append((float(value), task, domain))

    def means(self, weights: Mapping[str | None, float] | None) -> dict[str, Estimate]:
        """Return the means by dimension, each dialogue weighted by its domain where weights are given."""
        out = {}
        for name, known in self.values.items():
            values, tasks, domains = zip(*known, strict=True)
            unit = "tasks" if len(set(tasks)) < len(tasks) else "conversations"
            each = None if weights is None else [weights[domain] for domain in domains]
            out[name] = mean_estimate(values, tasks, weights=each, unit=unit)
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
        task, scores, domain = details["task"], row["scores"], row["scenario"]
        if "reward" in details:
            scores = {**scores, _REWARD: details["reward"]["stored"]}
        self._groups.setdefault((ALL, agent), _GroupValues()).add(scores, task, domain)
        if (domains := details.get("domains")) is not None:
            for part, one in domains.items():
                values = {"inform": one["inform"], "success": one["inform"] and not one["missing"]}
                self._groups.setdefault((part, agent), _GroupValues()).add(values, task, part)
            self._read[details["read"]] += 1
        else:
            self._groups.setdefault((domain, agent), _GroupValues()).add(scores, task, domain)
        for reason in details["failed"]:
            self._failed.setdefault(reason, Counter())[agent or ""] += 1
        self._checks(row)

    def _checks(self, row: Row) -> None:
        details = row["details"]
        reward = details.get("reward")
        if reward is not None and reward["recomputed"] is not None:
            self._rewards[0] += 1
            self._rewards[1] += reward["stored"] == reward["recomputed"]
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
        groups = tuple(self._group(d, a, domains) for d, a in order)
        commonest = sorted(self._failed.items(), key=lambda item: (-item[1].total(), item[0]))
        return SuccessFigures(
            groups,
            {reason: dict(agents.most_common()) for reason, agents in commonest},
            (self._rewards[0], self._rewards[1]),
            (self._outputs[0], self._outputs[1]),
            tuple(self._within),
            dict(self._read),
        )

    def _group(self, domain: str | None, agent: str | None, domains: Set[str | None]) -> SuccessGroup:
        group = self._groups[domain, agent]
        weights = self._weights(agent, domains) if domain == ALL and not self._read else None
        means = group.means(weights)
        reward = means.pop(_REWARD, None)
        parts = any(0 < value < 1 for value, _, _ in group.values.get(_REWARD, ()))
        successes = round(sum(value for value, _, _ in group.values.get("success", ())))
        return SuccessGroup(
            domain, agent, group.dialogues, group.absent, means, successes, reward if parts else None,
            weights is not None,
        )  # fmt: skip

    def _weights(self, agent: str | None, domains: Set[str | None]) -> dict[str | None, float] | None:
        """Return how often a dialogue of each domain counts, for an agent to have the mix of the others.

        The mix is that of the agents that have all domains, absent runs included; None where an agent has it
        already, or lacks a domain.
        """
        agents = {name for _, name in self._groups}
        complete = [a for a in agents if all((d, a) in self._groups for d in domains)]
        mine = {d: self._groups[d, agent] for d in domains if agent in complete}
        there = {d: group.checked for d, group in mine.items()}
        if len(complete) < 2 or not there or not all(there.values()):
            return None
        mix = {d: sum(self._groups[d, a].dialogues for a in complete) for d in domains}
        every, own = sum(mix.values()), sum(there.values())
        weights = {d: mix[d] / every * own / there[d] for d in domains}
        return None if all(abs(weight - 1) < 1e-9 for weight in weights.values()) else weights
