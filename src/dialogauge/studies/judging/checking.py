"""Which dimensions of a judge the ratings of a run show to agree with people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dialogauge.core import DimensionSpec
from dialogauge.stats import DissatisfiedRule
from dialogauge.studies.evidence import UNCHECKED, DimensionEvidence
from dialogauge.studies.judging.light import agreement_of
from dialogauge.studies.judging.people import Light
from dialogauge.studies.judging.people_tally import LEVELS, PeopleTally

_UNSHOWN: Final = {
    "which users": "by the ratings of this run it tells which users are dissatisfied, not with what",
    "which conversations": "by the ratings of this run it tells which conversations are poor, not where",
    "does not": "it does not agree with the ratings of this run",
    "cannot tell": "the ratings of this run do not show that it agrees with people",
}


def checked_by_ratings(
    tally: PeopleTally | None, dimensions: Sequence[DimensionSpec], rule: DissatisfiedRule | None = None
) -> dict[str, DimensionEvidence]:
    """Say of each dimension whether it is checked by ratings: above its controls, each by an interval.

    Args:
        tally: Through which the run has passed; None where nobody rated anything.
        dimensions: Of the judge.
        rule: What counts as dissatisfied, where it was asked for.
    """
    if tally is None:
        return dict.fromkeys((spec.name for spec in dimensions), UNCHECKED)
    checked = {}
    for spec in dimensions:
        light = agreement_of(tally, spec.name, spec.level, rule) if spec.level in LEVELS else None
        if light is None:
            why = f"nobody rated a {spec.level} of this run"
            checked[spec.name] = DimensionEvidence(checked=False, why=why)
        else:
            checked[spec.name] = by_light(light)
    return checked


def by_light(light: Light) -> DimensionEvidence:
    """Return what a light says of the dimension that it stands on."""
    auc, pairs = light.judge, ""
    if auc.value is not None:
        pairs = f" ({100 * auc.value:.0f} % of pairs"
        pairs += (
            ")" if auc.interval is None else " [{:.0f}, {:.0f}])".format(*(100 * e for e in auc.interval))
        )
    if light.answer == "agrees":
        return DimensionEvidence(checked=True, by=f"the ratings of this run{pairs}")
    return DimensionEvidence(checked=False, why=f"{_UNSHOWN[light.answer]}{pairs}")
