"""What writes text: agents, each a conversation in and a reply or a failure out."""

from dialogauge.agents.candidate import ChatAgent, reply_of

__all__ = ["ChatAgent", "reply_of"]
