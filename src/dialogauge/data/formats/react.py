"""Steps that an agent wrote as text, read as tool calls and results.

The forms of ReAct: `Thought`, `Action` with `Action Input` or as one JSON object (as in tau-bench), or
`name[input]`, `Observation` in the same message or in one of its own, and `Final Answer`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import orjson

from dialogauge.core import Message, ToolCall
from dialogauge.core.patterns import lazy_pattern
from dialogauge.data.formats.base import Entry
from dialogauge.data.json_values import too_deep
from dialogauge.data.reasoning import REASONING

_KINDS: Final = {
    "Thought": "thought",
    "Action": "action",
    "API Name": "action",
    "Action Input": "input",
    "API Input": "input",
    "Observation": "result",
    "API Result": "result",
    "Final Answer": "answer",
    "Response": "answer",
}
_AFTER: Final = r"(?: ?\d+)?\**[ \t]*[:：]\**[ \t]*"
_MARK: Final = lazy_pattern(rf"^[ \t]*\**({'|'.join(sorted(_KINDS, reverse=True))}){_AFTER}", re.MULTILINE)
_OBSERVED: Final = lazy_pattern(rf"\s*\**(?:Observation|API [Oo]utput|API Result){_AFTER}")
_GO_ON: Final = lazy_pattern(r"\n[ \t]*\**Thought\**[ \t]*[:：]\**\s*\Z")
"""The word that an observation ends with where a model is to go on from there."""
_FENCE: Final = lazy_pattern(r"```\w*\s")
_WITHIN: Final = lazy_pattern(r"([\w.-]+)\s*(?:\[(.*)\]|\((.*)\))", re.DOTALL)
_NAME: Final = lazy_pattern(r"[\w.-]+")
_REPLIES: Final = frozenset({"respond", "finish", "final answer", "final_answer"})
"""Actions that speak to the user."""


@dataclass(frozen=True, slots=True)
class _Step:
    """One step of a text."""

    kind: Literal["call", "reply", "result", "unread"]
    text: str
    """Of a call the arguments."""
    name: str = ""
    thought: str = ""
    sure: bool = False
    """Whether it is a step beyond doubt: prose has lines that begin with `Action:` too."""


def unfold(messages: Sequence[Message], entry: Entry) -> tuple[tuple[Message, ...], Sequence[int]]:
    """Read the steps that an agent wrote as text; other conversations stay as they are.

    A step that cannot be read stays as the text it is, marked `parse_failed`. Thoughts are kept beside
    their step, as `reasoning`.

    Returns:
        The messages, and for each message that was given its last one's index among them.
    """
    candidates = [
        n
        for n, m in enumerate(messages)
        if m.role == "assistant" and isinstance(t := m.content, str) and ("Thought" in t or "Action" in t)
    ]
    if not any(_is_trace(messages, n) for n in candidates):
        return tuple(messages), range(len(messages))
    entry.recognise("conversations have steps as text (Thought, Action): read as tool calls and results")
    trace, ends = _Trace(entry), list[int]()
    for message in messages:
        trace.take(message)
        ends.append(len(trace.out) - 1)
    return tuple(trace.out), ends


def _is_trace(messages: Sequence[Message], index: int) -> bool:
    """Say whether a message has steps for sure: it begins with one, or an observation follows."""
    text, after = messages[index].text, messages[index + 1 : index + 2]
    begins = (mark := _MARK.search(text)) is not None and not text[: mark.start()].strip()
    observed = any(m.role != "assistant" and _OBSERVED.match(m.text) for m in after)
    return (begins or observed) and any(step.sure for step in _steps(text))


class _Trace:
    """The messages of one conversation as they are unfolded."""

    def __init__(self, entry: Entry) -> None:
        self.out: list[Message] = []
        self._entry = entry
        self._calls = 0
        self._open = False
        """Whether the agent's last step waits for an observation."""
        self._last: ToolCall | None = None

    def take(self, message: Message) -> None:
        """Add a message, or the steps that it holds."""
        if message.role == "assistant" and isinstance(message.content, str) and not message.tool_calls:
            self._unfold(message, message.content)
        elif self._open and (message.role == "tool" or _OBSERVED.match(message.text)):
            text = _GO_ON.sub("", _OBSERVED.sub("", message.text, count=1))
            self._observe(text if message.role != "tool" or message.text != text else None, message)
        else:
            self._open, self._last = message.role == "assistant", None
            self.out.append(message)

    def _unfold(self, message: Message, text: str) -> None:
        steps = list(_steps(text))
        self._open = False
        if not steps:
            self.out.append(message)
            return
        for step in steps:
            extra = {REASONING: step.thought} if step.thought else {}
            if step.kind == "result":
                self._observe(step.text, Message("tool"))
                continue
            if step.kind == "call":
                self._calls += 1
                self._last = ToolCall(f"step_{self._calls}", step.name, step.text)
                self.out.append(Message("assistant", None, (self._last,), extra=extra))
            elif step.kind == "reply":
                self.out.append(Message("assistant", step.text, extra=extra))
            else:
                self._last = None
                self.out.append(Message("assistant", step.text, extra={"parse_failed": True}))
                self._entry.assume("steps as text have no action that can be read: kept as replies")
            self._open = step.kind != "reply"
        self.out[-1] = replace(self.out[-1], extra={**message.extra, **self.out[-1].extra}, name=message.name)

    def _observe(self, text: str | None, message: Message) -> None:
        """Add a result of the last call; None leaves the text of the message as it is."""
        call = self._last
        id = message.tool_call_id or (call.id if call is not None else None)
        name = message.name or (call.name if call is not None else None)
        content = message.content if text is None else text
        self.out.append(Message("tool", content, (), id, name, message.extra))


def _steps(text: str) -> Iterator[_Step]:
    """Yield the steps of a message; nothing where it has none of their marks."""
    marks = list(_MARK.finditer(text))
    if not marks:
        return
    kinds = [_KINDS[mark[1]] for mark in marks]
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    bodies = [text[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)]
    begin, thoughts, at = 0, [text[: marks[0].start()].strip()], 0
    while at < len(marks):
        if kinds[at] == "thought":
            thoughts.append(bodies[at])
            at += 1
            continue
        thought = "\n".join(filter(None, thoughts))
        if kinds[at] == "result" and thought:
            yield _Step("unread", text[begin : marks[at].start()].strip())
        several = kinds[at : at + 2] == ["action", "input"]
        step = _read(kinds[at], bodies[at], bodies[at + 1] if several else None, sure=bool(thought))
        at += 1 + several
        raw = text[begin : ends[at - 1]].strip()
        yield _Step("unread", raw) if step is None else replace(step, thought=thought)
        begin, thoughts = ends[at - 1], []
    if any(thoughts):
        yield _Step("unread", text[begin:].strip())


def _read(kind: str, body: str, arguments: str | None, *, sure: bool) -> _Step | None:
    """Read one step; None where it cannot be read."""
    if kind == "result":
        return _Step("result", body)
    if kind == "answer":
        return _Step("reply", body, sure=sure)
    if arguments is not None:
        return _acted(body.strip("`*\"' "), _unfenced(arguments), sure=True)
    return _read_action(body, sure=sure) if kind == "action" else None


def _read_action(body: str, *, sure: bool) -> _Step | None:
    """Read an action that stands by itself; None where it cannot be read."""
    body = _unfenced(body)
    if body.startswith("{"):
        return _read_object(body)
    body = body.strip("`*")
    if within := _WITHIN.fullmatch(body):
        return _acted(within[1], within[2] if within[2] is not None else within[3], sure=sure)
    return _acted(body, "", sure=sure) if _NAME.fullmatch(body) else None


def _read_object(body: str) -> _Step | None:
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    if too_deep(value):
        return None
    name = value.get("name", value.get("action"))
    args: Any = next((value[key] for key in ("arguments", "action_input", "parameters") if key in value), {})
    return _acted(name, args, sure=True) if isinstance(name, str) else None


def _acted(name: str, args: Any, *, sure: bool) -> _Step:  # noqa: ANN401  # any JSON value
    if name.casefold() not in _REPLIES:
        return _Step("call", args if isinstance(args, str) else orjson.dumps(args).decode(), name, sure=sure)
    if isinstance(args, dict) and len(args) < 2:
        args = next(iter(args.values()), "")
    return _Step("reply", args if isinstance(args, str) else orjson.dumps(args).decode(), sure=sure)


def _unfenced(text: str) -> str:
    opened = _FENCE.match(text) if text.endswith("```") else None
    return text[opened.end() : -3].strip() if opened and opened.end() <= len(text) - 3 else text
