"""What a run of judgements comes to: frozen figures, each with the counts that it stands on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dialogauge.core import DimensionSpec, Level, Scale, Usage
from dialogauge.core.json_keys import INSIDE, keys
from dialogauge.core.values import Value
from dialogauge.stats import Estimate, mean_bounds, mean_of_sums
from dialogauge.stats.reading import table_of
from dialogauge.stats.rows import LEVELS, Labels, Table
from dialogauge.studies.evidence import UNCHECKED, DimensionEvidence, RunEvidence
from dialogauge.studies.judging.counts import MARKS, WindowDifference, options_of, windows_of
from dialogauge.studies.judging.named import Named, VerdictSummary, named_of, verdicts_of
from dialogauge.studies.judging.repeats import Spread, spread_among
from dialogauge.text import counted

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

_OF_ENDPOINT: Final = frozenset(
    {"timeout", "rate_limited", "server_error", "connection", "rejected", "too_long", "empty_reply"}
)
"""Kinds of failures whose message is the endpoint's."""
ANY_KIND: Final = "any"
"""Under which conversations with a finding of any kind are counted."""
NO_KIND: Final = ""
"""Under which turns without a finding are."""


class Bin(Value):
    """One bar of a histogram; `low` equals `high` for a whole number."""

    low: float
    high: float
    count: int


@keys(no_interval="no_interval?")
class Mean(Value):
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
class CurvePoint(Value):
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
class DimensionSummary(Value):
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
class ConversationCounts(Value):
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


@keys(mean=INSIDE, histogram="histogram?")
class GroupDimension(Value):
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
class GroupSummary(Value):
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


class Breakdown(Value):
    """The groups of one kind."""

    groups: tuple[GroupSummary, ...]
    left_out: int
    """Groups that are only counted."""


class Usages(Value):
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
    rows: Iterable[Mapping[str, Any]] | Table,
    *,
    dimensions: Sequence[DimensionSpec],
    unreadable: Sequence[str] = (),
    pending: int = 0,
    repeats: int | None = None,
) -> Summary:
    """Summarise the rows of a run.

    Args:
        rows: As `row_json` writes them, in any order; read once, not kept. Or the table of them.
        dimensions: What the judge was asked to score.
        unreadable: One message per record that could not be read; each counts as a failed conversation.
        pending: Conversations that were asked for and are not done.
        repeats: How often each conversation was judged; None finds out.

    Of the `details` of a row what `stats.rows` reads is counted, where present.
    """
    every = rows if isinstance(rows, Table) else table_of(rows)
    levels = {spec.level for spec in dimensions}
    unasked = np.array([level not in levels for level in LEVELS])[every.levels]
    # A rubric of turns has no question for the row of a conversation.
    table = every.where(every.failed | every.scored | (every.column("verdict").codes >= 0) | ~unasked)
    live, lost, clusters = ~table.absent, len(unreadable), table.clusters
    made, numbers = [], np.zeros(table.n, dtype=np.intp)
    for spec in dimensions:
        values = table.whole(spec.name)
        made.append(_dimension(table, values, spec, lost))
        numbers += ~np.isnan(values)
    requested, failed = int(live.sum()), int((live & table.failed).sum())
    scored = int((~table.failed & ((numbers > 0) | ~table.scored)).sum())
    failures = table.where(live).column("failure").counts() if failed else {}
    failures = dict(sorted(failures.items(), key=lambda kv: (-kv[1], kv[0])))
    if lost:
        failures["unreadable"] = failures.get("unreadable", 0) + lost
    messages = Counter[str]()
    for (kind, message), n in table.entries["message"].counts().items():
        if kind in _OF_ENDPOINT:
            messages[message] += n
    times = max(repeats or int(table.repeat[~table.failed].max(initial=1)), 1)
    by, left_out = _breakdowns(table, [sums for _, sums in made], dimensions)
    whole = table.levels == LEVELS.index("conversation")
    return Summary(
        requested=requested + lost,
        scored=scored,
        not_applicable=requested - scored - failed,
        failed=failed + lost,
        failures=failures,
        commonest=next(iter(messages.most_common(1)), None),
        conversations=_conversations(table, lost, pending),
        clustered_by=clusters.unit,
        users=clusters.users,
        dimensions=tuple(dimension for dimension, _ in made),
        verdicts=verdicts_of(table, whole & live, lost + pending * times),
        named=named_of(table, whole, lost + pending * times),
        findings_of=_findings_of(table),
        weakest_named=int(whole[table.entries["weakest_turn"].rows].sum()),
        windows=windows_of(table, dimensions),
        labels=options_of(table),
        marks={name: n for name, n in table.entries["mark"].counts().items() if n and name in MARKS},
        repeats=times,
        total=every.used,
        by_role=every.used_by_role,
        by=by,
        groups_left_out=left_out,
        unreadable=tuple(unreadable[:_UNREADABLE_SHOWN]),
    )


def _conversations(table: Table, lost: int, pending: int) -> ConversationCounts:
    dialogues = table.dialogues
    judged = int(dialogues.any(~table.failed).sum())
    without = int(dialogues.every(table.column("failure").mask("no_reply")).sum())
    absent = int(dialogues.every(table.absent).sum())
    failed = dialogues.size - judged - without - absent
    return ConversationCounts(dialogues.size + lost + pending, judged, failed, without, lost, pending, absent)


@dataclass(frozen=True, slots=True, eq=False)
class _ByDialogue:
    """One dimension by dialogue, shape (dialogues,) each; and by candidate."""

    total: Floats
    count: Counts
    n_na: Counts
    asked: Counts
    bins: Mapping[str, tuple[int, ...]]
    """How many scores of each candidate are in each bin."""


def _dimension(
    table: Table, values: Floats, spec: DimensionSpec, lost: int
) -> tuple[DimensionSummary, _ByDialogue]:
    """Return the figures of a dimension; `values` are its scores, shape (n,)."""
    scale, clusters, dialogues = spec.scale, table.clusters, table.dialogues
    rows = np.flatnonzero(~np.isnan(values))
    score, dialogue, repeats, at = values[rows], dialogues.of[rows], table.repeat[rows], table.turn[rows]
    of = clusters.of[dialogue]
    asked = dialogues.count(~table.absent & (table.levels == LEVELS.index(spec.level)))
    n_na = dialogues.count(table.not_applicable(spec.name))
    requested = int(asked.sum()) + (lost if spec.level == "conversation" else 0)
    mean = _mean(score, of, clusters.unit, scale)
    n_failed = requested - mean.n - int(n_na.sum())
    edges, place = bins_of(scale, score)
    candidates = table.column("candidate")
    crossed = np.bincount(
        (candidates.codes[rows] + 1) * len(edges) + place, minlength=(len(candidates.names) + 1) * len(edges)
    ).reshape(-1, len(edges))
    spread = None
    if table.repeat[~table.failed].max(initial=1) > 1:
        target = dialogue * (int(table.turn.max()) + 2) + at
        spread = spread_among(score, target, repeats, of, scale, clusters.unit)
    turn = np.where(repeats == 1, at, -1)
    curve = (
        CurvePoint(t, _mean(score[turn == t], of[turn == t], clusters.unit, scale))
        for t in np.unique(turn[turn >= 0]).tolist()
    )
    summary = DimensionSummary(
        name=spec.name,
        level=spec.level,
        scale=scale,
        requested=requested,
        mean=mean,
        n_na=int(n_na.sum()),
        n_failed=n_failed,
        bounds=mean_bounds(float(score.sum()), mean.n, n_failed, worst=scale.worst, best=scale.best),
        bins=tuple(Bin(lo, hi, n) for (lo, hi), n in zip(edges, crossed.sum(axis=0).tolist(), strict=True)),
        curve=tuple(curve),
        spread=spread,
        reasons={
            reason: n for (name, reason), n in table.entries["reason"].counts().items() if name == spec.name
        },
    )
    sums = np.bincount(dialogue, score, minlength=dialogues.size).astype(np.float64)
    counts = np.bincount(dialogue, minlength=dialogues.size)
    bins = {
        name: tuple(counted) for name, counted in zip(candidates.names, crossed[1:].tolist(), strict=True)
    }
    return summary, _ByDialogue(sums, counts, n_na, asked, bins)


def bins_of(scale: Scale, values: Floats) -> tuple[tuple[tuple[float, float], ...], Counts]:
    """Return a histogram's bins over a scale: one per whole number, or equal steps on a scale of fractions.

    Returns:
        Lower and upper end of each bin, the same number twice for a whole number; and the bin of each value,
        shape (n,). What lies outside the scale goes to the nearest bin.
    """
    span = scale.high - scale.low
    steps = 1 if span <= 0 else int(2 * span) if span in (2, 3, 4, 5) else 10
    size = int(span) + 1 if scale.integer else steps
    width = 1.0 if scale.integer else span / size
    at = np.floor((values - scale.low) / width + 0.5 * scale.integer) if width else np.zeros(values.size)
    starts = [scale.low + i * width for i in range(size)]
    edges = tuple((s, s) if scale.integer else (s, s + width) for s in starts)
    return edges, np.clip(at, 0, size - 1).astype(np.intp)


def _mean(values: Floats, of: Counts, unit: str, scale: Scale) -> Estimate:
    sums = np.bincount(of, values).astype(np.float64)
    return mean_of_sums(sums, np.bincount(of), limits=(scale.low, scale.high), unit=unit)


def _findings_of(table: Table) -> dict[str, Estimate]:
    turns = table.levels == LEVELS.index("turn")
    if not (turns & table.listed).any():
        return {}
    findings, clusters, dialogues = table.entries["finding"], table.clusters, table.dialogues
    findings = findings.only(turns[findings.rows])
    judged = np.bincount(clusters.of, dialogues.any(~table.failed))
    kinds = {name: findings.rows[findings.codes == code] for code, name in enumerate(findings.names)}
    kinds = {name: rows for name, rows in sorted(kinds.items()) if rows.size}
    shares = {}
    for kind, rows in {ANY_KIND: findings.rows, NO_KIND: findings.rows[:0], **kinds}.items():
        hits = np.bincount(clusters.of[np.unique(dialogues.of[rows])], minlength=judged.size)
        shares[kind] = mean_of_sums(hits.astype(np.float64), judged, limits=(0.0, 1.0), unit=clusters.unit)
    return shares


def _breakdowns(
    table: Table, sums: Sequence[_ByDialogue], dimensions: Sequence[DimensionSpec]
) -> tuple[dict[str, tuple[GroupSummary, ...]], dict[str, int]]:
    dialogues, gone = table.dialogues, table.dialogues.every(table.absent)
    columns = {name: table.whose[name].take(dialogues.numbers) for name in ("scenario", "candidate")}
    # A judge may say only on the conversation's row which language it found.
    codes = table.language.codes[table.dialogues.first]
    says = np.flatnonzero((table.levels == LEVELS.index("conversation")) & (table.language.codes >= 0))[::-1]
    later = codes.copy()
    later[table.dialogues.of[says]] = table.language.codes[says]
    columns = {"language": Labels(np.where(codes < 0, later, codes), table.language.names), **columns}

    def group(name: str | None, member: Mask) -> GroupSummary:
        _, of = np.unique(table.clusters.of[member], return_inverse=True)
        means, n_na, failed = {}, {}, {}
        for spec, one in zip(dimensions, sums, strict=True):
            total, count, none, asked = (each[member] for each in (one.total, one.count, one.n_na, one.asked))
            limits = spec.scale.low, spec.scale.high
            totals, counts = (np.bincount(of, each).astype(np.float64) for each in (total, count))
            means[spec.name] = mean_of_sums(totals, counts, limits=limits, unit=table.clusters.unit)
            n_na[spec.name] = int(none.sum())
            failed[spec.name] = int(asked.sum() - count.sum() - none.sum())
        return GroupSummary(name, int(member.sum()), means, n_na, failed, int(gone[member].sum()))

    bins = {
        of: {spec.name: one.bins[of] for spec, one in zip(dimensions, sums, strict=True)}
        for of in table.whose["candidate"].names
    }
    shown: dict[str, tuple[GroupSummary, ...]] = {}
    left_out: dict[str, int] = {}
    for name, column in columns.items():
        sizes = Counter(column.list())
        if not {*sizes} - {None}:
            continue
        order = sorted(sizes, key=lambda of: (-sizes[of], of or ""))
        groups = [group(of, column.mask(of)) for of in order[:MAX_GROUPS]]
        if name == "candidate":
            groups = [one if one.name is None else replace(one, bins=bins[one.name]) for one in groups]
        shown[name] = tuple(groups)
        left_out[name] = max(len(order) - MAX_GROUPS, 0)
    pairs = sorted(
        (candidate, scenario)
        for candidate, scenario in {
            *zip(columns["candidate"].list(), columns["scenario"].list(), strict=True)
        }
        if candidate is not None and scenario is not None
    )
    several = min(len({candidate for candidate, _ in pairs}), len({scenario for _, scenario in pairs})) > 1
    if several and len(pairs) <= MAX_GROUPS:
        shown["candidate_scenario"] = tuple(
            replace(
                group(name, columns["candidate"].mask(name) & columns["scenario"].mask(scenario)),
                scenario=scenario,
            )
            for name, scenario in pairs
        )
    return shown, left_out
