"""What users click, by how satisfied they are."""

from __future__ import annotations

from random import Random

import pytest

from dialogauge.core import UsageError
from dialogauge.stats.actions import calibrate, calibrate_two, distribution_of

PUBLISHED = {
    1: (0.000, 15.091), 2: (0.002, 14.821), 3: (0.010, 13.723), 4: (0.045, 10.303), 5: (0.197, 4.867),
    6: (0.817, 1.446), 7: (2.748, 0.349), 8: (5.818, 0.079), 9: (7.749, 0.018), 10: (8.369, 0.004),
}  # fmt: skip
"""Table 4 of MemoryBench: score -> P(L|S), P(D|S) in percent."""


def test_table_4_follows_from_table_3():
    model = calibrate()
    assert model.like_scale == pytest.approx(0.085667, abs=5e-7)
    assert model.dislike_scale == pytest.approx(0.151720, abs=5e-7)
    for score, (like, dislike) in PUBLISHED.items():
        assert abs(100 * model.at(score).like - like) <= 0.0025
        assert abs(100 * model.at(score).dislike - dislike) <= 0.0025


def test_a_curve_may_be_as_steep_as_a_step():
    model = calibrate(k=1e6)
    assert model.at(7).like == pytest.approx(0)
    assert model.at(8).like == pytest.approx(model.at(10).like)


def test_likes_are_as_frequent_as_asked_for():
    shares = {2: 0.25, 6: 0.25, 10: 0.5}
    model = calibrate(shares, (0.1, 0.05), k=2.0, middle=(6.0, 5.0))
    assert sum(share * model.at(s).like for s, share in shares.items()) == pytest.approx(0.1)
    assert sum(share * model.at(s).dislike for s, share in shares.items()) == pytest.approx(0.05)


def test_the_published_figures_of_dialsim_do_not_come_of_table_3():
    theirs = calibrate_two({9: 0.565, 3: 0.433})
    assert theirs.at(9).like == pytest.approx(0.0559 / 0.565)
    assert round(theirs.at(9).like, 3) == 0.099
    assert round(theirs.at(3).dislike, 3) == 0.021
    ours = calibrate_two({9: 0.4105, 3: 0.0306, 8: 0.5589})
    assert (round(ours.at(9).like, 3), round(ours.at(3).dislike, 3)) == (0.136, 0.297)


def test_copies_are_drawn_apart_and_of_long_outputs_alone():
    nine = calibrate().at(9)
    assert nine.copy(long=True) == pytest.approx(4 * nine.like)
    assert nine.copy(long=False) == 0.0
    drawn = [nine.draw(Random(seed), long=True) for seed in range(20_000)]
    both = sum({"like", "copy"} <= set(actions) for actions in drawn) / len(drawn)
    assert both == pytest.approx(nine.like * nine.copy(long=True), abs=0.004)
    assert drawn == [nine.draw(Random(seed), long=True) for seed in range(20_000)]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: calibrate({9: 0.0}), "shares of scores"),
        (lambda: calibrate({11: 1.0}), "shares of scores"),
        (lambda: calibrate({9: float("nan")}), "shares of scores"),
        (lambda: calibrate({1: 1.0}), "cannot be reached"),
        (lambda: calibrate(targets=(1.5, 0.1)), "1.5 of likes"),
        (lambda: calibrate_two({9: 1.0}), "dislikes cannot be reached"),
        (lambda: calibrate().at(11), "no score 11"),
        (lambda: distribution_of([]), "no scores"),
    ],
)
def test_what_cannot_be(make, message):
    with pytest.raises(UsageError, match=message):
        make()
