"""What is asked for by name: two sources compared, and what it takes to tell two apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from dialogauge.core import UsageError
from dialogauge.core.json_keys import INSIDE, keys
from dialogauge.stats import Comparison, Power, RatingGrid, adjusted
from dialogauge.studies.agreement.closeness import OF_NAMES, OF_NUMBERS, compare_grids, consensus_of, two_of
from dialogauge.studies.agreement.pooling import comparable, pooled_or_each
from dialogauge.studies.agreement.power import power_between
from dialogauge.studies.agreement.sources import (
    Question,
    Rated,
    grid_of,
    natural,
)
from dialogauge.studies.agreement.targets import Panel


@keys(question=INSIDE, comparison=INSIDE)
@dataclass(frozen=True, slots=True)
class AskedComparison:
    """Two sources by name, against the consensus of people without either."""

    question: Question
    n: int
    comparison: Comparison


@keys(question=INSIDE, power=INSIDE)
@dataclass(frozen=True, slots=True)
class AskedPower:
    """What it takes to tell two sources apart, or a judge from the best constant."""

    question: Question
    power: Power


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked for by name."""

    compare: Sequence[str] = ()
    """Two sources to compare, or nothing."""
    power_by: str | None = None
    """The measure by which studies are simulated that tell these two apart, or each judge from the best
    constant; None for no simulation."""


NOTHING: Final = Asked()


def compared(sources: Panel, names: Sequence[str]) -> tuple[AskedComparison, ...]:
    """Compare two sources with the consensus of people without either.

    Raises UsageError where one is unknown, or where nobody else rated what both rated.
    """
    if not names:
        return ()
    known = {
        source
        for of in (sources.people, sources.judges)
        for answers in of.values()
        for rated in answers.values()
        for source in rated.by
    }
    if unknown := [name for name in names if name not in known]:
        msg = f"--compare: nobody is called {unknown[0]!r}"
        raise UsageError(msg, hint=f"there are {', '.join(sorted(known, key=natural))}")
    a, b = names
    made: list[AskedComparison] = []
    for question in pooled_or_each(sources):
        grid, people = _together(question, sources)
        raters = [name for name in people if name not in (a, b)]
        if not raters or not {a, b} <= set(grid.raters):
            continue
        consensus, (of_a, of_b) = consensus_of(grid.take(raters)), grid.take([a, b]).values.T
        # On the targets that both and a third one rated.
        beside_a, beside_b = (
            two_of(grid, np.where(np.isnan(other), np.nan, own), consensus)
            for own, other in ((of_a, of_b), (of_b, of_a))
        )
        if n := len(beside_a.targets):
            for measure in OF_NAMES if grid.categories.values is None else OF_NUMBERS:
                comparison = compare_grids(a, beside_a, b, beside_b, measure)
                made.append(AskedComparison(question, n, comparison))
    if not made:
        msg = f"--compare: {a} and {b} have no target in common that a third one rated"
        raise UsageError(msg, hint="they are compared with the consensus of the others")
    over_all = adjusted([one.comparison for one in made])
    return tuple(replace(one, comparison=c) for one, c in zip(made, over_all, strict=True))


def _together(question: Question, sources: Panel) -> tuple[RatingGrid, list[str]]:
    """Return the targets that people rated by all sources, and the names of people."""
    people, judges = sources.people[question], comparable(question, sources)
    both = {
        key: Rated({**rated.by, **(judges[key].by if key in judges else {})}, rated.user)
        for key, rated in people.items()
    }
    names = {name for rated in people.values() for name in rated.by}
    return grid_of(both, sources.categories[question]), sorted(names, key=natural)


def powers(sources: Panel, asked: Asked, seed: int) -> tuple[AskedPower, ...]:
    """Simulate what it takes, of pooled dimensions where there are any, else of each."""
    if asked.power_by is None:
        return ()
    made = []
    for question in pooled_or_each(sources):
        grid, people = _together(question, sources)
        if grid.categories.values is None and asked.power_by not in OF_NAMES:
            msg = f"{question}: the categories are names, which have no {asked.power_by}"
            raise UsageError(msg, hint="simulate the power by --measure ac1 or exact")
        judges = [name for name in grid.raters if name not in people]
        pairs = [tuple(asked.compare)] if asked.compare else [(name, None) for name in judges]
        for first, second in pairs:
            raters = [name for name in people if name not in (first, second)]
            if raters and {first, second} - {None} <= set(grid.raters):
                power = power_between(grid, (first, second), raters, asked.power_by, seed=seed)
                made += [] if power is None else [AskedPower(question, power)]
    if not made:
        msg = "--power: there is nobody to tell apart"
        raise UsageError(msg, hint="name two who rated the same targets as others: --compare A B")
    return tuple(made)
