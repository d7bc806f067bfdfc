import numpy as np
import pytest

from dialogauge.stats import deal, pearson, permutation_test


def test_dealing_keeps_the_values_of_each_row():
    found = deal([1.0, 2.0, 3.0, 3.0], np.random.default_rng(0), 5)
    assert found.shape == (5, 4)
    assert all(sorted(row) == [1, 2, 3, 3] for row in found.tolist())


def test_a_real_relation_lies_outside_the_shuffles_and_none_inside():
    rng = np.random.default_rng(1)
    y = rng.normal(size=200)

    def r(x):
        return pearson(x, y).value

    related = permutation_test(r, y + rng.normal(size=200), rng=np.random.default_rng(2))
    assert related.value > related.high
    assert related.p == pytest.approx(1 / 201)
    assert abs(related.mean) < 0.02
    chance = permutation_test(r, rng.normal(size=200), rng=np.random.default_rng(2))
    assert chance.low < chance.value < chance.high


def test_undefined_stays_undefined():
    found = permutation_test(lambda _: float("nan"), [1.0, 2.0], rng=np.random.default_rng(0), shuffles=3)
    assert (found.value, found.mean, found.p) == (None, None, None)
    with pytest.raises(ValueError, match="at least one shuffle"):
        permutation_test(lambda _: 0.0, [1.0], rng=np.random.default_rng(0), shuffles=0)
