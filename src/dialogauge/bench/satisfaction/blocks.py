"""The protocol: blocks of one user and one scenario, judged from what the user rated in the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dialogauge.bench.satisfaction.ratings import collect_rated
from dialogauge.core import Conversation, RecordFault
from dialogauge.data import RECLLMSIM_TASKS
from dialogauge.judge.personal import BlockView, RatedBlock, RatedReply, Reply, Sight

__all__ = ["collect_blocks", "kept_sessions"]

MAX_SESSIONS = 8
"""Above so many conversations the published prompt keeps the first of each scenario."""


@dataclass(frozen=True, slots=True)
class _Session:
    conversation: Conversation
    replies: tuple[RatedReply, ...]


def collect_blocks(
    conversations: Iterable[Conversation], *, dimension: str = "satisfaction", sight: Sight = "foresight"
) -> tuple[tuple[RatedBlock, ...], tuple[RecordFault, ...], Counter[str]]:
    """Build the blocks of all users, with whole histories.

    Users come in plain string order, their scenarios in the order of the published data, else by name;
    the conversations of a scenario in the order of the data. A block without a history is built too.

    Returns:
        The blocks, the ratings that cannot be used, and how many conversations were left out and why.
    """
    users: dict[str, dict[str, list[_Session]]] = {}
    faults: list[RecordFault] = []
    left_out: Counter[str] = Counter()
    for conversation in conversations:
        found = collect_rated(conversation, dimension)
        faults += found.faults
        if conversation.user_id is None or conversation.scenario is None:
            left_out["no user" if conversation.user_id is None else "no scenario"] += 1
            continue
        left_out["no rating"] += not found.replies
        sessions = users.setdefault(conversation.user_id, {}).setdefault(conversation.scenario, [])
        sessions.append(_Session(conversation, tuple(found.replies)))
    blocks = [block for user in sorted(users) for block in _blocks_of(user, users[user], sight)]
    return tuple(blocks), tuple(faults), +left_out


def _blocks_of(user: str, scenarios: Mapping[str, list[_Session]], sight: Sight) -> Iterable[RatedBlock]:
    ordered = sorted(scenarios, key=_scenario_order)
    profile = next(
        (s.conversation.profile for n in ordered for s in scenarios[n] if s.conversation.profile), None
    )
    for target in ordered:
        rated = [r for session in scenarios[target] for r in session.replies]
        if not rated:
            continue
        history = [r for n in ordered if n != target for session in scenarios[n] for r in session.replies]
        shown = tuple(_shown(r.reply, sight) for r in rated)
        view = BlockView(f"{user}__{target}", user, target, _plain(profile), tuple(history), shown, sight)
        yield RatedBlock(view, tuple(replace(r, reply=s) for r, s in zip(rated, shown, strict=True)))


def _scenario_order(name: str) -> tuple[int, str]:
    known = RECLLMSIM_TASKS
    return (known.index(name) if name in known else len(known), name)


def _plain(profile: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    return None if profile is None else dict(profile)


def _shown(reply: Reply, sight: Sight) -> Reply:
    """Cut the conversation behind the reply, unless what followed may be read."""
    if sight == "hindsight":
        return reply
    cut = reply.conversation.messages[: reply.message + 1]
    return replace(reply, conversation=replace(reply.conversation, messages=cut))


def kept_sessions(history: Sequence[RatedReply]) -> tuple[RatedReply, ...]:
    """Cut a history as the published memory prompt does.

    Up to 8 conversations stay; of more, the first floor(8 / number of scenarios) of each scenario.
    """
    sessions: dict[str, str] = {r.reply.conversation.id: str(r.reply.conversation.scenario) for r in history}
    if len(sessions) <= MAX_SESSIONS:
        return tuple(history)
    each = max(1, MAX_SESSIONS // len(set(sessions.values())))
    seen: Counter[str] = Counter()
    kept: set[str] = set()
    for session, scenario in sessions.items():
        seen[scenario] += 1
        if seen[scenario] <= each and len(kept) < MAX_SESSIONS:
            kept.add(session)
    return tuple(r for r in history if r.reply.conversation.id in kept)
