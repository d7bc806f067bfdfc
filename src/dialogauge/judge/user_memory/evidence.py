"""What the builder of a memory is shown of a history: rated turns, grouped by score, within a budget.

Where not all turns fit, every score that was given stays represented: the scores take turns, and each
brings its next most relevant turn. Relevance is likeness to the task at hand, and the best turn of every
conversation comes before the second best of any. What was left out is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dialogauge.calibrate import half_up
from dialogauge.judge.dialogue_text import as_json, cut_middle
from dialogauge.judge.personal import BlockView, RatedReply

__all__ = ["BUDGET", "Evidence", "evidence_of", "shown_turn"]

BUDGET = 24_000
"""Characters of the rated turns in one prompt."""
_CONTEXT, _REQUEST, _REPLY = 150, 300, 500
"""Characters of a text that are shown; the middle of a longer one is cut."""
_SCORES = (5, 4, 3, 2, 1)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The turns that are shown, and those that are not."""

    groups: Mapping[int, tuple[str, ...]]
    """By score from 5 down to 1, where it was given: the shown turns, one JSON object each, in the order of
    the data."""
    given: Mapping[int, int]
    """By score: how many turns there are."""
    left_out: Mapping[int, int] = field(default_factory=dict)
    """By score: how many of them did not fit; scores of which all are shown are not named."""
    texts_cut: int = 0
    """Texts of shown turns of which the middle was cut."""

    @property
    def shown(self) -> int:
        """Turns that are shown."""
        return sum(len(turns) for turns in self.groups.values())

    def to_json(self) -> dict[str, Any]:
        """Write the counts."""
        return {
            "shown": self.shown,
            "of": sum(self.given.values()),
            "left_out": {str(score): n for score, n in self.left_out.items()},
            "texts_cut": self.texts_cut,
        }


def evidence_of(view: BlockView, *, budget: int = BUDGET) -> Evidence:
    """Choose and write what is shown of a user's history.

    Args:
        view: The history; of the targets only the task of the first is looked at, which is known before it.
        budget: Characters; one turn of each score is shown even beyond it.
    """
    written = [shown_turn(rated) for rated in view.history]
    scores = [half_up(rated.score) for rated in view.history]
    chosen = set(_chosen(view, scores, [len(text) for text, _ in written], budget))
    given = Counter(scores)
    groups = {
        score: tuple(written[i][0] for i in sorted(chosen) if scores[i] == score)
        for score in _SCORES
        if given[score]
    }
    left_out = {s: given[s] - len(turns) for s, turns in groups.items() if len(turns) < given[s]}
    cut = sum(written[i][1] for i in chosen)
    return Evidence(groups, {s: given[s] for s in groups}, left_out, cut)


def shown_turn(rated: RatedReply) -> tuple[str, int]:
    """Write one rated turn as JSON on one line, and say how many of its texts were cut."""
    reply = rated.reply
    context, cut_context = cut_middle(reply.context, _CONTEXT)
    request, cut_request = cut_middle(reply.request, _REQUEST)
    text, cut_text = cut_middle(reply.text, _REPLY)
    score = int(rated.score) if float(rated.score).is_integer() else rated.score
    line = {"score": score, "reason": rated.reason, "kind": reply.conversation.scenario, "task": context}
    line |= {"request": request, "reply": text}
    kept = {key: value for key, value in line.items() if value not in (None, "")}
    return as_json(kept), cut_context + cut_request + cut_text


def _chosen(view: BlockView, scores: Sequence[int], sizes: Sequence[int], budget: int) -> Iterator[int]:
    """Yield the turns that fit: all, or by turns of the scores, the rarest first."""
    if sum(sizes) <= budget:
        yield from range(len(sizes))
        return
    ranked = _by_relevance(view, scores)
    given = Counter(scores)
    queues = [ranked[s] for s in sorted(ranked, key=lambda s: (given[s], s))]
    room, round_ = budget, 0
    while any(queues):
        for queue in queues:
            if not queue:
                continue
            turn = queue.pop(0)
            if round_ == 0 or sizes[turn] <= room:
                room -= sizes[turn]
                yield turn
        round_ += 1


def _by_relevance(view: BlockView, scores: Sequence[int]) -> dict[int, list[int]]:
    """Rank the turns of each score."""
    from dialogauge.retrieval import TfidfIndex  # loads numpy: not at import

    first = view.targets[0].context if view.targets else ""
    texts = [f"{r.reply.conversation.scenario} {r.reply.context} {r.reply.request}" for r in view.history]
    cosines = TfidfIndex(texts, shortest=2, longest=3, sublinear=True).cosines(f"{view.scenario} {first}")
    like = sorted(range(len(texts)), key=lambda i: (-float(cosines[i]), i))
    seen: Counter[tuple[int, str]] = Counter()
    keyed: list[tuple[int, int, int]] = []
    for place, turn in enumerate(like):
        conversation = (scores[turn], view.history[turn].reply.conversation.id)
        keyed.append((seen[conversation], place, turn))
        seen[conversation] += 1
    ranked: dict[int, list[int]] = {}
    for _, _, turn in sorted(keyed):
        ranked.setdefault(scores[turn], []).append(turn)
    return ranked
