"""Who writes, a conversation in and a reply out; and the worlds that an agent's tools act on."""

from dialogauge.agents.candidate import ChatAgent, reply_of
from dialogauge.agents.environment import TableEnvironment, World, tau_bench_environment

__all__ = ["ChatAgent", "TableEnvironment", "World", "reply_of", "tau_bench_environment"]
