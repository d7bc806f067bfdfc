"""The replay benchmark over HTTP, with a real language model as candidate and as judge, trained here."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path

import pytest

from dialogauge.core import Conversation, Message, Rating
from dialogauge.core.protocols import request_for
from dialogauge.judges.personal.judge import PersonalRubricJudge
from dialogauge.llm import ScriptedClient
from dialogauge.rubrics import load_personal
from dialogauge.studies.satisfaction.blocks import study_data
from servers.contented import contented
from servers.tiny_model import build_tiny_model, serve_model
from talks import conversation_record

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("torch")]

ASKS = ("Can you book a table?", "My parcel has not come.", "How do I reset the router?")
GOOD = ("Yes, it is done.", "I looked it up for you.")
BAD = ("I do not know.", "What was the question?")


def talks(users):
    rng = random.Random(7)
    return [
        _talk(rng, f"user{u}", scenario, n)
        for u in range(users)
        for scenario in ("cook", "trip")
        for n in range(2)
    ]


def _talk(rng, user, scenario, number):
    name = f"{user}__{scenario}__{number}"
    messages, ratings = [], []
    for turn in (1, 2):
        fine = rng.random() < 0.5
        messages.append(Message("user", rng.choice(ASKS)))
        messages.append(Message("assistant", rng.choice(GOOD if fine else BAD)))
        ratings.append(Rating(name, "satisfaction", 5 if fine else 2, turn, user))
    return Conversation(name, tuple(messages), user_id=user, scenario=scenario, ratings=tuple(ratings))


def examples():
    """What the model learns: to answer the conversations well, and to tell good replies from bad ones."""
    held = talks(10)
    found = []

    def judged(request):
        body = {"response_format": {"json_schema": {"schema": dict(request.schema.schema)}}}
        # The reply stands last of all that is shown.
        text = request.messages[-1]["content"]
        last = max(GOOD + BAD, key=text.rfind)
        told = contented(5 if last in GOOD else 2)(body)
        found.append(([dict(m) for m in request.messages], told))
        return told

    judge = PersonalRubricJudge(
        "zero-shot",
        load_personal("zero_shot"),
        ScriptedClient(judged),
        language="en",
    )

    async def run():
        study = study_data(held, part="all")
        for block in study.blocks:
            for reply in block.view.targets:
                await judge.judge(request_for((reply,), block.view, study.population))

    asyncio.run(run())
    for talk in held:
        for at, message in enumerate(talk.messages):
            if message.role == "assistant":
                found.append(([m.to_openai() for m in talk.messages[:at]], "Yes, it is done."))
    return found


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("replay-model")
    with serve_model(build_tiny_model(folder / "model", examples(), steps=260, reads_system=False)) as server:
        yield server


@pytest.mark.long
def test_candidate_and_judge_over_http(dialogauge, server, log) -> None:
    data = log(*(conversation_record(t) for t in talks(4)), name="data.jsonl")
    here = ("--split", "all", "--rule", "all", "-o", "run")
    candidate = ("--candidate", f"tiny=tiny@{server.url}")
    judge = ("--judge", "zero-shot", "--model", "tiny", "--base-url", server.url, "--lang", "en")
    done = dialogauge("replay", "run", data, *here, *candidate, *judge)
    assert done.code in (0, 3), done.out + done.err
    found = json.loads(Path("run/summary.json").read_text())
    raw = found["views"]["raw"]["candidates"]
    assert raw["tiny"]["requested"] == 32
    assert raw["tiny"]["n"] >= 29
    assert raw["original"]["n"] >= 29
    # it answers as it learnt to, and has learnt to like that
    assert raw["tiny"]["user_macro"] > raw["original"]["user_macro"]
    assert found["usage"]["completion_tokens"] > 500
