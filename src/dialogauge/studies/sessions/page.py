"""A run of sessions on a page and on a terminal: how they ended, by candidate and category, and the texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from dialogauge.core.conversation import SESSION
from dialogauge.report import (
    Block,
    Callout,
    Cell,
    Code,
    Count,
    Definitions,
    Fold,
    Number,
    Page,
    Percent,
    Section,
    Span,
    data_table,
    words,
)
from dialogauge.runs import Row, StoredRun
from dialogauge.studies.judging.page import run_page, settings_section
from dialogauge.studies.judging.report import unjudged_section
from dialogauge.studies.judging.transcripts import cut
from dialogauge.studies.sessions.figures import SessionGroup, SessionsResult, tally_sessions
from dialogauge.studies.simulator.check import check_simulator
from dialogauge.studies.simulator.page import simulator_brief, simulator_section
from dialogauge.text import counted

_ENDINGS: Final[Mapping[str, str]] = {
    "turns": "all turns",
    "user": "user left",
    "candidate_failed": "candidate failed",
    "simulator_failed": "simulator failed",
}

_SCENARIOS: Final = 50
"""Of which the page shows the instructions."""
_INSTRUCTIONS_CHARS: Final = 4_000
_SETTINGS: Final = ("inputs", "candidates", "turns", "sessions_per", "context_file", "users_file", "seed")


def sessions_page(run: StoredRun, result: SessionsResult) -> Page:
    """Lay out a run of sessions."""
    manifest = run.manifest
    sections = [
        *([] if result.simulator is None else [simulator_section(result.simulator)]),
        Section("Sessions", tuple(_tables(result)), anchor="sessions"),
        unjudged_section(run, run.rows()),
        _people_section(run),
        settings_section(run.manifest, _SETTINGS),
    ]
    simulator = str(manifest.facts.get("simulator", {}).get("name", ""))
    lead = (
        Span(f"{result.requested:,}", "strong"),
        f" session{'' if result.requested == 1 else 's'}; the users are ",
        Span(simulator, "strong"),
        ". Nothing is judged here: dialogauge judge takes this run.",
    )
    return run_page(run, sections, lead)


def stored_page(run: StoredRun) -> Page:
    """Return the page of a finished run."""
    return sessions_page(run, sessions_result(run.rows(), run, run.manifest.pending_units))


def sessions_result(rows: Iterable[Row], run: StoredRun, pending: int) -> SessionsResult:
    """Bring a run of sessions to figures, with the check of the simulated users."""
    check = check_simulator(run.database.conversations())
    return replace(tally_sessions(rows, pending), simulator=check)


def session_blocks(result: SessionsResult) -> Iterator[Block]:
    """Lay out a run for a terminal: the check of the users, then how sessions ended."""
    if result.simulator is not None:
        yield simulator_brief(result.simulator)
    yield from _tables(result)


def _tables(result: SessionsResult) -> Iterator[Block]:
    """Lay out how sessions ended."""
    yield _table("By candidate", "candidate", result.candidates)
    if len(result.categories) > 1:
        yield _table("By category", "category", result.categories)
    kinds = {kind: 0 for group in result.candidates for kind in group.failures}
    for group in result.candidates:
        for kind, number in group.failures.items():
            kinds[kind] += number
    notes = []
    if kinds:
        named = ", ".join(f"{words.name(kind)} {number:,}" for kind, number in kinds.items())
        notes.append(f"Failed sessions hold no text and count as failures in every judgement: {named}.")
    if result.pending:
        notes.append(f"{counted(result.pending, 'session')} not played yet: the same command goes on.")
    if notes:
        yield Callout(tuple(notes), "warn")


def _table(title: str, first: str, groups: Sequence[SessionGroup]) -> Block:
    endings = [e for e in _ENDINGS if any(group.ended.get(e) for group in groups)]
    cut, again = any(g.truncated for g in groups), any(g.asked_again for g in groups)
    heads = [first, "sessions", *(_ENDINGS[e] for e in endings), "replies", "characters a reply"]
    heads += ["cut off"] if cut else []
    heads += ["asked again"] if again else []
    rows: list[Sequence[Cell]] = []
    for group in groups:
        ends = [Count(group.ended.get(e, 0)) for e in endings]
        share = [Percent(group.truncated / group.turns if group.turns else None)] if cut else []
        more = [Count(group.asked_again)] if again else []
        length = Number(group.length, 0)
        rows.append((group.name, Count(group.requested), *ends, Count(group.turns), length, *share, *more))
    return data_table(title, heads, rows)


def _people_section(run: StoredRun) -> Section:
    """Show of each scenario what the candidates were told, and who their user was."""
    folds: dict[str, Block] = {}
    scenarios = set[str]()
    for conversation in run.database.conversations():
        if not conversation.messages or conversation.scenario is None or conversation.scenario in scenarios:
            continue
        scenarios.add(conversation.scenario)
        if len(folds) == _SCENARIOS:
            continue
        user = conversation.metadata.get(SESSION, {}).get("user", {})
        pairs = [(name, user.get(name)) for name in ("kind", "persona", "goal", "opening", "patience")]
        facts = "; ".join(f"{name}: {value}" for name, value in user.get("facts", {}).items())
        listed = [(f"user: {name}", str(value)) for name, value in (*pairs, ("facts", facts)) if value]
        instructions = Code(cut(conversation.instructions, _INSTRUCTIONS_CHARS))
        folds[conversation.scenario] = Fold(conversation.scenario, (instructions, Definitions(tuple(listed))))
    more = len(scenarios) - len(folds)
    rest = [Callout((f"{counted(more, 'more scenario')}: see dialogauge show RUN ID.",))] if more else []
    lead = "What the candidates were told, word for word, and who the simulated user was."
    return Section("Scenarios", (*folds.values(), *rest), lead, anchor="scenarios")
