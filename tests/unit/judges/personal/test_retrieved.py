"""The judge `rag`: what it is shown of its user, and what it may answer."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from dialogauge.core import JudgeFailure, Judgement
from dialogauge.core.protocols import NO_NOTES, NOBODY, request_for
from dialogauge.data import UserSplit
from dialogauge.judges.personal.baselines import episodic
from dialogauge.judges.personal.examples import RetrievedExamples
from dialogauge.judges.personal.judge import PersonalRubricJudge
from dialogauge.llm.scripted import ScriptedClient
from dialogauge.rubrics import load_personal
from dialogauge.studies.replay.items import replaced
from dialogauge.studies.satisfaction.blocks import study_data
from rated import rated_talk

TALKS = [
    rated_talk("me", "cook", 0, [5, 1], text="soup"),
    rated_talk("me", "gift", 0, [4, 2, 3], text="soup spoon"),
    rated_talk("me", "trip", 0, [5], text="train"),
    rated_talk("new", "cook", 0, [1], text="soup"),
]
STUDY = study_data(TALKS, split=UserSplit(frozenset(), frozenset({"me", "new"})))


def view_of(id):
    return next(b.view for b in STUDY.blocks if b.view.id == id)


async def context_for(reply, view, examples=None):
    return await (examples or RetrievedExamples()).context_for(reply, view, NOBODY, NO_NOTES, "en")


async def told(view, reply, **settings):
    context = await context_for(reply, view, RetrievedExamples(**settings))
    lines = context.values["rated_examples"].splitlines()
    return [json.loads(line) for line in lines], context.details["sources"]


async def test_the_turns_that_episodic_retrieval_finds() -> None:
    view = view_of("me__cook")
    expected = episodic(view, NOBODY, strategy="topk", k=3)
    for reply, guess in zip(view.targets, expected, strict=True):
        shown, sources = await told(view, reply, k=3)
        assert [(s["turn_id"], s["cosine"]) for s in sources] == [(n, round(c, 6)) for n, c in guess.sources]
        history = {r.reply.id: r for r in view.history}
        assert [s["score"] for s in shown] == [history[s["turn_id"]].score for s in sources]
        assert all(("reason" in s) == (s["score"] < 4) for s in shown)
        assert {s["kind"] for s in shown} <= {"gift", "trip"}


async def test_the_strategy_chooses_and_likeness_orders() -> None:
    view = view_of("me__cook")
    shown, sources = await told(view, view.targets[0], k=4, strategy="boundary-paired")
    assert sorted(s["score"] for s in shown) == [2, 3, 4, 5]
    assert [s["cosine"] for s in sources] == sorted((s["cosine"] for s in sources), reverse=True)


async def test_long_texts_are_cut_in_the_middle() -> None:
    view = view_of("me__cook")
    (shown,), _ = await told(view, view.targets[1], k=1, request_chars=10, reply_chars=12)
    assert shown["request"].startswith("soup sp [...")
    assert "characters cut" in shown["reply"]


async def test_a_user_without_a_history() -> None:
    view = view_of("new__cook")
    context = await context_for(view.targets[0], view)
    assert context.values == {"rated_examples": "(none given)"}


async def test_the_block_is_indexed_once(monkeypatch) -> None:
    import dialogauge.judges.personal.examples as module

    made = []
    real = module.likeness
    monkeypatch.setattr(module, "likeness", lambda view: made.append(view.id) or real(view))
    examples = RetrievedExamples()
    for id in ("me__cook", "me__gift", "me__cook"):
        for reply in view_of(id).targets:
            await context_for(reply, view_of(id), examples)
    assert made == ["me__cook", "me__gift"]


async def test_another_reply_in_the_same_state_is_judged_by_what_is_like_it() -> None:
    """As in a replay: the first candidate answers some turns, the next one all, in words of its own."""
    view = view_of("me__cook")
    first, second = view.targets
    other = replaced(second, "train train train")
    examples = RetrievedExamples(k=1)
    for held, reply in ((replace(view, targets=(first,)), first), (replace(view, targets=(second,)), second)):
        await context_for(reply, held, examples)
    context = await context_for(other, replace(view, targets=(other,)), examples)
    assert [s["turn_id"] for s in context.details["sources"]] == ["me__trip__0__turn_0"]


def answer(**changes):
    plain = {
        "note": "More specific than what they gave a 4.",
        "scores": {"satisfaction": 5},
        "boundary_side": "sat",
        "evidence_confidence": "medium",
        "reason": "satisfied",
    }
    return json.dumps(plain | changes)


async def judged(*replies, language="en", view=None):
    client = ScriptedClient(replies)
    judge = PersonalRubricJudge(
        "rag", load_personal("rag"), client, context=RetrievedExamples(), language=language
    )
    assert judge.reads == {"profile", "history"}
    view = view or view_of("me__cook")
    (row,) = await judge.judge(request_for(view.targets[:1], view, NOBODY))
    return row.outcome, client.requests


async def test_side_and_confidence_stand_in_the_row() -> None:
    outcome, requests = await judged(answer())
    assert isinstance(outcome, Judgement)
    assert outcome.numbers["satisfaction"] == 5
    assert outcome.details["labels"] == {
        "boundary_side": "sat",
        "evidence_confidence": "medium",
        "reason": "satisfied",
    }
    assert outcome.details["class"] == "SAT"
    assert len(outcome.details["sources"]) == 4
    shown = requests[0].messages[-1]["content"]
    assert '"age":30' in shown
    assert shown.count('"score":') == 4
    assert "answer 2 of cook" not in shown  # the turn after the target
    assert '"score":1' not in shown  # what the user gave in the scenario at hand


@pytest.mark.parametrize(
    "wrong",
    [
        {"boundary_side": "dsat"},
        {"scores": {"satisfaction": 3}, "reason": "other"},
        {"boundary_side": "satisfied"},
        {"evidence_confidence": 0.7},
        {"evidence_confidence": None},
        {"reason": "not_diverse"},
        {"scores": {"satisfaction": 4.5}},
    ],
)
async def test_a_side_that_contradicts_the_score_is_a_failure(wrong) -> None:
    outcome, requests = await judged(answer(**wrong), answer(**wrong))
    assert isinstance(outcome, JudgeFailure)
    assert outcome.kind == "invalid_schema"
    assert len(requests) == 2
    mended, _ = await judged(answer(**wrong), answer())
    assert isinstance(mended, Judgement)
    assert mended.details["reasked"]


async def test_what_is_wrong_is_named_to_the_model() -> None:
    _, requests = await judged(answer(boundary_side="dsat"), answer())
    asked = requests[1].messages[-1]["content"]
    assert "boundary_side: 'dsat' goes with satisfaction from 1 to 3, but the score is 5" in asked


async def test_in_chinese() -> None:
    outcome, requests = await judged(answer(reason="满意"), language="zh")
    assert isinstance(outcome, Judgement)
    assert outcome.details["labels"]["reason"] == "satisfied"
    assert "已评分" in requests[0].messages[0]["content"]
