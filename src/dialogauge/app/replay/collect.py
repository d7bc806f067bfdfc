"""Collecting candidates' replies into a run: from endpoints, models here, functions, or files."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from dialogauge.agents import ChatAgent, reply_of
from dialogauge.app.build import Clients
from dialogauge.app.candidates import (
    Candidate,
    build_candidate_client,
    candidate_digest,
    read_agents,
    read_candidates,
)
from dialogauge.app.merging import load_config
from dialogauge.app.outputs import run_files, spare
from dialogauge.app.replay.settings import CollectOptions
from dialogauge.app.replay.stage import OpenStage, open_stage, privacy_of
from dialogauge.app.sources import InputData
from dialogauge.core.errors import FileFault, InputError, Place, RecordFault, UsageError
from dialogauge.core.files import shown_path
from dialogauge.core.judgement import Usage
from dialogauge.core.protocols import AgentFailure, AgentReply, AgentTurn
from dialogauge.core.settings import recorded
from dialogauge.data import ReplyRecord, read_replies
from dialogauge.llm import Expected
from dialogauge.runs import FILES, Observer, Outcome, RunDirectory, RunSettings, StopSignal, run_study
from dialogauge.runs.privacy import Hiding
from dialogauge.studies.replay.answers import (
    AnsweringCandidate,
    AnswerStudy,
    Tally,
    open_answers,
    refuse_older,
)
from dialogauge.studies.replay.contexts import refuse_empty_context
from dialogauge.studies.replay.items import ORIGINAL, ItemSet, read_items
from dialogauge.text import counted

LOG: Final = AnsweringCandidate(ORIGINAL, {"digest": ORIGINAL, "kind": ORIGINAL})
"""The replies of the log, as one more candidate."""


@dataclass(frozen=True)
class Collected:
    """What came of a collection."""

    items: ItemSet
    tallies: Mapping[str, Tally]
    faults: tuple[InputError, ...]
    usage: Usage
    outcome: Outcome
    asked: int
    """Replies that models were asked for this time."""
    asking: Expected | None = None
    """Of a dry run: what that would take; None where no model is asked."""

    @property
    def failed_share(self) -> float:
        """Share of all requested replies that are not there."""
        asked = sum(t.requested for t in self.tallies.values())
        return sum(t.failed for t in self.tallies.values()) / asked if asked else 0.0


async def collect(
    options: CollectOptions,
    observer: Observer,
    source: InputData | None = None,
    stop: StopSignal | None = None,
    *,
    dry: bool = False,
) -> Collected:
    """Collect what is missing of every candidate's replies.

    Args:
        options: Of which items, and from whom.
        observer: Who is told.
        source: The conversations, where they are in no file.
        stop: Ends the collection early when it is requested.
        dry: Ask nobody, make up what a model would say, and count what it would be asked.

    Raises UsageError and InputError before anything is asked; what goes wrong in between ends up in the
    result, and every reply that was there by then is stored.
    """
    # The item set may be the run's own; nothing else of a run may be written over an input.
    files = run_files(RunDirectory(Path(options.out)))
    spare([file for file in files if file.name != FILES["items"]], options)
    items, chosen = read_items(Path(options.items)), _candidates(options)
    opened = open_stage(items, options.data, source=source)
    if any(candidate.replies is None for candidate in chosen):
        refuse_empty_context(options.context, opened.stage)
    known, faults = _known(options.out, items), list(opened.faults)
    clients = Clients(options, dry=dry)
    try:
        answering = []
        for candidate in (_in_context(one, options) for one in chosen):
            about = _described(candidate, options)
            _expect_same(known, candidate.name, about, observer)
            if candidate.replies is not None:
                turns, of_file = read_written(candidate.replies, opened)
                faults += of_file
                answering.append(AnsweringCandidate(candidate.name, about, written=turns))
            else:
                client = build_candidate_client(candidate, clients, options.seed)
                agent = ChatAgent(candidate.name, about["digest"], client)
                answering.append(AnsweringCandidate(candidate.name, about, agent, options.context))
        study = AnswerStudy((LOG, *answering), items, opened.stage, opened.hides, options.seed)
        settings = RunSettings(
            directory=RunDirectory(Path(options.out)),
            workers=options.max_concurrency,
            retry_failed=options.retry_failed,
            privacy=privacy_of(items),
            settings=recorded(options),
            seed=options.seed,
        )
        run = await run_study(study, settings, observer, clients.limits, stop)
    finally:
        await clients.close()
    tallies = {name: tally for name, tally in run.result.tallies.items() if name != ORIGINAL}
    made = (run.progress.usage, run.ending.outcome, study.asked, clients.counted())
    return Collected(items, tallies, tuple(faults), *made)


def _candidates(options: CollectOptions) -> tuple[Candidate, ...]:
    config, agents = load_config(options.config_file), read_agents(options.agents_file)
    return read_candidates(options.candidates, agents, config)


def _described(candidate: Candidate, options: CollectOptions) -> dict[str, Any]:
    """Say what a candidate is."""
    kind = "file" if candidate.replies is not None else "pool" if candidate.pool else "model"
    return {
        "digest": candidate_digest(candidate, options.context, options.seed),
        "kind": kind,
        "context": None if kind == "file" else options.context,
        "source": None if candidate.replies is None else shown_path(candidate.replies),
        "models": [m.model for m in candidate.models],
        "sampling": [
            {k: getattr(m, k) for k in ("temperature", "top_p", "max_tokens", "seed")}
            for m in candidate.models
        ],
        **candidate.about,
    }


_Known = Mapping[str, Mapping[str, Any]]
"""By name: what a candidate is."""


def _known(path: str, items: ItemSet) -> _Known:
    """Return the candidates that the run has; UsageError where it is of another item set."""
    directory = RunDirectory(Path(path))
    refuse_older(directory)
    if not directory.exists:
        return {}
    with open_answers(path) as run:
        run.expect_items(items)
        return run.candidates


def _in_context(candidate: Candidate, options: CollectOptions) -> Candidate:
    """Return the candidate as the run calls it: one in several contexts is a candidate in each."""
    if candidate.replies is not None:
        return candidate
    if options.context == "prefix":
        return candidate
    about = {**candidate.about, "candidate": candidate.name}
    return replace(candidate, name=f"{candidate.name} · {options.context}", about=about)


def _expect_same(known: _Known, name: str, about: Mapping[str, Any], observer: Observer) -> None:
    """Compare with what the run holds: a file that has changed is read anew.

    Raises UsageError for a candidate that was collected otherwise.
    """
    before = known.get(name, about)
    if before["digest"] == about["digest"]:
        return
    if not about["kind"] == before["kind"] == "file":
        msg = f"the run holds replies of {name!r} collected otherwise (model, parameters or seed)"
        raise UsageError(msg, hint="give this one another name, --candidate NAME=..., or another directory")
    observer.say(f"the file of {name} has changed: its replies are taken anew")


def read_written(path: str, opened: OpenStage) -> tuple[dict[str, AgentTurn], list[InputError]]:
    """Read what a file says that a candidate replied; an item that it does not answer is a failure.

    Returns the turn of each item, and the records that cannot be used.

    Raises:
        FileFault: The file cannot be read, or holds two candidates.
        UsageError: A reply was made with a memory of the target's own scenario.
    """
    items, scenarios = {i.id: i for i in opened.stage.items}, opened.scenarios
    own = {i.id: opened.stage.scenes[i.block].scenario for i in opened.stage.items}
    turns: dict[str, AgentTurn] = {}
    faults: list[InputError] = []
    strangers: list[str] = []
    for record in read_replies(path):
        if isinstance(record, RecordFault):
            faults.append(record if opened.hides.mask is None else opened.hides.mask.fault(record))
            continue
        name, memory = _hidden(record, opened.hides, scenarios, items)
        item = items.get(name)
        if item is None:
            strangers.append(name)
        elif name in turns:
            msg = f"the item {name!r} is answered a second time"
            faults.append(RecordFault(msg, place=record.place, hint="the first reply is kept"))
        else:
            _refuse_own(record.place, name, [m for m in memory if scenarios.get(_talk(m)) == own[name]])
            text = reply_of(record.reply or "")
            turns[name] = AgentTurn(
                AgentReply(text)
                if text
                else AgentFailure("empty_reply", f"{record.place}: the reply is empty")
            )
    if strangers:
        among = counted(len(strangers), "reply", "replies")
        msg = f"{among} to no item of the set, {strangers[0]!r} among them"
        hint = "they are left out; is it the file of another set?"
        faults.append(FileFault(msg, place=Place(path), hint=hint))
    missing = AgentTurn(AgentFailure("no_reply", f"{path} has no reply to this item"))
    return {name: turns.get(name, missing) for name in items}, faults


def _hidden(
    record: ReplyRecord, hides: Hiding, scenarios: Mapping[str, str], items: Collection[str]
) -> tuple[str, tuple[str, ...]]:
    """Return item and memory under the ids of the item set: a file may name the turns of the open data."""
    item = record.item if record.item in items else hides.turn(record.item)
    return item, tuple(m if _talk(m) in scenarios else hides.turn(m) for m in record.memory)


def _refuse_own(place: Place, item: str, own: Sequence[str]) -> None:
    if own:
        msg = f"{place}: the reply to {item!r} was made with {own[0]!r} in memory, a turn of its own scenario"
        raise UsageError(msg, hint="a candidate's memory comes from the user's other scenarios only")


def _talk(turn: str) -> str:
    return turn.rpartition("__turn_")[0]
