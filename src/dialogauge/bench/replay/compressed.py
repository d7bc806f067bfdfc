"""The compressed memory: what the user said elsewhere that bears on how to answer them, in a few lines.

PersTurnBench finds that whole retrieved conversations do not help a candidate, and asks for a selective or
compressed memory. This one keeps sentences of the user's own, from other scenarios: wishes, limits and
complaints about form, and what is like the present request; none twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from dialogauge.core import Message
from dialogauge.judge.personal import Reply
from dialogauge.retrieval import TfidfIndex
from dialogauge.text import sentences

__all__ = ["LINES", "compress"]

LINES: Final = 12
"""Sentences at most."""
CHARACTERS: Final = 600
"""Of all sentences together."""
_LONGEST: Final = 120
_SHORTEST: Final = 6
_ALIKE: Final = 0.5
"""From this cosine on two sentences say the same."""
_WISH_WEIGHT: Final = 0.3
_PREFIX: Final = 8

_WISH: Final = re.compile(
    r"(?:我|本人)(?:也|还|平时|一般|通常|比较|更|最|不太|不|没有)*(?:喜欢|想|希望|需要|要|爱|习惯|偏好|讨厌|害怕|在意|会|能|吃)"
    r"|预算|以内|不超过|最好|尽量|必须|一定要|避免|不要|别|过敏|忌口|太(?:长|短|多|少|贵|远|简单|复杂|笼统)"
    r"|(?:更|再)(?:详细|具体|简洁|简单)|详细(?:一点|点|些)|具体(?:一点|点|些|的)"
    r"|\bi (?:like|love|prefer|want|need|hate|avoid|usually|always|never|can't|cannot|don't|do not)\b"
    r"|\bi (?:would rather|am)\b"
    r"|\bi'm\b|\bmy (?:budget|diet|allerg\w+)\b|\b(?:budget|allergic|must|at most|no more than|rather than)\b"
    r"|\btoo (?:long|short|many|much|few|vague|expensive|far)\b"
    r"|\bmore (?:detail\w*|specific|concrete|concise)\b",
    re.IGNORECASE,
)


def compress(past: Sequence[Reply], before: Sequence[Message]) -> tuple[str, ...]:
    """Return the sentences to show a candidate, the weightiest first.

    Args:
        past: The user's replies in other scenarios; only what the user said before them is read.
        before: The messages of the present conversation.
    """
    held = list(dict.fromkeys(_sentences(past)))
    if not held:
        return ()
    index = TfidfIndex(held, shortest=2, longest=4, sublinear=True)
    relevance = index.cosines("\n".join(m.text for m in before[-_PREFIX:] if m.role == "user"))
    weight = relevance + _WISH_WEIGHT * np.array([_WISH.search(text) is not None for text in held])
    chosen: list[str] = []
    room = CHARACTERS
    free = np.ones(len(held), dtype=bool)
    for i in np.argsort(-weight, kind="stable"):
        text = held[int(i)]
        if not free[i] or weight[i] <= 0 or len(text) > room:
            continue
        chosen.append(text)
        room -= len(text)
        free &= index.cosines(text) < _ALIKE
        if len(chosen) == LINES:
            break
    return tuple(chosen)


def _sentences(past: Sequence[Reply]) -> Iterable[str]:
    longest: dict[str, Reply] = {}
    for reply in past:
        longest[reply.conversation.id] = reply
    for reply in longest.values():
        for message in reply.before:
            if message.role == "user":
                found = (part.strip() for part in sentences(message.text))
                yield from (part for part in found if _SHORTEST <= len(part) <= _LONGEST)
