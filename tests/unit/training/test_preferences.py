"""Training rows where people rated: their word comes before the judge's."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from dialogauge.training import (
    JudgedConversation,
    PersonRating,
    fork_of,
    kto_rows,
    reply_pairs,
    weak_turn,
    worth_learning,
)
from dialogauge.training.pairs import TurnFigures
from talks import talk

TALK = ("u: a", "a: b", "u: c", "a: d", "u: e", "a: f")


def person(score):
    return PersonRating(score, (score - 1) / 4, score > 3, "satisfaction 1-5")


def judged(*lines, people=None, weakest=None, qualities=(1.0, 1.0, 1.0), verdict="good", name="c1"):
    conversation = talk(*(lines or TALK), id=name)
    figures = tuple(TurnFigures(n, q, ()) for n, q in enumerate(qualities, 1))
    ratings = {turn: person(score) for turn, score in (people or {}).items()}
    return JudgedConversation(
        conversation, "fake", figures, weakest, verdict, 0.5, 0.0, 4, 0, None, people=ratings
    )


@pytest.mark.parametrize(
    ("people", "weakest", "turn", "source"),
    [
        ({}, 2, 2, "judge"),
        ({1: 5, 3: 2}, 2, 3, "people"),
        ({1: 3, 3: 2}, 2, 3, "people"),
        ({1: 2, 2: 2, 3: 5}, 3, 2, "people"),  # of equals the lower by the judge
        ({1: 5, 3: 4}, 2, None, "people"),
        ({None: 5}, 2, None, "people"),
        ({None: 1}, 2, 2, "judge"),
        ({None: 1, 1: 4}, 2, None, "people"),
    ],
)
def test_the_weak_turn_is_the_one_that_people_rated_worst(people, weakest, turn, source):
    one = judged(people=people, weakest=weakest, qualities=(0.9, 0.5, 1.0))
    assert weak_turn(one) == (turn, source)
    fork = fork_of(one)
    assert (fork and (fork.turn, fork.source)) == (None if turn is None else (turn, source))


def test_labels_are_peoples_where_they_rated():
    one = judged(people={1: 5, 2: 3}, weakest=1, qualities=(0.0, 1.0, 1.0))
    assert [(turn, row["label"], source) for turn, row, source in kto_rows(one)] == [
        (1, True, "people"),
        (2, False, "people"),
        (3, True, "judge"),
    ]


@pytest.mark.parametrize(("score", "labels"), [(5, [True]), (1, [False])])
def test_the_judges_labels_give_way_to_what_people_said_of_the_whole(score, labels):
    one = judged(people={None: score}, qualities=(0.0, 0.5, 1.0))
    assert [row["label"] for _, row, _ in kto_rows(one)] == labels


def test_of_one_reply_the_rating_of_the_whole_is_its_own():
    one = judged("u: a", "a: b", people={None: 1}, qualities=(1.0,))
    assert weak_turn(one) == (1, "people")
    assert [(row["label"], source) for _, row, source in kto_rows(one)] == [(False, "people")]


@pytest.mark.parametrize(
    ("people", "verdict", "worth"),
    [
        ({None: 4}, "poor", (True, "people")),
        ({None: 3}, "excellent", (False, "people")),
        ({None: 5, 1: 1}, "good", (True, "people")),
        ({1: 5, 2: 4}, None, (True, "people")),
        ({1: 5, 2: 1}, "good", (False, "people")),
        ({}, "good", (True, "judge")),
    ],
)
def test_examples_to_follow_are_those_that_people_liked(people, verdict, worth):
    assert worth_learning(judged(people=people, verdict=verdict), "good") == worth


def test_of_replies_to_the_same_messages_the_one_rated_higher_is_chosen():
    replies = {"x": 2, "y": 5, "z": 4}
    several = [
        judged("u: a", f"a: {r}", "u: b", "a: same", people={1: s, 2: s}, name=r) for r, s in replies.items()
    ]
    (pair,) = reply_pairs(several, Counter())
    assert (pair.fork.rejected, pair.chosen, pair.fork.source) == ("x", "y", "people")
    assert (pair.fork.conversation_id, pair.fork.turn) == ("x", 1)
    assert (pair.better[0].conversation.id, pair.better[1]) == ("y", 1)
    assert pair.fork.prompt == ({"role": "user", "content": "a"},)


def test_replies_rated_alike_or_of_the_same_words_are_no_pair():
    made = [judged("u: a", f"a: {r}", people={1: s}, qualities=(1.0,)) for r, s in (("x", 4), ("y", 4))]
    assert not list(reply_pairs(made, Counter()))
    for higher, pairs in ((3.9, 0), (4, 1)):
        scores = (("x", 3), ("y", higher))
        near = [judged("u: a", f"a: {r}", people={1: s}, qualities=(1.0,)) for r, s in scores]
        assert len(list(reply_pairs(near, Counter()))) == pairs
    same = [judged("u: a", "a: x", people={1: s}, qualities=(1.0,)) for s in (1, 5)]
    assert not list(reply_pairs(same, Counter()))
    assert not list(reply_pairs([replace(one, people={}) for one in made], Counter()))


def test_replies_to_other_messages_and_replies_to_images_are_no_pair():
    before = [
        judged(f"u: {asked}", "a: yes", "u: b", f"a: {r}", people={2: s})
        for asked, r, s in (("a", "x", 1), ("c", "y", 5))
    ]
    assert not list(reply_pairs(before, Counter()))
    shown = ({"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},)
    made = [judged("u: a", f"a: {r}", people={1: s}, qualities=(1.0,)) for r, s in (("x", 1), ("y", 5))]
    assert len(list(reply_pairs(made, Counter()))) == 1
    for number, one in enumerate(made):
        messages = (replace(one.conversation.messages[0], content=shown), *one.conversation.messages[1:])
        made[number] = replace(one, conversation=replace(one.conversation, messages=messages))
    assert not list(reply_pairs(made, Counter()))


def rivals(*scores, qualities=(None, None, None)):
    """Return conversations of one reply to the same question, rated so; None is not rated."""
    return [
        judged("u: a", f"a: {name}", people={} if s is None else {1: s}, qualities=(q,), name=f"{name}{n}")
        for n, (name, s, q) in enumerate(zip("xyz", scores, qualities, strict=False))
    ]


def pairs_and_why(conversations, counts=lambda _: False):
    left_out = Counter()
    made = [
        (pair.chosen, pair.fork.rejected, pair.fork.source)
        for pair in reply_pairs(conversations, left_out, counts)
    ]
    return made, {why.removeprefix("replies to the same messages: "): n for why, n in left_out.items()}


def test_ties_and_missing_ratings_are_counted():
    tie = "a tie, less than a point of 1 to 5 apart"
    assert pairs_and_why(rivals(5, 2)) == ([("x", "y", "people")], {})
    assert pairs_and_why(rivals(4, 4)) == ([], {tie: 1})
    assert pairs_and_why(rivals(5, None)) == ([], {"not both are rated": 1})
    assert pairs_and_why(rivals(5, None, 1)) == ([("x", "z", "people")], {})


def test_the_judge_decides_what_people_did_not_rate_where_it_counts():
    unrated = rivals(5, None, qualities=(0.2, 0.9))
    assert pairs_and_why(unrated) == ([], {"not both are rated": 1})
    assert pairs_and_why(unrated, lambda _: True) == ([("y", "x", "judge")], {})
    rated = rivals(5, 1, qualities=(0.2, 0.9))
    assert pairs_and_why(rated, lambda _: True) == ([("x", "y", "people")], {})
    near = rivals(None, None, qualities=(0.7, 0.9))
    assert pairs_and_why(near, lambda _: True)[0] == []
    other = [near[0], replace(rivals(None, None, qualities=(0.1, 0.1))[1], judge="another")]
    assert pairs_and_why(other, lambda _: True)[1] == {"rated on different questions or scales": 1}


def test_ratings_of_the_same_words_are_averaged():
    # x was rated 5 and 1, on average 3; y 4.5: y is chosen by 1.5 points.
    several = [*rivals(5, 4.5), *rivals(1)]
    assert pairs_and_why(several)[0] == [("y", "x", "people")]


def test_scores_on_different_scales_are_not_compared():
    one, other = rivals(5, 2)
    other = replace(other, people={1: PersonRating(2, 0.1, False, "satisfaction 1-10")})
    assert pairs_and_why([one, other]) == ([], {"rated on different questions or scales": 1})
