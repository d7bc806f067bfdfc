"""The two sets of tests: the short one, which `make test` runs, and all, which `make test-all` runs.

The short set (`pytest --short`) leaves out the tests that are marked `long`, and draws a quarter of the
examples. A test is marked for what it costs: two seconds of a processor or more, with all its cases. What a
long test holds, some short test of the same room holds roughly; `test_sets.py` in `tests/house` sees to it
that no room is without one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import settings

PART = 4
"""One of so many examples or cases is in the short set."""


def is_short() -> bool:
    """Whether the short set runs: `conftest.py` loads its profile before any test is read."""
    return settings.get_current_profile_name() == "short"


def examples(number: int) -> settings:
    """Return settings that draw so many examples, in the short set a quarter."""
    return settings(max_examples=max(number // PART, 1) if is_short() else number)


def some_short(cases: Sequence[Any], part: int = PART) -> list[Any]:
    """Return the cases of a test, of which the first and every further fourth are in the short set."""
    return [
        case if number % part == 0 else pytest.param(case, marks=pytest.mark.long)
        for number, case in enumerate(cases)
    ]
