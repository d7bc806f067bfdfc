"""`learn dialogues`: users ask tasks, and say what they think of each answer: logs to learn from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dialogauge.agents import metric_rule, user_of_task
from dialogauge.app.candidates import read_agents, read_candidates
from dialogauge.app.clients import Clients
from dialogauge.app.command import StudyEntry, chosen_directory
from dialogauge.app.learn.run import LearnPlanJson, PreparedLearning, chosen_room
from dialogauge.app.learn.settings import AskedOptions, LearnDialoguesOptions
from dialogauge.app.learn.systems import chosen_answerer, chosen_role, chosen_systems
from dialogauge.app.learn.tasks import chosen_logs, chosen_tasks, task_ids, training_tasks
from dialogauge.app.merging import load_config
from dialogauge.app.outcome import CommandOutcome
from dialogauge.app.simulate import expect_answers
from dialogauge.app.sources import PythonInput
from dialogauge.data.tasks import TaskRecord, write_logs
from dialogauge.rubrics import load_rubric
from dialogauge.studies.learning.figures import NO_MODEL, LearnResult
from dialogauge.studies.learning.memories import Memories
from dialogauge.studies.learning.page import learn_blocks, stored_page
from dialogauge.studies.learning.study import LearningStudy
from dialogauge.studies.learning.teaching import Teaching
from dialogauge.text import counted

_SCORER: Final = "satisfaction-ten"


async def _prepare(options: LearnDialoguesOptions, python: PythonInput, *, dry: bool) -> PreparedLearning:
    """Read tasks, and build systems, answerer and users."""
    del python
    remarks = list[str]()
    file, tasks = chosen_tasks(options.inputs, options.sample, remarks)
    if options.part == "train":
        tasks = training_tasks(tasks, task_ids(chosen_logs(options.logs_file)))
    config, agents = load_config(options.config_file), read_agents(options.agents_file)
    named = read_candidates([options.candidate], agents, config) if options.candidate else ()
    expect_answers(named)
    clients = Clients(options, dry=dry, sessions=True)
    try:
        answerer = chosen_answerer(options, clients, *named)
        systems = chosen_systems(options, clients, file, {}, dry=dry)
        teaching = teaching_of(options, clients, tasks)
    except BaseException:
        await clients.close()
        raise
    study = LearningStudy(
        file,
        (),
        systems,
        answerer,
        chosen_room(options),
        Memories(deadline=options.system_timeout),
        "dialogues",
        seed=options.seed,
        teaching=teaching,
    )
    return PreparedLearning(
        options=options,
        study=study,
        clients=clients,
        judge=NO_MODEL if answerer is None else answerer.name,
        workers=options.max_concurrency,
        remarks=remarks,
    )


def teaching_of(
    options: AskedOptions, clients: Clients, tasks: Sequence[TaskRecord], steps: int = 1, batch: int = 1
) -> Teaching:
    """Build the users of tasks, and say how dialogues with them are led.

    Raises UsageError where a task's user needs a model, and there is none.
    """
    simulator = scorer = None
    if (settings := chosen_role(options, "simulator")) is not None and any(map(_needs_model, tasks)):
        from dialogauge.judges.rubric.judge import RubricJudge

        simulator = clients.build(settings, "simulator")
        judging = chosen_role(options, "judge") or settings
        scorer = RubricJudge(load_rubric(_SCORER), clients.build(judging, "judge"))
    users = {task.id: user_of_task(task, simulator, scorer) for task in tasks}
    return Teaching(tasks, users, options.rounds, steps, batch, options.seed)


def _needs_model(task: TaskRecord) -> bool:
    return metric_rule(task) is None


def _write(prepared: PreparedLearning, outcome: CommandOutcome[LearnResult]) -> None:
    """Write the logs beside the run: dialogues of no memory are those of all systems."""
    if outcome.run is not None:
        write_logs(outcome.run.directory.file("logs"), *prepared.study.led())


DIALOGUES: Final[StudyEntry[LearnDialoguesOptions, PreparedLearning, LearnResult]] = StudyEntry(
    name="learn",
    prints=LearnResult,
    plans=LearnPlanJson,
    unit="dialogue",
    prepare=_prepare,
    directory=lambda options: chosen_directory(options, "-dialogues"),
    after=_write,
    notes=lambda prepared, run: prepared.remarks,
    failed_share=lambda result: result.failed_share,
    counts=lambda prepared, units: {"answers": units},
    measured=20,
    plan_words=lambda plan, options: (
        f"would lead {plan.left:,} of {counted(plan.counts['answers'], 'dialogue')} with {plan.judge}"
    ),
    view=lambda outcome: learn_blocks(outcome.result),
    page=stored_page,
)
