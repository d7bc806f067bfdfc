"""What models are asked for training rows: better replies, and whether the chosen side is better again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dialogauge.app.clients import Clients
from dialogauge.app.config import model_of
from dialogauge.app.judge_of_run import judge_of_run
from dialogauge.app.merging import load_config, references
from dialogauge.app.outcome import FINISHED
from dialogauge.app.pairs.judged import RowsOfJudged
from dialogauge.app.pairs.settings import PairOptions
from dialogauge.core import Conversation, Level, Message, UsageError
from dialogauge.core.conversation import PREFIX, ToolCall
from dialogauge.runs import Observer, Outcome, RunDirectory, RunSettings, StopSignal, StoredRun, run_study
from dialogauge.runs.run import Row
from dialogauge.studies.arena.study import ARENA
from dialogauge.studies.replay.answers import ANSWER
from dialogauge.training import AskingStudy, TrainingRow, recheck_study, repair_study

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
        made = []
        answers = await self._asked(repair_study(client, [fork for _, fork in forks]))
        for fork, answer in zip(forks, answers, strict=True):
            if answer is None:
                self.left_out[_NOT_ASKED] += 1
            elif answer["failure"] is not None:
                self.left_out[_NO_REPLY + answer["failure"]] += 1
            else:
                self.repaired += 1
                made.append(judged.bettered(fork, answer["value"], client.name))
        return made

    async def rechecked(self, rows: list[TrainingRow], runs: Mapping[str, StoredRun]) -> list[TrainingRow]:
        """Judge both sides of each pair anew, and return the pairs whose chosen side is better.

        A dry one counts the calls, and returns all.

        Raises UsageError where the judge of a run cannot be built, and for rows of no run.
        """
        if not self.options.recheck:
            return rows
        kept: list[TrainingRow] = []
        by_run: dict[str | None, list[TrainingRow]] = {}
        for row in rows:
            by_run.setdefault(row.provenance.run, []).append(row)
        for name, members in by_run.items():
            if name is None or members[0].origin is None:
                msg = "--recheck judges with the judge of a run, and what people chose in a folder has none"
                raise UsageError(msg, hint="judge the log, and give that run")
            run = runs[name]
            if run.manifest.study in (ARENA, ANSWER):
                msg = f"--recheck needs a judge that scores one side alone, and that of {name} compared two"
                raise UsageError(msg, hint="judge what was compared, and give these runs")
            built = await judge_of_run(run, self.options, dry=self.dry, clients=self.clients)
            level: Level = "turn" if self.options.kind == "dpo" else "conversation"
            names = run.manifest.facts.get("scored_by", {}).get("dimensions")
            sides = [_judged_side(row, side) for row in members for side in ("chosen", "rejected")]
            answers = await self._asked(recheck_study(built.judge, sides, level, names))
            pairs = zip(members, answers[::2], answers[1::2], strict=True)
            kept += [one for row, chosen, rejected in pairs if (one := self._settled(row, chosen, rejected))]
        order = {row.digest: place for place, row in enumerate(rows)}
        return sorted(kept, key=lambda row: order[row.digest])

    def _settled(self, row: TrainingRow, chosen: Row | None, rejected: Row | None) -> TrainingRow | None:
        """Return a pair with the scores that were given anew; None where it is to be left out."""
        if self.dry:
            return row
        if chosen is None or rejected is None:
            self.left_out[_NOT_ASKED] += 1
            return None
        if failure := chosen["failure"] or rejected["failure"]:
            self.left_out[_NOT_JUDGED + failure] += 1
            return None
        margin = round(chosen["value"] - rejected["value"], 9)
        if margin <= 0 or margin < (self.options.min_margin or 0.0):
            self.left_out[_NOT_BETTER] += 1
            return None
        self.confirmed += 1
        details = {
            **row.provenance.details,
            "recheck_chosen": round(chosen["value"], 6),
            "recheck_rejected": round(rejected["value"], 6),
        }
        return replace(row, provenance=replace(row.provenance, details=details))

    async def _asked(self, study: AskingStudy) -> list[Row | None]:
        """Ask all questions, in a run that is gone afterwards."""
        with TemporaryDirectory() as folder:
            directory = RunDirectory(Path(folder) / "asked")
            settings = RunSettings(directory=directory, workers=self.options.max_concurrency)
            run = await run_study(study, settings, self.observer, self.clients.limits, self.stop)
        if self.ending.ended == "finished":
            self.ending = run.ending.outcome
        return study.in_order(run.result)


def _judged_side(row: TrainingRow, side: str) -> Conversation:
    """Return the conversation that ends with a side: of a reply its turn is judged, else all."""
    prompt, new = ([_message(one) for one in row.data[key]] for key in ("prompt", side))
    origin, start = row.origin, len(prompt)
    if len(new) == 1:
        start = max((i for i, m in enumerate(prompt) if m.role == "user"), default=start)
        while start and prompt[start - 1].role == "user":
            start -= 1
    base = origin or Conversation("", ())
    metadata = {key: value for key, value in base.metadata.items() if key != PREFIX}
    return replace(base, messages=(*prompt, *new), ratings=(), metadata={**metadata, PREFIX: start})


def _message(fields: Mapping[str, Any]) -> Message:
    """Return a message of a row as it stood in the conversation."""
    calls = tuple(
        ToolCall(call.get("id") or "", call["function"]["name"], _text(call["function"]["arguments"]))
        for call in fields.get("tool_calls") or ()
    )
    return Message(
        fields["role"], fields.get("content"), calls, fields.get("tool_call_id"), fields.get("name")
    )


def _text(arguments: object) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
