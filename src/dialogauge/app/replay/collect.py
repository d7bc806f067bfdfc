"""Collecting candidates' replies into a run: from endpoints, models here, functions, or files."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from dialogauge.agents import ChatAgent, reply_of
from dialogauge.app.candidates import (
    Candidate,
    build_candidate_client,
    candidate_digest,
    read_agents,
    read_candidates,
)
from dialogauge.app.merging import load_config
from dialogauge.app.replay.run import open_for_writing
from dialogauge.app.replay.stage import OpenStage, open_stage
from dialogauge.app.settings import CollectOptions
from dialogauge.core.errors import DialogaugeError, FileFault, InputError, Place, RecordFault, UsageError
from dialogauge.core.judgement import Usage
from dialogauge.core.protocols import AgentFailure, AgentTurn
from dialogauge.core.unit import WorkUnit, conversation_digest
from dialogauge.data import ReplyRecord, read_replies
from dialogauge.llm import Budget, PriceTable
from dialogauge.runs import (
    Observer,
    Outcome,
    Progress,
    ReplayDatabase,
    StopSignal,
    StoredReply,
    UnitResult,
    run_work,
    stop_on_interrupt,
)
from dialogauge.studies.replay import ItemSet, Prompter, Stage, read_items
from dialogauge.text import counted


def take_file(path: str, name: str, opened: OpenStage, database: ReplayDatabase) -> list[InputError]:
    """Store what a file says that a candidate replied; an item that it does not answer is a failure.

    A file that the run holds already is read again for what is wrong with it, and nothing is stored.

    Returns the records that cannot be used.

    Raises:
        FileFault: The file cannot be read, or holds two candidates; nothing of it is kept.
        UsageError: A reply was made with a memory of the target's own scenario; nothing is kept.
    """
    held = database.replied(name)
    whole = bool(held) and all(i.id in held for i in opened.stage.items)
    taking = _Taking(path, name, opened, None if whole else database)
    try:
        for record in read_replies(path):
            taking.take(record)
    except (FileFault, UsageError):
        database.forget_candidate(name)
        raise
    taking.finish()
    database.flush()
    return taking.faults


@dataclass
class _Taking:
    path: str
    name: str
    opened: OpenStage
    database: ReplayDatabase | None
    """None when the replies are there."""
    faults: list[InputError] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)
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
        elif record.item in self._seen:
            msg = f"the item {record.item!r} is answered a second time"
            self.faults.append(RecordFault(msg, place=record.place, hint="the first reply is kept"))
        else:
            self._refuse_own(record)
            self._seen.add(record.item)
            self._store(self._stored(record))

    def finish(self) -> None:
        for item in self._items:
            if item not in self._seen:
                failure = {"kind": "no_reply", "message": f"{self.path} has no reply to this item"}
                self._store(StoredReply(self.name, item, None, failure))
        if self._unknown:
            example = next(iter(self._unknown))
            found = counted(self._unknown.total(), "reply", "replies")
            msg = f"{found} to no item of the set, {example!r} among them"
            hint = "they are left out; is it the file of another set?"
            self.faults.append(FileFault(msg, place=Place(self.path), hint=hint))

    def _store(self, reply: StoredReply) -> None:
        if self.database is not None:
            self.database.add_reply(reply)

    def _hidden(self, record: ReplyRecord) -> ReplyRecord:
        """Return the record under the ids of the item set: a file may name the turns of the open data."""
        hides = self.opened.hides
        item = record.item if record.item in self._items else hides.turn(record.item)
        memory = tuple(m if _talk(m) in self._scenarios else hides.turn(m) for m in record.memory)
        reply = record.reply
        if reply is not None and item in self._items:
            reply = hides.text(self._items[item], reply)
        return replace(record, item=item, memory=memory, reply=reply)

    def _stored(self, record: ReplyRecord) -> StoredReply:
        text = reply_of(record.reply or "")
        if text:
            return StoredReply(self.name, record.item, text)
        failure = {"kind": "empty_reply", "message": f"{record.place}: the reply is empty"}
        return StoredReply(self.name, record.item, None, failure)

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


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of one candidate's replies."""

    requested: int
    replied: int
    failures: Mapping[str, int]
    """By kind."""

    @property
    def failed(self) -> int:
        """Items without a reply."""
        return sum(self.failures.values())


@dataclass
class Collected:
    """What came of a collection."""

    items: ItemSet
    tallies: dict[str, Tally] = field(default_factory=dict)
    faults: list[InputError] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    ended: str = "finished"
    error: DialogaugeError | None = None

    @property
    def failed_share(self) -> float:
        """Share of all requested replies that are not there."""
        asked = sum(t.requested for t in self.tallies.values())
        return sum(t.failed for t in self.tallies.values()) / asked if asked else 0.0


def collect(options: CollectOptions, observer: Observer) -> Collected:
    """Collect what is missing of every candidate's replies.

    Raises UsageError and InputError before anything is asked; what goes wrong in between ends up in the
    result, and everything that was said by then is stored.
    """
    items = read_items(Path(options.items))
    config, agents = load_config(options.config_file), read_agents(options.agents_file)
    candidates = read_candidates(options.candidates, agents, config)
    opened = open_stage(items, options.data)
    stage = opened.stage
    out = Collected(items, faults=list(opened.faults))
    budget = Budget(options.max_calls, options.max_cost)
    with open_for_writing(options.out, items) as (_, database):
        for candidate in candidates:
            if out.ended == "finished":
                asyncio.run(_one(_Work(options, observer, opened, database, candidate, budget), out))
            out.tallies[candidate.name] = _tally(database, candidate.name, stage)
    return out


@dataclass(frozen=True, slots=True)
class _Work:
    """The parts of one candidate's collection."""

    options: CollectOptions
    observer: Observer
    opened: OpenStage
    database: ReplayDatabase
    candidate: Candidate
    budget: Budget

    @property
    def stage(self) -> Stage:
        """The items in the data."""
        return self.opened.stage


async def _one(work: _Work, out: Collected) -> None:
    _settle(work)
    if work.candidate.replies is not None:
        found = take_file(work.candidate.replies, work.candidate.name, work.opened, work.database)
        out.faults += found
        return
    o = work.options
    client, built = build_candidate_client(
        work.candidate,
        max_concurrency=o.max_concurrency,
        budget=work.budget,
        prices=None if o.prices_file is None else PriceTable.load(Path(o.prices_file)),
        cache=o.cache,
        read_cache=not o.retry_failed,
        seed=o.seed,
    )
    try:
        agent = ChatAgent(work.candidate.name, _digest(work), client)

        async def reply(unit: WorkUnit) -> tuple[AgentTurn, ...]:
            return (await agent.reply(unit.conversation.blinded(), seed=unit.seed),)

        progress, stop = Progress(expected=len(work.stage.items)), StopSignal()
        prompts = _Prompts(work, progress)
        sink = _Sink(work, prompts)
        limits = built[0].limits
        with stop_on_interrupt(stop, work.observer.interrupted), work.observer.watching(progress, limits):
            ended: Outcome = await run_work(
                iter(prompts), reply, sink, workers=o.max_concurrency, progress=progress, stop=stop
            )
        work.database.flush()
    finally:
        for one in built:
            await one.close()
    out.usage = out.usage + progress.usage
    out.ended, out.error = ended.ended, ended.error


def _digest(work: _Work) -> str:
    return candidate_digest(work.candidate, work.options.context, work.options.seed)


def _settle(work: _Work) -> None:
    """Take the candidate into the run; one that was collected otherwise is refused, or read anew."""
    name, told = work.candidate.name, _digest(work)
    before = work.database.candidates().get(name)
    if before is not None and before["digest"] != told:
        if work.candidate.replies is None or before["kind"] != "file":
            msg = f"the run holds replies of {name!r} collected otherwise (model, parameters or context)"
            raise UsageError(
                msg, hint="give this one another name, --candidate NAME=..., or another directory"
            )
        work.database.forget_candidate(name)
        work.observer.say(f"the file of {name} has changed: its replies are taken anew")
    kind = "file" if work.candidate.replies is not None else "pool" if work.candidate.pool else "model"
    about: dict[str, Any] = {
        "digest": told,
        "kind": kind,
        "context": None if kind == "file" else work.options.context,
        "source": work.candidate.replies,
        "models": [m.model for m in work.candidate.models],
        "sampling": [
            {k: getattr(m, k) for k in ("temperature", "top_p", "max_tokens", "seed")}
            for m in work.candidate.models
        ],
        **work.candidate.about,
    }
    work.database.put_candidate(name, about)


class _Prompts:
    """The requests that are still to be made, block by block; remembers what each was shown.

    A reply to a request that would be another one today is asked for anew.
    """

    def __init__(self, work: _Work, progress: Progress) -> None:
        self._work, self._progress = work, progress
        self.memory: dict[str, tuple[tuple[str, float | None], ...]] = {}

    def __iter__(self) -> Iterator[WorkUnit]:
        work = self._work
        done = work.database.replied(work.candidate.name)
        digest = _digest(work)
        for name, block in work.stage.blocks.items():
            items = work.stage.by_block[name]
            asked = [i for i in items if not self._stands(done.get(i.id))]
            prompter = Prompter(block.view, work.options.context) if asked else None
            self._progress.resumed += len(items) - len(asked)
            for item in asked:
                if prompter is None:
                    continue
                prompted = prompter.prompt(work.stage.originals[item.id].reply)
                target = conversation_digest(prompted.conversation)
                if done.get(item.id) is False and self._was_asked(item.id, target):
                    self._progress.resumed += 1
                    continue
                self._progress.planned += 1
                if prompted.memory:
                    self.memory[item.id] = prompted.memory
                yield WorkUnit("replay", prompted.conversation, target, digest, seed=work.options.seed)

    def _stands(self, failed: bool | None) -> bool:  # noqa: FBT001 - what the store says of an item
        if failed is None or (failed and self._work.options.retry_failed):
            return False
        # The prefix is what the item was selected with; what another context adds may have changed since.
        return failed or self._work.options.context == "prefix"

    def _was_asked(self, item: str, target: str) -> bool:
        held = self._work.database.reply(self._work.candidate.name, item)
        return held is not None and held.details.get("request", target) == target


class _Sink:
    """Writes replies as they come."""

    def __init__(self, work: _Work, prompts: _Prompts) -> None:
        self._work, self._prompts = work, prompts
        self._items = {item.id: item for item in work.stage.items}

    def add(self, unit: WorkUnit, result: UnitResult) -> None:
        (turn,) = cast("Sequence[AgentTurn]", result.rows)
        outcome = turn.outcome
        item, name = unit.conversation.id, self._work.candidate.name
        if isinstance(outcome, AgentFailure):
            message = self._work.opened.hides.text(self._items[item], outcome.message)
            failure = {"kind": outcome.kind, "message": message}
            self._work.database.add_reply(StoredReply(name, item, None, failure))
            return
        text = self._work.opened.hides.text(self._items[item], outcome.text)
        details: dict[str, Any] = {}
        if outcome.finish != "stop":
            details["finish"] = outcome.finish
        if outcome.model is not None:
            details["model"] = outcome.model
        if self._work.options.context != "prefix":
            details["request"] = unit.target_digest
        memory = self._prompts.memory.pop(item, ())
        if memory:
            details["memory"] = [[turn, cosine] for turn, cosine in memory]
        self._work.database.add_reply(StoredReply(name, item, text, None, details))

    def flush_if_due(self) -> float | None:
        return self._work.database.flush_if_due()


def _tally(database: ReplayDatabase, name: str, stage: Stage) -> Tally:
    held = database.replied(name)
    told = {r.item: str((r.failure or {}).get("kind")) for r in database.failed_replies(name)}
    kinds = Counter(told.get(i.id, "pending") for i in stage.items if held.get(i.id) is not False)
    return Tally(len(stage.items), len(stage.items) - kinds.total(), dict(kinds.most_common()))
