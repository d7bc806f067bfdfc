"""`learn compare`: runs beside each other, a judge's error taken out, published tables made anew."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from typing import Final

from dialogauge.app.command import Measurement
from dialogauge.app.learn.settings import LearnCompareOptions
from dialogauge.app.outcome import CommandOutcome
from dialogauge.app.sources import PythonInput, is_run
from dialogauge.core import UsageError
from dialogauge.core.files import shown_path
from dialogauge.report import Block
from dialogauge.runs import StoredRun, open_run
from dialogauge.studies.learning.figures import LearnResult, compared_result
from dialogauge.studies.learning.judged import JudgedAccuracy, judged_accuracy, judged_blocks
from dialogauge.studies.learning.page import ComparedSystems, learn_blocks
from dialogauge.studies.learning.published import PublishedTables, published_blocks, read_published

Compared = ComparedSystems | JudgedAccuracy | PublishedTables


def _compare(options: LearnCompareOptions, python: PythonInput) -> CommandOutcome[Compared]:
    """Lay runs beside each other, correct what a judge says of one, or make published tables anew.

    Raises UsageError for files beside runs, and for runs of which nothing compares.
    """
    del python
    files = [path for path in options.sources if not is_run(path)]
    if files and len(options.sources) > 1:
        msg = f"{shown_path(files[0])} is no run, and stands beside {len(options.sources) - 1} more"
        raise UsageError(msg, hint="figures by other references are in no table with these: give it alone")
    if files:
        return CommandOutcome(options=options, result=read_published(files[0]))
    with ExitStack() as stack:
        runs, judged = dict[str, StoredRun](), list[StoredRun]()
        for path in options.sources:
            run = stack.enter_context(open_run(path, studies=("learn", "judge")))
            if run.manifest.study == "judge":
                judged.append(run)
            else:
                runs[shown_path(path)] = run
        if not runs and len(judged) == 1:
            return CommandOutcome(options=options, result=judged_accuracy(judged[0]))
        if not runs:
            msg = "several runs of judges, and no run of answers"
            raise UsageError(msg, hint="give the run that `learn run` wrote, too")
        return CommandOutcome(options=options, result=ComparedSystems(compared_result(runs, judged)))


def _compared(outcome: CommandOutcome[Compared]) -> Iterable[Block]:
    result = outcome.result
    if isinstance(result, JudgedAccuracy):
        return judged_blocks(result)
    return published_blocks(result) if isinstance(result, PublishedTables) else learn_blocks(result.result)


COMPARE: Final[Measurement[LearnCompareOptions, Compared]] = Measurement(
    name="compare", prints=LearnResult | JudgedAccuracy | PublishedTables, measure=_compare, view=_compared
)
