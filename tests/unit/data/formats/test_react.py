"""Agents that write their steps as text: thought, action, observation."""

import json
import re
from itertools import count, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import RecordFault
from dialogauge.data import memory_conversations, read_conversations


def read(folder, *messages, strict=False, **more):
    path = folder / "log.jsonl"
    path.write_text(json.dumps({"id": "c", "messages": messages, **more}) + "\n")
    reader = read_conversations([str(path)], strict=strict)
    (conversation,) = reader
    return conversation, {n.text.split(":")[0]: n.count for n in reader.notes}


def user(text):
    return {"role": "user", "content": text}


def agent(text, **more):
    return {"role": "assistant", "content": text, **more}


def short(conversation):
    """Every message in short: calls as `name(arguments)`, results as `= text`."""
    return [
        f"= {m.text}"
        if m.role == "tool"
        else " ".join(f"{c.name}({c.arguments})" for c in m.tool_calls) or f"{m.role}: {m.text}"
        for m in conversation.messages
    ]


SCRATCHPAD = """Thought: I have to look.
Action: find_hotel
Action Input: {"area": "north"}
Observation: 2 hotels
Thought: And the prices.
Action: prices
Action Input: alpha, beta
Observation:
alpha 60
beta 80
Thought: That will do.
Final Answer: Alpha costs 60.

Shall I book it?"""

WANTED = [
    "user: A hotel in the north?",
    'find_hotel({"area": "north"})',
    "= 2 hotels",
    "prices(alpha, beta)",
    "= alpha 60\nbeta 80",
    "assistant: Alpha costs 60.\n\nShall I book it?",
]


def test_a_whole_scratchpad_in_one_message(tmp_path):
    conversation, notes = read(tmp_path, user("A hotel in the north?"), agent(SCRATCHPAD, rating=4))
    assert short(conversation) == WANTED
    (turn,) = conversation.turns
    assert [(s.call.name, s.result.text) for s in turn.tool_steps] == [
        ("find_hotel", "2 hotels"),
        ("prices", "alpha 60\nbeta 80"),
    ]
    assert [m.extra.get("reasoning") for m in turn.messages] == [
        *(None, "I have to look.", None, "And the prices.", None, "That will do.")
    ]
    assert [(r.turn, r.score) for r in conversation.ratings] == [(1, 4)]
    assert notes["conversations have steps as text (Thought, Action)"] == 1
    assert notes["calls have arguments that are no JSON object"] == 1


@pytest.mark.parametrize("role", ["user", "tool", "system"])
def test_observations_in_messages_of_their_own_are_no_turns(tmp_path, role):
    first, _, rest = SCRATCHPAD.partition("\nObservation: 2 hotels\n")
    second, _, after = rest.partition("\nObservation:\n")
    observed, _, answer = after.partition("\nThought")
    conversation, _ = read(
        tmp_path,
        user("A hotel in the north?"),
        agent(first),
        {"role": role, "content": "Observation: 2 hotels\nThought:"},
        agent(second.removeprefix("Thought: ")),  # as models go on that were given the word
        {"role": role, "content": f"Observation: {observed}"},
        agent("Thought" + answer),
        user("Yes."),
        agent("Thought: Nothing to do.\nFinal Answer: Done.", rating=2),
    )
    assert short(conversation) == [*WANTED, "user: Yes.", "assistant: Done."]
    assert len(conversation.turns) == 2
    assert all(s.call and s.result for t in conversation.turns for s in t.tool_steps)
    assert [(r.turn, r.score) for r in conversation.ratings] == [(2, 2)]


def act(name, **arguments):
    return f"Thought:\nNext.\nAction:\n{json.dumps({'name': name, 'arguments': arguments})}"


def test_actions_as_json_as_in_tau_bench(tmp_path):
    conversation, notes = read(
        tmp_path,
        {"role": "system", "content": "Observation: is a word of ours."},
        user("Cancel order 1."),
        agent(act("get_order", id=1)),
        user('API output: {"status": "open"}'),
        agent(act("get_order", id=1)),
        user("API output: "),
        agent(act("respond", content="Shall I?")),
        user("Observation: you are slow."),
        agent(act("cancel", id=1)),
        user("API output: ok"),
        agent(act("respond", content="Done.")),
        task_id=1,
        reward=1.0,
        domain="shop",
        agent="a",
    )
    assert short(conversation)[1:] == [
        "user: Cancel order 1.",
        'get_order({"id":1})',
        '= {"status": "open"}',
        'get_order({"id":1})',
        "= ",
        "assistant: Shall I?",
        "user: Observation: you are slow.",
        'cancel({"id":1})',
        "= ok",
        "assistant: Done.",
    ]
    assert conversation.candidate == "a"
    first = conversation.turns[0].tool_steps
    assert [step.result.text for step in first] == ['{"status": "open"}', ""]
    assert not [note for note in notes if note.startswith(("calls", "results"))]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('Action: ```json\n{"action": "find", "action_input": "x"}\n```', "find(x)"),
        ('Action: {"action": "Final Answer", "action_input": "Yes."}', "assistant: Yes."),
        ("Thought 1: hm\nAction 1: Search[river Wye]", "Search(river Wye)"),
        ("Thought 2: ah\nAction 2: Finish[In Wales.]", "assistant: In Wales."),
        ('**Thought:** hm\n**Action:** `find`\n**Action Input:** {"a": 1}', 'find({"a": 1})'),
        ("Thought: hm\nAction: list_all", "list_all()"),
        ('Thought： 好\nAction： find\nAction Input： {"a": 1}', 'find({"a": 1})'),
        ('Thought: hm\nAPI Name: QueryHotels\nAPI Input: {"a": 1}', 'QueryHotels({"a": 1})'),
        ("Thought: no tool\nResponse: Hello.", "assistant: Hello."),
    ],
)
def test_forms_of_a_step(tmp_path, text, wanted):
    conversation, _ = read(tmp_path, user("?"), agent(text))
    assert short(conversation)[1:] == [wanted]


def test_in_records_of_sharegpt(tmp_path):
    path = tmp_path / "log.jsonl"
    said = [
        {"from": "human", "value": "A hotel in the north?"},
        {"from": "gpt", "value": SCRATCHPAD, "rating": 4},
    ]
    path.write_text(json.dumps({"id": "c", "conversations": said}) + "\n")
    (conversation,) = read_conversations([str(path)])
    assert short(conversation) == WANTED
    assert [(r.turn, r.score) for r in conversation.ratings] == [(1, 4)]


UNREAD = 'Thought: I cancel it.\nAction: {"name": "cancel", "arguments": {"id": 1'


def test_a_step_that_cannot_be_read_is_kept_and_counted(tmp_path):
    messages = (user("Cancel."), agent(act("look")), user("API output: ok"), agent(UNREAD))
    conversation, notes = read(tmp_path, *messages, user("API output: invalid"), agent("Sorry."))
    assert short(conversation)[1:] == [
        "look({})",
        "= ok",
        f"assistant: {UNREAD}",
        "= invalid",
        "assistant: Sorry.",
    ]
    assert [bool(m.extra.get("parse_failed")) for m in conversation.messages] == [False] * 3 + [
        True,
        False,
        False,
    ]
    assert notes["steps as text have no action that can be read"] == 1
    assert notes["results have no call before in their turn"] == 1
    with pytest.raises(
        RecordFault, match=r"log\.jsonl:1: strict reading refuses.*no action that can be read"
    ):
        read(tmp_path, *messages, strict=True)


def test_what_was_read_before_an_unread_step_counts(tmp_path):
    text = "Thought: a\nAction: find\nAction Input: x\nObservation: y\nThought: b\nAction: do this and that"
    conversation, _ = read(tmp_path, user("?"), agent(text))
    assert short(conversation)[1:] == ["find(x)", "= y", "assistant: Thought: b\nAction: do this and that"]


@pytest.mark.parametrize(
    "text",
    [
        "Minutes of the meeting.\nAction: John",
        "Action: John will call the client.\nAction: Mary writes.",
        "An agent writes like this:\nThought: I must look\nAction: find\nAction Input: x\nTry it!",
        "Thought: what a day.",
        "My final thought: Action!",
    ],
)
def test_prose_stays_as_it_is(tmp_path, text):
    conversation, notes = read(tmp_path, user("?"), agent(text), user("Thanks!"), agent("Observation: none"))
    assert short(conversation)[1:] == [f"assistant: {text}", "user: Thanks!", "assistant: Observation: none"]
    assert not [note for note in notes if "steps" in note]


MARKS = (
    "Thought:",
    "Action:",
    "Action Input:",
    "Observation:",
    "Final Answer:",
    "**Thought:**",
    "Action 2:",
    "",
)


@given(st.lists(st.lists(st.sampled_from(MARKS), max_size=6), min_size=1, max_size=5), st.randoms())
def test_no_word_is_lost_whatever_the_order_of_the_marks(texts, rng):
    words = (f"w{n}x" for n in count())
    said, messages = [], [user("?")]
    for marks in texts:
        lines = [f"{mark} {' '.join(islice(words, rng.randint(1, 2)))}" for mark in marks] or ["plain"]
        said += [word for line in lines for word in re.findall(r"w\d+x", line)]
        messages.append(agent("\n".join(lines)))
        if rng.random() < 0.5:
            messages.append(user(f"Observation: {next(words)}"))
    reader = memory_conversations([{"id": "c", "messages": messages}])
    (conversation,) = reader
    kept = repr([(m.content, m.tool_calls, m.extra) for m in conversation.messages])
    assert all(word in kept for word in said)
