"""`learn dialogues`: users ask tasks, and say what they think of each answer: logs to learn from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from dialogauge.app.candidates import read_agents, read_candidates
from dialogauge.app.clients import Clients
from dialogauge.app.command import StudyEntry, chosen_directory
from dialogauge.app.learn.run import RUN, PreparedLearning, chosen_room
from dialogauge.app.learn.settings import LearnDialoguesOptions
from dialogauge.app.learn.systems import chosen_answerer, chosen_systems
from dialogauge.app.learn.tasks import chosen_logs, chosen_tasks, expect_taught, task_ids, training_tasks
from dialogauge.app.learn.users import teaching_of
from dialogauge.app.merging import load_config
from dialogauge.app.simulate import expect_answers
from dialogauge.app.sources import PythonInput
from dialogauge.core import UsageError
from dialogauge.studies.learning.figures import NO_MODEL, LearnResult
from dialogauge.studies.learning.memories import Memories
from dialogauge.studies.learning.study import LearningStudy
from dialogauge.text import counted


async def _prepare(options: LearnDialoguesOptions, python: PythonInput, *, dry: bool) -> PreparedLearning:
    """Read tasks, and build systems, answerer and users."""
    del python
    remarks = list[str]()
    file, tasks = chosen_tasks(options.inputs, options.sample, remarks)
    logged = task_ids(chosen_logs(options.logs_file))
    if options.part == "train":
        tasks = training_tasks(tasks, logged)
        expect_taught(tasks)
    elif logged:
        msg = "with --part all each task teaches, whatever the logs are about"
        raise UsageError(msg, hint="leave --logs out, or --part all")
    config, agents = load_config(options.config_file), read_agents(options.agents_file)
    named = read_candidates([options.candidate], agents, config) if options.candidate else ()
    expect_answers(named)
    clients = Clients(options, dry=dry, sessions=True)
    try:
        answerer = chosen_answerer(options, clients, *named)
        systems = chosen_systems(options, clients, file, {}, folder=Path(), dry=dry)  # none learns
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


DIALOGUES: Final[StudyEntry[Any, PreparedLearning, LearnResult]] = replace(
    RUN,
    unit="dialogue",
    prepare=_prepare,
    directory=lambda options: chosen_directory(options, "-dialogues"),
    plan_words=lambda plan, options: (
        f"would lead {plan.left:,} of {counted(plan.counts['answers'], 'dialogue')} with {plan.judge}"
    ),
)
