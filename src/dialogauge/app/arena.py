"""`dialogauge arena INPUT... -o RUN`: agents ranked by who did better on the same dialogue."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from dialogauge.app.agreement_runs import run_names
from dialogauge.app.candidates import read_agents
from dialogauge.app.clients import Clients
from dialogauge.app.columns import VoteColumns
from dialogauge.app.command import ReadyStudy, StudyEntry
from dialogauge.app.outcome import Plan, PlanJson
from dialogauge.app.outputs import run_files, spare, stem
from dialogauge.app.settings import ArenaOptions
from dialogauge.app.sources import JUDGED, PythonInput, field_map, is_run
from dialogauge.core import conversation_digest
from dialogauge.core.conversation import Conversation
from dialogauge.core.errors import InputError, UsageError
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.settings import narrowed
from dialogauge.data import FieldMap, is_pair_file, read_conversations, read_pairs
from dialogauge.judges.pairwise import PairJudge
from dialogauge.rubrics import load_rubric
from dialogauge.runs import Observer, RunDirectory, StoredRun, StudyRun, open_run, read_manifest
from dialogauge.studies.arena.agents import Agents, said_of, said_together
from dialogauge.studies.arena.entrants import (
    UNKNOWN,
    Dialogues,
    Entrants,
    evidence_of_all,
    expect_an_arena,
    judge_of,
    known_votes,
    led_by,
    look_for_missing,
    matching_keys,
    meetings,
    rewards_of,
)
from dialogauge.studies.arena.meetings import (
    AskedTwice,
    Earlier,
    JudgedHere,
    MeanScores,
    Meeting,
    PeoplesVotes,
    Referee,
    mean_quality,
)
from dialogauge.studies.arena.page import agents_overview, brief
from dialogauge.studies.arena.scheduling import Schedule
from dialogauge.studies.arena.stored import shown_votes, stored_evidence, stored_page
from dialogauge.studies.arena.study import ARENA, ArenaStudy
from dialogauge.studies.arena.summary import ArenaResult, ArenaSettings, ArenaSummary
from dialogauge.studies.evidence import BY_OUTCOME, DimensionEvidence, evidence_of
from dialogauge.text import counted

_NAMED: Final = lazy_pattern(r"([^=/]+)=(.+)", re.DOTALL)
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


async def _prepare(options: ArenaOptions, python: PythonInput, *, dry: bool) -> PreparedArena:
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


def _expect_free(study: str, options: ArenaOptions, directory: RunDirectory) -> None:
    """Raise UsageError where the arena would be written over an input, or into one of the arenas."""
    del study
    spare(run_files(directory), options)
    runs = (text if Path(text).exists() else text.partition("=")[2] for text in options.inputs)
    if any(is_run(run) and Path(run).resolve() == directory.path.resolve() for run in runs):
        message = f"{directory.path} is one of the arenas that are put together"
        raise UsageError(message, hint="choose another directory with -o")


async def _begin(prepared: PreparedArena, observer: Observer | None) -> None:
    """Say before a model is asked that nobody will be ranked."""
    if observer is not None and prepared.ranks_nobody:
        observer.say(_NO_RANKS)


def _notes(prepared: PreparedArena, run: StudyRun[ArenaResult] | None) -> Iterable[str]:
    """Say how dialogues were read and matched; a plan says that nobody will be ranked."""
    return (*prepared.gathered.notes, *([_NO_RANKS] if run is None and prepared.ranks_nobody else []))


def _left(prepared: PreparedArena, units: int, left: int) -> int:
    """Of a schedule with a budget no more is asked; votes that cost nothing are all taken again."""
    schedule = prepared.schedule
    if prepared.clients.counted() is None:
        return len(prepared.study.meetings)
    if schedule is not None and schedule.budget is not None:
        return max(0, min(left, schedule.budget - (units - left)))
    return left


def _plan_words(plan: Plan, options: ArenaOptions) -> str:
    """Say how many meetings would be compared, and by whom."""
    agents, every = counted(plan.counts["agents"], "agent"), plan.counts["meetings"]
    free = "" if plan.asking is not None else "; no model is asked"
    left = f"{plan.left:,} of " if plan.asking is not None else ""
    most = "at most " if options.schedule == "adaptive" else ""
    return f"{agents}: would compare {most}{left}{counted(every, 'meeting')} by {plan.judge}{free}"


ENTRY: Final = StudyEntry(
    name="arena",
    prints=ArenaSummary,
    plans=ArenaPlanJson,
    unit="meeting",
    notes_last=True,
    measured=200,
    prepare=_prepare,
    expect_free=_expect_free,
    begin=_begin,
    notes=_notes,
    failed_share=lambda result: result.failed_share,
    counts=lambda prepared, units: {
        "agents": len(prepared.study.agents.names),
        "meetings": len(prepared.study.meetings),
    },
    left=_left,
    plan_words=_plan_words,
    view=lambda outcome: brief(outcome.result),
    page=stored_page,
    shown=shown_votes,
    columns=lambda run: VoteColumns(),
    overview=lambda judge, summary: agents_overview(summary),
)


def _asked(options: ArenaOptions, gathered: Entrants, clients: Clients) -> tuple[Referee, list[Meeting]]:
    """Return the referee and the meetings that are put to it."""
    if gathered.earlier:
        judges = dict.fromkeys(str((one.earlier or {})["judge"]) for one in gathered.earlier)
        return Earlier(f"{', '.join(judges)}, in earlier arenas"), gathered.earlier
    all_meetings = list(meetings(gathered)) if gathered.agents else gathered.votes
    if options.role is not None:
        client = clients.build(options.role, "judge")
        judge = PairJudge(load_rubric(options.rubric), client, options.language)
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


def gather(
    options: ArenaOptions, talks: Mapping[str, Iterable[Conversation | InputError]] | None = None
) -> Entrants:
    """Read the inputs.

    Args:
        options: What is asked for.
        talks: Dialogues in memory by agent, beside what `inputs` names.

    Raises:
        UsageError: One agent alone, two agents of one name, no dialogue in common, or arenas together with
            something else.
        InputError: A file cannot be read, or not one vote in it.
    """
    out, mapping = Entrants(), field_map(options)
    texts = [(None if Path(text).exists() else _NAMED.fullmatch(text), text) for text in options.inputs]
    paths = [(name[1].strip(), name[2]) if name else (None, text) for name, text in texts]
    runs = [path for name, path in paths if name is None and is_run(path)]
    called = dict(zip(runs, run_names(runs), strict=True))
    checked = _checked_in_all(runs)
    for name, path in paths:
        if not is_run(path):
            if name is None and is_pair_file(path, mapping=mapping):
                _add_votes(out, path, mapping)
                continue
            source = read_conversations([path], mapping=mapping)
            _add_agent(out, name or stem(path), source)
            out.notes += map(str, source.notes)
        elif (manifest := read_manifest(RunDirectory(Path(path)))) is not None and manifest.study == ARENA:
            with open_run(path) as run:
                _add_arena(out, run, name or called[path])
        else:
            with open_run(path, studies=JUDGED) as run:
                wanted = options.dimensions or (() if options.unchecked else checked)
                out.agents.append(_of_run(run, name or called[path], wanted, out.notes))
    for agent, items in (talks or {}).items():
        _add_agent(out, agent, items)
    if options.ratings_file is not None:
        _add_votes(out, options.ratings_file, mapping)
    expect_an_arena(out)
    _describe(out, options.agents_file)
    if out.agents:
        look_for_missing(out)
        out.votes = list(known_votes(out))
    return out


def _checked_in_all(runs: Iterable[str]) -> tuple[str, ...]:
    """Return the dimensions that are checked in every judged run."""
    each: list[tuple[str, ...]] = []
    for path in runs:
        if (manifest := read_manifest(RunDirectory(Path(path)))) is not None and manifest.study in JUDGED:
            with open_run(path, studies=JUDGED) as run:
                evidence = evidence_of(run)
                each.append(tuple(d.name for d in run.dimensions if evidence.of(d.name).checked))
    return tuple(name for name in (each[0] if each else ()) if all(name in names for names in each))


def _describe(out: Entrants, agents_file: str | None) -> None:
    """Note what is known of each agent: what its dialogues say, then what the file does."""
    for agent in out.agents:
        out.about[agent.agent] = agent.about
        if agent.absent:
            out.absent[agent.agent] = agent.absent
    if not out.agents:
        shown: dict[str, dict[str, Conversation]] = {}
        for vote in out.votes:
            for talk in vote.conversations or ():
                shown.setdefault(str(talk.candidate), {})[conversation_digest(talk)] = talk
        out.about |= {name: said_of(name, talks.values()) for name, talks in shown.items()}
    for name, entry in read_agents(agents_file).items():
        keys = ("organisation", "version", "licence", "family")
        more = {key: value for key in keys if (value := getattr(entry, key)) is not None}
        out.about[name] = {**out.about.get(name, {}), **more}


def _of_run(run: StoredRun, name: str, wanted: Sequence[str], notes: list[str]) -> Dialogues:
    known = [d.name for d in run.dimensions]
    if unknown := [d for d in wanted if d not in known]:
        message = f"the run of {name} has no dimension {unknown[0]!r}"
        raise UsageError(message, hint=f"it has {', '.join(known)}")
    chosen = [d for d in run.dimensions if not wanted or d.name in wanted]
    scales = {d.name: d.scale for d in chosen}
    levels = {d.name: d.level for d in chosen}
    level = "turn" if "turn" in levels.values() else "conversation"
    judged = list(run.judged())
    keys = matching_keys([talk for talk, _ in judged], notes)
    qualities: dict[str, float | None] = {}
    for key, (_, rows) in zip(keys, judged, strict=True):
        qualities[key] = mean_quality(
            scales[dimension].quality(score)
            for row in rows
            if row["level"] == level
            for dimension, score in (row["scores"] or {}).items()
            if isinstance(score, int | float) and levels.get(dimension) == level
        )
    manifest = run.manifest
    mine = tuple(d for d, at in levels.items() if at == level)
    led = led_by(name, keys, [talk for talk, _ in judged])
    return replace(
        led,
        qualities=qualities,
        judge=manifest.judge["name"],
        judge_digest=manifest.judge_digest,
        dimensions=mine,
        evidence=evidence_of_all(evidence_of(run), mine),
        about={**led.about, "judged by": manifest.judge["name"]},
    )


def _add_arena(out: Entrants, run: StoredRun, name: str) -> None:
    """Take the votes of an arena, and what it says of its agents."""
    if any(one.arena == name for one in out.earlier):
        message = f"the arena {name} is given twice"
        raise UsageError(message, hint="give each once; NAME= before one names it")
    out.earlier += [
        Meeting(row["conversation_id"], row["a"], row["b"], arena=name, earlier=row) for row in run.rows()
    ]
    summary = run.directory.read_json("summary")
    out.earlier_evidence.append(stored_evidence(summary))
    for one in (*summary["agents"], *summary.get("unranked", ())):
        known, agent = out.about.get(one["agent"]), one["agent"]
        out.about[agent] = one["about"] if known is None else said_together(known, one["about"])
    for agent, ids in summary["absent"].items():
        out.absent[agent] = [*out.absent.get(agent, ()), *ids]


def _add_agent(out: Entrants, name: str, items: Iterable[Conversation | InputError]) -> None:
    read: list[Conversation] = []
    for item in items:
        if isinstance(item, Conversation):
            read.append(item)
        else:
            out.faults.append(item)
    led = led_by(name, matching_keys(read, out.notes), read)
    if rewards := rewards_of(led.conversations):
        evidence = DimensionEvidence(checked=True, by=BY_OUTCOME)
        led = replace(
            led, qualities=rewards, judge="the environment", judge_digest="environment", evidence=evidence
        )
    out.agents.append(led)


def _add_votes(out: Entrants, path: str, mapping: FieldMap | None) -> None:
    rows, faults, notes = read_pairs(path, mapping=mapping)
    out.faults += faults
    out.notes += map(str, notes)
    out.votes += [
        Meeting(row.rating.conversation_id, row.rating.a, row.rating.b, row.conversations, None, row.rating)
        for row in rows
    ]
