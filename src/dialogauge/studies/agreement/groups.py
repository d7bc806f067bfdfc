"""The main figures by group: by dimension, by source of the data, by whatever the ratings name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from dialogauge.core import UsageError
from dialogauge.stats import Categories, Estimate, Floats, coefficients_of
from dialogauge.studies.agreement.closeness import (
    OF_NAMES,
    OF_NUMBERS,
    Closeness,
    closeness,
    consensus_of,
    settled,
)
from dialogauge.studies.agreement.sources import (
    ALL,
    CONSENSUS,
    Answers,
    Level,
    Question,
    grid_of,
    natural,
    number_of,
    pile_of,
    said_by,
    sources_of,
)
from dialogauge.studies.agreement.targets import TargetTable

MOST_RATERS: Final = 100
"""Raters that a judge is held against one by one: those that rated most."""


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """One group."""

    by: str
    """What it is a group of: `dimension`, `source` ..."""
    group: str
    dimension: str
    level: Level | None
    targets: int
    shared: int
    """Targets that two or more people rated."""
    people: Mapping[str, Estimate]
    """Of people among each other; empty where no target was rated by two."""
    judges: tuple[Closeness, ...]
    """Each against the consensus of people."""


def group_figures(
    by: str, question: Question, people: Answers, judges: Answers, categories: Categories
) -> tuple[GroupFigures, ...]:
    """Return the main figures of each group of targets, the groups by name.

    Args:
        by: What the targets are grouped by.
        question: What was asked; its dimension is `ALL` where several are pooled.
        people: What people said.
        judges: What judges said of the same targets.
        categories: All that could be said.

    Raises:
        UsageError: No target has a group of that name.
    """
    groups: dict[str, Answers] = {}
    for key, rated in people.items():
        own = {"dimension": key.dimension or question.dimension, "candidate": key.candidate}
        group = own.get(by) or rated.groups.get(by)
        if group is not None:
            groups.setdefault(group, {})[key] = rated
    if not groups:
        names = sorted({name for rated in people.values() for name in rated.groups})
        msg = f"--by {by}: no rated target has a {by}"
        raise UsageError(msg, hint=f"there are {', '.join(('dimension', 'rater', *names))}")
    parts = {name: groups[name] for name in sorted(groups, key=natural)}
    if by == "dimension" and len(parts) > 1:
        parts[ALL] = people
    return tuple(_group(by, name, question, of, judges, categories) for name, of in parts.items())


def rater_groups(
    question: Question, people: Answers, judges: Answers, categories: Categories
) -> tuple[GroupFigures, ...]:
    """Return how close judges are to each rater by itself."""
    return tuple(
        _group("rater", rater, question, said_by(rater, people), judges, categories)
        for rater in sources_of(people, MOST_RATERS)
    )


def rater_closeness(table: TargetTable, categories: Categories) -> tuple[Closeness, ...]:
    """Hold the judge of a table against each rater by itself; nothing where there is one rater."""
    raters = sources_of(table.rated, MOST_RATERS)
    if len(raters) < 2:
        return ()
    scores = {key: next(iter(one.by.values())) for key, one in table.scored.items()}
    values = column_of((scores.get(key) for key in table.rated), categories)
    frame = pile_of(table.rated, categories)
    columns = (column_of((one.by.get(rater) for one in table.rated.values()), categories) for rater in raters)
    return settled(
        closeness(frame, table.about.name, values, rater, column)
        for rater, column in zip(raters, columns, strict=True)
    )


def column_of(scores: Iterable[float | str | None], categories: Categories) -> Floats:
    """Return scores as numbers, shape (n,); NaN where there is none."""
    numbers = (None if score is None else number_of(score, categories) for score in scores)
    return np.array([np.nan if number is None else number for number in numbers], dtype=np.float64)


def _group(
    by: str, name: str, question: Question, people: Answers, judges: Answers, categories: Categories
) -> GroupFigures:
    shared, figures = sum(len(one.by) > 1 for one in people.values()), dict[str, Estimate]()
    if shared:
        grid = grid_of(people, categories, sources_of(people, MOST_RATERS))
        figures = coefficients_of(grid, OF_NAMES if categories.values is None else OF_NUMBERS)
    frame = pile_of(people, categories)
    consensus = consensus_of(frame)
    # Every judge against the consensus of people; p adjusted by Holm over the judges.
    of_judges = [judges[key].by if key in judges else {} for key in people]
    made = []
    for judge in sorted({name for scores in of_judges for name in scores}, key=natural):
        values = column_of((scores.get(judge) for scores in of_judges), categories)
        made.append(closeness(frame, judge, values, CONSENSUS, consensus))
    return GroupFigures(
        by, name, question.dimension, question.level, len(people), shared, figures, settled(made)
    )
