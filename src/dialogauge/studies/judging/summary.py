"""What a run of judgements comes to: frozen figures, each with the counts that it stands on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, get_args

import numpy as np
import numpy.typing as npt

from dialogauge.core import DimensionSpec, Level, Scale, Usage, Verdict
from dialogauge.core.json_keys import INSIDE, keys
from dialogauge.stats import Estimate, mean_bounds, mean_of_sums
from dialogauge.studies.evidence import UNCHECKED, DimensionEvidence, RunEvidence
from dialogauge.studies.judging.named import Named
from dialogauge.studies.judging.repeats import Spread
from dialogauge.studies.judging.tally import (
    ANY_KIND,
    GROUP_FIELDS,
    LEVELS,
    NO_KIND,
    Bins,
    Clusters,
    JudgingTally,
)
from dialogauge.text import counted

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Bin:
    """One bar of a histogram; `low` equals `high` for a whole number."""

    low: float
    high: float
    count: int


@keys(no_interval="no_interval?")
@dataclass(frozen=True, slots=True)
class Mean:
    """A mean with its clustered interval, as files hold it."""

    mean: float | None
    """None over nothing; then n is 0."""
    n: int
    clusters: int
    interval95: tuple[float, float] | None
    no_interval: str | None
    """Why there is none."""

    @classmethod
    def of(cls, mean: Estimate) -> Mean:
        """Take it from an estimate."""
        return cls(mean.value, mean.n, mean.clusters, mean.interval, mean.reason)


@keys(mean=None, written=INSIDE)
@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The mean at one turn number, over the first repeat."""

    turn: int
    mean: Estimate

    @property
    def written(self) -> Mean:
        """The mean as files hold it."""
        return Mean.of(self.mean)


@keys(
    name=None,
    mean=None,
    written=INSIDE,
    bins="histogram",
    curve="by_turn",
    spread="repeats",
    reasons="na_reasons",
    evidence=None,
    checked="checked",
    checked_by="checked_by?",
)
@dataclass(frozen=True, slots=True)
class DimensionSummary:
    """One dimension over all targets of its level. `requested = mean.n + n_na + n_failed`."""

    name: str
    level: Level
    scale: Scale
    requested: int
    mean: Estimate
    """Clustered as the summary says (`clustered_by`); failures and n/a take no part."""
    n_na: int
    n_failed: int
    bounds: tuple[float, float] | None
    """The mean if every failure had been the worst score, and the best; None of nothing."""
    bins: tuple[Bin, ...]
    curve: tuple[CurvePoint, ...] = ()
    spread: Spread | None = None
    """None without repeats."""
    evidence: DimensionEvidence = UNCHECKED
    """Whether it is checked for this run, and by what."""
    reasons: Mapping[str, int] = field(default_factory=dict)
    """Why it is n/a, with how often the judge said so; the first few."""

    @property
    def n(self) -> int:
        """How many scores."""
        return self.mean.n

    @property
    def checked(self) -> bool:
        """Whether it was shown to agree with people or outcomes on such data."""
        return self.evidence.checked

    @property
    def checked_by(self) -> str:
        """What showed it."""
        return self.evidence.by

    @property
    def written(self) -> Mean:
        """The mean as files hold it."""
        return Mean.of(self.mean)


@keys(absent="absent?")
@dataclass(frozen=True, slots=True)
class ConversationCounts:
    """Conversations (of one candidate each); the parts sum to `requested`."""

    requested: int
    judged: int
    """At least one of its targets was judged."""
    failed: int
    """Every target failed."""
    without_reply: int
    unreadable: int
    pending: int
    """Not done yet."""
    absent: int = 0
    """Runs that failed at their source: they hold no message, and nothing was asked of them."""


@dataclass(frozen=True, slots=True)
class ModelVerdicts:
    """The model's own verdicts."""

    compared: int
    mismatched: int
    """So many differ from the computed one."""


@keys(missing="missing", compared=None, mismatched=None, model_verdicts="model_verdicts")
@dataclass(frozen=True, slots=True)
class VerdictSummary:
    """Verdicts of conversations (times repeats)."""

    requested: int
    """Conversations asked for; those that failed, were unreadable or are pending included."""
    counts: Mapping[str, int]
    basis: Mapping[str, int]
    compared: int
    """Conversations for which the model gave a verdict of its own."""
    mismatched: int
    """... that differs from the computed one."""

    @property
    def missing(self) -> int:
        """Conversations without a verdict."""
        return self.requested - sum(self.counts.values())

    @property
    def model_verdicts(self) -> ModelVerdicts:
        """The model's own, against the computed ones."""
        return ModelVerdicts(self.compared, self.mismatched)


@dataclass(frozen=True, slots=True)
class WindowDifference:
    """Turns that two overlapping windows judged."""

    dimension: str
    n: int
    mean_absolute: float


@keys(mean=INSIDE, histogram="histogram?")
@dataclass(frozen=True, slots=True)
class GroupDimension:
    """One dimension in one group."""

    mean: Mean
    n_na: int
    n_failed: int
    histogram: tuple[int, ...]
    """Of a candidate, how many scores are in each bin of the dimension."""


@keys(
    means=None,
    n_na=None,
    n_failed=None,
    absent="absent?",
    bins=None,
    scenario="scenario?",
    dimensions="dimensions",
)
@dataclass(frozen=True, slots=True)
class GroupSummary:
    """The conversations that share a language, a scenario or a candidate."""

    name: str | None
    """None for conversations that do not say."""
    conversations: int
    means: Mapping[str, Estimate]
    n_na: Mapping[str, int]
    n_failed: Mapping[str, int]
    absent: int = 0
    """So many of the conversations are runs that failed at their source."""
    bins: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Of a candidate, how many scores are in each bin of the dimension."""
    scenario: str | None = None
    """Of a candidate in one scenario."""

    @property
    def dimensions(self) -> Mapping[str, GroupDimension]:
        """The figures by dimension, as files hold them."""
        return {
            name: GroupDimension(Mean.of(mean), self.n_na[name], self.n_failed[name], self.bins.get(name, ()))
            for name, mean in self.means.items()
        }


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The groups of one kind."""

    groups: tuple[GroupSummary, ...]
    left_out: int
    """Groups that are only counted."""


@dataclass(frozen=True, slots=True)
class Usages:
    """What the calls took."""

    total: Usage
    by_role: Mapping[str, Usage]


@keys(
    failed_share="failed_share",
    commonest=None,
    dimensions="dimensions{name}",
    named=None,
    findings_of=None,
    weakest_named="weakest_turns_named",
    total=None,
    by_role=None,
    usage="usage",
    by=None,
    groups_left_out=None,
    breakdowns="by",
)
@dataclass(frozen=True, slots=True)
class Summary:
    """Counts and figures over the rows of a run."""

    requested: int
    """Targets; `scored + not_applicable + failed`."""
    scored: int
    not_applicable: int
    failed: int
    failures: Mapping[str, int]
    """By kind."""
    commonest: tuple[str, int] | None
    """What the endpoint said most often where it failed, and for how many targets; not part of the JSON."""
    conversations: ConversationCounts
    clustered_by: str
    """What the intervals are clustered by: `users`, `conversations`, `users and conversations`."""
    users: int | None
    """Those that are known; None without any."""
    dimensions: tuple[DimensionSummary, ...]
    verdicts: VerdictSummary | None
    """None when the judge gives no verdicts."""
    named: Named = field(compare=False, repr=False)
    """Not part of the JSON."""
    findings_of: Mapping[str, Estimate]
    """Share of the judged conversations in which a turn has a finding, by its kind; under `any` of all
    kinds, under the empty name that of none, 0. Empty where the judge names none. Not part of the JSON."""
    weakest_named: int
    windows: tuple[WindowDifference, ...]
    labels: Mapping[str, Mapping[str, int]]
    """Per question how often each option was chosen; `class` for SAT/DSAT and the like."""
    marks: Mapping[str, int]
    """What was mended or cut in the judge's replies, by kind."""
    repeats: int
    total: Usage
    by_role: Mapping[str, Usage]
    by: Mapping[str, tuple[GroupSummary, ...]]
    """Breakdowns by `language`, `scenario`, `candidate`, and where there are several of both by
    `candidate_scenario`; absent when no conversation says."""
    groups_left_out: Mapping[str, int]
    unreadable: tuple[str, ...] = ()
    """The first messages about records that could not be read."""

    @property
    def replied(self) -> int:
        """How many targets had a reply to judge."""
        return self.requested - self.failures.get("no_reply", 0)

    @property
    def failed_share(self) -> float | None:
        """Failed targets over those that had a reply to judge; None when there were none."""
        without_reply = self.requested - self.replied
        return (self.failed - without_reply) / self.replied if self.replied else None

    @property
    def usage(self) -> Usages:
        """What the calls took, in all and by role."""
        return Usages(self.total, self.by_role)

    @property
    def breakdowns(self) -> Mapping[str, Breakdown]:
        """The groups by what they share."""
        return {field: Breakdown(of, self.groups_left_out.get(field, 0)) for field, of in self.by.items()}

    @property
    def stands_on(self) -> str:
        """What the figures stand on: `20 users, 694 conversations`."""
        conversations = counted(self.conversations.judged, "conversation")
        return conversations if self.users is None else f"{counted(self.users, 'user')}, {conversations}"

    @property
    def intervals(self) -> str:
        """What the intervals are made of: `by users (20 users, 694 conversations)`."""
        return f"by {self.clustered_by} ({self.stands_on})"

    def dimension(self, name: str) -> DimensionSummary | None:
        """Return the dimension of that name, if there is one."""
        return next((d for d in self.dimensions if d.name == name), None)

    def with_evidence(self, evidence: RunEvidence) -> Summary:
        """Return this with what is checked of each dimension."""
        return replace(
            self, dimensions=tuple(replace(d, evidence=evidence.of(d.name)) for d in self.dimensions)
        )


MAX_GROUPS: Final = 50
"""Groups shown per breakdown, the largest first; the others are counted."""

_UNREADABLE_SHOWN = 20


def summarise(
    rows: Iterable[Mapping[str, Any]],
    *,
    dimensions: Sequence[DimensionSpec],
    unreadable: Sequence[str] = (),
    pending: int = 0,
    repeats: int | None = None,
) -> Summary:
    """Summarise the rows of a run.

    Args:
        rows: As `row_json` writes them, in any order; read once, not kept.
        dimensions: What the judge was asked to score.
        unreadable: One message per record that could not be read; each counts as a failed conversation.
        pending: Conversations that were asked for and are not done.
        repeats: How often each conversation was judged; 1 saves the memory that the spread of repeats
            needs, None finds out.

    Of the `details` of a row, `model_verdict` (the verdict that the model gave itself), `language` and
    what `extras` names are read, where present.
    """
    tally = JudgingTally(dimensions, follow_repeats=repeats != 1)
    for row in rows:
        tally.add(row)
    sums, lost, clusters = tally.sums(), len(unreadable), tally.clusters()
    by, left_out = _breakdowns(tally, sums, clusters)
    failures = dict(sorted(tally.failures.items(), key=lambda kv: (-kv[1], kv[0])))
    if lost:
        failures["unreadable"] = failures.get("unreadable", 0) + lost
    conversations = _conversations(tally, lost, pending)
    times = max(repeats or tally.max_repeat, 1)
    return Summary(
        requested=tally.requested.total() + lost,
        scored=tally.outcomes["scored"],
        not_applicable=tally.outcomes["not_applicable"],
        failed=tally.outcomes["failed"] + lost,
        failures=failures,
        commonest=next(iter(tally.messages.most_common(1)), None),
        conversations=conversations,
        clustered_by=clusters.unit,
        users=clusters.users,
        dimensions=tuple(_dimension(tally, sums, clusters, i, lost) for i in range(len(tally.dimensions))),
        verdicts=_verdicts(tally, lost + pending * times),
        named=_named(tally, sums, clusters, lost + pending * times),
        findings_of=_findings_of(tally, clusters),
        weakest_named=tally.weakest_named,
        windows=tuple(WindowDifference(k, int(n), s / n) for k, (n, s) in tally.extras.windows.items()),
        labels={name: dict(counts.most_common()) for name, counts in tally.extras.labels.items()},
        marks={name: n for name, n in tally.extras.marks.items() if n},
        repeats=times,
        total=tally.total.usage(),
        by_role={role: sums.usage() for role, sums in tally.roles.items()},
        by=by,
        groups_left_out=left_out,
        unreadable=tuple(unreadable[:_UNREADABLE_SHOWN]),
    )


def _conversations(tally: JudgingTally, lost: int, pending: int) -> ConversationCounts:
    states = tally.states()
    judged = int(((states & 1) == 1).sum())
    without = int((states == 4).sum())
    absent = int(tally.absent.sum())
    failed = len(states) - judged - without - absent
    return ConversationCounts(len(states) + lost + pending, judged, failed, without, lost, pending, absent)


def _dimension(
    tally: JudgingTally, sums: Floats, clusters: Clusters, position: int, lost: int
) -> DimensionSummary:
    spec = tally.dimensions[position]
    total, count, n_na = (sums[:, 3 * position + k] for k in range(3))
    requested = tally.requested[spec.level] + (lost if spec.level == "conversation" else 0)
    mean = _mean(total, count, clusters.of, clusters.unit, spec.scale)
    n_failed = requested - mean.n - int(n_na.sum())
    scale, bins = spec.scale, tally.bins[position]
    spread = None
    if tally.repeats is not None and tally.max_repeat > 1:
        spread = tally.repeats.spread(position, spec.scale, clusters.of, clusters.unit)
    return DimensionSummary(
        name=spec.name,
        level=spec.level,
        scale=scale,
        requested=requested,
        mean=mean,
        n_na=int(n_na.sum()),
        n_failed=n_failed,
        bounds=mean_bounds(float(total.sum()), mean.n, n_failed, worst=scale.worst, best=scale.best),
        bins=tuple(Bin(lo, hi, c) for (lo, hi), c in zip(bins.edges(), bins.counts, strict=True)),
        curve=tuple(_curve(tally, clusters, position)),
        spread=spread,
        reasons=dict(tally.extras.reasons.get(spec.name, {})),
    )


def _mean(total: Floats, count: Floats, of: npt.NDArray[np.intp], unit: str, scale: Scale) -> Estimate:
    sums = np.bincount(of, total).astype(np.float64)
    return mean_of_sums(sums, np.bincount(of, count), limits=(scale.low, scale.high), unit=unit)


def _curve(tally: JudgingTally, clusters: Clusters, position: int) -> Iterator[CurvePoint]:
    scale = tally.dimensions[position].scale
    for turn, scores in sorted(tally.curves.items()):
        values = np.array(scores.values[position])
        known = ~np.isnan(values)
        if known.any():
            of = clusters.of[np.array(scores.cells, dtype=np.intp)[known]]
            mean = _mean(values[known], np.ones(of.size), of, clusters.unit, scale)
            yield CurvePoint(turn, mean)


def _verdicts(tally: JudgingTally, absent: int) -> VerdictSummary | None:
    if not tally.verdicts:
        return None
    known = [v for v in get_args(Verdict) if v in tally.verdicts]
    names = [*known, *sorted(set(tally.verdicts) - set(known))]
    return VerdictSummary(
        requested=tally.conversation_rows + absent,
        counts={name: tally.verdicts[name] for name in names},
        basis={name: tally.bases[name] for name in ("full", "partial")},
        compared=tally.verdicts_compared,
        mismatched=tally.verdicts_mismatched,
    )


def _named(tally: JudgingTally, sums: Floats, clusters: Clusters, absent: int) -> Named:
    asked = sums[:, 3 * len(tally.dimensions) :]
    requested = {
        level: np.bincount(clusters.of, asked[:, at]).astype(np.intp) for at, level in enumerate(LEVELS)
    }
    counts = tally.verdict_cells["verdict" if tally.verdicts else "class"].by_cluster(clusters.of)
    return Named(clusters.unit, requested, counts, absent)


def _findings_of(tally: JudgingTally, clusters: Clusters) -> dict[str, Estimate]:
    if not (cells := tally.verdict_cells["finding"]):
        return {}
    judged = np.bincount(clusters.of, (tally.states() & 1) == 1)
    shares = {}
    for kind in (ANY_KIND, NO_KIND, *sorted({*cells} - {ANY_KIND, NO_KIND})):
        seen = cells.of(kind) if kind != NO_KIND else cells.of(kind)[:0]
        hits = np.bincount(clusters.of[seen], minlength=judged.size).astype(np.float64)
        shares[kind] = mean_of_sums(hits, judged, limits=(0.0, 1.0), unit=clusters.unit)
    return shares


def _breakdowns(
    tally: JudgingTally, sums: Floats, clusters: Clusters
) -> tuple[dict[str, tuple[GroupSummary, ...]], dict[str, int]]:
    shown: dict[str, tuple[GroupSummary, ...]] = {}
    left_out: dict[str, int] = {}
    for group in GROUP_FIELDS:
        names, code = tally.groups(group)
        if not any(name is not None for name in names):
            continue
        sizes = np.bincount(code, minlength=len(names))
        groups = [g for g in range(len(names)) if sizes[g]]
        order = sorted(groups, key=lambda g: (-sizes[g], names[g] or ""))
        shown[group] = tuple(_group(tally, sums, clusters, names[g], code == g) for g in order[:MAX_GROUPS])
        if group == "candidate":
            shown[group] = tuple(_with_bins(tally, one) for one in shown[group])
        left_out[group] = max(len(order) - MAX_GROUPS, 0)
    crossed = _crossed(tally, sums, clusters)
    return (shown | {"candidate_scenario": crossed}) if crossed else shown, left_out


def _crossed(tally: JudgingTally, sums: Floats, clusters: Clusters) -> tuple[GroupSummary, ...]:
    """Return each candidate in each scenario, where there are several of both and not too many."""
    candidates, of = tally.groups("candidate")
    scenarios, within = tally.groups("scenario")
    pairs = sorted(
        (candidates[c], scenarios[s], c, s)
        for c, s in {*zip(of.tolist(), within.tolist(), strict=True)}
        if candidates[c] is not None and scenarios[s] is not None
    )
    if (
        min(len({pair[2] for pair in pairs}), len({pair[3] for pair in pairs})) <= 1
        or len(pairs) > MAX_GROUPS
    ):
        return ()
    return tuple(
        replace(_group(tally, sums, clusters, name, (of == c) & (within == s)), scenario=scenario)
        for name, scenario, c, s in pairs
    )


def _with_bins(tally: JudgingTally, group: GroupSummary) -> GroupSummary:
    if group.name is None:
        return group
    bins = tally.bins_of.get(group.name) or [Bins(d.scale) for d in tally.dimensions]
    counts = {d.name: tuple(b.counts) for d, b in zip(tally.dimensions, bins, strict=True)}
    return replace(group, bins=counts)


def _group(
    tally: JudgingTally, sums: Floats, clusters: Clusters, name: str | None, member: npt.NDArray[np.bool_]
) -> GroupSummary:
    mine = sums[member]
    _, of = np.unique(clusters.of[member], return_inverse=True)
    means: dict[str, Estimate] = {}
    absent: dict[str, int] = {}
    failed: dict[str, int] = {}
    for i, spec in enumerate(tally.dimensions):
        total, count, n_na = (mine[:, 3 * i + k] for k in range(3))
        asked = mine[:, 3 * len(tally.dimensions) + LEVELS.index(spec.level)].sum()
        means[spec.name] = _mean(total, count, of, clusters.unit, spec.scale)
        absent[spec.name] = int(n_na.sum())
        failed[spec.name] = int(asked - count.sum() - n_na.sum())
    gone = int(tally.absent[member].sum())
    return GroupSummary(name, int(member.sum()), means, absent, failed, gone)
