"""What a run leaves behind: judgements, summary, report, manifest, and the exit code they come to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from dialogauge.app.config import RoleSettings
from dialogauge.app.planning import Planner
from dialogauge.app.report import write_report
from dialogauge.app.runs import FinishedRun
from dialogauge.app.settings import JudgeOptions
from dialogauge.app.trust_look import kept_from, look_into, rubric_facts
from dialogauge.app.versions import versions
from dialogauge.core.errors import InputError
from dialogauge.core.protocols import Judge
from dialogauge.core.unit import digest, digest_text
from dialogauge.data import RatingTable
from dialogauge.llm.transport import Endpoint
from dialogauge.report import ReportView
from dialogauge.runs import Outcome, RunDatabase, RunDirectory
from dialogauge.runs.records import json_line
from dialogauge.runs.store import PLANNED
from dialogauge.studies.judging import GateResult, Summary, parse_gate, summarise
from dialogauge.studies.trust import Trust, TrustTally

_FAULTS_KEPT = 1000
# Under this name the database keeps the digest of what was asked for: judge, input, repeats, seed.
_COMMAND = "command"


@dataclass(frozen=True, slots=True)
class RunResult:
    """A run as it stands on disk."""

    directory: RunDirectory
    summary: Summary
    gates: tuple[GateResult, ...]
    trust: Trust
    manifest: Mapping[str, Any]
    view: ReportView
    """What the page shows."""


def finish_run(  # noqa: PLR0913 - the parts of a run, brought to their end here once
    options: JudgeOptions,
    directory: RunDirectory,
    database: RunDatabase,
    judge: Judge,
    planner: Planner,
    ended: Outcome,
    ratings: RatingTable | None = None,
) -> RunResult:
    """Write `judgements.jsonl`, `summary.json`, `manifest.json` and `report.html` from what is stored."""
    done = database.finished(judge.digest)
    if planner.progress.resumed:
        database.place_units(planner.planned)
    shown = _shown(options, database, judge, planner, done)
    unread = _unread(planner, shown)
    pending = unread + sum(1 for key in shown if key not in done)

    def rows() -> Iterator[Mapping[str, Any]]:
        for unit in database.units(judge.digest, shown):
            yield from unit.rows

    directory.write_lines("judgements", (json_line(row) for row in rows()))
    tally = TrustTally(judge.dimensions, sample=options.trust.sample)
    summary = summarise(
        tally.through(rows()),
        dimensions=judge.dimensions,
        unreadable=[str(f) for f in planner.faults],
        pending=-(-pending // options.repeats),
        repeats=options.repeats,
    )
    gates = tuple(parse_gate(text).evaluate(summary) for text in options.gates)
    manifest = _manifest(options, judge, planner, ended, len(shown) + unread, pending)
    run = FinishedRun(directory, database, manifest)
    trust = look_into(run, tally, options.trust, ratings, kept_from(run))
    told = {"gates": [asdict(g) for g in gates], "trust": trust.to_json()}
    directory.write_json("summary", {**summary.to_json(), **told})
    directory.write_json("manifest", manifest)
    view = write_report(run, summary, trust)
    return RunResult(directory, summary, gates, trust, manifest, view)


def _shown(
    options: JudgeOptions, database: RunDatabase, judge: Judge, planner: Planner, done: Mapping[bytes, bool]
) -> dict[bytes, int]:
    """Return the units that the files show, and remember them for reports, exports and pairs.

    Units of conversations that the input no longer holds stay stored, and are left out. Where the input was
    not read to its end, what an earlier run of the same command showed of the rest stays in.
    """
    shown = dict(planner.planned)
    asked = (*options.inputs, options.format, options.map_file, options.limit, options.sample)
    command = digest([judge.digest, options.repeats, options.seed, *asked])
    if planner.progress.total is None and database.get_meta(_COMMAND) == command:
        earlier = database.get_meta(PLANNED)
        keys = done if earlier is None else [bytes.fromhex(key) for key in earlier]
        shown |= dict.fromkeys((key for key in keys if key not in shown), 0)
    stale = any(key not in shown for key in done)
    database.put_meta(PLANNED, [key.hex() for key in shown] if stale else None)
    database.put_meta(_COMMAND, command)
    return shown


def _unread(planner: Planner, shown: Mapping[bytes, int]) -> int:
    """Return how many units stand behind the place up to which a run that broke off has read its input.

    They are known where the input was counted ahead, and pending like those that were read.
    """
    progress = planner.progress
    if progress.total is not None or progress.expected is None:
        return 0
    passed_over = planner.repeats * (planner.left_out + len(planner.faults))
    return max(0, progress.expected - passed_over - len(shown))


def exit_code(
    ended: Outcome, summary: Summary, gates: Sequence[GateResult], faults: Sequence[InputError], limit: float
) -> int:
    """Return the exit code of a run: 130 or 1 before 3 before 100."""
    if ended.ended == "interrupted":
        return 130
    if ended.error is not None or faults:
        return 1
    if (summary.failed_share or 0.0) > limit:
        return 3
    return 100 if any(not gate.met for gate in gates) else 0


def _manifest(
    options: JudgeOptions,
    judge: Judge,
    planner: Planner,
    ended: Outcome,
    units: int,
    pending: int,
) -> dict[str, Any]:
    settings = {k: v for k, v in asdict(options).items() if k != "command"}
    if options.role is not None:
        settings["role"] = shown_role(options.role)
    description = dict(judge.describe())
    return {
        "versions": versions(),
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "settings": settings,
        "command": options.command,
        "seed": options.seed,
        "judge": {"name": judge.name, "digest": judge.digest, **description},
        "dimensions": [
            {"name": d.name, "level": d.level, "scale": asdict(d.scale)} for d in judge.dimensions
        ],
        **rubric_facts(options.rubric),
        "digests": {"prompts": description.get("prompts"), "data": _data_digest(planner)},
        "conversations": units // options.repeats,
        "pending_units": pending,
        "ended": ended.ended,
        "error": None if ended.error is None else str(ended.error),
        "unreadable": len(planner.faults),
        "unreadable_records": [str(f) for f in planner.faults[:_FAULTS_KEPT]],
    }


def shown_role(role: RoleSettings) -> dict[str, Any]:
    """Return a role's settings as a manifest may hold them: no headers' values, no secrets in the URL.

    A key is never among them, only the name of its variable.
    """
    shown = role.model_dump(exclude={"headers"}, exclude_none=True)
    shown["headers"] = sorted(role.headers)
    # User info and query of a URL may be secrets too.
    shown["base_url"] = None if role.base_url is None else Endpoint(role.base_url).shown_url
    return shown


def _data_digest(planner: Planner) -> str:
    """Digest what was planned, in its order: the same data, judge and seed give the same digest."""
    return digest([digest_text(key.hex()) for key in planner.planned]) if planner.planned else digest(None)
