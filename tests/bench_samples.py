"""A small finished benchmark, for tests of what is shown of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dialogauge.stats import RawScore, ScoreHistory
from dialogauge.studies.replay.board import Board, OriginalReplies
from dialogauge.studies.replay.comparison import CompareSettings, ReplayComparison, compare
from dialogauge.studies.replay.items import ORIGINAL, ItemSet, ReplayItem
from dialogauge.studies.replay.selection import gold_mix

NAN = float("nan")


def board_of(
    items: Sequence[ReplayItem],
    scores: Mapping[str, Sequence[float]],
    *,
    lengths: Mapping[str, Sequence[float]] | None = None,
    **more: Any,
) -> Board:
    """Return a board of scores by candidate, NaN where there is none; whole scores are rounded ones."""
    value = np.array(list(scores.values()), dtype=np.float64)
    original = scores.get(ORIGINAL, [NAN] * len(items))
    reference = [
        RawScore(i.id, s, i.position, i.block) for i, s in zip(items, original, strict=True) if s == s
    ]
    measured = None if lengths is None else np.array([lengths[name] for name in scores], dtype=np.float64)
    of_original = {} if lengths is None else dict(zip((i.id for i in items), lengths[ORIGINAL], strict=True))
    return Board(
        items=tuple(items),
        names=tuple(scores),
        whole=np.floor(value + 0.5) if more.pop("rounded", True) else value,
        value=value,
        lengths=measured,
        **{"reference": OriginalReplies(tuple(reference), of_original), **more},
    )


def sample_comparison(name: str) -> tuple[ReplayComparison, ItemSet]:
    """One candidate that gets a 5 on nearly everything."""
    items = tuple(
        ReplayItem(f"u{u}t{t}", f"u{u}", f"u{u}__s", f"u{u}", "s", t, 4.0, "")
        for u in range(12)
        for t in range(6)
    )
    scores = board_of(
        items,
        {ORIGINAL: [3 + i.position % 2 for i in items], name: [4, *[5] * (len(items) - 1)]},
        lengths={ORIGINAL: [100] * len(items), name: [120] * len(items)},
        histories={i.block: ScoreHistory((1, 1, 3, 8, 7), 3.95, 20) for i in items},
        about={name: {}},
        missing={ORIGINAL: {}, name: {}},
    )
    card = {
        "source": "made",
        "licence": "ours",
        "languages": {"en": 72},
        "users": 12,
        "blocks": 12,
        "turns": 72,
        "turns_in_data": 80,
        "scenarios": {"s": 72},
        "gold": gold_mix([i.gold for i in items]),
        "gold_of_all": gold_mix([i.gold for i in items]),
    }
    return compare(scores, CompareSettings(unchecked=True)), ItemSet(items, "random", 0, {}, card)
