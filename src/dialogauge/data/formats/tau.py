"""Runs of tool-using agents in tau-bench.

Two forms: TD-Eval's trajectories (`agent, domain, task_id, trial, reward, messages, ...` a line, system
prompts in a file beside it), and tau-bench's own results (`[{task_id, reward, info, traj, trial}]`). The
user's hidden instruction goes into the metadata, which no judge sees.
"""

from __future__ import annotations

from typing import Any

from dialogauge.core import Conversation, Message, Place, Rating
from dialogauge.data.field_map import FieldMap, look_up
from dialogauge.data.formats.base import Entry, RecordFormat, fault_in
from dialogauge.data.formats.beside import read_beside
from dialogauge.data.formats.fields import text_at
from dialogauge.data.formats.openai import MessageReader
from dialogauge.data.notes import excerpt
from dialogauge.data.ratings import score_at

_PROMPTS = "tau_system_prompts.json"
_USED = frozenset({"messages", "traj", "agent", "domain", "user_id", "reward"})


def _recognises(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
    if not isinstance(record, dict) or "task_id" not in record or "reward" not in record:
        return False
    return isinstance(record.get("traj"), list) or ("domain" in record and "messages" in record)


def _convert(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    if not isinstance(record, dict):
        raise fault_in(entry, f"the record is {excerpt(record)}: not an object")
    raw = record.get("messages", record.get("traj"))
    gone = raw is None or raw == []
    if gone:
        entry.recognise("runs failed at the source and have no messages: they are absent")
    messages = () if gone else _system(record, entry) + MessageReader(entry).read(raw)
    if any("parse_failed" in message.extra for message in messages):
        entry.recognise("runs have steps without an action that can be read: kept as replies")
    agent, domain = text_at(record, "agent"), text_at(record, "domain")
    user = look_up(record, "info.task.user_id")
    if agent is not None and domain is not None:
        name = f"{domain}_{record.get('task_id')}__{agent}__{record.get('trial', 0)}"
    else:
        stem = entry.context.source.label.removesuffix(".json").removesuffix(".jsonl")
        name = f"{stem}__{record.get('task_id')}__{record.get('trial', 0)}"
    return Conversation(
        name,
        messages,
        user_id=text_at(record, "user_id") or (user if isinstance(user, str) and user else None),
        scenario=domain,
        candidate=agent,
        ratings=_reward(name, record, agent, entry) if messages else (),
        metadata={key: value for key, value in record.items() if key not in _USED},
        place=Place(entry.place.file, entry.place.line, name),
    )


def _system(record: dict[str, Any], entry: Entry) -> tuple[Message, ...]:
    text, key = text_at(record, "system_prompt_inline"), record.get("system_prompt")
    if text is None and isinstance(key, str):
        text = read_beside(entry.context, _PROMPTS, "system prompts", dict, above=1).get(key)
    if isinstance(text, str):
        entry.recognise("runs were given the system prompt that their record names")
        return (Message("system", text),)
    if key is not None:
        entry.assume(
            f"runs name a system prompt that was not found, and are read without it ({_PROMPTS})",
            hint="put the file beside or above the trajectories",
        )
    return ()


def _reward(name: str, record: dict[str, Any], agent: str | None, entry: Entry) -> tuple[Rating, ...]:
    if record.get("reward") is None:
        return ()
    score = score_at(entry.place, "the reward", record["reward"])
    return (Rating(name, "reward", score, rater="environment", candidate=agent),)


TAU = RecordFormat("tau", _recognises, _convert)
