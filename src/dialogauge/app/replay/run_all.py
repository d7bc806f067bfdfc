"""The whole benchmark in one go: select, collect, score, compare."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dialogauge.app.replay.collect import Collected, collect
from dialogauge.app.replay.compare import Compared, compare_runs
from dialogauge.app.replay.evaluators import build_evaluator
from dialogauge.app.replay.score import ScoredAnswers, score
from dialogauge.app.replay.select import Selected, select
from dialogauge.app.replay.settings import (
    BenchmarkOptions,
    CollectOptions,
    CompareOptions,
    ScoreOptions,
    SelectOptions,
)
from dialogauge.app.sources import InputData
from dialogauge.core.errors import InputError, UsageError
from dialogauge.core.settings import narrowed
from dialogauge.runs import FILES, Observer, Outcome, StopSignal
from dialogauge.studies.replay.items import read_items


@dataclass(frozen=True, slots=True)
class Ran:
    """What each part came to; a part that was not reached is None."""

    selected: Selected
    collected: Collected
    scored: ScoredAnswers | None = None
    compared: Compared | None = None

    @property
    def outcome(self) -> Outcome:
        """How the last part that was reached ended."""
        return self.collected.outcome if self.scored is None else self.scored.outcome

    @property
    def faults(self) -> tuple[InputError, ...]:
        """Records, ratings and replies that could not be used."""
        return (*self.selected.faults, *(f for f in self.collected.faults if f not in self.selected.faults))

    @property
    def notes(self) -> tuple[str, ...]:
        """What was recognised and assumed of the input."""
        return self.selected.notes


async def run_benchmark(
    options: BenchmarkOptions,
    observer: Observer,
    source: InputData | None = None,
    stop: StopSignal | None = None,
    *,
    dry: bool = False,
) -> Ran:
    """Run the four parts in one directory; the same command again goes on where it stopped.

    Args:
        options: What is asked for.
        observer: Who is told.
        source: Read in place of what `inputs` and `ratings_file` of the options name.
        stop: Ends the run early when it is requested.
        dry: Ask nobody, make up what candidates would say, and count what would be asked.

    Without a score of any original reply nothing is compared. An item set that the directory holds already is
    selected again and must be the same.
    """
    out = options.out
    file = Path(out) / FILES["items"]
    earlier = read_items(file) if file.is_file() else None
    selected = select(
        narrowed(
            SelectOptions,
            options,
            out=str(file) if earlier is None else None,
            unrated=options.unrated or options.rubric is not None,
        ),
        earlier,
        out,
        source,
    )
    if earlier is not None and selected.items.digest != earlier.digest:
        msg = f"the run {out} is of another item set"
        raise UsageError(msg, hint="choose another directory with -o, or the same data, rule, size and seed")
    # Whoever cannot score shall be refused before candidates are asked, and paid.
    evaluator = build_evaluator(narrowed(ScoreOptions, options, run=out), selected.items, dry=dry)
    await evaluator.close()
    asked = narrowed(CollectOptions, options, items=str(file))
    collected = await collect(asked, observer, source, stop, dry=dry)
    if collected.outcome.ended != "finished":
        return Ran(selected, collected)
    spent = collected.usage
    left = {
        "max_calls": None if options.max_calls is None else max(options.max_calls - spent.calls, 0),
        "max_cost": None if options.max_cost is None else max(options.max_cost - (spent.cost or 0.0), 0.0),
    }
    scored = await score(narrowed(ScoreOptions, options, run=out, **left), observer, source, stop, dry=dry)
    if scored.outcome.ended != "finished" or not scored.comparable:
        return Ran(selected, collected, scored)
    last = {"runs": (out,), "judge": None, "seed": options.draw_seed, "out": None}
    compared = compare_runs(narrowed(CompareOptions, options, **last))
    return Ran(selected, collected, scored, compared)
