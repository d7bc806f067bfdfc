"""What is said of a reply outright, by its words: that it declines, or only answers thanks or a goodbye.

Both are rare in ratings, so little can be learnt of them, and a form alone does not tell them: a refusal may
take up all of the request, a goodbye takes up nothing.
"""

from __future__ import annotations

from dialogauge.core.protocols import Reply
from dialogauge.signals import TextView, TurnView, find_refusals, only_closes, read_dialogue, refuses

_REFUSAL = 1000
"""Characters of the longest reply that is held to decline: a longer one answers, with a reservation."""
_PARTING = 600
"""Characters of the longest reply that is held to be a goodbye."""


def declines(reply: Reply) -> float:
    """Return how strongly a reply declines a harmless request, 0 to 1; 0 where it does not, or is long."""
    if len(reply.text) > _REFUSAL or not refuses(_turn(reply)):
        return 0.0
    dialogue = read_dialogue(reply.conversation, "en")  # the wordings are those of all languages
    return max((min(1.0, s.strength) for s in find_refusals(dialogue) if s.turn == reply.turn), default=0.0)


def takes_leave(reply: Reply) -> bool:
    """Say whether the user only thanked or took leave, and the reply only answers that."""
    return len(reply.text) <= _PARTING and only_closes(_turn(reply))


def _turn(reply: Reply) -> TurnView:
    request, text = TextView(reply.request), TextView(reply.text)
    return TurnView(reply.turn, request, text, (), (), replied=True, language="en")
