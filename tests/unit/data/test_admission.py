"""How the ratings of a dimension are read: numbers, thumbs, names, or nothing."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import ONE_TO_FIVE, Conversation, Rating, Scale, UsageError
from dialogauge.data import RatedDimensions, admission_for
from dialogauge.data.admission import REWARD, admission_of, asks_approval, thumb_of

ONE_TO_FIVES = {1: 10, 2: 10, 3: 20, 4: 50, 5: 100}


@pytest.mark.parametrize(
    "pair",
    [
        ("up", "down"),
        ("Thumbs_Up", "thumbs-down"),
        ("👍", "👎"),
        ("👍🏽", "👎️"),
        ("like", "DISLIKE"),
        ("true", "false"),
        ("yes", "no"),
        ("Positive", "negative"),
        ("赞", "踩"),
        ("Satisfied", "dissatisfied"),
        ("helpful", "not_helpful"),
        ("满意", "不满意"),
        ("好评", "差评"),
        (1, -1),
    ],
)
def test_thumbs_in_every_writing(pair):
    counts = dict(zip(pair, (412, 88), strict=True))
    admission = admission_for(counts)
    assert [admission.read(score) for score in pair] == ["up", "down"]
    assert admission.words(counts) == "thumbs: 412 up, 88 down"
    assert admission.remark(counts, ONE_TO_FIVE) == "read as thumbs: 412 up, 88 down"


@pytest.mark.parametrize("pair", [("yes", "no"), ("true", "False"), ("是", "否")])
def test_a_yes_is_no_thumb_where_nobody_asked_for_approval(pair):
    counts = dict(zip(pair, (81, 2804), strict=True)) | {"unclear": 122}
    assert admission_for(counts, approval=asks_approval("helpful")).kind == "thumbs"
    names = admission_for(counts, approval=asks_approval("hallucination"))
    assert names.kind == "names"
    assert [names.read(score) for score in counts] == list(counts)
    assert admission_for({"up": 8, "down": 9}, approval=False).kind == "thumbs"


@pytest.mark.parametrize(
    ("dimension", "asks"),
    [
        ("Satisfaction", True),
        ("thumbs_up", True),
        ("not_helpful", False),
        ("hallucination", False),
        ("", False),
    ],
)
def test_which_dimensions_ask_for_approval(dimension, asks):
    assert asks_approval(dimension) is asks


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        (ONE_TO_FIVES, "numbers from 1 to 5"),
        ({1: 50, 5: 20}, "numbers from 1 to 5"),
        ({1: 412, 0: 88}, "a reward or thumbs, 0 or 1: 412 times 1, 88 times 0"),
        ({1: 98, 0: 2}, "a reward or thumbs, 0 or 1: 98 times 1, 2 times 0"),
        ({0: 3, 0.5: 2, 1: 95}, "numbers from 0 to 1"),
        ({1: 3, 0: 2, -1: 4}, "numbers from -1 to 1"),
        ({1: 40, 6: 100, 7: 22}, "numbers from 1 to 7"),
        ({5: 2, 10: 5, 20: 40, 55: 50, 100: 9}, "numbers from 5 to 100"),
        ({"bad": 3, "good": 2}, "names: bad 3, good 2"),
        ({"yes": 5, "no": 4, "partly": 6}, "names: partly 6, yes 5, no 4"),
        ({"true": 3, 1: 1, 0: 1}, "thumbs: 4 up, 1 down"),
        ({"up": 95, "down": 4, "meh": 1}, "thumbs: 95 up, 4 down"),
        (ONE_TO_FIVES | {55: 2}, "numbers from 1 to 5"),
        ({"up": 80, "down": 10, "meh": 10}, "thumbs: 80 up, 10 down"),
        ({"up": 80, "down": 9, "meh": 11}, "names: up 80, meh 11, down 9"),
        ({1: 9}, "numbers, all 1"),
        ({4: 45, 5: 45, 20: 10}, "numbers from 4 to 5"),
        ({4: 45, 5: 44, 20: 11}, "numbers from 4 to 20"),
        ({3: 20, 4: 25, 5: 44, 20: 11}, "ratings on two scales (89 from 3 to 5, 11 at 20)"),
        (
            {3: 20, 4: 40, 5: 30, 20: 10, 85: 40, 90: 30},
            "ratings on two scales (90 from 3 to 5, 80 from 20 to 90)",
        ),
    ],
)
def test_what_all_the_ratings_say_together(counts, words):
    assert admission_for(counts).words(counts) == words


@pytest.mark.parametrize("dimension", ["thumbs", "thumbs_up", "Liked", "vote", "resolved"])
def test_a_one_alone_is_a_thumb_up_where_the_name_says_so(dimension):
    admission = admission_of(dimension, {1: 3})
    assert (admission.kind, admission.read(1)) == ("thumbs", "up")
    assert admission_of(dimension, {1: 3, 4: 2}).kind == "numbers"
    assert admission_of(dimension, {1: 3}, ONE_TO_FIVE).scale == ONE_TO_FIVE
    assert admission_of("rating", {1: 3}).kind == admission_of("stars", {1: 3}).kind == "numbers"


def test_numbers_are_on_a_scale_that_somebody_named_sooner():
    counts = {1: 10, 3: 40, 5: 45, 6: 5}
    assert admission_for(counts).scale == ONE_TO_FIVE
    assert admission_for(counts, named=False).scale is None
    assert admission_for(ONE_TO_FIVES | {55: 10}, named=False).scale == ONE_TO_FIVE  # no scale goes so far
    assert admission_for({1: 9}).scale == ONE_TO_FIVE
    longer = {1: 40, 6: 100, 7: 22}
    assert admission_for(longer).remark(longer, ONE_TO_FIVE) == "read as numbers from 1 to 7"
    assert admission_for(ONE_TO_FIVES).remark(ONE_TO_FIVES, ONE_TO_FIVE) == ""
    assert admission_for({0: 50, 1: 49, 1.5: 1}, REWARD, named=False).read(1.5) is None
    assert admission_for({-2: 50, 7: 40, 0.5: 9}, REWARD, named=False).read(7) == 7
    assert admission_for({1: 5, 4: 5}, Scale(0, 10)).scale == Scale(0, 10)


@pytest.mark.parametrize(
    ("counts", "odd", "why"),
    [
        (
            {"up": 95, "down": 4, "meh": 1},
            "meh",
            "it is neither up nor down, and the ratings are thumbs",
        ),
        (ONE_TO_FIVES | {55: 2}, 55, "is 55: it is off the scale 1-5"),
        (ONE_TO_FIVES | {"up": 2}, "up", "is 'up': it is a text, and the ratings are numbers"),
        ({3: 20, 4: 40, 5: 30, 85: 40, 90: 30}, 85, "it is one of ratings on two scales (90 from 3 to 5, 70"),
    ],
)
def test_the_odd_one_is_refused_by_name(counts, odd, why):
    rating = Rating("c", "help", odd, 1)
    fault = admission_for(counts).fault(rating, Conversation("c", ()).place_of(rating))
    assert why in fault.message
    assert (fault.place.conversation_id, fault.place.turn) == ("c", 1)


def test_ratings_that_are_all_alike_have_no_order():
    for counts, said in (({5: 9}, "5"), ({"yes": 9}, "up"), ({"good": 9}, "good")):
        remark = admission_for(counts).remark(counts, ONE_TO_FIVE)
        assert remark.endswith(f"all say {said}, so no order can be measured")
    assert admission_for({5: 1}).remark({5: 1}, ONE_TO_FIVE) == ""
    assert admission_for({}).remark({}, ONE_TO_FIVE) == ""


@given(
    st.dictionaries(
        st.one_of(st.text(min_size=1), st.integers(-100, 100), st.floats(-10, 100)), st.integers(1, 50)
    )
)
def test_every_rating_is_read_or_refused(counts):
    admission = admission_for(counts)
    for score in counts:
        assert (admission.read(score) is None) == (admission.refusal(score) is not None)
    assert isinstance(admission.words(counts), str)
    if admission.kind == "thumbs":
        assert {admission.read(score) for score in counts} <= {"up", "down", None}
    if admission.kind != "nothing" and counts:
        assert any(admission.read(score) is not None for score in counts)


def test_thumbs_are_words_and_nothing_like_them():
    assert [thumb_of(score) for score in ("upset", "know", "", 2, 0.5, "1")] == [None] * 6


def counted(**counts):
    rated = RatedDimensions()
    for dimension, scores in counts.items():
        ratings = tuple(Rating("c", dimension, score) for score in scores)
        assert [c.ratings for c in rated.watch([Conversation("c", (), ratings=ratings)])] == [ratings]
    return rated


def test_dimensions_are_listed_with_counts_and_ranges():
    rated = counted(help=[1, 2, 5], vote=["up", "down"], percent=[10, 90])
    listed = (
        "'help' (3, numbers from 1 to 5), 'vote' (2, thumbs: 1 up, 1 down), "
        "'percent' (2, numbers from 10 to 90)"
    )
    assert rated.listed() == listed
    assert rated.instead_of("fun") == f"the data has ratings of {listed}: take one with --dimension help"
    assert rated.instead_of("vote") is None
    later = counted(few=[1, 2], help=[1, 2, 5])
    assert later.instead_of("fun").endswith("take one with --dimension help")
    assert counted(vote=["up"]).instead_of("fun").endswith("none of them from 1 to 5")


def test_a_study_of_one_to_five_refuses_what_is_not():
    rated = counted(help=[1, 2, 5], vote=["up", "down"])
    rated.expect_one_to_five("help")
    RatedDimensions().expect_one_to_five("help")
    with pytest.raises(
        UsageError, match="'vote' is rated in thumbs: 1 up, 1 down; numbers from 1 to 5"
    ) as error:
        rated.expect_one_to_five("vote")
    assert "'help' (3, numbers from 1 to 5)" in error.value.hint
    with pytest.raises(UsageError, match="nobody rated 'fun'"):
        rated.expect_one_to_five("fun")
    two = counted(help=[1, 2, 3, 4, 5, 5, 85, 90, 75, 60])
    with pytest.raises(UsageError, match="two scales") as error:
        two.expect_one_to_five("help")
    assert "a dimension of their own" in error.value.hint


def test_a_study_of_order_refuses_ratings_that_all_say_the_same():
    rated = counted(help=[4, 4, 4], vote=["up", "like"], once=[3], fine=[3, 4])
    for dimension, said in (("help", "3 ratings of 'help': all say 4"), ("vote", "all say up")):
        with pytest.raises(UsageError, match=said):
            rated.expect_order(dimension)
    for dimension in ("once", "fine", "none"):
        rated.expect_order(dimension)


def test_two_sides():
    def rated(*scores):
        dimensions = RatedDimensions()
        dimensions.counts["reward"] = Counter(scores)
        return dimensions.two_sided("reward")

    assert rated(0, 1, 1)
    assert rated("up", "down", "up")
    assert not rated(0, 0.5, 1)
    assert not rated(1, 5)
    assert not rated()
