"""What each type of task fails on, and how high a session with that failure may be scored.

Our reading of the task-guarded evaluator in appendix F of PersTurnBench: the failure conditions of the
task type are judged before the score and cap it. The rubric `session-guarded` words them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, get_args

__all__ = ["CAPS", "FAILURE_NAMES", "TASKS", "FailureName", "TaskName"]

TaskName = Literal["professional", "retrieval", "text", "advice", "creative", "leisure", "other"]
FailureName = Literal["unmet", "wrong", "refused", "constraint", "generic", "unfinished", "asks_again"]
FAILURE_NAMES: tuple[FailureName, ...] = get_args(FailureName)

CAPS: Mapping[FailureName, int] = MappingProxyType(
    {
        "unmet": 2,
        "wrong": 2,
        "refused": 2,
        "constraint": 3,
        "generic": 3,
        "unfinished": 3,
        "asks_again": 3,
    }
)
"""The highest score that a session with the failure may have, 1 to 5."""

_ALWAYS: tuple[FailureName, ...] = ("unmet", "wrong", "refused")
TASKS: Mapping[TaskName, tuple[FailureName, ...]] = MappingProxyType(
    {
        "professional": (*_ALWAYS, "generic", "unfinished", "asks_again"),
        "retrieval": (*_ALWAYS, "constraint", "asks_again"),
        "text": (*_ALWAYS, "constraint", "unfinished", "asks_again"),
        "advice": (*_ALWAYS, "constraint", "generic", "asks_again"),
        "creative": (*_ALWAYS, "constraint", "unfinished"),
        "leisure": (*_ALWAYS, "constraint", "generic"),
        "other": (*_ALWAYS, "constraint", "asks_again"),
    }
)
"""What each type of task fails on; other failures do not cap it."""
