"""Whether scores follow length or position rather than content, and whether a judge favours its family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from dialogauge.core import ONE_TO_FIVE
from dialogauge.core.json_keys import keys
from dialogauge.stats import Basis, Estimate, group_means, macro_gain, spearman, thirds
from dialogauge.studies.replay.ground import Floats
from dialogauge.studies.replay.items import ORIGINAL, ReplayItem
from dialogauge.studies.replay.scored import ReplyScore
from dialogauge.studies.replay.table import (
    Aggregate,
    CandidateScores,
    EvaluatorScores,
    Pairing,
    View,
    Viewer,
    aggregate,
    compare_candidates,
)

_STEPS: Final = 3
"""Constant candidates: every reply is given the best score, the second best, the third best."""


def ladder(viewer: Viewer) -> dict[View, dict[float, Aggregate]]:
    """Return the figures of the constant candidates in each view, the best first: it is the ceiling.

    On a scale of ranks even a candidate whose every reply gets a 5 stays below 5, and candidates whose
    interval holds that ceiling cannot be told from it.
    """
    scale = viewer.on.scale
    whole = sorted(viewer.on.levels, key=scale.quality, reverse=True)
    levels: Sequence[float] = whole[:_STEPS] or [scale.best]
    columns = {
        str(level): {i.id: ReplyScore(i.id, i.block, i.position, level, float(level)) for i in viewer.items}
        for level in levels
    }
    tables = viewer.tables(columns, original=False)
    return {view: {level: table.figures(str(level)) for level in levels} for view, table in tables.items()}


@keys(aggregates="candidates")
@dataclass(frozen=True, slots=True)
class LengthControl:
    """The leaderboard that reply length alone would make."""

    aggregates: Mapping[str, Aggregate]
    pairs: tuple[Pairing, ...]
    """Every candidate against the original replies."""


def length_control(viewer: Viewer, scores: EvaluatorScores) -> dict[View, LengthControl]:
    """Score every reply by its length alone: 3, 4 or 5 by the thirds of the original replies' lengths.

    Args:
        viewer: Of the evaluator; its scores are replaced.
        scores: The evaluator's: replies that have none take no part.
    """
    reference = scores.original.lengths
    items = {i.id: i for i in viewer.items}

    scale = viewer.on.scale

    def by_length(of: Mapping[str, int]) -> dict[str, float]:
        if scores.by == "pair":  # the longer of the two wins
            return {item: 0.5 + float(np.sign(n - reference[item])) / 2 for item, n in of.items()}
        levels = thirds(list(of.values()), list(reference.values()), ONE_TO_FIVE).values.tolist()
        share = map(ONE_TO_FIVE.quality, levels)
        return {i: scale.worst + q * (scale.best - scale.worst) for i, q in zip(of, share, strict=True)}

    originals = by_length(reference)
    blind = replace(
        viewer,
        reference=[replace(r, whole=originals[r.id], value=originals[r.id]) for r in viewer.reference],
    )
    columns = {
        name: {
            item: ReplyScore(item, items[item].block, items[item].position, level, level)
            for item, level in by_length({i: n for i, n in of.lengths.items() if i in of.scores}).items()
            if item in items
        }
        for name, of in scores.candidates.items()
    }
    out: dict[View, LengthControl] = {}
    for view, table in blind.tables(columns).items():
        figures = {name: aggregate(table.items, table.row(name), on=table.on) for name in table.names}
        pairs = tuple(p for p in compare_candidates(table) if p.b == ORIGINAL)
        out[view] = LengthControl(figures, pairs)
    return out


@dataclass(frozen=True, slots=True)
class SwappedPairs:
    """What a difference is when, user by user, chance decides whose scores are whose."""

    candidate: str
    range: tuple[float, float] | None
    """2.5 % and 97.5 % quantile of the user macro difference over the deals; None where nothing is paired."""
    deals: int


def shuffled(table: CandidateScores, *, deals: int = 200, seed: int = 0) -> tuple[SwappedPairs, ...]:
    """Deal the scores of each candidate and of the original replies anew, user by user.

    Items of one user go together: dealt item by item, what chance makes would look smaller than it is.
    """
    if ORIGINAL not in table.names:
        return ()
    rng = np.random.default_rng([seed, 2])
    pairs = [table.shared((name, ORIGINAL)) for name in table.names if name != ORIGINAL]
    return tuple(_dealt(t.names[0], t.items, t.whole[0] - t.whole[1], rng, deals) for t in pairs)


def _dealt(
    name: str, items: Sequence[ReplayItem], delta: Floats, rng: np.random.Generator, deals: int
) -> SwappedPairs:
    by_user = np.array(list(group_means(delta, [i.user for i in items]).values()))
    if not by_user.size:
        return SwappedPairs(name, None, deals)
    # Swapping the two changes the sign of their difference.
    signs = rng.integers(0, 2, size=(deals, by_user.size)) * 2 - 1
    low, high = np.quantile(signs @ by_user / by_user.size, [0.025, 0.975])
    return SwappedPairs(name, (float(low), float(high)), deals)


POSITIONS: Final = ("0", "1", "2", "3", "4", "5+")
"""The 0-based place of a reply in its conversation."""


@dataclass(frozen=True, slots=True)
class LengthFigures:
    """How long a candidate's replies are, and what length has to do with its scores."""

    mean_characters: float | None
    ratio_to_original: float | None
    """Its characters to those of the original replies, on the items that both have."""
    score_length_spearman: float | None
    """Spearman of raw score and length over its own replies."""
    delta_score_delta_length_spearman: float | None
    """Spearman of the difference in raw score with the difference in length, item by item."""
    cut_short: int | None
    """Replies that ended at the limit of tokens or in a filter; None where that is not known."""


def length_figures(table: CandidateScores, scores: EvaluatorScores) -> dict[str, LengthFigures]:
    """Return the figures of every candidate and of the original replies, from the table of the raw view."""
    ids = [i.id for i in table.items]
    own = _column(ids, scores.original.lengths)
    out = {}
    for name in table.names:
        replies = scores.original if name == ORIGINAL else scores.candidates[name]
        length = _column(ids, replies.lengths)
        score = table.fractions(name)
        both = ~np.isnan(length) & ~np.isnan(own)
        delta = score - table.fractions(ORIGINAL) if ORIGINAL in table.names else np.full(len(ids), np.nan)
        out[name] = LengthFigures(
            float(np.nanmean(length)) if not np.isnan(length).all() else None,
            float(length[both].sum() / own[both].sum()) if both.any() and own[both].sum() else None,
            _spearman(score, length),
            None if name == ORIGINAL else _spearman(delta, length - own),
            None if replies.cut_short is None else sum(i in replies.cut_short for i in ids),
        )
    return out


def _column(ids: Sequence[str], lengths: Mapping[str, int]) -> Floats:
    return np.array([lengths.get(i, np.nan) for i in ids], dtype=np.float64)


def _spearman(a: Floats, b: Floats) -> float | None:
    both = ~np.isnan(a) & ~np.isnan(b)
    return spearman(a[both].tolist(), b[both].tolist())


@dataclass(frozen=True, slots=True)
class PositionMean:
    """Of the items at one place of a conversation."""

    mean: float | None
    n: int


def by_position(table: CandidateScores) -> dict[str, dict[str, PositionMean]]:
    """Return by candidate and position the mean whole score, and how many there are."""
    places = np.array([min(i.position, len(POSITIONS) - 1) for i in table.items])
    out: dict[str, dict[str, PositionMean]] = {}
    for name in table.names:
        row = table.row(name)
        out[name] = {}
        for number, label in enumerate(POSITIONS):
            scores = row[(places == number) & ~np.isnan(row)]
            mean = float(scores.mean()) if scores.size else None
            out[name][label] = PositionMean(mean, int(scores.size))
    return out


@keys(
    family="judge_family",
    difference=None,
    user_macro_delta="user_macro_delta",
    interval="interval",
    words="in_words",
)
@dataclass(frozen=True, slots=True)
class SelfPreference:
    """Candidates of the judge's family against the others, on the same items."""

    family: str | None
    """The judge's; None when it has none, or none that is known."""
    own: tuple[str, ...]
    others: tuple[str, ...]
    difference: Estimate | None
    """User macro mean of what the own get more than the others."""

    @property
    def words(self) -> str:
        """Say what can be said."""
        if self.family is None:
            return "the judge belongs to no known family of models"
        if not self.own or not self.others:
            return f"no candidates both within and outside the judge's family {self.family!r}"
        return (
            f"a difference between {self.family} and other candidates may be quality or self-preference: "
            "a judge of another family tells which"
        )

    @property
    def user_macro_delta(self) -> float | None:
        """User macro mean of what the own get more than the others."""
        return None if self.difference is None else self.difference.value

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 %, paired, by users."""
        return None if self.difference is None else self.difference.interval


def self_preference(
    table: CandidateScores, family: str | None, families: Mapping[str, str | None]
) -> SelfPreference:
    """Hold candidates of the judge's family against those of other known families.

    Args:
        table: Of one view.
        family: The judge's.
        families: The candidates'; one of no known family takes no part.
    """
    named = {n: families.get(n) for n in table.names if n != ORIGINAL and families.get(n)}
    own = tuple(n for n, f in named.items() if f == family)
    others = tuple(n for n, f in named.items() if f != family)
    if family is None or not own or not others:
        return SelfPreference(family, own, others, None)
    both = table.shared((*own, *others))
    delta = table.on.better(_mean_of(both, own), _mean_of(both, others))
    by_user = group_means(delta, [i.user for i in table.items])
    basis = Basis(int(np.isfinite(delta).sum()), len(by_user), table.on.unit)
    difference, _ = basis.difference(macro_gain(by_user, table.on.width))
    return SelfPreference(family, own, others, difference if by_user else None)


def _mean_of(table: CandidateScores, names: Sequence[str]) -> Floats:
    """Mean over candidates, on the items that all of them have."""
    mean: Floats = np.mean([table.row(name) for name in names], axis=0)
    return mean
