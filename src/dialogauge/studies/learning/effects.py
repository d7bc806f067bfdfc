"""What feedback does to the answer to the same question: after its own dialogue, another one, or none.

MemoryBench, A.3.5, has the first two. Another case's dialogue is as long and says as much of the task set:
what it gains too is no gain of the feedback.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from dialogauge.agents.memory import Memory, MessagesMemory, NoMemory
from dialogauge.data import Mask
from dialogauge.data.tasks import LoggedDialogue, TaskRecord
from dialogauge.studies.learning.controls import moved
from dialogauge.studies.learning.kinds import feedback_kinds
from dialogauge.studies.learning.memories import Chunk, LearningSystem, chunk_of, masked_task
from dialogauge.studies.learning.scoring import by_dataset, metric_of

Condition = Literal["without", "own", "other"]
_MOST: Final = 100
"""Tasks of a data set that a model scores."""


@dataclass(frozen=True, slots=True)
class FeedbackEffect:
    """One condition, under which tasks are asked."""

    condition: Condition
    logs_of: str
    """The system that led the dialogues; empty where these are nobody's in particular."""
    system: LearningSystem
    """Gives the whole dialogue, or nothing."""
    cases: Sequence[tuple[TaskRecord, tuple[Chunk, ...]]]
    """Each task with the dialogue that stands before it."""
    feedback: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By task the kinds of feedback in its own dialogue."""

    def masked(self, mask: Mask) -> FeedbackEffect:
        """Return the same with dialogues masked."""
        cases = [(masked_task(mask, t), tuple(c.masked(mask) for c in chunks)) for t, chunks in self.cases]
        return replace(self, cases=cases)


def feedback_effects(
    tasks: Sequence[TaskRecord], logs: Mapping[str, Sequence[LoggedDialogue]], seed: int
) -> list[FeedbackEffect]:
    """Return the conditions under which the tasks of logs are asked.

    Args:
        tasks: Those of which there are dialogues; where a model scores, the first 100 of each data set count.
        logs: By the system that led them.
        seed: Of whose dialogue another one is.
    """
    tasks = [t for of in by_dataset(tasks).values() for n, t in enumerate(of) if metric_of(t) or n < _MOST]
    effects = [_effect("without", "", NoMemory, [(task, ()) for task in tasks])]
    for name, dialogues in logs.items():
        own = {str(d.conversation.metadata.get("task")): d for d in dialogues}
        here = [task for task in tasks if task.id in own]
        others = _others(here, seed)
        effect = _effect("own", name, MessagesMemory, [(task, _shown(own[task.id])) for task in here])
        kinds = {task.id: sorted(feedback_kinds(own[task.id])) for task in here}
        effects.append(replace(effect, feedback=kinds))
        pairs = [(task, _shown(own[others[task.id]])) for task in here if task.id in others]
        effects.append(_effect("other", name, MessagesMemory, pairs))
    return [effect for effect in effects if effect.cases]


def _effect(
    condition: Condition, of: str, memory: type[Memory], cases: Sequence[tuple[TaskRecord, tuple[Chunk, ...]]]
) -> FeedbackEffect:
    shown = "other-case" if condition == "other" else condition
    name = f"{shown}: {of}" if of else shown
    return FeedbackEffect(condition, of, LearningSystem(name, lambda *_: memory()), cases)


def _shown(dialogue: LoggedDialogue) -> tuple[Chunk, ...]:
    return (chunk_of("dialogue", [dialogue]),)


def _others(tasks: Sequence[TaskRecord], seed: int) -> dict[str, str]:
    """Return by task another one of its data set, each of them once; nothing for one that is alone."""
    others: dict[str, str] = {}
    for name, of in by_dataset(tasks).items():
        others |= moved({task.id: task.id for task in of}, [name] * len(of), f"{seed}\x1f{name}")
    return others
