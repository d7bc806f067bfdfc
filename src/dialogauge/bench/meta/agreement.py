"""How far a judge agrees with people, always beside what a judge that knows nothing would reach."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dialogauge.bench.meta.columns import Column, People, controls_of, judge_column, people_column
from dialogauge.bench.meta.measures import Measure, measures_for, signed_gain
from dialogauge.bench.meta.resampling import Draws, Several, draw_all, estimates_of, point_of
from dialogauge.bench.meta.result import Bin, Control, Estimate, JudgeAgreement, MetaSettings
from dialogauge.bench.meta.rule import DissatisfiedRule
from dialogauge.bench.meta.targets import RatedTarget, TargetTable
from dialogauge.core import Scale

__all__ = ["JudgedRun", "agreement", "default_rule", "user_clusters"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """Which run a table is of."""

    name: str
    run: str
    judge: str
    mode: str
    fitted_to: int | None = None
    """Rated conversations whose very words the judge was fitted to; None for a judge that does not say."""


def default_rule(targets: Sequence[RatedTarget], scale: Scale) -> DissatisfiedRule | None:
    """Return the rule where none is given: below the middle of the judge's scale.

    Ratings that lie off the judge's scale are cut at the middle of what was given; names have no rule.
    """
    given = [t.people for t in targets if not isinstance(t.people, str)]
    if not given or len(given) < len(targets):
        return None
    low, high = scale.low, scale.high
    if min(given) < low or max(given) > high:
        low, high = min(given), max(given)
    return DissatisfiedRule("<" if scale.higher_is_better else ">", (low + high) / 2)


def user_clusters(targets: Sequence[RatedTarget]) -> list[str] | None:
    """Return the user of each target; None where one is unknown or all are the same."""
    users = [t.user for t in targets if t.user is not None]
    return users if len(users) == len(targets) and len(set(users)) > 1 else None


def agreement(
    run: JudgedRun,
    table: TargetTable,
    scale: Scale,
    rule: DissatisfiedRule | None,
    settings: MetaSettings,
    only: Collection[str] | None = None,
) -> JudgeAgreement:
    """Compute every measure that the ratings allow, for the judge and its controls.

    Args:
        run: Whose table it is.
        table: The targets that people rated and the judge scored.
        scale: Of the judge's dimension.
        rule: What counts as dissatisfied; None leaves the classes out.
        settings: Draws, seed, level.
        only: The measures to compute; None for all.
    """
    targets = table.targets
    people = people_column(targets, scale, rule)
    mine = judge_column(targets, rule, run.name)
    controls = controls_of(targets, people, scale, rule)
    readers: dict[str, Several] = {"": (mine,), **{c.name: (c,) for c in controls}}
    readers["shuffled"] = _shuffles(mine, settings)
    able = measures_for(people, named_classes=rule is not None and rule.category is not None)
    measures = [m for m in able if only is None or m.name in only]
    users = user_clusters(targets)
    by_conversation = draw_all(readers, people, measures, [t.key.conversation_id for t in targets], settings)
    by_user = None if users is None else draw_all(readers, people, measures, users, settings)
    work = _Work(readers, people, measures, by_conversation, by_user, settings)
    return JudgeAgreement(
        name=run.name,
        run=run.run,
        judge=run.judge,
        mode=run.mode,
        pair=table.pair,
        counts=table.counts,
        conversations=by_conversation.clusters,
        users=None if by_user is None else by_user.clusters,
        languages=dict(table.languages.most_common()),
        fractions=table.fractions,
        rule=None if rule is None else str(rule),
        dissatisfied=None if people.dissatisfied is None else int(people.dissatisfied.sum()),
        same_scale=people.on_scale,
        figures=work.figures(""),
        controls=tuple(
            Control(name, _describe(readers[name][0], settings), work.figures(name), work.gains(name))
            for name in readers
            if name
        ),
        bins=_bins(mine, people),
        fitted_to=run.fitted_to,
    )


@dataclass(frozen=True, slots=True)
class _Work:
    readers: Mapping[str, Several]
    people: People
    measures: Sequence[Measure]
    by_conversation: Draws
    by_user: Draws | None
    settings: MetaSettings

    def figures(self, reader: str) -> dict[str, Estimate]:
        return {
            m.name: self._estimate(point_of(self.readers[reader], self.people, m), reader, m, gain=False)
            for m in self.measures
        }

    def gains(self, control: str) -> dict[str, Estimate]:
        out = {}
        for m in self.measures:
            mine = point_of(self.readers[""], self.people, m)
            theirs = point_of(self.readers[control], self.people, m)
            found = float(signed_gain(m, _one(mine), _one(theirs))[0])
            out[m.name] = self._estimate(found if np.isfinite(found) else None, control, m, gain=True)
        return out

    def _estimate(self, value: float | None, reader: str, measure: Measure, *, gain: bool) -> Estimate:
        def taken(draws: Draws) -> tuple[Floats, int]:
            own = draws.found[reader][measure.name]
            if gain:
                own = signed_gain(measure, draws.found[""][measure.name], own)
            return own, draws.clusters

        users = None if self.by_user is None else taken(self.by_user)
        return estimates_of(value, taken(self.by_conversation), users, self.settings)


def _one(value: float | None) -> Floats:
    return np.array([np.nan if value is None else value])


def _shuffles(column: Column, settings: MetaSettings) -> Several:
    rng = np.random.default_rng([settings.seed, 1])
    n = column.value.size
    return tuple(column.dealt(rng.permutation(n)) for _ in range(settings.shuffles))


def _describe(column: Column, settings: MetaSettings) -> str:
    flat = f"always says {column.value[0]:g}" if column.value.size else "always says the same"
    return {
        "constant": f"{flat}, the score that people give most",
        "always dissatisfied": f"{flat}, and calls every user dissatisfied",
        "reply length": "ranks by the reply's length, in the direction that fits better; its scores are "
        "people's own, dealt out in that order",
        "shuffled": f"the judge's own scores dealt to targets at random (mean of {settings.shuffles})",
    }[column.name]


def _bins(column: Column, people: People) -> tuple[Bin, ...]:
    """What people gave where the judge gave each score."""
    if people.scores is None or people.rounded is None:
        return ()
    out = []
    whole = column.whole
    for score in np.unique(whole):
        here = whole == score
        counts = Counter(float(v) for v in people.rounded[here])
        mean = float(people.scores[here].mean())
        out.append(Bin(float(score), int(here.sum()), mean, dict(sorted(counts.items()))))
    return tuple(out)
