"""A memory that heeds what users said of an answer: praised ones are examples, corrections are rules."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import Any, Final, Self

from dialogauge.agents.memory.protocol import Feedback, MemoryItem, Retrieved, Room, items_of
from dialogauge.agents.memory.systems import PARTS, IndexedMemory
from dialogauge.core import Conversation, Usage
from dialogauge.core.shape import read_as
from dialogauge.data.tasks import RoundFeedback

_PRAISED: Final = 7
"""From this satisfaction on an answer meets what was asked, in the bands of MemoryBench."""
_DISLIKED: Final = 4
"""Up to this one it does not."""
_WORTH: Final[Mapping[str, float]] = {"episodic": 3.0, "procedural": 2.0}
"""What the relevance of an example and of a rule counts, where that of anything else counts 1.

Chosen on the training dialogues of the support desk, each left out in turn.
"""
_FILE: Final = "feedback.json"


@dataclass
class FeedbackMemory(IndexedMemory):
    """Gives by relevance what users praised, what they said to put an answer right, and then the rest.

    All of it is found by its own words and by the request that it answers. An answer that a user disliked is
    never given. Words after it are a correction; so are words after which an answer was praised, unless one
    was before. Words after a praised answer are a new request. Without clicks and scores nobody knows what
    words mean, and replies and words are given alike.

    With `heeds=False` this is all that it does: the same system without scores, its own control.
    """

    heeds: bool = True
    """Whether feedback counts."""
    _feedback: dict[str, Feedback] = field(default_factory=dict, init=False)
    """By dialogue."""

    def describe(self) -> Mapping[str, Any]:
        """Return index, and whether feedback counts."""
        worth = dict(_WORTH) if self.heeds else {}
        return {**super().describe(), "praised": _PRAISED, "disliked": _DISLIKED, "worth": worth}

    async def add_dialogue(self, conversation: Conversation, feedback: Feedback | None = None) -> Usage:
        """Keep it, with its feedback."""
        self._feedback.pop(conversation.id, None)
        if feedback is not None and self.heeds:
            self._feedback[conversation.id] = feedback
        return await super().add_dialogue(conversation)

    async def delete(self, dialogue: str) -> None:
        """Forget it, and its feedback."""
        await super().delete(dialogue)
        self._feedback.pop(dialogue, None)

    async def retrieve(self, question: str, room: Room) -> Retrieved:
        """Search for the bare question, and give the best by relevance times worth."""
        most = len(self._items) if room.items is None else room.items * PARTS
        hits, usage = await self.index.search(question, most) if self._items else ((), Usage())
        items = ((self._items[key], score) for key, score in hits)
        scored = [
            replace(item, score=score * (_WORTH[item.kind] if item.why else 1.0)) for item, score in items
        ]
        return Retrieved(room.fill(sorted(scored, key=lambda item: -(item.score or 0.0))), usage)

    def fork(self) -> Self:
        """Return one that holds the same, and its own feedback from then on."""
        other = super().fork()
        other._feedback = dict(self._feedback)
        return other

    def save(self, folder: Path) -> None:
        """Write the dialogues, and their feedback."""
        super().save(folder)
        kept = {dialogue: asdict(feedback) for dialogue, feedback in self._feedback.items()}
        (folder / _FILE).write_text(json.dumps(kept), encoding="utf-8")

    async def load(self, folder: Path) -> None:
        """Read both, and index anew."""
        self._feedback = read_as(json.loads((folder / _FILE).read_text("utf-8")), dict[str, Feedback])
        await super().load(folder)

    def _keep(self, conversation: Conversation, *, corpus: bool) -> dict[str, MemoryItem]:
        self._drop(conversation.id)
        self.known[conversation.id] = conversation, corpus
        led = not corpus and any(m.role == "assistant" for m in conversation.messages)
        feedback = self._feedback.get(conversation.id, Feedback())
        items = _labelled(conversation, feedback) if led else items_of(conversation)
        kept = {f"{item.dialogue}\n{item.position}": item for item in items}
        self._items |= kept
        return {key: replace(item, why=None) for key, item in kept.items()}


def _labelled(conversation: Conversation, feedback: Feedback) -> Iterator[MemoryItem]:
    """Yield replies and the words after them, but for disliked replies, each with what it answers and why."""
    rounds = {about.round: about for about in feedback.rounds}
    replies, request = [*accumulate(m.role == "assistant" for m in conversation.messages)], ""
    for item in items_of(conversation):
        number = replies[item.position or 0]
        verdict, following = _verdict(rounds.get(number)), _verdict(rounds.get(number + 1))
        if conversation.messages[item.position or 0].role == "assistant":
            if verdict >= 0:
                why = f"an answer that was {_in_words(rounds[number])}" if verdict else None
                yield replace(item, asked=request, why=why)
        elif not request or verdict > 0:
            request = item.text
        elif verdict < 0 or following > 0:
            place, reply = ("after", number) if verdict < 0 else ("before", number + 1)
            why = f"a correction {place} an answer that was {_in_words(rounds[reply])}"
            yield replace(item, asked=request, why=why, kind="procedural")
        else:
            yield replace(item, asked=request)


def _verdict(about: RoundFeedback | None) -> int:
    """Return 1 for a praised answer, -1 for a disliked one, 0 where nobody knows.

    A click counts before the score; of a like and a dislike together the score decides.
    """
    if about is None:
        return 0
    praised, disliked = bool({"like", "copy"} & {*about.actions}), "dislike" in about.actions
    if praised != disliked:
        return 1 if praised else -1
    if about.score is None or _DISLIKED < about.score < _PRAISED:
        return 0
    return 1 if about.score >= _PRAISED else -1


def _in_words(about: RoundFeedback) -> str:
    words = {"like": "liked", "copy": "copied", "dislike": "disliked"}
    clicks = [words[action] for action in about.actions if action in words]
    return " and ".join([*clicks, *([] if about.score is None else [f"scored {about.score}"])])
