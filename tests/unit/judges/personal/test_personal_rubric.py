from __future__ import annotations

import json

import pytest

from dialogauge.core import JudgeFailure, Judgement, UsageError
from dialogauge.core.protocols import Population, request_for
from dialogauge.judges.personal.examples import FewShotContext, draw_examples
from dialogauge.judges.personal.judge import PersonalRubricJudge, PromptContext
from dialogauge.judges.rubric.judge import RubricJudge
from dialogauge.llm import ScriptedClient
from dialogauge.rubrics import load_personal, load_rubric
from knowing import NOBODY, block_of, rated, view_with

GENERIC = ("zero_shot", "few_shot", "task_rubric", "prometheus")
ALL = ("memory", "no_memory", *GENERIC)


class FixedContext:
    """A fixed memory and examples."""

    reads = frozenset({"history"})

    def describe(self):
        return {"fixed": 1}

    async def context_for(self, reply, view, others, notes, language):
        return PromptContext({"memory": "MEMORY", "rated_examples": "EXAMPLES"}, {"memory": "m"})


def replying(score=4, reason="satisfied", note="because"):
    return ScriptedClient(
        lambda request: json.dumps({"note": note, "scores": {"satisfaction": score}, "reason": reason})
    )


def judge(name, client, **more):
    return PersonalRubricJudge(name, load_personal(name), client, **more)


async def judged(judge, view, at=0):
    (row,) = await judge.judge(request_for((view.targets[at],), view, NOBODY))
    return row


LONG = block_of(
    "u",
    "ahead",
    rated("u", "past", 0, [("past request", "past reply", 2)]),
    rated("u", "ahead", 0, [(f"request {n}", f"reply {n} " + "so " * 900, 4) for n in range(1, 8)]),
).view


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", ALL)
async def test_every_rubric_says_what_it_is_shown_in_both_languages(name, language) -> None:
    client = replying()
    row = await judged(judge(name, client, context=FixedContext(), language=language), LONG, 3)
    assert isinstance(row.outcome, Judgement)
    assert row.outcome.numbers == {"satisfaction": 4}
    assert row.outcome.rationale == "because"
    assert row.outcome.details["labels"] == {"reason": "satisfied"}
    assert row.outcome.details["turn_id"] == "u__ahead__0__turn_3"
    assert row.outcome.details["class"] == "SAT"
    prompt = "\n".join(m["content"] for m in client.requests[0].messages)
    assert "request 4" in prompt
    assert "request 5" not in prompt  # nothing after the reply
    assert "{{" not in prompt
    assert ("MEMORY" in prompt) == (name == "memory")
    assert ("EXAMPLES" in prompt) == (name == "few_shot")
    assert ("baker-u" in prompt) == (name in ("memory", "no_memory"))
    assert "past re" not in prompt


async def test_the_window_is_the_last_turns_and_says_what_was_left_out() -> None:
    client = replying()
    row = await judged(judge("memory", client, context=FixedContext()), LONG, 6)
    prompt = client.requests[0].messages[-1]["content"]
    assert [n for n in range(1, 8) if f'"request {n}"' in prompt] == [5, 6, 7]
    assert row.outcome.details["earlier_turns_left_out"] == 4
    client = replying()
    row = await judged(judge("zero_shot", client), LONG, 6)
    prompt = client.requests[0].messages[-1]["content"]
    assert [n for n in range(1, 8) if f'"request {n}"' in prompt] == [5, 6, 7]  # 2,700 characters each
    assert row.outcome.details["earlier_turns_left_out"] == 4


@pytest.mark.parametrize(
    ("score", "reason", "said"),
    [
        (4, "other", "goes with satisfaction from 1 to 3"),
        (3, "satisfied", "goes with satisfaction from 4 to 5"),
        (3, "whatever", "expected one of"),
        (4.5, "satisfied", "a whole number"),
        ("4.0", "satisfied", "a whole number"),
        (6, "satisfied", "from 1 to 5"),
        (True, "other", "a whole number"),
        (None, "other", "a whole number"),
    ],
)
async def test_a_reason_or_score_that_does_not_fit_is_a_failure(score, reason, said) -> None:
    client = replying(score, reason)
    row = await judged(judge("zero_shot", client), LONG)
    assert isinstance(row.outcome, JudgeFailure)
    assert row.outcome.kind == "invalid_schema"
    assert said in row.outcome.message
    assert len(client.requests) == 2  # asked about once


async def test_criteria_follow_the_kind_of_task() -> None:
    for scenario, said in {"旅行规划": "dates, budget and company", "chess": "without asking again"}.items():
        client = replying()
        view = block_of("u", scenario, rated("u", scenario, 0, [("q", "r", 4)])).view
        await judged(judge("task_rubric", client, language="en"), view)
        assert said in client.requests[0].messages[-1]["content"]


def test_digests_change_with_the_context() -> None:
    client = replying()
    digests = {judge(name, client).digest for name in ALL}
    assert len(digests) == len(ALL)
    assert judge("memory", client, context=FixedContext()).digest != judge("memory", client).digest
    assert judge("memory", client).reads == {"profile"}
    assert judge("memory", client, context=FixedContext()).reads == {"profile", "history"}
    assert judge("zero_shot", client).reads == frozenset()


def test_what_cannot_be_done_is_refused() -> None:
    with pytest.raises(UsageError, match="of the level conversation"):
        PersonalRubricJudge("x", load_rubric("card"), replying())
    with pytest.raises(UsageError, match="no template in 'fr'"):
        judge("memory", replying(), language="fr")
    with pytest.raises(UsageError, match="shows how people rated"):
        RubricJudge(load_personal("memory"), replying())


def population(counts):
    talks = [
        rated(f"user{n}", "a", 0, [(f"question {n}", f"answer {n}", score)])
        for n, score in enumerate(s for s, many in counts.items() for _ in range(many))
    ]
    return Population(tuple(block_of(t.user_id, "a", t) for t in talks))


def test_examples_are_drawn_alike_from_every_score() -> None:
    drawn = draw_examples(population({1: 3, 2: 9, 3: 9, 4: 30, 5: 30}))
    assert sorted(r.score for r in drawn) == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert draw_examples(population({1: 3, 2: 9, 3: 9, 4: 30, 5: 30})) == drawn
    assert sorted(r.score for r in draw_examples(population({5: 3, 1: 1}))) == [1, 5, 5]
    assert draw_examples(NOBODY) == ()


async def test_few_shot_shows_others_and_the_same_ones_every_time() -> None:
    others = population({1: 3, 2: 3, 3: 3, 4: 3, 5: 3})
    client = replying()
    few = judge("few_shot", client, context=FewShotContext())
    view = view_with([2, 3])
    for target in LONG.targets[:2]:
        await few.judge(request_for((target,), view, others))
    lines = [
        [line for line in r.messages[-1]["content"].splitlines() if line.startswith('{"kind"')]
        for r in client.requests
    ]
    assert lines[0] == lines[1]
    assert len(lines[0]) == 10
    client = replying()
    await judged(judge("few_shot", client, context=FewShotContext()), view)
    assert "(none given)" in client.requests[0].messages[-1]["content"]


def finding(failed, score):
    reason = "satisfied" if score >= 4 else "other"
    said = {"note": "n", "failed_condition": failed, "scores": {"satisfaction": score}, "reason": reason}
    return ScriptedClient(lambda request: json.dumps(said))


def guarded(client, name="session_zero_shot"):
    return PersonalRubricJudge(name, load_personal(name, guarded=True), client, context=FixedContext())


@pytest.mark.parametrize(("failed", "score", "cap"), [("none", 5, None), ("wrong", 2, 2), ("generic", 1, 3)])
async def test_a_failed_condition_says_how_high_the_score_may_be(failed, score, cap) -> None:
    client = finding(failed, score)
    row = await judged(guarded(client, "session_memory"), LONG)
    assert row.outcome.numbers == {"satisfaction": score}
    assert row.outcome.details["labels"]["failed_condition"] == failed
    assert row.outcome.details.get("cap") == cap
    keys = list(client.requests[0].schema.schema["properties"])
    assert keys == ["note", "failed_condition", "scores", "reason"]  # decided before the score


@pytest.mark.parametrize(("failed", "score"), [("unmet", 3), ("refused", 5), ("asks_again", 4)])
async def test_a_score_above_what_the_failed_condition_allows_is_asked_about_once(failed, score) -> None:
    client = finding(failed, score)
    row = await judged(guarded(client), LONG)
    assert isinstance(row.outcome, JudgeFailure)
    assert f"failed_condition: '{failed}' goes with satisfaction from 1 to" in row.outcome.message
    assert len(client.requests) == 2


def test_a_guarded_judge_is_another_judge() -> None:
    plain = judge("session_zero_shot", replying(), context=FixedContext())
    assert guarded(replying()).digest != plain.digest
