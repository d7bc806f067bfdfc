"""A benchmark of `replay run` in the table of studies: its call from Python, and how its runs are shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from dialogauge.app.columns import ExportColumns, JudgementColumns, VoteColumns
from dialogauge.app.command import NO_INPUT, StudyEntry
from dialogauge.app.outcome import CommandOutcome, PlanJson
from dialogauge.app.printed.replaying import ReplayJson, RubricReplayJson
from dialogauge.app.replay.compare import stored_page
from dialogauge.app.replay.run_all import Ran, run_benchmark
from dialogauge.app.replay.settings import BenchmarkOptions
from dialogauge.app.shown import Overview, with_interval
from dialogauge.app.sources import PythonInput, input_data
from dialogauge.core import BudgetSpent, Conversation, DialogaugeError
from dialogauge.report import Block, Page
from dialogauge.runs import Observer, Row, StopSignal, StoredRun
from dialogauge.studies.replay.shown import show_states
from dialogauge.studies.replay.states import ReplayStates, replay_rows


class ReplayPlanJson(PlanJson):
    """What `replay run` would do."""

    items: int
    candidates: int
    replies: int
    """That models would be asked for."""
    scores: int
    """Replies that would be scored."""


class ReplayEntry(StudyEntry[BenchmarkOptions, Any, Any]):
    """`replay run`: candidates in frozen states of conversations."""

    name = "replay"
    prints = ReplayJson | RubricReplayJson | None
    plans = ReplayPlanJson

    async def run(
        self,
        options: BenchmarkOptions,
        observer: Observer,
        python: PythonInput = NO_INPUT,
        stop: StopSignal | None = None,
    ) -> CommandOutcome[Ran]:
        """Run a benchmark to its comparison."""
        ran = await run_benchmark(options, observer, input_data(options, python), stop)
        if ran.outcome.ended == "budget":
            msg = "the budget was spent before all candidates could be compared"
            raise BudgetSpent(msg, hint="the same call with a higher max_calls or max_cost goes on")
        if ran.outcome.ended == "finished" and ran.compared is None:
            msg = "the evaluator failed on every original reply, and without a reference nothing is compared"
            raise DialogaugeError(msg, hint="the same call with retry_failed=True asks it again")
        return CommandOutcome(result=ran, faults=ran.faults, notes=ran.notes, ending=ran.outcome)

    def page(self, run: StoredRun) -> Page:
        """Return the page of a finished run."""
        return stored_page(run)

    def shown(self, run: StoredRun, id: str, turn: int | None) -> tuple[Block, ...]:
        """Return what came before a reply, and every reply with its scores."""
        return show_states(run, id, turn)

    def rows(self, run: StoredRun) -> Iterator[Row]:
        """Yield one for every reply, or pair."""
        return replay_rows(run)

    def conversations(self, run: StoredRun) -> Iterable[Conversation]:
        """Return one for each reply, under its item's id and with its `candidate`."""
        return [talk for state in ReplayStates.of(run) for talk in state.conversations()]

    def columns(self, run: StoredRun) -> ExportColumns:
        """Return the columns of votes, or of judgements of replies."""
        states = ReplayStates.of(run)
        names = [name for name, _, _ in states.dimensions]
        return VoteColumns(of_turns=True) if states.by_pairs else JudgementColumns(names, of_replies=True)

    def overview(self, judge: str, summary: Mapping[str, Any]) -> Overview:
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


ENTRY: Final = ReplayEntry()
