"""Views, ceiling, controls and diagnoses of a benchmark."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dialogauge.app.candidates import family_of
from dialogauge.stats import ScoreHistory
from dialogauge.studies.replay.comparison import CompareSettings, compare
from dialogauge.studies.replay.diagnostics import by_position, ladder, self_preference, shuffled
from dialogauge.studies.replay.items import ORIGINAL, ReplayItem
from dialogauge.studies.replay.scored import ReplyScore, ScoredReplies
from dialogauge.studies.replay.table import (
    VIEWS,
    CandidateScores,
    EvaluatorScores,
    Viewer,
    aggregate,
    compare_candidates,
)

USERS = 8


def items():
    return tuple(
        ReplayItem(f"u{u}s{s}t{t}", f"u{u}s{s}", f"u{u}s{s}", f"u{u}", f"s{s}", t, 4.0, "")
        for u in range(USERS)
        for s in range(2)
        for t in range(4)
    )


def given(score):
    return {i.id: ReplyScore(i.id, i.block, i.position, int(score(i)), float(score(i))) for i in items()}


def level(item):
    return 3 + (item.position + int(item.user[1])) % 3


HISTORIES = {i.block: ScoreHistory((1, 2, 4, 9, 6), 3.77, 22) for i in items()}


def scores(**candidates):
    held = {name: replies(given(score)) for name, score in candidates.items()}
    return EvaluatorScores(items(), replies(given(level)), held, HISTORIES)


def replies(found):
    return ScoredReplies(found, {i: 100 + 10 * g.whole for i, g in found.items()})


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
    reference = [ReplyScore(f"S__x__0.json__turn_{i}", "S__x", i, r, float(r)) for i, r in enumerate(raw)]
    viewer = Viewer((item,), reference, {"S__x": ScoreHistory((1, 2, 5, 8, 4), 3.6, 20)}, "sample-id")
    columns = {str(s): {item.id: ReplyScore(item.id, "S__x", 7, s, float(s))} for s in range(1, 6)}
    tables = viewer.tables(columns, original=False)
    assert [int(tables["reference-cdf"].row(str(s))[0]) for s in range(1, 6)] == [1, 1, 3, 4, 5]
    assert [int(tables["mean-shift"].row(str(s))[0]) for s in range(1, 6)] == [1, 2, 3, 4, 5]


def test_failures_are_counted_bounded_and_never_scored() -> None:
    held = scores(c=level)
    fewer = {i: g for i, g in held.candidates["c"].scores.items() if not i.startswith("u0")}
    held.candidates["c"].scores = fewer
    found = compare(held, CompareSettings())
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
    held = scores(c=level, d=level)
    fewer = {i: g for i, g in held.candidates["c"].scores.items() if (g.whole > 3) == low}
    held.candidates["c"].scores = fewer
    held.candidates["c"].about["family"], held.candidates["d"].about["family"] = "qwen", "gpt"
    found = compare(held, CompareSettings(), family="qwen")
    for view in found.views.values():
        for pair in view.pairs:
            assert (pair.difference.value, pair.fraction.value, pair.items.ties) == (0, 0, pair.items.n)
            assert (pair.bounds is None) == (pair.a == "d")
        assert view.self_preference.difference.value == 0
        assert [dealt.range for dealt in view.controls.shuffled] == [(0, 0), (0, 0)]
        assert all(p.difference.value == 0 for p in view.controls.reply_length.pairs)


def test_a_candidate_without_any_score() -> None:
    held = scores(c=level)
    found = compare(replace(held, candidates={"c": ScoredReplies()}), CompareSettings())
    a = found.views["reference-cdf"].aggregates["c"]
    assert (a.n, a.user_macro, a.dsat, a.primary.low) == (0, None, None, None)
    assert found.views["raw"].pairs[0].comparison.side == "undefined"
    assert found.lengths["c"].mean_characters is None


def test_reply_length_as_the_evaluator() -> None:
    held = scores(longer=level)
    given_lengths = dict.fromkeys(held.candidates["longer"].lengths, 10_000)
    longer = replace(held, candidates={"longer": replace(held.candidates["longer"], lengths=given_lengths)})
    control = compare(longer, CompareSettings()).views["raw"].controls.reply_length
    assert control.aggregates["longer"].user_macro == 5
    assert control.pairs[0].comparison.side == "above"
    assert compare(held, CompareSettings()).views["raw"].controls.reply_length.pairs[0].difference.value == 0


def test_shuffled_deals_lie_around_zero() -> None:
    table = CandidateScores(items(), (ORIGINAL, "c"), np.array([[4.0] * 64, [3.0] * 64]), np.zeros((2, 64)))
    (dealt,) = shuffled(table, deals=20_000)
    # Of the 256 ways to deal eight users who all lose 1, one gives 1 and eight more give 0.75: 3.5 %.
    assert dealt.range == (-0.75, 0.75)
    alike = CandidateScores(items(), (ORIGINAL, "c"), np.full((2, 64), 4.0), np.zeros((2, 64)))
    assert shuffled(alike)[0].range == (0, 0)


def test_ladder_of_constant_candidates() -> None:
    viewer = Viewer(items(), list(given(level).values()), HISTORIES)
    steps = ladder(viewer)
    for view in VIEWS:
        values = [steps[view][n].user_macro or 0 for n in (3, 4, 5)]
        assert values == sorted(values)
    assert viewer.left_as_they_are("reference-cdf") == {}
    bare = replace(viewer, histories={})
    assert bare.left_as_they_are("reference-cdf") == {"no_history": 16}


def test_self_preference() -> None:
    held = scores(same=level, worse=lambda i: level(i) - 1)
    held.candidates["same"].about["family"], held.candidates["worse"].about["family"] = "qwen", "gpt"
    found = compare(held, CompareSettings(), family="qwen")
    told = found.views["raw"].self_preference
    assert (told.own, told.others, told.difference.value) == (("same",), ("worse",), 1.0)
    assert "self-preference" in told.words
    assert "no known family" in result().views["raw"].self_preference.words
    table = CandidateScores(items(), (ORIGINAL, "same"), np.full((2, 64), 4.0), np.full((2, 64), 4.0))
    assert self_preference(table, "qwen", {"same": "qwen"}).difference is None


@pytest.mark.parametrize(
    ("model", "family"),
    [("Qwen/Qwen3-8B", "qwen"), ("gpt-5.5", "gpt"), ("claude-opus-4-7", "claude"), ("truncated", None)],
)
def test_families(model, family) -> None:
    assert family_of(model) == family


def test_positions() -> None:
    table = CandidateScores(
        items(), ("c",), np.array([[float(level(i)) for i in items()]]), np.zeros((1, 64))
    )
    found = by_position(table)["c"]
    assert found["0"].n == 16
    assert (found["5+"].mean, found["5+"].n) == (None, 0)


def test_one_user_has_no_interval() -> None:
    one = [i for i in items() if i.user == "u0"]
    found = aggregate(one, np.full(8, 4.0))
    assert (found.primary.low, found.user_macro) == (None, 4.0)


def test_margin() -> None:
    table = CandidateScores(items(), (ORIGINAL, "c"), np.array([[4.0] * 64, [3.0] * 64]), np.zeros((2, 64)))
    assert compare_candidates(table)[0].items.losses == 64
    assert compare_candidates(table, margin=1.0)[0].items.ties == 64
