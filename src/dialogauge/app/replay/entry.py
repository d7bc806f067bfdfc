"""A benchmark of `replay run` in the table of studies: its call from Python, and how its runs are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dialogauge.app.command import NO_INPUT, StudyEntry
from dialogauge.app.outcome import CommandOutcome, PlanJson
from dialogauge.app.replay.compare import ReplaySummary, RubricReplaySummary, stored_page
from dialogauge.app.replay.run_all import Ran, run_benchmark
from dialogauge.app.replay.settings import BenchmarkOptions
from dialogauge.app.shown import Overview, with_interval
from dialogauge.app.sources import PythonInput, input_data
from dialogauge.core import BudgetSpent, DialogaugeError
from dialogauge.runs import Observer, StopSignal


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
        return CommandOutcome(
            options=options, result=ran, faults=ran.faults, notes=ran.notes, ending=ran.outcome
        )


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


async def _prepare(options: BenchmarkOptions, python: PythonInput, *, dry: bool) -> Any:  # noqa: ANN401 - see `run`
    raise NotImplementedError


ENTRY: Final = ReplayEntry(
    name="replay",
    prints=ReplaySummary | RubricReplaySummary | None,
    plans=ReplayPlanJson,
    prepare=_prepare,
    view=lambda outcome: (),
    page=stored_page,
    overview=_overview,
)
