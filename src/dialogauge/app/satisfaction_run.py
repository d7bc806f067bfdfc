"""The run directory of a satisfaction study: the same files as of any run, with figures and controls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dialogauge.app.privacy import OPEN, mask_for_writing
from dialogauge.app.reporting import write_report
from dialogauge.app.runs import FinishedRun
from dialogauge.app.satisfaction_options import SatisfactionOptions
from dialogauge.app.sources import is_run
from dialogauge.app.versions import versions
from dialogauge.bench.judging import Summary, summarise
from dialogauge.bench.satisfaction import Evaluation, Study, drift_of
from dialogauge.core.conversation import Conversation
from dialogauge.core.digests import conversation_digest, digest
from dialogauge.core.errors import InputError
from dialogauge.core.judgement import Judged
from dialogauge.core.work import UnitResult, WorkUnit
from dialogauge.judge.history import TurnDimension
from dialogauge.judge.personal import PersonalJudge
from dialogauge.store import RunDatabase, RunDirectory
from dialogauge.store.database import PLANNED
from dialogauge.store.json_lines import json_line

__all__ = ["RunWriter", "summary_json"]

_STUDY = "satisfaction"
_FAULTS_KEPT = 1000


@dataclass(frozen=True, slots=True)
class RunWriter:
    """Writing the run directory."""

    options: SatisfactionOptions
    judge: PersonalJudge
    study: Study
    evaluation: Evaluation
    faults: tuple[InputError, ...]

    def write(
        self, conversations: Mapping[str, Conversation], results: Mapping[str, list[Judged]]
    ) -> tuple[RunDirectory, Summary]:
        """Store the rows, and write every file of the run.

        Args:
            conversations: By id, as they were read, with their ratings.
            results: By conversation, its rows in order.

        Raises:
            StoreError: The directory cannot be written, or another process holds it.
        """
        directory = RunDirectory(self._directory())
        try:
            database = directory.open_for_writing()
            try:
                return directory, self._store(directory, database, conversations, results)
            finally:
                database.close()
        finally:
            directory.release()

    def _directory(self) -> Path:
        if self.options.out is not None:
            return Path(self.options.out)
        first = Path(self.options.inputs[0])
        name = "stdin" if str(first) == "-" else first.resolve().name.split(".")[0] or "run"
        beside = first.parent if is_run(str(first)) else Path("runs")
        return beside / f"{name}-{self.options.judge}"

    def _store(
        self,
        directory: RunDirectory,
        database: RunDatabase,
        conversations: Mapping[str, Conversation],
        results: Mapping[str, list[Judged]],
    ) -> Summary:
        mask_for_writing(database, OPEN)
        name, judge_digest = self.judge.name, self._digest()
        for position, (id, rows) in enumerate(results.items(), 1):
            conversation = conversations[id]
            target = conversation_digest(conversation)
            unit = WorkUnit(_STUDY, conversation, target, judge_digest, 1, self.options.seed)
            database.add(unit, position, UnitResult(unit.key, 1, tuple(rows)), name)
        database.flush()
        database.put_meta(PLANNED, None)
        manifest = self._manifest(judge_digest, len(results))
        run = FinishedRun(directory, database, manifest)
        directory.write_lines("judgements", _lines(run))
        summary = summarise(
            run.rows(),
            dimensions=run.dimensions,
            unreadable=[str(f) for f in self.faults],
            repeats=1,
        )
        directory.write_json("summary", summary_json(summary, self.study, self.evaluation))
        directory.write_json("manifest", manifest)
        write_report(run, summary, None)
        return summary

    def _digest(self) -> str:
        """Changes with the judge, the calibration, and everything that is known of any user."""
        o, study = self.options, self.study
        known = [[r.reply.id, r.score] for b in study.population.blocks for r in b.ratings]
        past = [[b.view.id, [[r.reply.id, r.score] for r in b.view.history]] for b in study.blocks]
        return digest([self.judge.digest, o.calibrate, o.ties, o.history, o.mode, known, past])

    def _manifest(self, judge_digest: str, conversations: int) -> dict[str, Any]:
        """Write what the run was made from, with the keys of every run's manifest."""
        settings = {k: v for k, v in asdict(self.options).items() if k != "command"}
        settings |= {"rubric": _STUDY, "repeats": 1}
        dimension = TurnDimension()
        return {
            "versions": versions(),
            "written": datetime.now(UTC).isoformat(timespec="seconds"),
            "settings": settings,
            "command": self.options.command,
            "seed": self.options.seed,
            "judge": {"name": self.judge.name, "digest": judge_digest, **self.judge.describe()},
            "dimensions": [
                {"name": dimension.name, "level": dimension.level, "scale": asdict(dimension.scale)}
            ],
            "shows_scenario": False,
            "scenario_rules": [],
            "digests": {"prompts": None, "data": judge_digest},
            "conversations": conversations,
            "pending_units": 0,
            "ended": "finished",
            "error": None,
            "unreadable": len(self.faults),
            "unreadable_records": [str(f) for f in self.faults[:_FAULTS_KEPT]],
            "split": {name: sorted(getattr(self.study.split, name)) for name in ("train", "test")},
        }


def _lines(run: FinishedRun) -> Iterator[bytes]:
    return (json_line(row) for row in run.rows())


def summary_json(summary: Summary, study: Study, evaluation: Evaluation) -> dict[str, Any]:
    """Write the summary of the rows, what the study was made of, and its figures and controls."""
    known = [b for b in study.blocks if b.view.history]
    lonely = [b for b in study.blocks if not b.view.history]
    told = {
        "users": len({b.view.user for b in known}),
        "blocks": len(known),
        "turns": sum(len(b.view.targets) for b in known),
        "population": {
            "users": len({b.view.user for b in study.population.blocks}),
            "turns": len(study.population.scores),
        },
        "without_history": {
            "users": len({b.view.user for b in lonely}),
            "turns": sum(len(b.view.targets) for b in lonely),
        },
        "left_out": dict(study.left_out),
    }
    s = evaluation.settings
    drift = drift_of(study.blocks, study.population, draws=s.draws, seed=s.seed)
    figures = {**evaluation.to_json(), "drift": drift.to_json()}
    return {**summary.to_json(), "study": told, **figures, "gates": []}
