"""Who writes, a conversation in and a reply out: candidates and users, the loop in which they talk; and the
worlds that an agent's tools act on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.agents.beginnings import (
        NO_CONTEXT,
        GivenContexts,
        beginning,
        contexts_of,
        session_record,
    )
    from dialogauge.agents.candidate import ChatAgent, SessionCandidate, reply_of
    from dialogauge.agents.environment import TableEnvironment, World, tau_bench_environment
    from dialogauge.agents.kept import keep_scenarios, kept_scenarios
    from dialogauge.agents.loop import Ended, PlayedSession, play
    from dialogauge.agents.personas import (
        DerivedPersona,
        Scenario,
        UserKind,
        UserRole,
        derive_persona,
        persona_fault,
        read_scenarios,
        scenario_json,
        scenario_of,
    )
    from dialogauge.agents.users import Person, RecordedUser, SimulatedUser

__getattr__ = loading(__name__)
