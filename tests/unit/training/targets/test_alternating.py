"""Dialogues and pairs as ShareGPT writes them: by turns, person first."""

from __future__ import annotations

import json

from dialogauge.training.targets.alternating import dialogue, reply_pair

SYSTEM = {"role": "system", "content": "You keep the lighthouse."}
CALL = {"id": "c1", "type": "function", "function": {"name": "tide", "arguments": {"day": "五月"}}}


def user(text):
    return {"role": "user", "content": text}


def says(text):
    return {"role": "assistant", "content": text}


def sides(row):
    return [(turn["from"], turn["value"]) for turn in row["conversations"]]


def test_a_dialogue_keeps_who_said_what():
    row = dialogue({"messages": [SYSTEM, user("Cold?"), says("Windy."), user("And?"), says("Dark.")]})
    assert row["system"] == "You keep the lighthouse."
    assert row["tools"] == ""
    assert sides(row) == [("human", "Cold?"), ("gpt", "Windy."), ("human", "And?"), ("gpt", "Dark.")]


def test_a_greeting_stands_behind_a_person_and_stays_the_characters():
    english = dialogue({"messages": [SYSTEM, says("A boat!"), user("Hello."), says("Come in.")]})
    chinese = dialogue({"messages": [says("你来了。"), user("来了。"), says("坐。")]})
    assert sides(english)[:2] == [("human", "(The conversation begins.)"), ("gpt", "A boat!")]
    assert sides(chinese)[:2] == [("human", "（对话开始。）"), ("gpt", "你来了。")]
    for row in (english, chinese):
        assert [side for side, _ in sides(row)] == ["human", "gpt", "human", "gpt"]


def test_what_nobody_answers_is_left_away():
    row = dialogue({"messages": [user("Cold?"), says("Windy."), user("And?")]})
    assert sides(row) == [("human", "Cold?"), ("gpt", "Windy.")]
    assert dialogue({"messages": [SYSTEM, user("Cold?")]}) == "nobody answers in it"


def test_calls_of_tools_are_turns_of_their_own():
    talk = [
        user("When?"),
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "content": "nine"},
        says("At nine."),
    ]
    row = dialogue({"messages": talk, "tools": [{"type": "function", "function": {"name": "tide"}}]})
    call = '{"name": "tide", "arguments": {"day": "五月"}}'
    assert sides(row)[1:] == [("function_call", call), ("observation", "nine"), ("gpt", "At nine.")]
    assert json.loads(row["tools"])[0]["function"]["name"] == "tide"
    two = {"role": "assistant", "content": "", "tool_calls": [CALL, CALL]}
    both = dialogue({"messages": [user("When?"), two]})
    assert [one["name"] for one in json.loads(sides(both)[1][1])] == ["tide", "tide"]


def test_what_does_not_go_by_turns_has_no_place():
    call = {"role": "assistant", "content": "Let me see.", "tool_calls": [CALL]}
    results = [{"role": "tool", "content": "nine"}] * 2
    assert "two messages of one side" in dialogue({"messages": [user("a"), user("b"), says("c")]})
    assert "words and a tool call" in dialogue({"messages": [user("a"), call]})
    assert "two messages of one side" in dialogue(
        {"messages": [user("a"), {**call, "content": None}, *results, says("b")]}
    )
    assert "second system" in dialogue({"messages": [SYSTEM, user("a"), SYSTEM, says("b")]})


def test_a_pair_has_a_reply_on_each_side():
    row = {
        "prompt": [SYSTEM, says("A boat!"), user("Hello.")],
        "chosen": [says("好。")],
        "rejected": [says("No.")],
    }
    pair = reply_pair(row)
    assert [side for side, _ in sides(pair)] == ["human", "gpt", "human"]
    assert (pair["chosen"], pair["rejected"]) == (
        {"from": "gpt", "value": "好。"},
        {"from": "gpt", "value": "No."},
    )
    assert reply_pair({**row, "prompt": [SYSTEM]}) == "the messages before the reply end with a reply"
