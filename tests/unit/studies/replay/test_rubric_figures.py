"""Scores by a rubric: other scales, dimensions that do not apply, several dimensions, pairs."""

from __future__ import annotations

import numpy as np
import pytest

from bench_samples import NAN, board_of
from dialogauge.core import Scale
from dialogauge.core.json_keys import as_json
from dialogauge.studies.replay.board import Ground
from dialogauge.studies.replay.comparison import CompareSettings, compare, compare_all
from dialogauge.studies.replay.figures import aggregate, compare_candidates, pair_of
from dialogauge.studies.replay.items import ORIGINAL, ReplayItem

ITEMS = tuple(
    ReplayItem(f"c{c}t{t}", f"c{c}", f"c{c}__c{c}", f"c{c}", "", t, None, "")
    for c in range(8)
    for t in range(2)
)
RANKED = CompareSettings(unchecked=True)
SHARE = Ground(Scale(0, 1, integer=False), "conversations")
FAULTS = Ground(Scale(0, 10, higher_is_better=False), "conversations")


def scores(on, original, candidate, by="rubric", length=lambda item: 100, skipped=False):
    lengths = {ORIGINAL: [100] * len(ITEMS), "new": [length(i) for i in ITEMS]}
    given = {ORIGINAL: original, "new": candidate}
    levels = {n: [NAN if skipped else float(of(i)) for i in ITEMS] for n, of in given.items()}
    where = np.full((2, len(ITEMS)), True) if skipped else None
    return board_of(ITEMS, levels, lengths=lengths, rounded=False, on=on, by=by, skipped=where)


def test_figures_on_a_scale_of_fractions() -> None:
    """Halves against quarters: 0.25 better, and 1 the ceiling; no counts of whole scores."""
    found = compare(scores(SHARE, lambda i: 0.25, lambda i: 0.5), RANKED)
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
    assert as_json(found)["people"] is None


def test_where_a_lower_score_is_better_the_difference_says_so() -> None:
    rows = {"new": [1.0, 2.0, NAN], ORIGINAL: [4.0, 2.0, 0.0]}
    pair = pair_of(board_of(ITEMS[:3], rows, on=FAULTS), "new", ORIGINAL)
    assert (pair.items.wins, pair.items.ties, pair.items.losses) == (1, 1, 0)
    assert pair.difference.value == 1.5
    # the third missing: 10 at worst against 0, and 0 at best against 0, for the second conversation
    assert pair.bounds == ((1.5 - 10) / 2, (1.5 + 0) / 2)
    found = compare(scores(FAULTS, lambda i: 4, lambda i: 1), RANKED)
    assert list(found.views["raw"].aggregates) == ["new", ORIGINAL]
    assert found.views["raw"].ceiling == 0.0
    assert list(found.views["raw"].ladder) == [0, 1, 2]


def test_what_does_not_apply_is_neither_a_score_nor_a_failure() -> None:
    table = board_of(
        ITEMS[:4],
        {ORIGINAL: [3.0, 3.0, 3.0, 3.0], "new": [5.0, NAN, NAN, 3.0]},
        on=Ground(unit="conversations"),
        skipped=np.array([[False] * 4, [False, True, False, False]]),
    )
    figures = aggregate(table, "new")
    assert (figures.requested, figures.n, figures.failed) == (3, 2, 1)
    assert figures.user_macro == 4.0
    assert figures.bounds == ((5 + (1 + 3) / 2) / 2, (5 + (5 + 3) / 2) / 2)
    (pair,) = compare_candidates(table)
    assert (pair.items.n, pair.only_b) == (2, 1)
    assert aggregate(table, ORIGINAL).bounds is None


def test_p_is_adjusted_over_all_dimensions() -> None:
    one = scores(Ground(), lambda i: 3, lambda i: 4 if i.position else 3)
    found = compare_all({"a": one, "b": one}, CompareSettings())
    alone = compare_all({"a": one}, CompareSettings())["a"].views["raw"].pairs[0].comparison
    for comparison in found.values():
        assert comparison.views["raw"].pairs[0].comparison.p_holm == pytest.approx(2 * (alone.p or 0))


def test_a_dimension_that_applies_to_no_reply_is_left_out() -> None:
    idle = scores(Ground(), lambda i: 3, lambda i: 3, skipped=True)
    used = scores(Ground(), lambda i: 3, lambda i: 3)
    assert list(compare_all({"safety": idle, "helpfulness": used}, CompareSettings())) == ["helpfulness"]


def test_beside_the_original_length_alone_says_that_the_longer_wins() -> None:
    """Twice as long on every first turn, half as long on every second: even, by length alone."""
    wins = scores(SHARE, lambda i: 0.5, lambda i: 1.0, "pair", length=lambda i: 200 if i.position else 50)
    found = compare(wins, CompareSettings())
    raw = found.views["raw"]
    assert raw.pairs[0].difference.value == 0.5
    assert raw.controls.reply_length.aggregates["new"].user_macro == 0.5
