"""A lookahead search on a page and on a terminal: who won, scores and margins, cost, and the trajectories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dialogauge.core import Usage
from dialogauge.report import (
    Block,
    Callout,
    Cell,
    Count,
    Missing,
    Number,
    Page,
    Percent,
    Section,
    Span,
    TableColumn,
    Text,
    data_table,
    words,
)
from dialogauge.runs import StoredRun
from dialogauge.studies.judging.page import cost_table, run_page, settings_section
from dialogauge.studies.judging.report import unjudged_section
from dialogauge.studies.judging.shown import show_conversation
from dialogauge.studies.simulator.check import check_simulator
from dialogauge.studies.simulator.page import simulator_section
from dialogauge.text import counted
from dialogauge.training import SearchResult, search_details, search_result

UNCHECKED_SEARCH: Final = (
    "UNCHECKED: nothing here shows that these scores agree with people. They say which segment this judge "
    "prefers, and rank nobody."
)
_SETTINGS: Final = (
    *("inputs", "candidates", "segments", "segment_turns", "draw", "min_margin", "rubric", "weights_file"),
    *("judge_repeats", "seed"),
)


def search_page(result: SearchResult, run: StoredRun) -> Page:
    """Lay out a search."""
    check = check_simulator(run.database.conversations())
    sections = [
        Section("Search", tuple(search_blocks(result)), anchor="search"),
        *([] if check is None else [simulator_section(check)]),
        unjudged_section(run, run.rows(), "Trajectories"),
        settings_section(run.manifest, _SETTINGS),
    ]
    lead = (
        Span(f"{result.scenarios:,}", "strong"),
        f" scenario{'' if result.scenarios == 1 else 's'}, searched segment by segment; the segments are "
        "scored by ",
        Span(str(run.manifest.judge["name"]), "strong"),
        ".",
    )
    return run_page(run, sections, lead)


def stored_page(run: StoredRun) -> Page:
    """Return the page of a finished run."""
    facts = run.manifest.facts["search"]
    return search_page(search_result(run.rows(), facts, run.manifest.pending_units), run)


def search_blocks(result: SearchResult) -> Iterator[Block]:
    """Lay out a search for a terminal; that its scores are unchecked comes first."""
    yield Callout((UNCHECKED_SEARCH,), "warn")
    yield _steps_table(result)
    yield _candidates_table(result)
    margins = result.margins
    sentence = (
        f"{counted(margins.pairs, 'pair')} of {counted(margins.compared, 'scored loser')}: the winner lies "
        f"at least {margins.min_margin:g} ahead. "
        f"Mean margin: {words.decimal(margins.mean.value)}"
    )
    sentence += f" {words.interval(ends)}." if (ends := margins.mean.interval) else "."
    tied = f" {counted(margins.equal, 'loser')} had the winner's score: truncated replies or names decided."
    yield Callout((sentence + (tied if margins.equal else ""),))
    yield cost_table(result.usage, sum(result.usage.values(), Usage()))
    notes = []
    if result.failures:
        kinds = ", ".join(f"{words.name(kind)} {number:,}" for kind, number in result.failures.items())
        notes.append(f"Segments that dropped out: {kinds}.")
    if left := result.ended.get("user"):
        notes.append(f"In {counted(left, 'scenario')} the user left before the last step.")
    if failed := result.ended.get("failed"):
        notes.append(f"In {counted(failed, 'scenario')} no candidate was left. The steps before are kept.")
    if result.pending:
        notes.append(f"{counted(result.pending, 'scenario')} not searched yet: the same command goes on.")
    if notes:
        yield Callout(tuple(notes), "warn")


def _steps_table(result: SearchResult) -> Block:
    names = [c.name for c in result.candidates]
    heads = ["step", "scenarios", *(f"won by {name}" for name in names)]
    heads += ["without a pair", "none left"]
    rows: list[Sequence[Cell]] = []
    for step in result.steps:
        won = [Count(step.won.get(name, 0)) for name in names]
        rows.append((str(step.number), step.scenarios, *won, step.without_pair, step.none_left))
    return data_table("By step", heads, rows)


def _candidates_table(result: SearchResult) -> Block:
    heads = ("candidate", "drawn", "won", "mean score", "failed rollouts", "failed judgements", "cut off")
    rows: list[Sequence[Cell]] = []
    for c in result.candidates:
        cut = Percent(c.truncated / c.replies if c.replies else None)
        counts = (Count(c.failed_rollouts), Count(c.failed_judgements), cut)
        score = Number(c.score.value, interval=c.score.interval)
        rows.append((c.name, Count(c.drawn), Count(c.won, c.drawn), score, *counts))
    return data_table("By candidate, in the order of names; intervals are by scenario", heads, rows)


def shown_search(run: StoredRun, id: str, turn: int | None) -> tuple[Block, ...]:
    """Return a trajectory, and of each step the candidates with their scores."""
    transcripts = show_conversation(run, id, turn)
    rows: list[Sequence[Cell]] = []
    for row in run.rows_of([id]):
        for step in search_details(row)["steps"]:
            for c in step.candidates:
                won = Text(c.name, tags=(Span("committed", "tag"),)) if c.name == step.winner else c.name
                score = Missing("failed") if c.score is None else Number(c.score)
                criteria = ", ".join(words.name(label) for of in c.criteria.values() for label in of)
                why = criteria if c.failure is None else c.failure.message
                rows.append((str(step.number), won, score, c.turns, c.truncated, why))
    columns = (
        *("step", TableColumn("candidate", "text"), "score", "replies", "cut off"),
        TableColumn("criteria, or why it dropped out", "prose"),
    )
    unchecked = Callout((UNCHECKED_SEARCH,), "warn")
    return (*transcripts, unchecked, data_table("What each step chose from", columns, rows))
