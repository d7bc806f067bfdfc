"""The guard: which failures count for the task, and the score that they leave."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import cast

from dialogauge.core import UsageError
from dialogauge.judge.session.tasks import CAPS, FAILURE_NAMES, TASKS, FailureName, TaskName

__all__ = ["Guarded", "guard", "task_of"]


@dataclass(frozen=True, slots=True)
class Guarded:
    """A score after the guard."""

    score: int
    task: TaskName
    failed: tuple[FailureName, ...]
    """The failures that count for this task."""
    capped: bool
    """Whether the score was lowered."""


def task_of(scenario: str | None) -> TaskName:
    """Return the type of task that a scenario names; `other` for any that is not one of ours."""
    return cast("TaskName", scenario) if scenario in TASKS else "other"


def guard(score: int, failures: Collection[str], scenario: str | None) -> Guarded:
    """Cap a score by the failures that count for the task; it is never raised.

    Args:
        score: 1 to 5.
        failures: Of `FAILURE_NAMES`, those that were found, judged before the score.
        scenario: The type of task.

    Raises:
        UsageError: A failure that there is not, or a score off the scale.
    """
    unknown = sorted(set(failures) - set(FAILURE_NAMES))
    if unknown or not 1 <= score <= 5:
        msg = f"no such failure: {', '.join(unknown)}" if unknown else f"the score {score} is not on 1 to 5"
        raise UsageError(msg, hint=f"failures are {', '.join(FAILURE_NAMES)}")
    task = task_of(scenario)
    counted = tuple(name for name in TASKS[task] if name in failures)
    cap = min((CAPS[name] for name in counted), default=5)
    return Guarded(min(score, cap), task, counted, score > cap)
