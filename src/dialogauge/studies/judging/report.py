"""The report of a judged run: what its head says, and all that the page shows, now or from a finished run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dialogauge.data import Mask
from dialogauge.report import About, ReportView
from dialogauge.runs import StoredRun
from dialogauge.studies.judging.page import view_of
from dialogauge.studies.judging.sampling import Sampler, Survey
from dialogauge.studies.judging.summary import Summary, summarise
from dialogauge.studies.trust import Trust, TrustCase, trust_view

# What a reader does not need on a page: they stand in the manifest.
_UNSHOWN = frozenset({"inputs", "role", "out", "rubric", "judge", "mode", "trust"})


def report_view(run: StoredRun, summary: Summary, trust: Trust | None, survey: Survey) -> ReportView:
    """Return what the report of a run shows.

    Args:
        run: Its rows and conversations, masked if they are to be.
        summary: Of its rows.
        trust: The checks of its judge; None where none were made.
        survey: Which of its conversations are shown.
    """
    view = view_of(summary, survey, run.rows_of, run.conversations, about=_about(run, trust))
    return replace(view, trust=None if trust is None else trust_view(trust))


def stored_view(run: StoredRun) -> ReportView:
    """Return what the report of a finished run shows, from its rows, manifest and summary."""
    sampler = Sampler(run.dimensions)
    summary = summary_of(run, sampler)
    return report_view(run, summary, stored_trust(run), sampler.result())


def summary_of(run: StoredRun, sampler: Sampler | None = None) -> Summary:
    """Compute the summary of a finished run from its rows.

    Args:
        run: The run.
        sampler: Sees all rows on their way.
    """
    manifest = run.manifest
    # Of an open run they quote what could not be read: a masked page counts them only.
    shown = list(manifest.unreadable_records) if run.mask is None else []
    rows = run.rows()
    return summarise(
        rows if sampler is None else sampler.through(rows),
        dimensions=run.dimensions,
        # The manifest keeps the first messages; the others still count.
        unreadable=[*shown, *[""] * (manifest.unreadable - len(shown))],
        pending=-(-manifest.pending_units // manifest.settings["repeats"]),
        repeats=manifest.settings["repeats"],
    )


def stored_trust(run: StoredRun) -> Trust | None:
    """Return the checks that stand in the run's summary, masked as the run is; None without any."""
    value = run.directory.read_json("summary").get("trust")
    if value is None:
        return None
    trust = Trust.from_json(value)
    if run.mask is None:
        return trust
    checks = (replace(c, cases=tuple(_hidden(run, run.mask, case) for case in c.cases)) for c in trust.checks)
    return replace(trust, checks=tuple(checks))


def _hidden(run: StoredRun, mask: Mask, case: TrustCase) -> TrustCase:
    users = [c.user_id for c in run.database.conversations_of([case.conversation_id])]
    names = mask.names(case.conversation_id, users[0] if users else None)
    shown = mask.id("conversation", case.conversation_id)
    return replace(case, conversation_id=shown, text=mask.value(case.text, names))


def _about(run: StoredRun, trust: Trust | None) -> About:
    manifest = run.manifest
    settings, judge = manifest.settings, manifest.judge
    role = settings.get("role") or {}
    dialogues = _compared(trust)
    needed = 0 if trust is None else trust.thresholds.calibration_dialogues
    compared = tuple(name for name, enough in dialogues.items() if enough >= needed)
    return About(
        title=run.directory.path.resolve().name,
        judge=judge["name"],
        rubric=settings["rubric"],
        mode=settings["mode"],
        version=manifest.versions["dialogauge"] or "",
        created=manifest.written[:10],
        model=role.get("model"),
        source=", ".join(settings["inputs"]),
        checked_languages=_checked_languages(judge, trust),
        uncalibrated=tuple(d for d in judge.get("uncalibrated", ()) if d not in compared),
        compared=compared,
        barely_compared=tuple((n, few) for n, few in dialogues.items() if few < needed),
        dialogues_needed=needed,
        notes=tuple(judge.get("notes", ())),
        command=manifest.command,
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
