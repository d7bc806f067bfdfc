"""Training dialogues: tasks asked of a system by users who say of each answer what they think of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Final

from dialogauge.agents import (
    FeedbackReply,
    FeedbackUser,
    ModelCritic,
    PlayedSession,
    logged_dialogue,
    task_beginning,
)
from dialogauge.core import Conversation, Usage, WorkUnit, digest_text
from dialogauge.data import Mask
from dialogauge.data.tasks import LoggedDialogue, RoundFeedback, TaskRecord
from dialogauge.runs import Produced, Row, RunDatabase
from dialogauge.runs.privacy import mask_produced
from dialogauge.studies.learning.memories import Chunk, LearningSystem, chunk_of, masked_task

TRAINING: Final = "taught"
"""The key of a row's details that says that it is a training dialogue, and no answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueUnit(WorkUnit):
    """One training dialogue of one system in one step."""

    task: TaskRecord = field(compare=False)
    system: LearningSystem = field(compare=False)
    step: int = field(default=1, compare=False)

    @property
    def beginning(self) -> Conversation:
        """What the dialogue begins with."""
        id = f"{self.task.id}@{self.step}"
        return replace(task_beginning(self.task), id=id, candidate=self.system.name)


@dataclass(frozen=True)
class Teaching:
    """Which tasks teach, and how the dialogues about them are held."""

    tasks: Sequence[TaskRecord]
    users: Mapping[str, FeedbackUser]
    """By task."""
    rounds: int = 3
    """Answers of a dialogue at most: what the user makes of the last one is not asked for."""
    steps: int = 10
    batch: int = 100
    """Tasks of a step, drawn from all; fewer where there are fewer."""
    seed: int = 0

    @property
    def asks_models(self) -> bool:
        """Whether a model plays one of the users."""
        return any(isinstance(user.critic, ModelCritic) for user in self.users.values())

    def masked(self, mask: Mask) -> Teaching:
        """Return it with questions masked."""
        tasks = [masked_task(mask, task) for task in self.tasks]
        users = {task.id: replace(self.users[task.id], task=task) for task in tasks}
        return replace(self, tasks=tasks, users=users)

    def drawn(self, step: int) -> Sequence[TaskRecord]:
        """Return the tasks of a step: the same for all systems, and drawn anew from all of them."""
        chance = Random(digest_text(f"{self.seed}\x1fstep {step}"))
        return chance.sample(self.tasks, min(self.batch, len(self.tasks)))


def taught_record(
    unit: DialogueUnit, session: PlayedSession, details: Mapping[str, Any], building: Usage
) -> Produced:
    """Return the record of a training dialogue; one in which a side failed is a failure.

    `building` is what models took to fill the memory, where this dialogue books it.
    """
    logged = logged_dialogue(unit.task, session)
    replies = (reply for reply in session.of_user if isinstance(reply, FeedbackReply))
    opinions = [reply.opinion for reply in replies if reply.opinion is not None]
    about: dict[str, Any] = {
        TRAINING: True,
        "dataset": unit.task.dataset,
        "corpus": unit.task.corpus,
        "step": unit.step,
        "rounds": len(session.replies),
        "scores": [one.score for one in logged.feedback],
        "actions": [[*one.actions] for one in logged.feedback],
        "ended": session.ended == "user",
        "repeated": sum(one.repeated for one in opinions),
        "leaked": [one.leaked for one in opinions if one.leaked],
        "reasoning": [one.reasoning for one in opinions if one.reasoning],
    }
    usage = {**session.usage, "memory": building}
    return Produced(
        logged.conversation,
        session.fault,
        usage=sum(usage.values(), Usage()),
        role_usage={role: used for role, used in usage.items() if used.calls or used.cached},
        details={**about, **details},
        prefix=session.conversation.prefix,
    )


@dataclass
class LedDialogues:
    """The dialogues that the systems of a run have led: in this call, or in an earlier one."""

    planned: dict[tuple[str, int], tuple[str, ...]] = field(default_factory=dict)
    """By system and step the keys of the units."""
    mask: Mask | None = None
    database: RunDatabase | None = None
    """Of the run; None where nothing is written."""
    _dialogues: dict[str, LoggedDialogue | None] = field(default_factory=dict)
    _chunks: dict[tuple[str, int], Chunk] = field(default_factory=dict)

    def keep(self, unit: DialogueUnit, record: Produced) -> None:
        """Take a dialogue of this call, as the run keeps it."""
        talk = record.produced if self.mask is None else mask_produced(self.mask, record.produced)
        self._dialogues[unit.key] = _dialogue_of(talk, record.to_row(unit))

    def chunk(self, system: str, step: int) -> Chunk:
        """Return the dialogues of a step that have not failed; all of them have ended."""
        if (system, step) not in self._chunks:
            ended = map(self._dialogue, self.planned[system, step])
            self._chunks[system, step] = chunk_of(f"step {step}", [one for one in ended if one is not None])
        return self._chunks[system, step]

    def logs(self) -> Iterator[LoggedDialogue]:
        """Yield all dialogues that have not failed, in the order of the plan."""
        yield from (one for keys in self.planned.values() for key in keys if (one := self._dialogue(key)))

    def _dialogue(self, key: str) -> LoggedDialogue | None:
        """Return a dialogue; None where it failed, or there is none."""
        if key not in self._dialogues and self.database is not None:
            stored = self.database.unit(bytes.fromhex(key))
            talk = None if stored is None else self.database.conversation(stored.target)
            if stored is not None and talk is not None:
                self._dialogues[key] = _dialogue_of(talk, stored.rows[0])
        return self._dialogues.get(key)


def _dialogue_of(talk: Conversation, row: Row) -> LoggedDialogue | None:
    if row["failure"]:
        return None
    details = row["details"]
    feedback = zip(details["scores"], details["actions"], strict=True)
    last = len(details["scores"]) if details["ended"] else 0
    rounds = (RoundFeedback(n, tuple(of), score, n == last) for n, (score, of) in enumerate(feedback, 1))
    return LoggedDialogue(talk, tuple(rounds))
