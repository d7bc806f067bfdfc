"""The checks of tau-bench's reward, in a shop of two tables and six tools."""

import json
import sys
from pathlib import Path

import pytest

from dialogauge.core import Conversation, Message, Place, RecordFault, ToolCall
from dialogauge.judges.success.tau import TauSuccess, is_finished, output_hits, task_of

sys.path.insert(0, str(Path(__file__).parents[4] / "examples"))
from shop import SHOP


def run(*messages, **metadata):
    return Conversation("t", (Message("user", "hi"), *messages), metadata=metadata)


def says(text):
    return Message("assistant", text)


def calls(name, arguments="{}", **named):
    text = json.dumps(named) if named else arguments
    return Message("assistant", None, (ToolCall(name, name, text),))


@pytest.mark.parametrize(
    ("output", "reply", "turn", "within"),
    [
        ("10", "We have 10 kinds.", 1, False),
        ("10", "We have 12 kinds.", None, False),
        ("10", "There are 1000 kinds.", 1, True),
        ("10", "It costs $10.50.", 1, True),
        ("10", "It costs $10.00.", 1, False),
        ("10", "9. red\n10. **blue**", 1, True),
        ("10", "There are 10.", 1, False),
        ("10", "1000 of 10 kinds", 1, False),  # it stands by itself somewhere
        ("1000", "It is $1,000.", 1, False),
        ("full", "a FULL refund", 1, False),
        ("full", "successfully", 1, True),
    ],
)
def test_where_an_output_stands(output, reply, turn, within):
    (hit,) = output_hits(run(says(reply)), [output])
    assert (hit.turn, hit.within) == (turn, within)
    assert (output in hit.quote.lower()) == (turn is not None)


def test_what_accompanies_a_call_is_no_reply():
    step = Message("assistant", "10", (ToolCall("c", "order", "{}"),))
    (hit,) = output_hits(run(step, Message("tool", "10", tool_call_id="c")), ["10"])
    assert hit.turn is None


CANCEL = {
    "gold_actions": [{"name": "order", "kwargs": {"id": "o1"}}, {"name": "cancel", "kwargs": {"id": "o1"}}]
}


@pytest.mark.parametrize(
    ("made", "tables"),
    [
        ([calls("cancel", id="o1")], []),  # what is only looked up makes no difference
        ([], ["orders", "products"]),
        ([calls("cancel", id="o3")], ["orders", "products"]),
        ([calls("cancel", id="o1"), calls("cancel", id="o1")], []),  # refused: it is not pending any more
        ([calls("cancel", id="o1"), calls("exchange", id="o1", item="p1", instead="p2")], []),  # sold out
        ([calls("cancel", id="o1"), calls("fly", to="Rome")], []),  # no such tool
        ([calls("cancel", "not JSON")], ["orders", "products"]),
        (
            [calls("cancel", id="o1"), calls("exchange", id="o3", item="p3", instead="p1")],
            ["orders", "products"],
        ),
    ],
)
def test_the_data_base_that_the_calls_leave(made, tables):
    judged = TauSuccess(SHOP).judge_now(run(*made, says("done"), **CANCEL)).outcome
    assert judged.details["failed"] == [f"table {name} differs" for name in tables]
    assert judged.numbers == {"success": int(not tables), "outputs": "n/a", "database": int(not tables)}


def test_the_reward_takes_the_outputs_too_and_stands_beside_the_stored_one():
    told = TauSuccess(SHOP).judge_now(
        run(says("It was 9.5."), gold_actions=[], gold_outputs=["9.5"], reward=0.0)
    )
    assert told.outcome.numbers == {"success": 1, "outputs": 1, "database": 1}
    assert told.outcome.details["reward"] == {"stored": 0.0, "recomputed": 1}
    untold = TauSuccess(SHOP).judge_now(run(says("It was."), gold_actions=[], gold_outputs=["9.5"]))
    assert untold.outcome.numbers["success"] == 0
    assert untold.outcome.details["failed"] == ["an output is in no reply"]
    assert untold.outcome.issues == ("required output '9.5' is in no reply",)


def test_the_stored_reward_counts_without_an_environment():
    judged = TauSuccess().judge_now(run(says("10"), gold_outputs=["10"], reward=0.0)).outcome
    assert judged.numbers == {"success": 0, "outputs": 1, "database": "n/a"}
    assert judged.details["failed"] == ["the data base differs, or not finished (by the stored reward)"]
    assert TauSuccess().judge_now(run(says("10"))).outcome.numbers["success"] == "n/a"


@pytest.mark.parametrize(
    ("messages", "finished"),
    [
        ([says("bye")], True),
        ([says("bye"), Message("user", "###STOP###")], True),
        ([says("which?"), Message("user", "the blue one")], False),
        ([calls("order"), Message("tool", "{}", tool_call_id="order")], False),
        ([calls("transfer"), Message("tool", "{}", tool_call_id="transfer")], True),
    ],
)
def test_a_dialogue_that_did_not_end_is_no_success(messages, finished):
    assert is_finished(run(*messages), frozenset({"transfer"})) is finished
    judged = TauSuccess(SHOP).judge_now(run(*messages, gold_actions=[])).outcome
    assert ("not finished" in judged.details["failed"]) == (judged.numbers["success"] == 0)


@pytest.mark.parametrize(
    ("reward", "success"), [(1, 1), (1.0, 1), (0.99, 0), (0.5, 0), (0, 0), ("up", "n/a")]
)
def test_a_success_is_a_reward_of_1(reward, success):
    judged = TauSuccess().judge_now(run(says("10"), reward=reward)).outcome
    assert judged.numbers["success"] == success


@pytest.mark.parametrize("reward", [7, -1, 1.01, float("nan")])
def test_a_reward_outside_0_to_1_is_refused_with_its_place(reward):
    with pytest.raises(RecordFault, match=rf"the reward is {reward:g}, and a reward lies from 0 to 1"):
        TauSuccess().expect(run(says("10"), reward=reward))


def test_the_results_of_tau_bench_itself():
    info = {"task": {"outputs": ["3"], "actions": [{"name": "cancel", "kwargs": {"id": "o1"}}]}}
    task = task_of(run(info=info, reward=1))
    assert (task.outputs, task.actions, task.reward) == (("3",), (("cancel", {"id": "o1"}),), 1.0)


@pytest.mark.parametrize(
    "metadata", [{"gold_outputs": "10"}, {"gold_actions": ["cancel"]}, {"gold_actions": [{"name": 1}]}]
)
def test_a_task_of_another_form_is_a_fault_with_its_place(metadata):
    broken = Conversation("t", (Message("user", "hi"),), metadata=metadata, place=Place("runs.jsonl", 7))
    with pytest.raises(RecordFault, match=r"runs\.jsonl:7: the (outputs|actions) of the task are no list"):
        task_of(broken)


def test_another_number_passes_the_check_of_outputs_and_is_shown():
    """Figure 2 of TD-Eval: ten T-shirts are asked for, twelve are said, and a list of them has a tenth."""
    listed = "\n".join(f"{n}. shirt {n + 40}" for n in range(1, 13))
    judged = TauSuccess().judge_now(run(says(f"We have 12 T-shirts:\n{listed}"), gold_outputs=["10"])).outcome
    assert judged.numbers["outputs"] == 1
    assert judged.details["outputs"] == [{"output": "10", "turn": 1, "within": True}]
    assert "10. shirt 50" in judged.evidence[0].quote
