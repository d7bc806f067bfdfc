"""Training examples of real judge prompts: what a rubric asks, and what a rule-bound judge replies."""

from __future__ import annotations

import asyncio
import json
import random
from typing import Any

from dialogauge.core import Conversation, Message, Request
from dialogauge.judges.pairwise import PairJudge
from dialogauge.judges.rubric.judge import RubricJudge
from dialogauge.llm import ChatRequest, ScriptedClient
from dialogauge.rubrics import load_rubric
from servers.verdicts import fill

Example = tuple[list[dict[str, str]], str]

_ASKS = (
    "Can you book a table for two on Friday?",
    "My parcel has not arrived yet.",
    "How do I reset the router?",
    "Please plan a weekend in Lyon.",
)
_REPLIES = {
    "Yes, it is done.": 5,
    "Here are three steps.": 4,
    "I looked it up for you.": 5,
    "I do not know.": 2,
    "What was the question?": 2,
}


def made_conversations(count: int, *, seed: int, turns: tuple[int, int] = (1, 3)) -> list[Conversation]:
    """Make short conversations of good and bad replies."""
    rng = random.Random(seed)
    return [_conversation(rng, f"made-{seed}-{n}", rng.randint(*turns)) for n in range(count)]


def rubric_examples(rubric: str, count: int, *, seed: int = 0) -> list[Example]:
    """Return prompt and reply of every call that judging made conversations by the rubric takes."""
    examples: list[Example] = []

    def reply(request: ChatRequest) -> str:
        text = json.dumps(_scores(request))
        examples.append(([dict(m) for m in request.messages], text))
        return text

    judge = RubricJudge(load_rubric(rubric), ScriptedClient(reply), language="en")

    async def run() -> None:
        for conversation in made_conversations(count, seed=seed):
            await judge.judge(Request(conversation))

    asyncio.run(run())
    return examples


def pair_examples(count: int, *, seed: int = 0) -> list[Example]:
    """Return prompt and reply of comparisons of made conversations by the rubric `pair`."""
    examples: list[Example] = []
    good = [text for text, score in _REPLIES.items() if score > 3]

    def reply(request: ChatRequest) -> str:
        a, b = (request.messages[-1]["content"].partition(f"<dialogue_{side}>")[2] for side in "ab")
        first = a.partition("</dialogue_a>")[0]
        shares = [sum(map(text.count, good)) / text.count('"assistant"') for text in (first, b)]
        winner = "tie" if shares[0] == shares[1] else "a" if shares[0] > shares[1] else "b"
        text = json.dumps({"note": "By what it did.", "winner": winner})
        examples.append(([dict(m) for m in request.messages], text))
        return text

    judge = PairJudge(load_rubric("pair"), ScriptedClient(reply), language="en")
    talks = made_conversations(2 * count, seed=seed, turns=(1, 1))

    async def run() -> None:
        for first, second in zip(talks[::2], talks[1::2], strict=True):
            await judge.compare(first, second)

    asyncio.run(run())
    return examples


def _conversation(rng: random.Random, name: str, turns: int) -> Conversation:
    messages = []
    for _ in range(turns):
        messages += [
            Message("user", rng.choice(_ASKS)),
            Message("assistant", rng.choice(tuple(_REPLIES))),
        ]
    return Conversation(name, tuple(messages))


def _scores(request: ChatRequest) -> dict[str, Any]:
    assert request.schema is not None
    prompt = request.messages[-1]["content"]
    lines = [json.loads(line) for line in prompt.splitlines() if line.startswith('{"turn"')]
    found = {m["turn"]: _REPLIES[m["text"]] for m in lines if m.get("role") == "assistant"}
    value = fill(dict(request.schema.schema), score=min(found.values(), default=4))
    for turn, entry in value.get("per_turn", {}).items():
        entry["scores"] = dict.fromkeys(entry["scores"], found[int(turn)]) | {"safety": 5}
        entry["issues"] = [] if found[int(turn)] > 2 else ["no answer"]
    weak = [turn for turn, score in found.items() if score <= 2]
    if "weakest_turn" in value:
        value["weakest_turn"] = weak[0] if weak else None
    if "verdict" in value:
        value["verdict"] = "borderline" if weak else "excellent"
    return value
