"""Who takes part in an arena, and who meets whom on which dialogue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, permutations
from typing import Any, Final

import orjson

from dialogauge.core.conversation import Conversation
from dialogauge.core.errors import InputError, Place, RecordFault, UsageError
from dialogauge.studies.arena.agents import said_of
from dialogauge.studies.arena.meetings import Meeting, mean_quality
from dialogauge.studies.evidence import UNCHECKED, DimensionEvidence, RunEvidence
from dialogauge.text import counted

_VOTERS: Final = (
    "who votes: people (--ratings VOTES), a model (--model), rewards in every file, or runs of `dialogauge "
    "judge`; --judge local says what to read, without ranks"
)
UNKNOWN: Final = "a vote for an unknown agent"
_WITHOUT: Final = "ids of dialogues name the agent, and are matched without its name"
_SAME_VOTE: Final = ("conversation_id", "a", "b", "winner", "judge", "rater", "orders", "lengths")
_SAME: Final = (
    "they are not compared on it; if it was one task all the same, state it in both: the same `scenario` or "
    "`context`"
)


@dataclass(frozen=True, eq=False)
class Dialogues:
    """What one agent said on all dialogues."""

    agent: str
    conversations: Mapping[str, Conversation]
    """By id; those that hold a message."""
    absent: Sequence[str] = ()
    """Ids of dialogues without a message: the run failed at its source."""
    qualities: Mapping[str, float | None] = field(default_factory=dict)
    """By id, from 0 to 1; empty without a judge."""
    judge: str | None = None
    judge_digest: str | None = None
    dimensions: tuple[str, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)
    """What its dialogues say of it."""
    evidence: DimensionEvidence = UNCHECKED
    """Whether its qualities are checked."""


@dataclass(eq=False)
class Entrants:
    """All that is compared."""

    agents: list[Dialogues] = field(default_factory=list)
    votes: list[Meeting] = field(default_factory=list)
    """Of people."""
    earlier: list[Meeting] = field(default_factory=list)
    """Of arenas that are put together."""
    earlier_evidence: list[DimensionEvidence] = field(default_factory=list)
    """Of each of these arenas."""
    missing: dict[str, list[str]] = field(default_factory=dict)
    """By agent the dialogues that others have led, and it has not."""
    absent: dict[str, Sequence[str]] = field(default_factory=dict)
    """By agent the dialogues in which its run failed at the source."""
    about: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """What is known of agents."""
    faults: list[InputError] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """Of the agents that have led dialogues."""
        return [one.agent for one in self.agents]


def meetings(out: Entrants) -> Iterator[Meeting]:
    """Yield every two agents on every dialogue that both have led, dialogue by dialogue."""
    ids = dict.fromkeys(name for agent in out.agents for name in agent.conversations)
    for name in ids:
        there = [agent for agent in out.agents if name in agent.conversations]
        apart: list[str] = []
        for a, b in combinations(there, 2):
            one, other = a.conversations[name], b.conversations[name]
            if (why := _other_task(one, other)) is not None:
                apart.append(f"{a.agent} and {b.agent} {why}")
                continue
            qualities = None
            if a.judge is not None and b.judge is not None:
                qualities = a.qualities.get(name), b.qualities.get(name)
            yield Meeting(name, a.agent, b.agent, (one, other), qualities)
        if apart:
            more = f"; so had {counted(len(apart) - 1, 'more pair')}" if len(apart) > 1 else ""
            place = Place(f"dialogue {name!r}")
            out.faults.append(RecordFault(apart[0] + more, place=place, hint=_SAME))


def _other_task(one: Conversation, other: Conversation) -> str | None:
    """Say what shows that two dialogues of one id are not about the same; None where nothing does.

    A scenario or a context that both state decides. Where neither is stated, nothing but the id says that
    the dialogues belong together, so users must have begun with the same words.
    """
    stated = False
    for what in ("scenario", "context"):
        mine, theirs = getattr(one, what), getattr(other, what)
        if mine is not None and theirs is not None:
            stated = True
            if mine != theirs:
                return f"had different tasks: {what} {mine[:60]!r} and {theirs[:60]!r}"
    mine, theirs = _opening(one), _opening(other)
    if stated or mine.casefold() == theirs.casefold():
        return None
    return f"may have had different tasks: the users began {mine[:60]!r} and {theirs[:60]!r}"


def _opening(talk: Conversation) -> str:
    """Return what the user said first, on one line."""
    return " ".join(next((m.text for m in talk.messages if m.role == "user"), "").split())


def evidence_of_all(evidence: RunEvidence, names: Sequence[str]) -> DimensionEvidence:
    """Return what is known of a mean over dimensions: it is checked where each of them is."""
    missing = [name for name in names if not evidence.of(name).checked]
    if missing or not names:
        why = f": {', '.join(missing)} ({evidence.of(missing[0]).why})" if missing else ""
        return DimensionEvidence(checked=False, why=f"it compares what is unchecked{why}")
    return DimensionEvidence(checked=True, by=evidence.of(names[0]).by)


def rewards_of(talks: Mapping[str, Conversation]) -> dict[str, float | None]:
    """Return the rewards of an environment, from 0 to 1, of the dialogues that have one."""
    scores_of = {
        key: [r.score for r in talk.ratings if r.rater == "environment" and r.turn is None]
        for key, talk in talks.items()
    }
    return {
        key: mean_quality(s for s in scores if isinstance(s, int | float))
        for key, scores in scores_of.items()
        if scores and all(isinstance(s, int | float) and 0 <= s <= 1 for s in scores)
    }


def led_by(agent: str, keys: Sequence[str], talks: Sequence[Conversation]) -> Dialogues:
    """Tell what was led from what failed at its source."""
    led = {key: talk for key, talk in zip(keys, talks, strict=True) if talk.messages}
    absent = [key for key, talk in zip(keys, talks, strict=True) if not talk.messages]
    return Dialogues(agent, led, absent, about=said_of(agent, talks))


def matching_keys(talks: Sequence[Conversation], notes: list[str]) -> list[str]:
    """Return what dialogues are matched by: their ids, without the agent's name where they hold it."""
    ids = [talk.id for talk in talks]
    without = [talk.id.replace(talk.candidate, "*") if talk.candidate else talk.id for talk in talks]
    if without == ids or len(set(without)) < len(ids):
        return ids
    if not any(note.startswith(_WITHOUT) for note in notes):
        notes.append(f"{_WITHOUT} (e.g. {ids[0]})")
    return without


def expect_an_arena(out: Entrants) -> None:
    """Raise UsageError for one agent alone, or what cannot be put together; InputError for nothing at all."""
    names = out.names
    if twice := next((name for name in names if names.count(name) > 1), None):
        message = f"two agents are called {twice!r}"
        raise UsageError(message, hint="name them: NAME=RUN")
    if out.earlier and (out.agents or out.votes):
        message = f"{out.earlier[0].arena} is an arena, and is put together with arenas only"
        raise UsageError(message, hint="make an arena of the others first")
    _expect_to_go_together(out.earlier)
    if len(names) == 1:
        message = f"an arena of one agent: {names[0]}"
        raise UsageError(
            message, hint="give a run, or a file of conversations, for each of two or more agents"
        )
    if not (names or out.votes or out.earlier):
        message = f"no vote could be read: {out.faults[0] if out.faults else 'there is none'}"
        raise InputError(message)


def _expect_to_go_together(earlier: Sequence[Meeting]) -> None:
    """Raise UsageError where arenas cannot be put together.

    All votes of one that name a dialogue stand in another one too; or no agent, and no chain of agents, links
    one to the first.
    """
    votes: dict[str, set[bytes]] = {}
    agents: dict[str, set[str]] = {}
    for one in earlier:
        agents.setdefault(str(one.arena), set()).update((one.a, one.b))
        if one.dialogue is not None and one.earlier is not None:
            same = [one.earlier[key] for key in _SAME_VOTE]
            votes.setdefault(str(one.arena), set()).add(orjson.dumps(same))
    for first, second in permutations(votes, 2):
        if votes[first] <= votes[second]:
            message = f"every vote of the arena {first} is in {second} as well, and would count twice"
            raise UsageError(message, hint=f"leave {first} out")
    (first, linked), *rest = list(agents.items()) or [("", set())]
    while near := [name for name, _ in rest if agents[name] & linked]:
        linked |= {agent for name in near for agent in agents[name]}
        rest = [one for one in rest if one[0] not in near]
    if rest:
        message = f"the arenas {first} and {rest[0][0]} have no common agent"
        raise UsageError(message, hint="compare an agent of the one with an agent of the other")


def look_for_missing(out: Entrants) -> None:
    """Note who lacks which dialogues; UsageError where no dialogue is shared."""
    everything = dict.fromkeys(name for agent in out.agents for name in agent.conversations)
    shared = [n for n in everything if sum(n in agent.conversations for agent in out.agents) > 1]
    if not shared:
        message = f"{' and '.join(out.names[:2])} have no dialogue in common: no id is in both"
        raise UsageError(message, hint="dialogues are matched by id: give agents that led the same ones")
    for agent in out.agents:
        there = {*agent.conversations, *agent.absent}
        if lacking := [name for name in everything if name not in there]:
            out.missing[agent.agent] = lacking


def known_votes(out: Entrants) -> Iterator[Meeting]:
    """Yield the votes between the agents at hand; the others are faults."""
    talks = {agent.agent: agent.conversations for agent in out.agents}
    for vote in out.votes:
        unknown = [name for name in (vote.a, vote.b) if name not in talks]
        if unknown:
            message = f"{UNKNOWN}: {unknown[0]!r}"
            place = None if vote.rating is None else vote.rating.place
            hint = f"the agents are {', '.join(talks)}; name them: NAME=RUN"
            out.faults.append(RecordFault(message, place=place, hint=hint))
            continue
        a, b = (talks[name].get(vote.dialogue or "") for name in (vote.a, vote.b))
        yield vote if a is None or b is None else replace(vote, conversations=(a, b))


def judge_of(agents: Sequence[Dialogues]) -> tuple[str, str, tuple[str, ...]]:
    """Return name, digest and dimensions of the judge of all runs.

    Raises:
        UsageError: One is not judged, or by another judge than another.
    """
    for agent in agents:
        if agent.judge is None or agent.judge_digest is None:
            message = f"the dialogues of {agent.agent} have no scores"
            raise UsageError(message, hint=_VOTERS)
        if agent.judge_digest != agents[0].judge_digest:
            message = f"{agents[0].agent} and {agent.agent} were judged by different judges or prompts"
            raise UsageError(message, hint="judge both alike; or --judge local, or with a model")
    first = agents[0]
    return str(first.judge), str(first.judge_digest), first.dimensions
