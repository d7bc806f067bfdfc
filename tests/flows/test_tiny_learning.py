"""A system that learns from users, with real language models in all roles behind real servers, trained here.

A scripted teacher first plays all roles; each model then learns the requests and replies of its role.
"""

from __future__ import annotations

import json

import pytest

from flows.conftest import rows_of
from servers.tiny_model import taught_models
from servers.verdicts import ideal

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("torch"), pytest.mark.long]

THINGS = ("parcel", "crate", "letter", "sack", "barrel", "basket")
RULE = "No, we use the blue door here."
RIGHT = "At the blue door."
WRONG = "Leave it by the till."
STEPS = {"answerer": 80, "sim": 80, "judge": 80}


def task(number):
    q = f"Where does {THINGS[number % 6]} {number} go?"
    return {"id": f"t{number}", "dataset": "desk", "q": q, "v": {"answer": "at the blue door"}}


def last_reply(text):
    """Return what the assistant said last in the dialogue of a prompt."""
    lines = text.split("<dialogue>")[1].split("</dialogue>")[0].splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")][-1]["text"]


def teacher(body):
    """Play each role by rules."""
    messages = body["messages"]
    last = messages[-1]["content"]
    match body["model"]:
        case "answerer":
            knows = any(RULE in m["content"] or RIGHT in m["content"] for m in messages)
            return RIGHT if knows else WRONG
        case _ if "<dialogue>" not in last:
            return ideal(body)  # a probe
        case "sim":
            right = last_reply(last) == RIGHT
            said = {"behaviour": "end" if right else "continue", "response": None if right else RULE}
            return json.dumps({"reasoning": "By the rule.", **said})
        case _:
            score = 9 if last_reply(last) == RIGHT else 3
            return json.dumps({"note": "Seen", "scores": {"satisfaction": score}})


def learnt(dialogauge, tasks, urls, out):
    """Let a memory learn on-policy in two steps."""
    done = dialogauge(
        *("learn", "run", "--tasks", tasks, "--system", "bm25-session", "--no-controls", "--k", 2),
        *("--protocol", "on-policy", "--steps", 2, "--batch", 4, "--rounds", 2, "--no-cache"),
        *(w for role, name in ROLES.items() for w in ("--role", f"{role}={name}@{urls[name]}")),
        *("-o", out, "--json"),
    )
    assert done.code == 0, done.err


ROLES = {"answerer": "answerer", "simulator": "sim", "judge": "judge"}


@pytest.fixture
def urls(dialogauge, log, tmp_path_factory):
    """A server for each role, with a model that was trained on what the teacher was asked and said."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    lessons = log(*map(task, range(30)), name="lessons.jsonl")

    def lesson(urls):
        learnt(dialogauge, lessons, urls, "lessons")

    with taught_models(tmp_path_factory.mktemp("roles"), STEPS, teacher, lesson) as urls:
        yield urls


def test_a_memory_learns_from_users_who_are_models_too(dialogauge, urls, log, tmp_path):
    tasks = log(*map(task, range(100, 115)), name="new.jsonl")
    learnt(dialogauge, tasks, urls, "new")
    rows = rows_of(tmp_path / "new")
    led = [row for row in rows if "taught" in row["details"]]
    assert [row["failure"] for row in led] == [None] * 8
    # Nobody knows the rule before the first step: a user says it then, and likes what follows.
    first = [row["details"] for row in led if row["details"]["step"] == 1]
    assert sum(row["scores"][0] <= 4 for row in first) >= 3
    scores = {
        step: [r["details"]["score"] for r in rows if r not in led and r["details"]["step"] == step]
        for step in (0, 2)
    }
    assert sum(scores[0]) / 3 < 0.3 < 0.6 < sum(scores[2]) / 3
