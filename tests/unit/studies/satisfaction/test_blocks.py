from __future__ import annotations

from dataclasses import fields, is_dataclass, replace

import pytest

from dialogauge.core import Message, Rating, UsageError
from dialogauge.data import UserSplit
from dialogauge.studies.satisfaction.blocks import collect_blocks, kept_sessions, study_data
from rated import rated_talk, rated_users

SPLIT = UserSplit(frozenset({"user0", "user1"}), frozenset({"user2", "user3"}))


def reachable(value, seen=None):
    """Everything that can be reached through attributes, items and properties."""
    seen = {} if seen is None else seen
    if id(value) in seen or isinstance(value, str | int | float | bool | type(None) | type):
        return seen
    seen[id(value)] = value
    if isinstance(value, dict):
        inner = [*value.keys(), *value.values()]
    elif isinstance(value, tuple | list | frozenset):
        inner = list(value)
    elif is_dataclass(value):
        names = [n for n in dir(type(value)) if isinstance(getattr(type(value), n), property)]
        inner = [getattr(value, n) for n in [*(f.name for f in fields(value)), *names]]
        inner += list(getattr(value, "__dict__", {}).values())
    else:
        inner = list(getattr(value, "__dict__", {}).values())
    for item in inner:
        reachable(item, seen)
    return seen


def test_history_is_what_was_rated_in_the_other_scenarios() -> None:
    blocks, faults, left_out = collect_blocks(rated_users(2))
    assert [b.view.id for b in blocks[:3]] == ["user0__cook", "user0__gift", "user0__trip"]
    assert not faults
    assert not left_out
    view = blocks[1].view
    assert [r.reply.id for r in view.history][:3] == [
        "user0__cook__0__turn_0",
        "user0__cook__0__turn_1",
        "user0__cook__1__turn_0",
    ]
    assert {r.reply.conversation.scenario for r in view.history} == {"cook", "trip"}
    assert [t.id for t in view.targets][-1] == "user0__gift__1__turn_2"
    assert [r.score for r in blocks[1].ratings] == [3, 2, 2, 3, 5]
    assert view.targets[1].request == "gift hello question 2 of gift"


def test_no_two_blocks_have_one_id() -> None:
    pairs = [("a__b", "c"), ("a", "b__c"), ("a_", "b"), ("a", "_b"), ('["a__b", "c"]', "d"), ("[a", "b")]
    pairs += [('["a_', 'b", "c"]'), ("a", "b")]
    blocks, *_ = collect_blocks(rated_talk(user, scenario, 0, [4]) for user, scenario in pairs)
    assert len({b.view.id for b in blocks}) == len(blocks) == len(pairs)
    assert [b.view.id for b in blocks if b.view.user == "a"] == ['["a", "_b"]', "a__b", '["a", "b__c"]']


def test_no_rating_of_a_target_can_be_reached() -> None:
    mark = 2.71828
    scores = [mark, 4]
    talks = [rated_talk("u", "a", 0, [5, 3]), rated_talk("u", "b", 0, scores), rated_talk("u", "c", 0, [1])]
    talks[1] = replace(
        talks[1], messages=(*talks[1].messages[:-1], replace(talks[1].messages[-1], extra={"stars": mark}))
    )
    view = next(b.view for b in collect_blocks(talks)[0] if b.view.scenario == "b")
    found = reachable(view)
    held = [v for v in found.values() if isinstance(v, Rating)]
    assert held == []
    numbers = {
        getattr(v, f.name)
        for v in found.values()
        if is_dataclass(v)
        for f in fields(v)
        if isinstance(getattr(v, f.name), float)
    }
    assert mark not in numbers
    assert all(not v.extra for v in found.values() if isinstance(v, Message))
    assert "questionnaire" not in {k for v in found.values() if isinstance(v, dict) for k in v}


def test_view_does_not_depend_on_the_ratings_of_its_targets() -> None:
    talks = rated_users(3)
    changed = [
        replace(t, ratings=tuple(replace(r, score=1, note="x") for r in t.ratings))
        if (t.user_id, t.scenario) == ("user1", "gift")
        else t
        for t in talks
    ]
    before = {b.view.id: b.view for b in collect_blocks(talks)[0]}
    after = {b.view.id: b.view for b in collect_blocks(changed)[0]}
    assert before["user1__gift"] == after["user1__gift"]
    assert before["user1__cook"] != after["user1__cook"]


def test_foresight_ends_with_the_reply() -> None:
    talks = rated_users(1)
    foresight = collect_blocks(talks)[0][0].view.targets
    hindsight = collect_blocks(talks, sight="hindsight")[0][0].view.targets
    assert [len(t.conversation.messages) for t in foresight] == [2, 4, 2, 4, 6]
    assert [len(t.conversation.messages) for t in hindsight] == [4, 4, 6, 6, 6]


def test_a_split_file_wins_and_users_are_never_in_their_own_prior() -> None:
    study = study_data(rated_users(5), split=SPLIT)
    assert {b.view.user for b in study.blocks} == {"user2", "user3"}
    assert study.left_out == {"block of a user outside the split": 3}
    assert {b.view.user for b in study.population.blocks} == {"user0", "user1"}
    assert {b.view.user for b in study.population.without("user0").blocks} == {"user1"}
    everyone = study_data(rated_users(5), split=SPLIT, part="all")
    assert len({b.view.user for b in everyone.blocks}) == 5


def test_seeded_split_where_no_file_is_given() -> None:
    study = study_data(rated_users(10))
    assert len({b.view.user for b in study.population.blocks}) == 2
    assert len({b.view.user for b in study.blocks}) == 8
    with pytest.raises(UsageError, match="cannot be split"):
        study_data(rated_users(2))
    everyone = study_data(rated_users(2), part="all")
    assert len({b.view.user for b in everyone.blocks}) == 2


def test_users_without_history_come_last() -> None:
    lonely = rated_talk("anna", "cook", 0, [5, 4])
    study = study_data([lonely, *rated_users(6)])
    assert study.blocks[-1].view.user == "anna"
    assert study.blocks[-1].view.history == ()
    assert "anna" not in {b.view.user for b in study.population.blocks}
    named = study_data([lonely, *rated_users(6)], split=SPLIT)
    assert "anna" not in {b.view.user for b in named.blocks}


def test_where_nobody_has_a_history_all_users_are_split() -> None:
    talks = [rated_talk(f"u{i}", "cook", 0, [4, 5]) for i in range(6)]
    study = study_data(talks)
    assert len(study.split.train) == 1
    assert len({b.view.user for b in study.blocks}) == 5
    assert study.population.scores == (4, 5)
    assert not study.left_out
    alone = study_data(talks[:2], part="all")
    assert alone.split.train == {"u0", "u1"}


def test_training_users_without_a_history_are_known_too() -> None:
    talks = [rated_talk("u0", "cook", 0, [2, 3]), rated_talk("u1", "cook", 0, [4, 5])]
    study = study_data(talks, split=UserSplit(frozenset({"u0"}), frozenset({"u1"})))
    assert study.population.scores == (2, 3)
    assert len({b.view.user for b in study.blocks}) == 1


def test_prompt_keeps_the_first_conversations_of_each_scenario() -> None:
    few = [rated_talk("u", s, n, [4, 5]) for s in ("a", "b", "c") for n in range(4)]
    view = collect_blocks(few)[0][0].view
    assert len(kept_sessions(view.history)) == len(view.history)  # 8 conversations
    more = [rated_talk("u", s, n, [4, 5]) for s in ("a", "b", "c", "d") for n in range(4)]
    kept = kept_sessions(collect_blocks(more)[0][0].view.history)
    assert list(dict.fromkeys(r.reply.conversation.id for r in kept)) == [
        f"u__{s}__{n}" for s in ("b", "c", "d") for n in range(2)
    ]


def test_bad_ratings_are_named_and_leave_the_turn_unrated() -> None:
    talk = rated_talk("u", "a", 0, [4, 5, None])
    extra = (
        Rating(talk.id, "satisfaction", "great", 3, "u"),
        Rating(talk.id, "satisfaction", 7, 3, "u"),
        Rating(talk.id, "satisfaction", 4, 9, "u"),
    )
    blocks, faults, _ = collect_blocks(
        [replace(talk, ratings=talk.ratings + extra), rated_talk("u", "b", 0, [1])]
    )
    assert [len(b.view.targets) for b in blocks] == [2, 1]
    assert [f.message for f in faults] == [
        "the rating 'great' is a text: satisfaction is a number from 1 to 5",
        "the rating 7 is off the scale 1-5",
        "a rating of a turn that has no reply",
    ]
    assert faults[0].place is not None
    assert faults[0].place.turn == 3


def test_several_replies_and_several_raters_of_one_turn() -> None:
    talk = rated_talk("u", "a", 0, [4])
    two = (*talk.messages, Message("assistant", "and more"))
    each = (Rating(talk.id, "satisfaction", 2, 1, "u"), Rating(talk.id, "satisfaction", 5, 1, "u"))
    dealt = collect_blocks([replace(talk, messages=two, ratings=each)])[0][0].ratings
    assert [(r.reply.id, r.score) for r in dealt] == [("u__a__0__turn_0", 2), ("u__a__0__turn_1", 5)]
    raters = (Rating(talk.id, "satisfaction", 2, 1, "ann"), Rating(talk.id, "satisfaction", 5, 1, "bo"))
    mean = collect_blocks([replace(talk, messages=two, ratings=raters)])[0][0].ratings
    assert [(r.reply.id, r.score) for r in mean] == [("u__a__0__turn_1", 3.5)]


def test_a_turn_that_one_rater_rates_twice_keeps_the_latest() -> None:
    talk = rated_talk("u", "a", 0, [4, 5])
    again = (Rating(talk.id, "satisfaction", 1, 1, "u"), Rating(talk.id, "satisfaction", 2, 1, "bo"))
    blocks, faults, _ = collect_blocks([replace(talk, ratings=talk.ratings + again)])
    assert [r.score for r in blocks[0].ratings] == [1.5, 5]  # u's 1 and bo's 2
    (fault,) = faults
    assert "turn 1 was rated 4, and 1 later by the same rater" in str(fault)
    nameless = tuple(Rating(talk.id, "satisfaction", s, 1, None) for s in (2, 4))
    blocks, faults, _ = collect_blocks([replace(talk, ratings=nameless)])
    assert ([r.score for r in blocks[0].ratings], faults) == ([3], ())


def test_what_takes_no_part_is_counted() -> None:
    talks = [
        replace(rated_talk("u", "a", 0, [4]), user_id=None),
        replace(rated_talk("u", "a", 1, [4]), scenario=None),
        rated_talk("u", "a", 2, [None]),
    ]
    with pytest.raises(UsageError, match="1 with no user, 1 with no scenario, 1 with no rating"):
        study_data(talks)
    with pytest.raises(UsageError, match="no conversation at all"):
        study_data([])
