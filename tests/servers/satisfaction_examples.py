"""Rated conversations of a few words, and what a rule-bound model replies to the prompts of rag and spur."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable
from typing import Any

from dialogauge.core import Conversation, Message, Rating
from dialogauge.core.protocols import Judge, request_for
from dialogauge.judges.personal.examples import RetrievedExamples
from dialogauge.judges.personal.judge import PersonalRubricJudge
from dialogauge.judges.personal.spur import InducedCriteria
from dialogauge.llm import ChatRequest, ScriptedClient
from dialogauge.rubrics import load_personal
from dialogauge.studies.satisfaction.blocks import StudyData, study_data

Example = tuple[list[dict[str, str]], str]

_ASKS = {"post": ("Where is my parcel?", "Send it again."), "trip": ("Plan a weekend.", "Find a train.")}
_REPLIES = {"Done, see the three steps.": 5, "Here is a short list.": 4, "I do not know.": 2, "Ask later.": 1}


class _Nothing:
    """A run that keeps what it is given."""

    def __init__(self) -> None:
        self._held: dict[str, Any] = {}

    def get(self, key: str) -> Any:
        return self._held.get(key)

    def put(self, key: str, value: Any) -> None:
        self._held[key] = value


def rated_conversations(users: int, *, seed: int) -> list[Conversation]:
    """Make users with two conversations of two turns; what a reply is worth is the same for all."""
    rng = random.Random(seed)
    return [
        _conversation(rng, f"u{seed}x{user}", scenario) for user in range(users) for scenario in sorted(_ASKS)
    ]


def satisfaction_examples(judge: str, users: int, *, seed: int = 0) -> list[Example]:
    """Return prompt and reply of every call that judging made conversations takes."""
    examples: list[Example] = []

    def reply(request: ChatRequest) -> str:
        text = json.dumps(_answer(request))
        examples.append(([dict(m) for m in request.messages], text))
        return text

    study = study_data(rated_conversations(users, seed=seed))
    asyncio.run(_judge(_JUDGES[judge](ScriptedClient(reply)), study))
    return examples


def _rag(client: ScriptedClient) -> Judge:
    known = RetrievedExamples(k=2)
    return PersonalRubricJudge("rag", load_personal("rag"), client, context=known, language="en")


def _spur(client: ScriptedClient) -> Judge:
    known = InducedCriteria(client)
    return PersonalRubricJudge("spur", load_personal("spur"), client, context=known, language="en")


_JUDGES: dict[str, Callable[[ScriptedClient], Judge]] = {"rag": _rag, "spur": _spur}


async def _judge(judge: Judge, study: StudyData) -> None:
    notes = _Nothing()
    for block in study.blocks:
        for reply in block.view.targets:
            await judge.judge(request_for((reply,), block.view, study.population, notes))


def _conversation(rng: random.Random, user: str, scenario: str) -> Conversation:
    id = f"{user}__{scenario}"
    messages, ratings = [], []
    for turn in (1, 2):
        said = rng.choice(tuple(_REPLIES))
        messages += [Message("user", rng.choice(_ASKS[scenario])), Message("assistant", said)]
        note = "insufficient detail" if _REPLIES[said] < 4 else None
        ratings.append(Rating(id, "satisfaction", _REPLIES[said], turn, user, note=note))
    return Conversation(id, tuple(messages), user_id=user, scenario=scenario, ratings=tuple(ratings))


def _answer(request: ChatRequest) -> dict[str, Any]:
    assert request.schema is not None
    shown = request.messages[-1]["content"]
    if request.schema.name == "spur_merge":
        return {"criteria": ["the reply answers", "the reply has steps"]}
    lines = [json.loads(line) for line in shown.splitlines() if line.startswith('{"turn"')]
    score = _REPLIES[lines[-1]["text"]]
    if request.schema.name == "spur_find":
        return {"criteria": ["gives steps" if score >= 4 else "does not answer"]}
    note = "it helps" if score >= 4 else "it gives no answer"
    if request.schema.name == "spur":
        side, code = ("satisfied", "S1") if score >= 4 else ("dissatisfied", "D1")
        matches = [{"criterion": code, "label": side}]
        return {
            "note": note,
            "matches": matches,
            "scores": {"satisfaction": 4 if score >= 4 else 3},
            "confidence": "high",
        }
    return {
        "note": note,
        "scores": {"satisfaction": score},
        "boundary_side": "sat" if score >= 4 else "dsat",
        "evidence_confidence": "medium",
        "reason": "satisfied" if score >= 4 else "insufficient_detail",
    }
