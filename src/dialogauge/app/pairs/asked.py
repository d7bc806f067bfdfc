"""What models are asked for training rows: better replies, and whether the chosen side is better again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dialogauge.app.clients import Clients
from dialogauge.app.config import model_of
from dialogauge.app.judge_of_run import judge_of_run
from dialogauge.app.merging import load_config, references
from dialogauge.app.outcome import FINISHED
from dialogauge.app.pairs.judged import RatedRun, RowsOfJudged
from dialogauge.app.pairs.settings import PairOptions
from dialogauge.core import Conversation, Level, Message, UsageError
from dialogauge.core.conversation import PREFIX
from dialogauge.runs import Observer, Outcome, StopSignal, StoredRun
from dialogauge.studies.arena.study import ARENA
from dialogauge.studies.replay.answers import ANSWER
from dialogauge.training import (
    AskedAnswer,
    Question,
    TrainingRow,
    answered,
    recheck_questions,
    repair_questions,
)

_NOT_ASKED = "not asked: the run ended early"
_NO_REPLY = "no better reply: "
_NOT_JUDGED = "not judged anew: "
_NOT_BETTER = "judged anew, chosen is not better"


@dataclass(slots=True)
class PairQuestions:
    """Asks models, and counts what comes of it; a dry one asks nothing, and counts what it would ask."""

    options: PairOptions
    left_out: Counter[str]
    observer: Observer
    stop: StopSignal | None
    dry: bool
    repaired: int = 0
    """Better replies that a model wrote."""
    confirmed: int = 0
    """Pairs that were judged anew, and whose chosen side is better again."""
    ending: Outcome = FINISHED
    """How asking ended."""
    clients: Clients = field(init=False)
    """Of the model that writes better replies, and of those that judge anew."""

    def __post_init__(self) -> None:
        """Make room for clients; nothing is built yet."""
        self.clients = Clients(self.options, dry=self.dry)

    @property
    def failed_share(self) -> float:
        """Share of what a model was asked for and did not give."""
        failed = sum(n for why, n in self.left_out.items() if why.startswith((_NO_REPLY, _NOT_JUDGED)))
        answered = self.repaired + self.confirmed + self.left_out[_NOT_BETTER]
        return failed / (failed + answered) if failed else 0.0

    async def bettered(self, judged: RowsOfJudged, rows: Sequence[TrainingRow]) -> list[TrainingRow]:
        """Pair weak turns that are in no row with better replies: of a field, or of a model.

        The rows keep the order of the run.
        """
        options, reference = self.options, references(self.options).get("repair")
        if options.chosen_field is not None:
            return list(judged.from_field(judged.forks(rows), options.chosen_field))
        if reference is None:
            return []
        forks = list(judged.forks(rows))
        if options.limit is not None:
            self.left_out["over --limit"] += max(0, len(forks) - options.limit)
            forks = forks[: options.limit]
        settings = model_of(reference, "repair", load_config(options.config_file).roles)
        client = self.clients.build(settings, "repair")
        answers = await self._asked(repair_questions(client, [fork for _, fork in forks]))
        made = [
            judged.bettered(fork, reply, client.name)
            for fork, answer in zip(forks, answers, strict=True)
            if (reply := self._value(answer, _NO_REPLY)) is not None
        ]
        self.repaired = len(made)
        return made

    async def rechecked(self, rows: list[TrainingRow], runs: Mapping[str, StoredRun]) -> list[TrainingRow]:
        """Judge both sides of each pair anew, and return the pairs whose chosen side is better.

        A dry one counts the calls, and returns all. Where a judge that is not checked says which of people's
        pairs stay, these rest on it too.

        Raises UsageError where the judge of a run cannot be built, for rows of no run, and where a judge that
        is not checked is to decide on people's pairs without `--unchecked`.
        """
        if not self.options.recheck:
            return rows
        kept: dict[str, TrainingRow] = {}
        for name in dict.fromkeys(row.provenance.run for row in rows):
            run = None if name is None else runs[name]
            members = [row for row in rows if row.provenance.run == name]
            if run is None or run.manifest.study in (ARENA, ANSWER):
                what = "what people chose in a folder" if run is None else f"what was compared in {name}"
                msg = f"--recheck needs a judge that scores one side alone, and {what} has none"
                raise UsageError(msg, hint="judge the log, and give that run")
            members = self._resting(members, RatedRun.of(str(name), run, unchecked=False))
            built = await judge_of_run(run, self.options, dry=self.dry, clients=self.clients)
            level: Level = "turn" if self.options.kind == "dpo" else "conversation"
            names = run.manifest.facts.get("scored_by", {}).get("dimensions")
            sides = [_judged_side(row, side) for row in members for side in ("chosen", "rejected")]
            answers = await self._asked(recheck_questions(built.judge, sides, level, names))
            for row, *both in zip(members, answers[::2], answers[1::2], strict=True):
                if settled := row if self.dry else self._settled(row, *both):
                    kept[row.digest] = settled
        return [kept[row.digest] for row in rows if row.digest in kept]

    def _resting(self, rows: list[TrainingRow], rated: RatedRun) -> list[TrainingRow]:
        """Return the rows of a run; those of people are marked where its judge is not checked."""
        people = {row.digest for row in rows if row.provenance.source == "people"}
        if not people or rated.counts(self.options.kind):
            return rows
        if not self.options.unchecked:
            msg = f"the judge of {rated.name} is not checked, and would drop pairs that people chose"
            raise UsageError(msg, hint="leave --recheck out, or let it drop them all the same: --unchecked")
        marked = (replace(row, provenance=replace(row.provenance, unchecked=True)) for row in rows)
        return [mark if row.digest in people else row for row, mark in zip(rows, marked, strict=True)]

    def _settled(
        self, row: TrainingRow, chosen: AskedAnswer | None, rejected: AskedAnswer | None
    ) -> TrainingRow | None:
        """Return a pair with the scores that were given anew; None where it is to be left out."""
        better = self._value(chosen, _NOT_JUDGED)
        worse = None if better is None else self._value(rejected, _NOT_JUDGED)
        if better is None or worse is None:
            return None
        margin = round(better - worse, 9)
        if margin <= 0 or margin < (self.options.min_margin or 0.0):
            self.left_out[_NOT_BETTER] += 1
            return None
        self.confirmed += 1
        anew = {"recheck_chosen": round(better, 6), "recheck_rejected": round(worse, 6)}
        source = row.provenance
        return replace(row, provenance=replace(source, details={**source.details, **anew}))

    def _value(self, answer: AskedAnswer | None, failed: str) -> Any:  # noqa: ANN401 - a text or a number
        """Return what was answered; count why it was not, and return None."""
        if answer is None or answer.failure is not None:
            self.left_out[_NOT_ASKED if answer is None else failed + str(answer.failure)] += 1
            return None
        return answer.value

    async def _asked(self, questions: Sequence[Question]) -> list[AskedAnswer | None]:
        workers, limits = self.options.max_concurrency, self.clients.limits
        answers, outcome = await answered(questions, workers, self.observer, limits, self.stop)
        if self.ending.ended == "finished":
            self.ending = outcome
        return answers


def _judged_side(row: TrainingRow, side: str) -> Conversation:
    """Return the conversation that ends with a side: of a reply its turn is judged, else all."""
    origin = row.origin or Conversation("", ())
    start = len(row.data["prompt"])
    prompt, new = origin.messages[:start], [Message(m["role"], m["content"]) for m in row.data[side]]
    if len(new) == 1:
        start = max((i for i, m in enumerate(prompt) if m.role == "user"), default=start)
        while start and prompt[start - 1].role == "user":
            start -= 1
    return replace(origin, messages=(*prompt, *new), ratings=(), metadata={**origin.metadata, PREFIX: start})
