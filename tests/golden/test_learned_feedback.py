"""Whether feedback does it: the support desk, three seeds, both languages, without a model."""

from __future__ import annotations

import asyncio
import random
from functools import cache

import pytest

from dialogauge.agents.memory import Feedback, MemoryAgent, build_memory, own_memory
from dialogauge.core import Conversation
from dialogauge.data.tasks import read_logs, read_tasks
from dialogauge.stats import mean_estimate
from dialogauge.studies.learning.controls import controlled, other_questions
from dialogauge.studies.learning.memories import Chunk, LearningSystem
from dialogauge.studies.learning.scoring import case_score

LOGS = [*read_logs("support-desk")]
TASKS = {task.id: task for task in read_tasks("support-desk").tasks}
TAUGHT = {log.conversation.metadata["task"] for log in LOGS}
RULED = [task for task in TASKS.values() if task.id not in TAUGHT and task.gold["rules"]]
OTHER = [LearningSystem("x", lambda *_: build_memory("none"), control="other-case")]
CONTROLS = [(control, seed) for control in ("shuffled", "other-case") for seed in range(3)]
CONTROLS += [("echo", 0), ("last", 0)]  # where nothing is drawn


class Apologist:
    """Learnt of all feedback that one apologises first."""

    def add_dialogue(self, dialogue):
        del dialogue

    def retrieve(self, question, k):
        del question, k
        return ["Apologise first: we are very sorry. 先道歉，非常抱歉。"]


def in_order(logs=LOGS, name="logs"):
    return Chunk(name, tuple((log.conversation, Feedback(log.feedback)) for log in logs))


async def taken_in(memory, chunks):
    for chunk in chunks:
        for conversation, feedback in chunk.dialogues:
            await memory.add_dialogue(conversation, feedback)
    return memory


async def answered(memory, others=None):
    """By task what a memory earns."""
    agent, scores = MemoryAgent(memory), {}
    for task in RULED:
        asked = Conversation(task.id, task.messages)
        query = others[task.id] if others else task.question
        reply = (await agent.answer(asked, query=query)).turn.outcome.text
        scores[task.id] = case_score(task, reply).score
    return scores


@cache
def earned(name, control=None, seed=0):
    chunks = controlled((in_order(),), control, seed)
    others = None
    if control == "other-case":
        others = other_questions(OTHER, [t for t in TASKS.values() if t.id not in TAUGHT], seed)

    async def all_of_it():
        return await answered(await taken_in(build_memory(name), chunks), others)

    return asyncio.run(all_of_it())


def gain(scores, other):
    """The mean difference by task with its interval, on the scale of -1 to 1."""
    halves = [(scores[id] - other[id] + 1) / 2 for id in scores]
    estimate = mean_estimate(halves, list(scores), unit="tasks")
    return tuple(round(2 * v - 1, 3) for v in (estimate.value, estimate.low, estimate.high))


def test_feedback_is_worth_something_on_questions_that_need_a_rule() -> None:
    assert len(RULED) == 72
    value, low, _ = gain(earned("feedback-aware"), earned("feedback-blind"))
    assert value >= 0.025
    assert low > 0


@pytest.mark.parametrize(("control", "seed"), CONTROLS)
def test_no_control_is_above_the_same_system_without_scores(control, seed) -> None:
    value, low, _ = gain(earned("feedback-aware", control, seed), earned("feedback-blind"))
    assert value <= 0
    assert low < 0


def test_who_only_learnt_to_apologise_first_gains_nothing() -> None:
    scores = asyncio.run(answered(own_memory(Apologist, "apologist")))
    assert set(scores.values()) == {0.0}


def test_what_was_learnt_is_not_forgotten() -> None:
    logs = [*LOGS]
    random.Random(42).shuffle(logs)
    parts = [in_order(logs[at : at + 23], str(at)) for at in range(0, len(logs), 23)]
    taught = {}
    for step, part in enumerate(parts):
        for conversation, _ in part.dialogues:
            task = TASKS[conversation.metadata["task"]]
            if task.gold["feedback"] in ("words", "praise"):
                for rule in task.gold["rules"]:
                    taught.setdefault((task.language, rule), step)

    async def along():
        memory, steps = build_memory("feedback-aware"), []
        for part in parts:
            await taken_in(memory, [part])
            steps.append(await answered(memory))
        return steps

    steps = asyncio.run(along())
    first = {t.id: max(taught[t.language, rule] for rule in t.gold["rules"]) for t in RULED}
    then = {id: steps[step][id] for id, step in first.items() if step < len(steps) - 1}
    value, low, high = gain({id: steps[-1][id] for id in then}, then)
    assert low < 0 < high
    assert value > -0.01
