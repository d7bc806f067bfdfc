"""A conversation together with all that was said of it: what training data is made from."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dialogauge.core.conversation import Conversation
from dialogauge.core.scales import Scale

__all__ = ["JudgedConversation", "TurnFigures", "judged_conversation"]


@dataclass(frozen=True, slots=True)
class TurnFigures:
    """What the repeats say of one turn."""

    turn: int
    quality: float | None
    """Mean of its scores, each brought to 0 (worst) to 1 (best); None when nothing was scored."""
    issues: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JudgedConversation:
    """One conversation, its turns' figures, and what was said of the whole."""

    conversation: Conversation
    judge: str
    turns: tuple[TurnFigures, ...]
    weakest_turn: int | None
    """The turn that most repeats named; the earlier one on a tie; None when most named none."""
    verdict: str | None
    """The verdict that most repeats gave; the worse one on a tie."""
    quality: float | None
    """Mean of all scores, each brought to 0 to 1; None when nothing was scored."""
    spread: float
    """Standard deviation of the repeats' qualities; 0 with one repeat."""
    targets: int
    """Targets that were judged or failed, over all repeats."""
    failed: int
    """Those of them that failed."""
    prompt_digest: str | None

    def turn(self, number: int) -> TurnFigures | None:
        """Return the figures of a turn."""
        return next((t for t in self.turns if t.turn == number), None)


_WORST_FIRST = ("poor", "borderline", "good", "excellent")


def judged_conversation(
    conversation: Conversation, rows: Sequence[Mapping[str, Any]], scales: Mapping[str, Scale]
) -> JudgedConversation:
    """Bring the rows of one conversation, all its repeats, together.

    Args:
        conversation: The conversation.
        rows: Its rows as `judgements.jsonl` has them.
        scales: The scale of each dimension.
    """
    whole = [r for r in rows if r["level"] == "conversation" and r["scores"] is not None]
    by_turn: dict[int, list[Mapping[str, Any]]] = {}
    by_repeat: dict[int, list[float]] = {}
    for row in rows:
        if row["level"] == "turn":
            by_turn.setdefault(row["turn"], []).append(row)
        by_repeat.setdefault(row["repeat"], []).extend(_qualities(row, scales))
    repeats = [statistics.fmean(q) for q in by_repeat.values() if q]
    return JudgedConversation(
        conversation=conversation,
        judge=rows[0]["judge"] if rows else "",
        turns=tuple(_figures(turn, found, scales) for turn, found in sorted(by_turn.items())),
        weakest_turn=_most_named([r["weakest_turn"] for r in whole]),
        verdict=_most_given([r["verdict"] for r in whole if r["verdict"] is not None]),
        quality=statistics.fmean(repeats) if repeats else None,
        spread=statistics.pstdev(repeats) if len(repeats) > 1 else 0.0,
        targets=len(rows),
        failed=sum(r["scores"] is None for r in rows),
        prompt_digest=next((r["prompt_digest"] for r in rows if r["prompt_digest"]), None),
    )


def _figures(turn: int, rows: Sequence[Mapping[str, Any]], scales: Mapping[str, Scale]) -> TurnFigures:
    qualities = [q for row in rows for q in _qualities(row, scales)]
    issues = dict.fromkeys(issue for row in rows for issue in row["issues"])
    return TurnFigures(turn, statistics.fmean(qualities) if qualities else None, tuple(issues))


def _qualities(row: Mapping[str, Any], scales: Mapping[str, Scale]) -> Iterable[float]:
    for name, score in (row["scores"] or {}).items():
        if name in scales and not isinstance(score, str):
            scale = scales[name]
            yield (score - scale.worst) / (scale.best - scale.worst)


def _most_named(turns: Sequence[int | None]) -> int | None:
    if not turns:
        return None
    counts = Counter(turns)
    top = max(counts.values())
    named = [turn for turn, n in counts.items() if n == top and turn is not None]
    return min(named) if named else None


def _most_given(verdicts: Sequence[str]) -> str | None:
    if not verdicts:
        return None
    counts = Counter(verdicts)
    top = max(counts.values())
    return next(v for v in _WORST_FIRST if counts.get(v) == top)
