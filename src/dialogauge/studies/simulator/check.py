"""The faults of simulated users over all sessions of a run, with intervals by user."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from dialogauge.core.conversation import SESSION, Conversation
from dialogauge.core.json_keys import keys
from dialogauge.signals import USER_FAULTS, UserFault, UserFaultKind
from dialogauge.stats import Estimate, mean_estimate
from dialogauge.studies.simulator.style import Style, StyleSample, compare_styles

_CASES: Final = 20
_PEOPLE: Final = ("person", "recorded")
"""Users that nobody simulates."""


@dataclass(frozen=True, slots=True)
class SimulatorCase:
    """Where a fault was seen."""

    conversation_id: str
    candidate: str | None
    fault: UserFault


@dataclass(frozen=True, slots=True)
class FaultRate:
    """One fault over all sessions."""

    kind: UserFaultKind
    share: Estimate
    """Of the sessions that the check applies to, those with the fault; of `unused_facts` the mean share."""
    left_out: int
    """Sessions that lack what the check needs."""
    cases: tuple[SimulatorCase, ...]
    """The first of those seen."""
    cases_total: int


@keys(style="style?")
@dataclass(frozen=True, slots=True)
class SimulatorCheck:
    """What the checks of the simulated users come to."""

    sessions: int
    users: int
    faults: tuple[FaultRate, ...]
    style: Style | None = None
    """Beside real users; None where none were given."""


def check_simulator(
    conversations: Iterable[Conversation], real: StyleSample | None = None
) -> SimulatorCheck | None:
    """Check the users of all sessions; None where no conversation is a session.

    Args:
        conversations: Of a run; what is no session, has no message, or had a person for its user, is passed
            over.
        real: How real users write, to compare with.
    """
    from dialogauge.signals import check_user  # with it come a dozen modules, which a log has no use for

    users: list[str] = []
    shares: dict[UserFaultKind, dict[int, float]] = {kind: {} for kind in USER_FAULTS}
    cases: dict[UserFaultKind, list[SimulatorCase]] = {kind: [] for kind in USER_FAULTS}
    totals = dict.fromkeys(USER_FAULTS, 0)
    sample = StyleSample("")
    for conversation in conversations:
        session = conversation.metadata.get(SESSION)
        if not isinstance(session, Mapping) or not conversation.messages:
            continue
        simulator = session.get("simulator")
        if isinstance(simulator, Mapping) and simulator.get("kind") in _PEOPLE:
            continue
        check = check_user(conversation)
        for kind, share in check.shares.items():
            shares[kind][len(users)] = share
        for fault in check.faults:
            totals[fault.kind] += 1
            if totals[fault.kind] <= _CASES:
                cases[fault.kind].append(SimulatorCase(conversation.id, conversation.candidate, fault))
        users.append(conversation.user_id or conversation.id)
        if real is not None:
            sample.read(conversation)
    rates = []
    for kind, of in shares.items():
        mean = mean_estimate([*of.values()], [users[at] for at in of], unit="users")
        rates.append(FaultRate(kind, mean, len(users) - len(of), tuple(cases[kind]), totals[kind]))
    style = None if real is None else compare_styles(sample, real)
    return SimulatorCheck(len(users), len(set(users)), tuple(rates), style) if users else None
