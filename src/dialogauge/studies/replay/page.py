"""The page of a benchmark and its short form for a terminal: no figure is made here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
    Emphasis,
    Fold,
    Interval,
    Leaderboard,
    LeaderboardRow,
    Mix,
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
from dialogauge.studies.replay.comparison import ReplayComparison, ViewResult
from dialogauge.studies.replay.diagnostics import POSITIONS
from dialogauge.studies.replay.items import ORIGINAL, ItemSet
from dialogauge.studies.replay.table import Aggregate, EvaluatorScores, Pairing, View
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
_NO_GUARD: Final = (
    "The evaluator had too few rated replies of training users to learn which replies answer what was asked "
    "(it needs 50 in scenarios that several of them had): a reply that answers nothing may be scored above "
    "the original. Give more training users, or another --judge."
)
_COLUMNS: Final = ("organisation", "version", "licence", "context")


_WHAT_IT_IS_NOT: Final = (
    Span("What this page is not.", "strong"),
    " No user has seen these replies. An evaluator says how satisfied each user would be; how far it agrees "
    "with people has to be measured apart, and a candidate is judged on one reply at a time, never on where "
    "it would lead.",
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
    warnings = (Callout((w,), "warn") for w in warnings_of(comparison, items, evaluator))
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
            *_gaming(comparison),
            Callout((answer(comparison, evaluator), _WHAT_IT_IS_NOT), "info"),
            replace(first, title="Leaderboard", blocks=(Callout((primary,)), *first.blocks)),
            *warnings,
            *_planted_sections(comparison),
            *_shown_sections(comparison, items),
            Section("Other views", (Fold("Scores moved to each user's own scale", tuple(others)),)),
            Section("Length", (_lengths(comparison), Callout((_LENGTH,))), sentence),
            Section("Data card", (Definitions(card_pairs(items)),)),
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
    whole = Section(
        "Leaderboard",
        (_figures(raw, scores, every=False), *_pairs(raw), *_controls(raw)),
        answer(comparison, evaluator),
    )
    views = (Section(v.view, (_figures(v, scores, every=False),), _meaning(v)) for v in others)
    preference = f"Self-preference: {comparison.views['raw'].self_preference.words}"
    warnings = (Callout((w,), "warn") for w in warnings_of(comparison, items, evaluator))
    lengths = Section("Length", (_lengths(comparison), Callout((preference,)), *warnings))
    return (
        Callout((head,)),
        *_gaming(comparison),
        whole,
        *_planted_sections(comparison),
        *views,
        lengths,
    )


def answer(comparison: ReplayComparison, evaluator: Mapping[str, Any]) -> str:
    """Say which candidates the evaluator puts above or below the original replies, and what users gave."""
    raw, people = comparison.views["raw"], comparison.people
    sides: dict[str, list[str]] = {}
    for pair in raw.pairs:
        if pair.b == ORIGINAL:
            sides.setdefault(pair.comparison.side, []).append(pair.a)
    parts = [f"{_SIDES[side]}: {', '.join(sides[side])}." for side in _SIDES if side in sides]
    own = raw.aggregates[ORIGINAL].user_macro
    gave = (
        f"The users gave these original replies {words.decimal(people.user_macro, 2)} on average, "
        f"{evaluator['name']} gives them {words.decimal(own, 2)}."
    )
    return " ".join((*parts, gave))


_SIDES: Final = {
    "above": "Above the original replies",
    "not distinguishable": "Not distinguishable from them",
    "below": "Below the original replies",
    "too few to tell": "Too few users to tell from the original replies",
    "undefined": "Without a comparison",
}


def _gaming(comparison: ReplayComparison) -> tuple[Callout, ...]:
    """Say at the top where the evaluator can be gamed: then no place in the leaderboard means much."""
    gains = ", ".join(
        f"{pair.a.partition(': ')[2]} {words.decimal(gain.value, 3, signed=True)} "
        f"{words.interval(gain.interval, 3)}"
        for pair in comparison.gamed_by
        if (gain := pair.gain) is not None
    )
    if not gains:
        return ()
    text = f" It likes these planted replies better than the original ones: {gains}. Do not rank by it."
    return (Callout(((Span("This evaluator can be gamed.", "strong"), text),), "warn"),)


_PLANTED: Final = (
    "Three candidates that nobody should like better than the original replies: the original with polite "
    "phrases around it, a refusal that quotes the request, and general phrases. They test the evaluator."
)


def _planted_sections(comparison: ReplayComparison) -> tuple[Section, ...]:
    if not comparison.planted:
        text = "No planted candidates were scored, so it is not known whether this evaluator can be gamed."
        return (Section("Planted candidates", (Callout((text,)),)),)
    heads = ("planted", "difference", "with fractions", "p", TableColumn("in words", "text"))
    rows = [
        (
            p.a.partition(": ")[2],
            Number(p.difference.value, 3, p.difference.interval, p.bounds, signed=True),
            None if p.fraction is None else Number(p.fraction.value, 3, p.fraction.interval, signed=True),
            p_value(p.comparison.p_holm, at_floor=p.comparison.at_floor),
            p.comparison.side,
        )
        for p in comparison.planted
    ]
    table = data_table("Planted candidates against the original replies", heads, rows, captioned=False)
    return (Section("Planted candidates", (table,), _PLANTED),)


def _shown_sections(comparison: ReplayComparison, items: ItemSet) -> tuple[Section, ...]:
    """Lay out some items, the replies of all candidates side by side."""
    scores, by_id = comparison.scores, {item.id: item for item in items.items}
    if not scores.shown:
        return ()
    heads = (TableColumn("by", "text"), "score", TableColumn("reply", "prose"))
    folds = []
    for name, one in scores.shown.items():
        item = by_id.get(name)
        if item is None:
            continue
        sources = {ORIGINAL: (one.original, scores.original)} | {
            candidate: (text, {**scores.candidates, **scores.planted}[candidate])
            for candidate, text in one.replies.items()
        }
        rows: list[tuple[Cell, ...]] = [
            (who, Number(score.value) if (score := of.scores.get(name)) is not None else None, text)
            for who, (text, of) in sources.items()
        ]
        table = data_table(f"Replies to {name}", heads, rows, captioned=False)
        request = Callout(((Span("The user: ", "strong"), one.request),))
        folds.append(Fold(f"{name}: the user gave the original {item.gold:g}", (request, table)))
    lead = "Where the scores of candidates and the original lie furthest apart."
    return (Section("Replies side by side", tuple(folds), lead),)


def card_blocks(items: ItemSet) -> tuple[Block, ...]:
    """Lay out the data card, and the mix of ratings against the whole, for a terminal."""
    card = items.card
    rows: list[tuple[Cell, ...]] = []
    for label, mix in (("chosen", card["gold"]), ("all turns", card["gold_of_all"])):
        total = sum(mix["counts"].values()) or 1
        shares = (Percent(n / total) for n in mix["counts"].values())
        rows.append((label, *shares, Number(mix["mean"], 3)))
    table = data_table("Ratings", ("rated", "1", "2", "3", "4", "5", "mean"), rows, captioned=False)
    blocks: list[Block] = [Definitions(card_pairs(items)), table]
    if items.selected_on_gold:
        sentence = (
            "The turns were chosen by how their users rated them. What candidates gain over the original "
            "replies is in part selection and regression to the mean; --rule stratified does not choose so."
        )
        blocks.append(Callout((sentence,), "warn"))
    return tuple(blocks)


def card_pairs(items: ItemSet) -> tuple[tuple[str, str], ...]:
    """Return the data card: what a line is called, and what stands there."""
    card = items.card
    gold, every = card["gold"], card["gold_of_all"]
    pairs = (
        ("source", card["source"]),
        ("data set", card.get("data_set")),
        ("published at", card.get("published_at")),
        ("licence", card["licence"]),
        ("languages", _counts(card["languages"])),
        ("users", f"{counted(card['users'], 'user')} in {counted(card['blocks'], 'block')}"),
        ("turns", f"{card['turns']:,} of {card['turns_in_data']:,}, chosen by the rule {items.rule!r}"),
        ("scenarios", _counts(card["scenarios"])),
        ("gold mix", _mix(gold)),
        ("of all turns", _mix(every)),
        ("digest", items.digest),
    )
    return tuple((name, str(value)) for name, value in pairs if value)


def _mix(mix: Mapping[str, Any]) -> str:
    dissatisfied = words.percent(mix["dissatisfied"])
    return f"{_counts(mix['counts'])}; mean {mix['mean']:.3f}, dissatisfied {dissatisfied}"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name}: {n:,}" for name, n in counts.items())


def warnings_of(
    comparison: ReplayComparison, items: ItemSet, evaluator: Mapping[str, Any]
) -> tuple[str, ...]:
    """Say what a reader must know before the figures."""
    out = [_NO_GUARD] if _cannot_tell_answers(evaluator) else []
    if items.selected_on_gold:
        chosen, all_turns = (words.percent(items.card[k]["dissatisfied"]) for k in ("gold", "gold_of_all"))
        out.append(
            f"The turns were chosen by how their users rated them: {chosen} of the original replies are "
            f"dissatisfying, of all turns {all_turns}. A better score "
            "than the original replies' is in part selection and regression to the mean, not merit."
        )
    for view, result in comparison.views.items():
        at_ceiling = result.at_the_ceiling
        if at_ceiling and result.ceiling is not None:
            listed = ", ".join(at_ceiling)
            out.append(
                f"{view}: a candidate whose every reply is given a 5 would have {result.ceiling:.3f}, which "
                f"lies within the interval of {listed}. This view cannot tell them from perfect."
            )
    present = len(comparison.scores.items)
    if present < len(items.items):
        out.append(
            f"{len(items.items) - present:,} of {len(items.items):,} items are gone from the data, or are "
            "not what they were: they take no part, and the data card still counts them."
        )
    original = comparison.scores.original
    scored, asked = len(original.scores), len(original.lengths)
    if scored < asked:
        out.append(
            f"{asked - scored:,} of {asked:,} original replies have no score: the views other than raw rank "
            "candidates against the rest."
        )
    cut = {name: f.cut_short for name, f in comparison.lengths.items() if f.cut_short}
    if cut:
        listed = ", ".join(f"{name} {n:,}" for name, n in cut.items())
        out.append(
            f"Replies that ended at the limit of tokens or in a filter: {listed}. They are judged as they "
            "are; a higher max_tokens may change the order."
        )
    failures = comparison.scores.failures()
    failing = {name: sum(kinds.values()) for name, kinds in failures.items() if kinds}
    if failing:
        listed = ", ".join(f"{name} {n:,}" for name, n in failing.items())
        out.append(
            f"Items without a score, by candidate: {listed}. Pairs are compared on the items that both have."
        )
    return tuple(out)


def _cannot_tell_answers(evaluator: Mapping[str, Any]) -> bool:
    """Say whether the evaluator is one that learns which replies answer, and had too little to learn from."""
    judge = evaluator.get("judge") or {}
    if judge.get("kind") != "local-user":
        return False
    fitted = judge.get("fitted_on")
    if fitted is None:
        return (evaluator.get("population") or {}).get("turns") == 0
    return fitted.get("knows_answers") is False


# One view


def _view_section(result: ViewResult, comparison: ReplayComparison) -> Section:
    pairs, controls = _pairs(result), _controls(result)
    blocks: list[Block] = [_board(result), Callout((_board_note(result),))]
    blocks.append(_figures(result, comparison.scores, every=True))
    if pairs:
        title = "Candidates against the original replies and each other"
        note = Callout((_pairs_note(result, comparison.settings.margin),))
        blocks.append(Section(title, (*pairs, note)))
    if controls:
        note = Callout((_CONTROLS.format(deals=comparison.settings.deals),))
        blocks.append(Section("Controls", (*controls, note)))
    blocks += [Callout((_preference(result),)), _positions(result)]
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
            tuple(Part(str(i), n, tone) for (i, n), tone in zip(enumerate(a.counts, 1), _TONES, strict=True)),
            (Percent(a.dsat),),
            _emphasis(name),
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


def _emphasis(name: str) -> Emphasis:
    return "quiet" if name == ORIGINAL else "plain"


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
        rows.append(TableRow((Text(name, tags=tags), *cells, *columns), _emphasis(name)))
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
    yield Count(a.n, a.requested, tuple(f"{words.name(_why(kind))}: {n:,}" for kind, n in failures.items()))


def _why(kind: str) -> str:
    """Say whose failure it was, where the kind does not: `reply: no_reply` is said once."""
    where, _, what = kind.partition(": ")
    return what if what.endswith(where) else kind


def _pairs(result: ViewResult) -> tuple[DataTable, ...]:
    if not result.pairs:
        return ()
    heads = (
        "candidate",
        *(TableColumn("against", "text"), TableColumn("win / tie / loss", "text")),
        *("difference", "p", TableColumn("in words", "text")),
    )
    title = f"Pairs, {result.view}"
    return (data_table(title, heads, map(_pair, result.pairs), captioned=False),)


def _pair(p: Pairing) -> tuple[Cell, ...]:
    won = (
        Part("wins", p.items.wins, "best"),
        Part("ties", p.items.ties, "neutral"),
        Part("losses", p.items.losses, "worst"),
    )
    difference = Number(p.difference.value, 3, p.difference.interval, p.bounds, signed=True)
    test = p.comparison
    return (p.a, p.b, Mix(won), difference, p_value(test.p_holm, at_floor=test.at_floor), test.side)


def _pairs_note(result: ViewResult, margin: float) -> str:
    note = (
        "Difference: mean over users, on the items that both have a score for, with a paired 95 % interval "
        "by users; p adjusted by Holm over all pairs of this view, and the words by that p."
    )
    if any(p.bounds for p in result.pairs):
        note += (
            " Bounds: what the difference over all items could be if every missing score had been a 1 or a 5."
        )
    return f"{note} A difference of up to {margin:g} is a tie." if margin else note


_CONTROLS: Final = (
    "By length alone: 3, 4 or 5 by the third of the original replies' lengths that a reply falls in, through "
    "the same view. Dealt at random: where 95 % of {deals:,} deals lie in which chance decides, item by "
    "item, whose score is whose. A constant evaluator gives every candidate a difference of 0."
)


def _controls(result: ViewResult) -> tuple[DataTable, ...]:
    if not result.shuffled:
        return ()
    deltas = {p.a: p.difference.value for p in result.pairs if p.b == ORIGINAL}
    by_length = {p.a: p for p in result.length.pairs}
    rows: list[Sequence[Cell]] = []
    for dealt in result.shuffled:
        length = by_length.get(dealt.candidate)
        alone = None if length is None else _difference(length)
        difference = Number(deltas.get(dealt.candidate), 3, signed=True)
        rows.append((dealt.candidate, difference, alone, Interval(dealt.range, 3)))
    heads = ("candidate against original", "difference", "by reply length alone", "dealt at random")
    return (data_table(f"Controls, {result.view}", heads, rows, captioned=False),)


def _preference(result: ViewResult) -> str:
    preference = result.self_preference
    sentence = f"Self-preference: {preference.words}"
    own = preference.difference
    if own is not None and own.value is not None:
        delta = words.decimal(own.value, 3, signed=True)
        sentence += f"; own family {delta} {words.interval(own.interval, 3)}"
    return f"{sentence}."


def _positions(result: ViewResult) -> Fold:
    rows: list[tuple[Cell, ...]] = [
        (name, *(Number(mean, 3, notes=(f"{n:,}",)) for mean, n in by_place.values()))
        for name, by_place in result.positions.items()
    ]
    table = data_table(f"By position, {result.view}", ("candidate", *POSITIONS), rows, captioned=False)
    return Fold("By the place of the reply in its conversation", (table,))


# All views


_LENGTH: Final = (
    "Spearman of raw score and length over the candidate's replies; and of the differences from the original "
    "reply, item by item."
)


def _lengths(comparison: ReplayComparison) -> DataTable:
    heads = (
        *("candidate", "characters", "to the original"),
        *("score with length", "difference with difference"),
    )
    rows = [
        (
            name,
            Number(f.mean_characters, 0),
            Number(f.ratio_to_original),
            Number(f.score_length_spearman, 3),
            Number(f.delta_score_delta_length_spearman, 3),
        )
        for name, f in comparison.lengths.items()
    ]
    return data_table("Length", heads, rows, captioned=False)


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


def _difference(pair: Pairing) -> Number:
    return Number(pair.difference.value, 3, pair.difference.interval, signed=True)
