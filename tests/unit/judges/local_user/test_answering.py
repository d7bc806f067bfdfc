"""Whether a reply answers: what is put in its place, and what is made of telling the two apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dialogauge.core import Conversation, Message, Rating
from dialogauge.core.protocols import RatedReply, Reply
from dialogauge.data import UserSplit
from dialogauge.judges.local_user.features import (
    feature_names_of,
    read_instead,
    read_replies,
    relation_columns,
)
from dialogauge.judges.local_user.judge import LocalUserJudge
from dialogauge.judges.local_user.model import expected, fit_answering, misplaced
from dialogauge.studies.satisfaction.blocks import study_data
from knowing import request_of
from rated import rated_talk

NAMES = feature_names_of("foresight")
PLACES = [
    "the old harbour",
    "a small vineyard",
    "jazz clubs",
    "mountain huts",
    "the opera house",
    "glass makers",
    "salt marshes",
    "night markets",
]


def rated_of(talk: Conversation) -> list[RatedReply]:
    return [
        RatedReply(Reply(f"{talk.id}__turn_{i}", talk, i, i // 2 + 1, i // 2), 4.0)
        for i, message in enumerate(talk.messages)
        if message.role == "assistant"
    ]


def users_of(*talks: Conversation) -> dict[str, list[RatedReply]]:
    out: dict[str, list[RatedReply]] = {}
    for talk in talks:
        out.setdefault(talk.user_id or "", []).extend(rated_of(talk))
    return out


def test_what_is_put_in_a_place_was_told_to_another_user_in_the_same_scenario() -> None:
    users = users_of(
        *(rated_talk(u, s, n, [4, 4], text=f"{u} {s}!") for u in "abc" for s in "xy" for n in range(2)),
        rated_talk("a", "alone", 0, [4, 4]),
    )
    replies, texts = misplaced(users)
    assert len(replies) == len(texts) == 24  # all but the two of the scenario that one user has alone
    for reply, text in zip(replies, texts, strict=True):
        user, scenario = text.split("!")[0].split()
        assert user != reply.conversation.user_id
        assert scenario == reply.conversation.scenario
    assert misplaced(users) == (replies, texts)
    assert misplaced({}) == ([], [])


def test_of_very_many_replies_some_are_taken(monkeypatch) -> None:
    monkeypatch.setattr("dialogauge.judges.local_user.model._PAIRS", 5)
    users = users_of(*(rated_talk(u, "x", 0, [4, 4, 4, 4]) for u in "abc"))
    replies, texts = misplaced(users)
    assert len(replies) == len(texts) == 4  # every third of twelve
    assert {r.conversation.user_id for r in replies} == {"a", "b", "c"}


def test_the_numbers_of_a_text_in_the_place_of_a_reply() -> None:
    talk = rated_talk("a", "x", 0, [4, 4, 4])
    found = read_instead(talk, {3: "Take the answer 2 of x.", 5: talk.messages[5].text})
    changed = list(talk.messages)
    changed[3] = Message("assistant", "Take the answer 2 of x.")
    as_told = dict(read_replies(replace(talk, messages=tuple(changed[:4])), "foresight", [3]))
    assert found[3] == as_told[3].features
    # what follows goes on from the reply that was given
    assert found[5] == dict(read_replies(talk, "foresight", [5]))[5].features


def test_the_columns_are_those_that_relate_a_reply_to_what_was_said() -> None:
    names = {NAMES[i] for i in relation_columns()}
    assert {"takes_up_request", "repeats_last_reply", "position", "reply_length"} <= names
    assert not {n for n in names if n.startswith("reply_")} - {"reply_length"}
    hindsight = feature_names_of("hindsight")
    assert {hindsight[i] for i in relation_columns()} == names


def test_what_tells_them_apart_is_learnt() -> None:
    rng = np.random.default_rng(0)
    given, instead = rng.normal(size=(2, 200, len(NAMES)))
    at = NAMES.index("takes_up_request")
    given[:, at] += 3
    learnt = fit_answering(given, instead)
    assert learnt is not None
    far = np.zeros((3, len(NAMES)))
    far[:, at] = [-3, 0, 3]
    low, middle, high = learnt.share(far)
    assert low < 0.2 < middle < high
    assert high > 0.99


def test_replies_that_cannot_be_told_apart_answer_as_nearly_all_do() -> None:
    numbers = np.random.default_rng(0).normal(size=(60, len(NAMES)))
    learnt = fit_answering(numbers, numbers)
    assert learnt is not None
    assert learnt.share(numbers) == pytest.approx(1 - 1 / 400, abs=1e-6)


def test_too_few_pairs_tell_nothing() -> None:
    assert fit_answering(np.ones((49, len(NAMES))), np.zeros((49, len(NAMES)))) is None


def test_pairs_far_apart_are_learnt_without_overflow() -> None:
    given = np.full((80, len(NAMES)), 3.0)
    learnt = fit_answering(given, -given)
    assert learnt is not None
    assert np.isfinite(learnt.weights).all()


def test_the_expected_rating_by_hand() -> None:
    # 4 with 1/2 and 2 with 1/2; a 1 stays a 1; certain answers stay
    found = expected(np.array([4.0, 1.0, 4.0]), np.array([0.5, 0.5, 1.0]), np.zeros(3, bool))
    assert found == pytest.approx([3.0, 1.0, 4.0])


def talk_of(user: str, scenario: str, number: int, place: str, told: str | None = None) -> Conversation:
    id = f"{user}-{scenario}-{number}"
    messages = (
        Message("user", f"What about {place} for the {scenario}?"),
        Message("assistant", told or f"Go to {place} for the {scenario}: {place} is open all week."),
    )
    rating = Rating(id, "satisfaction", 4 + number % 2, 1, user)
    return Conversation(id, messages, user_id=user, scenario=scenario, ratings=(rating,))


async def test_a_reply_to_somebody_else_is_told_and_rated_lower() -> None:
    talks = [
        talk_of(f"u{u}", s, n, PLACES[(u + 3 * n) % len(PLACES)])
        for u in range(24)
        for s in ("trip", "walk", "party")
        for n in range(4)
    ]
    mine = [talk_of("me", s, n, PLACES[n]) for s in ("trip", "walk") for n in range(4)]
    split = UserSplit(frozenset(f"u{u}" for u in range(24)), frozenset({"me"}))

    async def said(own):
        study = study_data([*talks, *own], split=split)
        view = next(b.view for b in study.blocks if b.view.id == "me__trip")
        rows = await LocalUserJudge().judge(request_of(view, study.population))
        return [r.outcome for r in rows]

    wrong = talk_of(
        "me", "trip", 0, PLACES[0], f"Go to {PLACES[5]} for the trip: {PLACES[5]} is open all week."
    )
    before, after = await said(mine), await said([wrong, *mine[1:]])
    assert after[0].details["answers"] < 0.95 < 0.998 < before[0].details["answers"]
    assert after[0].scores["satisfaction"].value < before[0].scores["satisfaction"].value - 0.2
    assert after[1:] == before[1:]
