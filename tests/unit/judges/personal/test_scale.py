from __future__ import annotations

import pytest

from dialogauge.judges.personal.memory import MemoryFault, ScoreScale

FIGURES = [
    # scores, counts, mean, strictness, share, 3|4, 4|5, low evidence
    ([], (0, 0, 0, 0, 0), None, None, None, False, False, "none"),
    ([4], (0, 0, 0, 1, 0), 4.0, "moderate", 1.0, False, False, "none"),
    ([3, 4], (0, 0, 1, 1, 0), 3.5, "very_strict", 0.5, True, False, "sparse"),
    ([2, 5], (0, 1, 0, 0, 1), 3.5, "very_strict", 0.5, True, False, "sparse"),
    ([5, 5, 4], (0, 0, 0, 1, 2), 14 / 3, "lenient", 1.0, False, True, "none"),
    ([1, 2, 3, 3, 4, 5], (1, 1, 2, 1, 1), 3.0, "very_strict", 1 / 3, True, True, "moderate"),
    ([3] * 9 + [5], (0, 0, 9, 0, 1), 3.2, "very_strict", 0.1, True, False, "rich"),
    ([3.5, 4.5], (0, 0, 0, 1, 1), 4.0, "moderate", 1.0, False, True, "none"),
]


@pytest.mark.parametrize(
    ("scores", "counts", "mean", "strictness", "share", "low", "high", "evidence"), FIGURES
)
def test_figures_by_hand(scores, counts, mean, strictness, share, low, high, evidence) -> None:
    scale = ScoreScale.of(scores)
    assert scale.counts == counts
    assert scale.mean == (None if mean is None else pytest.approx(mean))
    assert scale.strictness == strictness
    assert scale.satisfied_share == (None if share is None else pytest.approx(share))
    assert (scale.compares_three_four, scale.compares_four_five) == (low, high)
    assert scale.low_evidence == evidence
    assert ScoreScale.from_json(scale.to_json()) == scale


COUNTS = {"1": 0, "2": 1, "3": 2, "4": 5, "5": 4}


@pytest.mark.parametrize(
    ("counts", "mean", "said"),
    [
        (COUNTS, 0, "is not the mean"),
        (COUNTS, 6, "is not the mean"),
        (COUNTS, None, "expected a number"),
        (COUNTS, True, "expected a number"),
        ({**COUNTS, "1": -1}, 3.9, "0 or more"),
        ({**COUNTS, "1": True}, 3.9, "0 or more"),
        ({**COUNTS, "1": 1.0}, 3.9, "0 or more"),
        ({"1": 1}, 3.9, "one count for each"),
        (None, 3.9, "one count for each"),
        (dict.fromkeys(COUNTS, 0), 3.9, "no score is counted"),
    ],
)
def test_what_cannot_be_a_scale_is_refused(counts, mean, said) -> None:
    with pytest.raises(MemoryFault, match=said):
        ScoreScale.from_json({"counts": counts, "mean": mean})
