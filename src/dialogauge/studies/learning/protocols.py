"""The protocols of learning, as steps: what is added to memories, and what is asked of them then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from dialogauge.data.tasks import TaskRecord
from dialogauge.studies.learning.teaching import Teaching

LearnProtocol = Literal[
    "off-policy", "stepwise", "training", "on-policy", "action", "feedback-effect", "dialogues"
]
"""What a memory holds, and what is asked.

off-policy: all logs; stepwise: batch by batch; training: all logs, and their own tasks are asked; on-policy:
dialogues that the systems lead themselves, step by step; action: logs with a like or a copy alone. In
feedback-effect the dialogue about a task stands before its question. dialogues are led, and nothing is asked.
"""


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a study: what is added to memories, and what is asked of them then."""

    number: int
    batches: int = 0
    """Of logs, that a memory holds by then."""
    taught: Sequence[TaskRecord] = ()
    """What dialogues are led about first: by the memory of the step before, which then takes them in."""
    asks: bool = True
    """Whether the tasks are asked."""


def schedule(protocol: LearnProtocol, batches: int, teaching: Teaching | None = None) -> Iterator[Step]:
    """Yield the steps of a protocol, the first of them before anything is added; most protocols have one."""
    if protocol == "stepwise":
        yield from (Step(number, number) for number in range(batches + 1))
    elif teaching is None:
        yield Step(0, batches)
    elif protocol == "dialogues":
        yield Step(1, taught=teaching.tasks, asks=False)
    else:
        yield Step(0)
        yield from (Step(number, taught=teaching.drawn(number)) for number in range(1, teaching.steps + 1))
