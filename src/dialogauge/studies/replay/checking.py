"""Whether an evaluator of replies is checked: by the ratings of the original replies, and by planted ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from dialogauge.core import PlainDimension
from dialogauge.studies.evidence import DimensionEvidence
from dialogauge.studies.judging.checking import checked_by_ratings
from dialogauge.studies.judging.people_tally import PeopleTally
from dialogauge.studies.replay.board import Board
from dialogauge.studies.replay.figures import Pairing
from dialogauge.studies.replay.items import ORIGINAL
from dialogauge.studies.satisfaction.answers import SATISFACTION

_UNRATED: Final = "nobody rated the original replies of these items"


def evaluator_evidence(scores: Board, planted: Sequence[Pairing]) -> DimensionEvidence:
    """Say whether an evaluator agrees with the users on their original replies, and cannot be gamed.

    Args:
        scores: Of the evaluator, on one dimension.
        planted: Each planted candidate against the original replies.
    """
    if liked := [pair.a.partition(": ")[2] for pair in planted if pair.gain is not None]:
        why = f"it likes planted replies better than the original ones: {', '.join(liked)}"
        return DimensionEvidence(checked=False, why=why)
    if not planted:
        return DimensionEvidence(checked=False, why="no planted candidates were scored (--no-planted)")
    spec = PlainDimension(SATISFACTION, "turn", scores.on.scale)
    tally, numbers = PeopleTally((spec,)), dict[str, int]()
    targets = tally.levels["turn"]
    for item, score in zip(scores.items, scores.value[scores.at(ORIGINAL)].tolist(), strict=True):
        if item.gold is None or math.isnan(score):
            continue
        if item.conversation not in numbers:
            numbers[item.conversation] = len(numbers)
            tally.users.append(item.user)
            tally.names.append(item.conversation)
        length = scores.reference.lengths.get(item.id, 0)
        figures = {SATISFACTION: score}
        place = targets.add(numbers[item.conversation], item.position + 1, length, figures)
        targets.ratings.setdefault(SATISFACTION, {})[place] = item.gold
        targets.counts[SATISFACTION] += 1
    if not numbers:
        return DimensionEvidence(checked=False, why=_UNRATED)
    tally.raters["turn", SATISFACTION] = {"users"}
    return checked_by_ratings(tally, (spec,))[SATISFACTION]
