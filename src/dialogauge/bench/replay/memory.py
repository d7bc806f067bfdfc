"""What a candidate may be shown of the user's other conversations: messages alone, never how they were rated.

Sources: PersTurnBench, appendix G.3, for the two retrieving contexts; the compressed one is ours. Everything
here is made of `Reply` values, which have no field for a score or a reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from dialogauge.core import Message, UsageError
from dialogauge.judge.personal import Reply
from dialogauge.retrieval import TfidfIndex

__all__ = ["ITEMS", "DialogueMemory", "MemoryRule", "Recalled", "refuse_own_scenario"]

MemoryRule = Literal["tfidf", "diverse"]

ITEMS: Final = 4
"""Past replies that a candidate is shown."""
MESSAGES: Final = 4
"""Messages before each."""
_PREFIX: Final = 8
"""Messages of the present conversation that are searched with."""
_MAX_FEATURES: Final = 50_000


@dataclass(frozen=True, slots=True)
class Recalled:
    """One past reply of another scenario, with its likeness to the present state."""

    reply: Reply
    cosine: float

    @property
    def before(self) -> tuple[Message, ...]:
        """The messages that led to it."""
        return self.reply.before[-MESSAGES:]


class DialogueMemory:
    """A user's replies in the other scenarios, searchable by the messages of a present conversation."""

    def __init__(self, scenario: str, past: Sequence[Reply]) -> None:
        """Index the past replies.

        Raises:
            UsageError: One of them is of the target's own scenario: the candidate would see what is measured.
        """
        refuse_own_scenario(scenario, past)
        self.past = tuple(past)
        texts = [_text(reply) for reply in past]
        self._index = TfidfIndex(texts, shortest=2, longest=5, max_features=_MAX_FEATURES) if texts else None

    def recall(self, before: Sequence[Message], rule: MemoryRule, k: int = ITEMS) -> tuple[Recalled, ...]:
        """Return the k past replies to show; fewer where there are fewer.

        Args:
            before: The messages of the present conversation.
            rule: `tfidf`: the most similar; `diverse`: the most similar of each scenario in turn.
            k: How many.
        """
        if self._index is None:
            return ()
        cosines = self._index.cosines(_query(before))
        ranked = [Recalled(self.past[i], float(cosines[i])) for i in np.argsort(cosines, kind="stable")[::-1]]
        return tuple(ranked[:k] if rule == "tfidf" else _diverse(ranked, k))


def refuse_own_scenario(scenario: str, past: Sequence[Reply]) -> None:
    """Raise UsageError when a past reply is of the target's own scenario."""
    own = next((r for r in past if r.conversation.scenario == scenario), None)
    if own is not None:
        msg = f"a candidate's memory would hold {own.id!r}, of the scenario {scenario!r} that it answers in"
        raise UsageError(msg, hint="a candidate's memory comes from the user's other scenarios only")


def _diverse(ranked: Sequence[Recalled], k: int) -> list[Recalled]:
    scenarios: dict[str | None, list[Recalled]] = {}
    for found in ranked:
        scenarios.setdefault(found.reply.conversation.scenario, []).append(found)
    rounds = max(map(len, scenarios.values()))
    in_turn = [held[i] for i in range(rounds) for held in scenarios.values() if i < len(held)]
    return in_turn[:k]


def _text(reply: Reply) -> str:
    # The labels are part of the published text, and so of its n-grams.
    return "\n".join(
        [
            f"来源任务：{reply.conversation.scenario}",
            _lines(reply.before[-MESSAGES:]),
            f"user: {reply.request}",
            f"assistant: {reply.text}",
        ]
    )


def _query(before: Sequence[Message]) -> str:
    request = next((m.text for m in reversed(before) if m.role == "user"), "")
    return "\n".join([_lines(before[-_PREFIX:]), f"user: {request}", f"user: {request}"])


def _lines(messages: Sequence[Message]) -> str:
    return "\n".join(f"{m.role}: {m.text}" for m in messages)
