"""The calibrations of a block: each is fitted to a history once and is a frozen map from then on.

Source: PersTurnBench, section 3.4 and appendix D.1; what its text leaves open is taken from its code. The
maps of whole blocks look at all raw scores of the block, so they cannot be used on a turn as it comes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, get_args

import numpy as np

from dialogauge.core import ONE_TO_FIVE, Scale, round_score
from dialogauge.core.json_keys import keys
from dialogauge.core.values import Value
from dialogauge.stats.score_history import Calibrated, RawScore, ScoreHistory, Ties, half_even, places_among
from dialogauge.stats.table import Floats, whole_scores

MIN_HISTORY = 5
"""Rated turns below which a history says too little."""
MIN_BLOCK = 2
"""Raw scores below which a block has no ranks and no mean of its own."""
_NO_HISTORY = ScoreHistory((), None, 0)

Apply = Callable[[Sequence[RawScore]], tuple[Calibrated, ...]]


class CalibrationMap(Value):
    """A fitted calibration."""

    apply: Apply
    """Calibrates the raw scores of one block and one candidate, in their order."""
    identity: str | None = None
    """Why it leaves scores as they are, but for rounding; None when it is a real map."""


def _identity(why: str, scale: Scale = ONE_TO_FIVE) -> CalibrationMap:
    return CalibrationMap(lambda scores: tuple(_rounded(s.value, scale) for s in scores), why)


def _shift(to: float, reference: Sequence[RawScore], scale: Scale) -> CalibrationMap:
    """Move scores so that the mean of the reference, or their own without one, becomes `to`; then round."""

    def apply(scores: Sequence[RawScore]) -> tuple[Calibrated, ...]:
        of = reference or scores
        shift = to - sum(s.value for s in of) / len(of) if of else 0.0
        return tuple(_rounded(s.value + shift, scale) for s in scores)

    return CalibrationMap(apply)


def fit_mean_shift(history: ScoreHistory) -> CalibrationMap:
    """Fit the mean shift; identity without a history, or with a thin or empty one."""
    thin = _thin(history)
    if thin is not None or history.mean is None:
        return thin or _identity("empty_history", history.scale)
    return _shift(history.mean, (), history.scale)


def fit_cdf(history: ScoreHistory, ties: Ties = "mid", reference: Sequence[RawScore] = ()) -> CalibrationMap:
    """Fit the CDF calibration: each rank within the block goes to that quantile of the history.

    With a reference (the block's original replies), ranks are taken among the scores and it. Identity without
    a history, or with a thin or empty one.
    """
    thin = _thin(history)
    if thin is not None or history.empty:
        return thin or _identity("empty_history", history.scale)
    return CalibrationMap(lambda scores: history.quantiles(places_among(scores, ties, reference)))


def fit_reference_mean_shift(history: ScoreHistory, reference: Sequence[RawScore]) -> CalibrationMap:
    """Fit the shift that brings the reference's mean to the history's."""
    thin = _thin(history)
    if thin is not None or history.mean is None or history.mean <= 0:
        return thin or _identity("bad_history_mean", history.scale)
    return _shift(history.mean, reference, history.scale)


def fit_reference_transfer(
    history: ScoreHistory, reference: Sequence[RawScore], ties: Ties = "turn-index"
) -> CalibrationMap:
    """Fit the table from raw scores to what the block's CDF calibration makes of the reference on average.

    A score that the reference never got takes the nearest one, the lower of two.
    """
    cdf, scale = fit_cdf(history, ties), history.scale
    if cdf.identity is not None or len(reference) < MIN_BLOCK:
        return _identity(cdf.identity or "small_block", scale)
    by_raw: dict[int, list[int]] = {}
    for raw, calibrated in zip(reference, cdf.apply(reference), strict=True):
        by_raw.setdefault(half_even(raw.value, scale), []).append(calibrated.rounded)
    table = {raw: sum(rounded) / len(rounded) for raw, rounded in sorted(by_raw.items())}

    def apply(scores: Sequence[RawScore]) -> tuple[Calibrated, ...]:
        wholes = (half_even(s.value, scale) for s in scores)
        return tuple(_rounded(table[min(table, key=lambda raw: abs(raw - w))], scale) for w in wholes)

    return CalibrationMap(apply)


def fit_pooled(history: ScoreHistory, scores: Sequence[RawScore]) -> CalibrationMap:
    """Fit ranks among the raw scores of all blocks to the distribution of all histories together.

    What the judge says of one user against another stays; only the marginal distribution becomes people's.
    """
    if history.empty:
        return _identity("no_history")
    pool = sorted(s.value for s in scores)

    def apply(scores: Sequence[RawScore]) -> tuple[Calibrated, ...]:
        places = ((bisect_left(pool, s.value) + bisect_right(pool, s.value)) / 2 for s in scores)
        return history.quantiles([place / len(pool) for place in places])

    return CalibrationMap(apply)


def _thin(history: ScoreHistory) -> CalibrationMap | None:
    if history.mean is None and history.turns == 0:
        return _identity("no_history")
    return _identity("thin_history", history.scale) if history.turns < MIN_HISTORY else None


def _rounded(value: float, scale: Scale) -> Calibrated:
    exact, low, high = round_score(value), scale.low, scale.high
    return Calibrated(max(float(low), min(float(high), exact)), int(max(low, min(high, round(exact)))))


CalibrationName = Literal[
    "none", "mean-shift", "cdf", "reference-cdf", "reference-mean-shift", "reference-transfer", "pooled"
]
CALIBRATIONS: tuple[CalibrationName, ...] = get_args(CalibrationName)


@keys(scores=None, changed=None, calibrated="calibrated")
class CalibrationRun(Value):
    """Calibrated scores with the counts that made them."""

    method: CalibrationName
    ties: Ties
    scores: tuple[Calibrated, ...]
    """One for each raw score, in their order."""
    changed: tuple[bool, ...]
    """Whether a real map was applied; False where the score was only rounded."""
    blocks: int
    """Groups of one block and one candidate."""
    calibrated_blocks: int
    identity: Mapping[str, int]
    """Blocks left as they are, by reason."""

    @property
    def calibrated(self) -> int:
        """Scores to which a map was applied."""
        return sum(self.changed)


def calibrate(
    scores: Sequence[RawScore],
    histories: Mapping[str, ScoreHistory],
    method: CalibrationName,
    *,
    ties: Ties = "mid",
    reference: Sequence[RawScore] | None = None,
) -> CalibrationRun:
    """Calibrate raw scores block by block and candidate by candidate.

    Args:
        scores: Of any number of blocks.
        histories: By block; a block that is missing has no history.
        method: The calibration; `none` only rounds.
        ties: What becomes of equal raw scores.
        reference: Raw scores of the blocks' original replies, for the reference methods; None when the
            scores are those of the original replies themselves.
    """
    groups: dict[tuple[str, str | None], list[int]] = {}
    for index, score in enumerate(scores):
        groups.setdefault((score.block, score.candidate), []).append(index)
    originals: dict[str, list[RawScore]] = {}
    for score in scores if reference is None else reference:
        originals.setdefault(score.block, []).append(score)
    out: list[Calibrated] = [Calibrated(0.0, 0)] * len(scores)
    changed = [False] * len(scores)
    identity: Counter[str] = Counter()
    pooled = _pooled(scores, histories) if method == "pooled" else {}
    for (block, candidate), indices in groups.items():
        mine, history = [scores[i] for i in indices], histories.get(block, _NO_HISTORY)
        fitted = pooled.get(candidate) or _fit(method, history, originals.get(block, []), ties, len(mine))
        for i, calibrated in zip(indices, fitted.apply(mine), strict=True):
            out[i], changed[i] = calibrated, fitted.identity is None
        if fitted.identity is not None:
            identity[fitted.identity] += 1
    real = len(groups) - identity.total()
    return CalibrationRun(method, ties, tuple(out), tuple(changed), len(groups), real, dict(identity))


def _fit(
    method: CalibrationName, history: ScoreHistory, reference: Sequence[RawScore], ties: Ties, size: int
) -> CalibrationMap:
    if method == "none":
        return _identity("not_asked_for")
    if method.startswith("reference-") and not reference:
        return _identity("no_reference")
    if method == "reference-cdf":
        return fit_cdf(history, ties, reference)
    if method == "reference-mean-shift":
        return fit_reference_mean_shift(history, reference)
    if method == "reference-transfer":
        return fit_reference_transfer(history, reference, ties)
    fitted = fit_cdf(history, ties) if method == "cdf" else fit_mean_shift(history)
    return _identity("small_block") if fitted.identity is None and size < MIN_BLOCK else fitted


def _pooled(
    scores: Sequence[RawScore], histories: Mapping[str, ScoreHistory]
) -> dict[str | None, CalibrationMap]:
    """Fit one map for each candidate, over all of its blocks; every block's history counts once."""
    out: dict[str | None, CalibrationMap] = {}
    for candidate in dict.fromkeys(s.candidate for s in scores):
        mine = [s for s in scores if s.candidate == candidate]
        own = [histories[b] for b in dict.fromkeys(s.block for s in mine) if b in histories]
        out[candidate] = fit_pooled(ScoreHistory.pooled(own) if own else _NO_HISTORY, mine)
    return out


_LEAST: Final = 50
"""Fewer ratings are too few to fit to."""
ROUNDING: Final = (1.5, 2.5, 3.5, 4.5)
"""Plain rounding, where too little is known."""
_MORE_THREES, _MORE_FIVES = 0.25, 0.2
"""By how much oftener 3 and 5 are given than by people; 4 gives way."""


def shares_of(scores: Floats) -> Floats:
    """Return how often each score from 1 to 5 is to be given, shape (5,).

    As often as people gave it, but a quarter more 3s and a fifth more 5s at the cost of the 4s, which keep
    at least half: a prediction draws towards the middle, and it is made for the dissatisfied next to the
    boundary.
    """
    whole = whole_scores(scores).astype(np.intp)
    shares: Floats = np.bincount(whole - 1, minlength=5) / whole.size
    more = np.array([0.0, 0.0, _MORE_THREES * shares[2], 0.0, _MORE_FIVES * shares[4]])
    if more.sum() > 0:
        more *= min(1.0, 0.5 * shares[3] / more.sum())
    shares += more
    shares[3] -= more.sum()
    return shares


def cuts_of(predicted: Floats, scores: Floats) -> tuple[float, ...]:
    """Return four ascending values of the prediction; a score is 1 and one more for each value exceeded.

    Both arguments, shape (ratings,), are of training users that were left out.
    """
    if scores.size < _LEAST or float(np.ptp(scores)) == 0:
        return ROUNDING
    below: Sequence[float] = np.minimum(np.cumsum(shares_of(scores))[:4], 1.0).tolist()
    return tuple(float(np.quantile(predicted, q)) for q in below)
