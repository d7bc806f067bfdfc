"""What a session begins with: the instructions, a greeting, and the turns of a given conversation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from dialogauge.agents.personas import Scenario
from dialogauge.core import Conversation, Message, UsageError, digest_text
from dialogauge.core.conversation import PREFIX

MOST_TURNS: Final = 50
"""Of a given conversation, as in DynSess."""


@dataclass(frozen=True)
class GivenContexts:
    """Conversations that sessions may begin with, by the scenario that they are of."""

    by_scenario: Mapping[str, Sequence[Conversation]]
    anybody: Sequence[Conversation] = ()
    """Those that are of none of the scenarios, and serve all."""

    def of(self, scenario: str) -> Sequence[Conversation]:
        """Return those that may be drawn for a scenario."""
        return self.by_scenario.get(scenario) or self.anybody

    @property
    def digest(self) -> str:
        """Changes with what may be drawn."""
        lists = [*self.by_scenario.values(), self.anybody]
        return digest_text(repr([[(c.id, len(c.messages)) for c in one] for one in lists]))


NO_CONTEXT: Final = GivenContexts({})


def contexts_of(conversations: Iterable[Conversation], scenarios: Sequence[Scenario]) -> GivenContexts:
    """Sort conversations by scenario: by the name that they state, else by their id.

    Where none of them is of any scenario, each may begin any session.

    Raises UsageError where one has no whole turn: nothing could be cut from it.
    """
    names = {scenario.id for scenario in scenarios}
    sorted_: dict[str, list[Conversation]] = {}
    everyone: list[Conversation] = []
    for conversation in conversations:
        if not conversation.replied_turns:
            msg = f"the context {conversation.id!r} has no whole turn: nobody is answered in it"
            raise UsageError(msg, hint="a context is a conversation with user messages and replies")
        known = next((n for n in (conversation.scenario, conversation.id) if n in names), None)
        (everyone if known is None else sorted_.setdefault(known, [])).append(conversation)
    return GivenContexts(sorted_) if sorted_ else GivenContexts({}, everyone)


def beginning(
    scenario: Scenario, name: str, candidate: str, contexts: GivenContexts = NO_CONTEXT, *, seed: int = 0
) -> Conversation:
    """Return what stands before the first new turn of a session: the same for every candidate.

    Of a given conversation 0 to 50 turns are taken, by chance and seed; without any the greeting opens.

    Args:
        scenario: What the session is about.
        name: The session's id.
        candidate: Who will reply.
        contexts: What may stand before.
        seed: Of the draw; the session's id is part of it.
    """
    opening = [Message("system", scenario.instructions)]
    chance = Random(digest_text(f"{seed}\x1f{name}"))
    drawn_from, turns = contexts.of(scenario.id), 0
    if drawn_from:
        conversation = drawn_from[chance.randrange(len(drawn_from))]
        whole = [turn.number for turn in conversation.replied_turns]
        turns = chance.randint(0, min(MOST_TURNS, len(whole)))
        if turns:
            past = conversation.until(whole[turns - 1]).messages
            opening += [m for m in past if m.role not in ("system", "developer")]
    if not turns and scenario.greeting is not None:
        opening.append(Message("assistant", scenario.greeting))
    return Conversation(
        name,
        tuple(opening),
        user_id=scenario.user.id,
        scenario=scenario.id,
        context=scenario.user.goal,
        candidate=candidate,
        language=scenario.stated_language,
        metadata={PREFIX: len(opening)},
    )


def session_record(
    scenario: Scenario, ended: str, turns: int, simulator: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what the metadata of a session say of it, under `SESSION`.

    Args:
        scenario: Its user's persona made.
        ended: How the session ended.
        turns: New turns that it could have had at most.
        simulator: Who played the user.
    """
    user = scenario.user
    return {
        "ended": ended,
        "category": scenario.category,
        "user": {
            "kind": user.kind,
            "persona": user.persona,
            "goal": user.goal,
            "facts": dict(user.facts),
            "opening": user.opening,
            "patience": user.patience,
        },
        "turns": turns,
        "simulator": dict(simulator),
    }
