"""`dialogauge arena INPUT... -o RUN`: agents ranked by who did better on the same dialogue."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from dialogauge.app.arena.gather import UNKNOWN, Entrants, gather, judge_of, meetings
from dialogauge.app.arena.settings import ArenaOptions
from dialogauge.app.build import Clients
from dialogauge.app.config import model_of
from dialogauge.app.merging import load_config, references
from dialogauge.app.outcome import Plan, StudyOutcome
from dialogauge.app.outputs import run_files, run_named_after, spare
from dialogauge.app.sources import is_run
from dialogauge.core import Conversation, WorkUnit
from dialogauge.core.errors import InputError, UsageError
from dialogauge.core.settings import narrowed, recorded
from dialogauge.judges.pairwise import PairJudge
from dialogauge.rubrics import load_rubric
from dialogauge.runs import Observer, RunDirectory, RunSettings, StopSignal, run_study, units_left
from dialogauge.studies.arena.agents import Agents
from dialogauge.studies.arena.meetings import (
    AskedTwice,
    Earlier,
    JudgedHere,
    MeanScores,
    Meeting,
    PeoplesVotes,
    Referee,
)
from dialogauge.studies.arena.scheduling import Schedule
from dialogauge.studies.arena.study import ArenaStudy
from dialogauge.studies.arena.summary import ArenaResult, ArenaSettings
from dialogauge.studies.evidence import DimensionEvidence

_NO_RANKS: Final = (
    "Nobody will be ranked: nobody voted on these meetings (--ratings), and there is no --unchecked; what "
    "the model says will name dialogues to read."
)
_SAMPLE: Final = 200
"""Meetings of which the prompts are measured for a plan."""


@dataclass(frozen=True)
class ArenaOutcome(StudyOutcome[ArenaResult]):
    """What comes of an arena."""

    max_failed: float = 1.0

    @property
    def exit_code(self) -> int:
        """As of any study; 3 where too many meetings gave no verdict."""
        too_many = (self.run.result.failed_share or 0.0) > self.max_failed
        return super().exit_code or (3 if too_many else 0)


async def run_arena(
    options: ArenaOptions,
    observer: Observer,
    talks: Mapping[str, Iterable[Conversation | InputError]] | None = None,
    stop: StopSignal | None = None,
) -> ArenaOutcome:
    """Put every meeting to the referee, and write the run; the same call again asks only what is new.

    Args:
        options: What is asked for.
        observer: Who is told.
        talks: Dialogues in memory by agent, beside what `inputs` names.
        stop: Ends the run early when it is requested.

    Raises:
        UsageError: As `gather`; or the referee cannot say anything of these inputs; or the arena would be
            written over an input, or into one of the arenas.
        StoreError: The directory cannot be written, or holds a run of another study.
    """
    arena = _arena(options, talks)
    _spare_the_inputs(options, arena.settings.directory)
    if _ranks_nobody(options, arena):
        observer.say(_NO_RANKS)
    try:
        run = await run_study(arena.study, arena.settings, observer, arena.clients.limits, stop)
    finally:
        await arena.clients.close()
    notes = (*arena.gathered.notes, *arena.clients.notices(run.progress.usage.calls))
    return ArenaOutcome(run, tuple(arena.gathered.faults), notes, options.max_failed)


def plan_arena(options: ArenaOptions) -> Plan:
    """Say what an arena would ask, without a model call and without writing anything."""
    arena = _arena(options, None, dry=True)
    study, schedule = arena.study, arena.study.schedule
    study.schedule = None  # which meetings it asks hangs on the answers, and only how many is known
    waiting: list[WorkUnit] = []
    units, left, _ = units_left(study, arena.settings, waiting.append)
    counts = {"agents": len(study.agents.names), "meetings": len(study.meetings)}
    if schedule is not None and schedule.budget is not None:
        left = max(0, min(left, schedule.budget - (units - left)))
    asking = arena.clients.counted()
    with asyncio.Runner() as runner:
        if asking is None:
            left = len(study.meetings)
        elif waiting:
            sample = waiting[:: -(-len(waiting) // _SAMPLE)]
            for unit in sample:
                runner.run(study.run(unit))
            asking = arena.clients.counted(left / len(sample))
        runner.run(arena.clients.close())
    faults = tuple(arena.gathered.faults)
    notes = (*arena.gathered.notes, *([_NO_RANKS] if _ranks_nobody(options, arena) else []))
    return Plan(arena.settings.directory.path, study.referee.name, counts, left, faults, notes, asking)


def _spare_the_inputs(options: ArenaOptions, directory: RunDirectory) -> None:
    """Raise UsageError where the arena would be written over an input, or into one of the arenas."""
    spare(run_files(directory), options)
    runs = (text if Path(text).exists() else text.partition("=")[2] for text in options.inputs)
    if any(is_run(run) and Path(run).resolve() == directory.path.resolve() for run in runs):
        message = f"{directory.path} is one of the arenas that are put together"
        raise UsageError(message, hint="choose another directory with -o")


def _ranks_nobody(options: ArenaOptions, arena: _Arena) -> bool:
    """Say whether a model would be asked, and nothing could show that it agrees with people."""
    unshown = not (options.unchecked or arena.gathered.votes)
    return isinstance(arena.study.referee, AskedTwice) and unshown


@dataclass(frozen=True, slots=True)
class _Arena:
    """All that a run of an arena takes."""

    study: ArenaStudy
    settings: RunSettings
    clients: Clients
    gathered: Entrants


def _arena(
    options: ArenaOptions,
    talks: Mapping[str, Iterable[Conversation | InputError]] | None,
    *,
    dry: bool = False,
) -> _Arena:
    directory = RunDirectory(run_named_after(options.inputs) if options.out is None else Path(options.out))
    gathered = gather(options, talks)
    clients = Clients(options, dry=dry)
    referee, asked = _asked(options, gathered, clients)
    names = tuple(gathered.names) or tuple(dict.fromkeys(n for one in asked for n in (one.a, one.b)))
    known = {name: gathered.about.get(name, {}) for name in names}
    model = isinstance(referee, AskedTwice)
    schedule = None
    if options.schedule == "adaptive":
        schedule = Schedule(options.budget, options.until, options.ties)
    elif options.budget is not None:
        asked = asked[: options.budget]
    study = ArenaStudy(
        referee,
        asked,
        Agents(names, known, gathered.missing, gathered.absent),
        settings=narrowed(ArenaSettings, options),
        people=() if isinstance(referee, PeoplesVotes) else gathered.votes,
        evidence=_evidence(referee, gathered),
        unreadable=gathered.faults,
        together=not model,
        schedule=schedule,
    )
    workers = options.max_concurrency if model else 1
    settings = narrowed(
        RunSettings,
        options,
        directory=directory,
        workers=workers if schedule is None else min(workers, schedule.batch(len(names))),
        settings=recorded(options),
    )
    return _Arena(study, settings, clients, gathered)


def _check(options: ArenaOptions, *, model: bool) -> None:
    """Raise UsageError where settings exclude each other."""
    if options.judge == "llm" and not model:
        message = "--judge llm needs a model"
        raise UsageError(
            message, hint="give --model NAME --base-url URL, or [roles.judge] in the configuration"
        )
    if not model and (options.schedule == "adaptive" or options.budget is not None):
        message = "--schedule adaptive and --budget are for comparisons that cost something"
        raise UsageError(message, hint="give a model, or leave them out: all other votes cost nothing")
    if options.schedule == "adaptive" and options.budget is None and options.until is None:
        message = "--schedule adaptive has no end"
        raise UsageError(message, hint="give --until POINTS, --budget N, or both")
    if options.until is not None and options.schedule != "adaptive":
        message = "--until is for --schedule adaptive"
        raise UsageError(message, hint="add it, or leave --until out")


def _asked(options: ArenaOptions, gathered: Entrants, clients: Clients) -> tuple[Referee, list[Meeting]]:
    """Return the referee and the meetings that are put to it."""
    config = load_config(options.config_file)
    reference = references(options).get("judge")
    model = reference is not None or (options.judge == "llm" and "judge" in config.roles)
    if reference is not None and options.judge not in (None, "llm"):
        message = f"--judge {options.judge} takes no model"
        raise UsageError(message, hint=f"drop --judge {options.judge} to ask the model, or drop the model")
    _check(options, model=model)
    if gathered.earlier:
        judges = dict.fromkeys(str((one.earlier or {})["judge"]) for one in gathered.earlier)
        return Earlier(f"{', '.join(judges)}, in earlier arenas"), gathered.earlier
    all_meetings = list(meetings(gathered)) if gathered.agents else gathered.votes
    if model:
        judge = PairJudge(
            load_rubric(options.rubric),
            clients.build(model_of(reference, "judge", config.roles), "judge"),
            options.language,
        )
        unrated = (replace(m, rating=None) for m in all_meetings)  # several may have voted on one
        return AskedTwice(judge), list({one.digest: one for one in unrated}.values())
    if options.judge == "people" or (options.judge is None and gathered.votes):
        if not gathered.votes:
            why = next((f": {fault}" for fault in gathered.faults if UNKNOWN in str(fault)), "")
            message = f"nobody has voted on these agents{why}"
            raise UsageError(message, hint="give --ratings PAIRS, or another judge: --judge scores")
        return PeoplesVotes(), gathered.votes
    if options.judge == "local":
        from dialogauge.judges.local.judge import LocalJudge

        return JudgedHere(LocalJudge()), all_meetings
    return MeanScores(*judge_of(gathered.agents)), all_meetings


def _evidence(referee: Referee, gathered: Entrants) -> DimensionEvidence:
    """Say whether a referee was shown to agree with people or outcomes, before anything is asked."""
    if isinstance(referee, PeoplesVotes):
        return DimensionEvidence(checked=True, by="they are votes of people")
    each = gathered.earlier_evidence
    if isinstance(referee, MeanScores):
        each = [agent.evidence for agent in gathered.agents]
    if not each or not isinstance(referee, MeanScores | Earlier):
        return DimensionEvidence(
            checked=False,
            why=f"nobody voted on these meetings, so nothing shows that {referee.name} agrees with people",
        )
    return next((one for one in each if not one.checked), each[0])
