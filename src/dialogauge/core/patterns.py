"""Patterns that are compiled when they are first used.

The modules that a command loads hold three hundred patterns, of which it uses a few. To compile them all took
a tenth of a second, more than many a command works.
"""

from __future__ import annotations

import re
from typing import Any, cast


def lazy_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return what `re.compile` returns, but that the pattern is compiled when a method of it is first used.

    It is no argument of the functions of `re`. What is wrong with a pattern shows when it is used: a test
    uses all those of the package.
    """
    return cast("re.Pattern[str]", _LazyPattern(pattern, flags))


class _LazyPattern:
    """Has the attributes of a compiled pattern, each from its first use on."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any attribute of a pattern
        value = getattr(re.compile(self.pattern, self._flags), name)  # `re` keeps what it compiled last
        setattr(self, name, value)
        return value
