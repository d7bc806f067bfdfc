"""What is known of agents beside their scores: how many dialogues and turns, how long replies are, calls."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dialogauge.core import Conversation
from dialogauge.core.shape import reader_of
from dialogauge.core.values import Value
from dialogauge.runs import StoredRun
from dialogauge.text import pieces


class AgentFacts(Value):
    """The dialogues of one agent, as the input has them."""

    name: str
    dialogues: int
    """Absent ones included."""
    absent: int
    """Runs that failed at their source and hold no message: they are in no other figure."""
    turns: int
    """With a reply."""
    words: float | None
    """Mean of a reply; a Chinese character counts as 0.6. None without a reply."""
    calls: float | None
    """Of tools, mean of a turn; None without a turn."""


@dataclass(slots=True)
class _Counts:
    dialogues: int = 0
    absent: int = 0
    turns: int = 0
    replies: int = 0
    words: float = 0.0
    calls: int = 0


class AgentTally:
    """Counts dialogues by agent as they are planned; a few numbers are kept of each agent."""

    def __init__(self) -> None:
        """Begin before the first dialogue."""
        self._counts: dict[str, _Counts] = {}

    def see(self, conversation: Conversation) -> None:
        """Count one dialogue; of an unnamed agent nothing is known."""
        if conversation.candidate is None:
            return
        counts = self._counts.setdefault(conversation.candidate, _Counts())
        counts.dialogues += 1
        counts.absent += not conversation.messages
        for turn in conversation.turns:
            counts.turns += 1
            counts.replies += turn.has_reply
            counts.words += pieces(turn.reply_text).units
            counts.calls += sum(len(message.tool_calls) for message in turn.messages)

    def result(self) -> tuple[AgentFacts, ...]:
        """Return what is known of each agent, by name."""
        return tuple(
            AgentFacts(
                name,
                c.dialogues,
                c.absent,
                c.replies,
                c.words / c.replies if c.replies else None,
                c.calls / c.turns if c.turns else None,
            )
            for name, c in sorted(self._counts.items())
        )


def stored_agents(run: StoredRun) -> tuple[AgentFacts, ...]:
    """Return what stands in the run's summary, masked as the run is; nothing in older runs."""
    agents = run.part("agents", reader_of(tuple[AgentFacts, ...])) or ()
    if run.mask is None:
        return agents
    names = run.mask.names(None, None)
    return tuple(replace(one, name=run.mask.value(one.name, names)) for one in agents)
