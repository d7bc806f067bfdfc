"""Runs of tau-bench."""

import json

import pytest

from dialogauge.core import Conversation, FileFault, Rating
from dialogauge.data import memory_conversations, read_conversations

RUN = {
    "agent": "m1",
    "domain": "airline",
    "task_id": 3,
    "trial": 0,
    "reward": 1.0,
    "error": None,
    "system_prompt": "airline-x",
    "user_id": "u",
    "instruction": "You want a seat.",
    "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}],
}


def read(folder, *runs, prompts=None):
    path = folder / "runs.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in runs))
    if prompts is not None:
        (folder / "tau_system_prompts.json").write_text(json.dumps(prompts))
    reader = read_conversations([str(path)])
    return list(reader), [(n.kind, n.text, n.count) for n in reader.notes]


def test_a_run(tmp_path):
    (c,), _ = read(tmp_path, RUN, prompts={"airline-x": "The policy."})
    assert (c.id, c.candidate, c.scenario, c.user_id) == ("airline_3__m1__0", "m1", "airline", "u")
    assert c.instructions == "The policy."
    assert c.ratings == (Rating(c.id, "reward", 1, rater="environment", candidate="m1"),)


def test_the_hidden_goal_is_out_of_the_judges_sight(tmp_path):
    (c,), _ = read(tmp_path, RUN, prompts={})
    assert c.metadata["instruction"] == "You want a seat."
    assert "seat" not in repr(c.blinded())


def test_a_prompt_that_is_not_there_is_told(tmp_path):
    (c,), notes = read(tmp_path, RUN)
    assert c.instructions == ""
    assert any(
        kind == "assumed" and "without the system prompts that they name: these were not found" in text
        for kind, text, _ in notes
    )


@pytest.mark.parametrize("prompts", ["{", "[]"])
def test_prompts_that_cannot_be_read_are_a_fault(tmp_path, prompts):
    (tmp_path / "tau_system_prompts.json").write_text(prompts)
    with pytest.raises(FileFault, match=r"tau_system_prompts\.json: the system prompts"):
        read(tmp_path, RUN)


def test_runs_in_memory_are_read_alike(tmp_path):
    (c,), _ = read(tmp_path, RUN)
    (own,) = memory_conversations([RUN])
    assert (own.id, own.messages, own.ratings) == (c.id, c.messages, c.ratings)


@pytest.mark.parametrize("messages", [[], None])
def test_a_failed_run_is_absent_and_counted(tmp_path, messages):
    (_, gone), notes = read(tmp_path, RUN, {**RUN, "task_id": 4, "messages": messages, "error": "rate limit"})
    assert isinstance(gone, Conversation)
    assert (gone.id, gone.candidate, gone.scenario) == ("airline_4__m1__0", "m1", "airline")
    assert (gone.messages, gone.ratings) == ((), ())
    assert gone.metadata["error"] == "rate limit"
    assert ("recognised", "conversations have no messages: counted as absent, not judged", 1) in notes
    assert not any("no assistant reply" in text for _, text, _ in notes)


def test_the_original_results_file(tmp_path):
    path = tmp_path / "results.json"
    run = {
        "task_id": 5,
        "reward": 0.0,
        "info": {"task": {"user_id": "u9", "instruction": "secret"}},
        "traj": [{"role": "system", "content": "Policy."}, *RUN["messages"]],
        "trial": 2,
    }
    path.write_text(json.dumps([run]))
    (c,) = list(read_conversations([str(path)]))
    assert (c.id, c.user_id, c.instructions) == ("results__5__2", "u9", "Policy.")
    assert c.ratings[0].score == 0
