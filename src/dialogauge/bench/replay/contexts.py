"""What a candidate is sent: the fixed messages before the reply, and what else its context grants."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from dialogauge.bench.replay.compressed import compress
from dialogauge.bench.replay.memory import DialogueMemory, Recalled, refuse_own_scenario
from dialogauge.core import Conversation, Message
from dialogauge.judge.personal import BlockView, Reply
from dialogauge.prompts import own_template, phrase, render
from dialogauge.text import detect_language

__all__ = ["CONTEXTS", "Context", "Prompted", "Prompter"]

Context = Literal["prefix", "task", "profile", "memory-tfidf", "memory-diverse", "memory-compressed"]
CONTEXTS: Final[tuple[Context, ...]] = get_args(Context)
"""`prefix`: the messages before the reply and nothing else, the benchmark. The others add a system message:
the task; the task and the profile; past replies of other scenarios; the user's own words from there."""

_REPLY_CHARACTERS: Final = 700
_MESSAGE_CHARACTERS: Final = 350


@dataclass(frozen=True, slots=True)
class Prompted:
    """What one candidate is sent for one item."""

    conversation: Conversation
    """The messages, under the item's id."""
    memory: tuple[tuple[str, float | None], ...] = ()
    """Past turns that it is shown, each with its cosine."""


class Prompter:
    """Makes the requests of one block."""

    def __init__(self, view: BlockView, context: Context) -> None:
        """Take the block; of its history only the messages are kept.

        Raises:
            UsageError: The history holds a conversation of the block's own scenario.
        """
        self._view, self._context = view, context
        self._past = tuple(rated.reply for rated in view.history)
        self._memory: DialogueMemory | None = None
        if context.startswith("memory-"):
            refuse_own_scenario(view.scenario, self._past)
        if context in ("memory-tfidf", "memory-diverse"):
            self._memory = DialogueMemory(view.scenario, self._past)

    def prompt(self, reply: Reply) -> Prompted:
        """Return the request for the state of a reply; the reply itself and all after it are not in it."""
        before = reply.before
        language = "zh" if detect_language(reply.request) == "zh" else "en"
        told, memory = self._told(reply, language)
        messages = before if told is None else _with_system(before, told)
        return Prompted(Conversation(reply.id, messages, scenario=self._view.scenario), memory)

    def _told(self, reply: Reply, language: str) -> tuple[str | None, tuple[tuple[str, float | None], ...]]:
        if self._context == "prefix":
            return None, ()
        if self._context in ("task", "profile"):
            values = {"task": _quoted(reply.context)}
            if self._context == "profile":
                values["profile"] = _quoted(dict(self._view.profile or {}))
            return render(own_template(f"replay_{self._context}", language), values), ()
        if self._context == "memory-compressed":
            lines = compress(self._past, reply.before)
            held = "\n".join(f"- {_quoted(line)}" for line in lines)
            told = render(own_template("replay_compressed", language), {"lines": held}) if lines else None
            return told, ()
        memory = self._memory or DialogueMemory(self._view.scenario, self._past)
        found = memory.recall(reply.before, "tfidf" if self._context == "memory-tfidf" else "diverse")
        items = "\n".join(_item(number, r, language) for number, r in enumerate(found, 1))
        told = render(own_template("replay_memory", language), {"items": items}) if found else None
        return told, tuple((r.reply.id, r.cosine) for r in found)


def _with_system(before: Sequence[Message], told: str) -> tuple[Message, ...]:
    """Put our words before the dialogue, in one system message with the conversation's own."""
    if before and before[0].role in ("system", "developer"):
        own = Message(before[0].role, f"{before[0].text}\n\n{told}")
        return (own, *before[1:])
    return (Message("system", told), *before)


def _item(number: int, found: Recalled, language: str) -> str:
    head = phrase(
        language, "replay_past", number=str(number), scenario=str(found.reply.conversation.scenario)
    )
    lines = [f"{m.role}: {_quoted(_cut(m.text, _MESSAGE_CHARACTERS))}" for m in found.before]
    reply = f"assistant: {_quoted(_cut(found.reply.text, _REPLY_CHARACTERS))}"
    return "\n".join([head, *lines, reply])


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + "…"


def _quoted(value: str | Mapping[str, Any]) -> str:
    # "<" is escaped so that a message cannot close the frame that it stands in.
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")
