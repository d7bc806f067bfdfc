"""Runs of agents with simulated users: tau-bench, tau2-bench, and AutoTOD."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

from dialogauge.core import Conversation, Message, Place, Rating, RecordFault, ToolCall
from dialogauge.data.field_map import FieldMap
from dialogauge.data.formats.base import Context, Entry, Outcome, RecordFormat, Sample, TextFormat, fault_in
from dialogauge.data.formats.documents import listed, read_beside
from dialogauge.data.formats.fields import list_at, text_at
from dialogauge.data.formats.openai import MessageReader
from dialogauge.data.notes import excerpt
from dialogauge.data.paths import MISSING, look_up
from dialogauge.data.ratings import score_at
from dialogauge.data.sources import LineStream

_PROMPTS = "tau_system_prompts.json"
_TAU_USED = frozenset({"messages", "traj", "agent", "domain", "user_id", "reward"})


def _recognises_tau(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
    if not isinstance(record, dict) or "task_id" not in record or "reward" not in record:
        return False
    return isinstance(record.get("traj"), list) or ("domain" in record and "messages" in record)


def _convert_tau(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
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
        ratings=_reward(name, record.get("reward"), agent, entry) if messages else (),
        metadata={key: value for key, value in record.items() if key not in _TAU_USED},
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


def _reward(name: str, value: object, agent: str | None, entry: Entry) -> tuple[Rating, ...]:
    if value is MISSING or value is None:
        return ()
    score = score_at(entry.place, "the reward", value)
    return (Rating(name, "reward", score, rater="environment", candidate=agent),)


TAU = RecordFormat("tau", _recognises_tau, _convert_tau)
"""Runs of tool-using agents in tau-bench.

Two forms: TD-Eval's trajectories (`agent, domain, task_id, trial, reward, messages, ...` a line, system
prompts in a file beside it), and tau-bench's own results (`[{task_id, reward, info, traj, trial}]`). The
user's hidden instruction goes into the metadata, which no judge sees.
"""


_HEAD: Final = ("info", "tasks")
_TAU2_USED: Final = frozenset({"messages", "ticks", "policy", "task_id", "trial"})


def _recognises_tau2(sample: Sample) -> bool:
    record = sample.record
    if not isinstance(record, dict):
        return False
    results = isinstance(record.get("simulations"), list) and isinstance(record.get("info"), dict)
    return results or {"task_id", "reward_info", "termination_reason", "messages"} <= record.keys()


def _read(stream: LineStream, context: Context) -> Iterator[Outcome]:
    tasks: list[object] = []
    ran: set[str] = set()
    for head, run, entry in listed(stream, context, "simulations", _HEAD):
        tasks = list_at(head, "tasks")
        ran.add(str(run.get("task_id")) if isinstance(run, dict) else "")
        try:
            if isinstance(run, RecordFault):
                yield run
            else:
                beside = head or read_beside(context, "results.json", "results", dict, above=1)
                yield _convert_tau2(run, beside, entry)
        except RecordFault as fault:
            yield fault
    if never := len(tasks) - len({str(one.get("id")) for one in tasks if isinstance(one, dict)} & ran):
        context.notes.leave_out("no run is of them", Place(context.source.name), count=never, what="tasks")


def _convert_tau2(run: Any, head: Mapping[str, Any], entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
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
        | {key: value for key, value in run.items() if key not in _TAU2_USED and value is not None}
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
        entry.leave_out("results of tools that the user called, which the agent does not see")
    elif role == "tool":
        yield {**own, "tool_call_id": own.get("tool_call_id", own.get("id"))}
    elif role != "user" or not own.pop("tool_calls", None) or own.get("content"):
        yield own


def _instruction(tasks: object, task: object) -> dict[str, Any]:
    for one in tasks if isinstance(tasks, list) else ():
        if isinstance(one, dict) and one.get("id") == task and "user_scenario" in one:
            return {"user_scenario": one["user_scenario"]}
    return {}


TAU2 = TextFormat("tau2", _recognises_tau2, _read)
"""Results of tau2-bench: every simulation of `results.json`, or of the folder `simulations` beside it.

The policy of the domain is the system message, and the reward a rating by the rater `environment`. Tools that
the simulated user calls are out of the agent's sight and left out; its instructions go into the metadata,
which no judge sees.
"""


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
