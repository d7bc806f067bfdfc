"""The page of a benchmark: from results to what is shown; no figure is made here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dialogauge.report import (
    CandidateRow,
    ControlRow,
    LengthRow,
    PairRow,
    PositionRow,
    ReplayAbout,
    ReplayPageView,
    ReplayViewSection,
)
from dialogauge.studies.replay.comparison import Leaderboard, ViewResult
from dialogauge.studies.replay.diagnostics import POSITIONS
from dialogauge.studies.replay.items import ItemSet, selected_on_gold
from dialogauge.studies.replay.table import ORIGINAL, Aggregate, Pairing, View
from dialogauge.text import counted

MEANINGS: Final[Mapping[View, str]] = {
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


def replay_view(
    comparison: Leaderboard,
    items: ItemSet,
    candidates: Mapping[str, Mapping[str, Any]],
    failures: Mapping[str, Mapping[str, int]],
    about: ReplayAbout,
    evaluator: Mapping[str, Any],
) -> ReplayPageView:
    """Lay out a comparison for its page."""
    used = tuple(c for c in _COLUMNS if any(found.get(c) for found in candidates.values()))
    card, s = items.card, comparison.settings
    sections = tuple(_section(found, candidates, failures, used) for found in comparison.views.values())
    lengths = tuple(
        LengthRow(name, f.mean, f.ratio, f.within, f.against_original)
        for name, f in comparison.lengths.items()
    )
    return ReplayPageView(
        about=about,
        items=len(items.items),
        users=int(card["users"]),
        blocks=int(card["blocks"]),
        warnings=warnings_of(comparison, items, failures, evaluator),
        card=card_lines(items),
        gold=tuple(card["gold"]["counts"].values()),
        gold_of_all=tuple(card["gold_of_all"]["counts"].values()),
        columns=used,
        sections=sections,
        lengths=lengths,
        positions=POSITIONS,
        draws=s.draws,
        seed=s.seed,
        deals=s.deals,
        ties=s.ties,
        margin=s.margin,
    )


def card_lines(items: ItemSet) -> tuple[tuple[str, str], ...]:
    """Write the data card: what it is called, and what stands there."""
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
        (
            "gold mix",
            f"{_counts(gold['counts'])}; mean {gold['mean']:.3f}, dissatisfied {gold['dissatisfied']:.1%}",
        ),
        (
            "of all turns",
            f"{_counts(every['counts'])}; mean {every['mean']:.3f}, dissatisfied {every['dissatisfied']:.1%}",
        ),
        ("digest", items.digest),
    )
    return tuple((name, str(value)) for name, value in pairs if value)


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name}: {n:,}" for name, n in counts.items())


def warnings_of(
    comparison: Leaderboard,
    items: ItemSet,
    failures: Mapping[str, Mapping[str, int]],
    evaluator: Mapping[str, Any],
) -> tuple[str, ...]:
    """Say what a reader must know before the figures."""
    out = [_NO_GUARD] if _cannot_tell_answers(evaluator) else []
    if selected_on_gold(items.rule):
        gold, every = items.card["gold"], items.card["gold_of_all"]
        out.append(
            f"The turns were chosen by how their users rated them: {gold['dissatisfied']:.1%} of the "
            f"original replies are dissatisfying, of all turns {every['dissatisfied']:.1%}. A better score "
            "than the original replies' is in part selection and regression to the mean, not merit."
        )
    for view, found in comparison.views.items():
        held = found.at_the_ceiling
        if held and found.ceiling is not None:
            told = ", ".join(held)
            out.append(
                f"{view}: a candidate whose every reply is given a 5 would have {found.ceiling:.3f}, which "
                f"lies within the interval of {told}. This view cannot tell them from perfect."
            )
    present = next(a.requested for a in comparison.views["raw"].aggregates.values())
    if present < len(items.items):
        out.append(
            f"{len(items.items) - present:,} of {len(items.items):,} items are gone from the data, or are "
            "not what they were: they take no part, and the data card still counts them."
        )
    scored, asked = comparison.reference
    if scored < asked:
        out.append(
            f"{asked - scored:,} of {asked:,} original replies have no score: the views other than raw rank "
            "candidates against the rest."
        )
    cut = {name: f.cut_short for name, f in comparison.lengths.items() if f.cut_short}
    if cut:
        told = ", ".join(f"{name} {n:,}" for name, n in cut.items())
        out.append(
            f"Replies that ended at the limit of tokens or in a filter: {told}. They are judged as they are; "
            "a higher max_tokens may change the order."
        )
    failing = {name: sum(kinds.values()) for name, kinds in failures.items() if sum(kinds.values())}
    if failing:
        told = ", ".join(f"{name} {n:,}" for name, n in failing.items())
        out.append(
            f"Items without a score, by candidate: {told}. Pairs are compared on the items that both have."
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


def _section(
    found: ViewResult,
    candidates: Mapping[str, Mapping[str, Any]],
    failures: Mapping[str, Mapping[str, int]],
    columns: tuple[str, ...],
) -> ReplayViewSection:
    rows = tuple(
        _row(name, a, candidates.get(name, {}), failures.get(name, {}), columns, name in found.at_the_ceiling)
        for name, a in found.aggregates.items()
    )
    low, high = _axis(found)
    preference = found.self_preference
    return ReplayViewSection(
        name=found.view,
        meaning=MEANINGS[found.view],
        low=low,
        high=high,
        ceiling=found.ceiling,
        constants=tuple((level, a.user_macro) for level, a in found.ladder.items()),
        rows=rows,
        pairs=tuple(_pair(p) for p in found.pairs),
        controls=_controls(found),
        positions=tuple(PositionRow(name, tuple(held.values())) for name, held in found.positions.items()),
        preference=preference.words,
        preference_delta=None if preference.difference is None else preference.difference.value,
        preference_interval=None if preference.difference is None else preference.difference.interval,
        untouched=tuple((why.replace("_", " "), n) for why, n in found.left_as_they_are.items()),
    )


def _axis(found: ViewResult) -> tuple[float, float]:
    values = [v for a in found.aggregates.values() for v in (a.user_macro, a.primary.low, a.primary.high)]
    held = [v for v in (*values, found.ceiling) if v is not None] or [1.0, 5.0]
    low, high = min(held), max(held)
    return max(1.0, low - 0.05), min(5.0, high + 0.05) if high < 5 else 5.0


def _row(
    name: str,
    a: Aggregate,
    about: Mapping[str, Any],
    failures: Mapping[str, int],
    columns: tuple[str, ...],
    at_ceiling: bool,  # noqa: FBT001 - one of the facts of a row
) -> CandidateRow:
    return CandidateRow(
        name=name,
        original=name == ORIGINAL,
        user_macro=a.user_macro,
        interval=a.primary.interval,
        bounds=a.bounds,
        micro=a.micro,
        task_macro=a.task_macro,
        block_macro=a.block_macro,
        sat=a.sat,
        dsat=a.dsat,
        counts=a.counts,
        n=a.n,
        requested=a.requested,
        failed=a.failed,
        failures=tuple((_why(kind), n) for kind, n in failures.items()),
        fraction=a.fraction.value,
        columns=tuple(str(about.get(column) or "") for column in columns),
        at_ceiling=at_ceiling,
    )


def _why(kind: str) -> str:
    """Say whose failure it was, where the kind does not: `reply: no_reply` is said once."""
    where, _, what = kind.partition(": ")
    return what if what.endswith(where) else kind


def _pair(p: Pairing) -> PairRow:
    return PairRow(
        p.a,
        p.b,
        p.items.n,
        p.items.wins,
        p.items.ties,
        p.items.losses,
        p.difference.value,
        p.difference.interval,
        p.bounds,
        p.comparison.p_holm,
        p.comparison.side,
    )


def _controls(found: ViewResult) -> tuple[ControlRow, ...]:
    given = {p.a: p for p in found.pairs if p.b == ORIGINAL}
    by_length = {p.a: p for p in found.length.pairs}
    rows = []
    for dealt in found.shuffled:
        length = by_length.get(dealt.name)
        ends = None if dealt.low is None or dealt.high is None else (dealt.low, dealt.high)
        rows.append(
            ControlRow(
                dealt.name,
                given[dealt.name].difference.value if dealt.name in given else None,
                None if length is None else length.difference.value,
                None if length is None else length.difference.interval,
                ends,
                dealt.p,
            )
        )
    return tuple(rows)
