"""Judging a session as a whole: what the task fails on comes first and caps the score."""

from dialogauge.judge.session.guard import Guarded, guard, task_of
from dialogauge.judge.session.local_failures import local_failures
from dialogauge.judge.session.tasks import CAPS, TASKS

__all__ = ["CAPS", "TASKS", "Guarded", "guard", "local_failures", "task_of"]
