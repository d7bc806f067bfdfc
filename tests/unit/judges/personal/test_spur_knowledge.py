"""The judge `spur`: criteria made once, kept with the run, and verdicts that know two scores."""

from __future__ import annotations

import asyncio
import json

import pytest

from dialogauge.core import JudgeFailure, Judgement, StoreError, Usage
from dialogauge.core.protocols import request_for
from dialogauge.core.unit import conversation_digest
from dialogauge.data import UserSplit
from dialogauge.judges.personal import spur
from dialogauge.judges.personal.judge import PersonalRubricJudge
from dialogauge.judges.personal.spur import InducedCriteria, InductionSettings
from dialogauge.llm.protocol import ChatFailure
from dialogauge.llm.scripted import ScriptedClient
from dialogauge.rubrics import load_personal
from dialogauge.studies.satisfaction.blocks import study_data
from rated import rated_users

NAMES = frozenset(f"user{i}" for i in range(4))
STUDY = study_data(rated_users(6), split=UserSplit(NAMES, frozenset({"user4", "user5"})))


class Memory(dict):
    """What a run keeps, through JSON as a file would."""

    def get(self, key):
        return json.loads(self[key]) if key in self else None

    def put(self, key, value):
        self[key] = json.dumps(value)


def verdict(**changes):
    plain = {
        "note": "S1 applies.",
        "matches": [
            {"criterion": "S1", "label": "satisfied"},
            {"criterion": "S2", "label": "satisfied"},
            {"criterion": "D1", "label": "dissatisfied"},
        ],
        "scores": {"satisfaction": 4},
        "confidence": "medium",
    }
    return json.dumps(plain | changes)


class Model:
    def __init__(self, line=lambda request: None):
        self.line = line
        self.client = ScriptedClient(self.answer)

    def answer(self, request):
        found = self.line(request)
        if found is not None:
            return found
        if request.schema.name == "spur":
            return verdict()
        return json.dumps({"criteria": [f"criterion {len(self.client.requests) % 7}"]})

    def judge(self, **settings):
        context = InducedCriteria(self.client, InductionSettings(examples=4, **settings))
        return PersonalRubricJudge("spur", load_personal("spur"), self.client, context=context, language="en")

    def count(self, name):
        return sum(r.schema.name == name for r in self.client.requests)


async def turns(judge, notes, others=STUDY.population):
    requests = [request_for((r,), b.view, others, notes) for b in STUDY.blocks for r in b.view.targets]
    return [row for (row,) in await asyncio.gather(*map(judge.judge, requests))]


async def test_criteria_are_induced_once_and_kept() -> None:
    model, kept = Model(), Memory()
    rows = await turns(model.judge(), kept)
    assert model.count("spur_find") == 8
    assert model.count("spur") == len(rows) == 30
    assert len(kept) == 1
    # the induction is booked on the one turn for which it was done
    assert sorted({r.usage.calls for r in rows}) == [1, 9]
    assert sum((r.usage.calls for r in rows), 0) == len(model.client.requests)
    again = Model()
    assert [r.outcome for r in await turns(again.judge(), kept)] == [r.outcome for r in rows]
    assert again.count("spur_find") == 0


async def test_a_population_is_read_once_for_all_targets(monkeypatch) -> None:
    read = []

    def counted(conversation):
        read.append(conversation.id)
        return conversation_digest(conversation)

    monkeypatch.setattr(spur, "conversation_digest", counted)
    await turns(Model().judge(), Memory())
    assert sorted(read) == sorted(set(read))


async def test_other_ratings_or_settings_make_other_criteria() -> None:
    model, kept = Model(), Memory()
    judge = model.judge()
    await turns(judge, kept)
    await turns(judge, kept, STUDY.population.without("user0"))
    await turns(model.judge(kept=3), kept)
    assert len(kept) == 3
    assert model.judge(kept=3).digest != judge.digest
    assert judge.reads == {"others"}


async def test_what_the_judge_is_shown_and_what_it_says() -> None:
    model = Model()
    row = (await turns(model.judge(), Memory()))[0]
    shown = next(r for r in model.client.requests if r.schema.name == "spur").messages[-1]["content"]
    criteria = json.loads(shown.splitlines()[0].removeprefix("The criteria, as JSON: "))
    assert list(criteria) == ["satisfied", "dissatisfied"]
    assert [next(iter(side)) for side in criteria.values()] == ["S1", "D1"]
    assert "age" not in shown  # generic: no word of the user
    outcome = row.outcome
    assert isinstance(outcome, Judgement)
    assert outcome.numbers == {"satisfaction": 4, "balance": pytest.approx(2 / 3)}
    assert outcome.details["class"] == "SAT"
    assert outcome.details["labels"] == {"confidence": "medium"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"scores": {"satisfaction": 5}},
        {"scores": {"satisfaction": 1}},
        {"scores": {"satisfaction": 3.5}},
        {"scores": {"satisfaction": "SAT"}},
        {"confidence": 0.5},
        {"matches": [{"criterion": "S1", "label": "both"}]},
    ],
)
async def test_there_are_two_scores(wrong) -> None:
    model = Model(lambda r: verdict(**wrong) if r.schema.name == "spur" else None)
    rows = await turns(model.judge(), Memory())
    assert {type(r.outcome) for r in rows} == {JudgeFailure}
    assert {r.outcome.kind for r in rows} == {"invalid_schema"}


async def test_without_criteria_every_turn_fails_and_nothing_is_kept() -> None:
    broken = ChatFailure("server_error", "down", Usage(calls=1))
    model, kept = Model(lambda r: broken if r.schema.name == "spur_find" else None), Memory()
    rows = await turns(model.judge(), kept)
    assert {r.outcome.kind for r in rows} == {"server_error"}
    assert all("could not be induced" in r.outcome.message for r in rows)
    assert model.count("spur") == 0
    assert model.count("spur_find") == 8  # not once for each turn
    assert sum(r.usage.calls for r in rows) == 8
    assert kept == {}
    model.line = lambda request: None
    assert all(isinstance(r.outcome, Judgement) for r in await turns(model.judge(), kept))


async def test_damaged_criteria_are_refused() -> None:
    model, kept = Model(), Memory()
    await turns(model.judge(), kept)
    (key,) = kept
    kept.put(key, {"satisfied": {"criteria": ["x"]}})
    with pytest.raises(StoreError, match="--fresh"):
        await turns(model.judge(), kept)
