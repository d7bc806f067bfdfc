import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.stats import draw_p, holm


def test_holm_by_hand():
    # sorted .01 .03 .04 times 3 2 1: .03 .06 .06
    assert holm([0.04, 0.01, 0.03]) == pytest.approx((0.06, 0.03, 0.06))


def test_what_has_no_p_takes_no_part():
    assert holm([None, 0.02, None]) == (None, 0.02, None)
    assert holm([]) == ()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_never_lowers_and_keeps_the_order(values):
    found = holm(values)
    assert all(f >= min(v, 1) for f, v in zip(found, values, strict=True))
    order = np.argsort(values)
    assert list(np.array(found)[order]) == sorted(found)


def test_p_of_draws_by_hand():
    # 1 of 19 draws at or below 0: 2 * (1 + 1) / 20
    assert draw_p(np.array([-0.1] + [0.2] * 18)) == pytest.approx(0.2)
    assert draw_p(np.zeros(9)) == 1.0
    assert draw_p(np.array([np.nan, np.nan, 1.0])) is None
    assert draw_p(np.array([])) is None
