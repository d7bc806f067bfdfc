"""Training examples of judging agents that use tools: what is asked, and what a rule-bound judge replies.

The agent looks something up and names a place: the one that was found, or another one.
"""

from __future__ import annotations

import asyncio
import json
import random

from dialogauge.core import Conversation, Message, Request, ToolCall
from dialogauge.judges.rubric.judge import RubricJudge
from dialogauge.llm import ChatRequest, ScriptedClient
from dialogauge.rubrics import load_rubric
from servers.schemas import instance
from servers.tiny_model import Example

_PLACES = ("Alpha", "Beta", "Gamma", "Delta")
_POLICY = Message("system", "Name what was found, and nothing else.")
_WRONG = "It names what was not found."
_RIGHT = "It names what was found."


def made_trips(count: int, *, seed: int) -> list[Conversation]:
    """Make dialogues of one or two look-ups; about half of them name something that was not found."""
    rng = random.Random(seed)
    return [_trip(rng, f"trip-{seed}-{n}", rng.randint(1, 2)) for n in range(count)]


def _trip(rng: random.Random, name: str, turns: int) -> Conversation:
    messages = [_POLICY]
    for number in range(turns):
        kind, area = rng.choice(("hotel", "restaurant")), rng.choice(("north", "south"))
        found, said = rng.sample(_PLACES, 2)
        id, function = str(number), f"find_{kind}"
        messages += [
            Message("user", f"A {kind} in the {area}, please."),
            Message("assistant", None, (ToolCall(id, function, json.dumps({"area": area})),)),
            Message("tool", json.dumps([found]), tool_call_id=id, name=function),
            Message("assistant", f"{rng.choice((found, said))} is in the {area}."),
        ]
    return Conversation(name, tuple(messages))


def tool_examples(rubric: str, count: int, *, calls: str = "joint", seed: int = 0) -> list[Example]:
    """Return prompt and reply of every call that judging made dialogues by the rubric takes."""
    examples: list[Example] = []

    def reply(request: ChatRequest) -> str:
        prompt = request.messages[-1]["content"]
        lines = [json.loads(line) for line in prompt.splitlines() if line.startswith('{"turn"')]
        results = [m["text"] for m in lines if m["role"] == "tool"]
        said = [m["text"].split()[0] for m in lines if m["role"] == "assistant" and "text" in m]
        pairs = list(zip(results, said, strict=True))
        fine = all(name in result for result, name in (pairs if rubric == "td-dialogue" else pairs[-1:]))
        text = json.dumps(_filled(dict(request.schema.schema), fine))
        examples.append(([dict(m) for m in request.messages], text))
        return text

    judge = RubricJudge(load_rubric(rubric), ScriptedClient(reply), language="en", calls=calls)

    async def run() -> None:
        for conversation in made_trips(count, seed=seed):
            await judge.judge(Request(conversation))

    asyncio.run(run())
    return examples


def _filled(schema: dict, fine: bool) -> dict:
    """Fill a reply: 5 or 1 everywhere, with the reason."""
    value, score, note = instance(schema), 5 if fine else 1, _RIGHT if fine else _WRONG
    for part in value.values():
        for name, entry in part.items():
            part[name] = {"note": note, "score": score} if isinstance(entry, dict) else score
    if "note" in value:
        value["note"] = note
    return value
