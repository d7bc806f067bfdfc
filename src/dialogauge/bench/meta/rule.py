"""What counts as dissatisfied: a threshold on a scale, or the name of a category."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from dialogauge.core import UsageError

__all__ = ["DissatisfiedRule", "parse_rule"]

_FORM: Final = re.compile(r"(<=|>=|<|>)?\s*(-?[0-9]*\.?[0-9]+)")
_COMPARE: Final[dict[str, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class DissatisfiedRule:
    """Made by `parse_rule`; `str()` of it is `<=3`, `<3` or `=DSAT`."""

    sign: str
    threshold: float
    category: str | None = None
    """For ratings that are names: the one that stands for dissatisfied."""

    @property
    def lower(self) -> bool:
        """Whether low scores are the dissatisfied ones."""
        return self.sign in ("<", "<=")

    def holds(self, score: float | str) -> bool:
        """Say whether a rating or a score is a dissatisfied one."""
        if isinstance(score, str):
            return score == self.category
        return self.category is None and _COMPARE[self.sign](score, self.threshold)

    def __str__(self) -> str:
        """Write the rule."""
        return f"={self.category}" if self.category is not None else f"{self.sign}{self.threshold:g}"


def parse_rule(text: str) -> DissatisfiedRule:
    """Read `3` (3 or less), `<3`, `>=4` (where low is good), or the name of a category.

    Raises:
        UsageError: Nothing is named.
    """
    stripped = text.strip()
    if match := _FORM.fullmatch(stripped):
        return DissatisfiedRule(match[1] or "<=", float(match[2]))
    name = stripped.removeprefix("=").strip()
    if not name:
        msg = f"--dissatisfied {text!r} says nothing"
        raise UsageError(msg, hint="give 3 (3 or less), '<3', or the name of a category such as DSAT")
    return DissatisfiedRule("<=", 0.0, name)
