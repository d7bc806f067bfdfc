"""What a judge knows of a user: figures that we counted, and what a model read out of the history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dialogauge.core import digest
from dialogauge.judge.user_memory.faults import MemoryFault
from dialogauge.judge.user_memory.scale import ScoreScale

__all__ = ["Findings", "UserMemory", "findings_schema", "read_findings"]

THREE_FOUR, FOUR_FIVE = "three_versus_four", "four_versus_five"


@dataclass(frozen=True, slots=True)
class Findings:
    """What a model read out of the rated turns; every text in the language of the prompt."""

    scoring_style: str
    three_versus_four: str | None
    """What lifts a reply from dissatisfied to satisfied; None where the history has no two sides of it."""
    four_versus_five: str | None
    """What makes a good reply a very good one; None likewise."""
    requirements: tuple[str, ...]
    preferred_format: str | None
    task_observations: tuple[tuple[str, str], ...]
    """Kind of task, and what was seen there."""

    def to_json(self) -> dict[str, Any]:
        """Write the findings with the keys of the reply that they were read from."""
        out: dict[str, Any] = {"scoring_style": self.scoring_style}
        thresholds = {THREE_FOUR: self.three_versus_four, FOUR_FIVE: self.four_versus_five}
        out |= {key: text for key, text in thresholds.items() if text is not None}
        out["requirements"] = list(self.requirements)
        out["preferred_format"] = self.preferred_format or ""
        out["task_observations"] = [{"task": t, "observation": o} for t, o in self.task_observations]
        return out


@dataclass(frozen=True, slots=True)
class UserMemory:
    """The memory of one block, made once and never changed by what is predicted from it."""

    scale: ScoreScale
    """Of the user's whole history; of other users where it is empty."""
    conversations: int
    """Rated conversations of the history."""
    scenarios: tuple[str, ...]
    """Those of the history, in its order."""
    findings: Findings | None
    """None where the user has rated nothing."""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    """How many rated turns the builder saw, and what was left out: `Evidence.to_json`."""

    @property
    def digest(self) -> str:
        """Changes with anything that the memory says."""
        return digest(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """Write the memory."""
        return {
            "scale": self.scale.to_json(),
            "conversations": self.conversations,
            "scenarios": list(self.scenarios),
            "findings": None if self.findings is None else self.findings.to_json(),
            "evidence": dict(self.evidence),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> UserMemory:
        """Read what `to_json` wrote; MemoryFault names what is wrong with it."""
        if not isinstance(value.get("scale"), Mapping):
            msg = "scale: missing"
            raise MemoryFault(msg)
        scale = ScoreScale.from_json(value["scale"])
        scenarios = tuple(value.get("scenarios") or ())
        found = value.get("findings")
        findings = None if found is None else read_findings(found, scale, scenarios)
        return cls(
            scale, int(value.get("conversations", 0)), scenarios, findings, value.get("evidence") or {}
        )


def findings_schema(scale: ScoreScale, scenarios: Sequence[str], hints: Mapping[str, str]) -> dict[str, Any]:
    """Return the schema of the builder's reply.

    A threshold is asked for only where the history has turns on both sides of it: what nobody can have seen
    would be made up.

    Args:
        scale: Of the history.
        scenarios: The kinds of task that the history holds.
        hints: By key of the reply, what belongs there; also `task` and `observation`.
    """

    def text(key: str) -> dict[str, Any]:
        return {"type": "string", "description": hints[key]}

    fields: dict[str, Any] = {key: text(key) for key in _threshold_keys(scale)}
    fields["scoring_style"] = text("scoring_style")
    fields["requirements"] = {"type": "array", "items": text("requirements")}
    fields["preferred_format"] = text("preferred_format")
    task = {"type": "string", "enum": list(scenarios), "description": hints["task"]}
    seen = _closed({"task": task, "observation": text("observation")})
    fields["task_observations"] = {"type": "array", "items": seen}
    return _closed(fields)


def _threshold_keys(scale: ScoreScale) -> list[str]:
    asked = {THREE_FOUR: scale.compares_three_four, FOUR_FIVE: scale.compares_four_five}
    return [key for key, there in asked.items() if there]


def _closed(fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def read_findings(data: Mapping[str, Any], scale: ScoreScale, scenarios: Sequence[str]) -> Findings:
    """Check a builder's reply; MemoryFault names all that is wrong with it."""
    faults: list[str] = []

    def text(key: str, *, needed: bool = True) -> str:
        value = data.get(key)
        if not isinstance(value, str):
            faults.append(f"{key}: " + ("missing" if key not in data else "expected a text"))
            return ""
        if needed and not value.strip():
            faults.append(f"{key}: empty")
        return value.strip()

    keys = _threshold_keys(scale)
    thresholds = {key: text(key) for key in keys}
    style, form = text("scoring_style"), text("preferred_format", needed=False)
    requirements = _requirements(data.get("requirements"), faults)
    observations = _observations(data.get("task_observations"), scenarios, faults)
    if faults:
        raise MemoryFault("; ".join(faults))
    return Findings(
        style, thresholds.get(THREE_FOUR), thresholds.get(FOUR_FIVE), requirements, form or None, observations
    )


def _requirements(value: object, faults: list[str]) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        faults.append("requirements: expected a list of texts")
        return ()
    return tuple(dict.fromkeys(item.strip() for item in value if item.strip()))


def _observations(value: object, scenarios: Sequence[str], faults: list[str]) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, list):
        faults.append("task_observations: expected a list of {task, observation}")
        return ()
    found: list[tuple[str, str]] = []
    for number, entry in enumerate(value):
        task = entry.get("task") if isinstance(entry, dict) else None
        seen = entry.get("observation") if isinstance(entry, dict) else None
        if task not in scenarios or not isinstance(seen, str):
            names = ", ".join(scenarios)
            faults.append(f"task_observations[{number}]: expected an observation and a task of {names}")
        elif seen.strip():
            found.append((str(task), seen.strip()))
    return tuple(found)
