"""Failures of a session that show without a model: faults that the local signals name."""

from __future__ import annotations

from collections.abc import Sequence

from dialogauge.judge.session.tasks import FailureName
from dialogauge.signals import Dialogue, FaultKind

__all__ = ["local_failures"]

_OF_KIND: dict[FaultKind, FailureName] = {
    "refusal": "refused",
    "forgotten_fact": "constraint",
    "ignored_correction": "constraint",
    "contradiction": "wrong",
    "tool_error": "wrong",
    "loop": "asks_again",
    "non_answer": "generic",
    "drift": "unmet",
}
_MOST = 1 / 3


def local_failures(faults: Sequence[tuple[int, FaultKind]], dialogue: Dialogue) -> frozenset[FailureName]:
    """Return the failures of a session from its faulty turns.

    A fault counts when it stands in the last replied turn, where nothing came to mend it, or when more
    than a third of the turns are faulty.

    Args:
        faults: The faulty turns with the kind of fault.
        dialogue: The session, with one reply or more.
    """
    last = dialogue.replied[-1].number
    many = len({turn for turn, _ in faults}) > _MOST * len(dialogue.replied)
    return frozenset(_OF_KIND[kind] for turn, kind in faults if many or turn == last)
