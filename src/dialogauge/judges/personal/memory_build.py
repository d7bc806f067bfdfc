"""The memory as the context of a rubric: built once per block, kept, never changed afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Any, ClassVar, Final

from dialogauge.core import JudgeFailure, StoreError, Usage, digest
from dialogauge.core.protocols import BlockView, Notes, Population, Reads, Reply
from dialogauge.core.shape import read_as
from dialogauge.core.unit import conversation_digest
from dialogauge.judges.personal.judge import PromptContext
from dialogauge.judges.personal.memory import (
    BUDGET,
    Findings,
    ScoreScale,
    ShownHistory,
    UserMemory,
    coverage_text,
    findings_schema,
    grouped_turns,
    memory_text,
    read_findings,
    shown_history,
    statistics_text,
)
from dialogauge.judges.rubric.prompt import as_json, messages_of, reasker
from dialogauge.llm.cache import client_identity
from dialogauge.llm.protocol import ChatClient, ChatFailure, ChatRequest, ReplySchema
from dialogauge.llm.structured import ask
from dialogauge.rubrics import memory_words, own_template, phrase, sketch, split_template

ROLE: Final = "memory_builder"
_FORM: Final = 1
"""Raised when what a memory holds, or what its builder is shown, changes otherwise than in the wording."""


@cache
def memory_version(language: str) -> str:
    """Return the digest of all wording and of the form: a memory of another one is not used."""
    words = dict(memory_words(language))
    return digest([_FORM, own_template("user_memory", language), words, own_template("reask", language)])


async def build_memory(
    client: ChatClient,
    view: BlockView,
    population: Population,
    language: str,
    *,
    budget: int = BUDGET,
    room: int | None = None,
) -> tuple[UserMemory | ChatFailure, Usage]:
    """Build the memory of one block, before its first target is judged.

    Where the user has rated nothing, the client is not asked and the scores of the training users stand in.
    Of the targets only the task of the first is read. The budget is the characters of rated turns in the
    prompt, `room` the tokens that the prompt may have where that is known. A prompt that is longer, or that
    the model says is too long, is halved down to one turn of each score. Raises what the client raises
    (`EndpointError`, `BudgetSpent`).
    """
    if not view.history:
        return UserMemory(ScoreScale.of(population.scores), 0, (), None), Usage()
    talks = {r.reply.conversation.id: str(r.reply.conversation.scenario) for r in view.history}
    scale, scenarios = ScoreScale.of(view.scores), tuple(dict.fromkeys(talks.values()))

    def validate(data: dict[str, Any]) -> Findings:
        return read_findings(data, scale, scenarios)

    usage = Usage()
    while True:
        evidence = shown_history(view, budget=budget)
        request = _request(view, scale, scenarios, len(talks), evidence, language)
        least = evidence.shown <= len(evidence.counts)
        budget = min(budget, evidence.characters) // 2
        if not least and room is not None and _tokens(request) > room:
            continue
        outcome = await ask(client, request, validate, reask=reasker(language))
        usage += outcome.usage
        if not isinstance(outcome, ChatFailure):
            return UserMemory(scale, len(talks), scenarios, outcome.value, evidence.to_json()), usage
        if outcome.kind != "too_long" or least:
            return replace(outcome, usage=usage), usage


def _request(
    view: BlockView,
    scale: ScoreScale,
    scenarios: tuple[str, ...],
    talks: int,
    evidence: ShownHistory,
    language: str,
) -> ChatRequest:
    words = memory_words(language)
    hints = {k.removeprefix("hint_"): text for k, text in words.items() if k.startswith("hint_")}
    schema = findings_schema(scale, scenarios, hints)
    values = {
        "reply_format": sketch(schema),
        "profile": as_json(dict(view.profile)) if view.profile else phrase(language, "none"),
        "statistics": statistics_text(scale, talks, language),
        "coverage": coverage_text(evidence, language),
        "turns": grouped_turns(evidence, language),
    }
    messages = messages_of(split_template(own_template("user_memory", language)), values)
    return ChatRequest(messages, role=ROLE, schema=ReplySchema("user_memory", schema))


def _tokens(request: ChatRequest) -> int:
    """Return about how many tokens a prompt has: one for three bytes, so one for a Chinese character."""
    return sum(len(str(m["content"]).encode("utf-8", "replace")) for m in request.messages) // 3


@dataclass
class MemoryContext:
    """Fills `memory`; implements `judges.personal.judge.ContextSource`.

    The turns of a block are asked about side by side: the first that comes builds the memory under the
    block's lock, the others wait for it. A memory that could not be built fails every turn of its block,
    and is not tried again in the same run.
    """

    reads: ClassVar[frozenset[Reads]] = frozenset({"profile", "history"})

    client: ChatClient
    """The memory builder's."""
    languages: tuple[str, ...] = ("en", "zh")
    """Those that the rubric has."""
    budget: int = BUDGET
    room: int | None = None
    """Tokens that the builder's prompt may have; None where nobody said."""
    _memories: dict[str, UserMemory | JudgeFailure] = field(default_factory=dict)
    _locks: dict[str, asyncio.Lock] = field(default_factory=dict)

    def describe(self) -> Mapping[str, Any]:
        """Return the version of the memory's prompts, its builder and the budget."""
        return {
            "memory": {language: memory_version(language) for language in self.languages},
            "builder": dict(client_identity(self.client)),
            **self._size(),
        }

    def _size(self) -> dict[str, int]:
        return {"budget": self.budget} | ({} if self.room is None else {"room": self.room})

    async def context_for(
        self, reply: Reply, view: BlockView, others: Population, notes: Notes, language: str
    ) -> PromptContext:
        """Return the memory in words; the turn that had it built carries what that took.

        Raises StoreError where the run holds this memory as another version of the prompt made it.
        """
        del reply
        memory, usage = await self._memory(view, others, notes, language)
        spent = {} if usage is None else {ROLE: usage}
        if isinstance(memory, JudgeFailure):
            return PromptContext(usage=spent, failure=memory)
        details: dict[str, Any] = {"memory": memory.digest}
        if left_out := sum(memory.evidence.get("left_out", {}).values()):
            details["memory_left_out"] = left_out
        return PromptContext({"memory": memory_text(memory, language)}, details, spent)

    async def _memory(
        self, view: BlockView, others: Population, notes: Notes, language: str
    ) -> tuple[UserMemory | JudgeFailure, Usage | None]:
        """Return the memory of a block, and what it took where it was built just now."""
        block = f"{language}:{view.id}"
        async with self._locks.setdefault(block, asyncio.Lock()):
            if block in self._memories:
                return self._memories[block], None
            # Name the memory by all that it is made from, but for the wording of the prompt.
            rated = [[r.reply.id, r.score, r.reason] for r in view.history]
            talks = {r.reply.conversation.id: r.reply.conversation for r in view.history}
            made_from = {
                "block": view.id,
                "language": language,
                "profile": None if view.profile is None else dict(view.profile),
                "history": rated,
                "texts": [conversation_digest(c) for c in talks.values()],
                "others": None if view.history else list(others.scores),
                "ahead": view.targets[0].context if view.targets else "",
                "builder": dict(client_identity(self.client)),
                **self._size(),
            }
            key = f"memory:{digest(made_from)}"
            memory: UserMemory | JudgeFailure | None = _stored_memory(notes, key, view, language)
            usage: Usage | None = None
            if memory is None:
                built, usage = await build_memory(
                    self.client, view, others, language, budget=self.budget, room=self.room
                )
                if isinstance(built, ChatFailure):
                    message = f"the user's memory could not be built: {built.message}"
                    memory = JudgeFailure(built.kind, message, built.raw)
                else:
                    memory = built
                    made = {"block": view.id, "language": language, "version": memory_version(language)}
                    notes.put(key, {**made, "usage": asdict(usage), "memory": built.to_json()})
                    usage = usage if view.history else None  # else no model was asked
            self._memories[block] = memory
            return memory, usage


def _stored_memory(notes: Notes, key: str, view: BlockView, language: str) -> UserMemory | None:
    value = notes.get(key)
    if value is None:
        return None
    try:
        made = read_as(value, dict[str, Any])
        if made.get("version") == memory_version(language):
            return UserMemory.from_json(made.get("memory"))
    except ValueError as error:
        msg = f"the memory of {view.id} in this run cannot be used: {error}"
        raise StoreError(msg, hint="start again with --fresh") from error
    msg = (
        f"the memory of {view.id} in this run was made by another version of the memory prompt "
        f"({made.get('version')}; this one is {memory_version(language)})"
    )
    raise StoreError(msg, hint="judge into another directory with -o, or start again with --fresh")
