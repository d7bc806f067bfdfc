"""What an answerer without a model earns on LoCoMo: above what needs no answerer, by an interval.

Expected figures: docs/development/results/learn.md.
"""

from __future__ import annotations

import asyncio
import os

import pytest

from dialogauge.stats import mean_estimate

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not os.environ.get("DIALOGAUGE_SHARED"), reason="DIALOGAUGE_SHARED is not set"),
    pytest.mark.xdist_group("locomo"),
]


def test_times_and_single_facts_are_above_what_needs_no_answerer() -> None:
    from benchmarks.extract import read, scores

    locomo = read()
    by_category = asyncio.run(scores(locomo, list(locomo.corpora)[4:]))
    for category, floor in ((2, 0.42), (4, 0.19)):
        of = by_category[category]
        assert sum(f1 for f1, _, _ in of) / len(of) >= floor
        more = mean_estimate([a - b for a, b, _ in of], [place for _, _, place in of], limits=(-1.0, 1.0))
        assert more.low is not None
        assert more.low > 0
