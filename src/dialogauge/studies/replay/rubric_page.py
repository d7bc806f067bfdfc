"""The page of a benchmark that a rubric scored, and its short form for a terminal: no figure is made here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from dialogauge.report import (
    Axis,
    Block,
    Callout,
    Cell,
    Count,
    DataTable,
    Definitions,
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
    data_table,
    ordinal_tones,
    p_value,
    words,
)
from dialogauge.stats import Estimate
from dialogauge.studies.arena.controls import PositionBias
from dialogauge.studies.replay import page_parts as parts
from dialogauge.studies.replay.comparison import ReplayComparison
from dialogauge.studies.replay.items import ORIGINAL, ItemSet
from dialogauge.studies.replay.page_parts import controls, pairs
from dialogauge.studies.replay.table import Aggregate
from dialogauge.text import counted

Comparisons = Mapping[str, ReplayComparison]
"""By dimension."""


@dataclass(frozen=True, slots=True)
class RubricComparison:
    """A finished benchmark that a rubric scored."""

    comparisons: Comparisons
    items: ItemSet
    evaluator: Mapping[str, Any]
    """Who scored."""
    position: PositionBias | None = None
    """What became of verdicts in the other order; None of a rubric that scores."""
    idle: tuple[str, ...] = ()
    """Dimensions that apply to no original reply."""


_PREFERRED: Final = "preferred to the original"
_NOT_THIS: Final = (
    Span("What this page is not.", "strong"),
    " No user has seen these replies. Each is judged by itself in its state, never by where it would lead; "
    "how far the judge agrees with people has to be measured apart: ",
    Span("dialogauge annotate make RUN --pairs", "code"),
    ".",
)
_LENGTH_ALONE: Final = {
    "rubric": (
        "the middle of the scale, halfway to the best or the best score, by the third of the original "
        "replies' lengths that a reply falls in"
    ),
    "pair": "the longer of the two replies wins",
}


def rubric_page(of: RubricComparison, *, command: str = "", created: str, version: str) -> Page:
    """Lay out a comparison.

    Args:
        of: The comparison.
        command: As it was given.
        created: The day.
        version: Of dialogauge.
    """
    comparisons, items, first = of.comparisons, of.items, _first(of.comparisons)
    lead = (
        "Other replies in ",
        Span(counted(len(items.items), "frozen state"), "strong"),
        " of ",
        Span(counted(int(items.card["conversations"]), "conversation"), "strong"),
        ", scored by ",
        Span(str(of.evaluator["name"]), "strong"),
        ".",
    )
    views = (_dimension_section(name, one, comparisons) for name, one in comparisons.items())
    return Page(
        "Replay",
        (
            *parts.evidence_callouts(comparisons),
            Callout((rubric_answer(comparisons), _NOT_THIS), "info"),
            Section(
                parts.board_title(*comparisons.values()),
                (_board(comparisons, every=True), Callout((_note(first),))),
            ),
            *(Callout((w,), "warn") for w in _warnings(of)),
            *views,
            *_position(of.position),
            *_planted(comparisons),
            *parts.shown_sections(first, items),
            Section("Length", (parts.lengths(first), Callout((parts.LENGTH,)))),
            Section("Data card", (Definitions(parts.card_pairs(items)),)),
            _made(first, command, version),
        ),
        lead,
        created,
        version,
    )


def rubric_brief(of: RubricComparison) -> tuple[Block, ...]:
    """Lay out a comparison for a terminal; see `rubric_page`."""
    comparisons, first = of.comparisons, _first(of.comparisons)
    head = (
        f"{counted(len(first.scores.items), 'item')}, scored by {of.evaluator['name']}; "
        f"{counted(len(first.scores.candidates), 'candidate')} and the original replies"
    )
    warnings = (Callout((w,), "warn") for w in _warnings(of))
    title = parts.board_title(*comparisons.values())
    board = Section(title, (_board(comparisons, every=False), *warnings), rubric_answer(comparisons))
    sections = (
        Section(_title(name, one), (*pairs(one.views["raw"]), *controls(one.views["raw"])))
        for name, one in comparisons.items()
    )
    lengths = Section("Length", (parts.lengths(first),))
    return (
        Callout((head,)),
        *parts.evidence_callouts(comparisons),
        board,
        *sections,
        *_position(of.position),
        *_planted(comparisons),
        lengths,
    )


def rubric_answer(comparisons: Comparisons) -> str:
    """Say which candidates the evaluator puts above or below the original replies, dimension by dimension."""
    return " ".join(_answers(comparisons))


def _answers(comparisons: Comparisons) -> Iterator[str]:
    for name, comparison in comparisons.items():
        if line := parts.standing(comparison):
            yield f"{_title(name, comparison)}: {line}." if len(comparisons) > 1 else f"{line}."


def _first(comparisons: Comparisons) -> ReplayComparison:
    return next(iter(comparisons.values()))


def _title(name: str, comparison: ReplayComparison) -> str:
    called = _PREFERRED if comparison.scores.by == "pair" else words.name(name)
    return f"{called[0].upper()}{called[1:]}"


def _note(first: ReplayComparison) -> str:
    unit = first.scores.on.unit
    what = (
        "Share of the items on which the reply is preferred to the original one, a tie counting half"
        if first.scores.by == "pair"
        else "Means of each dimension"
    )
    own = f" {ORIGINAL} are the replies of the log, scored by the same evaluator."
    how = f"{what}: the mean over {unit} of each one's mean, with a 95 % interval by {unit}."
    return how if first.scores.by == "pair" else how + own


def _board(comparisons: Comparisons, *, every: bool) -> DataTable:
    """Return candidates by dimensions; with `every` one also what candidates are."""
    first = _first(comparisons)
    failures = first.scores.failures()
    about = {name: of.about for name, of in first.scores.candidates.items()}
    columns = ("context", "organisation", "version", "licence") if every else ()
    known = [c for c in columns if any(of.get(c) for of in about.values())]
    heads: tuple[str | TableColumn, ...] = (
        "candidate",
        *(_title(name, one).lower() for name, one in comparisons.items()),
        "scored",
        *(TableColumn(c, "text") for c in known),
    )
    rows = []
    for name, figures in _shown(first).items():
        of_name = [one.views["raw"].aggregates[name] for one in comparisons.values()]
        means = (_mean(a, len(first.scores.items)) for a in of_name)
        why = tuple(f"{words.name(parts.why(k))}: {n:,}" for k, n in failures.get(name, {}).items())
        more = (str(about.get(name, {}).get(c) or "") for c in known)
        cells: tuple[Cell, ...] = (name, *means, Count(figures.n, figures.requested, why), *more)
        rows.append(TableRow(cells, parts.emphasis(name)))
    return data_table("Leaderboard", heads, rows, captioned=False)


def _shown(comparison: ReplayComparison) -> Mapping[str, Aggregate]:
    """Return the figures of candidates, and of the original replies where these have any of their own."""
    figures = comparison.views["raw"].aggregates
    if comparison.scores.by != "pair":
        return figures
    return {name: a for name, a in figures.items() if name != ORIGINAL}


def _mean(a: Aggregate, items: int) -> Number:
    skipped = items - a.requested
    notes = (f"n/a: {skipped:,}",) if skipped else ()
    return Number(a.user_macro, 3, a.primary.interval, a.bounds, strong=True, notes=notes)


def _dimension_section(name: str, comparison: ReplayComparison, comparisons: Comparisons) -> Section:
    raw, settings, first = comparison.views["raw"], comparison.settings, comparison is _first(comparisons)
    over = "pairs" if len(comparisons) == 1 else "pairs of all dimensions"
    chart = (_chart(name, comparison),) if comparison.ranks else ()
    blocks: list[Block] = [*chart, *pairs(raw)]
    if raw.pairs and first:
        blocks.append(Callout((parts.pairs_note(raw, settings.margin, over),)))
    if tables := controls(raw):
        note = Callout((parts.controls_note(raw, _LENGTH_ALONE[comparison.scores.by], settings.deals),))
        blocks.append(Section("Controls", (*tables, note) if first else tables))
    if raw.self_preference.difference is not None:
        blocks.append(Callout((parts.preference(raw),)))
    blocks.append(parts.positions(raw))
    return Section(_title(name, comparison), tuple(blocks))


def _chart(name: str, comparison: ReplayComparison) -> Leaderboard:
    on = comparison.scores.on
    tones = ordinal_tones(len(on.levels))
    tones = tones if on.scale.higher_is_better else tones[::-1]
    pair = comparison.scores.by == "pair"
    rows = (
        LeaderboardRow(
            who,
            a.user_macro,
            a.primary.interval,
            tuple(Part(str(i), n, tone) for (i, n), tone in zip(a.counts.items(), tones, strict=True)),
            (),
            parts.emphasis(who),
        )
        for who, a in _shown(comparison).items()
    )
    ends = [v for a in _shown(comparison).values() for v in (a.user_macro, a.primary.low, a.primary.high)]
    known = [v for v in (*ends, 0.5 if pair else None) if v is not None] or list(on.limits)
    margin = on.width / 80
    axis = Axis(max(on.scale.low, min(known) - margin), min(on.scale.high, max(known) + margin))
    return Leaderboard(
        f"Leaderboard, {words.name(name)}",
        tuple(rows),
        f"mean over {on.unit}, 95 % by {on.unit}",
        axis,
        (Reference(0.5, "as often as not"),) if pair else (),
        (),
        f"scores {on.scale}" if on.levels else "",
    )


def _warnings(of: RubricComparison) -> tuple[str, ...]:
    """Say what a reader must know before the figures, each thing once."""
    warnings = (
        warning
        for name, one in of.comparisons.items()
        for warning in parts.warnings_of(one, of.items, of.evaluator, _title(name, one))
    )
    idle = ", ".join(map(words.name, of.idle))
    left_out = (f"Left out, since the judge says n/a to every original reply: {idle}.",) if idle else ()
    return (*dict.fromkeys(warnings), *left_out)


def _position(bias: PositionBias | None) -> tuple[Section, ...]:
    if bias is None:
        return ()
    rows = (
        ("named another winner in the other order (a tie)", _share(bias.changed)),
        ("verdicts with a winner that name the reply shown first", _share(bias.first)),
    )
    note = "A judge without a position bias names the first as often as the second: 50 %."
    table = data_table("Position bias", (TableColumn("of the judge", "text"), "share"), rows, captioned=False)
    return (Section("Position bias", (table, Callout((note,)))),)


def _share(of: Estimate) -> Percent:
    return Percent(of.value, of.interval)


def _planted(comparisons: Comparisons) -> tuple[Section, ...]:
    first = _first(comparisons)
    if len(comparisons) == 1 or not first.planted:
        return parts.planted_sections(first)
    heads = ("planted", TableColumn("dimension", "text"), "difference", "p", TableColumn("in words", "text"))
    rows = [
        (
            p.a.partition(": ")[2],
            words.name(name),
            parts.difference(p),
            p_value(p.comparison.p_holm, at_floor=p.comparison.at_floor),
            p.comparison.side,
        )
        for name, one in comparisons.items()
        for p in one.planted
    ]
    table = data_table("Planted candidates against the original replies", heads, rows, captioned=False)
    return (Section("Planted candidates", (table,), parts.PLANTED_WORDS),)


def _made(comparison: ReplayComparison, command: str, version: str) -> Section:
    sentence = (
        f" Seed {comparison.settings.seed}. Every reply is judged as the last of its conversation, without "
        "what followed. A candidate's failed reply is a failure, and is never replaced by the original."
    )
    by = (": ", Span(command, "code")) if command else ()
    return Section("How this was made", (Callout(((f"dialogauge {version}", *by, ".", sentence),)),))
