"""What is said around the figures of a benchmark, and its smaller tables: no figure is made here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from dialogauge.report import (
    Block,
    Callout,
    Cell,
    Column,
    DataTable,
    Definitions,
    Fold,
    Interval,
    Mix,
    Number,
    Part,
    Percent,
    Prose,
    Section,
    Span,
    TableColumn,
    data_table,
    p_value,
    words,
)
from dialogauge.studies.evidence import UNCHECKED_FIRST
from dialogauge.studies.replay.comparison import Compared, ReplayComparison, ViewResult
from dialogauge.studies.replay.diagnostics import POSITIONS
from dialogauge.studies.replay.figures import Pairing
from dialogauge.studies.replay.items import ORIGINAL, ItemSet
from dialogauge.text import counted

_SIDES: Final = {
    "above": "{names} {are} above the original replies",
    "not distinguishable": "{names} {are} not distinguishable from the original replies",
    "below": "{names} {are} below the original replies",
    "too few to tell": "too few {unit} to tell {names} from the original replies",
    "undefined": "nothing compares {names} with the original replies",
}


def standing(comparison: ReplayComparison) -> str:
    """Say which candidates the evaluator puts above or below the original replies; empty without any.

    Of an evaluator that ranks nobody nothing is said.
    """
    sides: dict[str, list[str]] = {}
    for pair in comparison.views["raw"].pairs if comparison.ranks else ():
        if pair.b == ORIGINAL:
            sides.setdefault(pair.side, []).append(pair.a)
    unit = comparison.scores.on.unit
    return "; ".join(
        text.format(names=words.listing(names), are="are" if len(names) > 1 else "is", unit=unit)
        for side, text in _SIDES.items()
        if (names := sides.get(side))
    )


def evidence_callouts(comparisons: Mapping[str, ReplayComparison]) -> tuple[Callout, ...]:
    """Say at the top where the evaluator can be gamed or is not checked: it ranks nobody, or only if asked.

    Args:
        comparisons: By dimension.
    """
    unchecked = {name: c for name, c in comparisons.items() if not c.evidence.checked}
    if not unchecked:
        return ()
    several = len(comparisons) > 1
    gains = ", ".join(
        f"{f'{words.name(name)}: ' if several else ''}{pair.a.partition(': ')[2]} "
        f"{words.decimal(gain.value, 3, signed=True)} {words.interval(gain.interval, 3)}"
        for name, comparison in comparisons.items()
        for pair in comparison.gamed_by
        if (gain := pair.gain) is not None
    )
    asked = any(c.settings.unchecked for c in unchecked.values())
    notes: list[Prose] = [Span(UNCHECKED_FIRST, "strong")] if asked else []
    ranks = "." if asked else ", so it ranks nobody."
    if gains:
        likes = f" It likes these planted replies better than the original ones: {gains}{ranks}"
        notes.append((Span("This evaluator can be gamed.", "strong"), likes))
    else:
        why = "; ".join(
            f"{words.name(name)}: {c.evidence.why}" if several else c.evidence.why
            for name, c in unchecked.items()
        )
        sentence = f"{ranks} {why[:1].upper()}{why[1:]}."
        notes.append((Span("This evaluator is not checked", "strong"), sentence))
    return (Callout(tuple(notes), "warn"),)


_NO_GUARD: Final = (
    "The evaluator had too few rated replies of training users to learn which replies answer what was asked "
    "(it needs 50 in scenarios that several of them had): a reply that answers nothing may be scored above "
    "the original. Give more training users, or another --judge."
)


def warnings_of(
    comparison: ReplayComparison, items: ItemSet, evaluator: Mapping[str, Any], dimension: str = ""
) -> tuple[str, ...]:
    """Say what a reader must know before the figures; of a rubric's `dimension`, which it is."""
    out, judge = [], evaluator.get("judge") or {}
    if judge.get("kind") == "local-user":  # it learns which replies answer
        fitted = judge.get("fitted_on")
        turns = (evaluator.get("population") or {}).get("turns")
        if turns == 0 if fitted is None else fitted.get("knows_answers") is False:
            out.append(_NO_GUARD)
    if known := evaluator.get("fitted_to"):
        out.append(
            f"The evaluator was fitted to people's ratings of the conversations of {known:,} of "
            f"{len(items.items):,} items: it has seen their original replies, and no candidate's. Select "
            "other conversations, or give a judge that was fitted to others."
        )
    if items.selected_on_gold:
        chosen, all_turns = (words.percent(items.card[k]["dissatisfied"]) for k in ("gold", "gold_of_all"))
        out.append(
            f"The turns were chosen by how their users rated them: {chosen} of the original replies are "
            f"dissatisfying, of all turns {all_turns}. A better score "
            "than the original replies' is in part selection and regression to the mean, not merit."
        )
    for view, result in comparison.views.items():
        if (at_ceiling := result.at_the_ceiling) and result.ceiling is not None:
            here, what = (dimension, "dimension") if dimension else (view, "view")
            out.append(
                f"{here}: a candidate whose every reply is given a {result.on.scale.best:g} would have "
                f"{result.ceiling:.3f}, which lies within the interval of {', '.join(at_ceiling)}. This "
                f"{what} cannot tell them from perfect."
            )
    gone = len(items.items) - len(comparison.scores.items)
    if gone:
        out.append(
            f"{gone:,} of {len(items.items):,} items are gone from the data, or are not what they were: they "
            "take no part, and the data card still counts them."
        )
    scored, asked = comparison.reference.scored, comparison.reference.requested
    if scored < asked and len(comparison.views) > 1:
        out.append(
            f"{asked - scored:,} of {asked:,} original replies have no score: the views other than raw rank "
            "candidates against the rest."
        )
    cut = {name: f.cut_short for name, f in comparison.lengths.items() if f.cut_short}
    if cut:
        out.append(
            f"Replies that ended at the limit of tokens or in a filter: {_listed(cut)}. They are judged as "
            "they are; a higher max_tokens may change the order."
        )
    failures = comparison.scores.failures()
    if failing := {name: sum(kinds.values()) for name, kinds in failures.items() if kinds}:
        out.append(
            f"Items without a score, by candidate: {_listed(failing)}. Pairs are compared on the items that "
            "both have."
        )
    return tuple(out)


def _listed(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {n:,}" for name, n in numbers.items())


# Of one view --------------------------------------------------------------------------------------------


def pairs(result: ViewResult) -> tuple[DataTable, ...]:
    """Lay out every pair of a view."""
    heads = (
        *("candidate", TableColumn("against", "text"), TableColumn("win / tie / loss", "text")),
        *("difference", "p", TableColumn("in words", "text")),
    )
    rows = []
    for p in result.pairs:
        won = (
            Part("wins", p.items.wins, "best"),
            Part("ties", p.items.ties, "neutral"),
            Part("losses", p.items.losses, "worst"),
        )
        rows.append((p.a, p.b, Mix(won), _difference(p, bounds=True), _p(p), p.side))
    return (data_table(f"Pairs, {result.view}", heads, rows, captioned=False),) if rows else ()


def pairs_note(result: ViewResult, margin: float, over: str) -> str:
    """Say what a table of pairs holds; p is adjusted `over` so many."""
    unit, scale = result.on.unit, result.on.scale
    note = (
        f"Difference: mean over {unit}, on the items that both have a score for, with a paired 95 % interval "
        f"by {unit}; p adjusted by Holm over all {over}, and the words by that p."
    )
    if not scale.higher_is_better:
        note += " Here a lower score is better: above 0 is better all the same."
    if any(p.bounds for p in result.pairs):
        note += (
            " Bounds: what the difference over all items could be if every missing score had been a "
            f"{scale.low:g} or a {scale.high:g}."
        )
    return f"{note} A difference of up to {margin:g} is a tie." if margin else note


def controls(result: ViewResult) -> tuple[DataTable, ...]:
    """Lay out the differences that length alone or chance would make."""
    own = {p.a: p for p in result.pairs if p.b == ORIGINAL}
    by_length = {p.a: p for p in result.controls.reply_length.pairs}
    rows: list[tuple[Cell, ...]] = []
    for dealt in result.controls.shuffled:
        pair, length = own.get(dealt.candidate), by_length.get(dealt.candidate)
        delta = Number(None if pair is None else pair.difference.value, 3, signed=True)
        alone = None if length is None else _difference(length)
        rows.append((dealt.candidate, delta, alone, Interval(dealt.range, 3)))
    heads = ("candidate against original", "difference", "by reply length alone", "dealt at random")
    return (data_table(f"Controls, {result.view}", heads, rows, captioned=False),) if rows else ()


def preference(result: ViewResult) -> str:
    """Say whether the evaluator may favour its own family of models."""
    own = result.self_preference.difference
    sentence = f"Self-preference: {result.self_preference.words}"
    if own is not None and own.value is not None:
        delta = words.decimal(own.value, 3, signed=True)
        sentence += f"; own family {delta} {words.interval(own.interval, 3)}"
    return f"{sentence}."


def positions(result: ViewResult) -> Fold:
    """Lay out the mean scores by the place of the reply."""
    rows: list[tuple[Cell, ...]] = [
        (name, *(Number(at.mean, 3, notes=(f"{at.n:,}",)) for at in by_place.values()))
        for name, by_place in result.positions.items()
    ]
    table = data_table(f"By position, {result.view}", ("candidate", *POSITIONS), rows, captioned=False)
    return Fold("By the place of the reply in its conversation", (table,))


def _difference(pair: Pairing, *, bounds: bool = False) -> Number:
    between = pair.bounds if bounds else None
    return Number(pair.difference.value, 3, pair.difference.interval, between, signed=True)


def _p(pair: Pairing) -> Cell:
    return p_value(pair.comparison.p_holm, at_floor=pair.comparison.at_floor)


# Of all views -------------------------------------------------------------------------------------------


def planted_section(of: Compared) -> Section:
    """Lay out what the evaluator gave planted candidates, or say that there are none."""
    if not of.first.planted:
        text = "No planted candidates were scored, so it is not known whether this evaluator can be gamed."
        return Section("Planted candidates", (Callout((text,)),))
    several = len(of.comparisons) > 1
    heads: tuple[Column, ...] = (
        *("planted", *([TableColumn("dimension", "text")] if several else ())),
        *("difference", "with fractions", "p", TableColumn("in words", "text")),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, one in of.comparisons.items():
        for p in one.planted:
            fraction = p.fraction
            exact = None if fraction is None else Number(fraction.value, 3, fraction.interval, signed=True)
            cells: tuple[Cell, ...] = (_difference(p, bounds=True), exact, _p(p), p.comparison.side)
            rows.append((p.a.partition(": ")[2], *([words.name(name)] if several else ()), *cells))
    table = data_table("Planted candidates against the original replies", heads, rows, captioned=False)
    lead = (
        "Candidates that nobody should like better than the original replies: the original with polite "
        "phrases around it, or padded with headings and half of itself; an echo of the request, a refusal "
        "and general phrases. They test the evaluator."
    )
    return Section("Planted candidates", (table,), lead)


def shown_sections(comparison: ReplayComparison, items: ItemSet) -> tuple[Section, ...]:
    """Lay out some items, the replies of all candidates side by side."""
    scores, by_id = comparison.scores, {item.id: item for item in items.items}
    heads = (TableColumn("by", "text"), "score", TableColumn("reply", "prose"))
    folds = []
    for name, one in scores.shown.items():
        item = by_id[name]
        column = scores.items.index(item)
        rows: list[tuple[Cell, ...]] = [
            (who, None if np.isnan(score := scores.value[scores.at(who), column]) else Number(score), text)
            for who, text in one.replies.items()
        ]
        table = data_table(f"Replies to {one.title}", heads, rows, captioned=False)
        request = Callout(((Span("The user: ", "strong"), one.request),))
        rated = "" if item.gold is None else f": the user gave the original {item.gold:g}"
        folds.append(Fold(f"{one.title}{rated}", (request, table)))
    lead = "Where the scores of candidates and the original lie furthest apart."
    return (Section("Replies side by side", tuple(folds), lead),) if folds else ()


def lengths(comparison: ReplayComparison) -> DataTable:
    """Lay out how long replies are, and how scores go with that."""
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


# Of the item set ----------------------------------------------------------------------------------------


def card_blocks(items: ItemSet) -> tuple[Block, ...]:
    """Lay out the data card, and of a rated set the mix against the whole, for a terminal."""
    card = items.card
    blocks: list[Block] = [Definitions(card_pairs(items))]
    if not items.rated:
        return tuple(blocks)
    rows: list[tuple[Cell, ...]] = []
    for label, mix in (("chosen", card["gold"]), ("all turns", card["gold_of_all"])):
        total = sum(mix["counts"].values()) or 1
        shares = (Percent(n / total) for n in mix["counts"].values())
        rows.append((label, *shares, Number(mix["mean"], 3)))
    blocks.append(data_table("Ratings", ("rated", "1", "2", "3", "4", "5", "mean"), rows, captioned=False))
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
    users = counted(card["users"], "user")
    if items.rated:
        users = f"{users} in {counted(card['blocks'], 'block')}"
    else:
        talks = counted(card["conversations"], "conversation")
        users = talks if items.clusters != "users" else f"{users} in {talks}"

    def mix(of: Mapping[str, Any] | None) -> str | None:
        if of is None:
            return None
        dissatisfied = words.percent(of["dissatisfied"])
        return f"{_counts(of['counts'])}; mean {of['mean']:.3f}, dissatisfied {dissatisfied}"

    pairs = (
        ("source", card["source"]),
        ("data set", card.get("data_set")),
        ("published at", card.get("published_at")),
        ("licence", card["licence"]),
        ("languages", _counts(card["languages"])),
        ("users", users),
        ("turns", f"{card['turns']:,} of {card['turns_in_data']:,}, chosen by the rule {items.rule!r}"),
        ("scenarios", _counts(card["scenarios"])),
        ("gold mix", mix(card["gold"])),
        ("of all turns", mix(card["gold_of_all"])),
        ("digest", items.digest),
    )
    return tuple((name, str(value)) for name, value in pairs if value)


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name}: {n:,}" for name, n in counts.items())
