"""Whether scores follow length or position rather than content, and whether a judge favours its family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from dialogauge.core import ONE_TO_FIVE
from dialogauge.core.json_keys import keys
from dialogauge.stats import Basis, Estimate, Floats, group_means, macro_gain, spearman, thirds
from dialogauge.studies.replay.board import Board
from dialogauge.studies.replay.figures import Aggregate, Pairing, aggregate, compare_candidates
from dialogauge.studies.replay.items import ORIGINAL

_STEPS: Final = 3
"""Constant candidates: every reply is given the best score, the second best, the third best."""


def constant_candidates(board: Board) -> dict[float, Board]:
    """Return a board for each constant candidate, the best first: in any view it is the ceiling.

    On a scale of ranks even a candidate whose every reply gets a 5 stays below 5, and candidates whose
    interval holds that ceiling cannot be told from it.
    """
    scale = board.on.scale
    whole = sorted(board.on.levels, key=scale.quality, reverse=True)
    levels: Sequence[float] = whole[:_STEPS] or [scale.best]
    shape = (1, len(board.items))
    return {level: board.with_scores((str(level),), np.full(shape, float(level))) for level in levels}


def ladder(constant: Mapping[float, Board]) -> dict[float, Aggregate]:
    """Return the figures of constant candidates in one view."""
    return {level: aggregate(board, str(level)) for level, board in constant.items()}


@keys(aggregates="candidates")
@dataclass(frozen=True, slots=True)
class LengthControl:
    """The leaderboard that reply length alone would make."""

    aggregates: Mapping[str, Aggregate]
    pairs: tuple[Pairing, ...]
    """Every candidate against the original replies."""


def scored_by_length(board: Board) -> Board:
    """Score every reply that has a score by its length alone.

    By the thirds of the original replies' lengths: 3, 4 or 5; beside the original the longer of the two wins.
    """
    reference, scale = board.reference.lengths, board.on.scale
    lengths = np.full(board.whole.shape, np.nan) if board.lengths is None else board.lengths

    def by_length(of: Floats) -> Floats:
        levels = thirds(of, list(reference.values()), ONE_TO_FIVE).values
        share = (levels - ONE_TO_FIVE.low) / (ONE_TO_FIVE.high - ONE_TO_FIVE.low)
        scores: Floats = scale.worst + share * (scale.best - scale.worst)
        return scores

    if board.by == "pair":
        scores = 0.5 + np.sign(lengths - lengths[board.at(ORIGINAL)]) / 2
        blind = board.reference
    else:
        filled = np.nan_to_num(lengths)
        scores = by_length(filled.ravel()).reshape(filled.shape)
        levels = by_length(np.array(list(reference.values()), dtype=np.float64)).tolist()
        of_turn = dict(zip(reference, levels, strict=True))
        originals = (replace(score, value=of_turn[score.id]) for score in board.reference.scores)
        blind = replace(board.reference, scores=tuple(originals))
    scores = np.where(np.isnan(board.whole), np.nan, scores)
    return replace(board.with_scores(board.names, scores), reference=blind)


def length_control(board: Board) -> LengthControl:
    """Return the leaderboard of one view of `scored_by_length`."""
    whole = replace(board, value=board.whole)
    figures = {name: aggregate(whole, name) for name in board.names}
    return LengthControl(figures, tuple(p for p in compare_candidates(board) if p.b == ORIGINAL))


@dataclass(frozen=True, slots=True)
class SwappedPairs:
    """What a difference is when, user by user, chance decides whose scores are whose."""

    candidate: str
    range: tuple[float, float] | None
    """2.5 % and 97.5 % quantile of the user macro difference over the deals; None where nothing is paired."""
    deals: int


def shuffled(board: Board, *, deals: int = 200, seed: int = 0) -> tuple[SwappedPairs, ...]:
    """Deal the scores of each candidate and of the original replies anew, user by user.

    Items of one user go together: dealt item by item, what chance makes would look smaller than it is.
    """
    if ORIGINAL not in board.names:
        return ()
    rng = np.random.default_rng([seed, 2])
    dealt = []
    for name in (name for name in board.names if name != ORIGINAL):
        two = board.shared((name, ORIGINAL))
        by_user = np.array(list(group_means(two.whole[0] - two.whole[1], two.groups("user")).values()))
        ends = None
        if by_user.size:
            # Swapping the two changes the sign of their difference.
            signs = rng.integers(0, 2, size=(deals, by_user.size)) * 2 - 1
            low, high = np.quantile(signs @ by_user / by_user.size, [0.025, 0.975])
            ends = float(low), float(high)
        dealt.append(SwappedPairs(name, ends, deals))
    return tuple(dealt)


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


def length_figures(board: Board) -> dict[str, LengthFigures]:
    """Return the figures of every candidate and of the original replies, from the raw view."""
    lengths = np.full(board.whole.shape, np.nan) if board.lengths is None else board.lengths
    at, present, out = board.at(ORIGINAL), {item.id for item in board.items}, {}
    for name, length, score in zip(board.names, lengths, board.value, strict=True):
        both = ~np.isnan(length) & ~np.isnan(lengths[at])
        total, cut = lengths[at][both].sum(), board.cut_short.get(name)
        out[name] = LengthFigures(
            float(np.nanmean(length)) if not np.isnan(length).all() else None,
            float(length[both].sum() / total) if total else None,
            _spearman(score, length),
            None if name == ORIGINAL else _spearman(score - board.value[at], length - lengths[at]),
            None if cut is None else len(cut & present),
        )
    return out


def _spearman(a: Floats, b: Floats) -> float | None:
    both = ~np.isnan(a) & ~np.isnan(b)
    return spearman(a[both].tolist(), b[both].tolist())


@dataclass(frozen=True, slots=True)
class PositionMean:
    """Of the items at one place of a conversation."""

    mean: float | None
    n: int


def by_position(board: Board) -> dict[str, dict[str, PositionMean]]:
    """Return by candidate and position the mean whole score, and how many there are."""
    places = np.array([min(item.position, len(POSITIONS) - 1) for item in board.items])
    out: dict[str, dict[str, PositionMean]] = {}
    for name, row in zip(board.names, board.whole, strict=True):
        groups = (row[(places == number) & ~np.isnan(row)] for number in range(len(POSITIONS)))
        means = (PositionMean(float(of.mean()) if of.size else None, int(of.size)) for of in groups)
        out[name] = dict(zip(POSITIONS, means, strict=True))
    return out


@keys(
    family="judge_family",
    difference=None,
    words="in_words",
    **{"difference.value": "user_macro_delta", "difference.interval": "interval"},
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


def self_preference(board: Board, family: str | None) -> SelfPreference:
    """Hold candidates of the judge's family against those of other known families, in one view.

    Args:
        board: Candidates may say of which `family` of models they are; one of none takes no part.
        family: The judge's.
    """
    families = {name: board.about.get(name, {}).get("family") for name in board.candidates}
    own = tuple(n for n, of in families.items() if of and of == family)
    others = tuple(n for n, of in families.items() if of and of != family)
    if family is None or not own or not others:
        return SelfPreference(family, own, others, None)
    both = board.shared((*own, *others))
    halves = np.mean(both.whole[: len(own)], axis=0), np.mean(both.whole[len(own) :], axis=0)
    delta = board.on.better(*halves)
    by_user = group_means(delta, both.groups("user"))
    basis = Basis(int(np.isfinite(delta).sum()), len(by_user), board.on.unit)
    difference, _ = basis.difference(macro_gain(by_user, board.on.width))
    return SelfPreference(family, own, others, difference if by_user else None)
