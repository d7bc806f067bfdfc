"""How far raters agree so far, and what would say it more surely."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Final, TypedDict

import numpy as np

from dialogauge.annotate.answers import Answer, ItemAnswers
from dialogauge.annotate.plan import AssignmentPlan
from dialogauge.annotate.questions import RatingQuestion
from dialogauge.core import Level
from dialogauge.core.json_keys import INSIDE, keys
from dialogauge.stats import Categories, Estimate, RatingGrid, coefficients_of
from dialogauge.text import counted

_SIDES: Final = ("a", "b", "tie")
Standing = Mapping[tuple[str, str], ItemAnswers]


class RaterFigures(TypedDict):
    """How far raters agree, as `dialogauge agreement` has it."""

    ac1: Estimate
    alpha: Estimate
    exact: Estimate


@keys(figures=None, named_figures=INSIDE, another=None)
@dataclass(frozen=True, slots=True)
class SharedAgreement:
    """Agreement on what two or more raters rated, in one dimension."""

    dimension: str
    level: Level
    targets: int
    """That two or more rated."""
    items: int
    """That hold them."""
    raters: int
    """That rated any of them."""
    figures: Mapping[str, Estimate]
    """`ac1`, `alpha` and `exact`, as `dialogauge agreement` has them: alpha of intervals for scores, nominal
    for choices between two. Where nearly all ratings are alike AC1 is high and alpha low: neither is shown
    without the other."""
    another: float | None = None
    """The width of AC1's interval if another rater rated the same; None where two raters cannot tell."""

    @property
    def width(self) -> float | None:
        """The width of AC1's interval."""
        return _width(self.figures["ac1"])

    @property
    def named_figures(self) -> RaterFigures:
        """The figures, each under its name."""
        return self.figures  # type: ignore[return-value]


def shared_agreement(plan: AssignmentPlan, standing: Standing) -> Iterator[SharedAgreement]:
    """Yield the agreement in each dimension of which two or more raters rated the same."""
    for question in plan.questions:
        grid = _grid(plan, standing, question)
        several = _rated_by_several(grid)
        if several:
            alpha = "alpha_nominal" if grid.categories.values is None else "alpha_interval"
            named = coefficients_of(grid, ("ac1", alpha, "exact"))
            figures = {"ac1": named["ac1"], "alpha": named[alpha], "exact": named["exact"]}
            yield SharedAgreement(
                question.name,
                question.level,
                len(several),
                len(set(several)),
                len(grid.raters),
                figures,
                _with_another(grid, figures["ac1"]),
            )


def _grid(plan: AssignmentPlan, standing: Standing, question: RatingQuestion) -> RatingGrid:
    """Return all that was rated: how often a score is given counts where one rated alone too."""
    targets = [(item.id, turn) for item in plan.items for turn, q in plan.asked(item) if q == question]
    raters = [rater.name for rater in plan.raters]
    values = np.full((len(targets), len(raters)), np.nan)
    for row, (item, turn) in enumerate(targets):
        for column, rater in enumerate(raters):
            one = standing.get((item, rater))
            answer = None if one is None else one.answers.get((turn, question.name))
            if answer is not None:
                values[row, column] = _number(answer)
    categories = Categories(_SIDES, None) if question.level == "pair" else Categories.of_scale(question.scale)
    clusters = tuple(item for item, _ in targets)
    grid = RatingGrid(values, tuple(targets), tuple(raters), categories, clusters, "items")
    grid = grid.only(np.isfinite(values).sum(axis=1) > 0)
    rated = np.isfinite(grid.values).sum(axis=0).tolist()
    return grid.take(name for name, times in zip(raters, rated, strict=True) if times)


def _rated_by_several(grid: RatingGrid) -> list[Hashable]:
    """Return the item of each target that two or more rated."""
    times = np.isfinite(grid.values).sum(axis=1).tolist()
    return [item for item, n in zip(grid.clusters, times, strict=True) if n > 1]


def _number(answer: Answer) -> float:
    if answer.winner is not None:
        return float(_SIDES.index(answer.winner))
    return math.nan if answer.score is None or isinstance(answer.score, str) else float(answer.score)


def _width(estimate: Estimate) -> float | None:
    return None if estimate.low is None or estimate.high is None else estimate.high - estimate.low


def _with_another(grid: RatingGrid, now: Estimate) -> float | None:
    """Return the width that one rater more would leave.

    The variance is a part that only more items lessen, and a part that falls as one by the number of raters:
    how much wider the interval is with each rater left out says how large the second is.
    """
    raters, width = len(grid.raters), _width(now)
    if raters < 3 or width is None:
        return None
    fewer = []
    for left_out in grid.raters:
        rest = grid.take(name for name in grid.raters if name != left_out)
        rest = rest.only(np.isfinite(rest.values).sum(axis=1) > 0)
        if _rated_by_several(rest) and (w := _width(coefficients_of(rest, ("ac1",))["ac1"])) is not None:
            fewer.append(w**2)
    if not fewer:
        return None
    of_raters = (float(np.mean(fewer)) - width**2) * (raters - 1) * raters
    of_raters = min(max(of_raters, 0.0), width**2 * raters)
    return math.sqrt(width**2 - of_raters * (1 / raters - 1 / (raters + 1)))


def advice(agreements: list[SharedAgreement]) -> str:
    """Say in a sentence or two what would tighten the figures most.

    The width falls with the square root of the shared items. So that both cost the same, another rater of the
    same items is compared with as many ratings of more items by these raters.
    """
    if not agreements:
        return "No item is rated by two raters yet, so nothing is known of their agreement."
    known = [one for one in agreements if one.width is not None]
    if not known:
        reasons = [one.figures["ac1"].reason for one in agreements]
        why = next((reason for reason in reasons if reason), "nothing differs yet")
        return f"AC1 has no interval yet ({why}): more shared items are needed."
    worst = max(known, key=lambda one: one.width or 0.0)
    width, ac1 = worst.width or 0.0, worst.figures["ac1"]
    more = math.ceil(worst.items / worst.raters)
    by_items = width * math.sqrt(worst.items / (worst.items + more))
    first = (
        f"Least sure is {worst.dimension}: AC1 {ac1.value or 0:.2f} [{ac1.low:.2f}, {ac1.high:.2f}] on "
        f"{counted(worst.items, 'shared item')} by {counted(worst.raters, 'rater')}. "
    )
    narrower = f"would narrow its interval from {width:.2f} to about {by_items:.2f}"
    items = f"{counted(more, 'more shared item')} {narrower}"
    if worst.another is None:
        return f"{first}{items}; what a third rater would do, two cannot tell."
    rater = f"another rater of the same items, as much work, to about {worst.another:.2f}"
    better = "a rater more helps more" if worst.another < by_items - 0.005 else "more shared items help more"
    close = abs(worst.another - by_items) <= 0.005
    return f"{first}{items}, {rater}: {'both help alike' if close else better}."


@keys(left="left")
@dataclass(frozen=True, slots=True)
class RaterProgress:
    """What one rater has done."""

    rater: str
    assigned: int
    done: int
    """Items with an answer to everything."""
    begun: int
    """Items with some answers, and not all."""
    skipped: int
    flagged: int
    seconds: float | None
    """Median over the items that are done; None where nothing says."""

    @property
    def left(self) -> int:
        """Items that remain: neither done nor skipped."""
        return self.assigned - self.done - self.skipped


def progress_of(
    plan: AssignmentPlan, standing: Mapping[tuple[str, str], ItemAnswers]
) -> Iterator[RaterProgress]:
    """Yield how far each rater of a plan is."""
    items = plan.by_id
    for rater in plan.raters:
        ours = {name: standing.get((name, rater.name), ItemAnswers()) for name in rater.items}
        asked = {name: {(turn, q.name) for turn, q in plan.asked(items[name])} for name in rater.items}
        done = [one for name, one in ours.items() if asked[name] <= one.answers.keys()]
        times = [one.seconds for one in done if one.seconds is not None]
        yield RaterProgress(
            rater.name,
            len(rater.items),
            len(done),
            sum(bool(one.answers) for one in ours.values()) - len(done),
            sum(one.skipped is not None for one in ours.values()),
            sum(one.flagged is not None for one in ours.values()),
            median(times) if times else None,
        )
