"""What changed from one run to the other: one question first, then what else may be tested.

The first question is the share of conversations with a finding. Kinds of findings, people's ratings and
checked dimensions follow, each group corrected together. What is not checked is not tested.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal, get_args

import numpy as np

from dialogauge.core import DimensionSpec, Verdict
from dialogauge.core.json_keys import INSIDE, keys
from dialogauge.core.values import Value
from dialogauge.stats import divided
from dialogauge.studies.compare.figures import (
    ANY_FINDING,
    SHARE,
    Change,
    Difference,
    Ends,
    dimension_figure,
    figure_of,
    finding_share,
    share_of,
    tested,
)
from dialogauge.studies.compare.pairing import PairedRuns, pair_talks
from dialogauge.studies.compare.talks import FAILED, LENGTH, TURNS, Side, Talks, sums_of
from dialogauge.studies.evidence import NOTHING_CHECKED, VERDICT, RunEvidence
from dialogauge.studies.planted.blind_spots import BlindSpots

TurnedBy = Literal["findings", "verdict", "scores"]

_GOOD: Final = ("excellent", "good")
AT_LEAST_GOOD: Final = "at least good"
_CARD: Final = get_args(Verdict)


@keys(field="by", changes="dimensions{name}")
class Group(Value):
    """The conversations that share a scenario, a user or a language."""

    field: str
    name: str
    a: int
    """Conversations."""
    b: int
    changes: tuple[Change, ...]
    """The share with a finding, and checked dimensions; not corrected for the number of groups."""


@keys(means=None)
class Turned(Value):
    """A pair of conversations."""

    a: str
    """The id of the conversation in the first run."""
    b: str
    steps: int
    """Of verdicts, above 0 to the better."""
    quality: float
    """Change of the mean quality over the dimensions, from -1 to 1."""
    verdict_a: str | None
    verdict_b: str | None
    new: tuple[str, ...]
    """The kinds of findings that the second run alone has."""
    gone: tuple[str, ...]
    """Those that the first alone has."""
    means: Mapping[str, Ends]
    """By dimension that both score the mean in each run."""


@keys(
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
class RunComparison(Value):
    """Two runs of one rubric."""

    a: Side
    """What is compared of the first run."""
    b: Side
    """What is compared of the second run."""
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
    sides: Sequence[Side],
    talks: Talks,
    dimensions: Sequence[DimensionSpec],
    *,
    rng: np.random.Generator,
    by: Sequence[str] = (),
    evidence: RunEvidence = NOTHING_CHECKED,
) -> RunComparison:
    """Compare two runs.

    Args:
        sides: The first run: what was; and the second: what is.
        talks: Their conversations.
        dimensions: Of the rubric of both.
        rng: Draws what corrects for several figures.
        by: `scenario`, `user`, `language`: differences by group too.
        evidence: Which dimensions are checked on such conversations; others are not tested.
    """
    a, b = sides
    pairing = pair_talks(talks, a.conversations)
    order, finds = _order(pairing), a.finds and b.finds
    turned_by, down, up = _turned(pairing, order, by_verdict=evidence.counts(VERDICT), by_findings=finds)
    made = (dimension_figure(pairing, d, evidence.of(d.name)) for d in dimensions)
    figures = [figure for figure in made if figure is not None]
    answered = {c.name: c for c in tested([f for f in figures if evidence.counts(f.change.name)], rng)}
    compared = [int(side.sum()) for side in pairing.sides]
    return RunComparison(
        replace(a, compared=compared[0], left_out=a.conversations - compared[0]),
        replace(b, compared=compared[1], left_out=b.conversations - compared[1]),
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
        tuple(_groups(pairing, [d for d in dimensions if evidence.counts(d.name)], by, finds=finds)),
    )


def _findings(pairing: PairedRuns, rng: np.random.Generator) -> tuple[Change, ...]:
    """Ask the first question by itself, and then about kinds, corrected together with it."""
    first = finding_share(pairing, ANY_FINDING)
    if first is None:
        return ()
    (answer,) = tested([first], rng)
    kinds = sorted(kind for kind, has in pairing.talks.kinds.items() if has[pairing.place].any())
    made = (finding_share(pairing, kind) for kind in kinds)
    _, *changes = tested([first, *(figure for figure in made if figure is not None)], rng)
    return answer, *sorted(changes, key=lambda c: (not c.moved, -abs(c.delta.value or 0.0), c.name))


def _verdicts(pairing: PairedRuns, order: Sequence[str]) -> Iterator[Change]:
    rows: dict[str, tuple[str, ...]] = {name: (name,) for name in order}
    if order and {*order} <= {*_CARD}:
        rows = {AT_LEAST_GOOD: _GOOD, **rows}
    verdicts = np.array([verdict or "" for verdict in pairing.talks.names["verdict"]])
    for name, names in rows.items():
        higher = True if name == AT_LEAST_GOOD else None
        if made := share_of(pairing, name, np.isin(verdicts, names), verdicts != "", higher=higher):
            yield made.change


def _ratings(pairing: PairedRuns) -> Iterator[Difference]:
    ratings = pairing.talks.ratings
    in_a, in_b = ({name for at in pairing.place[side] for name in ratings[at]} for side in pairing.sides)
    for name in sorted(in_a & in_b):
        every = [(at, *rating) for at in pairing.place for rating in ratings[at].get(name, ())]
        talk, scores, weights = (np.array(column) for column in zip(*every, strict=True))
        weighted = None not in weights.tolist()  # weights of some ratings alone say nothing
        sums = sums_of(talk, scores.astype(np.float64), len(ratings), weights if weighted else None)
        means = divided(sums[0], sums[2])[sums[1] > 0].tolist()
        limits = (min(means), max(means)) if min(means) < max(means) else (means[0], means[0] + 1.0)
        if made := figure_of(pairing, name, sums, limits):
            yield made


def _controls(pairing: PairedRuns) -> Iterator[Change]:
    for name, digits in ((LENGTH, 0), (TURNS, 1), (FAILED, 0)):
        share, sums = name == FAILED, pairing.talks.facts[name]
        most = sums[0, pairing.place].max(initial=0.0)
        limits = SHARE if share else (0.0, float(most) or 1.0)
        if made := figure_of(pairing, name, sums, limits, higher=False if share else None, share=share):
            yield replace(made.change, digits=digits)


def _groups(
    pairing: PairedRuns, dimensions: Sequence[DimensionSpec], by: Sequence[str], *, finds: bool
) -> Iterator[Group]:
    for field in by:
        names = [pairing.talks.names[field][at] for at in pairing.place]
        # A pair is in the group of its first conversation: masked or renamed users may differ in the other.
        first: dict[int, str | None] = {}
        for key, name in zip(pairing.key.tolist(), names, strict=True):
            first.setdefault(key, name)
        second = zip(names, pairing.key.tolist(), pairing.second, strict=True)
        names = [first[key] if in_b else name for name, key, in_b in second]
        groups = sorted({name for name in names if name is not None})
        numbers = {name: number for number, name in enumerate(groups)}
        group_of = np.array([-1 if name is None else numbers[name] for name in names])
        for name, number in numbers.items():
            use = group_of == number
            cluster, unit = pairing.cluster[use], pairing.unit
            if np.unique(cluster).size < 2:  # those of one user alone are taken apart
                cluster, unit = pairing.key[use], "conversations"
            labels, codes = np.unique(cluster, return_inverse=True)
            columns = {column: getattr(pairing, column)[use] for column in ("place", "second", "key")}
            part = replace(pairing, **columns, cluster=codes, clusters=labels.size, unit=unit)
            made = [finding_share(part, ANY_FINDING)] if finds else []
            made += [dimension_figure(part, d) for d in dimensions]
            changes = tuple(figure.change for figure in made if figure is not None)
            in_a, in_b = (int(side.sum()) for side in part.sides)
            yield Group(field, name, in_a, in_b, changes)


def _order(pairing: PairedRuns) -> tuple[str, ...]:
    """Return the verdicts, the best first; a rubric's own by the mean quality of what they were given to."""
    qualities: dict[str, list[float]] = {}
    for at in pairing.place:
        if verdict := pairing.talks.names["verdict"][at]:
            quality = float(pairing.talks.qualities[at])
            qualities.setdefault(verdict, []).extend([] if math.isnan(quality) else [quality])
    if {*qualities} <= {*_CARD}:
        return tuple(name for name in _CARD if name in qualities)
    return tuple(sorted(qualities, key=lambda v: (-sum(qualities[v]) / (len(qualities[v]) or 1), v)))


def _turned(
    pairing: PairedRuns, order: Sequence[str], *, by_verdict: bool, by_findings: bool
) -> tuple[TurnedBy, tuple[Turned, ...], tuple[Turned, ...]]:
    """Return what says that a pair turned, and those that turned down and up, the clearest first."""
    talks, places = pairing.talks, {name: place for place, name in enumerate(order)}
    means = {name: divided(sums[0], sums[1]).tolist() for name, sums in talks.scores.items()}
    kinds = {kind: has.tolist() for kind, has in talks.kinds.items()}
    pairs = []
    for a, b in pairing.pairs:
        if not (talks.judged[a] and talks.judged[b]):
            continue
        before, after = (talks.names["verdict"][at] for at in (a, b))
        quality = float(talks.qualities[b] - talks.qualities[a])
        pairs.append(
            Turned(
                str(talks.names["id"][a]),
                str(talks.names["id"][b]),
                steps=places[before] - places[after] if before and after else 0,
                quality=0.0 if math.isnan(quality) else quality,
                verdict_a=before,
                verdict_b=after,
                new=tuple(sorted(kind for kind, has in kinds.items() if has[b] and not has[a])),
                gone=tuple(sorted(kind for kind, has in kinds.items() if has[a] and not has[b])),
                means={
                    name: (of[a], of[b]) for name, of in means.items() if of[a] == of[a] and of[b] == of[b]
                },
            )
        )
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

    down = sorted((t for t in pairs if size(t)[0] < 0), key=lambda t: (size(t), t.a))
    up = [t for t in pairs if size(t)[0] > 0]
    up.sort(key=lambda t: (-size(t)[0], -size(t)[1], t.a))
    return turned_by, tuple(down), tuple(up)
