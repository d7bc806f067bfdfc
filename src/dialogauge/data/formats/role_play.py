"""Rated role-play: the episodes of sotopia-pi that people rated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from dialogauge.core import Conversation, Message, Place, Rating, RecordFault
from dialogauge.core.unit import digest_text
from dialogauge.data.formats.base import (
    Context,
    Entry,
    Outcome,
    Sample,
    TextFormat,
    entries,
    fault_in,
)
from dialogauge.data.formats.fields import list_at, object_at, text_at
from dialogauge.data.notes import NoteBook, excerpt
from dialogauge.data.ratings import score_at
from dialogauge.data.sources import LineStream

_SOTOPIA: Final = frozenset({"agents", "profiles", "session"})
_SOTOPIA_USED: Final = _SOTOPIA | {
    "id",
    "scenario",
    "goals",
    "ratings",
    "model_under_test",
    "environment",
    "agent_models",
}
_LABELLED: Final = "custom_model"
"""What the episodes call the model that the run is named after."""


def _described(value: object, what: str, entry: Entry) -> str:
    """Return a character's text, or a table about it as lines; raises `RecordFault` for neither."""
    if isinstance(value, str) and value.strip():
        return value
    if isinstance(value, dict) and value:
        lists = {k: ", ".join(map(str, v)) if isinstance(v, list) else v for k, v in value.items()}
        return "\n".join(f"{key}: {known}" for key, known in lists.items() if known not in (None, "", {}))
    hint = "a text, or a table of what is known of the character"
    raise fault_in(entry, f"{what} is {excerpt(value)}: it says nothing of the character", hint)


def _recognises_sotopia(sample: Sample) -> bool:
    record = sample.record
    if not isinstance(record, dict) or not record.keys() >= _SOTOPIA:
        return False
    session = record["session"]
    first = session[0] if isinstance(session, list) and session else None
    return isinstance(first, dict) and {"speaker", "content"} <= first.keys()


def _read_sotopia(stream: LineStream, context: Context) -> Iterator[Outcome]:
    mute = replace(context, notes=NoteBook())
    rated: dict[tuple[str | None, str], list[tuple[Any, int, Entry]]] = {}
    for record, entry in entries(stream, mute):
        if isinstance(record, dict):
            rows = enumerate(list_at(record, "ratings"), start=1)
            rated.setdefault(_episode(record), []).extend((row, number, entry) for number, row in rows)
    read: set[tuple[str | None, str]] = set()
    for record, entry in entries(stream, context):
        try:
            if isinstance(record, RecordFault):
                yield record
            elif not isinstance(record, dict) or not isinstance(record.get("session"), list):
                raise fault_in(entry, f"the record is {excerpt(record)}: no episode with a 'session'")
            elif (episode := _episode(record)) not in read or episode[0] is None:
                read.add(episode)
                yield from _sides(record, rated[episode], entry)
            else:
                entry.recognise("episodes stand on several lines with ratings of their own: read as one")
        except RecordFault as fault:
            yield fault


def _episode(record: Mapping[str, Any]) -> tuple[str | None, str]:
    """Return what two lines about one episode have in common: its id, and what was said."""
    return text_at(record, "id"), digest_text(repr(record.get("session")))


def _sides(
    record: Mapping[str, Any], rated: list[tuple[Any, int, Entry]], entry: Entry
) -> Iterator[Conversation]:
    """Yield the episode as each of its rated agents saw it; as both did where nobody rated."""
    session = [_line(one, number, entry) for number, one in enumerate(record["session"], start=1)]
    agents = record.get("agents")
    if not isinstance(agents, list) or len(agents) != 2 or not all(isinstance(a, str) and a for a in agents):
        raise fault_in(entry, f"the agents are {excerpt(agents)}: not two names", "name both who speak")
    if strange := sorted({speaker for speaker, _ in session} - set(agents)):
        hint = f"it is of {agents[0]} and {agents[1]}: mend the names"
        raise fault_in(entry, f"the session has the speaker {excerpt(strange[0])}, who is no agent", hint)
    ratings = _ratings(rated, agents)
    episode, models = text_at(record, "id") or entry.made_id, object_at(record, "agent_models")
    for agent in [agent for agent in agents if ratings[agent]] or agents:
        if all(speaker != agent for speaker, _ in session):
            entry.assume("agents of an episode say nothing: there is no conversation of theirs")
            continue
        name, model = f"{episode}__{agent}", text_at(models, agent)
        model = text_at(record, "model_under_test") if model in (None, _LABELLED) else model
        profile = object_at(record, "profiles").get(agent)
        instructions = _described(profile, f"the profile of {agent}", entry)
        if goal := text_at(object_at(record, "goals"), agent):
            instructions += f"\ngoal: {goal}"
        messages = (Message("assistant" if who == agent else "user", text) for who, text in session)
        yield Conversation(
            name,
            (Message("system", instructions), *messages),
            user_id=agent,
            scenario=text_at(record, "environment"),
            context=text_at(record, "scenario"),
            candidate=model,
            ratings=tuple(
                Rating(name, dimension, score, None, rater, model, note)
                for dimension, score, rater, note in ratings[agent]
            ),
            metadata={k: v for k, v in record.items() if k not in _SOTOPIA_USED} | {"agents": agents},
            place=Place(entry.place.file, entry.place.line, name),
        )


def _line(value: object, number: int, entry: Entry) -> tuple[str, str]:
    """Return who says what."""
    speaker, content = (
        (value.get("speaker"), value.get("content")) if isinstance(value, dict) else (None, None)
    )
    if not isinstance(speaker, str) or not isinstance(content, str):
        hint = "each line needs a 'speaker' and a 'content'"
        raise fault_in(entry, f"line {number} of the session is {excerpt(value)}: nobody says it", hint)
    return speaker, content


_Scored = tuple[str, float | str, str | None, str | None]
"""Dimension, score, rater, and the reason given."""


def _ratings(rows: list[tuple[Any, int, Entry]], agents: list[str]) -> dict[str, list[_Scored]]:
    out: dict[str, list[_Scored]] = {agent: [] for agent in agents}
    for row, number, entry in rows:
        agent, scores = (row.get("agent"), row.get("scores")) if isinstance(row, dict) else (None, None)
        if agent not in agents or not isinstance(scores, dict):
            hint = f"each needs an 'agent', {agents[0]} or {agents[1]}, and a table of 'scores'"
            raise fault_in(entry, f"rating {number} is {excerpt(row)}: of no agent, or without scores", hint)
        rater, reasons = text_at(row, "rater"), object_at(row, "reasons")
        for dimension, value in scores.items():
            if value is not None:
                score = score_at(entry.place, f"rating {number}, {dimension} of {agent}", value)
                out[agent].append((dimension, score, rater, text_at(reasons, dimension)))
    return out


SOTOPIA = TextFormat("sotopia", _recognises_sotopia, _read_sotopia)
"""Episodes of sotopia-pi: two agents with profiles and private goals, rated by people as wholes.

Each rated agent makes a conversation, in which it is the assistant and the other one the user. What it was
told is the system message. Lines about one episode are read as one. An agent that is called `custom_model` is
the model under test.
"""
