"""Runs of tau-bench and AutoTOD: every call with its result and domain, also where the agent acts by text.

Written back as that text, they are read as published.
The published trajectories have calls and results in place of the text. A message with several actions
differs: tau-bench ran the last of them alone, and here all are kept.
"""

from __future__ import annotations

import gzip
import json

import pytest
from benchmarks.tdeval import PACK, SHARED

from dialogauge.data import read_conversations
from dialogauge.judges.rubric.policy import AgentPolicy
from dialogauge.judges.rubric.prompt import tool_calls_text
from dialogauge.rubrics import load_policies

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not SHARED, reason="DIALOGAUGE_SHARED is not set"),
    pytest.mark.xdist_group("tdeval"),
]


def as_text(message):
    """One message as the agent wrote it, or as tau-bench answered."""
    text = message["content"]
    if message["role"] == "tool":
        return {"role": "user", "content": f"API output: {text}"}
    if message["role"] == "user" or message.get("parse_failed"):
        return {"role": message["role"], "content": text}
    calls = message.get("tool_calls") or [
        {"function": {"name": "respond", "arguments": json.dumps({"content": text})}}
    ]
    function = calls[0]["function"]
    action = {"name": function["name"], "arguments": json.loads(function["arguments"])}
    thought = message.get("reasoning", "")
    return {"role": "assistant", "content": f"Thought:\n{thought}\nAction:\n{json.dumps(action)}"}


def steps(messages):
    return [
        (m.role, m.text.strip(), [(c.name, json.loads(c.arguments)) for c in m.tool_calls])
        for m in messages
        if m.role != "system"
    ]


def test_text_is_read_as_the_calls_that_were_published(tmp_path):
    equal, several = 0, 0
    for file in sorted((PACK / "tau_trajectories").glob("[LM]*.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            runs = [run for run in map(json.loads, lines) if run["messages"]]
        path = tmp_path / file.with_suffix("").name
        texts = [{**run, "messages": [as_text(m) for m in run["messages"]]} for run in runs]
        path.write_text("".join(json.dumps(run) + "\n" for run in texts))
        published = {c.id: c for c in read_conversations([str(file)]) if c.messages}
        read = list(read_conversations([str(path)]))
        assert {c.id for c in read} == published.keys()
        for run, conversation in zip(runs, read, strict=True):
            same = steps(conversation.messages) == steps(published[conversation.id].messages)
            twice = any(m.get("n_actions_in_text", 1) > 1 for m in run["messages"])
            assert same or twice
            equal, several = equal + same, several + twice
    assert (equal, several) == (322, 20)


def test_every_call_has_its_own_result_and_none_is_overwritten():
    calls = overwritten = turns = unread = 0
    silent: list[str] = []
    for conversation in read_conversations([str(PACK / "tau_trajectories")]):
        unread += sum("parse_failed" in message.extra for message in conversation.messages)
        for turn in conversation.turns:
            steps = turn.tool_steps
            assert not any(step.faults for step in steps)
            assert len(json.loads(tool_calls_text(turn, tool_chars=1 << 30).text)) == len(steps)
            lost = len(steps) - len({step.call.name for step in steps})
            silent += [steps[-1].call.name] if steps and not turn.has_reply else []
            calls, overwritten, turns = calls + len(steps), overwritten + lost, turns + (lost > 0)
    assert (calls, overwritten, turns, unread) == (7687, 1867, 764, 48)
    assert (len(silent), silent.count("transfer_to_human_agents")) == (205, 183)


def test_the_domain_of_a_turn_is_the_one_that_the_data_has():
    equal = before_any_call = 0
    policies, dialogues = load_policies(), read_conversations([str(PACK / "autotod_mwoz.jsonl.gz")])
    for dialogue in dialogues:
        policy = AgentPolicy(policies, dialogue, own=True)
        for turn, stored in zip(dialogue.turns, dialogue.metadata["readings"], strict=True):
            domains, wanted = policy.domains(turn), stored.get("active") or []
            equal += set(domains) == set(wanted)
            before_any_call += domains == ("generic",) and not wanted
    assert (equal, before_any_call) == (452, 20)
