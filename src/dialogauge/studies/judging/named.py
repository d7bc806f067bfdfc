"""Shares of verdicts: which were given in each cluster, and how sure that makes us."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from dialogauge.core import Level
from dialogauge.stats import Estimate, mean_of_sums

Counts = npt.NDArray[np.intp]
_MORE_FAILURES: Final = 4


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
