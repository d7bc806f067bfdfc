import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.stats import classification, f1_draws, precision_draws, recall_draws


def test_exact_by_hand():
    # called 1 at 0,1,2; positive at 1,2,3: tp 2, fp 1, fn 1, tn 1
    found = classification([1, 1, 1, 0, 0], [0, 1, 1, 1, 0])
    assert (found.true_positives, found.false_positives, found.false_negatives) == (2, 1, 1)
    assert (found.true_negatives, found.n) == (1, 5)
    assert found.precision == found.recall == found.f1 == pytest.approx(2 / 3)


def test_what_is_undefined_is_none_and_what_was_missed_is_zero():
    none_called = classification([0, 0], [1, 0])
    assert (none_called.precision, none_called.recall, none_called.f1) == (None, 0.0, 0.0)
    nothing = classification([0, 0], [0, 0])
    assert (nothing.precision, nothing.recall, nothing.f1) == (None, None, None)


def test_bad_labels_are_refused():
    with pytest.raises(ValueError, match="0 or 1"):
        classification([2], [1])
    with pytest.raises(ValueError, match="different length"):
        classification([1], [1, 0])


labels = st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 3)), min_size=1, max_size=30)


@given(labels)
def test_draws_agree_with_sklearn_on_repeated_values(rows):
    metrics = pytest.importorskip("sklearn.metrics")
    called, positive, times = (np.array(c, dtype=float) for c in zip(*rows, strict=True))
    weights = times[None, :]
    a, b = np.repeat(called, times.astype(int)), np.repeat(positive, times.astype(int))
    for draws, oracle in (
        (precision_draws, metrics.precision_score),
        (recall_draws, metrics.recall_score),
        (f1_draws, metrics.f1_score),
    ):
        value = draws(called, positive, weights)[0]
        if np.isfinite(value):
            assert value == pytest.approx(oracle(b, a, zero_division=0))
