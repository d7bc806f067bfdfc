"""Scores by a rubric: other scales, dimensions that do not apply, several dimensions, pairs."""

from __future__ import annotations

import numpy as np
import pytest

from dialogauge.core import Scale
from dialogauge.studies.replay.comparison import CompareSettings, compare, compare_all
from dialogauge.studies.replay.ground import Ground
from dialogauge.studies.replay.items import ORIGINAL, ReplayItem
from dialogauge.studies.replay.scored import ReplyScore, ScoredReplies
from dialogauge.studies.replay.table import CandidateScores, EvaluatorScores, compare_candidates, compare_pair

ITEMS = tuple(
    ReplayItem(f"c{c}t{t}", f"c{c}", f"c{c}__c{c}", f"c{c}", "", t, None, "")
    for c in range(8)
    for t in range(2)
)
RANKED = CompareSettings(unchecked=True)
SHARE = Ground(Scale(0, 1, integer=False), "conversations")
FAULTS = Ground(Scale(0, 10, higher_is_better=False), "conversations")
NAN = float("nan")


def replies(score, length=lambda item: 100, skipped=()):
    given = {i.id: float(score(i)) for i in ITEMS if i.id not in skipped}
    places = {i.id: i for i in ITEMS}
    return ScoredReplies(
        {n: ReplyScore(n, places[n].block, places[n].position, s, s) for n, s in given.items()},
        {i.id: length(i) for i in ITEMS},
        skipped=set(skipped),
    )


def scores(on, original, candidate, by="rubric"):
    return EvaluatorScores(ITEMS, original, {"new": candidate}, {}, on=on, views=("raw",), by=by)


def test_figures_on_a_scale_of_fractions() -> None:
    """Halves against quarters: 0.25 better, and 1 the ceiling; no counts of whole scores."""
    found = compare(scores(SHARE, replies(lambda i: 0.25), replies(lambda i: 0.5)), RANKED)
    raw = found.views["raw"]
    assert list(raw.aggregates) == ["new", ORIGINAL]
    assert raw.aggregates["new"].user_macro == 0.5
    assert raw.aggregates["new"].counts == {}
    assert raw.aggregates["new"].primary.interval is not None
    assert (raw.ceiling, raw.at_the_ceiling) == (1.0, ())
    (pair,) = raw.pairs
    assert pair.difference.value == 0.25
    assert (pair.items.wins, pair.items.ties, pair.items.losses) == (16, 0, 0)
    assert found.people is None
    assert found.to_json()["people"] is None


def test_where_a_lower_score_is_better_the_difference_says_so() -> None:
    a, b = np.array([1.0, 2.0, NAN]), np.array([4.0, 2.0, 0.0])
    pair = compare_pair(("new", ORIGINAL), ITEMS[:3], (a, b), on=FAULTS)
    assert (pair.items.wins, pair.items.ties, pair.items.losses) == (1, 1, 0)
    assert pair.difference.value == 1.5
    # the third missing: 10 at worst against 0, and 0 at best against 0, for the second conversation
    assert pair.bounds == ((1.5 - 10) / 2, (1.5 + 0) / 2)
    found = compare(scores(FAULTS, replies(lambda i: 4), replies(lambda i: 1)), RANKED)
    assert list(found.views["raw"].aggregates) == ["new", ORIGINAL]
    assert found.views["raw"].ceiling == 0.0
    assert list(found.views["raw"].ladder) == [0, 1, 2]


def test_what_does_not_apply_is_neither_a_score_nor_a_failure() -> None:
    table = CandidateScores(
        ITEMS[:4],
        (ORIGINAL, "new"),
        np.array([[3.0, 3.0, 3.0, 3.0], [5.0, NAN, NAN, 3.0]]),
        np.array([[3.0, 3.0, 3.0, 3.0], [5.0, NAN, NAN, 3.0]]),
        on=Ground(unit="conversations"),
        skipped=np.array([[False] * 4, [False, True, False, False]]),
    )
    figures = table.figures("new")
    assert (figures.requested, figures.n, figures.failed) == (3, 2, 1)
    assert figures.user_macro == 4.0
    assert figures.bounds == ((5 + (1 + 3) / 2) / 2, (5 + (5 + 3) / 2) / 2)
    (pair,) = compare_candidates(table)
    assert (pair.items.n, pair.only_b) == (2, 1)
    assert table.figures(ORIGINAL).bounds is None


def test_p_is_adjusted_over_all_dimensions() -> None:
    one = scores(Ground(), replies(lambda i: 3), replies(lambda i: 4 if i.position else 3))
    found = compare_all({"a": one, "b": one}, CompareSettings())
    alone = compare_all({"a": one}, CompareSettings())["a"].views["raw"].pairs[0].comparison
    for comparison in found.values():
        assert comparison.views["raw"].pairs[0].comparison.p_holm == pytest.approx(2 * (alone.p or 0))


def test_a_dimension_that_applies_to_no_reply_is_left_out() -> None:
    every = [i.id for i in ITEMS]
    idle = scores(Ground(), replies(lambda i: 3, skipped=every), replies(lambda i: 3, skipped=every))
    used = scores(Ground(), replies(lambda i: 3), replies(lambda i: 3))
    assert list(compare_all({"safety": idle, "helpfulness": used}, CompareSettings())) == ["helpfulness"]


def test_beside_the_original_length_alone_says_that_the_longer_wins() -> None:
    """Twice as long on every first turn, half as long on every second: even, by length alone."""
    wins = replies(lambda i: 1.0, length=lambda i: 200 if i.position else 50)
    found = compare(scores(SHARE, replies(lambda i: 0.5), wins, "pair"), CompareSettings())
    raw = found.views["raw"]
    assert raw.pairs[0].difference.value == 0.5
    assert raw.controls.reply_length.aggregates["new"].user_macro == 0.5
