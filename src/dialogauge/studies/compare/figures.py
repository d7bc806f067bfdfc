"""One figure of two runs: both means, the difference with a clustered interval, and what may be said of it.

Everything is the second run less the first. Where conversations are paired, a figure is compared on those
that have a value in both runs: a conversation that failed in one of them would else change the mix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from dialogauge.core import DimensionSpec
from dialogauge.core.json_keys import keys
from dialogauge.core.values import Value
from dialogauge.stats import (
    ENOUGH,
    Basis,
    Comparison,
    Estimate,
    Gain,
    compare_gain,
    corrected_together,
    gain_of_sums,
    mean_bounds,
)
from dialogauge.stats.comparison import ALPHA
from dialogauge.stats.table import Codes, Floats, Mask
from dialogauge.studies.compare.pairing import PairedRuns
from dialogauge.studies.compare.talks import LENGTH, Sums, sums_of
from dialogauge.studies.evidence import UNCHECKED, DimensionEvidence

Answer = Literal["better", "worse", "more", "fewer", "cannot tell", "too few to tell", "not tested"]
Ends = tuple[float, float]

SHARE: Final = (0.0, 1.0)
ANY_FINDING: Final = "any finding"


class Measured(Value):
    """One side of a figure."""

    mean: float | None
    n: int
    n_na: int = 0
    n_failed: int = 0
    left_out: int = 0
    """Scores of conversations that have none in the other run."""

    @property
    def count(self) -> int:
        """Of a share: how many."""
        return round((self.mean or 0.0) * self.n)


@keys(name=None, at_floor=None, digits=None, share=None, detectable_alone=None, limits=None)
class Change(Value):
    """A figure of both runs, and how far it moved."""

    name: str
    a: Measured
    b: Measured
    delta: Estimate
    """The second run less the first."""
    higher_is_better: bool | None = True
    """None where neither is."""
    p: float | None = None
    """Two-sided, not corrected."""
    p_corrected: float | None = None
    """Corrected for the figures that were tested together; None where it was not tested."""
    at_floor: bool = False
    """Whether p is the lowest that so few clusters can give."""
    answer: Answer = "not tested"
    """`more` and `fewer` of findings; `too few to tell` where no result of this size could show anything."""
    detectable: float | None = None
    """The least true difference that such samples show in `ENOUGH` of the cases, corrected as here."""
    detectable_alone: float | None = None
    """The same where this figure alone is asked about, as a gate does."""
    bounds: Ends | None = None
    """How far failures on either side could move the difference."""
    by_length: float | None = None
    """What the change of reply length alone would give, by how scores go with length within the runs."""
    digits: int = 2
    share: bool = False
    """Whether the figure is a share, shown in percent."""
    limits: Ends = SHARE
    """What the figure can be."""
    checked: bool = False
    """Whether it was shown to agree with people or outcomes on such data."""
    checked_by: str = ""
    """What showed it."""

    @property
    def moved(self) -> bool:
        """Whether it is shown to have moved."""
        return self.answer in ("better", "worse", "more", "fewer")

    @property
    def room(self) -> Ends:
        """How far the figure of the first run could fall and rise."""
        before = self.limits[0] if self.a.mean is None else self.a.mean
        return before - self.limits[0], self.limits[1] - before


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """A change, with what a test of several needs."""

    change: Change
    comparison: Comparison
    gain: Gain
    basis: Basis
    parts: Floats
    """What each cluster adds to the difference, were both runs alike; shape (clusters,)."""


def tested(figures: Sequence[Difference], rng: np.random.Generator) -> tuple[Change, ...]:
    """Answer for figures that are tested together, all of the same clusters.

    Args:
        figures: Of one question, such as the dimensions of a rubric.
        rng: Draws what corrects for their number.
    """
    known = [figure for figure in figures if figure.comparison.p is not None]
    parts = np.stack([figure.parts for figure in known], axis=1) if known else np.empty((0, 0))
    corrected, alpha = corrected_together([figure.comparison.p or 0.0 for figure in known], parts, rng)
    by_name = dict(zip((figure.change.name for figure in known), corrected, strict=True))
    out = []
    for figure in figures:
        change, least, p = figure.change, figure.comparison.least_p, by_name.get(figure.change.name)
        detectable = figure.basis.detectable(figure.gain, power=ENOUGH, alpha=alpha)
        answer: Answer = "cannot tell"
        if p is None or least is None:
            answer = "too few to tell" if change.delta.reason else answer
        elif least <= ALPHA and p <= ALPHA and change.delta.value:
            rose = change.delta.value > 0
            answer = "better" if rose == change.higher_is_better else "worse"
            if change.share and change.higher_is_better is False:
                answer = "more" if rose else "fewer"
        elif least > ALPHA or (detectable is not None and detectable > max(change.room)):
            answer = "too few to tell"
        out.append(replace(change, p_corrected=p, detectable=detectable, answer=answer))
    return tuple(out)


def figure_of(
    pairing: PairedRuns,
    name: str,
    sums: Sums,
    limits: Ends,
    *,
    higher: bool | None = True,
    share: bool = False,
) -> Difference | None:
    """Compare one figure; None where neither run has it.

    Args:
        pairing: What is compared.
        name: Of the figure.
        sums: Of it, of all conversations of both runs.
        limits: What the figure can be.
        higher: Whether more is better; None where neither is.
        share: Whether the figure is a share.
    """
    sums = sums[:, pairing.place]
    use = np.ones(pairing.key.size, dtype=bool)
    if pairing.paired:
        size = int(pairing.key.max(initial=-1)) + 1
        there = [np.bincount(pairing.key[side], sums[1, side], size) > 0 for side in pairing.sides]
        use = (there[0] & there[1])[pairing.key]
    columns, measured = [], []
    for side in pairing.sides:
        count, weight = sums[1:3, side].sum(axis=1)
        # Weights say for how many a target stands, not that it tells more than one.
        scaled, cluster = count / (weight or 1) * sums[:, side & use], pairing.cluster[side & use]
        total, n = (np.bincount(cluster, scaled[row], pairing.clusters).astype(float) for row in (0, 2))
        columns.append((total, n))
        mean = float(total.sum() / n.sum()) if n.sum() else None
        na, failed = sums[3:, side].sum(axis=1).astype(int).tolist()
        left_out = int(sums[1, side & ~use].sum())
        measured.append(Measured(mean, int(n.sum()), na, failed, left_out))
    (a, b), (before, after) = columns, measured
    if not any(side.n or side.n_failed for side in measured):
        return None
    gain, basis = gain_of_sums(a, b, limits=limits, unit=pairing.unit, paired=pairing.paired)
    comparison = compare_gain(("b", "a"), name, (after.mean, before.mean), gain, basis)
    change = Change(
        name,
        before,
        after,
        comparison.difference,
        higher,
        comparison.p,
        at_floor=comparison.at_floor,
        detectable_alone=basis.detectable(gain, power=ENOUGH, alpha=ALPHA),
        share=share,
        limits=limits,
    )
    size_a, size_b = a[1].sum(), b[1].sum()
    both = (a[0].sum() + b[0].sum()) / ((size_a + size_b) or 1)
    parts = (b[0] - both * b[1]) / (size_b or 1) - (a[0] - both * a[1]) / (size_a or 1)
    return Difference(change, comparison, gain, basis, parts)


def share_of(
    pairing: PairedRuns, name: str, holds: Mask, of: Mask, *, higher: bool | None = None
) -> Difference | None:
    """Compare the share of conversations of which something holds, among `of`; None where neither has any.

    Both are of all conversations of both runs.
    """
    sums = sums_of(np.flatnonzero(of), holds[of].astype(np.float64), of.size)
    return figure_of(pairing, name, sums, SHARE, higher=higher, share=True)


def finding_share(pairing: PairedRuns, kind: str) -> Difference | None:
    """Compare the share of the judged conversations with a finding of a kind, or with any."""
    talks = pairing.talks
    has = talks.having(*(talks.kinds if kind == ANY_FINDING else (kind,)))
    return share_of(pairing, kind, has, talks.judged, higher=False)


def dimension_figure(
    pairing: PairedRuns, spec: DimensionSpec, evidence: DimensionEvidence = UNCHECKED
) -> Difference | None:
    """Compare one dimension; `evidence` says whether it was shown to agree with people."""
    scale, sums = spec.scale, pairing.talks.scores[spec.name]
    runs = [pairing.place[side] for side in pairing.sides]
    limits = scale.low, scale.high
    figure = figure_of(pairing, spec.name, sums, limits, higher=scale.higher_is_better)
    if figure is None:
        return None
    # The difference if every failure had spoken against it, and for it.
    bounds, ends = None, []
    for run in runs:
        total, n, _, _, failed = sums[:, run].sum(axis=1).tolist()
        ends.append(mean_bounds(total, n, failed, worst=scale.low, best=scale.high))
    if ends[0] is not None and ends[1] is not None and figure.change.a.n_failed + figure.change.b.n_failed:
        bounds = ends[1][0] - ends[0][1], ends[1][1] - ends[0][0]
    change = replace(
        figure.change,
        bounds=bounds,
        by_length=_by_length(sums, pairing.talks.facts[LENGTH], runs),
        checked=evidence.checked,
        checked_by=evidence.by,
    )
    return replace(figure, change=change)


def _by_length(scores: Sums, lengths: Sums, runs: Sequence[Codes]) -> float | None:
    """Return the pooled slope of score on log length within the runs, times the change of log length."""
    products = squares = 0.0
    means = []
    for run in runs:
        both = run[(scores[1, run] > 0) & (lengths[1, run] > 0)]
        if both.size < 3:
            return None
        x = np.log(1 + lengths[0, both] / lengths[1, both])
        y = scores[0, both] / scores[1, both]
        products += float((x - x.mean()) @ (y - y.mean()))
        squares += float((x - x.mean()) @ (x - x.mean()))
        means.append(float(x.mean()))
    return products / squares * (means[1] - means[0]) if squares else None
