import pytest

from dialogauge.stats import wilson_interval


@pytest.mark.parametrize(("hits", "n"), [(0, 21), (3, 10), (50, 100), (7, 7)])
def test_agrees_with_scipy(hits, n):
    stats = pytest.importorskip("scipy.stats")
    oracle = stats.binomtest(hits, n).proportion_ci(method="wilson")
    assert wilson_interval(hits, n) == pytest.approx((oracle.low, oracle.high), abs=1e-9)


def test_nothing_and_nonsense():
    assert wilson_interval(0, 0) is None
    with pytest.raises(ValueError, match="no interval"):
        wilson_interval(3, 2)
