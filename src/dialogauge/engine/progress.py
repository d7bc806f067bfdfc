"""What a run has done so far: plain counts that a terminal or a page can show."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from dialogauge.core.judgement import Usage
from dialogauge.core.work import UnitResult

__all__ = ["Progress"]


_NOTHING = Usage()


@dataclass
class Progress:
    """Counts of one run, updated by the engine and read by whoever shows them."""

    total: int | None = None
    """Units that the input plans, once it has been read to its end."""
    expected: int | None = None
    """Units that the input was found to hold, when it was counted ahead."""
    planned: int = 0
    """Units seen in the input so far."""
    resumed: int = 0
    """Units that an earlier run had finished."""
    done: int = 0
    """Units finished by this run, failed ones included."""
    failed: int = 0
    """Units of this run with at least one failed target."""
    in_flight: int = 0
    usage: Usage = field(default_factory=Usage)
    clock: Callable[[], float] = time.monotonic
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()

    def took(self, result: UnitResult) -> None:
        """Count a finished unit."""
        self.done += 1
        self.failed += result.failed
        for row in result.rows:
            if row.usage != _NOTHING:
                self.usage = self.usage + row.usage

    @property
    def elapsed_s(self) -> float:
        """Seconds since the run began."""
        return self.clock() - self.started

    @property
    def rate(self) -> float:
        """Units a second, of this run."""
        return self.done / self.elapsed_s if self.elapsed_s > 0 else 0.0

    @property
    def remaining_s(self) -> float | None:
        """Seconds left at the present rate; None while the total is unknown."""
        total = self.total if self.total is not None else self.expected
        if total is None or self.rate == 0:
            return None
        return max(0, total - self.resumed - self.done) / self.rate
