"""The reasoning of an assistant, kept apart from what its user read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import is_not
from typing import Any, Final

from dialogauge.core import Message
from dialogauge.text import split_reasoning

REASONING: Final = "reasoning"
"""The key of a message under which its thoughts are kept: no user saw them, and no judge does."""


def without_reasoning(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return messages with the reasoning at the head of a reply (`<think>...`) kept beside its text.

    A reply that is all reasoning, as one that was cut off, is empty then.
    """
    out = [_apart(m) if m.role == "assistant" and m.content else m for m in messages]
    changed = any(map(is_not, out, messages))
    return tuple(out) if changed or not isinstance(messages, tuple) else messages


def _apart(message: Message) -> Message:
    content = message.content
    if isinstance(content, str):
        text, thought = _split(content)
        if text == content:
            return message
        spoken = text or (None if message.tool_calls else "")
        return replace(message, content=spoken, extra=_with(message.extra, thought))
    first, *others = content or ({},)
    whole = first.get("text")
    text, thought = _split(whole) if isinstance(whole, str) else ("", "")
    if text == whole or not (text or others):
        return message
    parts = ({**first, "text": text}, *others) if text else tuple(others)
    return replace(message, content=parts, extra=_with(message.extra, thought))


def _split(text: str) -> tuple[str, str]:
    """Return a text without reasoning, and the reasoning: the same for what is split again."""
    rest, thought = split_reasoning(text, quotable=True)
    if rest == text:
        return text, ""
    thoughts = []
    while rest != text:
        thoughts += [thought] if thought else []
        text, (rest, thought) = rest, split_reasoning(rest, quotable=True)
    return text, "\n".join(thoughts)


def _with(extra: Mapping[str, Any], thought: str) -> dict[str, Any]:
    before = extra.get(REASONING)
    if not thought:
        return dict(extra)
    if before is None or before == "":
        return {**extra, REASONING: thought}
    if isinstance(before, str):
        return {**extra, REASONING: f"{before}\n{thought}"}
    return {**extra, REASONING: [*(before if isinstance(before, list) else [before]), thought]}
