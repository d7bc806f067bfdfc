"""Collecting candidates' replies into a run: from endpoints, models here, functions, or files."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dialogauge.app.config import load_config
from dialogauge.app.judging import Observer
from dialogauge.app.replay.agents import read_agents
from dialogauge.app.replay.candidates import (
    Candidate,
    build_candidate_client,
    candidate_digest,
    read_candidates,
)
from dialogauge.app.replay.reply_file import take_file
from dialogauge.app.replay.run_file import open_for_writing
from dialogauge.app.replay.stage import OpenStage, open_stage
from dialogauge.bench.replay import Context, ItemSet, Prompter, Stage, read_items
from dialogauge.bench.replay.writer import ReplyWriter
from dialogauge.core.digests import conversation_digest
from dialogauge.core.errors import DialogaugeError, InputError, UsageError
from dialogauge.core.judgement import JudgeFailure, Usage
from dialogauge.core.work import UnitResult, WorkUnit
from dialogauge.engine import Outcome, Progress, StopSignal, run_units, stop_on_interrupt
from dialogauge.llm import Budget, PriceTable
from dialogauge.store import ReplayDatabase, StoredReply

__all__ = ["CollectOptions", "Collected", "Tally", "collect"]


@dataclass(frozen=True, slots=True)
class CollectOptions:
    """The settings of `dialogauge replay collect`; see the command reference for each."""

    items: str
    out: str
    candidates: tuple[str, ...] = ()
    context: Context = "prefix"
    agents_file: str | None = None
    data: tuple[str, ...] = ()
    config_file: str | None = None
    prices_file: str | None = None
    seed: int = 0
    max_concurrency: int = 64
    max_calls: int | None = None
    max_cost: float | None = None
    retry_failed: bool = False
    cache: bool = True


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
        writer = ReplyWriter(work.candidate.name, _digest(work), client)
        progress, stop = Progress(expected=len(work.stage.items)), StopSignal()
        prompts = _Prompts(work, progress)
        sink = _Sink(work, prompts)
        limits = built[0].limits
        with stop_on_interrupt(stop, work.observer.interrupted), work.observer.watching(progress, limits):
            ended: Outcome = await run_units(
                iter(prompts), writer, sink, workers=o.max_concurrency, progress=progress, stop=stop
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
        (row,) = result.rows
        item, name = unit.conversation.id, self._work.candidate.name
        if isinstance(row.outcome, JudgeFailure):
            message = self._work.opened.hides.text(self._items[item], row.outcome.message)
            failure = {"kind": row.outcome.kind, "message": message}
            self._work.database.add_reply(StoredReply(name, item, None, failure))
            return
        details = dict(row.outcome.details)
        text = self._work.opened.hides.text(self._items[item], str(details.pop("reply")))
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
