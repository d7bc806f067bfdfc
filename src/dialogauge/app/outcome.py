"""What a command would do, and what came of it: the same records for command line, library and tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NotRequired, TypedDict, TypeVar

from dialogauge.core.errors import InputError
from dialogauge.core.files import shown_path
from dialogauge.core.values import Value
from dialogauge.llm import Expected
from dialogauge.runs import Outcome, StudyRun
from dialogauge.runs.study import StudyResult

if TYPE_CHECKING:
    from dialogauge.studies.judging.gate import GateResult

R = TypeVar("R")
T = TypeVar("T", bound=StudyResult)

FINISHED = Outcome("finished")


class PlanJson(TypedDict):
    """What a command would do."""

    run: str
    """The run directory."""
    judge: str
    left: int
    """Of what there is, so much the run does not hold yet."""
    asking: NotRequired[Expected]
    faults: list[str]


class UnitsPlanJson(PlanJson):
    """What a study would do."""

    units: int
    """Those that its data plans, finished or not."""


class Plan(Value):
    """What a command would do: the answer to `--dry-run`."""

    directory: Path | None
    """Of the run; None for a command that makes none."""
    judge: str
    counts: Mapping[str, int]
    """What there is to do, by what it is: `conversations`, `units`, `turns`."""
    left: int
    """So many of the last the run does not hold yet."""
    faults: tuple[InputError, ...]
    notes: tuple[str, ...]
    asking: Expected | None = None
    """What it would ask models for; None where none is asked."""

    def to_json(self) -> dict[str, Any]:
        """Return what `--dry-run --json` prints."""
        asking = {} if self.asking is None else {"asking": asdict(self.asking)}
        if self.directory is None:
            return {**self.counts, **asking}
        whole = {"run": shown_path(self.directory), "judge": self.judge, **self.counts, "left": self.left}
        return {**whole, **asking, "faults": [str(fault) for fault in self.faults]}


@dataclass(frozen=True, kw_only=True, repr=False)  # asyncio writes a task's result out: this one is large
class CommandOutcome(Generic[R]):
    """What came of a command."""

    options: Any
    """What was asked for."""
    result: R
    faults: Sequence[InputError] = ()
    """Records, files and ratings that could not be used."""
    notes: Sequence[str] = ()
    """What was recognised and assumed of the input."""
    ending: Outcome = FINISHED
    files: Mapping[str, Path] = field(default_factory=dict)
    """What was written, by what it is: `report`."""
    failed_share: float = 0.0
    """Share of what was asked for that failed."""
    max_failed: float = 1.0
    """The largest share with which all is well."""
    gates: Sequence[GateResult] = ()
    run: StudyRun[Any] | None = None
    """The run that was made; None for a command that makes none."""

    @property
    def exit_code(self) -> int:
        """130 or 1, 3, 2, 100: interrupted, error or faults; too many failures; a gate refused; not met."""
        if code := self.ending.exit_code(self.faults):
            return code
        if self.failed_share > self.max_failed:
            return 3
        if any(gate.refused for gate in self.gates):
            return 2
        return 0 if all(gate.met for gate in self.gates) else 100
