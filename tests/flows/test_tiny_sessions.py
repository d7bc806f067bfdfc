"""Sessions with real language models in all roles, behind real OpenAI-compatible servers, trained here.

A scripted teacher first plays all roles; each model then learns the requests and replies of its role.
"""

from __future__ import annotations

import json
import random
import re

import pytest

from flows.conftest import rows_of
from servers.tiny_model import taught_models
from servers.verdicts import ideal

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("torch"), pytest.mark.long]

PLACES = ("an inn", "a mill", "a ferry", "a forge", "a lighthouse", "an orchard")
LIVELY = {
    "Is there a bed for tonight?": "Yours is by the stove, and the cat sleeps there too.",
    "Who lives on the hill?": "My aunt. She sat by the stove the day the bridge fell.",
    "What happened to the boat?": "I sold it in May. Half of it burns by the stove.",
    "I am cold.": "Sit by the stove and take this coat; it was my father's.",
}
LIVES = "by the stove"
DULL = "No idea"
STEPS = {"player": 90, "dull": 40, "sim": 90, "judge": 180}


def teacher(rng):
    """Return what plays each role by rules."""

    def reply(body):
        last = body["messages"][-1]["content"]
        match body["model"]:
            case "player":
                return LIVELY.get(last, "Come in; it is warm by the stove.")
            case "dull":
                return DULL
            case "sim" if len(body["messages"]) == 1:
                place = re.search(r"keeps (\w+ \w+)", last)
                return f"I am a guest who has walked all day, and I want to see {place[1]}."
            case "sim":
                return rng.choice(tuple(LIVELY))
            case "judge" if "<dialogue>" not in last:
                return ideal(body)  # a probe
            case _:
                return json.dumps(judged(body))

    return reply


def judged(body):
    """Return a fault where the first reply is dull, and a merit where it is not, with words of it."""
    schema = body["response_format"]["json_schema"]["schema"]["properties"]
    (name,) = (key for key in schema if key.endswith("_criteria"))
    criteria = schema[name]["items"]["properties"]["criterion"]["enum"]
    lines = [json.loads(line) for line in body["messages"][-1]["content"].split("<dialogue>")[1].splitlines()
             if line.startswith("{")]  # fmt: skip
    replies = [(m["turn"], m["text"]) for m in lines if m["role"] == "assistant"]
    dull = sum(text == DULL for _, text in replies)
    turn, first = replies[0]
    shown = {"criterion": criteria[0], "turns": [turn], "quote": DULL}
    if first != DULL:
        shown.update(criterion=criteria[4], quote=LIVES)
    whole = {"note": "Seen", "score": 2 if dull > len(replies) / 2 else 4}
    (holistic,) = schema["conversation_level"]["properties"]
    return {name: [shown], "conversation_level": {holistic: whole}}


def scenarios_of(places, start=1):
    return [
        {"id": f"s{n}", "name": f"Keeper {n}", "text": f"Keeper {n} keeps {place}. The user is a guest."}
        for n, place in enumerate(places, start)
    ]


@pytest.fixture
def urls(dialogauge, log, tmp_path_factory):
    """A server for each role, with a model that was trained on what the teacher was asked and said."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    lessons = log(*scenarios_of(PLACES * 2), name="lessons.jsonl")

    def lesson(urls):
        played(dialogauge, lessons, urls)

    with taught_models(tmp_path_factory.mktemp("roles"), STEPS, teacher(random.Random(5)), lesson) as urls:
        yield urls


def played(dialogauge, scenarios, urls, out="lessons"):
    """Play sessions of both candidates and judge them; return the last command."""
    done = dialogauge(
        *("simulate", scenarios, "--turns", 3, "-o", out, "--no-cache"),
        *(w for name in ("player", "dull") for w in ("--candidate", f"{name}={name}@{urls[name]}")),
        *("--role", f"simulator=sim@{urls['sim']}"),
    )
    assert done.code == 0, done.err
    assert "could not be written by the model" not in done.err  # each user persona is the model's own
    words = ("--rubric", "roleplay", "--model", "judge", "--base-url", urls["judge"], "--no-cache")
    return dialogauge("judge", out, *words, "--unchecked", "--max-failed", 0.2, "-o", f"{out}-judged")


def test_all_roles_are_models_over_http(dialogauge, urls, log, tmp_path):
    scenarios = log(*scenarios_of(("a bakery", "a forge", "a tavern"), 50), name="new.jsonl")
    done = played(dialogauge, scenarios, urls, "new")
    assert done.code == 0, done.out + done.err
    sessions = rows_of(tmp_path / "new")
    assert [row["details"]["ended"] for row in sessions] == ["turns"] * 6
    rows = rows_of(tmp_path / "new-judged")
    scores = {
        name: [r["scores"]["session"] for r in rows if r["candidate"] == name and r["scores"]]
        for name in ("player", "dull")
    }
    assert all(len(values) >= 2 for values in scores.values()), rows
    assert sum(len(row["evidence"]) for row in rows) >= 6
    mean = {name: sum(values) / len(values) for name, values in scores.items()}
    assert mean["player"] > 3 > mean["dull"]
