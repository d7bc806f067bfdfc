"""What comes of a command that runs a study."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from dialogauge.app.build import BuiltJudge
from dialogauge.core import WorkUnit
from dialogauge.core.errors import InputError
from dialogauge.data import Mask
from dialogauge.llm import Expected
from dialogauge.runs import Outcome, RunSettings, StudyRun, units_left
from dialogauge.runs.study import Study, StudyResult

R = TypeVar("R", bound=StudyResult)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run would do: the answer to `--dry-run`."""

    directory: Path
    judge: str
    counts: Mapping[str, int]
    """What there is to judge, by what it is: `conversations`, `units`, `turns`."""
    left: int
    """So many of the last the run does not hold yet."""
    faults: tuple[InputError, ...]
    notes: tuple[str, ...]
    asking: Expected | None = None
    """What it would ask models for; None where none is asked."""


def units_to_do(study: Study[R], settings: RunSettings, built: BuiltJudge) -> tuple[int, int, Mask | None]:
    """Return how many units a run would plan and how many are left, and the mask that it would put on.

    Of a judge with dry clients each unit that is left is done, which asks nothing and counts. At the end the
    judge is closed.
    """
    with asyncio.Runner() as runner:

        def count(unit: WorkUnit) -> None:
            if built.counted() is not None:
                runner.run(study.run(unit))

        try:
            return units_left(study, settings, count)
        finally:
            runner.run(built.close())


@dataclass(frozen=True)
class StudyOutcome(Generic[R]):
    """A study that was run, and what is to be said of its input."""

    run: StudyRun[R]
    faults: tuple[InputError, ...] = ()
    """Records, files and ratings that could not be used."""
    notes: tuple[str, ...] = ()
    """What was recognised and assumed of the input."""

    @property
    def outcome(self) -> Outcome:
        """How the run ended."""
        return self.run.ending.outcome

    @property
    def exit_code(self) -> int:
        """130 after an interrupt, 1 after an error or with faults, else 0."""
        return self.outcome.exit_code(self.faults)
