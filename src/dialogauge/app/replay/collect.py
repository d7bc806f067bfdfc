"""Collecting candidates' replies into a run: from endpoints, models here, functions, or files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dialogauge.agents import ChatAgent, reply_of
from dialogauge.app.candidates import (
    Candidate,
    about_candidate,
    build_candidate_client,
    read_agents,
    read_candidates,
)
from dialogauge.app.clients import Clients
from dialogauge.app.merging import load_config
from dialogauge.app.outputs import run_files, spare
from dialogauge.app.replay.items import OpenStage, open_stage, privacy_of
from dialogauge.app.replay.settings import CollectOptions
from dialogauge.app.sources import InputData
from dialogauge.core.errors import FileFault, InputError, Place, RecordFault, UsageError
from dialogauge.core.judgement import Usage
from dialogauge.core.protocols import AgentFailure, AgentReply, AgentTurn
from dialogauge.core.settings import recorded
from dialogauge.data import read_replies
from dialogauge.llm import Expected
from dialogauge.runs import FILES, Observer, Outcome, RunDirectory, RunSettings, StopSignal, run_study
from dialogauge.studies.replay.answers import (
    AnsweringCandidate,
    AnswerStudy,
    Tally,
    open_answers,
    refuse_older,
)
from dialogauge.studies.replay.contexts import refuse_empty_context
from dialogauge.studies.replay.items import ORIGINAL, read_items
from dialogauge.text import counted

LOG: Final = AnsweringCandidate(ORIGINAL, {"digest": ORIGINAL, "kind": ORIGINAL})
"""The replies of the log, as one more candidate."""


@dataclass(frozen=True, slots=True)
class StepCall:
    """How a step is carried out."""

    observer: Observer
    source: InputData | None = None
    """The conversations, where they are in no file."""
    stop: StopSignal | None = None
    """Ends it early when it is requested."""
    dry: bool = False
    """Whether nobody is asked: what a model would say is made up, and what it would be asked is counted."""


@dataclass(frozen=True)
class StepResult:
    """What came of a step in which somebody is asked: candidates for replies, or a judge for scores."""

    tallies: Mapping[str, Tally]
    """By candidate what became of its replies, or of their scores; there the original replies first."""
    faults: tuple[InputError, ...]
    usage: Usage
    outcome: Outcome
    done: int
    """Replies that models were asked for this time, or that were scored."""
    asking: Expected | None = None
    """Of a dry run: what that would take; None where no model is asked."""
    items: int = 0
    """Of the item set, where candidates were asked."""
    judge: str = ""
    """Who scored."""
    comparable: bool = False
    """Whether there is a score to compare with."""

    @property
    def failed_share(self) -> float:
        """Share of all that was requested that is not there."""
        requested = sum(t.requested for t in self.tallies.values())
        return sum(t.failed for t in self.tallies.values()) / requested if requested else 0.0


async def collect(options: CollectOptions, call: StepCall) -> StepResult:
    """Collect what is missing of every candidate's replies.

    Raises UsageError and InputError before anything is asked; what goes wrong in between ends up in the
    result, and every reply that was there by then is stored.
    """
    # The item set may be the run's own; nothing else of a run may be written over an input.
    files = run_files(RunDirectory(Path(options.out)))
    spare([file for file in files if file.name != FILES["items"]], options)
    config, agents = load_config(options.config_file), read_agents(options.agents_file)
    items, chosen = read_items(Path(options.items)), read_candidates(options.candidates, agents, config)
    opened = open_stage(items, options.data, source=call.source)
    if any(candidate.replies is None for candidate in chosen):
        refuse_empty_context(options.context, opened.stage)
    directory, known, faults = RunDirectory(Path(options.out)), {}, list(opened.faults)
    refuse_older(directory)
    if directory.exists:
        with open_answers(options.out) as run:
            run.expect_items(items)
            known = run.candidates
    clients = Clients(options, dry=call.dry)
    try:
        answering = []
        for candidate in chosen:
            name, about = _described(candidate, options)
            before = known.get(name, about)
            if before["digest"] != about["digest"]:
                if not about["kind"] == before["kind"] == "file":
                    msg = f"the run holds replies of {name!r} collected otherwise (model, parameters or seed)"
                    hint = "give this one another name, --candidate NAME=..., or another directory"
                    raise UsageError(msg, hint=hint)
                call.observer.say(f"the file of {name} has changed: its replies are taken anew")
            if candidate.replies is not None:
                turns, of_file = read_written(candidate.replies, opened)
                faults += of_file
                answering.append(AnsweringCandidate(name, about, written=turns))
            else:
                client = build_candidate_client(candidate, clients, options.seed)
                agent = ChatAgent(name, about["digest"], client)
                answering.append(AnsweringCandidate(name, about, agent, options.context))
        study = AnswerStudy((LOG, *answering), items, opened.stage, opened.hides, options.seed)
        settings = RunSettings(
            directory=directory,
            workers=options.max_concurrency,
            retry_failed=options.retry_failed,
            privacy=privacy_of(items),
            settings=recorded(options),
            seed=options.seed,
        )
        ran = await run_study(study, settings, call.observer, clients.limits, call.stop)
    finally:
        await clients.close()
    tallies = {name: tally for name, tally in ran.result.tallies.items() if name != ORIGINAL}
    made = (ran.progress.usage, ran.ending.outcome, study.asked, clients.counted())
    return StepResult(tallies, tuple(faults), *made, items=len(items.items))


def _described(candidate: Candidate, options: CollectOptions) -> tuple[str, dict[str, Any]]:
    """Return what the run calls a candidate, which in several contexts is one in each, and what it is."""
    name, about = candidate.name, about_candidate(candidate, options.context, options.seed)
    if about["kind"] == "file" or options.context == "prefix":
        return name, about
    return f"{name} · {options.context}", {**about, "candidate": name}


def read_written(path: str, opened: OpenStage) -> tuple[dict[str, AgentTurn], list[InputError]]:
    """Read what a file says that a candidate replied; an item that it does not answer is a failure.

    Returns the turn of each item, and the records that cannot be used.

    Raises:
        FileFault: The file cannot be read, or holds two candidates.
        UsageError: A reply was made with a memory of the target's own scenario.
    """
    items, hides = {i.id: i for i in opened.stage.items}, opened.hides
    turns: dict[str, AgentTurn] = {}
    faults: list[InputError] = []
    strangers: list[str] = []
    for record in read_replies(path):
        if isinstance(record, RecordFault):
            faults.append(record if hides.mask is None else hides.mask.fault(record))
            continue
        # A file may name the turns of the open data.
        name = record.item if record.item in items else hides.turn(record.item)
        item = items.get(name)
        if item is None:
            strangers.append(name)
        elif name in turns:
            msg = f"the item {name!r} is answered a second time"
            faults.append(RecordFault(msg, place=record.place, hint="the first reply is kept"))
        else:
            for turn in record.memory:
                known = turn.rpartition("__turn_")[0] in opened.scenarios
                past = turn if known else hides.turn(turn)
                scenario = opened.scenarios.get(past.rpartition("__turn_")[0])
                if scenario == opened.stage.scenes[item.block].scenario:
                    msg = (
                        f"{record.place}: the reply to {name!r} was made with {past!r} in memory, a turn of "
                        "its own scenario"
                    )
                    hint = "a candidate's memory comes from the user's other scenarios only"
                    raise UsageError(msg, hint=hint)
            text = reply_of(record.reply or "")
            empty = AgentFailure("empty_reply", f"{record.place}: the reply is empty")
            turns[name] = AgentTurn(AgentReply(text) if text else empty)
    if strangers:
        among = counted(len(strangers), "reply", "replies")
        msg = f"{among} to no item of the set, {strangers[0]!r} among them"
        hint = "they are left out; is it the file of another set?"
        faults.append(FileFault(msg, place=Place(path), hint=hint))
    missing = AgentTurn(AgentFailure("no_reply", f"{path} has no reply to this item"))
    return {name: turns.get(name, missing) for name in items}, faults
