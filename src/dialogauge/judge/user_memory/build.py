"""Building a user's memory: one call of a model on comparative evidence; what can be counted we count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from dialogauge.core import Usage, digest
from dialogauge.judge.asking import messages_of, reasker
from dialogauge.judge.dialogue_text import as_json
from dialogauge.judge.personal import BlockView, Population
from dialogauge.judge.user_memory.evidence import BUDGET, Evidence, evidence_of
from dialogauge.judge.user_memory.record import Findings, UserMemory, findings_schema, read_findings
from dialogauge.judge.user_memory.scale import ScoreScale
from dialogauge.judge.user_memory.words import coverage_text, grouped_turns, statistics_text
from dialogauge.llm.protocol import ChatClient, ChatFailure, ChatRequest, ReplySchema
from dialogauge.llm.structured import ask
from dialogauge.prompts import memory_words, own_template, phrase, sketch, split_template

__all__ = ["ROLE", "build_memory", "memory_version"]

ROLE: Final = "memory_builder"
_FORM: Final = 1
"""Raised when what a memory holds, or what its builder is shown, changes otherwise than in the wording."""


@cache
def memory_version(language: str) -> str:
    """Return the digest of all wording and of the form: a memory of another one is not used."""
    words = dict(memory_words(language))
    return digest([_FORM, own_template("user_memory", language), words, own_template("reask", language)])


@dataclass(frozen=True, slots=True)
class _Material:
    view: BlockView
    scale: ScoreScale
    conversations: int
    scenarios: tuple[str, ...]
    evidence: Evidence


async def build_memory(
    client: ChatClient, view: BlockView, population: Population, language: str, *, budget: int = BUDGET
) -> tuple[UserMemory | ChatFailure, Usage]:
    """Build the memory of one block, before its first target is judged.

    Args:
        client: The memory builder's model; not asked where the user has rated nothing.
        view: Profile and history. Of the targets only the task of the first is looked at.
        population: The training users: their scores stand in for those of a user without any.
        language: Of the prompt, and of what the model writes.
        budget: Characters of rated turns in the prompt.

    Raises what the client raises (`EndpointError`, `BudgetSpent`).
    """
    if not view.history:
        return UserMemory(ScoreScale.of(population.scores), 0, (), None), Usage()
    talks = {r.reply.conversation.id: str(r.reply.conversation.scenario) for r in view.history}
    material = _Material(
        view,
        ScoreScale.of(view.scores),
        len(talks),
        tuple(dict.fromkeys(talks.values())),
        evidence_of(view, budget=budget),
    )

    def validate(data: dict[str, Any]) -> Findings:
        return read_findings(data, material.scale, material.scenarios)

    outcome = await ask(client, _request(material, language), validate, reask=reasker(language))
    if isinstance(outcome, ChatFailure):
        return outcome, outcome.usage
    m = material
    memory = UserMemory(m.scale, m.conversations, m.scenarios, outcome.value, m.evidence.to_json())
    return memory, outcome.usage


def _request(m: _Material, language: str) -> ChatRequest:
    schema = findings_schema(m.scale, m.scenarios, _hints(language))
    profile = as_json(dict(m.view.profile)) if m.view.profile else phrase(language, "none")
    values = {
        "reply_format": sketch(schema),
        "profile": profile,
        "statistics": statistics_text(m.scale, m.conversations, language),
        "coverage": coverage_text(m.evidence, language),
        "turns": grouped_turns(m.evidence, language),
    }
    messages = messages_of(split_template(own_template("user_memory", language)), values)
    return ChatRequest(messages, role=ROLE, schema=ReplySchema("user_memory", schema))


def _hints(language: str) -> Mapping[str, str]:
    words = memory_words(language)
    return {k.removeprefix("hint_"): text for k, text in words.items() if k.startswith("hint_")}
