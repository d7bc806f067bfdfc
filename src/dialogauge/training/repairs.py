"""The repair study: weak replies in, a better one of a model for each out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from dialogauge.core import Usage, WorkUnit, digest
from dialogauge.llm import ChatClient, ChatFailure, client_identity
from dialogauge.runs import Ending, Row, StoredRun, Study
from dialogauge.text import detect_language
from dialogauge.training.pairs import Fork, Repaired, repair

REPAIR: Final = "repair"


@dataclass(frozen=True, slots=True)
class BetterReply:
    """What a model wrote in place of a weak reply, or why it wrote nothing of use."""

    outcome: Repaired

    @property
    def failed(self) -> bool:
        """Whether there is no better reply."""
        return isinstance(self.outcome, ChatFailure)

    @property
    def usage(self) -> Usage:
        """What asking took."""
        return self.outcome.usage

    def to_row(self, unit: WorkUnit) -> dict[str, Any]:
        """Write it as a row: the unit, and the reply or the kind of failure."""
        if isinstance(self.outcome, ChatFailure):
            return {"unit": unit.key, "reply": None, "failure": self.outcome.kind}
        return {"unit": unit.key, "reply": self.outcome.value, "failure": None}


@dataclass(frozen=True, slots=True)
class Repairs:
    """What came of a study."""

    rows: Mapping[str, Row]
    """By unit; without those that were not asked."""

    def to_json(self) -> dict[str, Any]:
        """Return the rows."""
        return dict(self.rows)


@dataclass
class RepairStudy(Study[Repairs]):
    """Asks a model for a better reply at each fork; see `runs.Study` for the parts."""

    client: ChatClient
    forks: Sequence[Fork]
    _by_key: dict[str, Fork] = field(default_factory=dict)

    name = REPAIR
    part_of_run = True

    @property
    def judge_digest(self) -> str:
        """That of the model."""
        return digest([REPAIR, dict(client_identity(self.client))])

    @property
    def expected(self) -> int:
        """One unit for each fork."""
        return len(self.forks)

    def plan(self) -> Sequence[WorkUnit]:
        """Return a unit for each fork."""
        return [self.unit(fork, place) for place, fork in enumerate(self.forks, start=1)]

    def unit(self, fork: Fork, place: int = 0) -> WorkUnit:
        """Return the unit of a fork."""
        target = digest([list(fork.prompt), fork.rejected, list(fork.issues)])
        unit = WorkUnit(REPAIR, None, target, self.judge_digest, judge=self.client.name, position=place)
        self._by_key[unit.key] = fork
        return unit

    async def run(self, unit: WorkUnit) -> tuple[BetterReply, ...]:
        """Ask for one reply."""
        fork = self._by_key[unit.key]
        language = "zh" if detect_language(fork.rejected) == "zh" else "en"
        return (BetterReply(await repair(self.client, fork, language=language)),)

    def summarise(self, rows: Iterator[Row], run: StoredRun, ending: Ending) -> Repairs:
        """Return the rows by unit."""
        del run, ending
        return Repairs({row["unit"]: row for row in rows})
