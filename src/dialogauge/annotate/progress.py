"""How far raters are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median

from dialogauge.annotate.answers import ItemAnswers
from dialogauge.annotate.plan import AssignmentPlan


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
