"""A memory that is a model, trained on what users liked: the SFT baseline of MemoryBench (A.3.9)."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol, Self

from dialogauge.agents.memory.protocol import Ability, Feedback, Memory, Retrieved, Room
from dialogauge.core import Conversation, Usage, UsageError, digest
from dialogauge.core.protocols import Agent
from dialogauge.text import counted

FirstTurn = Sequence[Mapping[str, Any]]
"""The messages of a dialogue up to its first reply, in OpenAI form."""
LIKED: Final = ("like", "copy")
_FILE: Final = "first_turns.json"


class Tuner(Protocol):
    """Trains the model that answers."""

    def describe(self) -> Mapping[str, Any]:
        """Return the model before and the settings of training, as plain JSON values."""

    async def tuned(self, turns: Sequence[FirstTurn]) -> tuple[Agent, Path]:
        """Return who answers once it is trained on these, and the folder of its adapter.

        The same are trained on once; an interrupted training goes on.
        """


@dataclass
class TrainedMemory(Memory):
    """Gives nothing to an answer: it is the model that answers, trained on first replies that users chose.

    Whatever is taken in later, the training begins anew from the model before, on all that it holds. As long
    as there is nothing to train on, the run's answerer answers.
    """

    tuner: Tuner
    liked: Sequence[str] = LIKED
    """The actions about a first reply that say that it is worth learning."""
    name: str = "trained"
    turns: dict[str, FirstTurn] = field(default_factory=dict, init=False)
    """By dialogue what is trained on, in the order in which it came."""
    abilities: frozenset[Ability] = frozenset({"fork", "save"})
    _tuned: tuple[Agent, Path] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        """Make a digest of the settings."""
        self.digest = digest(dict(self.describe()))

    def describe(self) -> Mapping[str, Any]:
        """Return model and settings of training."""
        return {"system": self.name, "liked": [*self.liked], **self.tuner.describe()}

    @property
    def answerer(self) -> Agent | None:
        """The model as `learn` trained it; None before, and where there was nothing to train on."""
        return None if self._tuned is None else self._tuned[0]

    def expect_liked(self, dialogues: Sequence[tuple[Conversation, Feedback | None]]) -> None:
        """Raise UsageError where of the dialogues that it will be given it can learn nothing."""
        counts = Counter(action for _, of in dialogues for action in _first_actions(of) or ("nothing",))
        if not any(counts[action] for action in self.liked):
            wanted, did = " or ".join(self.liked), [f"{what} {n:,}" for what, n in counts.most_common()]
            msg = f"{self.name} has nothing to learn from: the first reply met a {wanted} in none of "
            msg += f"{counted(len(dialogues), 'dialogue')} ({', '.join(did) or 'there are no logs'})"
            raise UsageError(msg, hint="give others with --logs FILE; NAME=trained takes those of NAME")

    async def add_corpus(self, sessions: Sequence[Conversation]) -> Usage:
        """Leave it: nobody says what of it is worth learning."""
        del sessions
        return Usage()

    async def add_dialogue(self, conversation: Conversation, feedback: Feedback | None = None) -> Usage:
        """Keep question and first reply where that was liked or copied."""
        self.turns.pop(conversation.id, None)
        messages = conversation.messages
        first = next((n for n, m in enumerate(messages) if m.role == "assistant"), None)
        if first is not None and not {*self.liked}.isdisjoint(_first_actions(feedback)):
            self.turns[conversation.id] = [m.to_request() for m in messages[: first + 1]]
        return Usage()

    async def learn(self) -> None:
        """Train the model, where there is something to train on."""
        if self.turns:
            self._tuned = await self.tuner.tuned([*self.turns.values()])

    async def retrieve(self, question: str, room: Room) -> Retrieved:
        """Give nothing."""
        del question, room
        return Retrieved(())

    def fork(self) -> Self:
        """Return one that holds the same; the trained model is shared, and never changed."""
        other = copy(self)
        other.turns = dict(self.turns)
        return other

    def save(self, folder: Path) -> None:
        """Write what is trained on, and the adapter that came of it, where it is no whole model."""
        (folder / _FILE).write_text(json.dumps(self.turns, ensure_ascii=False), encoding="utf-8")
        if self._tuned is not None and self._tuned[1].is_dir():
            shutil.copytree(self._tuned[1], folder / "adapter")

    async def load(self, folder: Path) -> None:
        """Read what is trained on; `learn` then takes the training that is there."""
        self.turns = json.loads((folder / _FILE).read_text(encoding="utf-8"))


def _first_actions(feedback: Feedback | None) -> Sequence[str]:
    rounds = () if feedback is None else feedback.rounds
    return next((of_reply.actions for of_reply in rounds if of_reply.round == 1), ())
