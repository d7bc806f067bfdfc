"""From rows to a summary, in one pass."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, get_args

import numpy as np
import numpy.typing as npt

from dialogauge.bench.judging.summary import (
    Bin,
    ConversationCounts,
    CurvePoint,
    DimensionSummary,
    GroupSummary,
    Spending,
    Spread,
    Summary,
    VerdictSummary,
    WindowDifference,
)
from dialogauge.bench.judging.tally import GROUP_FIELDS, LEVELS, Spend, Tally
from dialogauge.core import DimensionSpec, Scale, Verdict
from dialogauge.metrics import ClusteredMean, clustered_mean_of_sums, mean_bounds, t_quantile

__all__ = ["MAX_GROUPS", "summarise"]

Floats = npt.NDArray[np.float64]

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
    tally = Tally(dimensions, follow_repeats=repeats != 1)
    for row in rows:
        tally.add(row)
    sums, lost = tally.sums(), len(unreadable)
    by, left_out = _breakdowns(tally, sums)
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
        conversations=conversations,
        dimensions=tuple(_dimension(tally, sums, i, lost) for i in range(len(tally.dimensions))),
        verdicts=_verdicts(tally, lost + pending * times),
        weakest_named=tally.weakest_named,
        windows=tuple(WindowDifference(k, int(n), s / n) for k, (n, s) in tally.extras.windows.items()),
        labels={name: dict(counts.most_common()) for name, counts in tally.extras.labels.items()},
        marks={name: n for name, n in tally.extras.marks.items() if n},
        repeats=times,
        total=_spending(tally.total),
        by_role={role: _spending(spend) for role, spend in tally.roles.items()},
        by=by,
        groups_left_out=left_out,
        unreadable=tuple(unreadable[:_UNREADABLE_SHOWN]),
    )


def _conversations(tally: Tally, lost: int, pending: int) -> ConversationCounts:
    states = tally.states()
    judged = int(((states & 1) == 1).sum())
    without = int((states == 4).sum())
    failed = len(states) - judged - without
    return ConversationCounts(len(states) + lost + pending, judged, failed, without, lost, pending)


def _dimension(tally: Tally, sums: Floats, position: int, lost: int) -> DimensionSummary:
    spec = tally.dimensions[position]
    total, count, n_na = (sums[:, 3 * position + k] for k in range(3))
    requested = tally.requested[spec.level] + (lost if spec.level == "conversation" else 0)
    mean = _mean(total, count, tally.clusters(), spec.scale)
    n_failed = requested - mean.n - int(n_na.sum())
    scale, bins = spec.scale, tally.bins[position]
    spread = None
    if tally.repeats is not None and tally.max_repeat > 1:
        spread = Spread(*tally.repeats.spread(position))
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
        curve=tuple(
            CurvePoint(t, _point(s).within(scale.low, scale.high))
            for t, s in sorted(tally.curves[position].items())
        ),
        spread=spread,
        uncalibrated=spec.name in tally.extras.uncalibrated,
        reasons=dict(tally.extras.reasons.get(spec.name, {})),
    )


def _mean(total: Floats, count: Floats, clusters: npt.NDArray[np.intp], scale: Scale) -> ClusteredMean:
    sums = np.bincount(clusters, total).astype(np.float64)
    found = clustered_mean_of_sums(sums, np.bincount(clusters, count))
    return found.within(scale.low, scale.high)


def _point(sums: Sequence[float]) -> ClusteredMean:
    """The mean of values of which each is a cluster of its own, from n, sum and sum of squares."""
    n, total, squares = int(sums[0]), sums[1], sums[2]
    mean = total / n
    if n == 1:
        return ClusteredMean(mean, None, None, None, 1, 1)
    stderr = math.sqrt(max(squares - total * mean, 0.0) / (n - 1) / n)
    reach = t_quantile(0.975, n - 1) * stderr
    return ClusteredMean(mean, mean - reach, mean + reach, stderr, n, n)


def _verdicts(tally: Tally, absent: int) -> VerdictSummary | None:
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


def _breakdowns(tally: Tally, sums: Floats) -> tuple[dict[str, tuple[GroupSummary, ...]], dict[str, int]]:
    shown: dict[str, tuple[GroupSummary, ...]] = {}
    left_out: dict[str, int] = {}
    for field in GROUP_FIELDS:
        names, code = tally.groups(field)
        if not any(name is not None for name in names):
            continue
        sizes = np.bincount(code, minlength=len(names))
        held = [g for g in range(len(names)) if sizes[g]]
        order = sorted(held, key=lambda g: (-sizes[g], names[g] or ""))
        shown[field] = tuple(_group(tally, sums, names[g], code == g) for g in order[:MAX_GROUPS])
        left_out[field] = max(len(order) - MAX_GROUPS, 0)
    return shown, left_out


def _group(tally: Tally, sums: Floats, name: str | None, member: npt.NDArray[np.bool_]) -> GroupSummary:
    mine = sums[member]
    _, clusters = np.unique(tally.clusters()[member], return_inverse=True)
    means: dict[str, ClusteredMean] = {}
    absent: dict[str, int] = {}
    failed: dict[str, int] = {}
    for i, spec in enumerate(tally.dimensions):
        total, count, n_na = (mine[:, 3 * i + k] for k in range(3))
        asked = mine[:, 3 * len(tally.dimensions) + LEVELS.index(spec.level)].sum()
        means[spec.name] = _mean(total, count, clusters, spec.scale)
        absent[spec.name] = int(n_na.sum())
        failed[spec.name] = int(asked - count.sum() - n_na.sum())
    return GroupSummary(name, int(member.sum()), means, absent, failed)


def _spending(spend: Spend) -> Spending:
    calls, cached, prompt, completion, chars, repeated = spend.counts
    return Spending(calls, cached, prompt, completion, spend.cost, chars, repeated)
