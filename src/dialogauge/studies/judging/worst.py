"""The group of conversations that stands out for the worse: a scenario, a candidate, a user or a week.

Every group is compared with all other conversations, by people's ratings where there are enough and else by
how many hold a named finding. One is named only where the difference holds although
so many were compared (Bonferroni, over all groups of all kinds).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dialogauge.core import Level, Scale
from dialogauge.core.values import Value
from dialogauge.report import words
from dialogauge.stats import Estimate, Floats, compare_gain, gain_of_sums, mean_estimate
from dialogauge.stats.rows import LEVELS, Table, labels_of
from dialogauge.studies.judging.sampling import RatedAs
from dialogauge.studies.rated import scale_of
from dialogauge.text import counted

Codes = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

_FIELDS: Final = {"scenario": "scenario", "candidate": "candidate", "user": "user_id"}
_RATED: Final[tuple[Level, ...]] = ("conversation", "turn")
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


class WorstGroup(Value):
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


@dataclass(frozen=True, slots=True, eq=False)
class Said:
    """What people said of each dialogue of a table, shape (dialogues,) each; NaN where no number.

    Dimensions are never taken together: of the whole, else of its turns, the one with most ratings counts.
    """

    kinds: tuple[RatedAs, ...]
    kind: Codes
    """Its place in `kinds`, -1 where nothing was rated."""
    mean: Floats
    lowest: Floats


def said_of(table: Table) -> Said:
    """Return what people said of each dialogue."""
    ratings, size = table.entries["rating"], table.dialogues.size
    level = table.levels[ratings.rows]
    numbers = ~np.isnan(ratings.numbers) & np.isin(level, [LEVELS.index(name) for name in _RATED])
    rated, width = ratings.only(numbers), len(ratings.names)
    turns = (table.levels[rated.rows] == LEVELS.index("turn")).astype(np.intp)
    key = (table.dialogues.of[rated.rows] * 2 + turns) * width + rated.codes
    keys, first, of, counts = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    sums, lowest = np.bincount(of, rated.numbers, keys.size), np.full(keys.size, np.inf)
    np.minimum.at(lowest, of, rated.numbers)
    kind, mean, least = np.full(size, -1), np.full(size, np.nan), np.full(size, np.nan)
    if keys.size:
        dialogue = keys // (2 * width)
        best = np.lexsort((first, -counts, keys // width))[::-1]  # the first of a dialogue is written last
        kind[dialogue[best]] = keys[best] % (2 * width)
        mean[dialogue[best]], least[dialogue[best]] = (sums / counts)[best], lowest[best]
    return Said(tuple((of, name) for of in _RATED for name in ratings.names), kind, mean, least)


def worst_group(
    rows: Table,
    weeks: Mapping[tuple[str, str | None], str],
    scales: Mapping[RatedAs, Scale] | None = None,
) -> WorstGroup | None:
    """Return the group that stands out most for the worse; None where none does.

    Args:
        rows: Of a run; of several repeats the first counts, and dialogues of which nothing was judged do not.
        weeks: By id and candidate, of conversations whose time is known.
        scales: Of people's ratings, where known: which end of them is the better one.
    """
    table = rows.where(repeat=1)
    table = table.where(table.dialogues.any(table.answered)[table.dialogues.of])
    by_dialogue, dialogues, findings = said_of(table), table.dialogues, table.entries["finding"]
    used_kinds = Counter(by_dialogue.kind[by_dialogue.kind >= 0].tolist()).most_common(1)
    rated = by_dialogue.kind == used_kinds[0][0] if used_kinds else np.zeros(dialogues.size, dtype=bool)
    by_people = int(rated.sum()) >= 2 * _LEAST
    if not (by_people or (table.listed & (table.turn >= 0)).any()):
        return None
    values, used, weights = by_dialogue.mean, rated, dialogue_weights(table, rated)
    kind = by_dialogue.kinds[used_kinds[0][0]] if by_people else None
    if not by_people:
        faulty = np.unique(dialogues.of[findings.rows[table.turn[findings.rows] >= 0]])
        values, used, weights = np.zeros(dialogues.size), ~(rated & False), np.ones(dialogues.size)
        values[faulty] = 1.0
    scale = (scales or {}).get(kind) if kind else None
    high_is_bad = not by_people or (scale is not None and not scale.higher_is_better)
    columns = {name: table.whose[key].take(dialogues.numbers) for name, key in _FIELDS.items()}
    keys = zip(
        *(table.whose[name].take(dialogues.numbers).list() for name in ("conversation_id", "candidate")),
        strict=True,
    )
    columns["week"] = labels_of([weeks.get(key) for key in keys] if weeks else [None] * dialogues.size)
    users = columns["user"].codes
    every = np.arange(dialogues.size)
    known: list[tuple[float, str, str, Mask]] = []
    for field, column in columns.items():
        clusters = every if field == "user" or (users < 0).any() else users
        sizes = Counter(column.list())
        del sizes[None]
        for name, size in sizes.most_common(_MOST) if len(sizes) > 1 else ():
            if size >= _LEAST:
                member = column.mask(name)
                of = values[used] if high_is_bad else -values[used]
                p = _worse(of, weights[used], member[used], clusters[used])
                known += [] if p is None else [(p, field, str(name), member & used)]
    if not known:
        return None
    p, field, name, member = min(known, key=lambda one: one[0])
    if p * len(known) > _LEVEL:
        return None
    by_user = field != "user" and bool((users >= 0).all())
    clusters, unit = (users, "users") if by_user else (every, "conversations")
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
    if kind is not None:
        what = "mean reward" if kind[-1] == "reward" else "people’s mean rating"
    return WorstGroup(field, name, int(member.sum()), what, not by_people, group, others, len(known))


def weights_of(table: Table, rows: npt.NDArray[np.integer[Any]]) -> Floats:
    """Return how many targets each rated row stands for; 1 each where not all of them say so."""
    weight, says = np.full(table.n, np.nan), table.entries["weight"]
    weight[says.rows] = np.where(says.numbers == 0, np.nan, says.numbers)
    known = weight[rows]
    return known if np.isfinite(known).all() else np.ones(known.size)


def dialogue_weights(table: Table, dialogues: Mask) -> Floats:
    """Return how many targets the ratings of each dialogue stand for on average, of those that are marked."""
    of, size = table.dialogues.of, table.dialogues.size
    rows = np.unique(table.entries["rating"].rows)
    rows = rows[dialogues[of[rows]]]
    sums, counts = np.bincount(of[rows], weights_of(table, rows), size), np.bincount(of[rows], minlength=size)
    return np.where(counts > 0, sums / np.maximum(counts, 1), 1.0)


def _worse(values: Floats, weights: Floats, member: Mask, clusters: npt.NDArray[np.intp]) -> float | None:
    """Return the p-value of a group's mean above that of all others, two-sided; 1 where it is not above."""
    _, codes = np.unique(clusters, return_inverse=True)
    of_sides = (np.where(side, weights, 0.0) for side in (member, ~member))
    # Of each cluster the sum of the weighted values and that of the weights.
    mine, rest = (
        (np.bincount(codes, values * of).astype(np.float64), np.bincount(codes, of).astype(np.float64))
        for of in of_sides
    )
    if min(int((sizes > 0).sum()) for _, sizes in (mine, rest)) < _LEAST or values.min() == values.max():
        return None
    limits = float(values.min()), float(values.max())
    excess, basis = gain_of_sums(rest, mine, limits=limits, unit="", paired=False)
    if (excess.value or 0.0) <= 0:
        return 1.0
    p = compare_gain(("group", "others"), "", (None, None), excess, basis).p
    return 1.0 if p is None else p


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
