"""The controls: sources that read nothing, or only what no judge should go by.

A figure that a control matches is no finding. A control is given every advantage that costs nothing: all of
them know how often people gave each score to these very targets, and one that ranks does it for each figure
in the direction in which that figure is better.

- `constant`: always the score that people give most to these targets (the lowest of several). It has the
  exact agreement and the F1 that reading nothing can reach.
- `always dissatisfied`: the worst score, where a rule says what dissatisfied is.
- `reply length`: people's own scores, dealt out in the order of length. Equal lengths get equal scores.
- `position`: the same by the place of the reply in its conversation.
- `shuffled`: the source's own scores, dealt anew within each block of the table; over all targets where the
  table has no blocks. Within a block the level of a user stays, so it is what a judge reaches who knows the
  user and does not read the reply.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from dialogauge.core import Scale
from dialogauge.stats.coefficients import mid_ranks
from dialogauge.stats.table import (
    Codes,
    Directions,
    DissatisfiedRule,
    Floats,
    Scores,
    ScoreTable,
    label_codes,
    scores_of,
)

CONTROLS: Final[Mapping[str, str]] = {
    "constant": "always the score that people give most to these targets",
    "always dissatisfied": "always the worst score",
    "reply length": "by the reply's length: people's own scores, dealt in that order, the longer or the "
    "shorter the better, whichever makes the figure better",
    "position": "by the place in the conversation, likewise",
    "shuffled": "the judge's own scores, dealt to targets at random",
}
"""What each does, in the order in which tables show them."""


@dataclass(frozen=True, slots=True, eq=False)
class Control:
    """One control."""

    description: str
    versions: tuple[Scores, ...]
    """One column; of what is dealt by chance, one for each deal; of what ranks, `Directions`."""


def controls_of(
    table: ScoreTable,
    source: str,
    reference: str,
    *,
    rule: DissatisfiedRule | None = None,
    shuffles: int = 20,
    seed: int = 0,
) -> dict[str, Control]:
    """Return the controls of a source, by name: those that the table has the means for.

    Args:
        table: Of the targets.
        source: The judge whose controls they are: it lends its scale, and its scores to be shuffled.
        reference: People.
        rule: What counts as dissatisfied.
        shuffles: Deals of the shuffled control.
        seed: Of the deals.
    """
    own, people = table.sources[source], table.sources[reference]
    out = {"constant": _constant(own, people, rule)}
    if rule is not None:
        low = own.scale.higher_is_better if rule.category is not None else rule.lower
        level = own.scale.low if low else own.scale.high
        column = _flat(level, own, rule, called=True)
        out["always dissatisfied"] = Control(
            f"always says {level:g}, and calls every user dissatisfied", (column,)
        )
    for name, values in (("reply length", table.lengths), ("position", table.positions)):
        if values is not None:
            both = Directions(_dealt(order, own, people, rule) for order in (values, -values))
            out[name] = Control(CONTROLS[name], both)
    dealt = tuple(own.take(order) for order in deals(table, shuffles=shuffles, seed=seed))
    description = f"the judge's own scores dealt to targets at random (mean of {shuffles})"
    return out | {"shuffled": Control(description, dealt)}


def deals(table: ScoreTable, *, shuffles: int, seed: int) -> tuple[Codes, ...]:
    """Return random orders of the targets, shape (n,) each, that leave every target in its block."""
    rng = np.random.default_rng([seed, 1])
    codes, blocks = label_codes(table.blocks or (None,) * table.n)
    members = [np.flatnonzero(codes == block) for block in range(blocks)]
    out = []
    for _ in range(shuffles):
        order = np.arange(table.n)
        for of in members:
            order[of] = rng.permutation(of)
        out.append(order)
    return tuple(out)


def deal_by(order: Floats, people: Scores, rule: DissatisfiedRule | None = None) -> Scores:
    """Deal people's own scores to the targets in an order, the lowest first; equal places get equal scores.

    Args:
        order: Shape (n,), from what is to get a low score to what is to get a high one.
        people: Whose scores are dealt, and whose scale they are on.
        rule: What counts as dissatisfied, where people name classes.
    """
    places = np.clip(np.floor(mid_ranks(order) - 0.5).astype(np.intp), 0, max(order.size - 1, 0))
    standard = people.values if people.numbers or people.dissatisfied is None else -people.dissatisfied
    ranked = people.take(np.argsort(standard, kind="stable")[places])
    classes = ranked.dissatisfied
    if classes is None and rule is not None:
        classes = rule.classes(ranked.values)
    return scores_of(ranked.values, whole=ranked.whole, order=order, scale=people.scale, dissatisfied=classes)


def thirds(lengths: Sequence[float] | Floats, of: Sequence[float] | Floats, scale: Scale) -> Scores:
    """Return the published length control: one of the three best scores, by the third that a length falls in.

    Args:
        lengths: Shape (n,).
        of: The lengths whose thirds are taken.
        scale: That the scores are on.
    """
    low, high = np.quantile(of, [1 / 3, 2 / 3]) if len(of) else (0.0, 0.0)
    array = np.asarray(lengths, dtype=np.float64)
    level: Floats = scale.high - 2 + np.asarray(array > low, dtype=np.float64) + (array > high)
    return scores_of(level, scale=scale)


def _constant(own: Scores, people: Scores, rule: DissatisfiedRule | None) -> Control:
    if own.values.size and people.numbers:
        levels, counts = np.unique(people.whole, return_counts=True)
        most = float(levels[int(np.argmax(counts))])
        column = _flat(most, own, rule, called=rule is not None and rule.holds(most))
        return Control(f"always says {most:g}, the score that people give most", (column,))
    named = people.dissatisfied
    called = named is not None and bool(named.size) and float(named.mean()) > 0.5
    column = _flat(own.scale.worst if called else own.scale.best, own, rule, called=called)
    return Control("always names the class that people name most", (column,))


def _flat(level: float, own: Scores, rule: DissatisfiedRule | None, *, called: bool) -> Scores:
    column = np.full(own.values.size, level)
    classes = None if rule is None else np.full(column.size, float(called))
    return scores_of(column, whole=column, scale=own.scale, dissatisfied=classes)


def _dealt(order: Floats, own: Scores, people: Scores, rule: DissatisfiedRule | None) -> Scores:
    dealt = deal_by(order, people, rule)
    if dealt.numbers:
        return dealt
    level = np.full(order.size, own.scale.low)
    return scores_of(level, whole=level, order=dealt.order, scale=own.scale, dissatisfied=dealt.dissatisfied)


def control_columns(controls: Mapping[str, Control]) -> dict[str, tuple[Scores, ...]]:
    """Return the columns of the controls, as `figures_of` takes them."""
    return {name: control.versions for name, control in controls.items()}
