"""What BM25 and the fitted ranker find of LoCoMo's evidence: the floors, and that the weights come again.

Expected figures: docs/development/results/learn.md.
"""

from __future__ import annotations

import statistics
from functools import cache

import numpy as np
import pytest
from benchmarks.retrieval import FITTED, MEASURED, SHARED, Recalls, fit, left_out, locomo, recalls

from dialogauge.retrieval.ranked import load_weights

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not SHARED, reason="DIALOGAUGE_SHARED is not set"),
    pytest.mark.xdist_group("locomo"),
]


@cache
def measured() -> Recalls:
    return recalls(locomo(*MEASURED))


def mean(method: str) -> float:
    return statistics.fmean(value for _, value in measured()[method])


def test_bm25_on_conversations_5_to_7() -> None:
    assert mean("bm25 message") >= 0.57
    assert mean("bm25 session") >= 0.895


def test_the_ranker_on_conversations_that_it_was_not_fitted_to() -> None:
    assert mean("ranked message") >= 0.74
    assert mean("ranked session") >= 0.895


def test_no_kind_of_question_is_found_less_than_by_bm25() -> None:
    for category in {category for category, _ in measured()["bm25 message"]}:
        plain, ranked = (
            statistics.fmean(value for kind, value in measured()[method] if kind == category)
            for method in ("bm25 message", "ranked message")
        )
        assert ranked > plain, category


@pytest.mark.long
def test_weights_of_three_conversations_on_the_fourth() -> None:
    rows = list(left_out(locomo(*FITTED)))
    questions = [row[1] for row in rows]
    assert sum(questions) == 755
    assert np.average([row[2] for row in rows], weights=questions) >= 0.76
    assert np.average([row[3] for row in rows], weights=questions) >= 0.89


@pytest.mark.long
def test_the_weights_that_ship_are_those_of_the_fit() -> None:
    assert fit(locomo(*FITTED)) == pytest.approx(dict(load_weights()["all"]), abs=2e-3)
