"""Verdicts: which were given in each cluster, and how sure a share of them is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, get_args

import numpy as np
import numpy.typing as npt

from dialogauge.core import Level, Verdict
from dialogauge.core.json_keys import keys
from dialogauge.core.values import Value
from dialogauge.stats import Estimate, mean_of_sums
from dialogauge.stats.rows import LEVELS, Table
from dialogauge.stats.table import Mask

Counts = npt.NDArray[np.intp]
_MORE_FAILURES: Final = 4


class ModelVerdicts(Value):
    """The model's own verdicts."""

    compared: int
    mismatched: int
    """So many differ from the computed one."""


@keys(missing="missing", compared=None, mismatched=None, model_verdicts="model_verdicts")
class VerdictSummary(Value):
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


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """Which verdicts were given in each cluster."""

    unit: str
    """What a cluster is, as messages say it."""
    requested: Mapping[Level, Counts]
    """By level the targets asked for, shape (clusters,)."""
    counts: Mapping[str, Counts]
    """By verdict how often it was given, shape (clusters,)."""
    absent: int
    """Conversations (times repeats) that are in no cluster: unreadable or pending."""

    def share(self, names: Sequence[str], level: Level, *, others: bool = False) -> tuple[Estimate, int]:
        """Return the share of the targets with one of the verdicts, clustered, and how many lack any verdict.

        What has no verdict was asked for and counts as not given, also where none of a cluster has one. It
        makes nothing surer: the interval takes `MIN_CLUSTERS` clusters in which there are verdicts, and where
        it is wider than with a few more failures (one fault among many clusters), their end is taken.

        Args:
            names: Of verdicts.
            level: Of what is given them.
            others: Return the share of those without one of the verdicts.
        """
        asked = self.requested[level]
        none = np.zeros_like(asked)
        known = sum(self.counts.values(), none)
        absent = self.absent if level == "conversation" else 0
        hits = sum((self.counts[n] for n in names if n in self.counts), none)

        def failing(more: int) -> Estimate:
            lost = np.ones(absent + more, dtype=np.intp)
            of = np.append(asked, lost)
            with_one = np.append(hits, 0 * lost)
            share = (of - with_one if others else with_one).astype(np.float64)
            support = int(np.count_nonzero(known))
            return mean_of_sums(share, of, limits=(0.0, 1.0), unit=self.unit, support=support)

        share = failing(0)
        if share.low is not None and share.high is not None:
            worse = [failing(more) for more in range(_MORE_FAILURES)]
            low = share.low if others else max(one.low or 0.0 for one in worse)
            high = min(1.0 if one.high is None else one.high for one in worse) if others else share.high
            share = replace(share, low=low, high=high)
        return share, int(asked.sum() + absent - known.sum())


def verdicts_of(table: Table, whole: Mask, absent: int) -> VerdictSummary | None:
    """Return the verdicts of conversations; None where none was given.

    Args:
        table: Of what was asked.
        whole: Shape (n,), the rows of conversations.
        absent: Conversations (times repeats) that have no row.
    """
    verdict, own = table.column("verdict"), table.column("model_verdict")
    counts = verdict.take(whole).counts()
    if not counts:
        return None
    known = [v for v in get_args(Verdict) if v in counts]
    names = np.array([*verdict.names, None], dtype=object)
    both = whole & (verdict.codes >= 0) & (own.codes >= 0)
    differ = names[verdict.codes[both]] != np.array(own.names, dtype=object)[own.codes[both]]
    bases = table.column("basis").take(whole).counts()
    return VerdictSummary(
        requested=int(whole.sum()) + absent,
        counts={name: counts[name] for name in (*known, *sorted({*counts} - {*known}))},
        basis={name: bases.get(name, 0) for name in ("full", "partial")},
        compared=int(both.sum()),
        mismatched=int(np.count_nonzero(differ)),
    )


def named_of(table: Table, whole: Mask, absent: int) -> Named:
    """Return which verdicts, or else classes, were given in each cluster; arguments as of `verdicts_of`."""
    of = table.clusters.of[table.dialogues.of]
    size, live = int(table.clusters.of.max(initial=-1)) + 1, ~table.absent
    requested = {
        level: np.bincount(of[live & (table.levels == at)], minlength=size) for at, level in enumerate(LEVELS)
    }
    verdicts = table.entries["verdict"]
    verdicts = verdicts.only(whole[verdicts.rows])
    if not verdicts.rows.size:
        verdicts = table.entries["class" if table.entries["class"].rows.size else "label"]
    counts = {
        name: np.bincount(of[verdicts.rows[verdicts.codes == code]], minlength=size)
        for code, name in enumerate(verdicts.names)
    }
    return Named(table.clusters.unit, requested, {name: n for name, n in counts.items() if n.any()}, absent)
