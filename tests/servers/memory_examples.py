"""Made users who rate replies, and training examples of a judge that knows them and of its memory."""

from __future__ import annotations

import asyncio
import json
import random
import re
from typing import Any

from dialogauge.core import Conversation, Message, Rating
from dialogauge.core.protocols import Population, request_for
from dialogauge.judges.personal.judge import PersonalRubricJudge
from dialogauge.judges.personal.memory_build import MemoryContext
from dialogauge.llm import ChatRequest, ScriptedClient
from dialogauge.rubrics import load_personal
from dialogauge.studies.satisfaction.blocks import collect_blocks
from servers.schemas import instance

Example = tuple[list[dict[str, str]], str]

_SCENARIOS = ("travel", "cooking", "gifts")
_ASKS = (
    "Can you plan a weekend?",
    "What goes with rice?",
    "An idea for my aunt?",
    "Make it cheaper, please.",
)
GOOD = ("Here are three steps with prices.", "Yes, this is the whole list, with times.")
BAD = ("I do not know.", "What was the question?")


def made_raters(users: int, *, seed: int) -> list[Conversation]:
    """Make users with one rated conversation of two to three turns in each of three scenarios.

    Good replies get 4 or 5, bad ones 2 or 3: every other user is strict and gives the lower one.
    """
    rng = random.Random(seed)
    return [
        _conversation(rng, f"rater{seed}x{n}", scenario, strict=n % 2 == 1)
        for n in range(users)
        for scenario in _SCENARIOS
    ]


def _conversation(rng: random.Random, user: str, scenario: str, *, strict: bool) -> Conversation:
    id = f"{user}__{scenario}__0"
    messages, ratings = [], []
    for turn in range(1, rng.randint(2, 3) + 1):
        reply = rng.choice(GOOD if rng.random() < 0.6 else BAD)
        messages += [Message("user", rng.choice(_ASKS)), Message("assistant", reply)]
        score = (5 if reply in GOOD else 3) - strict
        ratings.append(Rating(id, "satisfaction", score, turn, user))
    return Conversation(
        id,
        tuple(messages),
        user_id=user,
        scenario=scenario,
        context=f"a question of {scenario}",
        profile={"age": rng.randint(20, 70)},
        ratings=tuple(ratings),
    )


def memory_examples(users: int, *, seed: int = 0) -> list[Example]:
    """Return prompt and reply of every call that judging made users by their memories takes."""
    examples: list[Example] = []

    def reply(request: ChatRequest) -> str:
        text = json.dumps(_answer(request))
        examples.append(([dict(m) for m in request.messages], text))
        return text

    client = ScriptedClient(reply)
    judge = PersonalRubricJudge(
        "memory", load_personal("memory"), client, context=MemoryContext(client), language="en"
    )

    async def run() -> None:
        for block in collect_blocks(made_raters(users, seed=seed))[0]:
            for target in block.view.targets:
                await judge.judge(request_for((target,), block.view, Population(())))

    asyncio.run(run())
    return examples


def _answer(request: ChatRequest) -> dict[str, Any]:
    """Answer as one would who has seen through the made users."""
    assert request.schema is not None
    value: dict[str, Any] = instance(dict(request.schema.schema))
    prompt = request.messages[-1]["content"]
    if "scores" not in value:
        strict = "lower" if re.search(r"mean [23]", prompt) else "higher"
        said = {"scoring_style": f"gives the {strict} of two scores", "preferred_format": "steps"}
        said |= {"three_versus_four": "has an answer", "four_versus_five": "has all of it"}
        return {**value, **{k: v for k, v in said.items() if k in value}, "requirements": ["an answer"]}
    last = [json.loads(line) for line in prompt.splitlines() if line.startswith('{"turn"')][-1]["text"]
    fine = last in GOOD
    value["note"] = "an answer" if fine else "no answer"
    value["scores"]["satisfaction"] = (5 if fine else 3) - ("gives the lower" in prompt)
    value["reason"] = "satisfied" if fine else "need_not_met"
    return value
