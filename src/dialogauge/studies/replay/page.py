"""The page of a benchmark and its short form for a terminal: no figure is made here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from dialogauge.report import (
    Axis,
    Block,
    Callout,
    Cell,
    Column,
    Count,
    DataTable,
    Definitions,
    Fold,
    Leaderboard,
    LeaderboardRow,
    Number,
    Page,
    Part,
    Percent,
    Reference,
    Section,
    Span,
    TableColumn,
    TableRow,
    Text,
    data_table,
    ordinal_tones,
    words,
)
from dialogauge.studies.replay import page_parts as parts
from dialogauge.studies.replay.comparison import ReplayComparison, ViewResult
from dialogauge.studies.replay.items import ORIGINAL, ItemSet
from dialogauge.studies.replay.table import Aggregate, EvaluatorScores, View
from dialogauge.studies.satisfaction.answers import SATISFACTION
from dialogauge.text import counted

_MEANINGS: Final[Mapping[View, str]] = {
    "raw": "as the evaluator says",
    "mean-shift": (
        "moved by what brings the block's original replies to the mean that its user gave in other scenarios"
    ),
    "reference-cdf": (
        "the rank among the block's original replies, as a score of the user's history; the published score"
    ),
}
_COLUMNS: Final = ("organisation", "version", "licence", "context")


_WHAT_IT_IS_NOT: Final = (
    Span("What this page is not.", "strong"),
    " No user has seen these replies. An evaluator says how satisfied each user would be; how far it agrees "
    "with people has to be measured apart (",
    Span("dialogauge annotate make RUN --pairs", "code"),
    "), and a candidate is judged on one reply at a time, never on where it would lead.",
)
_TONES: Final = ordinal_tones(5)


def replay_page(
    comparison: ReplayComparison,
    items: ItemSet,
    evaluator: Mapping[str, Any],
    *,
    command: str = "",
    created: str,
    version: str,
) -> Page:
    """Lay out a comparison.

    Args:
        comparison: All views.
        items: The item set.
        evaluator: Who scored.
        command: As it was given.
        created: The day.
        version: Of dialogauge.
    """
    card = items.card
    primary = (
        "The primary figure is the mean over users of each user's mean, with a 95 % interval by users. ",
        Span(ORIGINAL, "strong"),
        " are the replies that the users saw and rated, scored by the same evaluator.",
    )
    warnings = (Callout((w,), "warn") for w in parts.warnings_of(comparison, items, evaluator))
    first, *others = (_view_section(result, comparison) for result in comparison.views.values())
    sentence = "Where scores go with length, longer replies win whatever they say."
    lead = (
        "Other replies in ",
        Span(counted(len(items.items), "frozen state"), "strong"),
        " of conversations of ",
        Span(counted(int(card["users"]), "user"), "strong"),
        ", scored for these users by ",
        Span(str(evaluator["name"]), "strong"),
        ".",
    )
    return Page(
        "Replay benchmark",
        (
            *parts.evidence_callouts({SATISFACTION: comparison}),
            Callout((answer(comparison, evaluator), _WHAT_IT_IS_NOT), "info"),
            replace(first, title=parts.board_title(comparison), blocks=(Callout((primary,)), *first.blocks)),
            *warnings,
            *parts.planted_sections(comparison),
            *parts.shown_sections(comparison, items),
            Section("Other views", (Fold("Scores moved to each user's own scale", tuple(others)),)),
            Section("Length", (parts.lengths(comparison), Callout((parts.LENGTH,))), sentence),
            Section("Data card", (Definitions(parts.card_pairs(items)),)),
            _made_section(comparison, command, version),
        ),
        lead,
        created,
        version,
    )


def brief(comparison: ReplayComparison, items: ItemSet, evaluator: Mapping[str, Any]) -> tuple[Block, ...]:
    """Lay out a comparison for a terminal: every view, lengths and warnings; see `replay_page`."""
    scores = comparison.scores
    head = (
        f"{counted(len(scores.items), 'item')}, scored by {evaluator['name']}; "
        f"{counted(len(scores.candidates), 'candidate')} and the original replies"
    )
    raw, *others = comparison.views.values()
    warnings = (Callout((w,), "warn") for w in parts.warnings_of(comparison, items, evaluator))
    whole = Section(
        parts.board_title(comparison),
        (_figures(raw, scores, every=False), *warnings, *parts.pairs(raw), *parts.controls(raw)),
        answer(comparison, evaluator),
    )
    views = (Section(v.view, (_figures(v, scores, every=False),), _meaning(v)) for v in others)
    preference = f"Self-preference: {comparison.views['raw'].self_preference.words}"
    lengths = Section("Length", (parts.lengths(comparison), Callout((preference,))))
    return (
        Callout((head,)),
        *parts.evidence_callouts({SATISFACTION: comparison}),
        whole,
        *parts.planted_sections(comparison),
        *views,
        lengths,
    )


def answer(comparison: ReplayComparison, evaluator: Mapping[str, Any]) -> str:
    """Say which candidates the evaluator puts above or below the original replies, and what users gave."""
    raw, people = comparison.views["raw"], comparison.people
    line = parts.standing(comparison)
    own, rated = raw.aggregates[ORIGINAL].user_macro, None if people is None else people.user_macro
    gave = (
        f"The users gave these original replies {words.decimal(rated, 2)} on average, "
        f"{evaluator['name']} gives them {words.decimal(own, 2)}."
    )
    return f"{line}. {gave}" if line else gave


def _view_section(result: ViewResult, comparison: ReplayComparison) -> Section:
    pairs, controls = parts.pairs(result), parts.controls(result)
    board = (_board(result),) if comparison.ranks else ()
    blocks: list[Block] = [*board, Callout((_board_note(result),))]
    blocks.append(_figures(result, comparison.scores, every=True))
    if pairs:
        title = "Candidates against the original replies and each other"
        note = Callout((parts.pairs_note(result, comparison.settings.margin),))
        blocks.append(Section(title, (*pairs, note)))
    if controls:
        note = Callout((parts.controls_note(result, parts.LENGTH_THIRDS, comparison.settings.deals),))
        blocks.append(Section("Controls", (*controls, note)))
    blocks += [Callout((parts.preference(result),)), parts.positions(result)]
    return Section(result.view, tuple(blocks), _meaning(result))


def _meaning(result: ViewResult) -> str:
    meaning = _MEANINGS[result.view]
    left = ", ".join(
        f"{counted(n, 'block')} ({words.name(why)})" for why, n in result.left_as_they_are.items()
    )
    return f"{meaning[0].upper()}{meaning[1:]}.{f' Left as they are: {left}.' if left else ''}"


def _board(result: ViewResult) -> Leaderboard:
    rows = (
        LeaderboardRow(
            name,
            a.user_macro,
            a.primary.interval,
            tuple(Part(str(i), n, tone) for (i, n), tone in zip(a.counts.items(), _TONES, strict=True)),
            (Percent(a.dsat),),
            parts.emphasis(name),
        )
        for name, a in result.aggregates.items()
    )
    ceiling = result.ceiling
    return Leaderboard(
        f"Leaderboard, {result.view}",
        tuple(rows),
        "user macro mean, 95 % by users",
        _axis(result),
        () if ceiling is None else (Reference(ceiling, "all 5"),),
        (TableColumn("DSAT"),),
        "scores 1 to 5",
    )


def _axis(result: ViewResult) -> Axis:
    values = [v for a in result.aggregates.values() for v in (a.user_macro, a.primary.low, a.primary.high)]
    known = [v for v in (*values, result.ceiling) if v is not None] or [1.0, 5.0]
    low, high = min(known), max(known)
    return Axis(max(1.0, low - 0.05), min(5.0, high + 0.05))


def _board_note(result: ViewResult) -> str:
    note = "DSAT: share of scores of 3 and less."
    if result.ceiling is None:
        return note
    others = "".join(
        f", every reply a {level}: {words.decimal(a.user_macro, 3)}"
        for level, a in result.ladder.items()
        if level < 5
    )
    top = words.decimal(result.ceiling, 3)
    return f"{note} Dashed: a candidate whose every reply is given a 5 has {top} here{others}."


def _figures(result: ViewResult, scores: EvaluatorScores, *, every: bool) -> DataTable:
    """Return the means of a view; with `every` one also those with fractions, and what candidates are."""
    failures = scores.failures()
    candidates = {name: of.about for name, of in scores.candidates.items()}
    known = [c for c in _COLUMNS if any(about.get(c) for about in candidates.values())] if every else []
    heads: tuple[Column, ...] = (
        *("candidate", "user macro", "micro", "task macro", "block macro", "SAT", "DSAT"),
        *(["with fractions"] if every else []),
        "scored",
        *(TableColumn(c, "text") for c in known),
    )
    rows = []
    for name, a in result.aggregates.items():
        about = candidates.get(name, {})
        columns = (str(about.get(c) or "") for c in known)
        tags = (Span("at the ceiling", "warn"),) if name in result.at_the_ceiling else ()
        cells = _figure_cells(a, failures.get(name, {}), every=every)
        rows.append(TableRow((Text(name, tags=tags), *cells, *columns), parts.emphasis(name)))
    if not every:
        empty: list[Cell] = [""] * (len(heads) - 2)
        rows.append(TableRow(("(every reply a 5)", Number(result.ceiling, 3), *empty), "quiet"))
    return data_table(f"Figures, {result.view}", heads, rows, captioned=False)


def _figure_cells(a: Aggregate, failures: Mapping[str, int], *, every: bool) -> Iterable[Cell]:
    yield Number(a.user_macro, 3, a.primary.interval, a.bounds, strong=True)
    for mean in (a.micro, a.task_macro, a.block_macro):
        yield Number(mean, 3)
    yield Percent(a.sat)
    yield Percent(a.dsat)
    if every:
        yield Number(a.fraction.value, 3)
    yield Count(
        a.n, a.requested, tuple(f"{words.name(parts.why(kind))}: {n:,}" for kind, n in failures.items())
    )


def _made_section(comparison: ReplayComparison, command: str, version: str) -> Section:
    s = comparison.settings
    sentence = (
        f" Seed {s.seed}, ties {s.ties}. The original replies of every touched "
        "block are scored first, by the same evaluator; the calibrated views stand on them and on what each "
        "user rated in other scenarios. A candidate's failed reply is a failure, and is never replaced by "
        "the original."
    )
    by = (": ", Span(command, "code")) if command else ()
    return Section("How this was made", (Callout(((f"dialogauge {version}", *by, ".", sentence),)),))
