"""How much of each prompt repeats the beginning of the one before it: what a prefix cache can save."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["PrefixMeter"]


class PrefixMeter:
    """Compares each prompt to one endpoint with the previous one, character by character.

    Servers that cache the beginnings of prompts (vLLM, SGLang, most vendors) keep more than the last
    prompt, so what is measured here is a lower bound of what they can reuse.
    """

    def __init__(self) -> None:
        """Begin without a previous prompt."""
        self._previous: list[tuple[str, str]] = []

    def measure(self, messages: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
        """Return the characters of a prompt, and how many of them repeat the previous prompt's beginning."""
        prompt = [(str(m.get("role")), _text(m.get("content"))) for m in messages]
        repeated = 0
        for (old_role, old), (role, text) in zip(self._previous, prompt, strict=False):
            if role != old_role:
                break
            same = _common(old, text)
            repeated += same
            if same < len(old) or same < len(text):
                break
        self._previous = prompt
        return sum(len(text) for _, text in prompt), repeated


def _text(content: object) -> str:
    return content if isinstance(content, str) else str(content or "")


def _common(old: str, new: str) -> int:
    """Return the length of the common beginning, by halving: a loop over characters is 100 times slower."""
    if old == new:
        return len(new)
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
