"""Student's t and the beta distribution against scipy."""

import pytest

from dialogauge.stats.distributions import beta_quantile, t_quantile, t_tail


@pytest.mark.parametrize("df", [1, 1.5, 2, 3, 5, 10, 29.25, 100, 1000, 9999, 200_000])
@pytest.mark.parametrize("p", [0.5, 0.6, 0.9, 0.975, 0.995, 0.025, 0.9999])
def test_t_agrees_with_scipy(p, df):
    stats = pytest.importorskip("scipy.stats")
    found = t_quantile(p, df)
    assert found == pytest.approx(stats.t.ppf(p, df), rel=1e-9, abs=1e-12)
    assert t_tail(abs(found), df) == pytest.approx(min(p, 1 - p), rel=1e-7)


@pytest.mark.parametrize(("p", "df"), [(0, 3), (1, 3), (0.5, 0)])
def test_t_refuses_what_has_no_quantile(p, df):
    with pytest.raises(ValueError, match="no t quantile"):
        t_quantile(p, df)


@pytest.mark.parametrize(
    ("a", "b"), [(1, 5), (1.5, 0.5), (1.0001, 0.3), (2, 3), (31, 1e6), (1001, 1001), (31, 1e9)]
)
@pytest.mark.parametrize("p", [0.025, 0.5, 0.975])
def test_beta_agrees_with_scipy(p, a, b):
    stats = pytest.importorskip("scipy.stats")
    assert beta_quantile(p, a, b) == pytest.approx(stats.beta.ppf(p, a, b), rel=1e-6)
