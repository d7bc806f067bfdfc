from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dialogauge.core import Conversation, Message
from dialogauge.core.protocols import Reply
from dialogauge.judges.local_user.features import Reader, feature_names_of, fit_topics, read_replies


def talk(*texts: str, context: str | None = None) -> Conversation:
    roles = ("user", "assistant")
    return Conversation(
        "c", tuple(Message(roles[i % 2], text) for i, text in enumerate(texts)), context=context
    )


def read(conversation, sight="foresight"):
    names = feature_names_of(sight)
    return {
        i: dict(zip(names, r.features, strict=True))
        for i, r in read_replies(conversation, sight, range(len(conversation.messages)))
    }


TALK = talk("where to eat?", "Try Rome.", "and to sleep?", "Try Rome.", "thanks", "Bye", context="Rome")


def test_place_and_relations_by_hand() -> None:
    found = read(TALK)
    assert list(found) == [1, 3, 5]
    assert [found[i]["first"] for i in found] == [1, 0, 0]
    assert [found[i]["second"] for i in found] == [0, 1, 0]
    assert found[3]["repeats_last_reply"] == 1
    assert found[3]["longer_than_last"] == found[3]["longer_than_usual"] == 0
    assert found[1]["takes_up_earlier_requests"] == found[1]["request_repeats_request"] == 0
    # bigrams of "try rome", as its end is not read: 7, of "rome": ro, om, me
    assert found[1]["takes_up_context"] == pytest.approx(3 / 7)
    assert found[3]["new"] == 0


def test_what_follows_changes_nothing_in_foresight() -> None:
    whole = read(TALK)
    for end in (2, 4):
        cut = read(replace(TALK, messages=TALK.messages[:end]))
        assert cut == {i: whole[i] for i in cut}


def test_hindsight_reads_the_next_user_message_and_no_more() -> None:
    found = read(TALK, "hindsight")
    assert [found[i]["no_next"] for i in found] == [0, 0, 1]
    assert found[1]["next_questions"] == pytest.approx(np.log(2))
    cut = read(replace(TALK, messages=TALK.messages[:3]), "hindsight")
    assert cut[1] == found[1]


def test_a_reply_without_a_request_and_an_empty_one() -> None:
    found = read(
        Conversation("c", (Message("assistant", "Hello!"), Message("user", ""), Message("assistant", "")))
    )
    assert list(found) == [0, 2]
    assert all(np.isfinite(list(f.values())).all() for f in found.values())


def reply(conversation: Conversation, message: int) -> Reply:
    return Reply(f"c__{message}", conversation, message, message // 2 + 1, message // 2)


def test_a_conversation_is_read_once_and_anew_when_it_is_another() -> None:
    reader = Reader("foresight")
    (first,) = reader.read([reply(TALK, 3)])
    (again,) = reader.read([reply(replace(TALK, messages=TALK.messages[:4]), 3)])
    assert again is first
    (other,) = reader.read([reply(talk("hi", "no", "so", "Try Paris."), 3)])
    assert other is not first
    assert other.features != first.features


def test_topics_tell_texts_apart_and_few_texts_have_few() -> None:
    texts = ["the hotel by the sea"] * 4 + ["boil the rice and salt it"] * 4
    found = [r for t in texts for _, r in read_replies(talk("hotel or rice?", t), "foresight", [1])]
    topics = fit_topics(found)
    assert topics.size <= 7
    about = np.array([topics.of(r) for r in found])
    assert (about**2).sum(axis=1).mean() == pytest.approx(1, abs=1e-5)
    assert about[0] == pytest.approx(about[3])
    assert about[0] @ about[1] > 2 * abs(about[0] @ about[7])
    assert fit_topics(found[:1]).size == 0
    assert (fit_topics(found).directions == topics.directions).all()
