from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import NOT_APPLICABLE, JudgeFailure, Target, Usage
from dialogauge.core.judgement import Judged, scores_json
from dialogauge.core.scores import Score
from dialogauge.runs import Progress
from talks import judged_rows, talk

counts = st.integers(0, 1000)
usages = st.builds(Usage, counts, counts, counts, counts, st.none() | st.integers(0, 9).map(float))


def test_usages_add_up() -> None:
    total = Usage(1, 2, 3, 4, 0.5) + Usage(10, 20, 30, 40, 0.25)
    assert total == Usage(11, 22, 33, 44, 0.75)


@given(usages, usages, usages)
def test_the_order_of_adding_makes_no_difference(a: Usage, b: Usage, c: Usage) -> None:
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + Usage() == a


def test_one_unknown_price_makes_the_sum_unknown() -> None:
    assert (Usage(cost=1.0) + Usage(cost=None)).cost is None
    assert (Usage(cost=None) + Usage(cost=1.0)).cost is None


def test_a_unit_failed_when_any_of_its_targets_did() -> None:
    conversation = talk("u: a", "a: b")
    good, bad = judged_rows(conversation), judged_rows(conversation, failed=True)
    progress = Progress()
    for number, rows in enumerate((bad, (*good, bad[0]), good, ()), 1):
        progress.took(rows)
        assert (progress.done, progress.failed) == (number, min(number, 2))


def test_a_whole_score_stands_beside_a_value_that_is_another_number() -> None:
    scores = {"a": Score(3.4, 3), "b": Score(4.0, 4), "c": NOT_APPLICABLE, "d": Score(2.5)}
    assert scores_json(scores) == {
        "scores": {"a": 3.4, "b": 4, "c": "n/a", "d": 2.5},
        "whole": {"a": 3},
        "raw": {},
    }


@pytest.mark.parametrize(("kind", "failed"), [("timeout", True), ("absent", False)])
def test_of_a_run_that_is_absent_no_judgement_failed(kind, failed) -> None:
    assert Judged(Target("c", "conversation"), JudgeFailure(kind, "why")).failed is failed
