"""The main figures by group: by dimension, by source of the data, by whatever the ratings name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
    Rated,
    TargetKey,
    grid_of,
    natural,
    number_of,
    pile_of,
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
    groups: dict[str, list[TargetKey]] = {}
    for key, rated in people.items():
        own = {"dimension": key.dimension or question.dimension, "candidate": key.candidate}
        group = own.get(by) or rated.groups.get(by)
        if group is not None:
            groups.setdefault(group, []).append(key)
    if not groups:
        names = sorted({name for rated in people.values() for name in rated.groups})
        msg = f"--by {by}: no rated target has a {by}"
        raise UsageError(msg, hint=f"there are {', '.join(('dimension', 'rater', *names))}")
    made = [
        _group(by, name, question, groups[name], people, judges, categories)
        for name in sorted(groups, key=natural)
    ]
    if by == "dimension" and len(made) > 1:
        made.append(_group(by, ALL, question, list(people), people, judges, categories))
    return tuple(made)


def rater_groups(
    question: Question, people: Answers, judges: Answers, categories: Categories
) -> tuple[GroupFigures, ...]:
    """Return how close judges are to each rater by itself."""
    out = []
    for rater in sources_of(people, MOST_RATERS):
        own = {k: Rated({rater: r.by[rater]}, r.user, r.groups) for k, r in people.items() if rater in r.by}
        out.append(_group("rater", rater, question, list(own), own, judges, categories))
    return tuple(out)


def rater_closeness(table: TargetTable, categories: Categories) -> tuple[Closeness, ...]:
    """Hold the judge of a table against each rater by itself; nothing where there is one rater."""
    judge = table.about.name
    values = column_of(
        judge,
        {k: Rated({judge: v}) for k, r in table.scored.items() for v in r.by.values()},
        table.rated,
        categories,
    )
    raters = sources_of(table.rated, MOST_RATERS)
    if len(raters) < 2:
        return ()
    frame = pile_of(table.rated, categories)
    columns = ((rater, column_of(rater, table.rated, table.rated, categories)) for rater in raters)
    made = [closeness(frame, judge, values, rater, column) for rater, column in columns]
    return settled([one for one in made if one is not None])


def column_of(source: str, answers: Answers, targets: Iterable[TargetKey], categories: Categories) -> Floats:
    """Return what a source said of each target, shape (n,); NaN where it said nothing."""
    scores = (answers[key].by.get(source) if key in answers else None for key in targets)
    numbers = (None if score is None else number_of(score, categories) for score in scores)
    return np.array([np.nan if number is None else number for number in numbers], dtype=np.float64)


def _group(  # noqa: PLR0913 - all that a group is made of
    by: str,
    name: str,
    question: Question,
    keys: Sequence[TargetKey],
    people: Answers,
    judges: Answers,
    categories: Categories,
) -> GroupFigures:
    rated = {key: people[key] for key in keys}
    names = OF_NAMES if categories.values is None else OF_NUMBERS
    shared = sum(len(of.by) > 1 for of in rated.values())
    among = (
        coefficients_of(grid_of(rated, categories, sources_of(rated, MOST_RATERS)), names) if shared else {}
    )
    made = beside_consensus(rated, judges, categories)
    return GroupFigures(by, name, question.dimension, question.level, len(keys), shared, among, made)


def beside_consensus(people: Answers, judges: Answers, categories: Categories) -> tuple[Closeness, ...]:
    """Hold every judge against the consensus of people; p adjusted by Holm over the judges."""
    frame = pile_of(people, categories)
    consensus = consensus_of(frame)
    made = []
    for judge in sorted({name for key in people if key in judges for name in judges[key].by}, key=natural):
        values = column_of(judge, judges, people, categories)
        made.append(closeness(frame, judge, values, CONSENSUS, consensus))
    return settled([one for one in made if one is not None])
