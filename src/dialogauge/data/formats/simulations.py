"""Dialogues of AutoTOD with a simulated user."""

from __future__ import annotations

from typing import Any

import orjson

from dialogauge.core import Conversation, Message, Place, Rating, ToolCall
from dialogauge.data.field_map import FieldMap
from dialogauge.data.formats.base import Entry, RecordFormat, fault_in
from dialogauge.data.formats.fields import text_at
from dialogauge.data.notes import excerpt
from dialogauge.data.ratings import score_at

_ONLINE = ("online_inform", "online_success")
_READ = {"delex_response": "delexicalised", "state": "state", "active_domains": "active"}


def _recognises_autotod(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
    del mapping
    turns = record.get("turns") if isinstance(record, dict) else None
    first = turns[0] if isinstance(turns, list) and turns else None
    return isinstance(first, dict) and {"user", "db_calls", "response"} <= first.keys()


def _convert_autotod(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    turns = record.get("turns") if isinstance(record, dict) else None
    if not isinstance(turns, list) or not turns:
        raise fault_in(entry, f"the turns are {excerpt(turns)}: not a list with entries")
    name = text_at(record, "dialogue") or entry.made_id
    messages = [m for number, turn in enumerate(turns, 1) for m in _turn(turn, number, entry)]
    ratings = [
        Rating(name, key, score_at(entry.place, key, record[key]), rater="environment")
        for key in _ONLINE
        if record.get(key) is not None
    ]
    metadata = {
        "goal": record.get("evaluator_goal", record.get("goal")),
        "booked": record.get("booked_domains_gold"),
        "references": _replies(record.get("reference")),
        "readings": [{ours: turn[key] for key, ours in _READ.items() if key in turn} for turn in turns],
    }
    goal = metadata["goal"]
    return Conversation(
        name,
        tuple(messages),
        scenario="+".join(sorted(goal)) if isinstance(goal, dict) and goal else None,
        candidate=text_at(record, "agent"),
        ratings=tuple(ratings),
        metadata={key: value for key, value in metadata.items() if value is not None},
        place=Place(entry.place.file, entry.place.line, name),
    )


def _replies(reference: Any) -> list[str] | None:  # noqa: ANN401  # any JSON value
    """Return the replies of the corpus's own dialogue of that goal."""
    turns = reference if isinstance(reference, list) else []
    replies = [turn.get("agent") for turn in turns if isinstance(turn, dict)]
    return [str(reply) for reply in replies if reply] or None


def _turn(turn: Any, number: int, entry: Entry) -> list[Message]:  # noqa: ANN401  # any JSON value
    if not isinstance(turn, dict) or not isinstance(turn.get("db_calls"), list):
        raise fault_in(entry, f"turn {number} is {excerpt(turn)}: it has no list of calls")
    texts = [turn.get("user"), turn.get("response")]
    if not all(isinstance(text, str) for text in texts):
        raise fault_in(entry, f"turn {number} lacks the text of user or response")
    messages = [Message("user", str(texts[0]))]
    for position, call in enumerate(turn["db_calls"], start=1):
        if not isinstance(call, dict) or not isinstance(call.get("name"), str):
            raise fault_in(entry, f"call {position} of turn {number} is {excerpt(call)}: it has no name")
        id, result = f"{number}.{position}", call.get("result")
        arguments, shown = (
            v if isinstance(v, str) else orjson.dumps(v).decode() for v in (call.get("arguments", {}), result)
        )
        messages.append(Message("assistant", None, (ToolCall(id, call["name"], arguments),)))
        if result is not None:
            messages.append(Message("tool", shown, tool_call_id=id, name=call["name"]))
    return [*messages, Message("assistant", str(texts[1]))]


AUTOTOD = RecordFormat("autotod", _recognises_autotod, _convert_autotod, takes_order=False)
"""Dialogues of AutoTOD with a simulated user, as TD-Eval publishes them.

A line is a dialogue: `turns` with `user`, `db_calls` and `response`. What measures of task success need
stands in the metadata, which no judge of dialogues sees: the goal, the domains that the corpus booked, and
what the source read off each reply (delexicalised text, state, active domains).
"""
