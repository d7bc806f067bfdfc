"""Runs of tool-using agents in tau-bench.

Two forms: TD-Eval's trajectories (`agent, domain, task_id, trial, reward, messages, ...` a line, system
prompts in a file beside it), and tau-bench's own results (`[{task_id, reward, info, traj, trial}]`). The
user's hidden instruction goes into the metadata, which no judge sees.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson

from dialogauge.core import Conversation, Message, Place, Rating
from dialogauge.data.field_map import FieldMap
from dialogauge.data.formats.base import Context, Entry, Outcome, RecordFormat, Sample, fault_in
from dialogauge.data.formats.fields import text_at
from dialogauge.data.formats.openai import MessageReader
from dialogauge.data.notes import excerpt
from dialogauge.data.ratings import as_score
from dialogauge.data.sources import InputSource, LineStream

_PROMPTS = "tau_system_prompts.json"
_USED = frozenset({"messages", "traj", "agent", "domain", "user_id", "reward"})


@dataclass(frozen=True, slots=True)
class _Tau:
    name: str = "tau"

    def recognises(self, sample: Sample) -> bool:
        return _recognises(sample.record, sample.mapping)

    def read(self, stream: LineStream, context: Context) -> Iterator[Outcome]:
        yield from self._records(context).read(stream, context)

    def count(self, stream: LineStream, context: Context) -> int:
        return self._records(context).count(stream, context)

    def _records(self, context: Context) -> RecordFormat:
        convert = partial(_convert, prompts=_prompts(context.source))
        return RecordFormat(self.name, _recognises, convert)


def _recognises(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
    if not isinstance(record, dict) or "task_id" not in record or "reward" not in record:
        return False
    return isinstance(record.get("traj"), list) or ("domain" in record and "messages" in record)


def _prompts(source: InputSource) -> Mapping[str, str]:
    """Return the system prompts from the file beside or above the source, if there is one."""
    if source.path is None:
        return {}
    folder = source.path.resolve().parent
    for place in (folder / _PROMPTS, folder.parent / _PROMPTS):
        if place.is_file():
            try:
                prompts = orjson.loads(place.read_bytes())
            except orjson.JSONDecodeError:
                return {}
            return prompts if isinstance(prompts, dict) else {}
    return {}


def _convert(record: Any, entry: Entry, *, prompts: Mapping[str, str]) -> Conversation:  # noqa: ANN401
    if not isinstance(record, dict):
        raise fault_in(entry, f"the record is {excerpt(record)}: not an object")
    raw = record.get("messages", record.get("traj"))
    if not raw:
        entry.recognise("runs failed at the source: no messages, handed out as faults")
        raise fault_in(entry, f"the run failed at the source and has no messages (error: {_error(record)})")
    messages = _system(record, prompts, entry) + MessageReader(entry).read(raw)
    agent, domain = text_at(record, "agent"), text_at(record, "domain")
    if agent is not None and domain is not None:
        name = f"{domain}_{record.get('task_id')}__{agent}__{record.get('trial', 0)}"
    else:
        stem = entry.context.source.label.removesuffix(".json").removesuffix(".jsonl")
        name = f"{stem}__{record.get('task_id')}__{record.get('trial', 0)}"
    return Conversation(
        name,
        messages,
        user_id=text_at(record, "user_id") or _user(record),
        scenario=domain,
        candidate=agent,
        ratings=_reward(name, record, agent, entry),
        metadata={key: value for key, value in record.items() if key not in _USED},
        place=Place(entry.place.file, entry.place.line, name),
    )


def _system(record: dict[str, Any], prompts: Mapping[str, str], entry: Entry) -> tuple[Message, ...]:
    inline, key = record.get("system_prompt_inline"), record.get("system_prompt")
    text = (
        inline if isinstance(inline, str) and inline else prompts.get(key) if isinstance(key, str) else None
    )
    if isinstance(text, str):
        entry.recognise("runs got the system prompt that their record names put in front")
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
    try:
        score = as_score(record["reward"])
    except ValueError as error:
        raise fault_in(entry, f"the reward: {error}") from error
    return (Rating(name, "reward", score, rater="environment", candidate=agent),)


def _error(record: dict[str, Any]) -> str:
    info = record.get("info")
    error = record.get("error") or (info.get("error") if isinstance(info, dict) else None)
    return excerpt(error, 120) if error else "none given"


def _user(record: dict[str, Any]) -> str | None:
    info = record.get("info")
    task = info.get("task") if isinstance(info, dict) else None
    return text_at(task, "user_id") if isinstance(task, dict) else None


TAU = _Tau()
