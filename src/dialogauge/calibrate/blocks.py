"""Calibrating the raw scores of many blocks, and counting where nothing could be calibrated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from dialogauge.calibrate.history import ScoreHistory
from dialogauge.calibrate.maps import (
    MIN_BLOCK,
    CalibrationMap,
    IdentityMap,
    fit_cdf,
    fit_mean_shift,
    fit_pooled,
    fit_reference_cdf,
    fit_reference_mean_shift,
    fit_reference_transfer,
)
from dialogauge.calibrate.ranks import Ties
from dialogauge.calibrate.scores import Calibrated, RawScore

__all__ = ["CALIBRATIONS", "CalibrationName", "CalibrationRun", "calibrate"]

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
