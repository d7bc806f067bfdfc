"""Judging a session as a whole: what the task fails on comes first and caps the score."""

from dialogauge.judges.local.scores import CAPS, TASKS, Guarded, guard, local_failures, task_of

__all__ = ["CAPS", "TASKS", "Guarded", "guard", "local_failures", "task_of"]
