"""The run directory of a satisfaction study: the same files as of any run, with figures and controls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dialogauge.app.reporting import write_report
from dialogauge.app.results import shown_role
from dialogauge.app.runs import FinishedRun
from dialogauge.app.satisfaction_options import SatisfactionOptions
from dialogauge.app.satisfaction_turns import KEPT
from dialogauge.app.sources import is_run
from dialogauge.app.versions import versions
from dialogauge.bench.judging import Summary, summarise
from dialogauge.bench.satisfaction import Evaluation, Study, drift_of
from dialogauge.core.conversation import Conversation
from dialogauge.core.digests import conversation_digest, digest
from dialogauge.core.errors import InputError
from dialogauge.core.judgement import Judged
from dialogauge.core.work import UnitResult, WorkUnit
from dialogauge.engine import Outcome
from dialogauge.judge.history import TurnDimension
from dialogauge.judge.personal import PersonalJudge, TurnJudge
from dialogauge.store import RunDatabase, RunDirectory
from dialogauge.store.database import PLANNED
from dialogauge.store.json_lines import json_line

__all__ = ["RunWriter", "run_directory", "summary_json"]

_STUDY = "satisfaction"
_FAULTS_KEPT = 1000


def run_directory(options: SatisfactionOptions) -> RunDirectory:
    """Return the directory that was asked for; else one that is named after the input and the judge."""
    if options.out is not None:
        return RunDirectory(Path(options.out))
    first = Path(options.inputs[0])
    name = "stdin" if str(first) == "-" else first.resolve().name.split(".")[0] or "run"
    beside = first.parent if is_run(str(first)) else Path("runs")
    return RunDirectory(beside / f"{name}-{options.judge}")


@dataclass(frozen=True, slots=True)
class RunWriter:
    """Writing the run directory."""

    options: SatisfactionOptions
    judge: PersonalJudge | TurnJudge
    study: Study
    evaluation: Evaluation
    unreadable: tuple[InputError, ...]
    """Records that are no conversations."""
    rating_faults: tuple[InputError, ...]
    """Ratings that cannot be used."""
    ended: Outcome
    pending: int
    """Turns that are not judged yet."""
    signals: Sequence[Mapping[str, Any]]
    """What was there of each signal, and its weight."""

    def write(
        self,
        directory: RunDirectory,
        database: RunDatabase,
        conversations: Mapping[str, Conversation],
        results: Mapping[str, list[Judged]],
    ) -> Summary:
        """Store the rows, and write every file of the run.

        Args:
            directory: Of the run, held for writing.
            database: Its file.
            conversations: By id, as they were read, with their ratings.
            results: By conversation, its rows in order.

        Raises:
            StoreError: A file cannot be written.
        """
        name, judge_digest = self.judge.name, self._digest()
        shown: list[str] = []
        for position, (id, rows) in enumerate(results.items(), 1):
            conversation = conversations[id]
            target = conversation_digest(conversation)
            unit = WorkUnit(_STUDY, conversation, target, judge_digest, 1, self.options.seed)
            database.add(unit, position, UnitResult(unit.key, 1, tuple(rows)), name)
            shown.append(unit.key)
        database.flush()
        database.put_meta(PLANNED, shown)  # what a conversation was before it changed stays stored, unseen
        manifest = self._manifest(judge_digest, len(results))
        run = FinishedRun(directory, database, manifest)
        directory.write_lines("judgements", _lines(run))
        summary = summarise(
            run.rows(),
            dimensions=run.dimensions,
            unreadable=[str(f) for f in self.unreadable],
            pending=self._unfinished(results),
            repeats=1,
        )
        told = summary_json(summary, self.study, self.evaluation, self.rating_faults, self.signals)
        directory.write_json("summary", told)
        directory.write_json("manifest", manifest)
        kept = database.all_meta(KEPT)
        if kept:
            lines = ({"key": key.removeprefix(KEPT), "value": value} for key, value in kept.items())
            directory.write_lines("kept", (json_line(line) for line in lines))
        write_report(run, summary, None)
        return summary

    def _unfinished(self, results: Mapping[str, list[Judged]]) -> int:
        """Count the conversations of which no turn is judged yet."""
        asked = {reply.conversation.id for block in self.study.blocks for reply in block.view.targets}
        return len(asked - results.keys())

    def _digest(self) -> str:
        """Changes with the judge, the calibration, and everything that is known of any user."""
        o, study = self.options, self.study
        known = [[r.reply.id, r.score] for b in study.population.blocks for r in b.ratings]
        past = [[b.view.id, [[r.reply.id, r.score] for r in b.view.history]] for b in study.blocks]
        reference = [[a.id, a.value] for a in self.evaluation.settings.reference or ()]
        how = [o.calibrate, o.ties, o.history, o.mode, reference]
        return digest([self.judge.digest, *how, known, past])

    def _manifest(self, judge_digest: str, conversations: int) -> dict[str, Any]:
        """Write what the run was made from, with the keys of every run's manifest."""
        settings = {k: v for k, v in asdict(self.options).items() if k != "command"}
        settings |= {"rubric": _STUDY, "repeats": 1}
        settings["roles"] = {role: shown_role(found) for role, found in self.options.roles.items()}
        description = dict(self.judge.describe())
        dimension = TurnDimension()
        return {
            "versions": versions(),
            "written": datetime.now(UTC).isoformat(timespec="seconds"),
            "settings": settings,
            "command": self.options.command,
            "seed": self.options.seed,
            "judge": {
                **description,
                "name": self.judge.name,
                "digest": judge_digest,
                "reads": sorted(self.judge.reads),
            },
            "dimensions": [
                {"name": dimension.name, "level": dimension.level, "scale": asdict(dimension.scale)}
            ],
            "shows_scenario": False,
            "scenario_rules": [],
            "digests": {"prompts": description.get("prompts"), "data": judge_digest},
            "conversations": conversations,
            "pending_units": self.pending,
            "ended": self.ended.ended,
            "error": None if self.ended.error is None else str(self.ended.error),
            "unreadable": len(self.unreadable),
            "unreadable_records": [str(f) for f in self.unreadable[:_FAULTS_KEPT]],
            "rating_faults": [str(f) for f in self.rating_faults[:_FAULTS_KEPT]],
            "split": {name: sorted(getattr(self.study.split, name)) for name in ("train", "test")},
        }


def _lines(run: FinishedRun) -> Iterator[bytes]:
    return (json_line(row) for row in run.rows())


def summary_json(
    summary: Summary,
    study: Study,
    evaluation: Evaluation,
    rating_faults: Sequence[InputError],
    signals: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """Write the summary of the rows, what the study was made of, and its figures and controls."""
    known = [b for b in study.blocks if b.view.history]
    lonely = [b for b in study.blocks if not b.view.history]
    told = {
        "users": len({b.view.user for b in known}),
        "blocks": len(known),
        "turns": sum(len(b.view.targets) for b in known),
        "population": {
            "users": len({b.view.user for b in study.others.blocks}),
            "turns": len(study.others.scores),
        },
        "without_history": {
            "users": len({b.view.user for b in lonely}),
            "turns": sum(len(b.view.targets) for b in lonely),
        },
        "left_out": dict(study.left_out),
        "rating_faults": len(rating_faults),
    }
    s = evaluation.settings
    drift = drift_of(study.blocks, study.population, draws=s.draws, seed=s.seed)
    figures = {**evaluation.to_json(), "drift": drift.to_json()}
    return {**summary.to_json(), "study": told, "signals": list(signals), **figures, "gates": []}
