"""Views, ceiling, controls and diagnoses of a benchmark."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bench_samples import NAN, board_of
from dialogauge.app.candidates import family_of
from dialogauge.stats import RawScore, ScoreHistory
from dialogauge.studies.replay.board import VIEWS, OriginalReplies
from dialogauge.studies.replay.comparison import CompareSettings, compare
from dialogauge.studies.replay.diagnostics import (
    by_position,
    constant_candidates,
    ladder,
    self_preference,
    shuffled,
)
from dialogauge.studies.replay.figures import aggregate, compare_candidates
from dialogauge.studies.replay.items import ORIGINAL, ReplayItem

USERS = 8


def items():
    return tuple(
        ReplayItem(f"u{u}s{s}t{t}", f"u{u}s{s}", f"u{u}s{s}", f"u{u}", f"s{s}", t, 4.0, "")
        for u in range(USERS)
        for s in range(2)
        for t in range(4)
    )


def level(item):
    return 3 + (item.position + int(item.user[1])) % 3


HISTORIES = {i.block: ScoreHistory((1, 2, 4, 9, 6), 3.77, 22) for i in items()}


def scores(**candidates):
    given = {ORIGINAL: level, **candidates}
    levels = {name: [float(score(i)) for i in items()] for name, score in given.items()}
    lengths = {name: [100 + 10 * one for one in of] for name, of in levels.items()}
    about = {name: {} for name in candidates}
    return board_of(items(), levels, lengths=lengths, histories=HISTORIES, about=about)


def failing(board, name, kept):
    """Return the board without the scores of a candidate's other items."""
    lost = np.array([not kept(i, whole) for i, whole in zip(items(), board.whole[0], strict=True)])
    whole, value, lengths = board.whole.copy(), board.value.copy(), board.lengths.copy()
    for column in (whole, value, lengths):
        column[board.at(name), lost] = NAN
    return replace(board, whole=whole, value=value, lengths=lengths)


def two(original, other):
    return board_of(items(), {ORIGINAL: [original] * 64, "c": [other] * 64})


def result(given_scores=None, **settings):
    return compare(
        given_scores or scores(same=level, worse=lambda i: max(1, level(i) - 1)), CompareSettings(**settings)
    )


def test_a_candidate_that_repeats_the_originals_is_the_originals_in_every_view() -> None:
    found = result()
    for view in VIEWS:
        views = found.views[view]
        assert views.aggregates["same"] == views.aggregates[ORIGINAL]
        pair = next(p for p in views.pairs if (p.a, p.b) == ("same", ORIGINAL))
        assert (pair.items.ties, pair.difference.value, pair.comparison.side) == (
            64,
            0.0,
            "not distinguishable",
        )
        worse = next(p for p in views.pairs if (p.a, p.b) == ("worse", ORIGINAL))
        assert worse.comparison.side == "below"
        assert worse.comparison.p_holm is not None
        assert worse.comparison.p is not None
        assert worse.comparison.p_holm >= worse.comparison.p


def test_candidates_are_calibrated_apart() -> None:
    alone = result(scores(same=level)).views["reference-cdf"].aggregates["same"]
    assert result().views["reference-cdf"].aggregates["same"] == alone


def test_the_ceiling_of_ranks_lies_below_five() -> None:
    found = result(scores(perfect=lambda i: 5))
    assert found.views["raw"].ceiling == 5.0
    top = found.views["reference-cdf"].ceiling
    assert top is not None
    assert top < 5
    assert found.views["reference-cdf"].aggregates["perfect"].user_macro == top
    assert "perfect" in found.views["reference-cdf"].at_the_ceiling
    assert found.views["raw"].at_the_ceiling == ("perfect",)
    assert result().views["raw"].at_the_ceiling == ()


def test_an_interval_above_the_ceiling_reaches_it_too() -> None:
    view = result(scores(perfect=lambda i: 5)).views["reference-cdf"]
    three = view.ladder[3]
    below = replace(three, primary=replace(three.primary, value=1.5))
    lower = replace(view, ladder={**view.ladder, 5: below})
    low = lower.aggregates["perfect"].primary.low
    assert lower.ceiling is not None
    assert low is not None
    assert low > lower.ceiling
    assert "perfect" in lower.at_the_ceiling


def test_published_reference_ladder() -> None:
    # PT-05b: each raw score of one turn, ranked among twelve reference turns with the published ties.
    item = ReplayItem("S__x__0.json__turn_7", "S__x__0.json", "S__x", "S", "x", 7, 4.0, "")
    raw = [3, 3, 4, 4, 4, 4, 5, 5, 3, 4, 4, 3]
    reference = tuple(RawScore(f"S__x__0.json__turn_{i}", float(r), i, "S__x") for i, r in enumerate(raw))
    board = board_of(
        [item],
        {str(s): [s] for s in range(1, 6)},
        reference=OriginalReplies(reference, {}),
        histories={"S__x": ScoreHistory((1, 2, 5, 8, 4), 3.6, 20)},
        ties="sample-id",
    )
    assert board.viewed_as("reference-cdf").whole[:, 0].tolist() == [1, 1, 3, 4, 5]
    assert board.viewed_as("mean-shift").whole[:, 0].tolist() == [1, 2, 3, 4, 5]


def test_failures_are_counted_bounded_and_never_scored() -> None:
    found = compare(failing(scores(c=level), "c", lambda i, _: i.user != "u0"), CompareSettings())
    a = found.views["raw"].aggregates["c"]
    assert (a.requested, a.n, a.failed, a.users) == (64, 56, 8, 7)
    assert a.bounds is not None
    assert a.user_macro is not None
    assert a.bounds[0] < a.user_macro < a.bounds[1]
    pair = found.views["raw"].pairs[0]
    assert (pair.items.n, pair.only_b, pair.only_a) == (56, 8, 0)
    assert pair.items.ties == 56


@pytest.mark.parametrize("low", [True, False])
def test_failures_do_not_move_what_is_compared(low) -> None:
    """The original replies again, but for those of low (or of high) score: what is there is no better."""
    held = failing(scores(c=level, d=level), "c", lambda _, whole: (whole > 3) == low)
    held = replace(held, about={"c": {"family": "qwen"}, "d": {"family": "gpt"}})
    found = compare(held, CompareSettings(), family="qwen")
    for view in found.views.values():
        for pair in view.pairs:
            assert (pair.difference.value, pair.fraction.value, pair.items.ties) == (0, 0, pair.items.n)
            assert (pair.bounds is None) == (pair.a == "d")
        assert view.self_preference.difference.value == 0
        assert [dealt.range for dealt in view.controls.shuffled] == [(0, 0), (0, 0)]
        assert all(p.difference.value == 0 for p in view.controls.reply_length.pairs)


def test_a_candidate_without_any_score() -> None:
    found = compare(failing(scores(c=level), "c", lambda *_: False), CompareSettings())
    a = found.views["reference-cdf"].aggregates["c"]
    assert (a.n, a.user_macro, a.dsat, a.primary.low) == (0, None, None, None)
    assert found.views["raw"].pairs[0].comparison.side == "undefined"
    assert found.lengths["c"].mean_characters is None


def test_reply_length_as_the_evaluator() -> None:
    held = scores(longer=level)
    longer = replace(held, lengths=np.array([held.lengths[0], [10_000] * 64]))
    control = compare(longer, CompareSettings()).views["raw"].controls.reply_length
    assert control.aggregates["longer"].user_macro == 5
    assert control.pairs[0].comparison.side == "above"
    assert compare(held, CompareSettings()).views["raw"].controls.reply_length.pairs[0].difference.value == 0


def test_shuffled_deals_lie_around_zero() -> None:
    (dealt,) = shuffled(two(4, 3), deals=20_000)
    # Of the 256 ways to deal eight users who all lose 1, one gives 1 and eight more give 0.75: 3.5 %.
    assert dealt.range == (-0.75, 0.75)
    assert shuffled(two(4, 4))[0].range == (0, 0)


def test_ladder_of_constant_candidates() -> None:
    board = scores()
    for view in VIEWS:
        steps = ladder({level: of.viewed_as(view) for level, of in constant_candidates(board).items()})
        values = [steps[n].user_macro or 0 for n in (3, 4, 5)]
        assert values == sorted(values)
    assert board.left_as_they_are("reference-cdf") == {}
    bare = replace(board, histories={})
    assert bare.left_as_they_are("reference-cdf") == {"no_history": 16}


def test_self_preference() -> None:
    held = scores(same=level, worse=lambda i: level(i) - 1)
    held = replace(held, about={"same": {"family": "qwen"}, "worse": {"family": "gpt"}})
    found = compare(held, CompareSettings(), family="qwen")
    told = found.views["raw"].self_preference
    assert (told.own, told.others, told.difference.value) == (("same",), ("worse",), 1.0)
    assert "self-preference" in told.words
    assert "no known family" in result().views["raw"].self_preference.words
    assert self_preference(replace(two(4, 4), about={"c": {"family": "qwen"}}), "qwen").difference is None


@pytest.mark.parametrize(
    ("model", "family"),
    [("Qwen/Qwen3-8B", "qwen"), ("gpt-5.5", "gpt"), ("claude-opus-4-7", "claude"), ("truncated", None)],
)
def test_families(model, family) -> None:
    assert family_of(model) == family


def test_positions() -> None:
    found = by_position(board_of(items(), {"c": [level(i) for i in items()]}))["c"]
    assert found["0"].n == 16
    assert (found["5+"].mean, found["5+"].n) == (None, 0)


def test_one_user_has_no_interval() -> None:
    one = [i for i in items() if i.user == "u0"]
    found = aggregate(board_of(one, {"c": [4.0] * 8}), "c")
    assert (found.primary.low, found.user_macro) == (None, 4.0)


def test_margin() -> None:
    assert compare_candidates(two(4, 3))[0].items.losses == 64
    assert compare_candidates(two(4, 3), margin=1.0)[0].items.ties == 64
