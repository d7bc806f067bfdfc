"""The users who teach: of fixed words, or played by a model whose satisfaction another call scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dialogauge.agents import metric_rule, user_of_task
from dialogauge.app.clients import Clients
from dialogauge.app.learn.settings import ROUNDS, AskedOptions
from dialogauge.app.learn.systems import chosen_role
from dialogauge.app.merging import references
from dialogauge.core import UsageError
from dialogauge.data.tasks import TaskRecord
from dialogauge.rubrics import load_rubric
from dialogauge.studies.learning.teaching import Teaching

_SCORER: Final = "satisfaction-ten"


def teaching_of(
    options: AskedOptions,
    clients: Clients,
    tasks: Sequence[TaskRecord],
    steps: int = 1,
    batch: int = 1,
) -> Teaching:
    """Build the users of tasks, and say how dialogues with them are led.

    Raises UsageError where a task's user needs a model, and there is none; or where none needs one, and one
    is given.
    """
    simulator = scorer = None
    played = any(metric_rule(task) is None for task in tasks)
    if not played and (idle := {"simulator", "judge"} & references(options).keys()):
        msg = f"no task asks the role {min(idle)}: users of LoCoMo and DialSim have fixed words"
        raise UsageError(msg, hint=f"leave --role {min(idle)}= out")
    if played and (settings := chosen_role(options, "simulator")) is not None:
        from dialogauge.judges.rubric.judge import RubricJudge

        simulator = clients.build(settings, "simulator")
        judging = chosen_role(options, "judge") or settings
        scorer = RubricJudge(load_rubric(_SCORER), clients.build(judging, "judge"))
    users = {task.id: user_of_task(task, simulator, scorer) for task in tasks}
    return Teaching(tasks, users, options.rounds or ROUNDS, steps, batch, options.seed)
