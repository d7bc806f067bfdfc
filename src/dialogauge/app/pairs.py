"""Training rows from a run: which rows, from where the better reply comes, and what was left out."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from dialogauge.app.build import Clients
from dialogauge.app.config import model_of
from dialogauge.app.merging import load_config, references
from dialogauge.app.outputs import output_file, spare, spare_runs
from dialogauge.app.settings import PairOptions
from dialogauge.app.sources import JUDGED
from dialogauge.core.conversation import Message
from dialogauge.core.errors import DialogaugeError
from dialogauge.llm import ChatFailure
from dialogauge.runs import StopSignal
from dialogauge.runs.directory import expect_writable, write_whole
from dialogauge.runs.execute import stop_on_interrupt
from dialogauge.runs.records import json_line
from dialogauge.runs.run import StoredRun, open_run
from dialogauge.text import detect_language
from dialogauge.training import (
    Fork,
    JudgedConversation,
    dpo_row,
    fork_of,
    judged_conversation,
    kto_rows,
    rank_for_labelling,
    repair,
    sft_row,
    unfit,
)

_ACTIVE_DEFAULT = 50
_NO_REPLY = "no better reply: "

T = TypeVar("T")
Row = tuple[Mapping[str, Any], Mapping[str, Any]]
"""A training row, and where it comes from."""


@dataclass(frozen=True, slots=True)
class PairResult:
    """What was written."""

    written: int
    left_out: Mapping[str, int]
    """Reason to number."""
    error: DialogaugeError | None = None
    """What ended the repairs early, when something did."""
    interrupted: bool = False
    """Whether a Ctrl-C ended them."""

    @property
    def failed_share(self) -> float:
        """Share of the better replies that a model was asked for and did not give."""
        failed = sum(n for why, n in self.left_out.items() if why.startswith(_NO_REPLY))
        return failed / (failed + self.written) if failed else 0.0


def write_pairs(options: PairOptions, notify: Callable[[bool], None] = lambda _: None) -> PairResult:
    """Write the rows, and beside them `NAME.provenance.jsonl`, one line for each row.

    Args:
        options: What is asked for.
        notify: Called at each Ctrl-C while a model writes, with whether it was the first. Replies that came
            by then are written; the first waits for those in flight.
    """
    makers: dict[str, Callable[[PairOptions, StoredRun, Counter[str]], Iterator[Row]]] = {
        "dpo": _dpo,
        "kto": _kto,
        "sft": _sft,
        "active": _active,
    }
    left_out: Counter[str] = Counter()
    error, stop = None, StopSignal()
    target = output_file(options.out)
    files = (target, target.with_suffix(".provenance.jsonl"))
    spare(files, options)
    for file in files:
        spare_runs(file)
    with open_run(options.run, options.privacy, studies=JUDGED) as run:
        spare(files, run.manifest.settings)
        for file in files:
            expect_writable(file)
        if options.kind == "dpo" and options.chosen_field is None:
            rows, error = asyncio.run(_repaired(options, run, left_out, stop, notify))
        else:
            rows = list(makers[options.kind](options, run, left_out))
    rows = _limited(rows, options.limit, left_out)
    write_whole(files[0], (json_line(row) for row, _ in rows))
    write_whole(files[1], (json_line(source) for _, source in rows))
    return PairResult(len(rows), {why: n for why, n in left_out.items() if n}, error, stop.requested)


def _limited(items: list[T], limit: int | None, left_out: Counter[str]) -> list[T]:
    """Return the first of the items; the others are counted."""
    left_out["over --limit"] += max(0, len(items) - limit) if limit is not None else 0
    return items[:limit]


def _judged(run: StoredRun) -> Iterator[JudgedConversation]:
    scales = {d.name: d.scale for d in run.dimensions}
    for conversation, rows in run.judged():
        yield judged_conversation(conversation, rows, scales)


def _dpo(options: PairOptions, run: StoredRun, left_out: Counter[str]) -> Iterator[Row]:
    field = options.chosen_field or ""
    for judged, fork in _forks(run, left_out):
        chosen = _given_reply(judged, fork, field)
        if chosen is None:
            left_out[f"no {field!r} at the weakest turn or on the conversation"] += 1
        elif chosen.strip() == fork.rejected.strip():
            left_out[f"{field!r} is the weak reply itself"] += 1
        else:
            yield dpo_row(fork, chosen), _provenance(judged, fork.turn, chosen_from=f"field {field}")


def _given_reply(judged: JudgedConversation, fork: Fork, field: str) -> str | None:
    """Look for the better reply on the weak reply's own message, then on the conversation."""
    reply = judged.conversation.turn(fork.turn).reply[-1]
    for source in (reply.extra, judged.conversation.metadata):
        value = source.get(field)
        if isinstance(value, str) and value.strip():
            return value
    return None


async def _repaired(
    options: PairOptions,
    run: StoredRun,
    left_out: Counter[str],
    stop: StopSignal,
    notify: Callable[[bool], None],
) -> tuple[list[Row], DialogaugeError | None]:
    """Have a model write the better replies, in parallel; the rows keep the order of the run."""
    config = load_config(options.config_file)
    settings = model_of(references(options)["repair"], "repair", config.roles)
    clients = Clients(options)
    client = clients.build(settings, "repair")
    forks = _limited(list(_forks(run, left_out)), options.limit, left_out)
    gate = asyncio.Semaphore(options.max_concurrency)
    ended: list[DialogaugeError] = []

    async def one(judged: JudgedConversation, fork: Fork) -> Row | None:
        async with gate:
            if ended or stop.requested:
                left_out["not asked: the run ended early"] += 1
                return None
            try:
                reply = await repair(client, fork, language=_language(fork))
            except DialogaugeError as error:
                ended.append(error)
                left_out["not asked: the run ended early"] += 1
                return None
        if isinstance(reply, ChatFailure):
            left_out[_NO_REPLY + reply.kind] += 1
            return None
        return dpo_row(fork, reply.value), _provenance(judged, fork.turn, chosen_from=client.name)

    try:
        with stop_on_interrupt(stop, notify):
            rows = await _together([one(judged, fork) for judged, fork in forks], stop)
    finally:
        await clients.close()
    return rows, ended[0] if ended else None


async def _together(asked: Iterable[Coroutine[Any, Any, Row | None]], stop: StopSignal) -> list[Row]:
    """Return the rows that came, in order; a second Ctrl-C drops those that have not."""
    tasks = [asyncio.create_task(one) for one in asked]
    for task in tasks:
        stop.watch(task)
    results = await asyncio.gather(*tasks, return_exceptions=True)
    for result in results:
        if isinstance(result, Exception):
            raise result
    return [row for row in results if isinstance(row, tuple)]


def _language(fork: Fork) -> str:
    return "zh" if detect_language(fork.rejected) == "zh" else "en"


def _forks(run: StoredRun, left_out: Counter[str]) -> Iterator[tuple[JudgedConversation, Fork]]:
    for judged in _judged(run):
        fork = fork_of(judged)
        if fork is None:
            left_out["no weakest turn"] += 1
        elif why := unfit(_up_to(judged, fork.turn)):
            left_out[why] += 1
        else:
            yield judged, fork


def _up_to(judged: JudgedConversation, turn: int) -> Sequence[Message]:
    """Return the messages of a conversation to the end of a turn."""
    return judged.conversation.messages[: judged.conversation.turn(turn).stop]


def _kto(_: PairOptions, run: StoredRun, left_out: Counter[str]) -> Iterator[Row]:
    for judged in _judged(run):
        rows = list(kto_rows(judged))
        left_out["turns neither clearly good nor bad"] += len(judged.turns) - len(rows)
        for turn, row in rows:
            if why := unfit(_up_to(judged, turn)):
                left_out[why] += 1
            else:
                yield row, _provenance(judged, turn)


def _sft(options: PairOptions, run: StoredRun, left_out: Counter[str]) -> Iterator[Row]:
    for judged in _judged(run):
        row = sft_row(judged, options.min_verdict)
        why = unfit(judged.conversation.messages)
        if row is not None and why is not None:
            left_out[why] += 1
        elif row is not None:
            yield row, _provenance(judged, None)
        elif judged.verdict is None:
            left_out["no verdict (the rubric gives none, or the judgement failed)"] += 1
        else:
            left_out[f"verdict below {options.min_verdict}"] += 1


def _active(options: PairOptions, run: StoredRun, left_out: Counter[str]) -> Iterator[Row]:
    judged = {j.conversation.id: j for j in _judged(run)}
    limit = options.limit or _ACTIVE_DEFAULT
    left_out["ranked lower"] += max(0, len(judged) - limit)
    for item in rank_for_labelling(judged.values(), limit):
        conversation = judged[item.conversation_id]
        yield item.to_row(conversation), _provenance(conversation, item.weakest_turn)


def _provenance(judged: JudgedConversation, turn: int | None, **more: str) -> dict[str, Any]:
    figures = None if turn is None else judged.turn(turn)
    return {
        "conversation_id": judged.conversation.id,
        "turn": turn,
        "judge": judged.judge,
        "prompt_digest": judged.prompt_digest,
        "verdict": judged.verdict,
        "quality": judged.quality if figures is None else figures.quality,
        "issues": [] if figures is None else list(figures.issues),
        **more,
    }
