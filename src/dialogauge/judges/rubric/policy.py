"""What the agent of a conversation is expected to do, turn by turn."""

from __future__ import annotations

from dialogauge.core.conversation import Conversation, Turn
from dialogauge.core.values import Value
from dialogauge.rubrics import Policies


class AgentPolicy(Value):
    """The policy of one conversation: the agent's own system prompt, or that of the domains it calls."""

    policies: Policies
    conversation: Conversation
    own: bool
    """Whether a system prompt, where there is one, stands in place of the policies."""

    def domains(self, turn: Turn | None) -> tuple[str, ...]:
        """Return the domains of a turn's calls, else of the last turn before with any; None for all turns.

        Where no call says, it is the policies' general domain.
        """
        of = self.policies.domains_of
        if turn is None:
            every = of(call for t in self.conversation.turns for m in t.messages for call in m.tool_calls)
            return every or (self.policies.general,)
        for earlier in reversed([t for t in self.conversation.turns if t.start <= turn.start]):
            if named := of(call for m in earlier.messages for call in m.tool_calls):
                return named
        return (self.policies.general,)

    def shown(self, turn: Turn | None, language: str) -> str:
        """Return the policy as the judge reads it."""
        if self.own and self.conversation.instructions:
            return self.conversation.instructions
        return self.policies.shown(self.domains(turn), language)
