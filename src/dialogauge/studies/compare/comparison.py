"""What changed from one run to the other: differences with clustered intervals, and what may have moved them.

Everything is the second run less the first. Where conversations are paired, a dimension is compared on those
that have a score in both runs: a conversation that failed in one of them would else change the mix.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, get_args

import numpy as np

from dialogauge.core import DimensionSpec, Scale, Verdict
from dialogauge.core.json_keys import INSIDE, keys
from dialogauge.stats import ENOUGH, Comparison, Estimate, adjusted, compare_gain, mean_bounds
from dialogauge.stats.comparison import ALPHA
from dialogauge.stats.means import gain_of_sums
from dialogauge.stats.table import Codes, Floats
from dialogauge.studies.compare.pairing import PairedRuns, pair_sides
from dialogauge.studies.compare.talks import LENGTH, TURNS, ScoreSums, Side, Talk
from dialogauge.studies.planted.blind_spots import BlindSpots

Answer = Literal["better", "worse", "cannot tell"]
Ends = tuple[float, float]

_GOOD: Final = ("excellent", "good")
AT_LEAST_GOOD: Final = "at least good"
ANY_FINDING: Final = "any finding"
_CARD: Final = get_args(Verdict)


@dataclass(frozen=True, slots=True)
class Measured:
    """One side of a figure."""

    mean: float | None
    n: int
    n_na: int = 0
    n_failed: int = 0
    left_out: int = 0
    """Scores of conversations that have none in the other run."""


@keys(name=None, at_floor=None, digits=None, share=None, detectable_alone=None)
@dataclass(frozen=True, slots=True)
class Change:
    """A figure of both runs, and how far it moved."""

    name: str
    a: Measured
    b: Measured
    delta: Estimate
    """The second run less the first."""
    higher_is_better: bool | None = True
    """None where neither is."""
    p: float | None = None
    """Two-sided, not adjusted."""
    p_holm: float | None = None
    """Adjusted over the dimensions; None where it was not tested."""
    at_floor: bool = False
    """Whether p is the lowest that so few clusters can give."""
    answer: Answer = "cannot tell"
    detectable: float | None = None
    """The least true difference that such samples show in `ENOUGH` of the cases, tested as often as here."""
    detectable_alone: float | None = None
    """The same where this figure alone is asked about, as a gate does."""
    bounds: Ends | None = None
    """How far failures on either side could move the difference."""
    by_length: float | None = None
    """What the change of reply length alone would give, by how scores go with length within the runs."""
    digits: int = 2
    share: bool = False
    """Whether the figure is a share, shown in percent."""
    compared: bool = True
    """Whether the judge was ever compared with people on it."""


@keys(field="by", changes="dimensions{name}")
@dataclass(frozen=True, slots=True)
class Group:
    """The conversations that share a scenario, a user or a language."""

    field: str
    name: str
    a: int
    """Conversations."""
    b: int
    changes: tuple[Change, ...]
    """By dimension; not adjusted for the number of groups."""


@keys(a=None, b=None, id_a="a", id_b="b", verdict_a="verdict_a", verdict_b="verdict_b")
@dataclass(frozen=True, slots=True)
class Turned:
    """A pair of conversations."""

    a: Talk
    b: Talk
    steps: int
    """Of verdicts, above 0 to the better."""
    quality: float
    """Change of the mean quality over the dimensions, from -1 to 1."""

    @property
    def id_a(self) -> str:
        """Of the conversation in the first run."""
        return self.a.id

    @property
    def id_b(self) -> str:
        """Of the conversation in the second run."""
        return self.b.id

    @property
    def verdict_a(self) -> str | None:
        """In the first run."""
        return self.a.verdict

    @property
    def verdict_b(self) -> str | None:
        """In the second run."""
        return self.b.verdict


@dataclass(frozen=True, slots=True)
class SideCounts:
    """One of the two runs."""

    run: str
    conversations: int
    compared: int
    left_out: int
    unread: int
    failures: Mapping[str, int]

    @classmethod
    def of(cls, side: Side, compared: Sequence[Talk], left_out: int) -> SideCounts:
        """Count a side of which so many conversations are compared."""
        return cls(side.name, len(side.talks), len(compared), left_out, side.unread, side.failures)


@keys(
    a=None,
    b=None,
    side_a="a",
    side_b="b",
    pairing=INSIDE,
    dimensions="dimensions{name}",
    verdicts="verdicts{name}",
    findings="findings{name}",
    ratings="ratings{name}",
    controls="controls{name}",
    order=None,
    planted="planted?",
)
@dataclass(frozen=True, slots=True)
class RunComparison:
    """Two runs of one rubric."""

    a: Side
    b: Side
    pairing: PairedRuns
    dimensions: tuple[Change, ...]
    verdicts: tuple[Change, ...]
    """Share of the conversations with each verdict, and at least good."""
    findings: tuple[Change, ...]
    """Share of the conversations with each kind, what changed most first."""
    ratings: tuple[Change, ...]
    """People's, where both runs carry them."""
    controls: tuple[Change, ...]
    """Reply length and turns."""
    order: tuple[str, ...]
    """Verdicts, the best first."""
    worse: tuple[Turned, ...]
    """Pairs that became worse, the most first."""
    better: tuple[Turned, ...]
    groups: tuple[Group, ...] = ()
    notes: tuple[str, ...] = ()
    planted: BlindSpots | None = None
    """What the judge of the first run makes of planted faults; None where none were planted."""

    @property
    def side_a(self) -> SideCounts:
        """What is compared of the first run."""
        return SideCounts.of(self.a, self.pairing.a, self.pairing.left_a)

    @property
    def side_b(self) -> SideCounts:
        """What is compared of the second run."""
        return SideCounts.of(self.b, self.pairing.b, self.pairing.left_b)

    @property
    def tested(self) -> tuple[Change, ...]:
        """The dimensions that were tested."""
        return tuple(d for d in self.dimensions if d.p_holm is not None)


def compare_sides(
    a: Side,
    b: Side,
    dimensions: Sequence[DimensionSpec],
    *,
    by: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> RunComparison:
    """Compare two runs.

    Args:
        a: The first run: what was.
        b: The second: what is.
        dimensions: Of the rubric of both.
        by: `scenario`, `user`, `language`: differences by group too.
        notes: What is to be said besides.
    """
    pairing = pair_sides(a, b)
    uncompared = a.uncalibrated | b.uncalibrated
    scored = [
        d for d in dimensions if all(any(t.scores[d.name].n for t in of) for of in (pairing.a, pairing.b))
    ]
    # What nobody ever compared with people is shown, and takes no test from what was.
    family = {d.name for d in scored if d.name not in uncompared} or {d.name for d in scored}
    made = [
        _dimension(pairing, d, tests=max(len(family), 1), compared=d.name not in uncompared)
        for d in dimensions
    ]
    verdicts = {t.verdict for t in (*pairing.a, *pairing.b) if t.verdict}
    order = _order(pairing, verdicts)
    worse, better = _turned(pairing, order)
    return RunComparison(
        a,
        b,
        pairing,
        _tested([one for one in made if one is not None], family),
        tuple(_verdicts(pairing, order)),
        tuple(_findings(pairing)) if a.finds and b.finds else (),
        tuple(_ratings(pairing)),
        tuple(_controls(pairing)),
        order,
        worse,
        better,
        tuple(_groups(pairing, dimensions, by)),
        tuple(notes),
    )


# Changes


def _sums(
    pairing: PairedRuns, of: Callable[[Talk], ScoreSums | None]
) -> tuple[list[ScoreSums | None], list[ScoreSums | None]]:
    return [of(t) for t in pairing.a], [of(t) for t in pairing.b]


def _columns(
    pairing: PairedRuns, of: Callable[[Talk], ScoreSums | None]
) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats], tuple[int, int]]:
    """Return sums and counts by cluster of both sides, and how many scores have no partner."""
    kept = []
    size = int(max(pairing.key_a.max(initial=-1), pairing.key_b.max(initial=-1))) + 1
    sides = _sums(pairing, of)
    counts = [np.array([0 if s is None else s.n for s in side], dtype=float) for side in sides]
    totals = [np.array([0.0 if s is None else s.total for s in side], dtype=float) for side in sides]
    keys, clusters = (pairing.key_a, pairing.key_b), (pairing.cluster_a, pairing.cluster_b)
    there = [np.bincount(k, c, minlength=size) > 0 for k, c in zip(keys, counts, strict=True)]
    left = []
    for k, cluster, total, count in zip(keys, clusters, totals, counts, strict=True):
        use = (there[0] & there[1])[k] if pairing.paired else np.ones(k.size, dtype=bool)
        left.append(int(count[~use].sum()))
        kept.append((_binned(cluster[use], total[use], pairing), _binned(cluster[use], count[use], pairing)))
    return kept[0], kept[1], (left[0], left[1])


def _binned(cluster: Codes, values: Floats, pairing: PairedRuns) -> Floats:
    return np.bincount(cluster, values, minlength=pairing.clusters).astype(np.float64)


def _change(
    pairing: PairedRuns,
    name: str,
    of: Callable[[Talk], ScoreSums | None],
    *,
    limits: Ends = (0.0, 1.0),
    higher: bool | None = True,
    tests: int = 1,
) -> tuple[Change, Comparison] | None:
    """Compare one figure; None where a run has none."""
    a, b, left = _columns(pairing, of)
    gain, basis = gain_of_sums(a, b, limits=limits, unit=pairing.unit, paired=pairing.paired)
    means = [float(s.sum() / n.sum()) if n.sum() else None for s, n in (a, b)]
    before, after = (
        Measured(
            mean,
            int(n.sum()),
            sum(s.na for s in sums if s is not None),
            sum(s.failed for s in sums if s is not None),
            out,
        )
        for mean, (_, n), sums, out in zip(means, (a, b), _sums(pairing, of), left, strict=True)
    )
    if not any(side.n or side.n_failed for side in (before, after)):
        return None
    comparison = compare_gain(("b", "a"), name, (means[1], means[0]), gain, basis)
    change = Change(
        name,
        before,
        after,
        comparison.difference,
        higher,
        comparison.p,
        at_floor=comparison.at_floor,
        detectable=basis.detectable(gain, power=ENOUGH, alpha=ALPHA / tests),
        detectable_alone=basis.detectable(gain, power=ENOUGH, alpha=ALPHA),
    )
    return change, comparison


def _dimension(
    pairing: PairedRuns, spec: DimensionSpec, *, tests: int = 1, compared: bool = True
) -> tuple[Change, Comparison] | None:
    scale = spec.scale
    made = _change(
        pairing,
        spec.name,
        lambda talk: talk.scores[spec.name],
        limits=(scale.low, scale.high),
        higher=scale.higher_is_better,
        tests=tests,
    )
    if made is None:
        return None
    change, comparison = made
    by_length = _by_length(pairing, spec.name)
    bounds = _bounds(pairing, spec.name, scale)
    return replace(change, bounds=bounds, by_length=by_length, compared=compared), comparison


def _tested(made: Sequence[tuple[Change, Comparison]], family: Collection[str]) -> tuple[Change, ...]:
    """Adjust over the dimensions of the family, and say of each what is shown."""
    tested = iter(adjusted([comparison for change, comparison in made if change.name in family]))
    out = []
    for change, _ in made:
        if change.name not in family:
            out.append(change)
            continue
        comparison, answer = next(tested), change.answer
        if comparison.side in ("above", "below"):
            answer = "better" if (comparison.side == "above") == change.higher_is_better else "worse"
        out.append(replace(change, p_holm=comparison.p_holm, answer=answer))
    return tuple(out)


def _bounds(pairing: PairedRuns, name: str, scale: Scale) -> Ends | None:
    """Return the difference if every failure had spoken against it, and for it; None without failures."""
    sides = []
    for talks in (pairing.a, pairing.b):
        sums = [t.scores[name] for t in talks]
        total, n, failed = (sum(getattr(s, of) for s in sums) for of in ("total", "n", "failed"))
        sides.append((mean_bounds(total, n, failed, worst=scale.low, best=scale.high), failed))
    (a, failed_a), (b, failed_b) = sides
    if a is None or b is None or not failed_a + failed_b:
        return None
    return b[0] - a[1], b[1] - a[0]


def _by_length(pairing: PairedRuns, name: str) -> float | None:
    """Return the pooled slope of score on log length within the runs, times the change of log length."""
    products = squares = 0.0
    means = []
    for talks in (pairing.a, pairing.b):
        both = [
            (math.log(1 + length.total / length.n), score.total / score.n)
            for t in talks
            if (score := t.scores[name]).n and (length := t.facts[LENGTH]).n
        ]
        if len(both) < 3:
            return None
        x, y = np.array(both).T
        products += float((x - x.mean()) @ (y - y.mean()))
        squares += float((x - x.mean()) @ (x - x.mean()))
        means.append(float(x.mean()))
    return products / squares * (means[1] - means[0]) if squares else None


def _share(of: Callable[[Talk], bool | None]) -> Callable[[Talk], ScoreSums | None]:
    def sums(talk: Talk) -> ScoreSums | None:
        value = of(talk)
        return None if value is None else ScoreSums(float(value), 1)

    return sums


def _verdicts(pairing: PairedRuns, order: Sequence[str]) -> Iterator[Change]:
    def within(names: Sequence[str]) -> Callable[[Talk], ScoreSums | None]:
        return _share(lambda talk: None if talk.verdict is None else talk.verdict in names)

    rows: list[tuple[str, tuple[str, ...]]] = [(name, (name,)) for name in order]
    if {*order} <= {*_CARD} and order:
        rows = [(AT_LEAST_GOOD, _GOOD), *rows]
    for name, names in rows:
        higher = True if name == AT_LEAST_GOOD else None
        if made := _change(pairing, name, within(names), higher=higher):
            yield replace(made[0], share=True)


def _findings(pairing: PairedRuns) -> Iterator[Change]:
    kinds = sorted({kind for t in (*pairing.a, *pairing.b) for kind in t.kinds})

    def with_kind(kind: str | None) -> Callable[[Talk], ScoreSums | None]:
        return _share(
            lambda talk: None if not talk.judged else bool(talk.kinds) if kind is None else kind in talk.kinds
        )

    first = _change(pairing, ANY_FINDING, with_kind(None), higher=False)
    made = [_change(pairing, kind, with_kind(kind), higher=False) for kind in kinds]
    changes = [replace(one[0], share=True) for one in made if one is not None]
    if first is not None:
        yield replace(first[0], share=True)
    yield from sorted(changes, key=lambda c: (-abs(c.delta.value or 0.0), c.name))


def _ratings(pairing: PairedRuns) -> Iterator[Change]:
    in_a, in_b = ({name for t in of for name in t.ratings} for of in (pairing.a, pairing.b))
    for name in sorted(in_a & in_b):
        values = [t.ratings[name] for t in (*pairing.a, *pairing.b) if name in t.ratings]
        limits = min(s.total / s.n for s in values), max(s.total / s.n for s in values)

        def rated(talk: Talk, name: str = name) -> ScoreSums | None:
            return talk.ratings.get(name)

        if made := _change(pairing, name, rated, limits=limits):
            yield made[0]


def _controls(pairing: PairedRuns) -> Iterator[Change]:
    for name, digits in ((LENGTH, 0), (TURNS, 1)):

        def fact(talk: Talk, name: str = name) -> ScoreSums | None:
            return talk.facts[name]

        most = max((s.total for t in (*pairing.a, *pairing.b) if (s := t.facts[name]).n), default=1.0)
        if made := _change(pairing, name, fact, limits=(0.0, most or 1.0), higher=None):
            yield replace(made[0], digits=digits)


# Groups


def _groups(pairing: PairedRuns, dimensions: Sequence[DimensionSpec], by: Sequence[str]) -> Iterator[Group]:
    for field in by:
        first: dict[int, str | None] = {}
        for key, talk in zip(pairing.key_a.tolist(), pairing.a, strict=True):
            first.setdefault(key, getattr(talk, field))
        names_a = [getattr(t, field) for t in pairing.a]
        # A pair is in the group of its first conversation: masked or renamed users may differ in the other.
        names_b = [
            first.get(key) if pairing.paired else getattr(t, field)
            for key, t in zip(pairing.key_b.tolist(), pairing.b, strict=True)
        ]
        for name in sorted({n for n in (*names_a, *names_b) if n is not None}):
            part = _part(
                pairing, np.array([n == name for n in names_a]), np.array([n == name for n in names_b])
            )
            made = (_dimension(part, d) for d in dimensions)
            changes = tuple(one[0] for one in made if one is not None)
            yield Group(field, name, len(part.a), len(part.b), changes)


def _part(pairing: PairedRuns, in_a: Any, in_b: Any) -> PairedRuns:  # noqa: ANN401 - boolean arrays
    """Return the pairing of some of its conversations, clusters of one user alone taken apart."""
    cluster_a, cluster_b = pairing.cluster_a[in_a], pairing.cluster_b[in_b]
    unit = pairing.unit
    if len({*cluster_a.tolist(), *cluster_b.tolist()}) < 2:
        cluster_a, cluster_b, unit = pairing.key_a[in_a], pairing.key_b[in_b], "conversations"
    _, codes = np.unique(np.concatenate([cluster_a, cluster_b]), return_inverse=True)
    return replace(
        pairing,
        a=tuple(t for t, use in zip(pairing.a, in_a.tolist(), strict=True) if use),
        b=tuple(t for t, use in zip(pairing.b, in_b.tolist(), strict=True) if use),
        key_a=pairing.key_a[in_a],
        key_b=pairing.key_b[in_b],
        cluster_a=codes[: cluster_a.size],
        cluster_b=codes[cluster_a.size :],
        clusters=int(codes.max(initial=-1)) + 1,
        unit=unit,
    )


# Conversations that turned


def _order(pairing: PairedRuns, verdicts: set[str]) -> tuple[str, ...]:
    """Return the verdicts, the best first; a rubric's own by the mean quality of what they were given to."""
    if verdicts <= {*_CARD}:
        return tuple(name for name in _CARD if name in verdicts)
    qualities: dict[str, list[float]] = {name: [] for name in verdicts}
    for talk in (*pairing.a, *pairing.b):
        if talk.verdict and talk.quality is not None:
            qualities[talk.verdict].append(talk.quality)
    return tuple(sorted(verdicts, key=lambda v: (-_mean(qualities[v]), v)))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _turned(pairing: PairedRuns, order: Sequence[str]) -> tuple[tuple[Turned, ...], tuple[Turned, ...]]:
    """Return the pairs that became worse and better: by verdict where one changed, else by quality."""
    places: Mapping[str, int] = {name: place for place, name in enumerate(order)}
    all_pairs = []
    for a, b in pairing.pairs:
        if a.quality is None or b.quality is None:
            continue
        steps = places[a.verdict] - places[b.verdict] if a.verdict and b.verdict else 0
        all_pairs.append(Turned(a, b, steps, b.quality - a.quality))

    by_verdict = any(t.steps for t in all_pairs)

    def size(t: Turned) -> tuple[float, float, str]:
        return (float(t.steps), t.quality, t.a.id) if by_verdict else (t.quality, 0.0, t.a.id)

    worse = sorted((t for t in all_pairs if size(t)[0] < 0), key=size)
    better = sorted((t for t in all_pairs if size(t)[0] > 0), key=lambda t: (-size(t)[0], -t.quality, t.a.id))
    return tuple(worse), tuple(better)
