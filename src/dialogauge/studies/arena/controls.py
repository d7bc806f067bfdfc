"""What stands beside a ranking: referees that read nothing, people, and how far the order of two counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dialogauge.runs import Row
from dialogauge.stats import Estimate, mean_estimate

COIN, FIRST, LENGTH, PEOPLE = "coin", "position", "length", "people"


@dataclass(frozen=True, slots=True)
class PositionBias:
    """What a model said that was asked in both orders."""

    meetings: int
    """With a verdict in both orders."""
    changed: Estimate
    """The share of them with another winner in the other order: these are ties."""
    first: Estimate
    """The share of answers with a winner that name who stood first: 1 of a judge that always says A."""


@dataclass(frozen=True, slots=True)
class Beside:
    """Another referee of the same meetings."""

    name: str
    what: str
    agrees: Estimate
    """The share of meetings on which it names the same winner, of those on which both name one."""
    ratings: Mapping[str, float]


def position_bias(rows: Sequence[Row]) -> PositionBias | None:
    """Return what became of answers in the other order."""
    both = [row for row in rows if len(row["orders"]) == 2]
    if not both:
        return None
    whole = [row for row in both if all(one["winner"] is not None for one in row["orders"])]
    changed = [float(row["orders"][0]["winner"] != row["orders"][1]["winner"]) for row in whole]
    answers = [(row, one) for row in both for one in row["orders"] if one["winner"] in ("a", "b")]
    first = [float(one["winner"] == one["first"]) for _, one in answers]
    return PositionBias(
        len(whole),
        mean_estimate(changed, [row["conversation_id"] for row in whole], unit="dialogues"),
        mean_estimate(first, [row["conversation_id"] for row, _ in answers], unit="dialogues"),
    )
