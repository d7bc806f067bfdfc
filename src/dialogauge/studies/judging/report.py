"""The report of a finished run, made again from what the run holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from dialogauge.core.errors import UsageError
from dialogauge.core.shape import reader_of
from dialogauge.report import Page, Section
from dialogauge.runs import StoredRun
from dialogauge.stats.rows import Row
from dialogauge.studies.evidence import stored_evidence
from dialogauge.studies.judging.agents import stored_agents
from dialogauge.studies.judging.findings import FindingExample, FindingsSummary
from dialogauge.studies.judging.opening import Known
from dialogauge.studies.judging.page import conversations_lead, report_page
from dialogauge.studies.judging.people import stored_people
from dialogauge.studies.judging.sampling import Sampler
from dialogauge.studies.judging.summary import Summary, summarise
from dialogauge.studies.judging.transcripts import TranscriptWriter, read_sample
from dialogauge.studies.judging.worst import WorstGroup
from dialogauge.studies.trust.result import Trust


def stored_page(
    run: StoredRun, against_users: Sequence[Section] = (), turns: StoredRun | None = None
) -> Page:
    """Return the page of a finished run.

    Args:
        run: With its rows.
        against_users: What the users themselves said, for the place before the scores.
        turns: A run over the same conversations, whose scores of single turns are shown beside them.

    Raises:
        UsageError: Of the conversations that are shown `turns` scores none turn by turn, or both runs do.
    """
    sampler, people, findings = Sampler(run.dimensions), stored_people(run), stored_findings(run)
    summary = summary_of(run, sampler.through(run.rows()))
    evidence = stored_evidence(run)
    beside = (lambda writer: writer) if turns is None else partial(_with_turns, turns)
    sample = read_sample(run, sampler.result(), summary.dimensions, findings, beside)
    return report_page(
        run,
        summary,
        sample,
        Known(stored_trust(run), people, findings, _stored_worst(run), stored_agents(run), evidence),
        against_users=against_users,
    )


def unjudged_section(run: StoredRun, rows: Iterable[Row], title: str = "Conversations") -> Section:
    """Show conversations of a run in which nobody judged."""
    sampler = Sampler(())
    for row in rows:
        sampler.add(row)
    sample = read_sample(run, sampler.result(), ())
    return Section(title, (sample.transcripts,), conversations_lead(sample), anchor="conversations")


def _with_turns(turns: StoredRun, writer: TranscriptWriter) -> TranscriptWriter:
    """Return the writer with the scores that another run gives the turns of the same conversations."""
    rows, scored = dict(writer.rows), tuple(d for d in turns.dimensions if d.level == "turn")
    if "turn" in writer.dimensions:
        msg = "--turns: the run itself is judged turn by turn"
        raise UsageError(msg, hint="give the run that judges whole sessions first")
    for conversation, judged in turns.judged() if scored else ():
        key = conversation.id, conversation.candidate
        own = writer.conversations.get(key)
        if key in rows and own is not None and own.messages == conversation.messages:
            more = (row for row in judged if row["level"] == "turn" and row["repeat"] == 1)
            rows[key] = [*rows[key], *more]
    if all(len(rows[key]) == len(of) for key, of in writer.rows.items()):
        msg = f"--turns: {turns.directory.path} scores no turn of the conversations of this page"
        raise UsageError(msg, hint="judge the same log with --rubric roleplay-turn")
    return replace(writer, rows=rows, dimensions={**writer.dimensions, "turn": scored})


def summary_of(run: StoredRun, rows: Iterable[Row] | None = None) -> Summary:
    """Compute the summary of a finished run from its rows, which others may see on their way.

    What is checked is what the run's `summary.json` says.
    """
    manifest = run.manifest
    # Of an open run they quote what could not be read: a masked page counts them only.
    shown = list(manifest.unreadable_records) if run.mask is None else []
    summary = summarise(
        run.rows() if rows is None else rows,
        dimensions=run.dimensions,
        # The manifest keeps the first messages; the others still count.
        unreadable=[*shown, *[""] * (manifest.unreadable - len(shown))],
        pending=-(-manifest.pending_units // manifest.settings["repeats"]),
        repeats=manifest.settings["repeats"],
    )
    return summary.with_evidence(stored_evidence(run))


def stored_trust(run: StoredRun) -> Trust | None:
    """Return the checks that stand in the run's summary, masked as the run is; None without any."""
    trust = run.part("trust", Trust.from_json)
    if run.mask is None or trust is None:
        return trust
    checks = []
    for check in trust.checks:
        cases = [replace(case, text=_hidden(run, case.conversation_id, case.text)) for case in check.cases]
        shown = [replace(case, conversation_id=run.shown_id(case.conversation_id)) for case in cases]
        checks.append(replace(check, cases=tuple(shown)))
    return replace(trust, checks=tuple(checks))


def stored_findings(run: StoredRun) -> FindingsSummary | None:
    """Return the findings that stand in the run's summary, masked as the run is; None without any."""
    findings = run.part("findings", reader_of(FindingsSummary))
    if run.mask is None or findings is None:
        return findings
    kinds = tuple(replace(kind, example=_hidden_example(run, kind.example)) for kind in findings.kinds)
    first = [replace(at, reason=_hidden(run, at.conversation_id, at.reason)) for at in findings.first]
    places = tuple(replace(at, conversation_id=run.shown_id(at.conversation_id)) for at in first)
    return replace(findings, kinds=kinds, first=places)


def _stored_worst(run: StoredRun) -> WorstGroup | None:
    """Return the group that stands out in the run's summary, masked as the run is; None where none does."""
    worst = run.part("worst_group", reader_of(WorstGroup))
    if run.mask is None or worst is None:
        return worst
    hidden = run.mask.id("user", worst.name) if worst.field == "user" else run.mask.value(worst.name)
    return replace(worst, name=hidden)


def _hidden_example(run: StoredRun, example: FindingExample) -> FindingExample:
    id = example.conversation_id
    quote, note = (_hidden(run, id, text) for text in (example.quote, example.note))
    return replace(example, conversation_id=run.shown_id(id), quote=quote, note=note)


def _hidden(run: StoredRun, id: str, text: str) -> str:
    """Return words of a conversation as the run's mask shows them."""
    if run.mask is None:
        return text
    users = [c.user_id for c in run.database.conversations_of([id], run.manifest.judge_digest)]
    hidden: str = run.mask.value(text, run.mask.names(id, users[0] if users else None))
    return hidden
