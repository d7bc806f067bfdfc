"""The parts that every page of a benchmark has: no figure is made here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dialogauge.report import (
    Block,
    Callout,
    Cell,
    DataTable,
    Definitions,
    Emphasis,
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
from dialogauge.studies.replay.comparison import ReplayComparison, ViewResult
from dialogauge.studies.replay.diagnostics import POSITIONS
from dialogauge.studies.replay.items import ORIGINAL, ItemSet
from dialogauge.studies.replay.table import Pairing
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
    if not comparison.ranks:
        return ""
    sides: dict[str, list[str]] = {}
    for pair in comparison.views["raw"].pairs:
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
    several = len(comparisons) > 1
    gains = ", ".join(
        f"{f'{words.name(name)}: ' if several else ''}{pair.a.partition(': ')[2]} "
        f"{words.decimal(gain.value, 3, signed=True)} {words.interval(gain.interval, 3)}"
        for name, comparison in comparisons.items()
        for pair in comparison.gamed_by
        if (gain := pair.gain) is not None
    )
    unchecked = {name: c for name, c in comparisons.items() if not c.evidence.checked}
    if not unchecked:
        return ()
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
        notes.append((Span("This evaluator is not checked", "strong"), f"{ranks} {_capital(why)}."))
    return (Callout(tuple(notes), "warn"),)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def board_title(*comparisons: ReplayComparison) -> str:
    """Return what stands over the figures of the candidates: no ranking by an evaluator not checked."""
    return "Leaderboard" if all(c.ranks for c in comparisons) else "Scores, not a ranking"


_NO_GUARD: Final = (
    "The evaluator had too few rated replies of training users to learn which replies answer what was asked "
    "(it needs 50 in scenarios that several of them had): a reply that answers nothing may be scored above "
    "the original. Give more training users, or another --judge."
)
PLANTED_WORDS: Final = (
    "Candidates that nobody should like better than the original replies: the original with polite phrases "
    "around it, or padded with headings and half of itself; an echo of the request, a refusal and general "
    "phrases. They test the evaluator."
)


def planted_sections(comparison: ReplayComparison) -> tuple[Section, ...]:
    """Lay out what the evaluator gave planted candidates, or say that there are none."""
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
    return (Section("Planted candidates", (table,), PLANTED_WORDS),)


def shown_sections(comparison: ReplayComparison, items: ItemSet) -> tuple[Section, ...]:
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
        table = data_table(f"Replies to {one.title}", heads, rows, captioned=False)
        request = Callout(((Span("The user: ", "strong"), one.request),))
        rated = "" if item.gold is None else f": the user gave the original {item.gold:g}"
        folds.append(Fold(f"{one.title}{rated}", (request, table)))
    lead = "Where the scores of candidates and the original lie furthest apart."
    return (Section("Replies side by side", tuple(folds), lead),)


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
    pairs = (
        ("source", card["source"]),
        ("data set", card.get("data_set")),
        ("published at", card.get("published_at")),
        ("licence", card["licence"]),
        ("languages", _counts(card["languages"])),
        ("users", _users(items)),
        ("turns", f"{card['turns']:,} of {card['turns_in_data']:,}, chosen by the rule {items.rule!r}"),
        ("scenarios", _counts(card["scenarios"])),
        ("gold mix", _mix(card["gold"])),
        ("of all turns", _mix(card["gold_of_all"])),
        ("digest", items.digest),
    )
    return tuple((name, str(value)) for name, value in pairs if value)


def _users(items: ItemSet) -> str:
    card = items.card
    if items.rated:
        return f"{counted(card['users'], 'user')} in {counted(card['blocks'], 'block')}"
    talks = counted(card["conversations"], "conversation")
    return talks if items.clusters != "users" else f"{counted(card['users'], 'user')} in {talks}"


def _mix(mix: Mapping[str, Any] | None) -> str | None:
    if mix is None:
        return None
    dissatisfied = words.percent(mix["dissatisfied"])
    return f"{_counts(mix['counts'])}; mean {mix['mean']:.3f}, dissatisfied {dissatisfied}"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name}: {n:,}" for name, n in counts.items())


def warnings_of(
    comparison: ReplayComparison, items: ItemSet, evaluator: Mapping[str, Any], dimension: str = ""
) -> tuple[str, ...]:
    """Say what a reader must know before the figures; of a rubric's `dimension`, which it is."""
    out = _of_evaluator(evaluator, items)
    if items.selected_on_gold:
        chosen, all_turns = (words.percent(items.card[k]["dissatisfied"]) for k in ("gold", "gold_of_all"))
        out.append(
            f"The turns were chosen by how their users rated them: {chosen} of the original replies are "
            f"dissatisfying, of all turns {all_turns}. A better score "
            "than the original replies' is in part selection and regression to the mean, not merit."
        )
    best = comparison.scores.on.scale.best
    for view, result in comparison.views.items():
        at_ceiling = result.at_the_ceiling
        if at_ceiling and result.ceiling is not None:
            listed = ", ".join(at_ceiling)
            here, what = (dimension, "dimension") if dimension else (view, "view")
            out.append(
                f"{here}: a candidate whose every reply is given a {best:g} would have {result.ceiling:.3f}, "
                f"which lies within the interval of {listed}. This {what} cannot tell them from perfect."
            )
    present = len(comparison.scores.items)
    if present < len(items.items):
        out.append(
            f"{len(items.items) - present:,} of {len(items.items):,} items are gone from the data, or are "
            "not what they were: they take no part, and the data card still counts them."
        )
    original = comparison.scores.original
    scored, asked = len(original.scores), len(original.lengths)
    if scored < asked and len(comparison.views) > 1:
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


def _of_evaluator(evaluator: Mapping[str, Any], items: ItemSet) -> list[str]:
    """Say where the evaluator had too little to learn from, or learnt from these very conversations."""
    out = [_NO_GUARD] if _cannot_tell_answers(evaluator) else []
    if known := evaluator.get("fitted_to"):
        out.append(
            f"The evaluator was fitted to people's ratings of the conversations of {known:,} of "
            f"{len(items.items):,} items: it has seen their original replies, and no candidate's. Select "
            "other conversations, or give a judge that was fitted to others."
        )
    return out


def _cannot_tell_answers(evaluator: Mapping[str, Any]) -> bool:
    """Say whether the evaluator is one that learns which replies answer, and had too little to learn from."""
    judge = evaluator.get("judge") or {}
    if judge.get("kind") != "local-user":
        return False
    fitted = judge.get("fitted_on")
    if fitted is None:
        return (evaluator.get("population") or {}).get("turns") == 0
    return fitted.get("knows_answers") is False


def emphasis(name: str) -> Emphasis:
    """Return how a row stands out: the original replies are no candidate."""
    return "quiet" if name == ORIGINAL else "plain"


def why(kind: str) -> str:
    """Say whose failure it was, where the kind does not: `reply: no_reply` is said once."""
    where, _, what = kind.partition(": ")
    return what if what.endswith(where) else kind


def pairs(result: ViewResult) -> tuple[DataTable, ...]:
    """Lay out every pair of a view."""
    if not result.pairs:
        return ()
    rows = [(p.a, *pair_cells(p)) for p in result.pairs]
    return (data_table(f"Pairs, {result.view}", ("candidate", *PAIR_HEADS), rows, captioned=False),)


PAIR_HEADS: Final = (
    TableColumn("against", "text"),
    TableColumn("win / tie / loss", "text"),
    "difference",
    "p",
    TableColumn("in words", "text"),
)
"""The columns of `pair_cells`."""


def pair_cells(p: Pairing) -> tuple[Cell, ...]:
    """Return what stands behind the name of a candidate in a table of pairs."""
    won = (
        Part("wins", p.items.wins, "best"),
        Part("ties", p.items.ties, "neutral"),
        Part("losses", p.items.losses, "worst"),
    )
    difference = Number(p.difference.value, 3, p.difference.interval, p.bounds, signed=True)
    test = p.comparison
    return (p.b, Mix(won), difference, p_value(test.p_holm, at_floor=test.at_floor), p.side)


def pairs_note(result: ViewResult, margin: float, over: str = "pairs of this view") -> str:
    """Say what a table of pairs holds."""
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


_CONTROLS: Final = (
    "By length alone: {length}. Dealt at random: where 95 % of {deals:,} deals lie in which chance "
    "decides, {unit} by {unit}, whose scores are whose. A constant evaluator gives every candidate a "
    "difference of 0."
)


LENGTH_THIRDS: Final = (
    "3, 4 or 5 by the third of the original replies' lengths that a reply falls in, through the same view"
)


def controls_note(result: ViewResult, length: str, deals: int) -> str:
    """Say what a table of controls holds, and how length alone scores."""
    return _CONTROLS.format(length=length, deals=deals, unit=result.on.unit.removesuffix("s"))


def controls(result: ViewResult) -> tuple[DataTable, ...]:
    """Lay out the differences that length alone or chance would make."""
    if not result.controls.shuffled:
        return ()
    deltas = {p.a: p.difference.value for p in result.pairs if p.b == ORIGINAL}
    by_length = {p.a: p for p in result.controls.reply_length.pairs}
    rows: list[Sequence[Cell]] = []
    for dealt in result.controls.shuffled:
        length = by_length.get(dealt.candidate)
        alone = None if length is None else difference(length)
        delta = Number(deltas.get(dealt.candidate), 3, signed=True)
        rows.append((dealt.candidate, delta, alone, Interval(dealt.range, 3)))
    heads = ("candidate against original", "difference", "by reply length alone", "dealt at random")
    return (data_table(f"Controls, {result.view}", heads, rows, captioned=False),)


def preference(result: ViewResult) -> str:
    """Say whether the evaluator may favour its own family of models."""
    preference = result.self_preference
    sentence = f"Self-preference: {preference.words}"
    own = preference.difference
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


LENGTH: Final = (
    "Spearman of raw score and length over the candidate's replies; and of the differences from the original "
    "reply, item by item."
)


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


def difference(pair: Pairing) -> Number:
    """Return the cell of a paired difference."""
    return Number(pair.difference.value, 3, pair.difference.interval, signed=True)
