"""`dialogauge arena INPUT... -o RUN`: agents ranked by who did better on the same dialogue."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dialogauge.app.arena.gather import Entrants, gather, judge_of, meetings
from dialogauge.app.arena.settings import ArenaOptions
from dialogauge.app.outcome import StudyOutcome
from dialogauge.app.outputs import run_files, run_named_after, spare
from dialogauge.core.errors import UsageError
from dialogauge.core.settings import narrowed, recorded
from dialogauge.runs import Observer, RunDirectory, RunSettings, StopSignal, run_study
from dialogauge.studies.arena.meetings import Earlier, JudgedHere, MeanScores, Meeting, PeoplesVotes, Referee
from dialogauge.studies.arena.study import ArenaStudy
from dialogauge.studies.arena.summary import Agents, ArenaResult, ArenaSettings


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
    options: ArenaOptions, observer: Observer, stop: StopSignal | None = None
) -> ArenaOutcome:
    """Put every meeting to the referee, and write the run; the same call again asks only what is new.

    Raises:
        UsageError: As `gather`; or the referee cannot say anything of these inputs.
        StoreError: The directory cannot be written, or holds a run of another study.
    """
    directory = RunDirectory(run_named_after(options.inputs) if options.out is None else Path(options.out))
    spare(run_files(directory), options)
    gathered = gather(options)
    referee, asked = _asked(options, gathered)
    names = tuple(gathered.names) or tuple(dict.fromkeys(n for one in asked for n in (one.a, one.b)))
    about = {one.agent: dict(one.about) for one in gathered.agents}
    known = {name: {**about.get(name, {}), **gathered.about.get(name, {})} for name in names}
    study = ArenaStudy(
        referee,
        asked,
        Agents(names, known, gathered.missing),
        settings=narrowed(ArenaSettings, options),
        people=() if isinstance(referee, PeoplesVotes) else gathered.votes,
        unreadable=gathered.faults,
    )
    settings = narrowed(RunSettings, options, directory=directory, settings=recorded(options))
    run = await run_study(study, settings, observer, stop=stop)
    return ArenaOutcome(run, tuple(gathered.faults), tuple(gathered.notes), options.max_failed)


def _asked(options: ArenaOptions, gathered: Entrants) -> tuple[Referee, list[Meeting]]:
    """Return the referee, and the meetings that are put to it."""
    if gathered.earlier:
        return Earlier(), gathered.earlier
    if options.judge == "people" or (options.judge is None and gathered.votes):
        if not gathered.votes:
            message = "nobody has voted on these agents"
            raise UsageError(message, hint="give --ratings PAIRS, or another judge: --judge scores")
        return PeoplesVotes(), gathered.votes
    all_meetings = list(meetings(gathered)) if gathered.agents else gathered.votes
    if options.judge == "local":
        from dialogauge.judges.local.judge import LocalJudge

        return JudgedHere(LocalJudge()), all_meetings
    judge, digest, dimensions = judge_of(gathered.agents)
    return MeanScores(judge, digest, dimensions), all_meetings
