"""`local-user` as a judge: what it may know, and what it does where little is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dialogauge.app.build import build_satisfaction_judge
from dialogauge.app.merging import refuse_settings_of_others
from dialogauge.app.settings import SatisfactionOptions
from dialogauge.core import Conversation, JudgeFailure, Message, Rating, UsageError
from dialogauge.core.protocols import Population
from dialogauge.data import UserSplit
from dialogauge.judges.local_user.judge import LocalUserJudge
from dialogauge.studies.satisfaction.blocks import study_data
from knowing import request_of
from rated import rated_talk, rated_users

TALKS = rated_users(9)
SPLIT = UserSplit(frozenset(f"user{u}" for u in range(6)), frozenset({"user6", "user7", "user8"}))


def study_of(talks=TALKS, split=SPLIT, **settings):
    return study_data(talks, split=split, **settings)


async def said(study, block, judge=None):
    view = next(b.view for b in study.blocks if b.view.id == block)
    rows = await (judge or LocalUserJudge()).judge(request_of(view, study.population))
    assert [r.target.turn for r in rows] == [t.turn for t in view.targets]
    return [(r.outcome.scores["satisfaction"].whole, r.outcome.scores["satisfaction"].value) for r in rows]


def rated_anew(talk: Conversation, score: int) -> Conversation:
    ratings = tuple(replace(r, score=(score + i) % 5 + 1) for i, r in enumerate(talk.ratings))
    return replace(talk, ratings=ratings)


async def test_forbidden_ratings_change_nothing() -> None:
    """The target block's own ratings and those of all other judged users, scrambled."""
    mine = await said(study_of(), "user7__gift")
    scrambled = [
        rated_anew(t, i)
        if t.user_id in ("user6", "user8") or (t.user_id, t.scenario) == ("user7", "gift")
        else t
        for i, t in enumerate(TALKS)
    ]
    assert await said(study_of(scrambled), "user7__gift") == mine
    moved = [
        rated_anew(t, i) if (t.user_id, t.scenario) == ("user7", "cook") else t for i, t in enumerate(TALKS)
    ]
    assert await said(study_of(moved), "user7__gift") != mine
    others = [rated_anew(t, i) if t.user_id == "user0" else t for i, t in enumerate(TALKS)]
    assert await said(study_of(others), "user7__gift") != mine


async def test_order_of_blocks_and_what_was_judged_before_change_nothing() -> None:
    study, judge = study_of(), LocalUserJudge()
    names = [b.view.id for b in study.blocks]
    forth = {name: await said(study, name, judge) for name in names}
    assert forth == {name: await said(study, name) for name in reversed(names)}


async def test_each_target_alone_says_the_same() -> None:
    study = study_of()
    view = next(b.view for b in study.blocks if b.view.id == "user8__trip")
    together = [v for _, v in await said(study, view.id)]
    for target, value in zip(view.targets, together, strict=True):
        (row,) = await LocalUserJudge().judge(request_of(replace(view, targets=(target,)), study.population))
        assert row.outcome.scores["satisfaction"].value == pytest.approx(value, abs=1e-9)


async def test_the_future_of_a_target_changes_nothing_in_foresight() -> None:
    study = study_of()
    longer = [
        replace(t, messages=(*t.messages, Message("user", "that was bad"), Message("assistant", "sorry")))
        for t in TALKS
    ]
    assert await said(study_of(longer), "user7__cook") == await said(study, "user7__cook")


async def test_hindsight_reads_what_followed() -> None:
    def talks(after):
        return [replace(t, messages=(*t.messages, Message("user", after))) for t in TALKS]

    split = study_of(sight="hindsight")
    first = await said(
        study_of(talks("fine!!"), sight="hindsight"), "user7__cook", LocalUserJudge("hindsight")
    )
    assert first != await said(split, "user7__cook", LocalUserJudge("hindsight"))
    assert LocalUserJudge("hindsight").digest != LocalUserJudge().digest


async def test_a_user_follows_their_own_history() -> None:
    content = [rated_talk("up", s, n, [5, 5, 5]) for s in "abcd" for n in range(3)]
    gloomy = [rated_talk("down", s, n, [2, 2, 2]) for s in "abcd" for n in range(3)]
    study = study_of([*TALKS, *content, *gloomy], UserSplit(SPLIT.train, frozenset({"up", "down"})))
    high, low = await said(study, "up__a"), await said(study, "down__a")
    assert min(v for _, v in high) > max(v for _, v in low) + 0.5
    assert min(s for s, _ in high) > max(s for s, _ in low)


async def test_without_history_the_training_users_speak() -> None:
    study = study_of(
        [*TALKS, rated_talk("new", "cook", 0, [1, 2])], UserSplit(SPLIT.train, frozenset({"new"}))
    )
    view = study.blocks[0].view
    rows = await LocalUserJudge().judge(request_of(view, study.population))
    assert all(r.outcome.details["prior"] for r in rows)
    assert all(3 < r.outcome.scores["satisfaction"].value < 5 for r in rows)


async def test_with_nobody_else_the_own_history_speaks_and_with_nothing_it_fails() -> None:
    study = study_data([t for t in TALKS if t.user_id == "user7"], part="all")
    view = study.blocks[0].view
    rows = await LocalUserJudge().judge(request_of(view, Population(())))
    assert all(1 <= r.outcome.numbers["satisfaction"] <= 5 for r in rows)
    rows = await LocalUserJudge().judge(request_of(replace(view, history=()), Population(())))
    assert {r.outcome.kind for r in rows if isinstance(r.outcome, JudgeFailure)} == {"judge_error"}


@pytest.mark.parametrize("scores", [[4], [4, 4, 4], [1], [5, 5]])
async def test_a_history_of_one_score_or_one_turn(scores) -> None:
    talks = [rated_talk("me", "a", 0, scores), rated_talk("me", "b", 0, [3, 1])]
    study = study_of([*TALKS, *talks], UserSplit(SPLIT.train, frozenset({"me"})))
    assert len(await said(study, "me__b")) == 2
    alone = study_data(talks, part="all")
    rows = await LocalUserJudge().judge(request_of(alone.blocks[-1].view, Population(())))
    (value,) = {round(r.outcome.scores["satisfaction"].value, 6) for r in rows}
    assert value == scores[0]


async def test_small_populations_and_ratings_all_alike() -> None:
    one = UserSplit(frozenset({"user0"}), frozenset({"user7"}))
    assert len(await said(study_of(split=one), "user7__cook")) == 5
    alike = [
        replace(t, ratings=tuple(replace(r, score=4) for r in t.ratings)) if t.user_id in SPLIT.train else t
        for t in TALKS
    ]
    assert len(await said(study_of(alike), "user7__cook")) == 5


async def test_chinese_and_any_other_language() -> None:
    def spoken(user, scenario, text, score):
        messages = (Message("user", text), Message("assistant", text * 3))
        id = f"{user}{scenario}"
        rating = Rating(id, "satisfaction", score, 1, user)
        return Conversation(id, messages, user_id=user, scenario=scenario, ratings=(rating,))

    talks = [
        spoken(u, s, text, 3 + i % 3)
        for i, u in enumerate(("甲", "乙", "丙"))
        for s, text in (("旅行", "去北京玩三天，预算2000元。"), ("菜谱", "Что приготовить?"))
    ]
    study = study_of(talks, UserSplit(frozenset({"甲", "乙"}), frozenset({"丙"})))
    assert len(await said(study, "丙__旅行")) == 1


async def test_a_very_long_history_is_thinned(monkeypatch) -> None:
    monkeypatch.setattr("dialogauge.judges.local_user.model._HISTORY", 4)
    assert len(await said(study_of(), "user7__cook")) == 5


def test_settings_of_other_judges_are_refused() -> None:
    options = SatisfactionOptions(inputs=("data",), judge="local-user", k=3)
    judge = build_satisfaction_judge(options, mode="hindsight").judge
    assert judge.describe()["settings"]["mode"] == "hindsight"
    with pytest.raises(UsageError, match="local-user takes no --k"):
        refuse_settings_of_others(options)


async def test_users_who_are_always_content_are_still_said_to_be() -> None:
    talks = [
        rated_talk(f"u{u}", s, n, [5, 5, 5, 4 - u % 2]) for u in range(8) for s in "abc" for n in range(2)
    ]
    content = [rated_talk("me", s, n, [5, 5, 5, 5]) for s in "abc" for n in range(4)]
    study = study_of([*talks, *content], UserSplit(frozenset(f"u{u}" for u in range(8)), frozenset({"me"})))
    found = await said(study, "me__a")
    assert {score for score, _ in found} == {5}
    assert all(value <= 5 for _, value in found)


async def test_the_turns_of_the_history_that_moved_it_are_named() -> None:
    form = "first\n- one\n- two\n- three"
    liked = [rated_talk("me", "a", n, [5], text=form) for n in range(3)]
    disliked = [rated_talk("me", "a", n, [1], text="a plain long answer " * 9) for n in range(3, 6)]
    target = rated_talk("me", "b", 0, [3], text="a plain long answer " * 9)
    study = study_of([*TALKS, *liked, *disliked, target], UserSplit(SPLIT.train, frozenset({"me"})))
    view = next(b.view for b in study.blocks if b.view.id == "me__b")
    (row,) = await LocalUserJudge().judge(request_of(view, study.population))
    sources = row.outcome.details["sources"]
    assert {s["turn_id"] for s in sources} == {f"me__a__{n}__turn_0" for n in range(3, 6)}
    assert all(s["pull"] < 0 for s in sources)
