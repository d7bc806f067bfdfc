"""The page of a run: what its head says, and writing it, now or anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialogauge.app.privacy import OPEN, Privacy
from dialogauge.app.runs import FinishedRun, open_run
from dialogauge.data import Mask
from dialogauge.report import About, ReportView, render_report
from dialogauge.runs import RunDirectory
from dialogauge.runs.directory import write_whole
from dialogauge.studies.judging import Summary, summarise, view_of
from dialogauge.studies.trust import Trust, TrustCase, trust_view

if TYPE_CHECKING:
    from dialogauge.report import SatisfactionView

# What a reader does not need on a page: they stand in the manifest.
_UNSHOWN = frozenset({"inputs", "role", "out", "rubric", "judge", "mode", "trust"})


def write_report(
    run: FinishedRun, summary: Summary, trust: Trust | None, out: Path | None = None
) -> ReportView:
    """Write the page of a run; return what it shows."""
    about = _about(run.directory, run.manifest, trust)
    view = view_of(summary, run.rows, run.conversations, about=about)
    view = replace(view, trust=None if trust is None else trust_view(trust), satisfaction=_satisfaction(run))
    write_whole(out or run.directory.file("report"), [render_report(view).encode("utf-8", "replace")])
    return view


def _satisfaction(run: FinishedRun) -> SatisfactionView | None:
    """Return what the summary of a satisfaction study says of judge and users, masked as the run is."""
    if "calibrate" not in run.manifest["settings"]:
        return None
    from dialogauge.studies.satisfaction import satisfaction_view  # a study of its own, with all its modules

    summary, mask = run.directory.read_json("summary"), run.mask
    judge, calibration = run.manifest["judge"]["name"], run.manifest["settings"]["calibrate"]
    if mask is None:
        return satisfaction_view(summary, judge, calibration)
    return satisfaction_view(
        summary,
        judge,
        calibration,
        user=lambda name: mask.id("user", name),
        conversation=lambda name: mask.id("conversation", name),
        text=mask.text,
    )


def rebuild_report(run: str, out: str | None, privacy: Privacy = OPEN) -> Path:
    """Write the page of a finished run anew, from database, manifest and summary; masked if asked."""
    with open_run(run, privacy) as finished:
        target = finished.directory.file("report") if out is None else Path(out)
        write_report(finished, summary_of(finished), stored_trust(finished), target)
        return target


def stored_trust(run: FinishedRun) -> Trust | None:
    """Return the checks that stand in the run's summary, masked as the run is; None without any."""
    found = run.directory.read_json("summary").get("trust")
    if found is None:
        return None
    trust = Trust.from_json(found)
    if run.mask is None:
        return trust
    checks = (replace(c, cases=tuple(_hidden(run, run.mask, case) for case in c.cases)) for c in trust.checks)
    return replace(trust, checks=tuple(checks))


def _hidden(run: FinishedRun, mask: Mask, case: TrustCase) -> TrustCase:
    users = [c.user_id for c in run.database.conversations_of([case.conversation_id])]
    names = mask.names(case.conversation_id, users[0] if users else None)
    shown = mask.id("conversation", case.conversation_id)
    return replace(case, conversation_id=shown, text=mask.value(case.text, names))


def summary_of(run: FinishedRun) -> Summary:
    """Compute the summary of a finished run from its rows."""
    # Of an open run they quote what could not be read: a masked page counts them only.
    shown = run.manifest["unreadable_records"] if run.mask is None else []
    settings = run.manifest["settings"]
    return summarise(
        run.rows(),
        dimensions=run.dimensions,
        # The manifest keeps the first messages; the others still count.
        unreadable=[*shown, *[""] * (run.manifest["unreadable"] - len(shown))],
        pending=-(-run.manifest["pending_units"] // settings["repeats"]),
        repeats=settings["repeats"],
    )


def _about(directory: RunDirectory, manifest: Mapping[str, Any], trust: Trust | None) -> About:
    settings, judge = manifest["settings"], manifest["judge"]
    role = settings.get("role") or {}
    dialogues = _compared(trust)
    needed = 0 if trust is None else trust.thresholds.calibration_dialogues
    compared = tuple(name for name, enough in dialogues.items() if enough >= needed)
    return About(
        title=directory.path.resolve().name,
        judge=judge["name"],
        rubric=settings["rubric"],
        mode=settings["mode"],
        version=manifest["versions"]["dialogauge"],
        created=manifest["written"][:10],
        model=role.get("model"),
        source=", ".join(settings["inputs"]),
        checked_languages=_checked_languages(judge, trust),
        uncalibrated=tuple(d for d in judge.get("uncalibrated", ()) if d not in compared),
        compared=compared,
        barely_compared=tuple((n, few) for n, few in dialogues.items() if few < needed),
        dialogues_needed=needed,
        notes=tuple(judge.get("notes", ())),
        command=manifest.get("command") or "",
        settings=tuple(
            (name, str(value))
            for name, value in sorted(settings.items())
            if name not in _UNSHOWN and value not in (None, False, [], ())
        ),
    )


def _compared(trust: Trust | None) -> dict[str, int]:
    """Return on how many dialogues of this run each dimension was compared with people."""
    if trust is None or trust.calibration is None:
        return {}
    return {d.name: d.dialogues for d in trust.calibration.dimensions if d.kappa is not None}


def _checked_languages(judge: Mapping[str, Any], trust: Trust | None) -> tuple[str, ...]:
    """The languages that the judge names, and those of enough rated dialogues in this run."""
    named = dict.fromkeys(str(code) for code in judge.get("checked_languages", ()))
    if trust is not None and trust.calibration is not None:
        asked = trust.thresholds.calibration_dialogues
        named |= {code: None for code, n in trust.calibration.languages.items() if n >= asked}
    return tuple(named)
