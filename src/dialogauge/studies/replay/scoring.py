"""What all studies have in common that score the replies of a replay run.

A study keeps what one evaluator gives the original replies, and then what is there of every candidate's, a
unit for each reply. The unit names that of the reply: one that is made anew is scored anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from dialogauge.core import DimensionSpec
from dialogauge.runs import Ending, Row, RunDatabase, StoredRun, Study, StudyFacts
from dialogauge.studies.replay.items import Stage
from dialogauge.studies.replay.planted import PLANTED
from dialogauge.studies.replay.stored import REPLAY, ReplayRun, StoredReplies, shown_key

ORIGINAL_REPLY: Final = None
"""Stands for the candidate in rows that score original replies."""
SHOWN: Final = 20
"""Items whose replies the page shows side by side."""


@dataclass(frozen=True, slots=True)
class ScoreCounts:
    """How many replies an evaluator scored."""

    original: tuple[int, int] | None
    """Original replies that have a score, and those that the evaluator failed on; None where they are what
    the others are compared with."""
    candidates: Mapping[str, tuple[int, int]]
    """By candidate: replies scored, and replies that the evaluator failed on."""

    @property
    def counts(self) -> dict[str, tuple[int, int]]:
        """All of them, by name."""
        return {**({} if self.original is None else {"original": self.original}), **self.candidates}

    @property
    def comparable(self) -> bool:
        """Whether there is a score to compare with."""
        return any(n for n, _ in self.candidates.values()) if self.original is None else self.original[0] > 0

    def to_json(self) -> dict[str, Any]:
        """Write the counts."""
        counts = {name: {"scored": n, "failed": failed} for name, (n, failed) in self.candidates.items()}
        scored, failed = self.original or (None, None)
        return {"original": scored, "original_failed": failed, "candidates": counts}


@dataclass
class ScoringStudy(Study[ScoreCounts]):
    """Scores the original replies and every candidate's; see `runs.Study` for the parts.

    A kind of evaluator says its `judge_digest`, plans and runs the units, and describes itself.
    """

    stage: Stage
    about: Mapping[str, Any]
    """What a comparison says of the evaluator."""

    name = REPLAY
    part_of_run = True
    even: ClassVar[float | None] = None
    """What a reply gets that is as good as the original one; None where that is scored itself."""

    def __post_init__(self) -> None:
        """Know no reply before the run is opened."""
        self._replies: dict[str, StoredReplies] = {}
        self._run: ReplayRun

    @property
    def dimensions(self) -> tuple[DimensionSpec, ...]:
        """What the evaluator scores."""
        raise NotImplementedError

    def described(self) -> dict[str, Any]:
        """Return what the judge says of itself."""
        raise NotImplementedError

    @property
    def judge_name(self) -> str:
        """The judge's."""
        raise NotImplementedError

    def apart(self, row: Row) -> float | None:
        """Return by what scores of one item are called near or far; None where a row has none."""
        raise NotImplementedError

    def opened(self, database: RunDatabase) -> None:
        """Look up the replies, and enter the evaluator; the latest stands last."""
        self._run = run = ReplayRun(database)
        run.keep_states(self.stage)
        self._replies = {name: run.replies(name) for name in run.candidates}
        known = run.evaluators
        judge = known.pop(self.judge_digest, {}).get("judge") or self.described()
        known[self.judge_digest] = {**self.about, "judge": judge}
        database.put_meta("evaluators", known)
        database.put_meta("present", [item.id for item in self.stage.items])

    def summarise(self, rows: Iterator[Row], run: StoredRun, ending: Ending) -> ScoreCounts:
        """Count what is scored, and choose what the page shows of it."""
        del ending
        counts: Counter[tuple[str | None, bool]] = Counter()
        values: dict[str, dict[str | None, float]] = {item.id: {} for item in self.stage.items}
        for row in rows:
            counts[row.get("candidate"), "failure" in row] += 1
            if row["item"] in values and (value := self.apart(row)) is not None:
                values[row["item"]][row.get("candidate")] = value
        run.database.put_meta(shown_key(self.judge_digest), self._shown(values))

        def of(name: str | None) -> tuple[int, int]:
            return counts[name, False], counts[name, True]

        original = of(ORIGINAL_REPLY) if self.even is None else None
        return ScoreCounts(original, {name: of(name) for name in self._replies})

    def _shown(self, values: Mapping[str, Mapping[str | None, float]]) -> list[dict[str, str]]:
        """Choose the items on which candidates' scores lie furthest from the original's."""
        models = [name for name, about in self._run.candidates.items() if about["kind"] != PLANTED]

        def apart(item: str) -> float:
            of = values[item]
            original = of.get(ORIGINAL_REPLY, self.even)
            if original is None:
                return 0.0
            return max((abs(of[name] - original) for name in models if name in of), default=0.0)

        chosen = sorted(values, key=apart, reverse=True)[:SHOWN]
        replies = ((item, self.stage.originals[item]) for item in chosen)
        return [{"item": item, "request": r.request, "original": r.text} for item, r in replies]

    def facts(self) -> StudyFacts:
        """Return judge and dimensions."""
        return StudyFacts(
            judge={**self.described(), "name": self.judge_name, "digest": self.judge_digest},
            dimensions=self.dimensions,
            data=self._run.items_digest,
            conversations=len({item.conversation for item in self.stage.items}),
            more={"part": "scores"},
        )
