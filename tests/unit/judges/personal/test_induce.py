from __future__ import annotations

import json
import re

import pytest

from dialogauge.core import JudgeFailure
from dialogauge.core.protocols import Population
from dialogauge.data import UserSplit
from dialogauge.judges.personal.spur import InductionSettings, SpurCriteria, draw_examples, induce
from dialogauge.llm.protocol import ChatFailure
from dialogauge.llm.scripted import ScriptedClient
from dialogauge.studies.satisfaction.blocks import study_data
from rated import rated_users

USERS = rated_users(6)
NAMES = frozenset(f"user{i}" for i in range(6))
POPULATION = study_data(USERS, part="all", split=UserSplit(NAMES, frozenset())).population


def side_of(request):
    told = re.search(
        r"was (\w*satisfied) with it|users were (\w*satisfied) with", request.messages[0]["content"]
    )
    return told[1] or told[2]


def rating_in(request):
    return json.loads(request.messages[-1]["content"][request.messages[-1]["content"].rindex("{") :])


class Model:
    """Names each rated reply by its dialogue; merges by keeping the first ones."""

    def __init__(self, broken=lambda request: False):
        self.broken = broken
        self.client = ScriptedClient(self.answer)

    def answer(self, request):
        if self.broken(request):
            return ChatFailure("timeout", "no answer in time")
        most = request.schema.schema["properties"]["criteria"]["maxItems"]
        if request.schema.name == "spur_merge":
            held = re.findall(r'^"(.*)"$', request.messages[-1]["content"], re.M)
            return json.dumps({"criteria": held[:most]})
        score = rating_in(request)["score"]
        last = request.messages[-1]["content"].split("</dialogue>")[0].strip().splitlines()[-1]
        return json.dumps({"criteria": [f"{score:g} {json.loads(last)['text'][:60]}", "common"]})

    async def induce(self, population=POPULATION, language="en", **settings):
        return await induce(self.client, population, language, InductionSettings(**settings))

    @property
    def requests(self):
        return self.client.requests


def test_the_draw() -> None:
    drawn = draw_examples(POPULATION, most=5)
    assert {side: len(found) for side, found in drawn.items()} == {"satisfied": 5, "dissatisfied": 5}
    assert all(r.score >= 4 for r in drawn["satisfied"])
    assert all(r.score < 4 for r in drawn["dissatisfied"])
    assert draw_examples(POPULATION, most=5) == drawn
    assert draw_examples(POPULATION, most=5, seed=1) != drawn
    everything = draw_examples(POPULATION)
    assert sum(map(len, everything.values())) == len(POPULATION.scores)


async def test_three_criteria_each_then_few_for_all() -> None:
    model = Model()
    criteria, usage = await model.induce(examples=30, kept=4, chunk=10)
    assert isinstance(criteria, SpurCriteria)
    satisfied = criteria.by_side["satisfied"]
    assert (satisfied.examples, satisfied.failed) == (30, 0)
    drawn = draw_examples(POPULATION, most=30)["satisfied"]
    # what all of them give counts once
    assert satisfied.found == len({(r.score, r.reply.text[:60]) for r in drawn}) + 1
    assert len(satisfied.criteria) == 4
    assert all(c[0] in "45" or c == "common" for c in satisfied.criteria)
    assert all(c[0] in "123" or c == "common" for c in criteria.by_side["dissatisfied"].criteria)
    assert usage.calls == len(model.requests)
    merges = [r for r in model.requests if r.schema.name == "spur_merge"]
    limits = [r.schema.schema["properties"]["criteria"]["maxItems"] for r in merges]
    # chunks of ten keep twice as many as stay in the end, a shorter last one no more than it has
    assert max(limits) == 8
    assert limits.count(4) >= 2
    assert SpurCriteria.from_json(json.loads(json.dumps(criteria.to_json()))) == criteria


async def test_what_is_asked_of_a_rated_reply() -> None:
    model = Model()
    await model.induce(examples=3, kept=100)
    assert {r.schema.name for r in model.requests} == {"spur_find"}  # so few need no merging
    for request in model.requests:
        rating = rating_in(request)
        assert (rating["score"] >= 4) == (side_of(request) == "satisfied")
        assert ("reason" in rating) == (rating["score"] < 4)
        # the dialogue ends with the rated reply
        last = request.messages[-1]["content"].split("</dialogue>")[0].strip().splitlines()[-1]
        assert json.loads(last)["role"] == "assistant"


async def test_in_chinese() -> None:
    model = Model()
    await model.induce(language="zh", examples=2)
    system = {r.messages[0]["content"] for r in model.requests}
    assert any("对它满意" in s for s in system)
    assert any("对它不满意" in s for s in system)


async def test_failed_calls_give_nothing_and_are_counted() -> None:
    seen = []

    def broken(request):
        seen.append(request)
        return request.schema.name == "spur_find" and len(seen) % 4 == 0

    criteria, _ = await Model(broken).induce(examples=20)
    assert isinstance(criteria, SpurCriteria)
    assert sum(c.failed for c in criteria.by_side.values()) == 10


@pytest.mark.parametrize("name", ["spur_find", "spur_merge"])
async def test_no_criteria_are_made_up(name) -> None:
    model = Model(lambda r: r.schema.name == name and side_of(r) == "dissatisfied")
    failure, usage = await model.induce(examples=20, kept=2)
    assert isinstance(failure, JudgeFailure)
    assert failure.kind == "timeout"
    assert "could not be induced: no answer in time" in failure.message
    assert usage.calls > 0


async def test_nobody_is_known() -> None:
    model = Model()
    failure, _ = await model.induce(Population(()))
    assert isinstance(failure, JudgeFailure)
    assert model.requests == []


async def test_a_side_that_nobody_was_on_has_no_criteria() -> None:
    content = Population(tuple(b for b in POPULATION.blocks if min(r.score for r in b.ratings) >= 4))
    assert content.blocks
    criteria, _ = await Model().induce(content, examples=5)
    assert isinstance(criteria, SpurCriteria)
    assert criteria.by_side["dissatisfied"].criteria == ()
    assert criteria.by_side["dissatisfied"].examples == 0


@pytest.mark.parametrize("criteria", ["one", [], [""], ["a", "b", "c", "d"], [1, 2], [["a"]], {"a": 1}, None])
async def test_replies_that_are_no_criteria_are_asked_about_again(criteria) -> None:
    asked = []

    def answer(request):
        asked.append(request)
        return json.dumps({"criteria": criteria if len(asked) == 1 else ["fine"]})

    found, usage = await induce(ScriptedClient(answer), POPULATION, "en", InductionSettings(examples=1))
    assert isinstance(found, SpurCriteria)
    assert usage.calls == len(asked) == 3
    assert "criteria: expected" in asked[-1].messages[-1]["content"] or any(
        "criteria: expected" in r.messages[-1]["content"] for r in asked
    )
