"""The report of a finished run, made again from what the run holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dialogauge.data import Mask
from dialogauge.report import Page, Section
from dialogauge.runs import StoredRun
from dialogauge.studies.judging.page import report_page
from dialogauge.studies.judging.sampling import Sampler
from dialogauge.studies.judging.summary import Summary, summarise
from dialogauge.studies.judging.transcripts import read_sample
from dialogauge.studies.trust.result import Trust, TrustCase


def stored_page(run: StoredRun, against_users: Sequence[Section] = ()) -> Page:
    """Return the page of a finished run; before the scores what the users themselves said, if known."""
    sampler = Sampler(run.dimensions)
    summary = summary_of(run, sampler)
    sample = read_sample(run, sampler.result(), summary.dimensions)
    return report_page(run, summary, sample, stored_trust(run), against_users=against_users)


def summary_of(run: StoredRun, sampler: Sampler | None = None) -> Summary:
    """Compute the summary of a finished run from its rows, which a sampler sees on their way."""
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
    judge = run.manifest.judge_digest
    users = [c.user_id for c in run.database.conversations_of([case.conversation_id], judge)]
    names = mask.names(case.conversation_id, users[0] if users else None)
    shown = mask.id("conversation", case.conversation_id)
    return replace(case, conversation_id=shown, text=mask.value(case.text, names))
