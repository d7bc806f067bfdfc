"""What changed from one run to the other: one question first, then what else may be tested.

The first question is the share of conversations with a finding. Kinds of findings, people's ratings and
checked dimensions follow, each group corrected together. What is not checked is not tested.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, get_args

import numpy as np

from dialogauge.core import DimensionSpec, Verdict
from dialogauge.core.json_keys import INSIDE, keys
from dialogauge.studies.compare.figures import (
    ANY_FINDING,
    SHARE,
    Change,
    Difference,
    dimension_figure,
    figure_of,
    finding_share,
    share_of,
    tested,
)
from dialogauge.studies.compare.pairing import PairedRuns, pair_sides
from dialogauge.studies.compare.talks import FAILED, LENGTH, TURNS, ScoreSums, Side, Talk
from dialogauge.studies.evidence import NOTHING_CHECKED, VERDICT, RunEvidence
from dialogauge.studies.planted.blind_spots import BlindSpots

TurnedBy = Literal["findings", "verdict", "scores"]

_GOOD: Final = ("excellent", "good")
AT_LEAST_GOOD: Final = "at least good"
_CARD: Final = get_args(Verdict)


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
    """The share with a finding, and checked dimensions; not corrected for the number of groups."""


@keys(
    a=None, b=None, id_a="a", id_b="b", verdict_a="verdict_a", verdict_b="verdict_b", new="new", gone="gone"
)
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

    @property
    def new(self) -> tuple[str, ...]:
        """The kinds of findings that the second run alone has."""
        return tuple(sorted(self.b.kinds - self.a.kinds))

    @property
    def gone(self) -> tuple[str, ...]:
        """Those that the first alone has."""
        return tuple(sorted(self.a.kinds - self.b.kinds))


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
    evidence=None,
    order=None,
    unchecked="unchecked",
    planted="planted?",
)
@dataclass(frozen=True, slots=True)
class RunComparison:
    """Two runs of one rubric."""

    a: Side
    b: Side
    pairing: PairedRuns
    evidence: RunEvidence
    """Which dimensions are checked on such conversations, by either run."""
    dimensions: tuple[Change, ...]
    verdicts: tuple[Change, ...]
    """Share of the conversations with each verdict, and at least good."""
    findings: tuple[Change, ...]
    """Share of the conversations with any finding, then with each kind, what changed most first."""
    ratings: tuple[Change, ...]
    """People's, where both runs carry them."""
    controls: tuple[Change, ...]
    """Reply length, turns, and the share of judgements that failed."""
    order: tuple[str, ...]
    """Verdicts, the best first."""
    turned_by: TurnedBy
    """What says that a pair turned."""
    down: tuple[Turned, ...]
    """Pairs with new findings, or a worse verdict, or lower scores; the clearest first."""
    up: tuple[Turned, ...]
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
        return tuple(d for d in self.dimensions if d.answer != "not tested")

    @property
    def untested(self) -> tuple[Change, ...]:
        """Those that were not, because nothing showed that they agree with people."""
        return tuple(d for d in self.dimensions if d.answer == "not tested")

    @property
    def unchecked(self) -> bool:
        """Whether what is not checked was asked for all the same."""
        return self.evidence.unchecked

    @property
    def graded(self) -> bool:
        """Whether verdicts count: checked, or asked for all the same."""
        return self.evidence.counts(VERDICT)

    @property
    def any_finding(self) -> Change | None:
        """The share of conversations with a finding; None where the judge names none."""
        return next((c for c in self.findings if c.name == ANY_FINDING), None)

    @property
    def kinds(self) -> tuple[Change, ...]:
        """The share with each kind of finding, what changed most first."""
        return tuple(c for c in self.findings if c.name != ANY_FINDING)


def compare_sides(
    a: Side,
    b: Side,
    dimensions: Sequence[DimensionSpec],
    *,
    rng: np.random.Generator,
    by: Sequence[str] = (),
    evidence: RunEvidence = NOTHING_CHECKED,
) -> RunComparison:
    """Compare two runs.

    Args:
        a: The first run: what was.
        b: The second: what is.
        dimensions: Of the rubric of both.
        rng: Draws what corrects for several figures.
        by: `scenario`, `user`, `language`: differences by group too.
        evidence: Which dimensions are checked on such conversations; others are not tested.
    """
    pairing = pair_sides(a, b)
    verdicts = {t.verdict for t in (*pairing.a, *pairing.b) if t.verdict}
    order, finds = _order(pairing, verdicts), a.finds and b.finds
    turned_by, down, up = _turned(pairing, order, by_verdict=evidence.counts(VERDICT), by_findings=finds)
    asked = [d for d in dimensions if evidence.counts(d.name)]
    made = (dimension_figure(pairing, d, evidence.of(d.name)) for d in dimensions)
    figures = [figure for figure in made if figure is not None]
    answered = {c.name: c for c in tested([f for f in figures if evidence.counts(f.change.name)], rng)}
    return RunComparison(
        a,
        b,
        pairing,
        evidence,
        tuple(answered.get(f.change.name, f.change) for f in figures),
        tuple(_verdicts(pairing, order)),
        _findings(pairing, rng) if finds else (),
        tested(list(_ratings(pairing)), rng),
        tuple(_controls(pairing)),
        order,
        turned_by,
        down,
        up,
        tuple(_groups(pairing, asked, by, finds=finds)),
    )


def _findings(pairing: PairedRuns, rng: np.random.Generator) -> tuple[Change, ...]:
    """Ask the first question by itself, and then about kinds, corrected together with it."""
    kinds = sorted({kind for t in (*pairing.a, *pairing.b) for kind in t.kinds})
    first = finding_share(pairing, ANY_FINDING)
    if first is None:
        return ()
    (answer,) = tested([first], rng)
    made = (finding_share(pairing, kind) for kind in kinds)
    _, *changes = tested([first, *(figure for figure in made if figure is not None)], rng)
    return answer, *sorted(changes, key=lambda c: (not c.moved, -abs(c.delta.value or 0.0), c.name))


def _verdicts(pairing: PairedRuns, order: Sequence[str]) -> Iterator[Change]:
    rows: list[tuple[str, tuple[str, ...]]] = [(name, (name,)) for name in order]
    if {*order} <= {*_CARD} and order:
        rows = [(AT_LEAST_GOOD, _GOOD), *rows]
    for name, names in rows:

        def within(talk: Talk, names: Sequence[str] = names) -> bool | None:
            return None if talk.verdict is None else talk.verdict in names

        if made := share_of(pairing, name, within, higher=True if name == AT_LEAST_GOOD else None):
            yield made.change


def _ratings(pairing: PairedRuns) -> Iterator[Difference]:
    in_a, in_b = ({name for t in of for name in t.ratings} for of in (pairing.a, pairing.b))
    for name in sorted(in_a & in_b):
        every = [rating for t in (*pairing.a, *pairing.b) for rating in t.ratings.get(name, ())]
        weighted = all(weight is not None for _, weight in every)

        def rated(talk: Talk, name: str = name, *, weighted: bool = weighted) -> ScoreSums:
            sums = ScoreSums()
            for score, weight in talk.ratings.get(name, ()):
                sums.add(score, weight if weighted and weight is not None else 1.0)
            return sums

        means = [s.total / s.weight for t in (*pairing.a, *pairing.b) if (s := rated(t)).n]
        limits = (min(means), max(means)) if min(means) < max(means) else (means[0], means[0] + 1.0)
        if made := figure_of(pairing, name, rated, limits):
            yield made


def _controls(pairing: PairedRuns) -> Iterator[Change]:
    for name, digits in ((LENGTH, 0), (TURNS, 1), (FAILED, 0)):

        def fact(talk: Talk, name: str = name) -> ScoreSums | None:
            return talk.facts[name]

        of = (s.total for t in (*pairing.a, *pairing.b) if (s := t.facts[name]).n)
        limits = SHARE if name == FAILED else (0.0, max(of, default=1.0) or 1.0)
        if made := figure_of(pairing, name, fact, limits, higher=False if name == FAILED else None):
            yield replace(made.change, digits=digits, share=name == FAILED)


# Groups


def _groups(
    pairing: PairedRuns, dimensions: Sequence[DimensionSpec], by: Sequence[str], *, finds: bool
) -> Iterator[Group]:
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
            made = [finding_share(part, ANY_FINDING)] if finds else []
            made += [dimension_figure(part, d) for d in dimensions]
            changes = tuple(figure.change for figure in made if figure is not None)
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
    return tuple(sorted(verdicts, key=lambda v: (-sum(qualities[v]) / (len(qualities[v]) or 1), v)))


def _turned(
    pairing: PairedRuns, order: Sequence[str], *, by_verdict: bool, by_findings: bool
) -> tuple[TurnedBy, tuple[Turned, ...], tuple[Turned, ...]]:
    """Return what says that a pair turned, and those that turned down and up, the clearest first."""
    places: Mapping[str, int] = {name: place for place, name in enumerate(order)}
    pairs = []
    for a, b in pairing.pairs:
        if not (a.judged and b.judged):
            continue
        steps = places[a.verdict] - places[b.verdict] if a.verdict and b.verdict else 0
        quality = 0.0 if a.quality is None or b.quality is None else b.quality - a.quality
        pairs.append(Turned(a, b, steps, quality))
    turned_by: TurnedBy = "scores"
    if by_verdict and any(t.steps for t in pairs):
        turned_by = "verdict"
    elif by_findings and any(t.new or t.gone for t in pairs):
        turned_by = "findings"

    def size(t: Turned) -> tuple[float, float]:
        """Below 0 where the pair turned down: also where as many findings are new as went."""
        if turned_by == "verdict":
            return float(t.steps), t.quality
        if turned_by == "findings":
            return float(len(t.gone) - len(t.new)) or (-0.5 if t.new else 0.0), t.quality
        return t.quality, 0.0

    down = sorted((t for t in pairs if size(t)[0] < 0), key=lambda t: (size(t), t.a.id))
    up = [t for t in pairs if size(t)[0] > 0]
    up.sort(key=lambda t: (-size(t)[0], -size(t)[1], t.a.id))
    return turned_by, tuple(down), tuple(up)
