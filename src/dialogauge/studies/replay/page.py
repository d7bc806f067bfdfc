"""The page of a benchmark and its short form for a terminal: no figure is made here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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
    p_value,
    words,
)
from dialogauge.studies.arena.controls import PositionBias
from dialogauge.studies.replay import page_parts as parts
from dialogauge.studies.replay.comparison import ReplayComparison, ViewResult
from dialogauge.studies.replay.items import ORIGINAL, ItemSet
from dialogauge.studies.replay.table import Aggregate, View
from dialogauge.text import counted


@dataclass(frozen=True, slots=True)
class ComparedCandidates:
    """A finished benchmark."""

    comparisons: Mapping[str, ReplayComparison]
    """By dimension; a judge of satisfaction has one."""
    items: ItemSet
    evaluator: Mapping[str, Any]
    """Who scored."""
    position: PositionBias | None = None
    """What became of verdicts in the other order; None of a judge that scores."""
    idle: tuple[str, ...] = ()
    """Dimensions that apply to no original reply."""

    @property
    def first(self) -> ReplayComparison:
        """That of the first dimension."""
        return next(iter(self.comparisons.values()))

    @property
    def for_users(self) -> bool:
        """Whether each reply was scored for the user of its item."""
        return self.first.scores.by == "user"


_MEANINGS: Final[Mapping[View, str]] = {
    "raw": "As the evaluator says",
    "mean-shift": (
        "Moved by what brings the block's original replies to the mean that its user gave in other scenarios"
    ),
    "reference-cdf": (
        "The rank among the block's original replies, as a score of the user's history; the published score"
    ),
}
_COLUMNS: Final = ("organisation", "version", "licence", "context")
_PREFERRED: Final = "preferred to the original"
_BY_PEOPLE: Final = Span("dialogauge annotate make RUN --pairs", "code")
_FOR_USERS: Final = (
    " No user has seen these replies. An evaluator says how satisfied each user would be; how far it agrees "
    "with people has to be measured apart (",
    _BY_PEOPLE,
    "), and a candidate is judged on one reply at a time, never on where it would lead.",
)
_BY_RUBRIC: Final = (
    " No user has seen these replies. Each is judged by itself in its state, never by where it would lead; "
    "how far the judge agrees with people has to be measured apart: ",
    _BY_PEOPLE,
    ".",
)
_LENGTH_ALONE: Final = {
    "user": parts.LENGTH_THIRDS,
    "rubric": (
        "the middle of the scale, halfway to the best or the best score, by the third of the original "
        "replies' lengths that a reply falls in"
    ),
    "pair": "the longer of the two replies wins",
}


def replay_page(of: ComparedCandidates, *, command: str = "", created: str, version: str) -> Page:
    """Lay out a comparison.

    Args:
        of: The comparison.
        command: As it was given.
        created: The day.
        version: Of dialogauge.
    """
    first, items, card = of.first, of.items, of.items.card
    whose = "user" if of.for_users else "conversation"
    lead = (
        "Other replies in ",
        Span(counted(len(items.items), "frozen state"), "strong"),
        " of conversations of " if of.for_users else " of ",
        Span(counted(int(card[f"{whose}s"]), whose), "strong"),
        ", scored for these users by " if of.for_users else ", scored by ",
        Span(str(of.evaluator["name"]), "strong"),
        ".",
    )
    what = _FOR_USERS if of.for_users else _BY_RUBRIC
    title = parts.board_title(*of.comparisons.values())
    if of.for_users:
        primary = (
            "The primary figure is the mean over users of each user's mean, with a 95 % interval by users. ",
            Span(ORIGINAL, "strong"),
            " are the replies that the users saw and rated, scored by the same evaluator.",
        )
        raw, *views = (_result(v.view, v, first, of) for v in first.views.values())
        board = Section(title, (Callout((primary,)), *raw.blocks), raw.lead)
        folded = Fold("Scores moved to each user's own scale", tuple(views))
        results: tuple[Section, ...] = (Section("Other views", (folded,)),)
    else:
        board = Section(title, (_board(of, every=True), Callout((_note(first),))))
        results = tuple(_result(_title(n, c), c.views["raw"], c, of) for n, c in of.comparisons.items())
    return Page(
        "Replay benchmark" if of.for_users else "Replay",
        (
            *parts.evidence_callouts(of.comparisons),
            Callout((answer(of), (Span("What this page is not.", "strong"), *what)), "info"),
            board,
            *(Callout((w,), "warn") for w in _warnings(of)),
            *results,
            *_position(of.position),
            *_planted(of),
            *parts.shown_sections(first, items),
            Section("Length", (parts.lengths(first), Callout((parts.LENGTH,)))),
            Section("Data card", (Definitions(parts.card_pairs(items)),)),
            _made(of, command, version),
        ),
        lead,
        created,
        version,
    )


def brief(of: ComparedCandidates) -> tuple[Block, ...]:
    """Lay out a comparison for a terminal; see `replay_page`."""
    first = of.first
    raw, *views = first.views.values()
    head = (
        f"{counted(len(first.scores.items), 'item')}, scored by {of.evaluator['name']}; "
        f"{counted(len(first.scores.candidates), 'candidate')} and the original replies"
    )
    warnings = (Callout((w,), "warn") for w in _warnings(of))
    title = parts.board_title(*of.comparisons.values())
    table = _figures(raw, first, every=False) if of.for_users else _board(of, every=False)
    whole = (*parts.pairs(raw), *parts.controls(raw)) if of.for_users else ()
    others = [Section(v.view, (_figures(v, first, every=False),), _meaning(v)) for v in views]
    for name, one in of.comparisons.items() if not of.for_users else ():
        result = one.views["raw"]
        others.append(Section(_title(name, one), (*parts.pairs(result), *parts.controls(result))))
    preference = f"Self-preference: {raw.self_preference.words}"
    more = (Callout((preference,)),) if of.for_users else ()
    return (
        Callout((head,)),
        *parts.evidence_callouts(of.comparisons),
        Section(title, (table, *warnings, *whole), answer(of)),
        *others,
        *_position(of.position),
        *_planted(of),
        Section("Length", (parts.lengths(first), *more)),
    )


def answer(of: ComparedCandidates) -> str:
    """Say which candidates the evaluator puts above or below the original replies, and what users gave."""
    lines = []
    for name, comparison in of.comparisons.items():
        if line := parts.standing(comparison):
            lines.append(f"{_title(name, comparison)}: {line}." if len(of.comparisons) > 1 else f"{line}.")
    if of.for_users:
        people = of.first.people
        rated = None if people is None else people.user_macro
        own = of.first.views["raw"].aggregates[ORIGINAL].user_macro
        lines.append(
            f"The users gave these original replies {words.decimal(rated, 2)} on average, "
            f"{of.evaluator['name']} gives them {words.decimal(own, 2)}."
        )
    return " ".join(lines)


def _title(name: str, comparison: ReplayComparison) -> str:
    called = _PREFERRED if comparison.scores.by == "pair" else words.name(name)
    return f"{called[0].upper()}{called[1:]}"


def _result(title: str, result: ViewResult, comparison: ReplayComparison, of: ComparedCandidates) -> Section:
    """Lay out one view, or one dimension of a rubric: what holds for all dimensions is said at the first."""
    explained, settings = of.for_users or comparison is of.first, comparison.settings
    over = "pairs" if len(of.comparisons) == 1 else "pairs of all dimensions"
    blocks: list[Block] = [_chart(title, result, comparison)] if comparison.ranks else []
    pairs: tuple[Block, ...] = parts.pairs(result)
    note = parts.pairs_note(result, settings.margin, "pairs of this view" if of.for_users else over)
    pairs += (Callout((note,)),) if pairs and explained else ()
    if of.for_users:
        blocks += [Callout((_board_note(result),)), _figures(result, comparison, every=True)]
        whom = "Candidates against the original replies and each other"
        pairs = (Section(whom, pairs),) if pairs else ()
    blocks += pairs
    if tables := parts.controls(result):
        how = parts.controls_note(result, _LENGTH_ALONE[comparison.scores.by], settings.deals)
        blocks.append(Section("Controls", (*tables, Callout((how,))) if explained else tables))
    if of.for_users or result.self_preference.difference is not None:
        blocks.append(Callout((parts.preference(result),)))
    return Section(title, (*blocks, parts.positions(result)), _meaning(result) if of.for_users else "")


def _meaning(result: ViewResult) -> str:
    left = ", ".join(
        f"{counted(n, 'block')} ({words.name(why)})" for why, n in result.left_as_they_are.items()
    )
    return f"{_MEANINGS[result.view]}.{f' Left as they are: {left}.' if left else ''}"


def _shown(result: ViewResult, comparison: ReplayComparison) -> Mapping[str, Aggregate]:
    """Return the figures of candidates, and of the original replies where these have any of their own."""
    if comparison.scores.by != "pair":
        return result.aggregates
    return {name: a for name, a in result.aggregates.items() if name != ORIGINAL}


def _chart(title: str, result: ViewResult, comparison: ReplayComparison) -> Leaderboard:
    on, by, shown = result.on, comparison.scores.by, _shown(result, comparison)
    tones = ordinal_tones(len(on.levels))
    tones = tones if on.scale.higher_is_better else tones[::-1]
    rows = (
        LeaderboardRow(
            name,
            a.user_macro,
            a.primary.interval,
            tuple(Part(str(i), n, tone) for (i, n), tone in zip(a.counts.items(), tones, strict=True)),
            (Percent(a.dsat),) if by == "user" else (),
            parts.emphasis(name),
        )
        for name, a in shown.items()
    )
    line = {"user": result.ceiling, "pair": 0.5}.get(by)
    ends = [v for a in shown.values() for v in (a.user_macro, a.primary.low, a.primary.high)]
    known = [v for v in (*ends, line) if v is not None] or list(on.limits)
    margin = on.width / 80
    mean = "user macro mean, 95 % by users" if by == "user" else f"mean over {on.unit}, 95 % by {on.unit}"
    label = "all 5" if by == "user" else "as often as not"
    return Leaderboard(
        f"Leaderboard, {title if by == 'user' else title.lower()}",
        tuple(rows),
        mean,
        Axis(max(on.scale.low, min(known) - margin), min(on.scale.high, max(known) + margin)),
        () if line is None else (Reference(line, label),),
        (TableColumn("DSAT"),) if by == "user" else (),
        f"scores {on.scale}" if on.levels else "",
    )


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


def _figures(result: ViewResult, comparison: ReplayComparison, *, every: bool) -> DataTable:
    """Return the means of a view; with `every` one also those with fractions, and what candidates are."""
    failures = comparison.scores.failures()
    about = {name: of.about for name, of in comparison.scores.candidates.items()}
    known = [c for c in _COLUMNS if any(of.get(c) for of in about.values())] if every else []
    heads: tuple[Column, ...] = (
        *("candidate", "user macro", "micro", "task macro", "block macro", "SAT", "DSAT"),
        *(["with fractions"] if every else []),
        "scored",
        *(TableColumn(c, "text") for c in known),
    )
    rows = []
    for name, a in result.aggregates.items():
        tags = (Span("at the ceiling", "warn"),) if name in result.at_the_ceiling else ()
        cells: list[Cell] = [
            Text(name, tags=tags),
            Number(a.user_macro, 3, a.primary.interval, a.bounds, strong=True),
            *(Number(mean, 3) for mean in (a.micro, a.task_macro, a.block_macro)),
            Percent(a.sat),
            Percent(a.dsat),
            *([Number(a.fraction.value, 3)] if every else []),
            _count(a, failures.get(name, {})),
            *(str(about.get(name, {}).get(c) or "") for c in known),
        ]
        rows.append(TableRow(tuple(cells), parts.emphasis(name)))
    if not every:
        empty: list[Cell] = [""] * (len(heads) - 2)
        rows.append(TableRow(("(every reply a 5)", Number(result.ceiling, 3), *empty), "quiet"))
    return data_table(f"Figures, {result.view}", heads, rows, captioned=False)


def _count(a: Aggregate, failures: Mapping[str, int]) -> Count:
    why = tuple(f"{words.name(parts.why(kind))}: {n:,}" for kind, n in failures.items())
    return Count(a.n, a.requested, why)


def _note(first: ReplayComparison) -> str:
    unit, beside = first.scores.on.unit, first.scores.by == "pair"
    what = (
        "Share of the items on which the reply is preferred to the original one, a tie counting half"
        if beside
        else "Means of each dimension"
    )
    own = "" if beside else f" {ORIGINAL} are the replies of the log, scored by the same evaluator."
    return f"{what}: the mean over {unit} of each one's mean, with a 95 % interval by {unit}.{own}"


def _board(of: ComparedCandidates, *, every: bool) -> DataTable:
    """Return candidates by dimensions; with `every` one also what candidates are."""
    first, comparisons = of.first, of.comparisons
    failures = first.scores.failures()
    about = {name: of.about for name, of in first.scores.candidates.items()}
    known = [c for c in _COLUMNS if any(one.get(c) for one in about.values())] if every else []
    heads: tuple[str | TableColumn, ...] = (
        "candidate",
        *(_title(name, one).lower() for name, one in comparisons.items()),
        "scored",
        *(TableColumn(c, "text") for c in known),
    )
    rows = []
    for name, figures in _shown(first.views["raw"], first).items():
        of_name = [one.views["raw"].aggregates[name] for one in comparisons.values()]
        means = (_mean(a, len(first.scores.items)) for a in of_name)
        more = (str(about.get(name, {}).get(c) or "") for c in known)
        cells: tuple[Cell, ...] = (name, *means, _count(figures, failures.get(name, {})), *more)
        rows.append(TableRow(cells, parts.emphasis(name)))
    return data_table("Leaderboard", heads, rows, captioned=False)


def _mean(a: Aggregate, items: int) -> Number:
    skipped = items - a.requested
    notes = (f"n/a: {skipped:,}",) if skipped else ()
    return Number(a.user_macro, 3, a.primary.interval, a.bounds, strong=True, notes=notes)


def _warnings(of: ComparedCandidates) -> tuple[str, ...]:
    """Say what a reader must know before the figures, each thing once."""
    warnings = (
        warning
        for name, one in of.comparisons.items()
        for warning in parts.warnings_of(
            one, of.items, of.evaluator, "" if of.for_users else _title(name, one)
        )
    )
    idle = ", ".join(map(words.name, of.idle))
    left_out = (f"Left out, since the judge says n/a to every original reply: {idle}.",) if idle else ()
    return (*dict.fromkeys(warnings), *left_out)


def _position(bias: PositionBias | None) -> Iterator[Section]:
    if bias is not None:
        shares = {
            "named another winner in the other order (a tie)": bias.changed,
            "verdicts with a winner that name the reply shown first": bias.first,
        }
        rows = [(what, Percent(share.value, share.interval)) for what, share in shares.items()]
        note = "A judge without a position bias names the first as often as the second: 50 %."
        heads = (TableColumn("of the judge", "text"), "share")
        yield Section(
            "Position bias", (data_table("Position bias", heads, rows, captioned=False), Callout((note,)))
        )


def _planted(of: ComparedCandidates) -> tuple[Section, ...]:
    if len(of.comparisons) == 1 or not of.first.planted:
        return parts.planted_sections(of.first)
    heads = ("planted", TableColumn("dimension", "text"), "difference", "p", TableColumn("in words", "text"))
    rows = [
        (
            p.a.partition(": ")[2],
            words.name(name),
            parts.difference(p),
            p_value(p.comparison.p_holm, at_floor=p.comparison.at_floor),
            p.comparison.side,
        )
        for name, one in of.comparisons.items()
        for p in one.planted
    ]
    table = data_table("Planted candidates against the original replies", heads, rows, captioned=False)
    return (Section("Planted candidates", (table,), parts.PLANTED_WORDS),)


def _made(of: ComparedCandidates, command: str, version: str) -> Section:
    s = of.first.settings
    how = (
        f"Seed {s.seed}, ties {s.ties}. The original replies of every touched block are scored first, by the "
        "same evaluator; the calibrated views stand on them and on what each user rated in other scenarios."
        if of.for_users
        else f"Seed {s.seed}. Every reply is judged as the last of its conversation, without what followed."
    )
    sentence = f" {how} A candidate's failed reply is a failure, and is never replaced by the original."
    by = (": ", Span(command, "code")) if command else ()
    return Section("How this was made", (Callout(((f"dialogauge {version}", *by, ".", sentence),)),))
