"""The lookahead search by the command: over HTTP, gone on with, failing, and read by other commands."""

from __future__ import annotations

import json
import re

from flows.conftest import rows_of
from servers.schemas import instance

INN = {
    "id": "inn",
    "name": "Rosa",
    "text": "Rosa keeps an inn by the harbour. The user is her brother.",
    "greeting": "You are late.",
    "user": {"persona": "I am her brother, and I was at sea.", "opening": "I am back."},
}
MILL = {"id": "mill", "name": "Jon", "text": "Jon grinds corn and talks to his geese."}
PERSONA = "I am a guest at the mill who has walked all day, and I like geese."


def world(body):
    """Play every role: the candidate `lamp` names a lantern in every reply, for which the judge adds 1."""
    messages, model = body["messages"], body["model"]
    if model == "sim":
        return PERSONA if len(messages) == 1 else f"And then? {len(messages)} {body['seed']}"
    if model != "judge":
        return f"A lantern, {len(messages)}." if model == "lamp" else f"Well, {len(messages)}. {model}"
    value = instance(body["response_format"]["json_schema"]["schema"])
    new = messages[-1]["content"].partition("</history>")[2]
    turns = [int(n) for n in re.findall(r'"turn": ?(\d+)[^\n]*lantern', new)]
    for name in value:
        if name.endswith("_criteria"):
            value[name] = []
            if turns and name.startswith("interactive"):
                merits = ("own_initiative", "hook_taken_up")
                value[name] = [{"criterion": c, "turns": turns[:1], "quote": "lantern"} for c in merits]
    for of in value.get("conversation_level", {}).values():
        of.update(note="As it went.", score=3)
    return json.dumps(value)


def search(dialogauge, url, scenarios, *words, pool=("lamp", "dark"), out="run"):
    roles = ("--role", f"simulator=sim@{url}", "--role", f"judge=judge@{url}")
    candidates = [word for name in pool for word in ("--candidate", f"{name}={name}@{url}")]
    shape = ("--segment-turns", 2, "--segments", 3, "-o", out)
    return dialogauge("lookahead", scenarios, *candidates, *roles, *shape, *words)


def test_the_best_segment_of_each_step_is_committed(dialogauge, serve, log, tmp_path):
    stub = serve(world)
    done = search(dialogauge, stub.url, log(INN, MILL, name="scenarios.jsonl"))
    assert done.code == 0, done.err
    print(done.out)
    # 1 persona; 2 scenarios x 3 steps x 2 candidates: 2 turns of both sides, and 4 dimensions. The first
    # message of the inn's user is fixed, and asked of nobody: 2 candidates once.
    assert len(stub.asked) == 1 + 2 * 3 * 2 * (2 * 2 + 4) - 2
    rows = rows_of(tmp_path / "run")
    print(json.dumps(rows[0])[:3000])
