"""How far a judge agrees with people, always beside what a judge that knows nothing would reach."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from dialogauge.core import Scale
from dialogauge.stats import (
    auc_draws,
    cluster_weights,
    f1_draws,
    interval_of_draws,
    kappa_draws,
    mean_draws,
    pearson_draws,
    precision_draws,
    recall_draws,
    spearman,
    spearman_draws,
)
from dialogauge.studies.agreement.result import Bin, Control, Estimate, JudgeAgreement, MetaSettings
from dialogauge.studies.agreement.targets import DissatisfiedRule, RatedTarget, TargetTable

Floats = npt.NDArray[np.float64]

CONTROLS = ("constant", "always dissatisfied", "reply length", "shuffled")
"""The controls in the order in which tables show them."""


@dataclass(frozen=True, slots=True)
class People:
    """What people said of n targets."""

    scores: Floats | None
    """Mean over the raters; None when they named categories."""
    order: Floats | None
    """The same from bad to good: turned round where low is good."""
    dissatisfied: Floats | None
    """1 or 0; None without a rule."""
    on_scale: bool
    """Whether all ratings lie on the judge's scale, so that scores can be held against each other."""

    @property
    def rounded(self) -> Floats | None:
        """The scores as whole numbers, halves upward."""
        return None if self.scores is None else rounded(self.scores)


@dataclass(frozen=True, slots=True)
class Column:
    """What one judge, or a control, says of the n targets."""

    name: str
    order: Floats
    """What ranks the targets, from bad to good."""
    value: Floats
    """A score on the scale, with fractions."""
    whole: Floats
    """The score as a whole number."""
    called: Floats
    """1 where it calls the user dissatisfied."""

    def dealt(self, order: npt.NDArray[Any]) -> Column:
        """Return the column with its rows in another order."""
        return Column("shuffled", self.order[order], self.value[order], self.whole[order], self.called[order])


def rounded(values: Floats) -> Floats:
    """Round to whole numbers, halves upward."""
    out: Floats = np.floor(values + 0.5)
    return out


def people_column(targets: Sequence[RatedTarget], scale: Scale, rule: DissatisfiedRule | None) -> People:
    """Return what people said of the targets; ratings are all numbers or all names.

    Where both came in nevertheless, the names are taken to be what counts.
    """
    names = any(isinstance(t.people, str) for t in targets)
    scores = None if names else np.array([t.people for t in targets], dtype=np.float64)
    labels = None if rule is None else np.array([rule.holds(t.people) for t in targets], dtype=np.float64)
    inside = scores is not None and bool(((scores >= scale.low) & (scores <= scale.high)).all())
    return People(scores, None if scores is None else _from_bad(scores, rule), labels, inside)


def judge_column(targets: Sequence[RatedTarget], rule: DissatisfiedRule | None, name: str) -> Column:
    """Return the judge's column: its class by the same rule on its whole score, or as it named it."""
    value = np.array([t.score for t in targets], dtype=np.float64)
    whole = np.array([t.whole for t in targets], dtype=np.float64)
    if rule is None:
        called = np.zeros(value.size)
    elif rule.category is not None:
        called = np.array([t.called == rule.category for t in targets], dtype=np.float64)
    else:
        called = np.array([rule.holds(float(w)) for w in whole], dtype=np.float64)
    return Column(name, _from_bad(value, rule), value, whole, called)


def controls_of(
    targets: Sequence[RatedTarget], people: People, scale: Scale, rule: DissatisfiedRule | None
) -> tuple[Column, ...]:
    """Return the constant, the always dissatisfied (where there is a rule) and the reply length."""
    n = len(targets)
    out = [_constant(n, people, scale, rule)]
    if rule is not None:
        worst = scale.low if rule.lower else scale.high
        out.append(_flat("always dissatisfied", n, worst, called=True))
    out.append(_length(targets, people, scale, rule))
    return tuple(out)


def _constant(n: int, people: People, scale: Scale, rule: DissatisfiedRule | None) -> Column:
    if people.rounded is None or not n:
        return _flat("constant", n, scale.low, called=False)
    levels, counts = np.unique(people.rounded, return_counts=True)
    most = float(levels[int(np.argmax(counts))])
    called = rule is not None and rule.holds(most)
    return _flat("constant", n, most, called=called)


def _flat(name: str, n: int, score: float, *, called: bool) -> Column:
    return Column(name, np.zeros(n), np.full(n, score), np.full(n, score), np.full(n, float(called)))


def _length(
    targets: Sequence[RatedTarget], people: People, scale: Scale, rule: DissatisfiedRule | None
) -> Column:
    length = np.log1p(np.array([t.length for t in targets], dtype=np.float64))
    standard = people.scores if people.scores is not None else people.dissatisfied
    if standard is None or not length.size:
        lowest = np.full(length.size, scale.low)
        return Column("reply length", length, lowest, lowest, np.zeros(length.size))
    better = _from_bad(standard, rule) if people.scores is not None else -standard
    found = spearman(length, better).value
    order = length if found is None or found >= 0 else -length
    by_order = np.argsort(order, kind="stable")
    value, called = np.empty(length.size), np.zeros(length.size)
    ranked = np.argsort(better, kind="stable")
    value[by_order] = standard[ranked] if people.scores is not None else scale.low
    if people.dissatisfied is not None:
        called[by_order] = people.dissatisfied[ranked]
    return Column("reply length", order, value, rounded(value), called)


def _from_bad(values: Floats, rule: DissatisfiedRule | None) -> Floats:
    return values if rule is None or rule.lower else -values


Need = Literal["numbers", "scale", "classes", "ranking"]
Better = Literal["high", "low", "zero"]


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure of agreement."""

    name: str
    title: str
    need: Need
    """Ratings that are numbers, that lie on the judge's scale, classes (a rule), or classes to rank."""
    better: Better
    null: float | None
    """What a judge that says nothing has where its own figure is undefined; None where there is none."""
    draws: Callable[[Column, People, Floats], Floats]
    """Per row of weights, shape (draws, n) -> (draws,)."""


def _have(values: Floats | None) -> Floats:
    return np.empty(0) if values is None else values


def _pearson(c: Column, p: People, w: Floats) -> Floats:
    return pearson_draws(c.order, _have(p.order), w)


def _spearman(c: Column, p: People, w: Floats) -> Floats:
    return spearman_draws(c.order, _have(p.order), w)


def _kappa(c: Column, p: People, w: Floats) -> Floats:
    return kappa_draws(c.whole, _have(p.rounded), w)


def _exact(c: Column, p: People, w: Floats) -> Floats:
    return mean_draws((c.whole == _have(p.rounded)).astype(np.float64), w)


def _within_one(c: Column, p: People, w: Floats) -> Floats:
    return mean_draws((np.abs(c.whole - _have(p.rounded)) <= 1).astype(np.float64), w)


def _error(c: Column, p: People, w: Floats) -> Floats:
    return mean_draws(np.abs(c.value - _have(p.scores)), w)


def _bias(c: Column, p: People, w: Floats) -> Floats:
    return mean_draws(c.value - _have(p.scores), w)


def _f1(c: Column, p: People, w: Floats) -> Floats:
    return f1_draws(c.called, _have(p.dissatisfied), w)


def _precision(c: Column, p: People, w: Floats) -> Floats:
    return precision_draws(c.called, _have(p.dissatisfied), w)


def _recall(c: Column, p: People, w: Floats) -> Floats:
    return recall_draws(c.called, _have(p.dissatisfied), w)


def _auc(c: Column, p: People, w: Floats) -> Floats:
    return auc_draws(-c.order, _have(p.dissatisfied), w)


MEASURES: Final = (
    Measure("pearson", "Pearson", "numbers", "high", 0.0, _pearson),
    Measure("spearman", "Spearman", "numbers", "high", 0.0, _spearman),
    Measure("kappa", "quadratic kappa", "scale", "high", 0.0, _kappa),
    Measure("exact", "exact", "scale", "high", None, _exact),
    Measure("within_one", "within one", "scale", "high", None, _within_one),
    Measure("mae", "mean absolute error", "scale", "low", None, _error),
    Measure("bias", "bias", "scale", "zero", None, _bias),
    Measure("f1", "F1 of dissatisfied", "classes", "high", None, _f1),
    Measure("precision", "precision", "classes", "high", None, _precision),
    Measure("recall", "recall", "classes", "high", None, _recall),
    Measure("auc", "AUC of dissatisfied", "ranking", "high", 0.5, _auc),
)
COMPARED: Final = ("spearman", "kappa", "auc")
"""The measures by which two judges are held against each other: few, for each test costs power."""


def title_of(name: str, rule: str | None) -> str:
    """Return the title of a measure; of one that needs classes, with what counts as dissatisfied.

    Args:
        name: Of the measure.
        rule: What counts as dissatisfied, such as `<3`; None where nothing does.
    """
    measure = next(m for m in MEASURES if m.name == name)
    return f"{measure.title} ({rule})" if rule and measure.need in ("classes", "ranking") else measure.title


def measures_for(people: People, *, named_classes: bool) -> tuple[Measure, ...]:
    """Return the measures that the ratings allow.

    Classes need a rule; and the same rule must fit the judge's scores: ratings on its scale, or
    categories that the judge names itself.
    """
    numbers = people.scores is not None
    scale = numbers and people.on_scale
    classes = people.dissatisfied is not None
    able: dict[Need, bool] = {
        "numbers": numbers,
        "scale": scale,
        "classes": classes and (scale or named_classes),
        "ranking": classes,
    }
    return tuple(m for m in MEASURES if able[m.need])


def signed_gain(measure: Measure, mine: Floats, other: Floats) -> Floats:
    """How much better `mine` is than `other`: positive is better, whichever way the measure points.

    Where the other's figure is undefined (a constant ranks nothing) the measure's null stands for it.
    """
    if measure.null is not None:
        other = np.where(np.isfinite(other), other, measure.null)
    if measure.better == "high":
        return mine - other
    if measure.better == "low":
        return other - mine
    return np.abs(other) - np.abs(mine)


Several = Sequence[Column]
"""Versions of one reader, of which each takes a share of the draws: one judge, or many shuffles."""


class Draws:
    """Draws of every measure of every reader under one clustering; `found[reader][measure]`."""

    def __init__(self, found: Mapping[str, Mapping[str, Floats]], clusters: int) -> None:
        self.found = found
        self.clusters = clusters


def draw_all(
    readers: Mapping[str, Several],
    people: People,
    measures: Sequence[Measure],
    clusters: Sequence[Hashable],
    settings: MetaSettings,
) -> Draws:
    """Draw clusters and compute every measure of every reader on the same draws."""
    rng = np.random.default_rng(settings.seed)
    parts: dict[str, dict[str, list[Floats]]] = {r: {m.name: [] for m in measures} for r in readers}
    blocks = cluster_weights(clusters, rng=rng, draws=settings.draws, chunks=settings.shuffles)
    for number, weights in enumerate(blocks):
        for reader, versions in readers.items():
            column = versions[number % len(versions)]
            for measure in measures:
                parts[reader][measure.name].append(measure.draws(column, people, weights))
    joined = {r: {m: _joined(p) for m, p in by.items()} for r, by in parts.items()}
    return Draws(joined, len(set(clusters)))


def _joined(parts: Sequence[Floats]) -> Floats:
    return np.concatenate(parts) if parts else np.empty(0)


def point_of(versions: Several, people: People, measure: Measure) -> float | None:
    """Return the measure on the targets as they are; the mean over the versions of a reader."""
    n = versions[0].value.size
    if not n:
        return None
    ones = np.ones((1, n))
    found = np.array([measure.draws(column, people, ones)[0] for column in versions])
    held = found[np.isfinite(found)]
    return float(held.mean()) if held.size else None


def estimates_of(
    value: float | None,
    by_conversation: tuple[Floats, int],
    by_user: tuple[Floats, int] | None,
    settings: MetaSettings,
) -> Estimate:
    """Put a figure together with its intervals, each from draws and the number of clusters."""
    draws, clusters = by_conversation
    return Estimate(
        value,
        interval_of_draws(draws, clusters=clusters, level=settings.level),
        None if by_user is None else interval_of_draws(by_user[0], clusters=by_user[1], level=settings.level),
    )


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
