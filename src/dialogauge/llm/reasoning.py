"""Separates what a model thinks aloud from what it answers."""

from __future__ import annotations

import re

__all__ = ["split_reasoning"]

_OPEN = re.compile(r"\s*<(think|thinking|reasoning)>", re.IGNORECASE)
_CLOSE = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)


def split_reasoning(text: str) -> tuple[str, str | None]:
    """Return the answer without its leading reasoning blocks, and the reasoning (None without any).

    A block that is never closed is all reasoning: the answer is then empty. A closing tag without an
    opening one ends a block too (some chat templates open it in the prompt), unless the text in front
    of it is already JSON.
    """
    if "<" not in text:
        return text, None
    thoughts: list[str] = []
    while (opening := _OPEN.match(text)) is not None:
        closing = _CLOSE.search(text, opening.end())
        if closing is None:
            thoughts.append(text[opening.end() :])
            text = ""
            break
        thoughts.append(text[opening.end() : closing.start()])
        text = text[closing.end() :]
    orphan = _CLOSE.search(text)
    if orphan is not None and not text.lstrip().startswith(("{", "[", "```")):
        thoughts.append(text[: orphan.start()])
        text = text[orphan.end() :]
    if not thoughts:
        return text, None
    return text.strip(), "\n".join(t.strip() for t in thoughts if t.strip()) or None
