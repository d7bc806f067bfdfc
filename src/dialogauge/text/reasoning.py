"""The reasoning that a model wrote before its answer, in one text with it."""

from __future__ import annotations

import re
from typing import Final

from dialogauge.core.patterns import lazy_pattern

_TAG: Final = r"(?:seed:)?think|thinking|thought|reasoning"
_OPEN: Final = lazy_pattern(
    rf"\s*(?:<(?:{_TAG})>|\[THINK\]|◁think▷|<\|begin_of_thought\|>|(?:<\|start\|>\w+)?<\|channel\|>analysis)",
    re.IGNORECASE,
)
_ENDS: Final = rf"</(?:{_TAG})>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>"
_FINAL: Final = r"<\|channel\|>final\s*(?:<\|constrain\|>\w+)?<\|message\|>"
_CLOSE: Final = lazy_pattern(rf"{_ENDS}|{_FINAL}", re.IGNORECASE)
"""As DeepSeek, Gemini, Magistral, Kimi, Seed-OSS and gpt-oss write them where no server takes them out."""
_CLOSE_ALONE: Final = lazy_pattern(rf"^[ \t]*(?:{_ENDS})[ \t]*$|{_FINAL}", re.IGNORECASE | re.MULTILINE)
_MOST_THOUGHTS: Final = 1000
"""Blocks of reasoning before an answer; what follows is read as the answer."""


def split_reasoning(text: str, *, quotable: bool = False) -> tuple[str, str | None]:
    """Return the answer without leading reasoning blocks, and the reasoning (None without any).

    An unclosed block is all reasoning, and the answer is empty. A closing tag without an opening one also
    ends a block (some chat templates open it in the prompt), unless JSON stands before it.

    Args:
        text: What the model wrote.
        quotable: Whether the answer may be about such tags: a closing tag without an opening one then
            counts only on a line of its own, outside of code.
    """
    if not _may_reason(text):
        return text, None
    thoughts: list[str] = []
    start = 0
    while len(thoughts) < _MOST_THOUGHTS and (opening := _OPEN.match(text, start)) is not None:
        closing = _CLOSE.search(text, opening.end())
        thoughts.append(text[opening.end() : closing.start() if closing else None])
        start = closing.end() if closing else len(text)
    # A closing tag without an opening one counts unless JSON stands before it.
    orphan = (
        None
        if text[start:].lstrip().startswith(("{", "[", "```"))
        else (_CLOSE_ALONE if quotable else _CLOSE).search(text, start)
    )
    if orphan is not None and not (quotable and text.count("```", start, orphan.start()) % 2):
        thoughts.append(text[start : orphan.start()])
        start = orphan.end()
    if not thoughts:
        return text, None
    return text[start:].strip(), "\n".join(t.strip() for t in thoughts if t.strip()) or None


def _may_reason(text: str) -> bool:
    """Say whether a part of a mark is in a text at all: a log holds millions without one."""
    if "<" not in text and "[" not in text and "◁" not in text:
        return False
    plain = text.lower()
    return "think" in plain or "thought" in plain or "reasoning>" in plain or "<|channel|>" in plain
