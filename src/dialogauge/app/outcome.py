"""What comes of a command that runs a study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from dialogauge.core.errors import InputError
from dialogauge.llm import Expected
from dialogauge.runs import Outcome, StudyRun
from dialogauge.runs.study import StudyResult

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
    """What it would ask a model for; None where none is asked, or where it was not estimated."""


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
