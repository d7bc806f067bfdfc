"""The page of a benchmark and its short form for a terminal: no figure is made here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from dialogauge.report import (
    Axis,
    Block,
    Callout,
    Cell,
    Column,
    Count,
    DataTable,
    Definitions,
    Emphasis,
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
from dialogauge.studies.arena.page import position_section
from dialogauge.studies.replay import page_parts as parts
from dialogauge.studies.replay.board import View
from dialogauge.studies.replay.comparison import Compared, ReplayComparison, ViewResult
from dialogauge.studies.replay.figures import Aggregate
from dialogauge.studies.replay.items import ORIGINAL
from dialogauge.text import counted

_MEANINGS: Final[Mapping[View, str]] = {
    "raw": "As the evaluator says",
    "mean-shift": (
        "Moved by what brings the block's original replies to the mean that its user gave in other scenarios"
    ),
    "reference-cdf": (
        "The rank among the block's original replies, as a score of the user's history; the published score"
    ),
}
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
    "user": (
        "3, 4 or 5 by the third of the original replies' lengths that a reply falls in, through the same view"
    ),
    "rubric": (
        "the middle of the scale, halfway to the best or the best score, by the third of the original "
        "replies' lengths that a reply falls in"
    ),
    "pair": "the longer of the two replies wins",
}
_LENGTH: Final = (
    "Spearman of raw score and length over the candidate's replies; and of the differences from the original "
    "reply, item by item."
)


def replay_page(of: Compared, *, command: str = "", created: str, version: str) -> Page:
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
    if of.for_users:
        primary = (
            "The primary figure is the mean over users of each user's mean, with a 95 % interval by users. ",
            Span(ORIGINAL, "strong"),
            " are the replies that the users saw and rated, scored by the same evaluator.",
        )
        raw, *views = (_result(v.view, v, first, of) for v in first.views.values())
        board = Section(_board_title(of), (Callout((primary,)), *raw.blocks), raw.lead)
        folded = Fold("Scores moved to each user's own scale", tuple(views))
        results: tuple[Section, ...] = (Section("Other views", (folded,)),)
    else:
        unit, beside = first.scores.on.unit, first.scores.by == "pair"
        figure = (
            "Share of the items on which the reply is preferred to the original one, a tie counting half"
            if beside
            else "Means of each dimension"
        )
        own = "" if beside else f" {ORIGINAL} are the replies of the log, scored by the same evaluator."
        note = f"{figure}: the mean over {unit} of each one's mean, with a 95 % interval by {unit}.{own}"
        board = Section(_board_title(of), (_dimensions(of, every=True), Callout((note,))))
        results = tuple(_result(_title(n, c), c.views["raw"], c, of) for n, c in of.comparisons.items())
    what = _FOR_USERS if of.for_users else _BY_RUBRIC
    return Page(
        "Replay benchmark" if of.for_users else "Replay",
        (
            *parts.evidence_callouts(of.comparisons),
            Callout((answer(of), (Span("What this page is not.", "strong"), *what)), "info"),
            board,
            *_warnings(of),
            *results,
            *_position(of),
            parts.planted_section(of),
            *parts.shown_sections(first, items),
            Section("Length", (parts.lengths(first), Callout((_LENGTH,)))),
            Section("Data card", (Definitions(parts.card_pairs(items)),)),
            _made(of, command, version),
        ),
        lead,
        created,
        version,
    )


def _position(of: Compared) -> tuple[Section, ...]:
    return () if of.position is None else (position_section(of.position, "Position bias"),)


def _made(of: Compared, command: str, version: str) -> Section:
    settings = of.first.settings
    how = (
        f"Seed {settings.seed}, ties {settings.ties}. The original replies of every touched block are scored "
        "first, by the same evaluator; the calibrated views stand on them and on what each user rated in "
        "other scenarios."
        if of.for_users
        else f"Seed {settings.seed}. Every reply is judged as the last of its conversation, without what "
        "followed."
    )
    by = (": ", Span(command, "code")) if command else ()
    never = f" {how} A candidate's failed reply is a failure, and is never replaced by the original."
    return Section("How this was made", (Callout(((f"dialogauge {version}", *by, ".", never),)),))


def brief(of: Compared) -> tuple[Block, ...]:
    """Lay out a comparison for a terminal; see `replay_page`."""
    first = of.first
    raw, *views = first.views.values()
    head = (
        f"{counted(len(first.scores.items), 'item')}, scored by {of.evaluator['name']}; "
        f"{counted(len(first.scores.candidates), 'candidate')} and the original replies"
    )
    board: tuple[Block, ...] = (_dimensions(of, every=False), *_warnings(of))
    if of.for_users:
        board = (_figures(raw, first, every=False), *_warnings(of), *parts.pairs(raw), *parts.controls(raw))
        others = [Section(v.view, (_figures(v, first, every=False),), _meaning(v)) for v in views]
    else:
        raws = {_title(name, one): one.views["raw"] for name, one in of.comparisons.items()}
        others = [Section(title, (*parts.pairs(v), *parts.controls(v))) for title, v in raws.items()]
    preference = (Callout((f"Self-preference: {raw.self_preference.words}",)),) if of.for_users else ()
    return (
        Callout((head,)),
        *parts.evidence_callouts(of.comparisons),
        Section(_board_title(of), board, answer(of)),
        *others,
        *_position(of),
        parts.planted_section(of),
        Section("Length", (parts.lengths(first), *preference)),
    )


def answer(of: Compared) -> str:
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


def _board_title(of: Compared) -> str:
    """Return what stands over the figures of the candidates: no ranking by an evaluator not checked."""
    return "Leaderboard" if all(c.ranks for c in of.comparisons.values()) else "Scores, not a ranking"


def _title(name: str, comparison: ReplayComparison) -> str:
    called = "preferred to the original" if comparison.scores.by == "pair" else words.name(name)
    return f"{called[0].upper()}{called[1:]}"


def _warnings(of: Compared) -> Iterator[Callout]:
    """Say what a reader must know before the figures, each thing once."""
    warnings: dict[str, None] = {}
    for name, one in of.comparisons.items():
        dimension = "" if of.for_users else _title(name, one)
        warnings |= dict.fromkeys(parts.warnings_of(one, of.items, of.evaluator, dimension))
    yield from (Callout((warning,), "warn") for warning in warnings)
    if of.idle:
        idle = ", ".join(map(words.name, of.idle))
        left_out = f"Left out, since the judge says n/a to every original reply: {idle}."
        yield Callout((left_out,), "warn")


def _result(title: str, result: ViewResult, comparison: ReplayComparison, of: Compared) -> Section:
    """Lay out one view, or one dimension of a rubric: what holds for all dimensions is said at the first."""
    explained, settings = of.for_users or comparison is of.first, comparison.settings
    blocks: list[Block] = [_chart(title, result, comparison)] if comparison.ranks else []
    pairs: tuple[Block, ...] = parts.pairs(result)
    if pairs and explained:
        over = "pairs" if len(of.comparisons) == 1 else "pairs of all dimensions"
        note = parts.pairs_note(result, settings.margin, "pairs of this view" if of.for_users else over)
        pairs += (Callout((note,)),)
    if of.for_users:
        blocks += [Callout((_board_note(result),)), _figures(result, comparison, every=True)]
        whom = "Candidates against the original replies and each other"
        pairs = (Section(whom, pairs),) if pairs else ()
    blocks += pairs
    if tables := parts.controls(result):
        how = (
            f"By length alone: {_LENGTH_ALONE[comparison.scores.by]}. Dealt at random: where 95 % of "
            f"{settings.deals:,} deals lie in which chance decides, {result.on.unit.removesuffix('s')} by "
            f"{result.on.unit.removesuffix('s')}, whose scores are whose. A constant evaluator gives every "
            "candidate a difference of 0."
        )
        blocks.append(Section("Controls", (*tables, Callout((how,))) if explained else tables))
    if of.for_users or result.self_preference.difference is not None:
        blocks.append(Callout((parts.preference(result),)))
    return Section(title, (*blocks, parts.positions(result)), _meaning(result) if of.for_users else "")


def _meaning(result: ViewResult) -> str:
    left = ", ".join(
        f"{counted(n, 'block')} ({words.name(why)})" for why, n in result.left_as_they_are.items()
    )
    return f"{_MEANINGS[result.view]}.{f' Left as they are: {left}.' if left else ''}"


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


def _shown(result: ViewResult, comparison: ReplayComparison) -> Mapping[str, Aggregate]:
    """Return the figures of candidates, and of the original replies where these have any of their own."""
    if comparison.scores.by != "pair":
        return result.aggregates
    return {name: a for name, a in result.aggregates.items() if name != ORIGINAL}


def _emphasis(name: str) -> Emphasis:
    """Return how a row stands out: the original replies are no candidate."""
    return "quiet" if name == ORIGINAL else "plain"


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
            _emphasis(name),
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


_COLUMNS: Final = ("organisation", "version", "licence", "context")


def _known(comparison: ReplayComparison, *, every: bool) -> tuple[str, ...]:
    """Return the columns in which something is known of some candidate."""
    about = comparison.scores.about.values()
    return tuple(column for column in _COLUMNS if every and any(of.get(column) for of in about))


def _counts(comparison: ReplayComparison, name: str, a: Aggregate, known: tuple[str, ...]) -> list[Cell]:
    """Return how much was scored, why the rest was not, and what is known of a candidate."""
    why = []
    for kind, n in comparison.scores.failures().get(name, {}).items():
        _, _, what = kind.partition(": ")  # `reply: no_reply` is said once
        why.append(f"{words.name(what if what.endswith(kind.partition(': ')[0]) else kind)}: {n:,}")
    about = comparison.scores.about.get(name, {})
    return [Count(a.n, a.requested, tuple(why)), *(str(about.get(column) or "") for column in known)]


def _figures(result: ViewResult, comparison: ReplayComparison, *, every: bool) -> DataTable:
    """Return the means of a view; with `every` one also those with fractions, and what candidates are."""
    known = _known(comparison, every=every)
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
            *_counts(comparison, name, a, known),
        ]
        rows.append(TableRow(tuple(cells), _emphasis(name)))
    if not every:
        empty: list[Cell] = [""] * (len(heads) - 2)
        rows.append(TableRow(("(every reply a 5)", Number(result.ceiling, 3), *empty), "quiet"))
    return data_table(f"Figures, {result.view}", heads, rows, captioned=False)


def _dimensions(of: Compared, *, every: bool) -> DataTable:
    """Return candidates by dimensions; with `every` one also what candidates are."""
    first, known = of.first, _known(of.first, every=every)
    heads: tuple[Column, ...] = (
        "candidate",
        *(_title(name, one).lower() for name, one in of.comparisons.items()),
        "scored",
        *(TableColumn(c, "text") for c in known),
    )
    rows = []
    for name, figures in _shown(first.views["raw"], first).items():
        means = []
        for a in (one.views["raw"].aggregates[name] for one in of.comparisons.values()):
            skipped = len(first.scores.items) - a.requested
            notes = (f"n/a: {skipped:,}",) if skipped else ()
            means.append(Number(a.user_macro, 3, a.primary.interval, a.bounds, strong=True, notes=notes))
        cells: tuple[Cell, ...] = (name, *means, *_counts(first, name, figures, known))
        rows.append(TableRow(cells, _emphasis(name)))
    return data_table("Leaderboard", heads, rows, captioned=False)
