"""The calibrations of a block: each is fitted to a history once and is a frozen map from then on.

Source: PersTurnBench, section 3.4 and appendix D.1; what its text leaves open is taken from its code. The
maps of whole blocks look at all raw scores of the block, so they cannot be used on a turn as it comes.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from dialogauge.core import ONE_TO_FIVE, Scale
from dialogauge.stats.score_history import Calibrated, RawScore, ScoreHistory, Ties, half_even, quantiles

MIN_HISTORY = 5
"""Rated turns below which a history says too little."""
MIN_BLOCK = 2
"""Raw scores below which a block has no ranks and no mean of its own."""


class CalibrationMap(Protocol):
    """A fitted calibration."""

    @property
    def identity(self) -> str | None:
        """Why the map leaves scores as they are; None when it is a real one."""

    def apply(self, scores: Sequence[RawScore]) -> tuple[Calibrated, ...]:
        """Calibrate the raw scores of one block and one candidate, in their order."""


@dataclass(frozen=True, slots=True)
class IdentityMap:
    """Leaves the scores as they are, but for rounding."""

    identity: str | None
    scale: Scale = ONE_TO_FIVE

    def apply(self, scores: Sequence[RawScore]) -> tuple[Calibrated, ...]:
        """Round the scores."""
        return tuple(_rounded(s.value, self.scale) for s in scores)


@dataclass(frozen=True, slots=True)
class MeanShiftMap:
    """Moves scores so that their mean, or that of a reference, becomes the history's."""

    mean: float
    """Of the history."""
    reference_mean: float | None = None
    """None: the mean of the scores themselves."""
    scale: Scale = ONE_TO_FIVE
    identity: None = None

    def apply(self, scores: Sequence[RawScore]) -> tuple[Calibrated, ...]:
        """Move every score by the same amount, then round."""
        from_mean = self.reference_mean
        if from_mean is None:
            from_mean = sum(s.value for s in scores) / len(scores) if scores else self.mean
        shift = self.mean - from_mean
        return tuple(_rounded(s.value + shift, self.scale) for s in scores)


@dataclass(frozen=True, slots=True)
class CdfMap:
    """Gives the scores, in the order of their ranks, the distribution of the history."""

    history: ScoreHistory
    ties: Ties = "mid"
    identity: None = None

    def apply(self, scores: Sequence[RawScore]) -> tuple[Calibrated, ...]:
        """Map each rank within the block to the quantile of the history."""
        return _at(self.history, quantiles(scores, self.ties))


@dataclass(frozen=True, slots=True)
class ReferenceCdfMap:
    """As `CdfMap`, with ranks among the scores and a fixed reference: the block's original replies."""

    history: ScoreHistory
    reference: tuple[RawScore, ...]
    ties: Ties = "mid"
    identity: None = None

    def apply(self, scores: Sequence[RawScore]) -> tuple[Calibrated, ...]:
        """Map each rank among scores and reference to the quantile of the history."""
        return _at(self.history, quantiles(scores, self.ties, self.reference))


@dataclass(frozen=True, slots=True)
class TransferMap:
    """Gives a raw score what the reference turns of the same raw score got on average."""

    table: Mapping[int, float]
    """By raw score: the mean calibrated score."""
    scale: Scale = ONE_TO_FIVE
    identity: None = None

    def apply(self, scores: Sequence[RawScore]) -> tuple[Calibrated, ...]:
        """Look the scores up; one that the reference never got takes the nearest, the lower of two."""
        found = []
        for score in scores:
            whole = half_even(score.value, self.scale)
            nearest = min(sorted(self.table), key=lambda level: abs(level - whole))
            found.append(_rounded(self.table[nearest], self.scale))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class PooledMap:
    """Ranks among the scores of all blocks, the distribution of all histories together.

    What the judge says of one user against another stays; only the marginal distribution becomes people's.
    """

    history: ScoreHistory
    pool: tuple[float, ...]
    """The raw scores of all blocks, sorted; equal ones stay equal."""
    identity: None = None

    def apply(self, scores: Sequence[RawScore]) -> tuple[Calibrated, ...]:
        """Map the rank of each score among the pool to the quantile of the pooled history."""
        return _at(self.history, _quantiles_in(self.pool, scores))


def _quantiles_in(pool: Sequence[float], scores: Sequence[RawScore]) -> tuple[float, ...]:
    """Return the mid-rank quantile of each score in a sorted pool that holds it."""
    return tuple((bisect_left(pool, s.value) + bisect_right(pool, s.value)) / 2 / len(pool) for s in scores)


def fit_mean_shift(history: ScoreHistory | None) -> CalibrationMap:
    """Fit the mean shift; identity without a history, or with a thin one."""
    return _thin(history) or MeanShiftMap(_mean(history), scale=_scale(history))


def fit_cdf(history: ScoreHistory | None, ties: Ties = "mid") -> CalibrationMap:
    """Fit the CDF calibration; identity without a history, or with a thin or empty one."""
    thin = _thin(history)
    if thin is not None or history is None:
        return thin or IdentityMap("no_history")
    return IdentityMap("empty_history", history.scale) if history.empty else CdfMap(history, ties)


def fit_reference_cdf(
    history: ScoreHistory | None, reference: Sequence[RawScore], ties: Ties = "mid"
) -> CalibrationMap:
    """Fit the reference CDF; identity also without a reference."""
    if not reference:
        return IdentityMap("no_reference")
    found = fit_cdf(history, ties)
    return ReferenceCdfMap(found.history, tuple(reference), ties) if isinstance(found, CdfMap) else found


def fit_reference_mean_shift(history: ScoreHistory | None, reference: Sequence[RawScore]) -> CalibrationMap:
    """Fit the shift that brings the reference's mean to the history's."""
    if not reference:
        return IdentityMap("no_reference")
    thin = _thin(history)
    if thin is not None:
        return thin
    mean = _mean(history)
    if not math.isfinite(mean) or mean <= 0:
        return IdentityMap("bad_history_mean", _scale(history))
    return MeanShiftMap(mean, sum(r.value for r in reference) / len(reference), _scale(history))


def fit_reference_transfer(
    history: ScoreHistory | None, reference: Sequence[RawScore], ties: Ties = "turn-index"
) -> CalibrationMap:
    """Fit the table from raw scores to what the block's CDF calibration makes of the reference."""
    if not reference:
        return IdentityMap("no_reference")
    found = fit_cdf(history, ties)
    if found.identity is not None or len(reference) < MIN_BLOCK:
        return IdentityMap(found.identity or "small_block", _scale(history))
    sums: dict[int, list[int]] = {}
    for raw, calibrated in zip(reference, found.apply(reference), strict=True):
        sums.setdefault(half_even(raw.value, _scale(history)), []).append(calibrated.rounded)
    return TransferMap({raw: sum(got) / len(got) for raw, got in sums.items()}, _scale(history))


def fit_pooled(history: ScoreHistory | None, scores: Sequence[RawScore]) -> CalibrationMap:
    """Fit the pooled map to all raw scores and the pooled history."""
    if history is None or history.empty:
        return IdentityMap("no_history")
    return PooledMap(history, tuple(sorted(s.value for s in scores)))


def _thin(history: ScoreHistory | None) -> IdentityMap | None:
    if history is None or (history.mean is None and history.turns == 0):
        return IdentityMap("no_history")
    return IdentityMap("thin_history", history.scale) if history.turns < MIN_HISTORY else None


def _mean(history: ScoreHistory | None) -> float:
    return math.nan if history is None or history.mean is None else history.mean


def _scale(history: ScoreHistory | None) -> Scale:
    return ONE_TO_FIVE if history is None else history.scale


def _at(history: ScoreHistory, found: Sequence[float]) -> tuple[Calibrated, ...]:
    known = {q: Calibrated(history.smooth_quantile(q), history.quantile(q)) for q in set(found)}
    return tuple(known[q] for q in found)


def _rounded(value: float, scale: Scale) -> Calibrated:
    on_scale = max(float(scale.low), min(float(scale.high), value))
    return Calibrated(on_scale, half_even(value, scale))


CalibrationName = Literal[
    "none", "mean-shift", "cdf", "reference-cdf", "reference-mean-shift", "reference-transfer", "pooled"
]
CALIBRATIONS: tuple[CalibrationName, ...] = get_args(CalibrationName)


@dataclass(frozen=True, slots=True)
class CalibrationRun:
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

    def to_json(self) -> dict[str, object]:
        """Write the counts."""
        return {
            "method": self.method,
            "ties": self.ties,
            "blocks": self.blocks,
            "calibrated_blocks": self.calibrated_blocks,
            "calibrated": sum(self.changed),
            "identity": dict(self.identity),
        }


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
        mine = [scores[i] for i in indices]
        found = pooled.get(candidate) or _fit(
            method, histories.get(block), originals.get(block, []), ties, len(mine)
        )
        for i, calibrated in zip(indices, found.apply(mine), strict=True):
            out[i], changed[i] = calibrated, found.identity is None
        if found.identity is not None:
            identity[found.identity] += 1
    return CalibrationRun(
        method,
        ties,
        tuple(out),
        tuple(changed),
        len(groups),
        len(groups) - identity.total(),
        dict(identity),
    )


def _fit(
    method: CalibrationName,
    history: ScoreHistory | None,
    reference: Sequence[RawScore],
    ties: Ties,
    size: int,
) -> CalibrationMap:
    if method == "none":
        return IdentityMap("not_asked_for")
    if method == "reference-cdf":
        return fit_reference_cdf(history, reference, ties)
    if method == "reference-mean-shift":
        return fit_reference_mean_shift(history, reference)
    if method == "reference-transfer":
        return fit_reference_transfer(history, reference, ties)
    found = fit_cdf(history, ties) if method == "cdf" else fit_mean_shift(history)
    if found.identity is None and size < MIN_BLOCK:
        return IdentityMap("small_block")
    return found


def _pooled(
    scores: Sequence[RawScore], histories: Mapping[str, ScoreHistory]
) -> dict[str | None, CalibrationMap]:
    """Fit one map for each candidate, over all of its blocks; every block's history counts once."""
    out: dict[str | None, CalibrationMap] = {}
    for candidate in dict.fromkeys(s.candidate for s in scores):
        mine = [s for s in scores if s.candidate == candidate]
        held = [histories[b] for b in dict.fromkeys(s.block for s in mine) if b in histories]
        out[candidate] = fit_pooled(ScoreHistory.pooled(held) if held else None, mine)
    return out
