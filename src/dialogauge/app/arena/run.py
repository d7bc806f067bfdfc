"""`dialogauge arena INPUT... -o RUN`: agents ranked by who did better on the same dialogue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from dialogauge.app.arena.gather import UNKNOWN, Entrants, gather, judge_of, meetings
from dialogauge.app.build import Clients
from dialogauge.app.columns import ExportColumns, VoteColumns
from dialogauge.app.command import ReadyStudy, StudyEntry
from dialogauge.app.config import model_of
from dialogauge.app.merging import load_config, references
from dialogauge.app.outcome import CommandOutcome, Plan, PlanJson
from dialogauge.app.outputs import run_files, spare
from dialogauge.app.settings import ArenaOptions
from dialogauge.app.shown import Overview
from dialogauge.app.sources import PythonInput, is_run
from dialogauge.core.errors import UsageError
from dialogauge.core.settings import narrowed
from dialogauge.judges.pairwise import PairJudge
from dialogauge.report import Block, Page
from dialogauge.rubrics import load_rubric
from dialogauge.runs import Observer, RunDirectory, StoredRun, StudyRun
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
from dialogauge.studies.arena.page import brief
from dialogauge.studies.arena.scheduling import Schedule
from dialogauge.studies.arena.stored import shown_votes, stored_page
from dialogauge.studies.arena.study import ArenaStudy
from dialogauge.studies.arena.summary import ArenaResult, ArenaSettings, ArenaSummary
from dialogauge.studies.evidence import DimensionEvidence
from dialogauge.text import counted

_NO_RANKS: Final = (
    "Nobody will be ranked: nobody voted on these meetings (--ratings), and there is no --unchecked; what "
    "the model says will name dialogues to read."
)


class ArenaPlanJson(PlanJson):
    """What `arena` would do."""

    agents: int
    meetings: int


@dataclass(kw_only=True)
class PreparedArena(ReadyStudy[ArenaOptions, ArenaStudy]):
    """An arena whose meetings are known."""

    gathered: Entrants
    schedule: Schedule | None = None
    """Of a plan: which meetings it asks hangs on the answers, and only how many is known."""

    @property
    def ranks_nobody(self) -> bool:
        """Whether a model would be asked, and nothing could show that it agrees with people."""
        unshown = not (self.options.unchecked or self.gathered.votes)
        return isinstance(self.study.referee, AskedTwice) and unshown


class ArenaEntry(StudyEntry[ArenaOptions, PreparedArena, ArenaResult]):
    """`arena`: agents ranked by who did better; the same call again asks only what is new."""

    name = "arena"
    prints = ArenaSummary
    plans = ArenaPlanJson
    unit = "meeting"
    notes_last = True
    measured = 200

    async def prepare(self, options: ArenaOptions, python: PythonInput, *, dry: bool) -> PreparedArena:
        """Gather who meets whom, and the referee.

        Raises UsageError as `gather`, and where the referee cannot say anything of these inputs.
        """
        gathered, clients = gather(options, python.agents), Clients(options, dry=dry)
        referee, asked = _asked(options, gathered, clients)
        names = tuple(gathered.names) or tuple(dict.fromkeys(n for one in asked for n in (one.a, one.b)))
        known = {name: gathered.about.get(name, {}) for name in names}
        model, schedule = isinstance(referee, AskedTwice), None
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
            schedule=None if dry else schedule,
        )
        workers = options.max_concurrency if model else 1
        return PreparedArena(
            options=options,
            study=study,
            clients=clients,
            judge=referee.name,
            workers=workers if schedule is None else min(workers, schedule.batch(len(names))),
            gathered=gathered,
            schedule=schedule,
        )

    def expect_free(self, options: ArenaOptions, directory: RunDirectory) -> None:
        """Raise UsageError where the arena would be written over an input, or into one of the arenas."""
        spare(run_files(directory), options)
        runs = (text if Path(text).exists() else text.partition("=")[2] for text in options.inputs)
        if any(is_run(run) and Path(run).resolve() == directory.path.resolve() for run in runs):
            message = f"{directory.path} is one of the arenas that are put together"
            raise UsageError(message, hint="choose another directory with -o")

    async def begin(self, prepared: PreparedArena, observer: Observer | None) -> None:
        """Say before a model is asked that nobody will be ranked."""
        if observer is not None and prepared.ranks_nobody:
            observer.say(_NO_RANKS)

    def notes(self, prepared: PreparedArena, run: StudyRun[ArenaResult] | None) -> Iterable[str]:
        """Say how dialogues were read and matched; a plan says that nobody will be ranked."""
        return (*prepared.gathered.notes, *([_NO_RANKS] if run is None and prepared.ranks_nobody else []))

    def failed_share(self, result: ArenaResult) -> float | None:
        """Return the share of the meetings without a verdict."""
        return result.failed_share

    def counts(self, prepared: PreparedArena, units: int) -> dict[str, int]:
        """Count agents and meetings."""
        del units
        return {"agents": len(prepared.study.agents.names), "meetings": len(prepared.study.meetings)}

    def left(self, prepared: PreparedArena, units: int, left: int) -> int:
        """Of a schedule with a budget no more is asked; votes that cost nothing are all taken again."""
        schedule = prepared.schedule
        if prepared.clients.counted() is None:
            return len(prepared.study.meetings)
        if schedule is not None and schedule.budget is not None:
            return max(0, min(left, schedule.budget - (units - left)))
        return left

    def plan_words(self, plan: Plan, options: ArenaOptions) -> str:
        """Say how many meetings would be compared, and by whom."""
        agents, every = counted(plan.counts["agents"], "agent"), plan.counts["meetings"]
        free = "" if plan.asking is not None else "; no model is asked"
        left = f"{plan.left:,} of " if plan.asking is not None else ""
        most = "at most " if options.schedule == "adaptive" else ""
        return f"{agents}: would compare {most}{left}{counted(every, 'meeting')} by {plan.judge}{free}"

    def view(self, outcome: CommandOutcome[ArenaResult], options: ArenaOptions) -> Iterable[Block]:
        """Return who leads, and where to read."""
        del options
        return brief(outcome.result)

    def page(self, run: StoredRun) -> Page:
        """Return the page of a finished run."""
        return stored_page(run)

    def shown(self, run: StoredRun, id: str, turn: int | None) -> tuple[Block, ...]:
        """Return the dialogue as each agent led it, with the votes on it."""
        return shown_votes(run, id, turn)

    def columns(self, run: StoredRun) -> ExportColumns:
        """Return the columns of votes."""
        del run
        return VoteColumns()

    def overview(self, judge: str, summary: Mapping[str, Any]) -> Overview:
        """Return ratings, ranks and votes of the agents."""
        del judge
        return ("agent", "rating", "ranks", "won, tied, lost", "votes"), [
            (
                one["agent"],
                f"{one['rating']['value']:,.0f}{_whole_span(one['rating']['low'], one['rating']['high'])}",
                f"{one['best']}–{one['worst']}",
                f"{one['wins']:,} / {one['ties']:,} / {one['losses']:,}",
                f"{one['votes']:,}",
            )
            for one in summary["agents"]
        ]


ENTRY: Final = ArenaEntry()


def _whole_span(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f" [{low:,.0f}, {high:,.0f}]"


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
