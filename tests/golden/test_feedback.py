"""What users by metric make of LoCoMo's own right answers, and of other questions' answers."""

from __future__ import annotations

import asyncio
import os

import pytest

from dialogauge.agents import MetricCritic, metric_rule
from dialogauge.core import Conversation, Message
from dialogauge.data.tasks import read_tasks
from dialogauge.studies.learning.judged import has_answer, planted_answers

SHARED = os.environ.get("DIALOGAUGE_SHARED", "")


@pytest.mark.skipif(not SHARED, reason="DIALOGAUGE_SHARED is not set")
def test_right_answers_content_users_of_locomo_and_others_do_not() -> None:
    folder = f"{SHARED}/data/membench/locomo"
    tasks = [t for t in read_tasks(f"{folder}_qa.jsonl", f"{folder}_corpus.jsonl").tasks if has_answer(t)]
    planted = planted_answers(tasks)
    critic = MetricCritic(metric_rule(tasks[0]))

    def content(answers) -> int:
        talks = (
            (t, Conversation("c", (Message("user", "?"), Message("assistant", answers[t.id])))) for t in tasks
        )
        opinions = (asyncio.run(critic.opinion(task, talk, seed=0))[0] for task, talk in talks)
        return sum(opinion.ends for opinion in opinions)

    assert len(tasks) == 1035
    # Of the seven the record gives a reason behind a semicolon, which does not count in the right answer.
    assert content({t.id: str(t.gold["answer"]) for t in tasks}) == 1028
    # In a sentence more than a quarter of them has an F1 below .5.
    assert content(planted["planted-right"]) == 758
    assert content(planted["planted-wrong"]) == 0
    assert content(planted["planted-vague"]) == 0
