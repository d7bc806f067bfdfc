"""The dimensions of agents that use tools, by findings: cohesion, agreement with the results, policy.

Findings of one kind count once, and kinds add up as chances do. From the certainty of a fault:

    below 0.40           5
    0.40 to below 0.60   4   a hint
    0.60 to below 0.75   3   a detail is wrong or without a source
    0.75 to below 0.94   2   it is against a result, or several details are wrong
    0.94 and above       1   an offer out of nothing, or three kinds together
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from dialogauge.core import (
    NOT_APPLICABLE,
    Conversation,
    Evidence,
    Judgement,
    NotApplicable,
    Score,
)
from dialogauge.judges.rubric.policy import AgentPolicy
from dialogauge.rubrics import Policies
from dialogauge.signals import HINT, Dialogue, Signal, find_signals

if TYPE_CHECKING:
    from dialogauge.signals import Duty

TOOL_DIMENSIONS: Final = ("cohesion", "backend", "policy")
GOAL: Final = "goal_completion"
_LEVELS: Final = ((0.94, 1), (0.75, 2), (0.6, 3), (HINT, 4))


def duties_of(policy: AgentPolicy) -> dict[int, Duty]:
    """Return by turn what a policy asks for; of a system prompt only what `read_duty` reads."""
    from dialogauge.signals import Duty, read_duty  # many patterns, for agents with tools alone

    conversation = policy.conversation
    own = read_duty(conversation.instructions or "")
    if policy.own and conversation.instructions:
        return {turn.number: own for turn in conversation.turns}
    by_name = {domain.name: domain for domain in policy.policies.domains}
    duties = {}
    for turn in conversation.turns:
        domain = by_name[policy.domains(turn)[0]]
        threshold = domain.threshold if own.threshold is None else own.threshold
        duties[turn.number] = Duty(threshold)
    return duties


def find_of_tools(
    dialogue: Dialogue, conversation: Conversation, policies: Policies, *, own: bool
) -> list[Signal]:
    """Return what is shown of the three dimensions, by turn; nothing of it is read after the reply.

    Args:
        dialogue: The dialogue.
        conversation: The same, with its calls.
        policies: Those that stand where the agent has no system prompt.
        own: Whether a system prompt stands in place of the policies.
    """
    from dialogauge.signals import find_neglected, find_ungrounded

    duties = duties_of(AgentPolicy(policies, conversation, own))
    talk = [s for s in find_signals(dialogue, "foresight") if s.named or s.name == "asks_for_given"]
    tools = [*find_ungrounded(dialogue), *find_neglected(dialogue, duties)]
    return sorted([*tools, *talk], key=lambda s: (s.turn, -s.strength, s.name))


def uses_tools(dialogue: Dialogue) -> bool:
    """Whether any tool was called, or returned anything."""
    return any(t.called or t.tools for t in dialogue.turns)


def judge_by_tools(signals: Sequence[Signal], dialogue: Dialogue, more: Mapping[str, Any]) -> Judgement:
    """Judge a turn, or a whole dialogue, by its findings; n/a where the agent has no tools to agree with."""
    scores: dict[str, Score | NotApplicable] = {}
    for name in TOOL_DIMENSIONS:
        if name == "cohesion" or uses_tools(dialogue):
            strongest: dict[tuple[int, str], float] = {}
            for signal in [s for s in signals if _about(s) == name]:
                key = signal.turn, signal.name
                strongest[key] = max(signal.strength, strongest.get(key, 0.0))
            sound = 1.0
            for strength in strongest.values():
                sound *= 1 - strength
            sure = round(1 - sound, 9)
            whole = next((score for level, score in _LEVELS if sure >= level), 5)
            scores[name] = Score(round(5 - 4 * sure, 3), whole)
        else:
            scores[name] = NOT_APPLICABLE
    notes = {
        name: " ".join(dict.fromkeys(s.note for s in signals if _about(s) == name))
        for name in TOOL_DIMENSIONS
    }
    listed = [
        {"name": s.name, "strength": round(s.strength, 2), "turn": s.turn, "note": s.note} for s in signals
    ]
    return Judgement(
        scores=scores,
        issues=tuple(dict.fromkeys(s.note for s in signals)),
        evidence=tuple(Evidence(s.quote_turn or s.turn, s.quote, s.name, "signal") for s in signals),
        rationale=" ".join(f"{name}: {note}" for name, note in notes.items() if note) or None,
        details={"signals": listed, **more},
    )


def _about(signal: Signal) -> str:
    """Return the dimension of a finding: of the talk itself it is cohesion, of tools backend."""
    if signal.about in TOOL_DIMENSIONS:
        return signal.about
    return "backend" if signal.kind == "tool_error" else "cohesion"
