"""Cases PT-02 to PT-05 of the acceptance cases for PersTurnBench (computed by its authors' public code)."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import Scale, whole_score
from dialogauge.stats import (
    RawScore,
    ScoreHistory,
    calibrate,
    half_even,
)
from dialogauge.stats.calibration import (
    fit_cdf,
    fit_mean_shift,
    fit_reference_mean_shift,
)


def raws(values, *, block="b", candidate=None, ids=None, turns=None):
    return [
        RawScore(ids[i] if ids else f"t{i}", v, turns[i] if turns else i, block, candidate)
        for i, v in enumerate(values)
    ]


def history(counts, mean=None, turns=None):
    scores = [s for s, n in enumerate(counts, 1) for _ in range(n)]
    found = ScoreHistory.of(scores, turns=turns)
    return (
        found if mean is None else ScoreHistory(found.counts, mean, found.turns if turns is None else turns)
    )


def test_scores_that_differ_by_the_order_of_a_sum_share_a_quantile():
    left, right = (0.1 + 0.2) + 0.3 + 3, 0.1 + (0.2 + 0.3) + 3
    scores = raws([left, right, 4.0])
    assert scores[0].value == scores[1].value == 3.6
    done = fit_cdf(history([2, 2, 2, 2, 2])).apply(scores)
    assert done[0] == done[1] != done[2]


def test_a_shift_onto_a_half_rounds_as_a_half():
    """Scores 3 and 4 of the mean 3.5 come to the mean 4 by a half each; 3.5 and 4.5 round to 4."""
    shifted = fit_mean_shift(history([0, 0, 2, 6, 2], mean=math.nextafter(4.0, 0))).apply(raws([3, 4]))
    assert [s.rounded for s in shifted] == [4, 4]


@pytest.mark.parametrize(
    ("raw", "mean", "out"),
    [
        ([3, 4, 4, 5], 4.5, [4, 4, 4, 5]),
        ([3, 4, 4, 5], 4.0, [3, 4, 4, 5]),
        ([4, 4, 4, 4], 4.5, [4, 4, 4, 4]),
        ([2, 2, 3, 3], 3.0, [2, 2, 4, 4]),
        ([5, 5, 5, 4], 2.25, [2, 2, 2, 2]),
        ([1, 5], 3.5, [2, 5]),
        ([4], 3.2, [3]),
        ([3, 4, 5, 5, 5], 4.6, [3, 4, 5, 5, 5]),
    ],
)
def test_mean_shift(raw, mean, out) -> None:
    found = fit_mean_shift(ScoreHistory((0, 0, 0, 5, 5), mean, 10)).apply(raws(raw))
    assert [c.rounded for c in found] == out


@pytest.mark.parametrize(
    ("pairs", "counts", "out"),
    [
        ([(4, 0), (4, 1), (4, 2), (4, 3)], (0, 0, 1, 1, 2), [3, 4, 5, 5]),
        ([(4, 0), (3, 1), (5, 2), (4, 3), (4, 4)], (1, 1, 2, 4, 2), [3, 1, 5, 4, 4]),
        ([(5, 3), (5, 1), (5, 2), (5, 0)], (0, 0, 1, 1, 2), [5, 4, 5, 3]),
        ([(4, 0), (4, 0), (4, 1), (4, 1)], (0, 1, 1, 1, 1), [2, 3, 4, 5]),
        ([(2, 0), (3, 1)], (0, 0, 0, 3, 1), [4, 4]),
        ([(2, 0), (3, 1)], (0, 0, 1, 2, 1), [3, 4]),
        ([(3, 0), (4, 1), (5, 2)], (0, 0, 0, 0, 0), [3, 4, 5]),
        (
            [(v, i) for i, v in enumerate([1, 2, 3, 4, 5, 5, 4, 3, 4, 5])],
            (0, 2, 3, 9, 12),
            [2, 3, 4, 4, 5, 5, 5, 4, 5, 5],
        ),
    ],
)
def test_cdf_in_the_published_order(pairs, counts, out) -> None:
    values, turns = zip(*pairs, strict=True)
    found = fit_cdf(history(counts, turns=9), "turn-index").apply(raws(values, turns=turns))
    assert [c.rounded for c in found] == out


# PT-04: who is left as they are.
FALLBACKS = {
    "A": ScoreHistory((0, 0, 2, 4, 4), 4.2, 10),
    "B": ScoreHistory((0, 0, 2, 1, 1), 3.75, 4),
    "C": ScoreHistory((0, 0, 2, 4, 4), 4.2, 10),
}
RECORDS = [
    *raws([4, 4, 3, 5, 4], block="A"),
    *raws([2, 3], block="B"),
    *raws([2], block="C"),
    *raws([5, 1], block="D"),
]


@pytest.mark.parametrize(
    ("method", "out"),
    [("cdf", [4, 4, 3, 5, 5, 2, 3, 2, 5, 1]), ("mean-shift", [4, 4, 3, 5, 4, 2, 3, 2, 5, 1])],
)
def test_fallbacks_are_counted(method, out) -> None:
    run = calibrate(RECORDS, FALLBACKS, method, ties="turn-index")
    assert [c.rounded for c in run.scores] == out
    assert run.changed == (True,) * 5 + (False,) * 5
    assert (run.blocks, run.calibrated_blocks) == (4, 1)
    assert run.identity == {"thin_history": 1, "small_block": 1, "no_history": 1}


@pytest.mark.parametrize("method", ["cdf", "mean-shift"])
def test_a_history_without_a_score_calibrates_nothing(method) -> None:
    run = calibrate(raws([4, 3], block="A"), {"A": ScoreHistory((0,) * 5, None, 10)}, method)
    assert [c.rounded for c in run.scores] == [4, 3]
    assert run.identity == {"empty_history": 1}


# PT-05: scores of replies ranked among those of the original replies.
REFERENCE_IDS = ("0_0", "0_1", "0_2", "2_0", "2_1", "10_0", "10_1", "10_2")


def published(pair: str) -> str:
    session, turn = pair.split("_")
    return f"A__x__{session}.json__turn_{turn}"


def reference():
    values = [3, 4, 4, 4, 5, 4, 5, 2]
    ids = [published(p) for p in REFERENCE_IDS]
    return raws(values, block="A", ids=ids, turns=[int(p[-1]) for p in REFERENCE_IDS])


def test_block_cdf_of_the_reference() -> None:
    found = fit_cdf(ScoreHistory((0, 0, 2, 4, 4), 4.2, 10), "turn-index").apply(reference())
    assert [c.rounded for c in found] == [3, 4, 5, 4, 5, 4, 5, 3]


@pytest.mark.parametrize("method", ["reference-cdf", "reference-mean-shift", "reference-transfer"])
def test_reference_methods(method) -> None:
    ids = [published(p) for p in ("0_1", "10_0", "2_1")] + ["Z__x__0.json__turn_1"]
    targets = raws([4, 4, 5], block="A", ids=ids[:3], turns=[1, 0, 1]) + raws([4], block="Z", ids=ids[3:])
    ties = "turn-index" if method == "reference-transfer" else "sample-id"
    histories = {"A": ScoreHistory((0, 0, 2, 4, 4), 4.2, 10)}
    run = calibrate(targets, histories, method, ties=ties, reference=reference())
    assert [c.rounded for c in run.scores] == [4, 4, 5, 4]
    assert run.changed == (True, True, True, False)
    assert (run.blocks, run.calibrated_blocks, run.identity) == (2, 1, {"no_reference": 1})


def test_reference_ladder() -> None:
    past = ScoreHistory((1, 2, 5, 8, 4), 3.6, 20)
    originals = raws([3, 3, 4, 4, 4, 4, 5, 5, 3, 4, 4, 3], ids=[f"S__x__0.json__turn_{i}" for i in range(12)])
    cdf = fit_cdf(past, "sample-id", originals)
    shift = fit_reference_mean_shift(past, originals)
    ladder = [raws([raw], ids=["S__x__0.json__turn_7"]) for raw in (1, 2, 3, 4, 5)]
    assert [cdf.apply(one)[0].rounded for one in ladder] == [1, 1, 3, 4, 5]
    assert [shift.apply(one)[0].rounded for one in ladder] == [1, 2, 3, 4, 5]


def tied_reference():
    names = ("0_0", "0_1", "2_0", "2_1", "10_0", "10_1")
    return raws([4] * 6, block="A", ids=[published(n) for n in names]), names


def test_equal_scores_by_the_order_of_their_names() -> None:
    originals, names = tied_reference()
    found = fit_cdf(ScoreHistory((0, 0, 3, 3, 3), 4.0, 9), "sample-id", originals)
    alone = [found.apply(raws([4], ids=[published(n)]))[0].rounded for n in names]
    assert alone == [3, 4, 5, 5, 4, 4]


def test_candidates_are_not_ranked_against_each_other() -> None:
    originals, _ = tied_reference()
    ids = [published(n) for n in ("0_1", "2_0", "10_1")]
    both = raws([5, 3, 4], block="A", ids=ids, candidate="m") + raws(
        [5, 3, 4], block="A", ids=ids, candidate="k"
    )
    histories = {"A": ScoreHistory((0, 0, 3, 3, 3), 4.0, 9)}
    run = calibrate(both, histories, "reference-cdf", ties="sample-id", reference=originals)
    assert [c.rounded for c in run.scores] == [5, 3, 4, 5, 3, 4]


# PT-06: primitives.
def test_rounding() -> None:
    assert [whole_score(v) for v in (3.5, 4.5, 2.5, 4.4999, 0.2, 5.7)] == [4, 5, 3, 4, 1, 5]
    assert [half_even(v) for v in (3.5, 4.5, 2.5, 0.2, 5.7)] == [4, 4, 2, 1, 5]


def test_mid_ties_keep_equal_scores_equal() -> None:
    run = calibrate(raws([4] * 4), {"b": history((0, 0, 2, 3, 5))}, "cdf")
    assert len({(c.value, c.rounded) for c in run.scores}) == 1
    # a judge that always says the same gets the median: half of the mass lies at 4 or below
    assert run.scores[0].rounded == 4


def test_pooled_keeps_the_users_apart() -> None:
    scores = [*raws([2, 2], block="low"), *raws([5, 5], block="high")]
    histories = {"low": history((0, 0, 0, 5, 0)), "high": history((0, 5, 0, 0, 0))}
    run = calibrate(scores, histories, "pooled")
    assert [c.rounded for c in run.scores] == [2, 2, 4, 4]


@given(
    values=st.lists(st.integers(1, 5), min_size=2, max_size=12),
    counts=st.tuples(*[st.integers(0, 6)] * 5).filter(lambda c: sum(c) >= 5),
    method=st.sampled_from(["mean-shift", "cdf", "reference-cdf", "pooled"]),
)
def test_order_is_kept_and_the_fraction_rounds_to_the_score(values, counts, method) -> None:
    run = calibrate(raws(values), {"b": history(counts)}, method)
    pairs = sorted(zip(values, run.scores, strict=True), key=lambda p: p[0])
    for (a, low), (b, high) in pairwise(pairs):
        assert low.value <= high.value + 1e-12
        assert low.rounded <= high.rounded
        assert a != b or low == high
    for calibrated in run.scores:
        assert 1 <= calibrated.value <= 5
        assert abs(calibrated.value - calibrated.rounded) <= 0.5 + 1e-9


def test_history_counts_fractions_and_pools() -> None:
    found = ScoreHistory.of([3.5, 4, 5])
    assert (found.counts, found.turns) == ((0, 0, 0, 2, 1), 3)
    both = ScoreHistory.pooled([found, ScoreHistory.of([1])])
    assert both.counts == (1, 0, 0, 2, 1)
    assert both.mean == pytest.approx(13.5 / 4)
    assert ScoreHistory.of([]).mean is None
    with pytest.raises(ValueError, match="empty history"):
        ScoreHistory.of([]).quantiles([0.5])


def test_a_history_on_another_scale() -> None:
    ten = Scale(0, 10)
    history = ScoreHistory.of([0, 10, 10, 7.5, 2, 2], scale=ten)
    assert history.counts == (1, 0, 2, 0, 0, 0, 0, 0, 1, 0, 2)
    assert [c.rounded for c in history.quantiles([0.01, 1.0])] == [0, 10]
    scores = [RawScore(f"t{i}", value, turn=i, block="b") for i, value in enumerate((0.0, 5.0, 10.0))]
    run = calibrate(scores, {"b": history}, "cdf")
    assert [c.rounded for c in run.scores] == [0, 2, 10]
