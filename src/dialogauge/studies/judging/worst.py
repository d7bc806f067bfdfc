"""The group of conversations that stands out for the worse: a scenario, a candidate, a user or a week.

Every group is compared with all other conversations, by people's ratings where there are enough and else by
how many hold a named finding. One is named only where the difference holds although
so many were compared (Bonferroni, over all groups of all kinds).
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dialogauge.core import Scale
from dialogauge.report import words
from dialogauge.stats import Estimate, Floats, compare_gain, gain_of_sums, mean_estimate
from dialogauge.studies.judging.sampling import RatedAs, ratings_of
from dialogauge.studies.passing import ByConversation
from dialogauge.studies.rated import scale_of
from dialogauge.text import counted

Row = Mapping[str, Any]
Mask = npt.NDArray[np.bool_]

_FIELDS: Final = {"scenario": "scenario", "candidate": "candidate", "user": "user_id"}
_LEAST: Final = 5
"""Clusters in a group, and outside of it, below which nothing is said of it."""
_MOST: Final = 200
"""Groups of one kind that are compared."""
_LEVEL: Final = 0.05
_TIMES: Final = (
    "timestamp",
    "created_at",
    "created",
    "create_time",
    "started_at",
    "start_time",
    "time",
    "date",
)
"""What the time of a conversation is called in metadata; the first that can be read counts."""
_YEARS: Final = (2000, 2100)


@dataclass(frozen=True, slots=True)
class WorstGroup:
    """A group that is worse than all other conversations."""

    field: str
    """`scenario`, `candidate`, `user` or `week`."""
    name: str
    conversations: int
    what: str
    """The figure in words: `people’s mean rating`."""
    share: bool
    """Whether the figure is a share, 0 to 1."""
    group: Estimate
    others: Estimate
    """The same figure of all other conversations."""
    compared: int
    """Groups that were compared."""

    @property
    def sentence(self) -> str:
        """The group and its figures, in words."""
        mine, rest = (self._figure(e) for e in (self.group, self.others))
        return (
            f"{self.field} {self.name} ({counted(self.conversations, 'conversation')}): {self.what} {mine}, "
            f"against {rest} in all other conversations. {counted(self.compared, 'group')} compared."
        )

    def _figure(self, estimate: Estimate) -> str:
        if self.share:
            low, high = (words.percent(min(max(end, 0.0), 1.0)) for end in estimate.interval or (0.0, 1.0))
            return f"{words.percent(estimate.value)} [{low}, {high}]"
        return f"{words.decimal(estimate.value)} {words.interval(estimate.interval)}"


class GroupTally(ByConversation):
    """Takes conversations while their rows pass: what people or the judge said, and the groups each is in."""

    def __init__(self) -> None:
        """Begin before the first row."""
        super().__init__()
        self._ratings = array("d")
        self._rated: list[RatedAs | None] = []
        self._weights = array("d")
        self._faulty = array("d")
        self._finds = False
        self._keys: list[tuple[str, str | None]] = []
        self._names: dict[str, list[str | None]] = {field: [] for field in _FIELDS}

    def take(self, unit: Sequence[Row]) -> None:
        """Take one conversation, unless nothing of it was judged."""
        judged = [row for row in unit if row["scores"] is not None]
        if not judged:
            return
        rated_as, ratings = ratings_of(unit)
        self._rated.append(rated_as)
        self._ratings.append(sum(ratings) / len(ratings) if ratings else math.nan)
        weights = [row["rating"].get("weight") or 1.0 for row in unit if row.get("rating")]
        self._weights.append(sum(weights) / len(weights) if weights else 1.0)
        named = [row["details"].get("signals") for row in judged if row["turn"] is not None]
        self._finds |= any(findings is not None for findings in named)
        self._faulty.append(float(any(named)))
        self._keys.append((unit[0]["conversation_id"], unit[0]["candidate"]))
        for field, key in _FIELDS.items():
            self._names[field].append(unit[0][key])

    def worst(
        self, weeks: Mapping[tuple[str, str | None], str], scales: Mapping[RatedAs, Scale] | None = None
    ) -> WorstGroup | None:
        """Return the group that stands out most for the worse; None where none does.

        Args:
            weeks: By id and candidate, of conversations whose time is known.
            scales: Of people's ratings, where known: which end of them is the better one.
        """
        self.close()
        ratings = np.array(self._ratings)
        used_ratings = [kind for kind, _ in Counter(filter(None, self._rated)).most_common(1)]
        rated = np.array([kind in used_ratings for kind in self._rated], dtype=bool)
        by_people = int(rated.sum()) >= 2 * _LEAST
        if not (by_people or self._finds):
            return None
        values = ratings if by_people else np.array(self._faulty)
        used = rated if by_people else np.ones(values.size, dtype=bool)
        weights = np.array(self._weights) if by_people else np.ones(values.size)
        scale = (scales or {}).get(used_ratings[0]) if by_people else None
        high_is_bad = not by_people or (scale is not None and not scale.higher_is_better)
        names = {**self._names, "week": [weeks.get(key) for key in self._keys]}
        known: list[tuple[float, str, str, Mask]] = []
        for field, groups in names.items():
            clusters, _ = self._clusters(field)
            for name, member in _members(groups):
                of = values[used] if high_is_bad else -values[used]
                p = _worse(of, weights[used], member[used], clusters[used])
                known += [] if p is None else [(p, field, name, member & used)]
        if not known:
            return None
        p, field, name, member = min(known, key=lambda one: one[0])
        if p * len(known) > _LEVEL:
            return None
        clusters, unit = self._clusters(field)
        scale = scale or (scale_of(values[used].tolist()) if by_people else Scale(0, 1, integer=False))
        group, others = (
            mean_estimate(
                values[side],
                clusters[side].tolist(),
                weights=None if (weights == 1).all() else weights[side],
                limits=(scale.low, scale.high),
                unit=unit,
            )
            for side in (member, used & ~member)
        )
        what = "share with a named fault"
        if by_people:
            what = "mean reward" if used_ratings[0][-1] == "reward" else "people’s mean rating"
        return WorstGroup(field, name, int(member.sum()), what, not by_people, group, others, len(known))

    def _clusters(self, field: str) -> tuple[npt.NDArray[np.intp], str]:
        """Return the cluster of each conversation as a number, and what it is: its user where that is known.

        Of users, and where the user of some is not known, it is the conversation.
        """
        users = self._names["user"]
        if field == "user" or None in users:
            return np.arange(len(users)), "conversations"
        return np.unique(np.array(users, dtype=object).astype(str), return_inverse=True)[1], "users"


def _members(names: Sequence[str | None]) -> Iterator[tuple[str, Mask]]:
    """Yield each of at least two groups with its members, the largest first."""
    sizes = Counter(name for name in names if name is not None)
    codes = {name: code for code, name in enumerate(sizes)}
    code = np.array([-1 if name is None else codes[name] for name in names])
    for name, size in sizes.most_common(_MOST) if len(sizes) > 1 else ():
        if size >= _LEAST:
            yield name, code == codes[name]


def _worse(values: Floats, weights: Floats, member: Mask, clusters: npt.NDArray[np.intp]) -> float | None:
    """Return the p-value of a group's mean above that of all others, two-sided; 1 where it is not above."""
    _, codes = np.unique(clusters, return_inverse=True)
    mine, rest = (_sums(values, codes, np.where(side, weights, 0.0)) for side in (member, ~member))
    if min(int((sizes > 0).sum()) for _, sizes in (mine, rest)) < _LEAST or values.min() == values.max():
        return None
    limits = float(values.min()), float(values.max())
    excess, basis = gain_of_sums(rest, mine, limits=limits, unit="", paired=False)
    if (excess.value or 0.0) <= 0:
        return 1.0
    p = compare_gain(("group", "others"), "", (None, None), excess, basis).p
    return 1.0 if p is None else p


def _sums(values: Floats, codes: npt.NDArray[np.intp], weights: Floats) -> tuple[Floats, Floats]:
    """Return of each cluster the sum of the weighted values and that of the weights."""
    sums, sizes = (np.bincount(codes, weights=of).astype(np.float64) for of in (values * weights, weights))
    return sums, sizes


def week_of(*places: Mapping[str, Any]) -> str | None:
    """Return the week of a conversation, as `2026-W47`, where it is said when it was; else None.

    Args:
        *places: Its metadata, then what its messages hold beside their text; the first time counts.
    """
    for values, key in product(filter(None, places), _TIMES):
        moment = _moment(values.get(key))
        if moment is not None and _YEARS[0] <= moment.year < _YEARS[1]:
            year, week, _ = moment.isocalendar()
            return f"{year}-W{week:02d}"
    return None


def _moment(value: object) -> datetime | None:
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        seconds = value / 1000 if abs(value) > 1e11 else value
        try:
            return datetime.fromtimestamp(seconds, UTC)
        except (ValueError, OverflowError, OSError):
            return None
    return None
