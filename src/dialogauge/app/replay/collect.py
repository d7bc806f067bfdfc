"""Collecting candidates' replies into a run: from endpoints, models here, functions, or files."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

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
from dialogauge.llm import Budget, Expected
from dialogauge.runs import (
    FILES,
    Observer,
    Outcome,
    RunDirectory,
    RunSettings,
    StopSignal,
    StudyRun,
    run_study,
)
from dialogauge.studies.replay.contexts import refuse_empty_context
from dialogauge.studies.replay.items import ItemSet, read_items
from dialogauge.studies.replay.stored import open_replay, refuse_older
from dialogauge.studies.replay.study import RepliesStudy, ReplyMask, Tally, tally_of
from dialogauge.text import counted


@dataclass
class Collected:
    """What came of a collection."""

    items: ItemSet
    tallies: dict[str, Tally] = field(default_factory=dict)
    faults: list[InputError] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    outcome: Outcome = field(default_factory=lambda: Outcome("finished"))
    asked: int = 0
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
    items, chosen = _items(options), _candidates(options)
    opened = open_stage(items, options.data, source=source)
    if any(candidate.replies is None for candidate in chosen):
        refuse_empty_context(options.context, opened.stage)
    known = _known(options.out, items)
    candidates = tuple(_kept_as(candidate, options, known) for candidate in chosen)
    described = {c.name: _described(c, options) for c in candidates}
    _expect_same(known, described, observer)
    written = {c.name: read_written(c.replies, opened) for c in candidates if c.replies is not None}
    out = Collected(items, faults=[*opened.faults, *(f for _, faults in written.values() for f in faults)])
    budget = Budget(options.max_calls, options.max_cost)
    for candidate in candidates:
        name, about, (turns, _) = (
            candidate.name,
            described[candidate.name],
            written.get(candidate.name, ({}, ())),
        )
        study = RepliesStudy(
            name, about, items, opened.stage, opened.hides, options.context, options.seed, written=turns
        )
        clients = Clients(options, budget, dry=dry)
        run = await _replies(study, candidate, options, clients, observer, stop)
        if (asking := clients.counted()) is not None:
            out.asking = asking if out.asking is None else out.asking + asking
        out.asked += run.progress.done if candidate.replies is None else 0
        out.tallies[name] = run.result
        out.usage = out.usage + run.progress.usage
        out.outcome = run.ending.outcome
        if out.outcome.ended != "finished":
            break
    with open_replay(options.out) as stored:
        for candidate in candidates[len(out.tallies) :]:
            out.tallies[candidate.name] = tally_of(stored.replies(candidate.name), opened.stage.items)
    return out


async def _replies(
    study: RepliesStudy,
    candidate: Candidate,
    options: CollectOptions,
    clients: Clients,
    observer: Observer,
    stop: StopSignal | None,
) -> StudyRun[Tally]:
    """Ask one candidate, or take what its file says."""
    settings = _run_settings(options, study.items)
    if candidate.replies is not None:
        return await run_study(study, replace(settings, workers=1), observer, stop=stop)
    try:
        client = build_candidate_client(candidate, clients, options.seed)
        study.agent = ChatAgent(candidate.name, study.about["digest"], client)
        return await run_study(study, settings, observer, clients.limits, stop)
    finally:
        await clients.close()


def _candidates(options: CollectOptions) -> tuple[Candidate, ...]:
    config, agents = load_config(options.config_file), read_agents(options.agents_file)
    return read_candidates(options.candidates, agents, config)


def _items(options: CollectOptions) -> ItemSet:
    """Read the item set, which may be the run's own; nothing else of a run may be written over an input."""
    files = run_files(RunDirectory(Path(options.out)))
    spare([file for file in files if file.name != FILES["items"]], options)
    return read_items(Path(options.items))


def _run_settings(options: CollectOptions, items: ItemSet) -> RunSettings:
    return RunSettings(
        directory=RunDirectory(Path(options.out)),
        workers=options.max_concurrency,
        retry_failed=options.retry_failed,
        privacy=privacy_of(items),
        settings=recorded(options),
        seed=options.seed,
    )


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
    with open_replay(path) as run:
        run.expect_items(items)
        return run.candidates


def _kept_as(candidate: Candidate, options: CollectOptions, known: _Known) -> Candidate:
    """Return the candidate as the run calls it: one in several contexts is a candidate in each.

    `prefix` has the plain name, unless an older run gave that to another context.
    """
    if candidate.replies is not None:
        return candidate
    name, context = candidate.name, options.context
    if context == (known.get(name, {}).get("context") or "prefix"):
        return candidate
    return replace(
        candidate, name=f"{name} · {context}", about={**candidate.about, "candidate": candidate.name}
    )


def _expect_same(known: _Known, described: _Known, observer: Observer) -> None:
    """Compare with what the run holds: a file that has changed is read anew.

    Raises UsageError for a candidate that was collected otherwise.
    """
    for name, about in described.items():
        before = known.get(name, about)
        if before["digest"] == about["digest"]:
            continue
        if not about["kind"] == before["kind"] == "file":
            msg = f"the run holds replies of {name!r} collected otherwise (model, parameters or seed)"
            raise UsageError(
                msg, hint="give this one another name, --candidate NAME=..., or another directory"
            )
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
            faults.append(opened.hides.fault(record))
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
    record: ReplyRecord, hides: ReplyMask, scenarios: Mapping[str, str], items: Collection[str]
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
