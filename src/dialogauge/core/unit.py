"""Short, stable names for values: the same value has the same digest on every machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dialogauge.core.conversation import Conversation


def digest_text(text: str) -> str:
    """Return the first 128 bits of the SHA-256 of the text, as 32 hex digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def digest(value: Mapping[str, Any] | list[Any] | str | float | None) -> str:
    """Return the digest of a JSON value; the order of keys makes no difference."""
    return digest_text(json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")))


def conversation_digest(conversation: Conversation) -> str:
    """Return the digest of all that a judge may see of a conversation, its id included."""
    c = conversation
    fields = (c.id, c.user_id, c.scenario, c.context, c.candidate, c.language)
    parts = ["-" if value is None else f"{len(value)}:{value}" for value in fields]
    parts.append("-" if c.profile is None else digest(dict(c.profile)))
    parts += [f"task:{digest(dict(c.task))}"] if c.task else []
    # No two messages write the same: every text has its length before it. Nearly all are a role and a
    # text; to write these as JSON takes five times as long, and a run that goes on does it for all of them.
    for m in c.messages:
        text = m.content
        if isinstance(text, str) and not (m.tool_calls or m.tool_call_id or m.name or m.extra):
            parts.append(f"{m.role}:{len(text)}:{text}")
        else:
            parts.append(f"+{digest(m.to_openai())}")
    return digest_text("".join(parts))


def words_digest(conversation: Conversation, turn: int | None = None) -> str:
    """Return 16 hex digits that only who says what decides: the same under other ids, ratings and fields.

    Args:
        conversation: The conversation.
        turn: The turn at whose end the words end; None for all. The turn must be there.
    """
    stop = None if turn is None else conversation.turn(turn).stop
    return digest_text("".join(f"{m.role}:{len(m.text)}:{m.text}" for m in conversation.messages[:stop]))[:16]


@dataclass(frozen=True, slots=True)
class WorkUnit:
    """A piece of work, done once: (study, target digest, judge digest, repeat, seed, part)."""

    study: str
    subject: Conversation | None
    """What it is about, kept with its rows; None where that is no single conversation, or none to keep."""
    target_digest: str
    judge_digest: str
    repeat: int = 1
    """1-based."""
    seed: int = 0
    part: str | None = None
    """What of the conversation is judged, and from which circumstances, where a unit is not all of it."""
    judge: str = field(default="", compare=False)
    """The judge's name, for the rows."""
    position: int = field(default=0, compare=False)
    """Place in the order of the run's rows."""
    after: tuple[str, ...] = field(default=(), compare=False)
    """Keys of units ahead of it in the plan that must have ended; where one is done anew, so is this one."""
    earlier: tuple[Mapping[str, Any], ...] = field(default=(), compare=False)
    """The stored rows of a unit that failed and is tried again: only what failed in it is to be done."""
    key: str = field(init=False, compare=False)
    """32 hex digits of the fields that are compared: the name of the stored result."""

    def __post_init__(self) -> None:
        """Compute the key, once: every step of the work reads it."""
        parts = [self.study, self.target_digest, self.judge_digest, str(self.repeat), str(self.seed)]
        parts += [] if self.part is None else [self.part]
        object.__setattr__(self, "key", digest_text("\x1f".join(parts)))

    @property
    def conversation(self) -> Conversation:
        """The conversation that the unit is about; ValueError where it is about none."""
        if self.subject is None:
            msg = f"a unit of the study {self.study!r} is about no single conversation"
            raise ValueError(msg)
        return self.subject
