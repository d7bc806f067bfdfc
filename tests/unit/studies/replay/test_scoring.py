"""What an evaluator is known by: stored scores hold as long as nothing that they stand on has changed."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from dialogauge.core import Message
from dialogauge.core.protocols import Population
from dialogauge.studies.replay.scoring import evaluator_digest
from dialogauge.studies.satisfaction.blocks import collect_blocks
from rated import rated_users

JUDGE = SimpleNamespace(digest="a judge")


def told(change=None, number=1, others=None):
    talks = rated_users(2)
    if change is not None:
        talks[number] = change(talks[number])
    blocks = collect_blocks(talks)[0]
    mine = [b for b in blocks if b.view.user == "user0"]
    known = tuple(b for b in blocks if b.view.user == "user1")
    return evaluator_digest(JUDGE, Population(known if others is None else others), mine)


def reply(talk):
    return replace(talk, messages=(*talk.messages[:-1], Message("assistant", "other words")))


def reason(talk):
    return replace(talk, ratings=tuple(replace(r, note="another reason") for r in talk.ratings))


def rating(talk):
    return replace(talk, ratings=tuple(replace(r, score=1.0) for r in talk.ratings))


def profile(talk):
    return replace(talk, profile={"age": 31})


@pytest.mark.parametrize(
    ("change", "number"),
    [(reply, 0), (reply, 1), (reply, 6), (reason, 1), (reason, 6), (rating, 1), (rating, 6), (profile, 0)],
)
def test_it_changes_with_all_that_a_score_stands_on(change, number) -> None:
    """Conversations 0 to 5 are the user's that is judged, 6 is a training user's."""
    assert told(change, number) != told()


def test_it_changes_with_nothing_else() -> None:
    assert told() == told()
    assert told(lambda t: replace(t, metadata={"seen": 1})) == told()
    assert told(others=()) != told()


def test_an_original_reply_of_one_scenario_alone_counts() -> None:
    """A block that is judged alone: nobody's history holds its conversations."""

    def alone(talk):
        block = collect_blocks([talk])[0]
        return evaluator_digest(JUDGE, Population(()), block)

    talk = rated_users(1)[0]
    assert alone(reply(talk)) != alone(talk)
    assert alone(rating(talk)) == alone(talk)
