"""Results of tau2-bench; the samples are ours, their form that of its data model (`tau2/data_model`)."""

import json

import pytest

from dialogauge.core import Rating, RecordFault, ToolCall
from dialogauge.data import read_conversations

LEFT_OUT = (
    "messages were left out: calls of tools by the user and their results, which the agent does not see"
)


def call(id, name, who, **arguments):
    return [{"id": id, "name": name, "arguments": arguments, "requestor": who}]


RUN = {
    "id": "5e2f",
    "task_id": "7",
    "start_time": "2026-01-02T10:00:00",
    "termination_reason": "user_stop",
    "agent_cost": 0.02,
    "reward_info": {"reward": 1.0, "db_check": {"db_match": True}},
    "messages": [
        {"role": "assistant", "content": "Hi!", "tool_calls": None, "turn_idx": 0, "cost": None},
        {"role": "user", "content": "No signal.", "tool_calls": None, "turn_idx": 1},
        {"role": "assistant", "content": "Check the mode?", "tool_calls": None},
        {"role": "user", "content": None, "tool_calls": call("u1", "check_mode", "user")},
        {"role": "tool", "id": "u1", "content": "airplane", "requestor": "user", "error": False},
        {"role": "user", "content": "It is on.", "tool_calls": None},
        {"role": "assistant", "content": None, "tool_calls": call("c1", "reset", "assistant", line=4)},
        {"role": "tool", "id": "c1", "content": "ok", "requestor": "assistant", "error": False},
        {"role": "assistant", "content": "It works now.", "tool_calls": None},
    ],
    "trial": 2,
    "seed": 9,
}
INFO = {
    "agent_info": {"implementation": "llm_agent", "llm": "model-a"},
    "environment_info": {"domain_name": "telecom", "policy": "Help with phones."},
}
TASKS = [{"id": "7", "user_scenario": {"instructions": "You are stubborn."}}]
RESULTS = {"timestamp": "t", "info": INFO, "tasks": TASKS, "simulations": [RUN]}


def read(path):
    reader = read_conversations([str(path)])
    outcomes = list(reader)
    assert {file.format for file in reader.files.values()} == {"tau2"}
    return outcomes, [(n.text, n.count) for n in reader.notes]


def results(folder, *runs, indent=2, **change):
    path = folder / "results.json"
    path.write_text(json.dumps({**RESULTS, "simulations": runs, **change}, indent=indent))
    return path


@pytest.mark.parametrize("indent", [None, 2])
def test_every_simulation(tmp_path, indent):
    (c, other), notes = read(results(tmp_path, RUN, {**RUN, "trial": 3}, indent=indent))
    assert (c.id, other.id) == ("telecom_7__model-a__2", "telecom_7__model-a__3")
    assert (c.scenario, c.candidate) == ("telecom", "model-a")
    assert [(m.role, m.text) for m in c.messages] == [
        ("system", "Help with phones."),
        ("assistant", "Hi!"),
        ("user", "No signal."),
        ("assistant", "Check the mode?"),
        ("user", "It is on."),
        ("assistant", ""),
        ("tool", "ok"),
        ("assistant", "It works now."),
    ]
    assert c.messages[5].tool_calls == (ToolCall("c1", "reset", '{"line":4}'),)
    assert c.messages[6].tool_call_id == "c1"
    assert [t.number for t in c.turns] == [0, 1, 2]
    assert c.ratings == (Rating(c.id, "reward", 1, rater="environment", candidate="model-a"),)
    assert c.metadata["user_scenario"] == {"instructions": "You are stubborn."}
    assert "stubborn" not in repr(c.blinded())
    assert (LEFT_OUT, 4) in notes


def test_what_holds_for_all_may_stand_behind_the_simulations(tmp_path):
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"simulations": [RUN], "info": INFO, "tasks": TASKS}, indent=1))
    (c,), _ = read(path)
    assert (c.id, c.instructions) == ("telecom_7__model-a__2", "Help with phones.")


def test_a_folder_of_simulations(tmp_path):
    (tmp_path / "simulations").mkdir()
    (tmp_path / "results.json").write_text(json.dumps({"info": INFO, "tasks": TASKS}))
    for trial in (0, 1):
        path = tmp_path / "simulations" / f"{trial}.json"
        path.write_text(json.dumps({**RUN, "trial": trial}, indent=2))
    (c, other), _ = read(tmp_path)
    assert (c.id, other.id) == ("telecom_7__model-a__0", "telecom_7__model-a__1")
    assert c.instructions == "Help with phones."


def test_a_run_without_messages_is_absent(tmp_path):
    (c,), notes = read(results(tmp_path, {**RUN, "messages": []}))
    assert (c.messages, c.ratings, c.candidate) == ((), (), "model-a")
    assert ("conversations have no messages: counted as absent, not judged", 1) in notes


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (4, "the record is 4: no conversation of tau2 (such a record has task_id"),
        ({"messages": []}, "no conversation of tau2 (such a record has task_id"),
        ({**RUN, "messages": "hi"}, "the messages are 'hi': not a list"),
        ({**RUN, "messages": [4]}, "message 1 is 4: not an object"),
        ({**RUN, "messages": None, "ticks": [{}]}, "was spoken"),
        ({**RUN, "reward_info": {"reward": []}}, "the rating of reward: the score is []"),
    ],
)
def test_what_cannot_be_read_is_a_fault(tmp_path, run, message):
    (fault, c), _ = read(results(tmp_path, run, RUN))
    assert isinstance(fault, RecordFault)
    assert message in str(fault)
    assert "results.json record 1" in str(fault)
    assert c.id == "telecom_7__model-a__2"
