"""A judge with a model in the replay benchmark: every candidate is judged alike, whenever it comes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rated import rated_users
from servers.contented import contented, shown_to
from talks import conversation_record


@pytest.fixture
def items(dialogauge, log):
    talks = [replace(t, context=f"what {t.id} is for") for t in rated_users(4)]
    log(*(conversation_record(t) for t in talks), name="data.jsonl")
    done = dialogauge("replay", "select", "data.jsonl", "--split", "all", "--rule", "all", "-o", "items.json")
    assert done.code == 0, done.err
    return json.loads(Path("items.json").read_text())["items"]


def collect(dialogauge, name, items, text):
    told = "".join(json.dumps({"item": i["id"], "reply": f"{text} {i['id']}"}) + "\n" for i in items)
    Path(f"{name}.jsonl").write_text(told)
    dialogauge("replay", "collect", "items.json", "--candidate", f"replies:{name}.jsonl", "-o", "run")


def score(dialogauge, judge, server, *more):
    model = ("--model", "tiny", "--base-url", server.url, "--no-cache")
    return dialogauge("replay", "score", "run", "--judge", judge, *model, *more)


@pytest.mark.long
@pytest.mark.parametrize("judge", ["memory", "rag"])
def test_a_candidate_that_comes_later_is_judged_as_the_first(dialogauge, items, serve, judge) -> None:
    """The first two answer only the last turn of each block; the second and the third come a run later."""
    last = {i["block"]: i for i in items}
    server = serve(contented(4))
    collect(dialogauge, "few", last.values(), "I would say")
    assert score(dialogauge, judge, server).code == 0
    built = sum("satisfaction" not in json.dumps(b.get("response_format", {})) for b in server.asked)
    collect(dialogauge, "again", last.values(), "I would say")
    collect(dialogauge, "all", items, "I would say")
    before = len(server.asked)
    done = score(dialogauge, judge, server)
    assert done.code == 0, done.err
    asked = server.asked[before:]
    assert len(asked) == len(items) + len(last)
    assert built == (12 if judge == "memory" else 0)
    # what is asked about the same words is the same, whoever said them, and whenever
    prompts = [[shown_to(b) for b in server.asked if f"I would say {i['id']}" in shown_to(b)] for i in items]
    assert {len(p) for p in prompts} == {1, 3}
    assert all(len(set(p)) == 1 for p in prompts)


@pytest.mark.long
def test_retrying_asks_again_for_nothing_that_stands(dialogauge, items, serve) -> None:
    collect(dialogauge, "r", items, "I would say")
    bad = f"I would say {items[3]['id']}"
    server = serve(lambda b: "no" if bad in shown_to(b) else contented(4)(b))
    assert "59 replies scored, 1 failed" in score(dialogauge, "zero-shot", server).out
    server.reply = contented(2)
    before = len(server.asked)
    assert score(dialogauge, "zero-shot", server, "--retry-failed").code == 0
    assert len(server.asked) == before + 1
    found = dialogauge("replay", "compare", "run", "--json").json
    counts = found["views"]["raw"]["candidates"]["r"]["counts"]
    assert counts == {"1": 0, "2": 1, "3": 0, "4": len(items) - 1, "5": 0}
