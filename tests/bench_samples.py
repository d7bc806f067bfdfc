"""A small finished benchmark, for tests of what is shown of it."""

from __future__ import annotations

from dialogauge.stats import ScoreHistory
from dialogauge.studies.replay.comparison import CompareSettings, ReplayComparison, compare
from dialogauge.studies.replay.items import ItemSet, ReplayItem
from dialogauge.studies.replay.scored import ReplyScore, ScoredReplies
from dialogauge.studies.replay.selection import gold_mix
from dialogauge.studies.replay.table import EvaluatorScores


def sample_comparison(name: str) -> tuple[ReplayComparison, ItemSet]:
    """One candidate that gets a 5 on nearly everything."""
    items = tuple(
        ReplayItem(f"u{u}t{t}", f"u{u}", f"u{u}__s", f"u{u}", "s", t, 4.0, "")
        for u in range(12)
        for t in range(6)
    )
    original = {
        i.id: ReplyScore(i.id, i.block, i.position, 3 + i.position % 2, 3.0 + i.position % 2) for i in items
    }
    mine = {i.id: ReplyScore(i.id, i.block, i.position, 5, 5.0) for i in items} | {
        i.id: ReplyScore(i.id, i.block, i.position, 4, 4.0) for i in items[:1]
    }
    scores = EvaluatorScores(
        items,
        ScoredReplies(original, {i.id: 100 for i in items}),
        {name: ScoredReplies(mine, {i.id: 120 for i in items})},
        {i.block: ScoreHistory((1, 1, 3, 8, 7), 3.95, 20) for i in items},
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
