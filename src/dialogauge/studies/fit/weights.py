"""Weights of a rubric's criteria, fitted to people: ridge towards the rubric's own, within their signs.

After DynSess (arXiv:2605.29256), Eq. 4: a score is clip(b + sum of w_c, low, high). The paper says no more of
the weights than that they are calibrated on a small set; how they are is ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from dialogauge.core import Scale
from dialogauge.rubrics import FittedCriterion, FittedDimension, ItemList
from dialogauge.stats import Categories, Estimate, Floats, cluster_labels, label_codes, mean_estimate
from dialogauge.stats.table import Codes, Mask
from dialogauge.studies.agreement.among import beside_others
from dialogauge.studies.agreement.closeness import consensus_of
from dialogauge.studies.agreement.order import Personas
from dialogauge.studies.agreement.sources import Answers, TargetKey, grid_of, pile_of, sources_of
from dialogauge.text import counted

RIDGES: Final = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""Lambda: how much the weights are held to those of the rubric."""
LEAST_SUPPORT: Final = 3
"""A criterion that was named in fewer sessions keeps the weight of the rubric."""
_PARTS: Final = (50, 10)
"""In which personas are left out at most, and where lambda is chosen without a persona."""
_STEPS, _STILL = 100, 1e-10
_FEW: Final = 10
"""Sessions below which it is said that a figure stands on few."""
_MOST_RATERS: Final = 30

Named = Mapping[TargetKey, Mapping[int, frozenset[str]]]
"""By target and repeat the criteria that a judge named."""


def prior_of(criteria: ItemList, scale: Scale) -> Floats:
    """Return the base and weights of a rubric, and how far a fit may go: shape (3, 1 + criteria).

    On 1 to 5 a bonus is 0 to 2, a deduction -2 to 0, a base 2 to 4; on another scale the same parts of its
    length. What a rubric has beyond is a bound itself; a criterion that counts nothing stays so.
    """
    reach, base = scale.high - scale.low, criteria.base or 0.0
    weights = np.array([option.weight or 0.0 for option in criteria.options])
    low = np.where(weights < 0, np.minimum(weights, -reach / 2), 0)
    high = np.where(weights > 0, np.maximum(weights, reach / 2), 0)
    bases = base, min(scale.low + reach / 4, base), max(scale.high - reach / 4, base)
    return np.column_stack([bases, np.array([weights, low, high])])


@dataclass(frozen=True, slots=True, eq=False)
class RatedCriteria:
    """What a judge named in n sessions, what people said of them, and the rubric's weights."""

    named: Floats
    """Shape (n, repeats, criteria): 1 or 0, NaN in a repeat that has no judgement."""
    people: Floats
    """Shape (n,), within the scale: the mean over raters."""
    personas: Codes
    """Shape (n,), from 0 on."""
    prior: Floats
    """As `prior_of` gives it."""
    scale: Scale

    @property
    def support(self) -> Codes:
        """The sessions in which each criterion was named, in whatever repeat; shape (criteria,)."""
        return np.asarray((np.nansum(self.named, axis=1) > 0).sum(axis=0))

    @property
    def moves(self) -> Mask:
        """Which weights are fitted, the base first: shape (1 + criteria,)."""
        return np.asarray([True, *(self.support >= LEAST_SUPPORT)] & (self.prior[1] < self.prior[2]))

    def scores(self, weights: Floats) -> Floats:
        """Return what a judge with these weights gives: cut in each repeat, then averaged; shape (n,)."""
        added = weights[0] + self.named @ weights[1:]
        return np.asarray(np.nanmean(np.clip(added, self.scale.low, self.scale.high), axis=1))

    def fits(self, ridges: Sequence[float] = RIDGES) -> list[Floats]:
        """Return base and weights for each lambda, given in rising order: shape (1 + criteria,) each.

        With x how often each criterion was named over the repeats, z = b + x.w and y what people said, steps
        go down sum(2 (clip(z) - y) x) + 2 lambda (w - w0) within the bounds until none is left. Where the
        clip is active a step further out changes nothing, and a step back counts as if it were not. This is
        the gradient of a convex function: the square of z - y, past an end of the scale continued as a
        straight line. So the weights are unique. Newton's steps in the free coordinates (Bertsekas 1982,
        10.1137/0320018).
        """
        x = np.column_stack([np.ones(len(self.people)), np.nanmean(self.named, axis=1)])
        start, low, high = np.where(self.moves, self.prior, self.prior[0])
        weights, out = start, list[Floats]()
        for ridge in reversed(ridges):
            for _ in range(_STEPS):
                value, slope, curve = self._descent(x, weights, ridge)
                free = np.flatnonzero(~((weights <= low) & (slope > 0)) & ~((weights >= high) & (slope < 0)))
                step, length = np.zeros_like(weights), 1.0
                step[free] = np.linalg.solve(curve[np.ix_(free, free)], slope[free])
                moved = np.clip(weights - step, low, high)
                while length > _STILL and self._descent(x, moved, ridge)[0] > value:
                    length /= 2
                    moved = np.clip(weights - length * step, low, high)
                weights, before = moved, weights
                if np.abs(weights - before).max() <= _STILL:
                    break
            out.append(weights)
        return out[::-1]

    def _descent(self, x: Floats, weights: Floats, ridge: float) -> tuple[float, Floats, Floats]:
        """Return what is minimised, half its gradient and half its curvature."""
        z, away = x @ weights, weights - self.prior[0]
        cut = np.clip(z, self.scale.low, self.scale.high)
        apart, inside = cut - self.people, x * (cut == z)[:, None]
        value = apart @ apart + 2 * apart @ (z - cut) + ridge * away @ away
        return float(value), x.T @ apart + ridge * away, inside.T @ x + ridge * np.eye(len(weights))

    def choose(self, parts: int = _PARTS[0]) -> float:
        """Return the lambda whose weights have the least squared error on personas left out in turn.

        Of several the greatest, nearest to the rubric; so of a single persona.
        """
        errors = np.zeros(len(RIDGES))
        for rest, out, _ in self._left_out(parts):
            errors += [((out.scores(fit) - out.people) ** 2).sum() for fit in rest.fits()]
        return max(zip(-errors.round(9), RIDGES, strict=True))[1]

    def left_out(self) -> tuple[Floats, Floats]:
        """Return by session what weights say that were fitted without its persona, and others' mean rating.

        Shape (n,) each. Lambda too is chosen without the persona: the scores have seen nothing of what they
        are held against.
        """
        fitted, constant = np.empty((2, len(self.people)))
        for rest, out, at in self._left_out(_PARTS[0]):
            fitted[at] = out.scores(rest.fits((rest.choose(_PARTS[1]),))[0])
            constant[at] = rest.people.mean()
        return fitted, constant

    def _left_out(self, parts: int) -> Iterator[tuple[RatedCriteria, RatedCriteria, Mask]]:
        """Yield the sessions without those of some personas, these, and which they are."""
        codes = np.unique(self.personas, return_inverse=True)[1] % parts
        for at in (codes == part for part in range(codes.max() + 1) if codes.any()):
            rest, out = (
                replace(self, named=self.named[of], people=self.people[of], personas=self.personas[of])
                for of in (~at, at)
            )
            yield rest, out, at


def fitted_dimension(
    criteria: ItemList, scale: Scale, named: Named, people: Answers, categories: Categories, seed: int
) -> FittedDimension | None:
    """Fit one dimension; None where no criterion was named in enough sessions.

    Args:
        criteria: The rubric's.
        scale: Of the dimension.
        named: By the judge, of the rated targets.
        people: What they said of these, of two personas or more.
        categories: All that people could say: numbers.
        seed: Of the draws of personas.
    """
    options, repeats = criteria.options, sorted({repeat for key in people for repeat in named[key]})
    none = [np.nan] * len(options)
    cells = [
        [[o.name in of[r] for o in options] if r in of else none for r in repeats]
        for of in (named[key] for key in people)
    ]
    clusters, unit = cluster_labels([o.user for o in people.values()], [k.conversation_id for k in people])
    codes, personas = label_codes(clusters)
    gold = consensus_of(pile_of(people, categories))
    rated = RatedCriteria(np.array(cells, dtype=np.float64), gold, codes, prior_of(criteria, scale), scale)
    if not rated.moves[1:].any():
        return None
    ridge, own, (fitted, constant) = rated.choose(), rated.scores(rated.prior[0]), rated.left_out()
    base, *weights = (rated.fits((ridge,))[0].round(4) + 0.0).tolist()
    nearer = (np.abs(fitted - gold) - np.abs(own - gold)) / (scale.high - scale.low)
    less = {"nmae": mean_estimate(nearer, clusters, limits=(-1.0, 1.0), unit=unit)}
    grid = grid_of(people, categories, sources_of(people, _MOST_RATERS))
    raters = [_beside(people, a, b, scale, seed) for _, a, b in beside_others(grid)]
    ceiling = {
        name: [of[name][0] for of in raters if name in of] for name in ("nmae", "bias", "rank_accuracy")
    }
    return FittedDimension(
        base=base,
        prior=rated.prior[0, 0].item(),
        ridge=ridge,
        sessions=len(gold),
        personas=personas,
        note=f"{counted(len(gold), 'session')} alone: figures say little" if len(gold) < _FEW else None,
        criteria={
            o.name: FittedCriterion(weight, o.weight or 0.0, support)
            for o, weight, support in zip(options, weights, rated.support.tolist(), strict=True)
        },
        figures={
            "fitted": _beside(people, fitted, gold, scale, seed),
            "rubric": _beside(people, own, gold, scale, seed),
            "fitted_less_rubric": _written(less),
            "constant": _beside(people, constant, gold, scale, seed),
            "people": {name: (round(float(np.mean(of)), 6),) for name, of in ceiling.items() if of},
        },
    )


def _beside(
    people: Answers, scores: Floats, gold: Floats, scale: Scale, seed: int
) -> dict[str, tuple[float, ...]]:
    """Return distance and bias by session, and how candidates' means order, where both are no NaN."""
    users, own, theirs = dict[TargetKey, str | None](), dict[TargetKey, float](), dict[TargetKey, float]()
    for (key, one), a, b in zip(people.items(), scores.tolist(), gold.tolist(), strict=True):
        if a + b == a + b:
            named = key._replace(candidate=key.candidate or "")
            users[named], own[named], theirs[named] = one.user, a, b
    if not users:
        return {}
    personas = Personas.of(sorted({str(key.candidate) for key in users}), users, seed)
    figures = personas.by_target(own, theirs, scale)
    made = {name: figures[name] for name in ("nmae", "bias")}
    if len(personas.candidates) > 1:
        means = personas.means(own), personas.means(theirs)
        made["rank_accuracy"] = personas.between(*means, None)["rank_accuracy"]
    return _written(made)


def _written(figures: Mapping[str, Estimate]) -> dict[str, tuple[float, ...]]:
    known = {name: (of.value, *(of.interval or ())) for name, of in figures.items() if of.value is not None}
    return {name: tuple(round(number, 6) for number in of) for name, of in known.items()}
