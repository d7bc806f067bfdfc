from typing import get_args

from dialogauge.core import Conversation, Message
from dialogauge.core.protocols import request_for
from dialogauge.judges.local.judge import LocalJudge
from dialogauge.judges.local.scores import CAPS, TASKS, FailureName, TaskName, guard
from dialogauge.rubrics import load_rubric
from knowing import NOBODY, block_of, rated


def talk(*texts, scenario=None):
    messages = tuple(Message(("user", "assistant")[i % 2], t) for i, t in enumerate(texts))
    return Conversation("c", messages, scenario=scenario)


def test_the_gravest_failure_that_counts_caps_the_score():
    assert guard(5, {"constraint"}, "retrieval").score == 3
    assert guard(5, {"constraint", "wrong"}, "retrieval").score == 2
    assert guard(4, set(), "retrieval") == guard(4, {"generic"}, "retrieval")  # brevity is no fault there


def test_the_guard_never_raises_a_score():
    found = guard(1, {"constraint"}, "text")
    assert (found.score, found.failed, found.capped) == (1, ("constraint",), False)


def test_tasks_that_are_not_ours_are_other():
    assert guard(5, set(), "taxi").task == guard(5, set(), None).task == "other"
    assert guard(5, {"asks_again"}, "taxi").score == 3


def test_every_failure_has_a_cap_and_every_task_knows_its_failures():
    assert set(CAPS) == set(get_args(FailureName))
    assert set(TASKS) == set(get_args(TaskName))
    assert {name for failures in TASKS.values() for name in failures} == set(get_args(FailureName))


def test_the_local_judge_scores_a_session_once():
    (row,) = LocalJudge(rubric_id="session").judge_now(talk("When is it open?", "From nine to five."))
    assert row.target.level == "conversation"
    assert row.outcome.numbers["satisfaction"] in (1, 2, 3, 4, 5)


def test_the_guarded_local_judge_caps_a_session_that_ends_on_a_refusal():
    refused = talk(
        "Write a birthday poem for my aunt Rosa.",
        "I'm sorry, but I can't help with that request.",
        scenario="creative",
    )
    (free,) = LocalJudge(rubric_id="session").judge_now(refused)
    (guarded,) = LocalJudge(rubric_id="session-guarded").judge_now(refused)
    assert guarded.outcome.details["failed"] == ["refused"]
    assert guarded.outcome.numbers["satisfaction"] == min(2, free.outcome.numbers["satisfaction"])


def test_a_session_in_another_language_is_not_judged():
    (row,) = LocalJudge(rubric_id="session").judge_now(
        talk("Wann ist geöffnet, bitte?", "Von neun bis fünf Uhr.")
    )
    assert row.outcome.kind == "unsupported_language"


def test_the_local_judge_and_the_rubric_cap_alike():
    (label,) = load_rubric("session-guarded").labels
    caps = {o.name: o.fits[1] for o in label.options}
    assert caps == {"none": 5, **CAPS}


async def test_a_session_is_judged_at_its_last_reply():
    ahead = rated("u", "creative", 0, [("Write a poem.", "I'm sorry, but I can't help with that.", 2)])
    view = block_of("u", "creative", ahead).view
    for rubric in ("session", "session-guarded"):
        (row,) = await LocalJudge("foresight", rubric_id=rubric).judge(
            request_for(view.targets, view, NOBODY)
        )
        assert row.target.turn == 1
        assert row.outcome.details["turn_id"] == "u__creative__0__turn_0"
        assert row.outcome.details.get("cap") == (2 if rubric == "session-guarded" else None)
