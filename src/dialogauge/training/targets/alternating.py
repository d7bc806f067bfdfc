"""Dialogues as ShareGPT writes them: what a person or a tool says and what the model says, by turns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from dialogauge.text import has_chinese
from dialogauge.training.targets.shards import Row

_STUB: Final[Mapping[bool, str]] = {False: "(The conversation begins.)", True: "（对话开始。）"}
"""What a human says before a greeting, in English and in Chinese: the form begins with a human."""
_SIDES: Final = (("human", "observation"), ("gpt", "function_call"))

Turns = list[dict[str, str]]


def dialogue(row: Row) -> dict[str, Any] | str:
    """Return an SFT row as `conversations`, `system` and `tools`, or why it has no place in that form.

    Every turn of `gpt` and `function_call` is one of the character's, the greeting too. What a person says
    last is left away: nothing answers it.
    """
    turns = _turns(row["messages"])
    if isinstance(turns, str):
        return turns
    system, conversations = turns
    if len(conversations) % 2:
        conversations.pop()
    if not conversations:
        return "nobody answers in it"
    return {"conversations": conversations, "system": system, "tools": _tools(row)}


def reply_pair(row: Row) -> dict[str, Any] | str:
    """Return a pair of replies as `conversations`, `chosen`, `rejected`, `system` and `tools`, or why not."""
    turns = _turns(row["prompt"])
    if isinstance(turns, str):
        return turns
    system, conversations = turns
    if len(conversations) % 2 == 0:
        return "the messages before the reply end with a reply"
    sides = {side: _turn(row[side][0]) for side in ("chosen", "rejected")}
    return {"conversations": conversations, **sides, "system": system, "tools": _tools(row)}


def _turns(messages: Sequence[Mapping[str, Any]]) -> tuple[str, Turns] | str:
    """Return the system message and the turns, person first; or why they do not alternate."""
    system = ""
    if messages and messages[0]["role"] in ("system", "developer"):
        system, messages = messages[0]["content"], messages[1:]
    turns: Turns = []
    for message in messages:
        if message["role"] in ("system", "developer"):
            return "a second system message"
        if message.get("tool_calls") and message.get("content"):
            return "a reply with words and a tool call in one: the form has a place for one of them"
        turns.append(_turn(message))
    if turns and turns[0]["from"] in _SIDES[1]:
        stub = _STUB[has_chinese(turns[0]["value"])]
        turns.insert(0, {"from": "human", "value": stub})
    if any(turn["from"] not in _SIDES[number % 2] for number, turn in enumerate(turns)):
        return "two messages of one side in a row: the form wants them by turns"
    return system, turns


def _turn(message: Mapping[str, Any]) -> dict[str, str]:
    if calls := message.get("tool_calls"):
        called = [
            {"name": call["function"]["name"], "arguments": call["function"]["arguments"]} for call in calls
        ]
        text = json.dumps(called if len(called) > 1 else called[0], ensure_ascii=False)
        return {"from": "function_call", "value": text}
    speaker = {"user": "human", "assistant": "gpt", "tool": "observation"}[message["role"]]
    return {"from": speaker, "value": message["content"] or ""}


def _tools(row: Row) -> str:
    return json.dumps(list(row["tools"]), ensure_ascii=False) if row.get("tools") else ""
