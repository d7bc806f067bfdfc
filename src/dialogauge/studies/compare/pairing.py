"""Which conversations of two runs belong together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from dialogauge.core.json_keys import keys
from dialogauge.stats import cluster_labels
from dialogauge.stats.table import Codes, Mask, label_codes
from dialogauge.studies.compare.talks import Talks

By = Literal["id", "task", "scenario and user", "nothing"]


@keys(
    **dict.fromkeys(("by", "talks", "place", "second", "key", "cluster", "pairs")),
    few=None,
    paired_by="paired_by",
    size="pairs",
    openings="same_opening",
    unit="clustered_by",
)
@dataclass(frozen=True, slots=True, eq=False)
class PairedRuns:
    """The conversations of two runs that are compared, and what goes together."""

    by: By
    talks: Talks
    """All of the first run, and then of the second."""
    place: Codes
    """Shape (n,): where those that are compared stand among them."""
    second: Mask
    """Shape (n,): which are of the second run."""
    key: Codes
    """Shape (n,): the pair of each; where nothing is paired each is its own."""
    cluster: Codes
    """Shape (n,): what is left out together."""
    clusters: int
    unit: str
    """What a cluster is, as messages say it."""
    pairs: tuple[tuple[int, int], ...]
    """The places of those that stand alone on both sides; none where nothing is paired."""
    openings: int
    """Pairs that begin with the same message of the user."""
    few: tuple[By, int, int] | None = None
    """Where nothing is paired: by what some could have been, and how many of each run."""

    @property
    def paired(self) -> bool:
        """Whether the same conversations are compared."""
        return self.by != "nothing"

    @property
    def paired_by(self) -> By | None:
        """By what conversations are paired; None where the runs are not on the same conversations."""
        return self.by if self.paired else None

    @property
    def size(self) -> int:
        """How many pairs."""
        return len(self.pairs)

    @property
    def sides(self) -> tuple[Mask, Mask]:
        """Shape (n,) each: which are of the first run, and of the second."""
        return ~self.second, self.second


def pair_talks(talks: Talks, split: int) -> PairedRuns:
    """Pair the conversations of two runs by id, else by task, else by scenario and user, else not at all.

    What pairs less than half of both runs pairs none: two months of a log share a few users who came back
    with the same kind of question, and the rest would be left out.

    Args:
        talks: Of both runs.
        split: How many are of the first.
    """
    names, size, few = talks.names, talks.judged.size, None
    scenes = zip(names["scenario"], names["user"], strict=True)
    choices: tuple[tuple[By, Sequence[Hashable]], ...] = (
        ("id", names["id"]),
        ("task", names["task"]),
        ("scenario and user", [None if None in scene else scene for scene in scenes]),
    )
    for by, labels in choices:
        common = ({*labels[:split]} & {*labels[split:]}) - {None}
        if common:
            compared = np.array([label in common for label in labels])
            of_a, of_b = int(compared[:split].sum()), int(compared[split:].sum())
            if 2 * of_a >= split or 2 * of_b >= size - split:
                return _paired(by, talks, split, labels, compared)
            few = few or (by, of_a, of_b)
    return replace(_paired("nothing", talks, split, range(size), np.ones(size, dtype=bool)), few=few)


def _paired(by: By, talks: Talks, split: int, labels: Sequence[Hashable], compared: Mask) -> PairedRuns:
    """Lay out the pairs.

    Args:
        by: What pairs them.
        talks: Of both runs.
        split: How many are of the first.
        labels: Shape (all,): conversations of one label go together.
        compared: Shape (all,).
    """
    place, names = np.flatnonzero(compared), talks.names
    own = [labels[at] for at in place.tolist()]
    tasks, users = ([names[what][at] for at in place.tolist()] for what in ("task", "user"))
    # A pair goes with what the first run names: the other may not, or may hash the name. Of two samples a
    # user whom both runs know is left out of both.
    owners: dict[Hashable, str | None] = {}
    for label, task, user in zip(own, tasks, users, strict=True):
        owners.setdefault(label, task or user)
    clusters, unit = cluster_labels([owners[label] for label in own], own)
    second = place >= split
    if any(tasks if by == "nothing" else tasks[: len(tasks) - int(second.sum())]):
        unit = unit.replace("users", "tasks")
    key, _ = label_codes(own)
    cluster, count = label_codes(clusters)
    alone = list[dict[int, int]]()
    for side in (~second, second):
        times = Counter(key[side].tolist())
        ones = zip(key[side].tolist(), place[side].tolist(), strict=True)
        alone.append({k: at for k, at in ones if times[k] == 1})
    pairs = tuple((at, alone[1][k]) for k, at in alone[0].items() if k in alone[1])
    openings = sum(names["opening"][i] == names["opening"][j] for i, j in pairs)
    return PairedRuns(by, talks, place, second, key, cluster, count, unit, pairs, openings)
