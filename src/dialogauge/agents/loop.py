"""The dialogue loop: a user and a candidate take turns, and neither sees more than was said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from dialogauge.core import Conversation, JudgeFailure, Message, Usage
from dialogauge.core.protocols import Agent, AgentFailure, AgentTurn

Ended = Literal["turns", "user", "candidate_failed", "simulator_failed"]
"""How a session ended: all turns were played, the user left, or one side failed."""


@dataclass(frozen=True, slots=True)
class PlayedSession:
    """A session, as far as it came."""

    conversation: Conversation
    """With what was there before."""
    ended: Ended
    usage: Mapping[str, Usage]
    """By role, `simulator` and `candidate`."""
    failure: AgentFailure | None = None
    """Why a side failed."""
    asked_again: int = 0
    """Empty messages that were asked for once more."""
    truncated: int = 0
    """Replies of the candidate that the limit of tokens cut off."""

    @property
    def new(self) -> tuple[Message, ...]:
        """The messages that were not there before."""
        return self.conversation.messages[self.conversation.prefix :]

    @property
    def replies(self) -> tuple[str, ...]:
        """What the candidate said."""
        return tuple(m.text for m in self.new if m.role == "assistant")

    @property
    def fault(self) -> JudgeFailure | None:
        """Why there is nothing to judge: one in which a side failed is a failure, however far it came."""
        if self.failure is not None:
            side = "candidate" if self.ended == "candidate_failed" else "simulator"
            message = f"the {side} failed in turn {len(self.replies) + 1}: {self.failure.message}"
            return JudgeFailure(self.failure.kind, message, self.failure.raw)
        if not self.replies:
            return JudgeFailure("no_reply", "the simulator ended the session before any reply")
        return None


_AGAIN = 1 << 31
"""Added to the seed of a second try: with the same seed a cache would give the same empty message."""


async def play(
    user: Agent, candidate: Agent, beginning: Conversation, turns: int, *, seed: int = 0
) -> PlayedSession:
    """Let a user and a candidate talk for some turns.

    The user speaks first, behind a greeting or a given context too. Who says nothing is asked once more; a
    second silence ends the session. A user who leaves with a last word is not answered.

    Args:
        user: Says when it leaves (`AgentReply.ends`).
        candidate: Is shown the system message and the whole dialogue.
        beginning: What was there before, all of it prefix; it may hold no message of the dialogue.
        turns: New turns at most; at least 1.
        seed: Of both sides; sessions with other seeds are other sessions.

    Raises `EndpointError` or `BudgetSpent` from either side.
    """
    if turns < 1:
        msg = f"a session of {turns} turns"
        raise ValueError(msg)
    talk, usage = beginning, {"simulator": Usage(), "candidate": Usage()}
    asked_again = truncated = 0

    async def ask(agent: Agent, role: str) -> AgentTurn:
        nonlocal asked_again
        turn = await agent.reply(talk, seed=seed)
        usage[role] += turn.usage
        if isinstance(turn.outcome, AgentFailure) and turn.outcome.kind == "empty_reply":
            asked_again += 1
            turn = await agent.reply(talk, seed=seed + _AGAIN)
            usage[role] += turn.usage
        return turn

    def session(ended: Ended, failure: AgentFailure | None = None) -> PlayedSession:
        return PlayedSession(talk, ended, usage, failure, asked_again, truncated)

    for _ in range(turns):
        message = (await ask(user, "simulator")).outcome
        if isinstance(message, AgentFailure):
            return session("simulator_failed", message)
        if message.text:
            talk = _with(talk, Message("user", message.text))
        if message.ends:
            return session("user")
        reply = (await ask(candidate, "candidate")).outcome
        if isinstance(reply, AgentFailure):
            return session("candidate_failed", reply)
        truncated += reply.finish == "length"
        talk = _with(talk, Message("assistant", reply.text))
    return session("turns")


def _with(conversation: Conversation, message: Message) -> Conversation:
    return replace(conversation, messages=(*conversation.messages, message))
