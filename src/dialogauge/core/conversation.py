"""A conversation as it came, and the turns that are derived from it.

Messages are kept in OpenAI chat form. A *turn* is what the user said, the tool steps, and the
assistant's reply. Turns count from 1; what an assistant says before any user message is turn 0.
Consecutive messages of one role belong to one turn. Nothing here alters what was read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, Literal

import orjson

from dialogauge.core.errors import Place

Role = Literal["system", "developer", "user", "assistant", "tool"]
ROLES: tuple[Role, ...] = ("system", "developer", "user", "assistant", "tool")

_OWN_KEYS = frozenset({"role", "content", "tool_calls", "tool_call_id", "name"})
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_NO_GROUPS: Mapping[str, str] = {}
"""Plain, so that a rating can be copied and pickled; nobody writes into it."""


@dataclass(frozen=True, slots=True)
class Rating:
    """One rater's score of one target; the long format that every command reads."""

    conversation_id: str
    dimension: str
    score: float | str
    """A number, or the name of a category."""
    turn: int | None = None
    """1-based; None when the whole conversation was rated."""
    rater: str | None = None
    candidate: str | None = None
    note: str | None = None
    """What the rater gave as a reason, when the data has one."""
    place: Place | None = field(default=None, compare=False, repr=False)
    """Where it was read, when that is known more closely than where its conversation was."""
    weight: float | None = None
    """Targets that it stands for where targets were chosen by chance: 1 / the chance; None if nobody says."""
    groups: Mapping[str, str] = field(default_factory=lambda: _NO_GROUPS, hash=False)
    """Further columns of its file, by name: those that were asked for and not empty."""
    digest: str | None = field(default=None, compare=False)
    """`words_digest` of what was rated, up to the end of the turn; None where nobody says."""


@dataclass(frozen=True, slots=True)
class PairRating:
    """One rater's choice between two conversations or candidates."""

    a: str
    b: str
    winner: str
    """`a`, `b` or `tie`."""
    rater: str | None = None
    dimension: str | None = None
    conversation_id: str | None = None
    turn: int | None = None
    place: Place | None = field(default=None, compare=False, repr=False)
    """Where it was read."""
    weight: float | None = None
    """As of a `Rating`, and so are the groups."""
    groups: Mapping[str, str] = field(default_factory=lambda: _NO_GROUPS, hash=False)
    shown_first: str = "a"
    """`a` or `b`: which of them the rater saw first, or on the left."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool as the assistant wrote it."""

    id: str
    name: str
    arguments: str
    """The arguments as the text that came, usually JSON."""


StepFault = Literal["calls_without_result", "results_without_call", "arguments_unread"]
"""What may be wrong with a step; the last one: its arguments are no JSON object."""


@dataclass(frozen=True, slots=True)
class ToolStep:
    """A tool call and what it returned."""

    call: ToolCall | None
    """None for a result that no call of the turn asked for."""
    result: Message | None
    """None for a call without a result."""

    @property
    def faults(self) -> tuple[StepFault, ...]:
        """What is wrong with the step."""
        if self.call is None:
            return ("results_without_call",)
        lonely: tuple[StepFault, ...] = () if self.result is not None else ("calls_without_result",)
        return lonely if _is_object(self.call.arguments) else (*lonely, "arguments_unread")


def _is_object(arguments: str) -> bool:
    try:
        return not arguments or isinstance(orjson.loads(arguments), dict)
    except ValueError:  # also half a surrogate pair
        return False


@dataclass(frozen=True, slots=True)
class Message:
    """One message in OpenAI chat form."""

    role: Role
    content: str | tuple[Mapping[str, Any], ...] | None = None
    """Text, a tuple of content parts, or None (a message that only calls tools)."""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    """On a tool message: the call it answers."""
    name: str | None = None
    extra: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    """Keys that we do not know, kept."""

    def __init__(
        self,
        role: Role,
        content: str | tuple[Mapping[str, Any], ...] | None = None,
        tool_calls: tuple[ToolCall, ...] = (),
        tool_call_id: str | None = None,
        name: str | None = None,
        extra: Mapping[str, Any] = _NOTHING,
    ) -> None:
        """Set the fields in half the time of the method that a dataclass writes: a log holds millions."""
        _set_role(self, role)
        _set_content(self, content)
        _set_tool_calls(self, tool_calls)
        _set_tool_call_id(self, tool_call_id)
        _set_name(self, name)
        _set_extra(self, extra)

    @property
    def text(self) -> str:
        """The text of the message; parts are joined by newlines, other media named in brackets."""
        if isinstance(self.content, str):
            return self.content
        if self.content is None:
            return ""
        texts = ((part.get("text"), part) for part in self.content)
        return "\n".join(t if isinstance(t, str) else f"[{part.get('type', 'part')}]" for t, part in texts)

    def to_openai(self) -> dict[str, Any]:
        """Write the message as an OpenAI chat message, with the further keys of the data."""
        out = self.to_request()
        if _OWN_KEYS.isdisjoint(self.extra):
            return {**dict(self.extra), **out}
        # Where the data has other things under our keys, they are not what these keys mean here.
        return {**{k: v for k, v in self.extra.items() if k not in _OWN_KEYS}, **out}

    def to_request(self) -> dict[str, Any]:
        """Write what a chat API takes of the message: it refuses keys that it does not know."""
        out: dict[str, Any] = {"role": self.role}
        out["content"] = [dict(p) for p in self.content] if isinstance(self.content, tuple) else self.content
        if self.tool_calls:
            out["tool_calls"] = [
                {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
                for c in self.tool_calls
            ]
        if self.tool_call_id is not None:
            out["tool_call_id"] = self.tool_call_id
        if self.name is not None:
            out["name"] = self.name
        return out


_set_role, _set_content, _set_tool_calls, _set_tool_call_id, _set_name, _set_extra = (
    getattr(Message, f.name).__set__ for f in fields(Message)
)


@dataclass(frozen=True, slots=True)
class Turn:
    """A view of consecutive messages: what the user said, the tool steps, the reply."""

    number: int
    """1-based; 0 for what the assistant says before any user message."""
    start: int
    """Index of the turn's first message in the conversation."""
    messages: tuple[Message, ...]

    @property
    def stop(self) -> int:
        """Index after the turn's last message."""
        return self.start + len(self.messages)

    @property
    def user(self) -> tuple[Message, ...]:
        """The user's messages."""
        return tuple(m for m in self.messages if m.role == "user")

    @property
    def reply(self) -> tuple[Message, ...]:
        """The assistant's messages that call no tool; empty when the turn has no reply."""
        return tuple(m for m in self.messages if m.role == "assistant" and not m.tool_calls)

    @property
    def steps(self) -> tuple[Message, ...]:
        """Tool calls, tool results and instructions in the midst of the turn, in order."""
        return tuple(m for m in self.messages if m.role != "user" and (m.role != "assistant" or m.tool_calls))

    @property
    def tool_steps(self) -> tuple[ToolStep, ...]:
        """Every call with its own result, in order, and the results that have no call.

        A result belongs to the first call with its id that still waits; one without an id to the first
        that waits, of its function where it names one.
        """
        steps: list[ToolStep] = []
        waiting: dict[tuple[str, str | None], deque[int]] = {}
        for message in self.messages:
            for call in message.tool_calls:
                for key in ((_ID, call.id), (_NAME, call.name), (_NAME, None)):
                    waiting.setdefault(key, deque()).append(len(steps))
                steps.append(ToolStep(call, None))
            if message.role != "tool":
                continue
            asked = message.tool_call_id
            queue = waiting.get((_ID, asked) if asked else (_NAME, message.name), deque())
            while queue and steps[queue[0]].result is not None:
                queue.popleft()
            if queue:
                steps[queue[0]] = ToolStep(steps[queue[0]].call, message)
            else:
                steps.append(ToolStep(None, message))
        return tuple(steps)

    @property
    def user_text(self) -> str:
        """What the user said; several messages are joined by newlines."""
        return "\n".join(m.text for m in self.user)

    @property
    def reply_text(self) -> str:
        """What the assistant replied; several messages are joined by newlines."""
        return "\n".join(m.text for m in self.reply)

    @property
    def has_reply(self) -> bool:
        """Whether the assistant replied at all, be it with an empty text."""
        return any(m.role == "assistant" and not m.tool_calls for m in self.messages)


_ID, _NAME = "id", "name"
PREFIX: Final = "prefix_messages"
"""Under this name the metadata of a produced conversation say how many of its messages were there before."""
SESSION: Final = "session"
"""Under this name those of a session say who its user was to be, and how it ended."""
TASK: Final = "task"
"""Under this name those of an answer hold the record of its task: data set, right answer and what else."""


@dataclass(frozen=True)
class Conversation:
    """One conversation, exactly as it came, with what is known about it."""

    id: str
    messages: tuple[Message, ...]
    user_id: str | None = None
    scenario: str | None = None
    """A short name of the kind of conversation, to group by."""
    context: str | None = None
    """What the conversation is about and should achieve (scenario description, task context)."""
    profile: Mapping[str, Any] | None = None
    """What is known of the user, as the data set states it."""
    candidate: str | None = None
    """The system that wrote the replies."""
    language: str | None = None
    """`en`, `zh` ... when the data says so; otherwise it is detected where it is needed."""
    ratings: tuple[Rating, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    """Keys that we do not know, kept."""
    place: Place | None = field(default=None, compare=False)
    """Where it was read."""

    def _repr_html_(self) -> str:
        from html import escape  # for notebooks only

        rows = ""
        for message in self.messages:
            calls = "".join(f"\n{call.name}({call.arguments})" for call in message.tool_calls)
            rows += f'<tr><th style="vertical-align: top">{escape(message.role)}</th>'
            words = escape(message.text + calls)
            rows += f'<td style="text-align: left; white-space: pre-wrap">{words}</td></tr>'
        return f"<p><b>{escape(self.id)}</b></p><table><tbody>{rows}</tbody></table>"

    @property
    def instructions(self) -> str:
        """The system messages that stand before the dialogue, joined by newlines."""
        texts: list[str] = []
        for message in self.messages:
            if message.role not in ("system", "developer"):
                break
            texts.append(message.text)
        return "\n".join(texts)

    @property
    def prefix(self) -> int:
        """How many of the messages were there before: what follows them is new, and is what is judged."""
        number = self.metadata.get(PREFIX, 0)
        return number if isinstance(number, int) and number > 0 else 0

    @property
    def task(self) -> Mapping[str, Any]:
        """The record of the task that it answers; empty where it has none."""
        record = self.metadata.get(TASK)
        return record if isinstance(record, Mapping) else _NOTHING

    @property
    def history(self) -> tuple[Turn, ...]:
        """The turns that were there before: what follows them is judged, with these in view."""
        prefix = self.prefix
        return tuple(t for t in self.turns if t.stop <= prefix) if prefix else ()

    @property
    def new_turns(self) -> tuple[Turn, ...]:
        """The replied turns that were not there before: what is judged of the conversation."""
        prefix = self.prefix
        return tuple(t for t in self.replied_turns if t.stop > prefix) if prefix else self.replied_turns

    @cached_property
    def turns(self) -> tuple[Turn, ...]:
        """The turns in order; leading system messages belong to none."""
        return tuple(_turns(self.messages))

    @property
    def replied_turns(self) -> tuple[Turn, ...]:
        """The turns that have a reply, turn 0 left out."""
        return tuple(t for t in self.turns if t.number >= 1 and t.has_reply)

    def turn(self, number: int) -> Turn:
        """Return the turn of that number; IndexError if there is none."""
        for turn in self.turns:
            if turn.number == number:
                return turn
        msg = f"conversation {self.id!r} has no turn {number}"
        raise IndexError(msg)

    def place_of(self, rating: Rating) -> Place:
        """Return where one of its ratings was read: its own line if known, else the conversation's place."""
        place = rating.place or self.place or Place("ratings")
        return replace(place, conversation_id=self.id, turn=rating.turn)

    def until(self, number: int) -> Conversation:
        """Return the conversation up to and including turn `number`: all that foresight may see."""
        return replace(self, messages=self.messages[: self.turn(number).stop])

    def blinded(self) -> Conversation:
        """Return the conversation as a judge may see it: of what stands beside it, prefix and task alone."""
        if not self.ratings and not self.metadata and self.place is None:
            return self
        metadata = {key: value for key, value in ((PREFIX, self.prefix), (TASK, self.task)) if value}
        return replace(self, ratings=(), metadata=metadata or _NOTHING, place=None)


def _turns(messages: Sequence[Message]) -> Iterable[Turn]:
    index = 0
    while index < len(messages) and messages[index].role in ("system", "developer"):
        index += 1
    number, start = 0, index
    answered = False
    for position in range(index, len(messages)):
        role = messages[position].role
        if role == "user" and (answered or number == 0):
            if position > start:
                yield Turn(number, start, tuple(messages[start:position]))
            number, start, answered = number + 1, position, False
        elif role in ("assistant", "tool"):
            answered = True
    if start < len(messages):
        yield Turn(number, start, tuple(messages[start:]))
