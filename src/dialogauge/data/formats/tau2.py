"""Results of tau2-bench: every simulation of `results.json`, or of the folder `simulations` beside it.

The policy of the domain is the system message, and the reward a rating by the rater `environment`. Tools that
the simulated user calls are out of the agent's sight and left out; its instructions go into the metadata,
which no judge sees.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dialogauge.core import Conversation, Message, Place, Rating, RecordFault
from dialogauge.data.field_map import MISSING, look_up
from dialogauge.data.formats.base import Context, Entry, Outcome, Sample, TextFormat, fault_in
from dialogauge.data.formats.beside import read_beside
from dialogauge.data.formats.documents import listed
from dialogauge.data.formats.openai import MessageReader
from dialogauge.data.notes import excerpt
from dialogauge.data.ratings import score_at
from dialogauge.data.sources import LineStream

_HEAD: Final = ("info", "tasks")
_USED: Final = frozenset({"messages", "ticks", "policy", "task_id", "trial"})


def _recognises(sample: Sample) -> bool:
    record = sample.record
    if not isinstance(record, dict):
        return False
    results = isinstance(record.get("simulations"), list) and isinstance(record.get("info"), dict)
    return results or {"task_id", "reward_info", "termination_reason", "messages"} <= record.keys()


def _read(stream: LineStream, context: Context) -> Iterator[Outcome]:
    for head, run, entry in listed(stream, context, "simulations", _HEAD):
        try:
            if isinstance(run, RecordFault):
                yield run
            else:
                beside = head or read_beside(context, "results.json", "results", dict, above=1)
                yield _convert(run, beside, entry)
        except RecordFault as fault:
            yield fault


def _convert(run: Any, head: Mapping[str, Any], entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    if not isinstance(run, dict) or "task_id" not in run:
        raise fault_in(entry, f"the simulation is {excerpt(run)}: no object with a task_id")
    raw, task = run.get("messages"), run["task_id"]
    if raw is None and run.get("ticks"):
        raise fault_in(entry, "the simulation was spoken, and has ticks of sound and no messages")
    domain, agent = (
        _text(head, path) for path in ("info.environment_info.domain_name", "info.agent_info.llm")
    )
    names = (f"{domain}_{task}" if domain else task, agent, run.get("trial") or 0)
    name = "__".join(str(part) for part in names if part is not None)
    messages = _messages(raw, _text(run, "policy") or _text(head, "info.environment_info.policy"), entry)
    return Conversation(
        name,
        messages,
        scenario=domain,
        candidate=agent,
        ratings=_reward(name, look_up(run, "reward_info.reward"), agent, entry) if messages else (),
        metadata={"task_id": task, "trial": run.get("trial")}
        | {key: value for key, value in run.items() if key not in _USED and value is not None}
        | _instruction(head.get("tasks"), task),
        place=Place(entry.place.file, entry.place.line, name),
    )


def _text(record: Mapping[str, Any], path: str) -> str | None:
    value = look_up(record, path)
    return value if isinstance(value, str) and value else None


def _messages(raw: object, policy: str | None, entry: Entry) -> tuple[Message, ...]:
    if raw is None or raw == []:
        entry.recognise("runs failed at the source and have no messages: they are absent")
        return ()
    if not isinstance(raw, list):
        raise fault_in(entry, f"the messages are {excerpt(raw)}: not a list")
    seen = [one for message in raw for one in _seen(message, entry)]
    read = MessageReader(entry).read(seen)
    if policy is None:
        return read
    entry.recognise("runs were given the policy of their domain as the system message")
    return (Message("system", policy), *read)


def _seen(message: Any, entry: Entry) -> Iterator[Any]:  # noqa: ANN401  # any JSON value
    """Yield what the agent sees of a message, with the ids of results as OpenAI writes them."""
    if not isinstance(message, dict):
        yield message
        return
    if isinstance(several := message.get("tool_messages"), list):
        for one in several:
            yield from _seen(one, entry)
        return
    role, own = message.get("role"), {k: v for k, v in message.items() if v is not None or k == "content"}
    if role == "tool" and own.get("requestor") == "user":
        entry.recognise("results of tools that the user called: left out, the agent does not see them")
    elif role == "tool":
        yield {**own, "tool_call_id": own.get("tool_call_id", own.get("id"))}
    elif role != "user" or not own.pop("tool_calls", None) or own.get("content"):
        yield own


def _reward(name: str, value: object, agent: str | None, entry: Entry) -> tuple[Rating, ...]:
    if value is MISSING or value is None:
        return ()
    score = score_at(entry.place, "the reward", value)
    return (Rating(name, "reward", score, rater="environment", candidate=agent),)


def _instruction(tasks: object, task: object) -> dict[str, Any]:
    for one in tasks if isinstance(tasks, list) else ():
        if isinstance(one, dict) and one.get("id") == task and "user_scenario" in one:
            return {"user_scenario": one["user_scenario"]}
    return {}


TAU2 = TextFormat("tau2", _recognises, _read)
