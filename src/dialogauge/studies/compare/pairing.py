"""Which conversations of two runs belong together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from dialogauge.core.json_keys import keys
from dialogauge.stats import cluster_labels
from dialogauge.stats.table import Codes, label_codes
from dialogauge.studies.compare.talks import Side, Talk

By = Literal["id", "task", "scenario and user", "nothing"]


@keys(
    **dict.fromkeys(("by", "a", "b", "pairs", "key_a", "key_b", "cluster_a", "cluster_b")),
    **dict.fromkeys(("left_a", "left_b", "few")),
    paired_by="paired_by",
    size="pairs",
    openings="same_opening",
    unit="clustered_by",
)
@dataclass(frozen=True, slots=True, eq=False)
class PairedRuns:
    """The conversations of two runs that are compared, and what goes together."""

    by: By
    a: tuple[Talk, ...]
    b: tuple[Talk, ...]
    pairs: tuple[tuple[Talk, Talk], ...]
    """Those that stand alone on both sides; none where nothing is paired."""
    key_a: Codes
    """Shape (len(a),): the pair of each conversation; where nothing is paired each is its own."""
    key_b: Codes
    cluster_a: Codes
    """Shape (len(a),): what is left out together."""
    cluster_b: Codes
    clusters: int
    unit: str
    """What a cluster is, as messages say it."""
    left_a: int
    """Conversations that have no partner."""
    left_b: int
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
    def of(self) -> str:
        """What was compared, in words: `paired by id`."""
        return f"paired by {self.by}" if self.paired else "not paired: two samples"


def pair_sides(a: Side, b: Side) -> PairedRuns:
    """Pair the conversations of two runs by id, else by task, else by scenario and user, else not at all.

    What pairs less than half of both runs pairs none: two months of a log share a few users who came back
    with the same kind of question, and the rest would be left out.
    """
    keys: tuple[tuple[By, Callable[[Talk], Hashable]], ...] = (
        ("id", lambda talk: talk.id),
        ("task", lambda talk: talk.task),
        ("scenario and user", _scene),
    )
    few: tuple[By, int, int] | None = None
    for by, key_of in keys:
        keys_a, keys_b = ([key_of(t) for t in side.talks] for side in (a, b))
        if ({*keys_a} & {*keys_b}) - {None}:
            paired = _paired(by, a.talks, b.talks, keys_a, keys_b)
            if len(paired.a) >= paired.left_a or len(paired.b) >= paired.left_b:
                return paired
            few = few or (by, len(paired.a), len(paired.b))
    return replace(_apart(a.talks, b.talks), few=few)


def _scene(talk: Talk) -> tuple[str, str] | None:
    return None if talk.scenario is None or talk.user is None else (talk.scenario, talk.user)


def _paired(
    by: By, a: Sequence[Talk], b: Sequence[Talk], keys_a: Sequence[Hashable], keys_b: Sequence[Hashable]
) -> PairedRuns:
    common = ({*keys_a} & {*keys_b}) - {None}
    in_a = [(k, t) for k, t in zip(keys_a, a, strict=True) if k in common]
    in_b = [(k, t) for k, t in zip(keys_b, b, strict=True) if k in common]
    codes, _ = label_codes([k for k, _ in (*in_a, *in_b)])
    # A pair goes with what the first run names: the other may not, or may hash the name.
    owners: dict[Hashable, str | None] = {}
    for k, t in in_a:
        owners.setdefault(k, t.task or t.user)
    keys = [k for k, _ in (*in_a, *in_b)]
    labels, unit = _clusters([owners[k] for k in keys], keys, [t for _, t in in_a])
    clusters, count = label_codes(labels)
    once_a, once_b = ({k for k, n in Counter(of).items() if n == 1} for of in (keys_a, keys_b))
    partner = dict(in_b)
    pairs = tuple((t, partner[k]) for k, t in in_a if k in once_a & once_b)
    split = len(in_a)
    return PairedRuns(
        by,
        tuple(t for _, t in in_a),
        tuple(t for _, t in in_b),
        pairs,
        codes[:split],
        codes[split:],
        clusters[:split],
        clusters[split:],
        count,
        unit,
        len(a) - len(in_a),
        len(b) - len(in_b),
        sum(x.opening == y.opening for x, y in pairs),
    )


def _clusters(
    owners: Sequence[str | None], keys: Sequence[Hashable], talks: Sequence[Talk]
) -> tuple[tuple[Hashable, ...], str]:
    """Return what goes together, and what it is: the runs of a task, else the conversations of a user."""
    labels, unit = cluster_labels(owners, keys)
    return labels, unit.replace("users", "tasks") if any(t.task for t in talks) else unit


def _apart(a: Sequence[Talk], b: Sequence[Talk]) -> PairedRuns:
    both = (*a, *b)
    # A user whom both runs know is left out of both.
    labels, unit = _clusters([t.task or t.user for t in both], range(len(both)), both)
    clusters, count = label_codes(labels)
    every = np.arange(len(both))
    split = len(a)
    return PairedRuns(
        "nothing", tuple(a), tuple(b), (), every[:split], every[split:],
        clusters[:split], clusters[split:], count, unit, 0, 0, 0,
    )  # fmt: skip
