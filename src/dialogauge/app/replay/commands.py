"""The commands of `replay`: four steps, and all of them in one go; a step may ask candidates or a judge."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Generic, TypeVar

from dialogauge.app.command import NO_INPUT, Command, RunCommand
from dialogauge.app.option_groups import Options
from dialogauge.app.outcome import FINISHED, CommandOutcome, Plan, PlanJson
from dialogauge.app.progress import ProgressObserver
from dialogauge.app.replay.collect import StepCall, StepResult, collect
from dialogauge.app.replay.compare import compare_runs, stored_page
from dialogauge.app.replay.items import Selected, select
from dialogauge.app.replay.score import build_evaluator, score
from dialogauge.app.replay.settings import (
    BenchmarkOptions,
    CollectOptions,
    CompareOptions,
    ScoreOptions,
    SelectOptions,
)
from dialogauge.app.shown import Overview, with_interval
from dialogauge.app.sources import InputData, PythonInput
from dialogauge.core import BudgetSpent, DialogaugeError, UsageError
from dialogauge.core.settings import narrowed
from dialogauge.report import Block, Callout, Definitions, words
from dialogauge.runs import FILES, Observer, RunDirectory, StopSignal
from dialogauge.studies.replay.comparison import Compared, ReplaySummary, RubricReplaySummary
from dialogauge.studies.replay.items import read_items
from dialogauge.studies.replay.page import brief
from dialogauge.studies.replay.page_parts import card_blocks
from dialogauge.text import counted

S = TypeVar("S", bound=Options)
_MAX_FAILED: Final = 0.05


@dataclass(frozen=True, slots=True)
class Replayed:
    """What the steps of a benchmark came to; None of one that was not asked for, or not reached."""

    selected: Selected | None = None
    collected: StepResult | None = None
    scored: StepResult | None = None
    compared: Compared | None = None
    report: Path | None = None
    """The page of the comparison; None where none was written."""

    @property
    def steps(self) -> tuple[StepResult, ...]:
        """The steps in which somebody is asked."""
        return tuple(step for step in (self.collected, self.scored) if step is not None)

    def outcome(self, options: Options) -> CommandOutcome[Replayed]:
        """Say what came of the command."""
        selected = self.selected
        written = {"item set": None if selected is None else selected.path, "report": self.report}
        faults = [] if selected is None else [*selected.faults]
        faults += (fault for step in self.steps for fault in step.faults)
        return CommandOutcome(
            options=options,
            result=self,
            faults=tuple(dict.fromkeys(faults)),
            notes=() if selected is None else selected.notes,
            ending=self.steps[-1].outcome if self.steps else FINISHED,
            files={what: file for what, file in written.items() if file is not None},
            failed_share=max((step.failed_share for step in self.steps), default=0.0),
            max_failed=_MAX_FAILED,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class ReplayCommand(Command[S, Replayed], Generic[S]):
    """A step of a benchmark, or all of it."""

    step: Callable[[S, StepCall], Coroutine[Any, Any, Replayed]]
    """Does what is asked for."""
    place: str = "out"
    """The setting that names the run."""

    async def run(
        self, options: S, observer: Observer, python: PythonInput = NO_INPUT, stop: StopSignal | None = None
    ) -> CommandOutcome[Replayed]:
        """Do it; the same command again goes on where it stopped."""
        source = None if python.source is None else InputData(python.source, python.ratings)
        return (await self.step(options, StepCall(observer, source, stop))).outcome(options)

    def plan(self, options: S) -> Plan:
        """Say what would be asked: it is done in a copy of the run, which is gone afterwards."""
        run = Path(getattr(options, self.place))
        with TemporaryDirectory() as folder:
            copy = Path(folder) / "run"
            RunDirectory(run).copy_to(copy)
            dry = replace(options, **{self.place: str(copy)})
            parts = asyncio.run(self.step(dry, StepCall(ProgressObserver(quiet=True), dry=True)))
        collected, scored = parts.collected, parts.scored
        counts = {
            "items": 0 if collected is None else collected.items,
            "candidates": 0 if collected is None else len(collected.tallies),
            "replies": 0 if collected is None else collected.done,
            "scores": 0 if scored is None else scored.done,
        }
        asking = [step.asking for step in parts.steps if step.asking is not None]
        return Plan(
            run,
            "" if scored is None else scored.judge,
            counts,
            counts["replies"] + counts["scores"],
            tuple(parts.outcome(dry).faults),
            (),
            asking[0] + asking[1] if len(asking) > 1 else asking[0] if asking else None,
        )

    def words(self, plan: Plan, options: S) -> str:
        """Say how many replies would be collected and scored."""
        counts, parts = plan.counts, []
        if counts["items"]:
            whom = f"{counted(counts['candidates'], 'candidate')}, to {counted(counts['items'], 'item')}"
            parts.append(f"collect {counted(counts['replies'], 'reply', 'replies')} of {whom}")
        if plan.judge:
            parts.append(f"score {counted(counts['scores'], 'reply', 'replies')} by {plan.judge}")
        return f"would {', and '.join(parts)}"


@dataclass(frozen=True, kw_only=True, eq=False)
class BenchmarkCommand(ReplayCommand[BenchmarkOptions], RunCommand[BenchmarkOptions, Replayed]):
    """`replay run`, and how a run of replies is shown."""

    def expect_result(self, outcome: CommandOutcome[Replayed]) -> None:
        """Raise what kept the candidates from being compared."""
        if outcome.ending.ended == "budget":
            msg = "the budget was spent before all candidates could be compared"
            raise BudgetSpent(msg, hint="the same call with a higher max_calls or max_cost goes on")
        if outcome.ending.ended == "finished" and outcome.result.compared is None:
            msg = "the evaluator failed on every original reply, and without a reference nothing is compared"
            raise DialogaugeError(msg, hint="the same call with retry_failed=True asks it again")


async def _select(options: SelectOptions, call: StepCall) -> Replayed:
    return Replayed(select(options, source=call.source))


async def _collect(options: CollectOptions, call: StepCall) -> Replayed:
    return Replayed(collected=await collect(options, call))


async def _score(options: ScoreOptions, call: StepCall) -> Replayed:
    return Replayed(scored=await score(options, call))


async def _compare(options: CompareOptions, call: StepCall) -> Replayed:
    del call
    return Replayed(None, None, None, *compare_runs(options))


async def _run(options: BenchmarkOptions, call: StepCall) -> Replayed:
    """Take the four steps in one directory.

    Without a score of any original reply nothing is compared. An item set that the directory holds already is
    selected again and must be the same.
    """
    out = options.out
    file = Path(out) / FILES["items"]
    earlier = read_items(file) if file.is_file() else None
    into = str(file) if earlier is None else None
    unrated = options.unrated or options.rubric is not None
    selected = select(narrowed(SelectOptions, options, out=into, unrated=unrated), earlier, out, call.source)
    if earlier is not None and selected.items.digest != earlier.digest:
        msg = f"the run {out} is of another item set"
        raise UsageError(msg, hint="choose another directory with -o, or the same data, rule, size and seed")
    # Whoever cannot score shall be refused before candidates are asked, and paid.
    evaluator = build_evaluator(narrowed(ScoreOptions, options, run=out), selected.items, dry=call.dry)
    await evaluator.clients.close()
    asked = narrowed(CollectOptions, options, items=str(file))
    collected = await collect(asked, call)
    if collected.outcome.ended != "finished":
        return Replayed(selected, collected)
    spent = collected.usage
    left = {
        "max_calls": None if options.max_calls is None else max(options.max_calls - spent.calls, 0),
        "max_cost": None if options.max_cost is None else max(options.max_cost - (spent.cost or 0.0), 0.0),
    }
    scored = await score(narrowed(ScoreOptions, options, run=out, **left), call)
    if scored.outcome.ended != "finished" or not scored.comparable:
        return Replayed(selected, collected, scored)
    last = {"runs": (out,), "judge": None, "seed": options.draw_seed, "out": None}
    return Replayed(selected, collected, scored, *compare_runs(narrowed(CompareOptions, options, **last)))


def _view(outcome: CommandOutcome[Replayed]) -> Iterator[Block]:
    """Lay out each step for a terminal: the data card, what became of replies and scores, the comparison."""
    parts = outcome.result
    if parts.selected is not None:
        yield from card_blocks(parts.selected.items)
    if (collected := parts.collected) is not None:
        pairs = []
        for name, tally in collected.tallies.items():
            failed = "".join(f", {n:,} {words.name(kind)}" for kind, n in tally.failures.items())
            replies = counted(tally.requested, "reply", "replies")
            pairs.append((name, f"{tally.replied:,} of {replies}{failed}"))
        yield Definitions((*pairs, *_calls(collected)))
    if (scored := parts.scored) is not None:
        pairs = []
        for name, tally in scored.tallies.items():
            by = "" if pairs else f" by {scored.judge}"
            failed = f", {tally.failed:,} failed" if tally.failed else ""
            pairs.append((name, f"{counted(tally.replied, 'reply', 'replies')} scored{by}{failed}"))
        yield Definitions((*pairs, *_calls(scored)))
    if parts.compared is not None:
        yield from brief(parts.compared)
    elif scored is not None and collected is not None and outcome.ending.ended == "finished":
        yield Callout(("nothing is compared: no original reply has a score (--retry-failed asks again)",))


def _calls(step: StepResult) -> Iterator[tuple[str, str]]:
    """Say what the calls took."""
    usage = step.usage
    if usage.calls or usage.cached:
        yield (
            "calls",
            f"{counted(usage.calls, 'call')}, {usage.cached:,} cached, {usage.prompt_tokens:,} + "
            f"{usage.completion_tokens:,} tokens, cost {words.cost(usage.cost)}",
        )


class ReplayPlanJson(PlanJson):
    """What `replay run` would do."""

    items: int
    candidates: int
    replies: int
    """That models would be asked for."""
    scores: int
    """Replies that would be scored."""


def _overview(judge: str, summary: Mapping[str, Any]) -> Overview:
    """Return the candidates beside what always saying one score would get: of a rubric, by dimension."""
    del judge
    rows: list[Sequence[str]] = []
    for dimension, figures in (summary.get("dimensions") or {"": summary}).items():
        raw = figures["views"]["raw"]
        always = {f"always {score}": of for score, of in raw["ceiling"]["constant"].items()}
        for name, of in {**raw["candidates"], **always}.items():
            mean = with_interval(of["user_macro"], of["user_macro_interval"])
            shown = f"{name}, {dimension.replace('_', ' ')}" if dimension else name
            rows.append((shown, mean, f"{of['n']:,}", f"{of['failed']:,}"))
    return ("replies of", "mean over users", "n", "failed"), rows


def _printed(parts: Replayed) -> dict[str, Any] | None:
    return None if parts.compared is None else parts.compared.to_json()


SELECT: Final = ReplayCommand[SelectOptions](name="replay select", prints=None, step=_select, view=_view)
COLLECT: Final = ReplayCommand[CollectOptions](name="replay collect", prints=None, step=_collect, view=_view)
SCORE: Final = ReplayCommand[ScoreOptions](
    name="replay score", prints=None, step=_score, view=_view, place="run"
)
COMPARE: Final = ReplayCommand[CompareOptions](
    name="replay compare",
    prints=ReplaySummary | RubricReplaySummary,
    printed=_printed,
    step=_compare,
    view=_view,
)
RUN: Final = BenchmarkCommand(
    name="replay",
    prints=ReplaySummary | RubricReplaySummary | None,
    plans=ReplayPlanJson,
    printed=_printed,
    step=_run,
    view=_view,
    page=stored_page,
    overview=_overview,
)
