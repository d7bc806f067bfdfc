"""What `--dry-run` says beforehand, held against what the same command then asks over HTTP."""

from __future__ import annotations

import json
from itertools import count

import pytest

from rated import rated_users
from servers.contented import contented
from sets import some_short
from talks import conversation_record

PRICES = """
[[model]]
name = "m"
input_per_million = 3
output_per_million = 20
[[model]]
name = "builder"
input_per_million = 1
output_per_million = 5
"""
REPLY = 500
"""Tokens of a usual reply."""


@pytest.fixture
def data(log):
    return log(*(conversation_record(c) for c in rated_users(4)), name="data.jsonl")


@pytest.fixture
def prices(tmp_path):
    (tmp_path / "prices.toml").write_text(PRICES)
    return "--prices", "prices.toml"


def talkative():
    """Return a judge that also writes memories and criteria: other sentences each time, lists full."""
    numbers, judge = count(), contented()

    def sentence() -> str:
        wants = "short answers, each figure with where it is from, and one question at most"
        return f"{next(numbers)}: the user wants {wants}."

    def value(schema, sentences=2):
        if schema["type"] == "object":
            return {key: value(one, sentences) for key, one in schema["properties"].items()}
        if schema["type"] == "array":
            return [value(schema["items"], 1) for _ in range(schema.get("maxItems", 3))]
        return schema["enum"][0] if "enum" in schema else " ".join(sentence() for _ in range(sentences))

    def reply(body):
        wanted = body.get("response_format", {}).get("json_schema")
        if wanted is None:
            return " ".join(sentence() for _ in range(13))
        if wanted["name"] in ("user_memory", "spur_find", "spur_merge"):
            return json.dumps(value(wanted["schema"]))
        return judge(body)

    return reply


def sent_tokens(asked):
    """Return the tokens of what was sent, one for three bytes."""
    return sum(len(m["content"].encode()) for body in asked for m in body["messages"]) / 3


def by_model(asked, model):
    return [body for body in asked if body["model"] == model]


@pytest.mark.parametrize("judge", some_short(["zero-shot", "few-shot", "prometheus", "rag", "no-memory"]))
def test_a_judge_whose_prompts_are_known(dialogauge, serve, data, prices, tmp_path, judge):
    stub = serve(contented())
    words = ("satisfaction", data, "--judge", judge, "--model", "m", "--base-url", stub.url, *prices)
    words = (*words, "--split", "all", "-o", "run")
    asking = dialogauge(*words, "--dry-run", "--json").json["asking"]
    assert stub.requests == []
    assert not (tmp_path / "run").exists()
    assert dialogauge(*words).code == 0
    assert asking["calls"] == len(stub.asked) == 60
    assert asking["prompt_tokens"] == pytest.approx(sent_tokens(stub.asked), abs=1)
    assert asking["cost"] == pytest.approx(3e-6 * asking["prompt_tokens"] + 20e-6 * 60 * REPLY)
    assert asking["assumed"] == 0
    assert dialogauge(*words, "--dry-run", "--json").json["asking"]["calls"] == 0


@pytest.mark.long
def test_memories_are_counted_with_the_model_that_writes_them(dialogauge, serve, data, prices, tmp_path):
    """Four users in three scenarios: a memory for each of the twelve blocks, and sixty targets."""
    stub = serve(talkative())
    words = ("satisfaction", data, "--judge", "memory", *prices, "--split", "all", "-o", "run", "--no-cache")
    words = (*words, "--role", f"judge=m@{stub.url}", "--role", f"memory_builder=builder@{stub.url}")
    plan = dialogauge(*words, "--dry-run", "--json").json
    asking = plan["asking"]
    assert (plan["left"], asking["calls"], asking["assumed"]) == (60, 72, 12)
    assert stub.requests == []
    shown = dialogauge(*words, "--dry-run")
    assert "72 calls: about " in shown.out
    assert "12 of the replies stand in later prompts" in shown.out
    assert "come on top" in shown.out
    assert dialogauge(*words, "--max-calls", 50, "--max-concurrency", 1).code == 1
    some = dialogauge(*words, "--dry-run", "--json").json["asking"]
    assert dialogauge(*words).code == 0
    asked = stub.asked
    assert len(asked) == 72
    assert asking["prompt_tokens"] == pytest.approx(sent_tokens(asked), rel=0.15)
    built = by_model(asked, "builder")
    assert len(built) == 12
    cost = (
        3e-6 * sent_tokens(by_model(asked, "m"))
        + 1e-6 * sent_tokens(built)
        + REPLY * (60 * 20e-6 + 12 * 5e-6)
    )
    assert asking["cost"] == pytest.approx(cost, rel=0.15)
    done = len(asked) - some["calls"]
    assert 0 < done <= 50  # memories that the run holds are not asked for again
    assert some["assumed"] < 12


def test_criteria_are_induced_in_the_count_too(dialogauge, serve, log, prices):
    """Full lists of different criteria are the most calls that merging can take."""
    stub, data = serve(talkative()), log(*(conversation_record(c) for c in rated_users(6)))
    words = ("satisfaction", data, "--judge", "spur", "--model", "m", "--base-url", stub.url, *prices)
    words = (*words, "--seed", 3, "-o", "run", "--no-cache")
    plan = dialogauge(*words, "--dry-run", "--json").json
    asking = plan["asking"]
    assert 10 < asking["assumed"] == asking["calls"] - plan["left"]
    assert dialogauge(*words).code == 0
    assert asking["calls"] == len(stub.asked)
    assert asking["prompt_tokens"] == pytest.approx(sent_tokens(stub.asked), rel=0.15)


def test_a_judge_without_a_model_asks_none(dialogauge, data):
    plan = dialogauge(
        "satisfaction", data, "--judge", "history-mean", "--split", "all", "--dry-run", "--json"
    )
    assert "asking" not in plan.json
    assert plan.json["turns"] == 60


@pytest.mark.long
def test_a_replay_counts_replies_and_what_scoring_them_takes(dialogauge, serve, data, prices, tmp_path):
    """Ten items: a reply to each, which is scored, and so are three planted ones and all original ones."""
    stub = serve(talkative())
    words = ("replay", "run", data, "--split", "all", "--rule", "random", "-n", 10, "--judge", "memory")
    words = (*words, "--model", "m", "--base-url", stub.url, "--candidate", f"c=m@{stub.url}", *prices)
    words = (*words, "--no-cache", "-o", "run")
    plan = dialogauge(*words, "--dry-run", "--json").json
    assert stub.requests == []
    assert not (tmp_path / "run").exists()
    assert (plan["items"], plan["candidates"], plan["replies"]) == (10, 1, 10)
    assert plan["scores"] > 40
    assert plan["left"] == plan["replies"] + plan["scores"]
    assert dialogauge(*words).code == 0
    assert plan["asking"]["calls"] == len(stub.asked)
    assert plan["asking"]["prompt_tokens"] == pytest.approx(sent_tokens(stub.asked), rel=0.15)
    files = sorted((tmp_path / "run").iterdir())
    again = dialogauge(*words, "--dry-run", "--json").json
    assert (again["left"], again["asking"]["calls"], again["asking"]["cost"]) == (0, 0, 0)
    assert sorted((tmp_path / "run").iterdir()) == files


@pytest.mark.long
def test_the_parts_of_a_replay_say_what_they_would_ask(dialogauge, serve, data, prices):
    stub = serve(talkative())
    chosen = ("--rule", "random", "-n", 6, "--split", "all", "-o", "items.json")
    assert dialogauge("replay", "select", data, *chosen).code == 0
    collect = ("replay", "collect", "items.json", "--candidate", f"c=m@{stub.url}", "-o", "run", *prices)
    shown = dialogauge(*collect, "--dry-run").out
    assert "would collect 6 replies of 1 candidate, to 6 items" in shown
    assert "6 calls: about " in shown
    assert shown.splitlines()[-1] == "into run"
    assert stub.requests == []
    assert dialogauge(*collect).code == 0
    collected = len(stub.asked)
    assert collected == 6
    by = ("--rubric", "card", "--model", "m", "--base-url", stub.url, "--no-cache", *prices)
    shown = dialogauge("replay", "score", "run", *by, "--dry-run").out
    assert "would score 42 replies by card/m" in shown
    assert "42 calls: about " in shown
    assert len(stub.asked) == collected
    assert dialogauge("replay", "score", "run", *by).code in (0, 3)
    assert len(stub.asked) - collected == 42
    before, pair = len(stub.asked), ("replay", "score", "run", *by[2:], "--rubric", "pair")
    shown = dialogauge(*pair, "--dry-run").out
    assert dialogauge(*pair).code in (0, 3)
    assert f"{len(stub.asked) - before} calls: about " in shown
    assert len(stub.asked) > before
