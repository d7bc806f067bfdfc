"""Collecting candidates' replies into a run: from endpoints, models here, functions, or files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
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
from dialogauge.app.replay.stage import OpenStage, open_stage, privacy_of
from dialogauge.app.settings import CollectOptions
from dialogauge.app.sources import InputData
from dialogauge.core.errors import FileFault, InputError, Place, RecordFault, UsageError
from dialogauge.core.judgement import Usage
from dialogauge.core.protocols import AgentFailure, AgentReply, AgentTurn
from dialogauge.core.settings import recorded
from dialogauge.data import ReplyRecord, read_replies
from dialogauge.llm import Budget
from dialogauge.runs import Observer, Outcome, RunDirectory, RunSettings, StopSignal, StudyRun, run_study
from dialogauge.studies.replay.items import ItemSet, read_items
from dialogauge.studies.replay.stored import open_replay, refuse_older
from dialogauge.studies.replay.study import RepliesStudy, Tally, tally_of
from dialogauge.text import counted


@dataclass
class Collected:
    """What came of a collection."""

    items: ItemSet
    tallies: dict[str, Tally] = field(default_factory=dict)
    faults: list[InputError] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    outcome: Outcome = field(default_factory=lambda: Outcome("finished"))

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
) -> Collected:
    """Collect what is missing of every candidate's replies.

    Args:
        options: Of which items, and from whom.
        observer: Who is told.
        source: The conversations, where they are in no file.
        stop: Ends the collection early when it is requested.

    Raises UsageError and InputError before anything is asked; what goes wrong in between ends up in the
    result, and every reply that was there by then is stored.
    """
    items = read_items(Path(options.items))
    config, agents = load_config(options.config_file), read_agents(options.agents_file)
    candidates = read_candidates(options.candidates, agents, config)
    opened = open_stage(items, options.data, source=source)
    described = {c.name: _described(c, options) for c in candidates}
    _expect_same(options.out, items, described, observer)
    return await _collect(_Collection(options, observer, items, opened, stop), candidates, described)


@dataclass(frozen=True, slots=True)
class _Collection:
    """What all candidates are collected from, and how."""

    options: CollectOptions
    observer: Observer
    items: ItemSet
    opened: OpenStage
    stop: StopSignal | None

    async def run(self, study: RepliesStudy, **more: Any) -> StudyRun[Tally]:  # noqa: ANN401 - of settings
        o = self.options
        settings = RunSettings(
            directory=RunDirectory(Path(o.out)),
            workers=1 if study.agent is None else o.max_concurrency,
            retry_failed=o.retry_failed,
            privacy=privacy_of(self.items),
            settings=recorded(o),
            seed=o.seed,
        )
        return await run_study(study, settings, self.observer, stop=self.stop, **more)


async def _collect(
    work: _Collection, candidates: tuple[Candidate, ...], described: Mapping[str, Mapping[str, Any]]
) -> Collected:
    o, opened = work.options, work.opened
    out = Collected(work.items, faults=list(opened.faults))
    budget = Budget(o.max_calls, o.max_cost)
    for candidate in candidates:
        study = RepliesStudy(
            candidate.name,
            described[candidate.name],
            work.items,
            opened.stage,
            opened.hides,
            o.context,
            o.seed,
        )
        if candidate.replies is not None:
            study.written, faults = read_written(candidate.replies, opened)
            out.faults += faults
            run = await work.run(study)
        else:
            run = await _asked(work, study, candidate, budget)
        out.tallies[candidate.name] = run.result
        out.usage = out.usage + run.progress.usage
        out.outcome = run.ending.outcome
        if out.outcome.ended != "finished":
            break
    with open_replay(o.out) as stored:
        for candidate in candidates[len(out.tallies) :]:
            out.tallies[candidate.name] = tally_of(stored.replies(candidate.name), opened.stage.items)
    return out


async def _asked(
    work: _Collection, study: RepliesStudy, candidate: Candidate, budget: Budget
) -> StudyRun[Tally]:
    clients = Clients(work.options, budget)
    try:
        client = build_candidate_client(candidate, clients, work.options.seed)
        study.agent = ChatAgent(candidate.name, study.about["digest"], client)
        return await work.run(study, limits=clients.limits)
    finally:
        await clients.close()


def _described(candidate: Candidate, options: CollectOptions) -> dict[str, Any]:
    """Say what a candidate is."""
    kind = "file" if candidate.replies is not None else "pool" if candidate.pool else "model"
    return {
        "digest": candidate_digest(candidate, options.context, options.seed),
        "kind": kind,
        "context": None if kind == "file" else options.context,
        "source": candidate.replies,
        "models": [m.model for m in candidate.models],
        "sampling": [
            {k: getattr(m, k) for k in ("temperature", "top_p", "max_tokens", "seed")}
            for m in candidate.models
        ],
        **candidate.about,
    }


def _expect_same(
    path: str, items: ItemSet, described: Mapping[str, Mapping[str, Any]], observer: Observer
) -> None:
    """Compare with what the run holds: a file that has changed is read anew.

    Raises UsageError for another item set, and for a candidate that was collected otherwise.
    """
    directory = RunDirectory(Path(path))
    refuse_older(directory)
    if not directory.exists:
        return
    with open_replay(path) as run:
        run.expect_items(items)
        known = run.candidates
    for name, about in described.items():
        before = known.get(name, about)
        if before["digest"] == about["digest"]:
            continue
        if not about["kind"] == before["kind"] == "file":
            msg = f"the run holds replies of {name!r} collected otherwise (model, parameters or context)"
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
    reading = _Replies(path, opened)
    for record in read_replies(path):
        reading.take(record)
    return reading.finish(), reading.faults


@dataclass
class _Replies:
    path: str
    opened: OpenStage
    faults: list[InputError] = field(default_factory=list)
    _turns: dict[str, AgentTurn] = field(default_factory=dict)
    _unknown: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._items = {i.id: i for i in self.opened.stage.items}
        blocks = self.opened.stage.blocks.values()
        self._scenarios = {r.reply.conversation.id: b.view.scenario for b in blocks for r in b.ratings}

    def take(self, record: ReplyRecord | RecordFault) -> None:
        if isinstance(record, RecordFault):
            self.faults.append(self.opened.hides.fault(record))
            return
        record = self._hidden(record)
        if record.item not in self._items:
            self._unknown[record.item] += 1
        elif record.item in self._turns:
            msg = f"the item {record.item!r} is answered a second time"
            self.faults.append(RecordFault(msg, place=record.place, hint="the first reply is kept"))
        else:
            self._refuse_own(record)
            text = reply_of(record.reply or "")
            self._turns[record.item] = AgentTurn(
                AgentReply(text)
                if text
                else AgentFailure("empty_reply", f"{record.place}: the reply is empty")
            )

    def finish(self) -> dict[str, AgentTurn]:
        if self._unknown:
            example = next(iter(self._unknown))
            strangers = counted(self._unknown.total(), "reply", "replies")
            msg = f"{strangers} to no item of the set, {example!r} among them"
            hint = "they are left out; is it the file of another set?"
            self.faults.append(FileFault(msg, place=Place(self.path), hint=hint))
        missing = AgentTurn(AgentFailure("no_reply", f"{self.path} has no reply to this item"))
        return {item: self._turns.get(item, missing) for item in self._items}

    def _hidden(self, record: ReplyRecord) -> ReplyRecord:
        """Return the record under the ids of the item set: a file may name the turns of the open data."""
        hides = self.opened.hides
        if hides.mask is None:
            return record
        item = record.item if record.item in self._items else hides.turn(record.item)
        memory = tuple(m if _talk(m) in self._scenarios else hides.turn(m) for m in record.memory)
        return replace(record, item=item, memory=memory)

    def _refuse_own(self, record: ReplyRecord) -> None:
        scenario = self._items[record.item].scenario
        own = next((turn for turn in record.memory if self._scenarios.get(_talk(turn)) == scenario), None)
        if own is not None:
            msg = (
                f"{record.place}: the reply to {record.item!r} was made with {own!r} in memory, "
                "a turn of its own scenario"
            )
            raise UsageError(msg, hint="a candidate's memory comes from the user's other scenarios only")


def _talk(turn: str) -> str:
    return turn.rpartition("__turn_")[0]
