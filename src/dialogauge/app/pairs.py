"""Training rows from a run: which rows, from where the better reply comes, and what was left out."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from dialogauge.app.build import Clients
from dialogauge.app.config import model_of
from dialogauge.app.merging import load_config, references
from dialogauge.app.outputs import output_file, spare
from dialogauge.app.pairs_of_replay import Row, replay_pairs
from dialogauge.app.settings import PairOptions
from dialogauge.app.sources import JUDGED
from dialogauge.core.conversation import Message
from dialogauge.core.errors import DialogaugeError, UsageError
from dialogauge.llm import ChatFailure, Expected
from dialogauge.runs import StopSignal
from dialogauge.runs.directory import expect_writable, write_whole
from dialogauge.runs.execute import stop_on_interrupt
from dialogauge.runs.records import json_line
from dialogauge.runs.run import StoredRun, open_run
from dialogauge.stats import parse_rule
from dialogauge.studies.judging.people import People, stored_people
from dialogauge.studies.judging.people_tally import LEVELS
from dialogauge.text import counted, detect_language
from dialogauge.training import (
    Fork,
    JudgedConversation,
    PersonRating,
    RatedPair,
    Source,
    dpo_row,
    fork_of,
    judged_conversation,
    kto_rows,
    rank_for_labelling,
    rated_pairs,
    repair,
    sft_row,
    unfit,
    weak_turn,
    worth_learning,
)

_ACTIVE_DEFAULT = 50
_NO_REPLY = "no better reply: "

T = TypeVar("T")


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
    repaired: int = 0
    """How many of the better replies a model wrote."""
    balance: Mapping[str, int] = field(default_factory=dict)
    """What the rows are, and whose word that is, to number: `desirable by people's ratings`."""
    notes: tuple[str, ...] = ()
    """What to know of the rows."""
    asking: Expected | None = None
    """Of a dry run: what a model would be asked; None where none is."""

    @property
    def failed_share(self) -> float:
        """Share of the better replies that a model was asked for and did not give."""
        failed = sum(n for why, n in self.left_out.items() if why.startswith(_NO_REPLY))
        return failed / (failed + self.repaired) if failed else 0.0


def write_pairs(
    options: PairOptions, notify: Callable[[bool], None] = lambda _: None, *, dry: bool = False
) -> PairResult:
    """Write the rows, and beside them `NAME.provenance.jsonl`, one line for each row.

    Args:
        options: What is asked for.
        notify: Called at each Ctrl-C while a model writes, with whether it was the first. Replies that came
            by then are written; the first waits for those in flight.
        dry: Count what a model would be asked, and write nothing.

    Raises UsageError where rows would rest on the word of a judge that people contradicted, and where
    nothing gives a better reply.
    """
    left_out: Counter[str] = Counter()
    stop = StopSignal()
    target = output_file(options.out)
    files = (target, output_file(str(target.with_suffix(".provenance.jsonl"))))
    spare(files, options)
    with open_run(options.run, options.privacy, studies=(*JUDGED, "replay")) as run:
        spare(files, run.manifest.settings)
        of_replay = run.manifest.study == "replay"
        people = None if of_replay else stored_people(run)
        if options.kind == "dpo" and people is None and not (of_replay or _names_better(options)):
            raise _nothing_better()
        for file in () if dry else files:
            expect_writable(file)
        clients = Clients(options, dry=dry)
        made = _Making(options, run, people, left_out, clients)
        rows, error = made.rows(stop, notify)
    rows = _limited(rows, options.limit, left_out)
    if not dry:
        write_whole(files[0], (json_line(row) for row, _ in rows))
        write_whole(files[1], (json_line(source) for _, source in rows))
    lost = {why: n for why, n in left_out.items() if n}
    asked = options.kind == "dpo" and options.chosen_field is None and not of_replay
    repaired = sum("chosen_turn" not in source for _, source in rows) if asked else 0
    balance = _balance(options.kind, rows)
    notes, asking = made.notes(), clients.counted()
    if asking is not None:
        asking = replace(asking, assumed=0)  # the replies go into rows, and into no prompt
    return PairResult(len(rows), lost, error, stop.requested, repaired, balance, notes, asking)


def _names_better(options: PairOptions) -> bool:
    return options.chosen_field is not None or bool(references(options))


def _nothing_better() -> UsageError:
    msg = "a preference pair needs a better reply, and nothing supplies one: no ratings, model or column"
    hint = "--model NAME --base-url URL has a model write it; --chosen-field KEY takes it from your records"
    return UsageError(msg, hint=hint)


_RESTS_ON: Final[Mapping[Source, str]] = {"people": "people's ratings", "judge": "the judge"}


def _balance(kind: str, rows: Iterable[Row]) -> dict[str, int]:
    if kind == "active":
        return {}
    counts: Counter[str] = Counter()
    for row, source in rows:
        what = {"dpo": "rejected", "sft": "good"}.get(kind) or (
            "desirable" if row["label"] else "undesirable"
        )
        counts[f"{what} by {_RESTS_ON[source['source']]}"] += 1
    return dict(sorted(counts.items()))


def _limited(items: list[T], limit: int | None, left_out: Counter[str]) -> list[T]:
    """Return the first of the items; the others are counted."""
    left_out["over --limit"] += max(0, len(items) - limit) if limit is not None else 0
    return items[:limit]


@dataclass(frozen=True, slots=True)
class _Making:
    """Makes rows of a run."""

    options: PairOptions
    run: StoredRun
    people: People | None
    left_out: Counter[str]
    clients: Clients
    """Of the model that writes better replies."""

    def notes(self) -> tuple[str, ...]:
        """Say whose ratings are used, and what is known of the judge."""
        if self.people is None:
            return ("nobody rated this run: the rows rest on the judge",)
        used = [f for level in LEVELS if (f := self.people.main(level)) is not None]
        rules = (f"{f.what} of {f.n:,} {f.level}s, {f.rule} is bad" for f in used)
        if not used:
            why = "people's ratings say nothing of good and bad: the rows rest on the judge"
            return (why,) if self.people.figures else (self.people.light.sentence, why)
        first = f"people's ratings come first ({'; '.join(rules)})"
        return first, f"whether the judge agrees with people: {self.people.light.answer}"

    def expect_not_contradicted(self, sources: Iterable[Source]) -> None:
        """Raise UsageError where rows rest on the word of a judge that people contradicted."""
        light = None if self.people is None else self.people.light
        if light is None or light.answer != "does not" or self.options.anyway:
            return
        if resting := sum(source == "judge" for source in sources):
            msg = f"{counted(resting, 'row')} would rest on a judge that does not agree with people. "
            hint = "--anyway takes its word all the same; rows that rest on people's ratings need no judge"
            raise UsageError(msg + light.sentence, hint=hint)

    def judged(self) -> Iterator[JudgedConversation]:
        """Yield the conversations with what judge and people said."""
        scales = {d.name: d.scale for d in self.run.dimensions}
        main = {level: None if self.people is None else self.people.main(level) for level in LEVELS}

        def person(row: Mapping[str, Any]) -> PersonRating | None:
            figure, rating = main.get(row["level"]), row.get("rating")
            if figure is None or rating is None:
                return None
            scores = {rating["dimension"]: rating["score"], **rating.get("others", {})}
            score = scores.get(figure.dimension)
            if score is None:
                return None
            good = not parse_rule(figure.cut).holds(score)
            if figure.scale is None or isinstance(score, str):
                return PersonRating(score, float(good), good)
            return PersonRating(score, figure.scale.quality(score), good)

        for conversation, rows in self.run.judged():
            yield judged_conversation(conversation, rows, scales, person)

    def rows(
        self, stop: StopSignal, notify: Callable[[bool], None]
    ) -> tuple[list[Row], DialogaugeError | None]:
        """Return the rows of the kind that is asked for, and what ended the repairs early."""
        if self.run.manifest.study == "replay":
            return list(replay_pairs(self.run, self.options, self.left_out)), None
        return self.dpo(stop, notify) if self.options.kind == "dpo" else (self.plain(), None)

    def dpo(
        self, stop: StopSignal, notify: Callable[[bool], None]
    ) -> tuple[list[Row], DialogaugeError | None]:
        """Pair replies to the same messages by people's ratings, and weak replies with better ones."""
        preferred = rated_pairs(self.judged()) if self.people is not None else ()
        rows: list[Row] = [(dpo_row(pair.fork, pair.chosen), _preferred(pair)) for pair in preferred]
        options = self.options
        if not _names_better(options):
            if not rows:
                raise _nothing_better()
            return rows, None
        paired = {(source["conversation_id"], source["turn"]) for _, source in rows}
        forks = [one for one in self.forks() if (one[1].conversation_id, one[1].turn) not in paired]
        self.expect_not_contradicted(fork.source for _, fork in forks)
        if options.chosen_field is not None:
            return [*rows, *self.from_field(forks, options.chosen_field)], None
        repaired, error = asyncio.run(_repaired(options, self.clients, forks, self.left_out, stop, notify))
        return [*rows, *repaired], error

    def plain(self) -> list[Row]:
        """Return the rows of a kind that needs no better reply."""
        kinds = {"kto": self.kto, "sft": self.sft, "active": self.active}
        rows = list(kinds[self.options.kind]())
        self.expect_not_contradicted(source["source"] for _, source in rows)
        return rows

    def from_field(self, forks: Iterable[tuple[JudgedConversation, Fork]], field: str) -> Iterator[Row]:
        """Yield pairs whose better reply stands in the data."""
        for judged, fork in forks:
            chosen = _given_reply(judged, fork, field)
            if chosen is None:
                self.left_out[f"no {field!r} at the weakest turn or on the conversation"] += 1
            elif chosen.strip() == fork.rejected.strip():
                self.left_out[f"{field!r} is the weak reply itself"] += 1
            else:
                source = _provenance(judged, fork.turn, fork.source, chosen_from=f"field {field}")
                yield dpo_row(fork, chosen), source

    def forks(self) -> Iterator[tuple[JudgedConversation, Fork]]:
        """Yield the weak turns with a reply that can be bettered."""
        for judged in self.judged():
            fork = fork_of(judged)
            if fork is None:
                liked = weak_turn(judged) == (None, "people")
                self.left_out["people were satisfied" if liked else "no weakest turn"] += 1
            elif why := unfit(_up_to(judged, fork.turn)):
                self.left_out[why] += 1
            else:
                yield judged, fork

    def kto(self) -> Iterator[Row]:
        """Yield labelled replies."""
        for judged in self.judged():
            rows = list(kto_rows(judged))
            self.left_out["turns neither clearly good nor bad"] += len(judged.turns) - len(rows)
            for turn, row, source in rows:
                if why := unfit(_up_to(judged, turn)):
                    self.left_out[why] += 1
                else:
                    yield row, _provenance(judged, turn, source)

    def sft(self) -> Iterator[Row]:
        """Yield conversations to follow."""
        least = self.options.min_verdict
        for judged in self.judged():
            worth, source = worth_learning(judged, least)
            row = sft_row(judged) if worth else None
            why = unfit(judged.conversation.messages)
            if row is not None and why is None:
                yield row, _provenance(judged, None, source)
            elif row is not None and why is not None:
                self.left_out[why] += 1
            elif worth is None:
                self.left_out["no verdict (the rubric gives none, or the judgement failed)"] += 1
            else:
                below = "people were dissatisfied" if source == "people" else f"verdict below {least}"
                self.left_out["no answer of the assistant" if worth else below] += 1

    def active(self) -> Iterator[Row]:
        """Yield what to have labelled next: nothing that people rated already."""
        judged = {}
        for one in self.judged():
            if one.people:
                self.left_out["people rated it already"] += 1
            else:
                judged[one.conversation.id] = one
        limit = self.options.limit or _ACTIVE_DEFAULT
        self.left_out["ranked lower"] += max(0, len(judged) - limit)
        for item in rank_for_labelling(judged.values(), limit):
            conversation = judged[item.conversation_id]
            source = _provenance(conversation, item.weakest_turn, "people")
            yield item.to_row(conversation), source


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
    clients: Clients,
    forks: list[tuple[JudgedConversation, Fork]],
    left_out: Counter[str],
    stop: StopSignal,
    notify: Callable[[bool], None],
) -> tuple[list[Row], DialogaugeError | None]:
    """Have a model write the better replies, in parallel; the rows keep the order of the run."""
    config = load_config(options.config_file)
    settings = model_of(references(options)["repair"], "repair", config.roles)
    client = clients.build(settings, "repair")
    forks = _limited(forks, options.limit, left_out)
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
        source = _provenance(judged, fork.turn, fork.source, chosen_from=client.name)
        return dpo_row(fork, reply.value), source

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


def _up_to(judged: JudgedConversation, turn: int) -> Sequence[Message]:
    """Return the messages of a conversation to the end of a turn."""
    return judged.conversation.messages[: judged.conversation.turn(turn).stop]


def _preferred(pair: RatedPair) -> dict[str, Any]:
    better, turn = pair.better
    where = {"chosen_conversation_id": better.conversation.id, "chosen_turn": turn}
    return _provenance(pair.worse, pair.fork.turn, "people", chosen_from="people's ratings", **where)


def _provenance(
    judged: JudgedConversation, turn: int | None, source: Source, **more: object
) -> dict[str, Any]:
    figures = None if turn is None else judged.turn(turn)
    rating = judged.rated_turns.get(turn) if turn is not None else judged.people.get(None)
    return {
        "conversation_id": judged.conversation.id,
        "turn": turn,
        "source": source,
        "rating": None if rating is None else rating.score,
        "judge": judged.judge,
        "prompt_digest": judged.prompt_digest,
        "verdict": judged.verdict,
        "quality": judged.quality if figures is None else figures.quality,
        "issues": [] if figures is None else list(figures.issues),
        **more,
    }
