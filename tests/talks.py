"""Small conversations, judged rows and judges that need no model, for the tests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from dialogauge.core import (
    ONE_TO_FIVE,
    Conversation,
    Judge,
    Judged,
    JudgeFailure,
    Judgement,
    Message,
    Rating,
    Request,
    Role,
    Scale,
    Target,
    ToolCall,
    Usage,
    WorkUnit,
    as_scores,
    conversation_digest,
    digest_text,
)
from dialogauge.core.protocols import Reads

ROLES: dict[str, Role] = {"s": "system", "d": "developer", "u": "user", "a": "assistant", "t": "tool"}
JUDGE_DIGEST = digest_text("judge")


def write_conversations(path: Path, conversations: Iterable[Conversation]) -> None:
    """Write one conversation a line, as OpenAI JSONL."""
    lines = [orjson.dumps(conversation_record(c), default=dict) for c in conversations]
    path.write_bytes(b"".join(line + b"\n" for line in lines))


def conversation_record(conversation: Conversation) -> dict[str, Any]:
    """Return a conversation as a record of OpenAI JSONL, without unknown fields."""
    record: dict[str, Any] = {"conversation_id": conversation.id}
    for name in ("user_id", "scenario", "context", "candidate", "language"):
        value = getattr(conversation, name)
        if value is not None:
            record[name] = value
    if conversation.profile is not None:
        record["profile"] = dict(conversation.profile)
    record["messages"] = [message.to_openai() for message in conversation.messages]
    if conversation.ratings:
        record["ratings"] = [_rating_record(rating, conversation.id) for rating in conversation.ratings]
    if conversation.metadata:
        record["metadata"] = dict(conversation.metadata)
    return record


def _rating_record(rating: Rating, conversation_id: str) -> dict[str, Any]:
    row: dict[str, Any] = {"dimension": rating.dimension, "score": rating.score}
    if rating.conversation_id != conversation_id:
        row["conversation_id"] = rating.conversation_id
    for name in ("turn", "rater", "candidate", "note"):
        value = getattr(rating, name)
        if value is not None:
            row[name] = value
    return row


def message(line: str) -> Message:
    """Read `u: hello`; the letter is the role's first, `c: NAME` calls a tool."""
    letter, _, text = line.partition(": ")
    if letter == "c":
        return Message("assistant", None, (ToolCall("call_1", text, "{}"),))
    return Message(ROLES[letter], text, tool_call_id="call_1" if letter == "t" else None)


def talk(*lines: str, id: str = "c1", **more: Any) -> Conversation:
    return Conversation(id, tuple(message(line) for line in lines), **more)


def unit_of(
    conversation: Conversation,
    *,
    repeat: int = 1,
    seed: int = 0,
    judge: str = JUDGE_DIGEST,
    position: int = 1,
) -> WorkUnit:
    target = conversation_digest(conversation)
    return WorkUnit("judge", conversation, target, judge, repeat, seed, None, "fake", position)


def judged_rows(
    conversation: Conversation,
    score: float = 4,
    *,
    failed: bool = False,
    verdict: Any = "good",
    weakest: int | None = None,
) -> tuple[Judged, ...]:
    """One row for each replied turn and one for the conversation."""
    outcome: Judgement | JudgeFailure
    out = []
    for turn in conversation.replied_turns:
        outcome = (
            JudgeFailure("timeout", "too slow") if failed else Judgement(as_scores({"helpfulness": score}))
        )
        out.append(Judged(Target(conversation.id, "turn", turn.number), outcome))
    whole: Judgement | JudgeFailure = Judgement(
        as_scores({"coherence": score}), verdict=verdict, verdict_basis="full", weakest_turn=weakest
    )
    if failed:
        whole = JudgeFailure("timeout", "too slow")
    out.append(Judged(Target(conversation.id, "conversation"), whole, Usage(calls=1)))
    return tuple(out)


def work_of(judge: Judge) -> Callable[[WorkUnit], Awaitable[tuple[Judged, ...]]]:
    """Return what judges a whole conversation, blinded."""

    def work(unit: WorkUnit) -> Awaitable[tuple[Judged, ...]]:
        assert unit.conversation is not None
        return judge.judge(Request(unit.conversation.blinded(), repeat=unit.repeat, seed=unit.seed))

    return work


@dataclass(frozen=True)
class Spec:
    name: str
    level: Any = "turn"
    scale: Scale = ONE_TO_FIVE


@dataclass
class FakeJudge:
    """Judges by a function of conversation and repeat, and remembers what it saw."""

    rows: Callable[[Conversation, int], tuple[Judged, ...]] = lambda conversation, _: judged_rows(
        conversation
    )
    name: str = "fake"
    digest: str = JUDGE_DIGEST
    dimensions: tuple[Spec, ...] = (Spec("helpfulness"), Spec("coherence", "conversation"))
    waits: bool = False
    seen: list[tuple[Conversation, int, int]] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)

    def describe(self) -> Mapping[str, Any]:
        return {"kind": "fake"}

    @property
    def reads(self) -> frozenset[Reads]:
        return frozenset()

    @property
    def together(self) -> bool:
        return True

    async def judge(self, request: Request) -> tuple[Judged, ...]:
        self.seen.append((request.conversation, request.repeat, request.seed))
        self.requests.append(request)
        if self.waits:
            await asyncio.sleep(0)
        return self.rows(request.conversation, request.repeat)
