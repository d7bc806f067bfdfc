"""Twins, the controls of learning: the same memory, from which one thing is withheld."""

from __future__ import annotations

import random
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar, get_args

from dialogauge.agents.memory import Feedback
from dialogauge.core import Conversation, UsageError
from dialogauge.data.tasks import TaskRecord
from dialogauge.studies.learning.memories import Chunk, Control, LearningSystem
from dialogauge.text import has_chinese

CONTROL_WORDS: Final[Mapping[Control, str]] = {
    "shuffled": "gives each reply the clicks, the score and the words of another one: "
    "a gain that remains does not come from feedback",
    "echo": "holds the words of feedback alone: a gain that remains needs no task and no answer",
    "last": "holds the last dialogue alone: a gain that remains needs no memory of earlier ones",
    "other-case": "recalls for another question: a gain that remains comes from any text",
}
"""What each twin is, and what its gain says."""
_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")
Led = tuple[Conversation, Feedback | None]
"""A dialogue that the assistant led, with its feedback."""


def twins(system: LearningSystem, controls: Sequence[Control]) -> tuple[LearningSystem, ...]:
    """Return a system under each control, named for it: `NAME (shuffled)`."""
    return tuple(replace(system, name=f"{system.name} ({one})", control=one) for one in controls)


def control_of(name: str) -> Control | None:
    """Return the control that stands in a name; None where none does."""
    return next((one for one in get_args(Control) if name.endswith(f" ({one})")), None)


def controlled(chunks: Sequence[Chunk], control: Control | None, seed: int) -> tuple[Chunk, ...]:
    """Return what a memory under a control takes in; corpora stay, and `other-case` changes nothing here.

    Shuffled, clicks and score of a reply go to another one of the same batch and language, and so do words
    after a reply. Where a batch has one alone, it is left out.
    """
    logs = [chunk for chunk in chunks if not chunk.corpus]
    if control == "last":
        last = next((chunk.dialogues[-1:] for chunk in reversed(logs) if chunk.dialogues), ())
        kept = (Chunk("last", last),) if logs else ()
        at = next((n for n, chunk in enumerate(chunks) if not chunk.corpus), 0)
        corpora = [chunk for chunk in chunks if chunk.corpus]
        return (*corpora[:at], *kept, *corpora[at:])
    if control not in ("shuffled", "echo"):
        return tuple(chunks)
    of = _echo if control == "echo" else lambda dialogues: _shuffled(dialogues, seed)
    return tuple(c if c.corpus else replace(c, dialogues=of(c.dialogues)) for c in chunks)


def other_questions(
    systems: Sequence[LearningSystem], tasks: Sequence[TaskRecord], seed: int
) -> dict[str, str]:
    """Return by task the question of another one of its data set and language; empty where no system asks.

    Raises UsageError where there is no other one.
    """
    if all(system.control != "other-case" for system in systems):
        return {}
    questions = {(task.dataset, task.language, task.id): task.question for task in tasks}
    others = moved(questions, [key[:2] for key in questions], seed)
    if alone := next((key for key in questions if key not in others), None):
        msg = f"other-case finds no other question of {alone[0]} in its language"
        raise UsageError(msg, hint="ask more tasks, or leave --control other-case out")
    return {key[2]: question for key, question in others.items()}


def _echo(dialogues: Sequence[Led]) -> tuple[Led, ...]:
    """Return dialogues of which words after a reply are left, without feedback: there is no reply to it."""
    left = [(talk, tuple(talk.messages[place] for place in _after(talk))) for talk, _ in dialogues]
    return tuple((replace(talk, messages=words), None) for talk, words in left if words)


def _shuffled(dialogues: Sequence[Led], seed: int) -> tuple[Led, ...]:
    talks = {talk.id: talk for talk, _ in dialogues}
    language = {
        id: t.language or ("zh" if has_chinese(t.messages[0].text) else "en") for id, t in talks.items()
    }
    rounds = {(t.id, one.round): one for t, feedback in dialogues if feedback for one in feedback.rounds}
    words = {(id, place): talk.messages[place] for id, talk in talks.items() for place in _after(talk)}
    of = moved(rounds, [language[id] for id, _ in rounds], seed)
    spoken = moved(words, [language[id] for id, _ in words], seed)
    shuffled = []
    for talk, feedback in dialogues:
        messages = [
            spoken.get((talk.id, n)) if (talk.id, n) in words else m for n, m in enumerate(talk.messages)
        ]
        own = () if feedback is None else feedback.rounds
        other = tuple(
            replace(of[talk.id, one.round], round=one.round, ended=one.ended)
            for one in own
            if (talk.id, one.round) in of
        )
        left = replace(talk, messages=tuple(m for m in messages if m is not None))
        shuffled.append((left, Feedback(other) if other else None))
    return tuple(shuffled)


def _after(talk: Conversation) -> list[int]:
    """Return the places of what the user said after a reply."""
    roles = [message.role for message in talk.messages]
    first = roles.index("assistant") if "assistant" in roles else len(roles)
    return [place for place, role in enumerate(roles) if role == "user" and place > first]


def moved(values: Mapping[_K, _V], groups: Sequence[Hashable], seed: int | str) -> dict[_K, _V]:
    """Return by key the value of another key of its group, each value once; a key that is alone has none."""
    by_group: dict[Hashable, list[_K]] = {}
    for key, group in zip(values, groups, strict=True):
        by_group.setdefault(group, []).append(key)
    others: dict[_K, _V] = {}
    for keys in by_group.values():
        random.Random(seed).shuffle(keys)
        if len(keys) > 1:
            others |= {key: values[other] for key, other in zip(keys, [*keys[1:], keys[0]], strict=True)}
    return others
