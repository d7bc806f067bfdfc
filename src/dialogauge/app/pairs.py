"""Training rows from runs and from what people chose and wrote: which rows, and what was left out."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeVar

from dialogauge.app.annotate.folder import PlanFiles
from dialogauge.app.clients import Clients
from dialogauge.app.command import NO_INPUT, Command
from dialogauge.app.config import model_of
from dialogauge.app.merging import load_config, references
from dialogauge.app.outcome import FINISHED, CommandOutcome, Plan
from dialogauge.app.outputs import output_file, spare
from dialogauge.app.pairs_of_people import people_rows
from dialogauge.app.pairs_of_replay import Row, replay_pairs
from dialogauge.app.progress import ProgressObserver
from dialogauge.app.settings import PairOptions
from dialogauge.app.sources import JUDGED, PythonInput
from dialogauge.core.conversation import Message
from dialogauge.core.errors import UsageError
from dialogauge.report import Block, Callout
from dialogauge.runs import Observer, Outcome, RunDirectory, RunSettings, StopSignal, run_study
from dialogauge.runs.directory import expect_writable, write_whole
from dialogauge.runs.records import json_line
from dialogauge.runs.run import StoredRun, open_run
from dialogauge.stats import parse_rule
from dialogauge.studies.evidence import (
    UNCHECKED_FIRST,
    VERDICT,
    DimensionEvidence,
    RunEvidence,
    evidence_of,
)
from dialogauge.studies.judging.people import People, stored_people
from dialogauge.studies.judging.people_tally import LEVELS
from dialogauge.studies.replay.answers import ANSWER
from dialogauge.text import counted
from dialogauge.training import (
    Fork,
    JudgedConversation,
    PersonRating,
    RepairStudy,
    Source,
    dpo_row,
    fork_of,
    judged_conversation,
    kto_rows,
    rank_for_labelling,
    reply_pairs,
    sft_row,
    unfit,
    weak_turn,
    worth_learning,
)

_ACTIVE_DEFAULT = 50
_NO_REPLY = "no better reply: "
_RESTS_ON: Final[Mapping[Source, str]] = {"people": "people's ratings", "judge": "the judge"}
_UNCHECKED: Final = "rests on a judge that is not checked (--unchecked takes it)"

T = TypeVar("T")


_MAX_FAILED: Final = 0.05
"""Share of missing replies above which the exit code is 3."""


@dataclass(frozen=True, slots=True)
class PairResult:
    """What was written."""

    written: int
    left_out: Mapping[str, int]
    """Reason to number."""
    unchecked: int = 0
    """How many rows rest on the word of a judge that nobody showed to agree with people or outcomes."""
    repaired: int = 0
    """How many of the better replies a model wrote."""
    balance: Mapping[str, int] = field(default_factory=dict)
    """What the rows are, and whose word that is, to number: `desirable by people's ratings`."""
    notes: tuple[str, ...] = ()
    """What to know of the rows."""

    @property
    def failed_share(self) -> float:
        """Share of the better replies that a model was asked for and did not give."""
        failed = sum(n for why, n in self.left_out.items() if why.startswith(_NO_REPLY))
        return failed / (failed + self.repaired) if failed else 0.0

    @property
    def lines(self) -> Iterator[str]:
        """Yield what is to be said of the rows."""
        yield from (f"{number:,} {what}" for what, number in self.balance.items())
        yield from self.notes
        yield from (f"{number:,} left out: {reason}" for reason, number in self.left_out.items())


class PairsEntry(Command[PairOptions, PairResult]):
    """`pairs`: rows for training, and beside them `NAME.provenance.jsonl`, one line for each row."""

    async def run(
        self,
        options: PairOptions,
        observer: Observer,
        python: PythonInput = NO_INPUT,
        stop: StopSignal | None = None,
    ) -> CommandOutcome[PairResult]:
        """Write the rows; what a model wrote before a Ctrl-C or an error is among them.

        Raises UsageError where all rows would rest on a judge that is not checked, and where nothing gives a
        better reply.
        """
        del python
        made = await self._made(options, observer, stop, dry=False)
        result, file = made.result, Path(options.out)
        return CommandOutcome(
            options=options,
            result=result,
            notes=tuple(result.lines),
            ending=made.ending,
            files={counted(result.written, "row"): file},
            failed_share=result.failed_share,
            max_failed=_MAX_FAILED,
        )

    def plan(self, options: PairOptions) -> Plan:
        """Count the rows, and what a model would be asked."""
        made = asyncio.run(self._made(options, ProgressObserver(quiet=True), None, dry=True))
        asking = made.clients.counted()
        if asking is not None:
            asking = replace(asking, assumed=0)  # the replies go into rows, and into no prompt
        rows, lines = made.result.written, tuple(made.result.lines)
        if number := made.result.unchecked:
            lines = (f"{UNCHECKED_FIRST} Such scores would make {counted(number, 'row')}.", *lines)
        return Plan(None, "", {"rows": rows}, rows, (), lines, asking)

    async def _made(
        self, options: PairOptions, observer: Observer, stop: StopSignal | None, *, dry: bool
    ) -> _Making:
        """Make the rows, and write them unless it is dry."""
        left_out: Counter[str] = Counter()
        target = output_file(options.out)
        files = (target, output_file(str(target.with_suffix(".provenance.jsonl"))))
        spare(files, options)
        folders = {path: one for path in options.inputs if (one := PlanFiles.behind(path)) is not None}
        with ExitStack() as stack:
            runs = []
            for path in options.inputs:
                if path not in folders:
                    run = stack.enter_context(open_run(path, options.privacy, studies=JUDGED))
                    spare(files, run.manifest.settings)
                    runs.append(_RatedRun.of(path, run, unchecked=options.unchecked))
            if len(options.inputs) > 1 and (options.kind == "active" or any(r.of_replay for r in runs)):
                what = "what to label next is chosen" if options.kind == "active" else "a replay run is read"
                msg = f"{what} from one input alone, and there are {len(options.inputs)}"
                raise UsageError(msg, hint="give one run")
            for file in files if references(options) and not dry else ():
                expect_writable(file)
            made = _Making(options, tuple(runs), left_out, Clients(options, dry=dry), observer, stop)
            by_people = [row for one in folders.values() for row in people_rows(one, options, left_out)]
            rows = made.admitted([*by_people, *await made.rows()])
            notes = tuple(f"{run.name}: {n}" if len(runs) > 1 else n for run in runs for n in run.notes())
        rows = _limited(rows, options.limit, left_out)
        if not dry:
            write_whole(files[0], (json_line(row) for row, _ in rows))
            write_whole(files[1], (json_line(source) for _, source in rows))
        asked = options.kind == "dpo" and bool(references(options))
        made.result = PairResult(
            len(rows),
            {why: n for why, n in left_out.items() if n},
            sum("unchecked" in source for _, source in rows),
            sum("chosen_turn" not in s and "item" not in s for _, s in rows) if asked else 0,
            _balance(options.kind, rows),
            notes,
        )
        return made


def _view(outcome: CommandOutcome[PairResult]) -> Iterable[Block]:
    """Say first whether rows rest on what is not checked; the rest stands in the notes."""
    number = outcome.result.unchecked
    notice = f"{UNCHECKED_FIRST} Such scores made {counted(number, 'row')}."
    return (Callout((notice,)),) if number else ()


ENTRY: Final = PairsEntry(
    name="pairs",
    prints=None,
    plan_words=lambda plan, options: f"would write {counted(plan.left, 'row')}: {options.out}",
    view=_view,
    notes_last=True,
)


def _balance(kind: str, rows: Iterable[Row]) -> dict[str, int]:
    if kind == "active":
        return {}
    counts: Counter[str] = Counter()
    for row, source in rows:
        what = {"dpo": "rejected", "sft": "good"}.get(kind) or (
            "desirable" if row["label"] else "undesirable"
        )
        by = "people" if "item" in source else _RESTS_ON[source["source"]]
        counts[f"{what} by {by}"] += 1
    return dict(sorted(counts.items()))


def _limited(items: list[T], limit: int | None, left_out: Counter[str]) -> list[T]:
    """Return the first of the items; the others are counted."""
    left_out["over --limit"] += max(0, len(items) - limit) if limit is not None else 0
    return items[:limit]


@dataclass(frozen=True, slots=True)
class _RatedRun:
    """A run, what people said of it, and what is checked of its judge."""

    name: str
    run: StoredRun
    people: People | None
    evidence: RunEvidence

    @classmethod
    def of(cls, name: str, run: StoredRun, *, unchecked: bool) -> _RatedRun:
        """Look up what a run says of people and of its judge; nothing is checked where nobody scored it."""
        if run.manifest.study == ANSWER:
            scored = run.directory.file("summary").is_file()
            summary = run.directory.read_json("summary") if scored else {}
            each: Mapping[str, Mapping[str, Any]] = summary.get("dimensions") or {"satisfaction": summary}
            dimensions = {
                name: DimensionEvidence(
                    bool(d.get("checked")), d.get("checked_by") or "", d.get("unchecked_because") or ""
                )
                for name, d in each.items()
            }
            return cls(name, run, None, RunEvidence(dimensions=dimensions, unchecked=unchecked))
        return cls(name, run, stored_people(run), evidence_of(run, unchecked=unchecked))

    @property
    def of_replay(self) -> bool:
        """Whether it holds replies to the same states."""
        return self.run.manifest.study == ANSWER

    def counts(self, kind: str, *, checked: bool = False) -> bool:
        """Say whether the judge's word makes rows of a kind; `checked`: without `--unchecked`."""
        if self.of_replay:
            known = all(e.checked for e in self.evidence.dimensions.values())
            return known or (not checked and self.evidence.unchecked)
        levels = {"sft": (VERDICT,), "dpo": ("turn", "pair"), "kto": ("turn",)}.get(kind, ())
        names = [d.name for d in self.run.dimensions if d.level in levels]
        names += [VERDICT] if VERDICT in levels else []
        evidence = self.evidence
        return any(evidence.of(name).checked if checked else evidence.counts(name) for name in names)

    def judged(self) -> Iterator[JudgedConversation]:
        """Yield the conversations with what people said, and the judge: what of it counts, if anything."""
        dimensions = [d for d in self.run.dimensions if self.evidence.counts(d.name)] or self.run.dimensions
        scales = {d.name: d.scale for d in dimensions}
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
            measure = f"{figure.dimension} {figure.scale} {figure.cut}"
            if figure.scale is None or isinstance(score, str):
                return PersonRating(score, float(good), good, measure)
            return PersonRating(score, figure.scale.quality(score), good, measure)

        for conversation, rows in self.run.judged():
            yield replace(judged_conversation(conversation, rows, scales, person), run=self.name)

    def notes(self) -> Iterator[str]:
        """Say whose ratings are used, and what is known of the judge."""
        by = next((e.by for e in self.evidence.dimensions.values() if e.checked), None)
        judge = "its judge is not checked" if by is None else f"its judge is checked: {by}"
        if self.people is None:
            yield f"nobody rated this run, and {judge}"
            return
        used = [f for level in LEVELS if (f := self.people.main(level)) is not None]
        rules = (f"{f.what} of {f.n:,} {f.level}s, {f.rule} is bad" for f in used)
        if used:
            yield f"people's ratings come first ({'; '.join(rules)})"
            yield f"whether the judge agrees with people: {self.people.light.answer}"
        else:
            yield from () if self.people.figures else (self.people.light.sentence,)
            yield f"people's ratings say nothing of good and bad, and {judge}"


@dataclass(slots=True)
class _Making:
    """Makes rows of runs."""

    options: PairOptions
    runs: tuple[_RatedRun, ...]
    left_out: Counter[str]
    clients: Clients
    """Of the model that writes better replies."""
    observer: Observer
    stop: StopSignal | None
    ending: Outcome = FINISHED
    """How the repairs ended."""
    result: PairResult = PairResult(0, {})

    def admitted(self, rows: Sequence[Row]) -> list[Row]:
        """Return the rows without those of an unchecked judge; with `--unchecked` all, these marked.

        Raises UsageError where no other rows are left.
        """
        marked = [source for _, source in rows if "unchecked" in source]
        if self.options.unchecked:
            return [({"unchecked": True, **row} if "unchecked" in s else row, s) for row, s in rows]
        self.left_out[_UNCHECKED] += len(marked)
        if self.left_out[_UNCHECKED] and len(rows) == len(marked):
            why = next((e.why for run in self.runs for e in run.evidence.dimensions.values() if e.why), "")
            msg = f"all {counted(self.left_out[_UNCHECKED], 'row')} would rest on a judge that is not checked"
            hint = (
                "what makes rows: people's ratings (`annotate make`, `judge LOG --ratings FOLDER`), their "
                "choices and better replies (`pairs FOLDER`), or, all the same, --unchecked"
            )
            raise UsageError(f"{msg}: {why}" if why else msg, hint=hint)
        return [row for row in rows if "unchecked" not in row[1]]

    def judged(self) -> Iterator[JudgedConversation]:
        """Yield the conversations of all runs."""
        return (judged for run in self.runs for judged in run.judged())

    def _run_of(self, judged: JudgedConversation) -> _RatedRun:
        return next(run for run in self.runs if run.name == judged.run)

    def source(
        self, judged: JudgedConversation, turn: int | None, source: Source, **more: object
    ) -> dict[str, Any]:
        """Return what a row rests on."""
        figures = None if turn is None else judged.turn(turn)
        rating = judged.people.get(None) if turn is None else judged.rated_turns.get(turn)
        resting = source == "judge" and not self._run_of(judged).counts(self.options.kind, checked=True)
        return {
            **({"unchecked": True} if resting else {}),
            "conversation_id": judged.conversation.id,
            "turn": turn,
            "source": source,
            "rating": None if rating is None else rating.score,
            "judge": judged.judge,
            "prompt_digest": judged.prompt_digest,
            "verdict": judged.verdict,
            "quality": judged.quality if figures is None else figures.quality,
            "issues": [] if figures is None else list(figures.issues),
            **({"run": judged.run} if len(self.options.inputs) > 1 else {}),
            **more,
        }

    async def rows(self) -> list[Row]:
        """Return the rows of the kind that is asked for."""
        if self.runs and self.runs[0].of_replay:
            mark = {} if self.runs[0].counts("dpo", checked=True) else {"unchecked": True}
            pairs = replay_pairs(self.runs[0].run, self.options, self.left_out)
            return [(row, {**mark, **source}) for row, source in pairs]
        if self.options.kind == "dpo":
            return await self.dpo()
        kinds = {"kto": self.kto, "sft": self.sft, "active": self.active}
        return list(kinds[self.options.kind]()) if self.runs else []

    async def dpo(self) -> list[Row]:
        """Pair replies to the same messages by people's ratings, and weak replies with better ones.

        Raises UsageError where no rows came of runs alone, and not because replies tie or are not rated.
        """
        several, options = len(self.runs) > 1, self.options

        def counts(judged: JudgedConversation) -> bool:
            return self._run_of(judged).counts("dpo")

        rated = several or any(run.people is not None for run in self.runs)
        pairs = reply_pairs(self.judged(), self.left_out, counts if several else None) if rated else ()
        rows: list[Row] = []
        for pair in pairs:
            fork, (better, turn) = pair.fork, pair.better
            where = {"chosen_conversation_id": better.conversation.id, "chosen_turn": turn}
            where |= {"chosen_run": better.run} if several else {}
            by = _RESTS_ON[fork.source]
            source = self.source(pair.worse, fork.turn, fork.source, chosen_from=by, **where)
            rows.append((dpo_row(fork, pair.chosen), source))
        if options.chosen_field is None and not references(options):
            if rows or len(options.inputs) > len(self.runs) or (several and self.left_out):
                return rows
            msg = "a preference pair needs a better reply, and nothing supplies one: no ratings, model or "
            msg += "column"
            hint = "--model NAME --base-url URL has a model write it; --chosen-field KEY takes it from your "
            hint += "records"
            if several:
                msg = "no two of these runs hold different replies to the same messages"
                hint = "let both versions answer the same requests, and rate their replies"
            raise UsageError(msg, hint=hint)
        paired = {(source.get("run"), source["conversation_id"], source["turn"]) for _, source in rows}
        forks = [
            (j, fork)
            for j, fork in self.forks()
            if (j.run if several else None, fork.conversation_id, fork.turn) not in paired
        ]
        if options.chosen_field is not None:
            return [*rows, *self.from_field(forks, options.chosen_field)]
        return [*rows, *await self.repaired(_limited(forks, options.limit, self.left_out))]

    def from_field(self, forks: Iterable[tuple[JudgedConversation, Fork]], field: str) -> Iterator[Row]:
        """Yield pairs whose better reply stands on the weak reply's own message, or on the conversation."""
        for judged, fork in forks:
            reply = judged.conversation.turn(fork.turn).reply[-1]
            values = (of.get(field) for of in (reply.extra, judged.conversation.metadata))
            chosen = next((v for v in values if isinstance(v, str) and v.strip()), None)
            if chosen is None:
                self.left_out[f"no {field!r} at the weakest turn or on the conversation"] += 1
            elif chosen.strip() == fork.rejected.strip():
                self.left_out[f"{field!r} is the weak reply itself"] += 1
            else:
                source = self.source(judged, fork.turn, fork.source, chosen_from=f"field {field}")
                yield dpo_row(fork, chosen), source

    async def repaired(self, forks: Sequence[tuple[JudgedConversation, Fork]]) -> list[Row]:
        """Have a model write the better replies; the rows keep the order of the run.

        They are a study in a run that is gone afterwards: what was asked, the response cache keeps.
        """
        options = self.options
        config = load_config(options.config_file)
        settings = model_of(references(options)["repair"], "repair", config.roles)
        try:
            client = self.clients.build(settings, "repair")
            study = RepairStudy(client, [fork for _, fork in forks])
            with TemporaryDirectory() as folder:
                workers = RunSettings(
                    directory=RunDirectory(Path(folder) / "repairs"), workers=options.max_concurrency
                )
                run = await run_study(study, workers, self.observer, self.clients.limits, self.stop)
        finally:
            await self.clients.close()
        self.ending, rows = run.ending.outcome, list[Row]()
        for judged, fork in forks:
            reply = run.result.rows.get(study.unit(fork).key)
            if reply is None:
                self.left_out["not asked: the run ended early"] += 1
            elif reply["failure"] is not None:
                self.left_out[_NO_REPLY + reply["failure"]] += 1
            else:
                source = self.source(judged, fork.turn, fork.source, chosen_from=client.name)
                rows.append((dpo_row(fork, reply["reply"]), source))
        return rows

    def forks(self) -> Iterator[tuple[JudgedConversation, Fork]]:
        """Yield the weak turns with a reply that can be bettered."""
        for judged in self.judged():
            fork = fork_of(judged)
            if fork is None:
                liked = weak_turn(judged) == (None, "people")
                self.left_out["people were satisfied" if liked else "no weakest turn"] += 1
            elif fork.source == "judge" and not self._run_of(judged).counts("dpo"):
                self.left_out[_UNCHECKED] += 1
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
                    yield row, self.source(judged, turn, source)

    def sft(self) -> Iterator[Row]:
        """Yield conversations to follow."""
        least = self.options.min_verdict
        for judged in self.judged():
            worth, source = worth_learning(judged, least)
            row = sft_row(judged) if worth else None
            why = unfit(judged.conversation.messages)
            if row is not None and why is None:
                yield row, self.source(judged, None, source)
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
            source = self.source(conversation, item.weakest_turn, "people")
            yield item.to_row(conversation), source


def _up_to(judged: JudgedConversation, turn: int) -> Sequence[Message]:
    """Return the messages of a conversation to the end of a turn."""
    return judged.conversation.messages[: judged.conversation.turn(turn).stop]
