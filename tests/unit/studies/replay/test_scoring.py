"""What an evaluator is known by: stored scores hold as long as nothing that they stand on has changed."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from dialogauge.core import Message
from dialogauge.core.protocols import Population, Request
from dialogauge.judges.pairwise import PairJudge
from dialogauge.llm.scripted import CallableClient
from dialogauge.rubrics import load_rubric
from dialogauge.studies.arena.meetings import AskedTwice
from dialogauge.studies.replay.items import replaced, set_plain_stage
from dialogauge.studies.replay.scoring import BesideOriginal, evaluator_digest
from dialogauge.studies.replay.selection import select_items
from dialogauge.studies.satisfaction.blocks import collect_blocks
from rated import rated_users
from talks import talk

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


@pytest.mark.parametrize(("praised", "preferred"), [("At noon.", 0.0), ("At one.", 1.0), ("Never.", 0.5)])
async def test_a_reply_that_the_referee_prefers_to_the_original_one_gets_a_one(praised, preferred) -> None:
    def answer(request):
        shown, _, second = request[-1]["content"].partition("<dialogue_b>")
        first = shown.partition("<dialogue_a>")[2]
        winner = "a" if praised in first else "b" if praised in second else "tie"
        return f'{{"note": "x", "winner": "{winner}"}}'

    talks = (talk("u: When?", "a: At noon.", id="c"),)
    data = {"inputs": [], **dict.fromkeys(("format", "map_file", "ratings_file")), "part": "all"}
    data |= {"dimension": "satisfaction", "split": {"train": [], "test": []}}
    stage = set_plain_stage(select_items((), "all", 9, data=data, source={}, unrated=talks), talks)
    (item,) = stage.items
    reply = replaced(stage.originals[item.id], "At one.")
    asked = Request(replace(reply.conversation, id=item.id, candidate="new"), (reply,))
    referee = AskedTwice(PairJudge(load_rubric("pair"), CallableClient(answer, name="stub")))
    (judged,) = await BesideOriginal(referee, stage).judge(asked)
    assert judged.outcome.scores["preferred"].value == preferred
