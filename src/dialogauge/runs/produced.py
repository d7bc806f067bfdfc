"""What a unit brings that makes a conversation: the conversation itself, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dialogauge.core.conversation import PREFIX, Conversation
from dialogauge.core.judgement import (
    Judged,
    JudgeFailure,
    Judgement,
    Level,
    Target,
    Usage,
    row_json,
)
from dialogauge.core.unit import WorkUnit


@dataclass(frozen=True, slots=True)
class Produced:
    """A conversation that agents have made, or why they made none; a record of a study that produces some.

    The run keeps the conversation. One without a reply is a failure: its name is kept, and no message, so
    that whoever judges the run counts it as absent.
    """

    conversation: Conversation
    """With `candidate`; and with the names that are kept where it is a failure."""
    failure: JudgeFailure | None = None
    usage: Usage = field(default_factory=Usage)
    role_usage: Mapping[str, Usage] = field(default_factory=dict)
    """The same by role, where more than one was asked."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What else is known of it, of a failure too: plain JSON values."""
    prefix: int = 0
    """How many of its messages were there before, and are not judged."""
    level: Level = "conversation"
    turn: int | None = None
    """The turn that is new, where it is one."""

    @property
    def outcome(self) -> Judgement | JudgeFailure:
        """A judgement without scores, or the failure."""
        new = self.conversation.messages[self.prefix :]
        if self.failure is None and not any(m.role == "assistant" and m.text.strip() for m in new):
            return JudgeFailure("no_reply", "the conversation has no reply")
        return self.failure or Judgement(details=self.details)

    @property
    def failed(self) -> bool:
        """Whether there is no conversation to judge."""
        return isinstance(self.outcome, JudgeFailure)

    @property
    def produced(self) -> Conversation:
        """The conversation as the run keeps it."""
        if self.failed:
            return replace(self.conversation, messages=(), ratings=())
        if not self.prefix:
            return self.conversation
        return replace(self.conversation, metadata={**self.conversation.metadata, PREFIX: self.prefix})

    def to_row(self, unit: WorkUnit) -> dict[str, Any]:
        """Write the row of a judged target, without scores."""
        target = Target(self.conversation.id, self.level, self.turn, self.conversation.candidate)
        judged = Judged(target, self.outcome, self.usage, role_usage=self.role_usage)
        row = row_json(self.conversation, judged, repeat=unit.repeat, judge=unit.judge)
        return {**row, "details": dict(self.details)} if self.failed else row
