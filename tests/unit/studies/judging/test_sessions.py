"""What of a produced conversation is judged: what follows its prefix, and perhaps only its first turns."""

from __future__ import annotations

import asyncio

import pytest

from dialogauge.core import Conversation, Judged, Judgement, Message, Rating, Target
from dialogauge.core.conversation import PREFIX
from dialogauge.studies.judging.study import JudgingStudy, cut_after, request_of
from talks import FakeJudge, talk

MESSAGES = (
    Message("system", "You are Mira."),
    *talk("u: a", "a: 1", "u: b", "a: 2", "u: c", "a: 3").messages,
)


def produced(prefix: int, messages: tuple[Message, ...] = MESSAGES) -> Conversation:
    ratings = (Rating("s", "warmth", 4), Rating("s", "warmth", 2, turn=1), Rating("s", "warmth", 5, turn=3))
    return Conversation("s", messages, metadata={PREFIX: prefix, "session": {"x": 1}}, ratings=ratings)


def unit_of(conversation: Conversation, **settings: int):
    (unit,) = JudgingStudy(FakeJudge(), [conversation], **settings).plan()
    return unit


@pytest.mark.parametrize(
    ("prefix", "history", "new"),
    [(0, [], [1, 2, 3]), (1, [], [1, 2, 3]), (3, [1], [2, 3]), (5, [1, 2], [3]), (7, [1, 2, 3], [])],
)
def test_a_session_is_judged_as_a_whole_behind_its_prefix(prefix, history, new):
    conversation = produced(prefix)
    assert [t.number for t in conversation.history] == history
    assert [t.number for t in conversation.new_turns] == new
    request = request_of(unit_of(conversation))
    assert request.targets == ()
    assert request.conversation.prefix == prefix
    assert set(request.conversation.metadata) <= {PREFIX}


@pytest.mark.parametrize("prefix", [2, 4, 6])
def test_a_reply_to_what_stood_there_is_judged_alone(prefix):
    request = request_of(unit_of(produced(prefix)))
    assert [r.message for r in request.targets] == list(range(prefix, 7, 2))


@pytest.mark.parametrize("prefix", [True, -3, "3", None])
def test_what_is_no_number_of_messages_is_no_prefix(prefix):
    assert produced(prefix).prefix == (1 if prefix is True else 0)


def test_the_prefix_is_part_of_what_is_judged():
    assert unit_of(produced(3)).key != unit_of(produced(5)).key
    assert unit_of(produced(1)).key == unit_of(produced(0)).key


def test_rows_of_turns_that_were_there_before_are_not_kept():
    class All(FakeJudge):
        async def judge(self, request):
            targets = [Target("s", "turn", n) for n in (1, 2, 3)] + [Target("s", "conversation")]
            return tuple(Judged(target, Judgement()) for target in targets)

    study = JudgingStudy(All(), [produced(3)])
    (unit,) = study.plan()
    rows = asyncio.run(study.run(unit))
    assert [r.target.turn for r in rows] == [2, 3, None]


@pytest.mark.parametrize(
    ("prefix", "count", "messages"),
    [(0, 1, 3), (0, 2, 5), (3, 1, 5), (3, 2, 7), (3, 9, 7), (0, 3, 7), (7, 1, 7)],
)
def test_the_first_new_turns_are_judged_and_the_rest_is_not_there(prefix, count, messages):
    conversation = cut_after(produced(prefix), count)
    assert conversation.messages == MESSAGES[:messages]
    last = max(t.number for t in conversation.turns)
    assert [r.turn for r in conversation.ratings] == [None, *(n for n in (1, 3) if n <= last)]


def test_what_follows_the_last_of_them_is_cut_too():
    waiting = (*MESSAGES, Message("user", "d"))
    assert cut_after(produced(0, waiting), 3).messages == MESSAGES
    assert cut_after(produced(0, waiting), 4).messages == waiting


def test_first_turns_are_part_of_the_unit():
    keys = {count: unit_of(produced(1), first_turns=count).key for count in (1, 2, 3, 9)}
    assert len(set(keys.values())) == 3
    assert keys[3] == keys[9] == unit_of(produced(1)).key, "all of it is all of it"
