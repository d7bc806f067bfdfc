"""People choose between the replies of a replay run, and its evaluator is held against them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flows.rating_pages import answered, saved, task_of
from flows.test_replay_plain import ASKS, at, fairly, record, scored_as, stored, write_replies

NEW = "I would rather say this, as gpt-4o does."


@pytest.fixture
def run(dialogauge, log, once):
    """Eight conversations of three replies, and one candidate that answers every state."""

    def make():
        data = log(*(record(n, user_id=f"u{n}") for n in range(8)), name="data.jsonl")
        dialogauge("replay", "select", data, "--rule", "all", "-o", "items.json")
        write_replies("new.jsonl", stored("items.json")["items"], NEW)
        candidate = "gpt-4o=replies:new.jsonl"
        assert dialogauge("replay", "collect", "items.json", "--candidate", candidate, "-o", "run").code == 0

    once("replay-people", make)
    return Path("run")


def likes_the_log_but_at_the_router(item, question, turn):
    """Prefers the reply of the log, but for the second request of each conversation."""
    new = "left" if "I would rather say this" in item["left"][0]["body"] else "right"
    other = "right" if new == "left" else "left"
    return new if item["messages"][-1]["body"].startswith(ASKS[1]) else other


@pytest.fixture
def duel(dialogauge, run):
    make = ("annotate", "make", run, "--pairs", "--blind", "--raters", 2, "--shared", 6, "-o", "duel")
    done = dialogauge(*make)
    assert done.code == 0, done.err
    return [task_of(page) for page in sorted(Path("duel/pages").iterdir())]


def test_a_page_shows_a_state_and_two_replies_without_names(duel) -> None:
    plan = json.loads(Path("duel/plan.json").read_text())
    assert (plan["eligible"], plan["candidates"]) == (24, ["gpt-4o", "original"])
    assert {(i["candidate"], i["other_candidate"]) for i in plan["items"]} == {("gpt-4o", "original")}
    sides = set()
    for item in (item for task in duel for item in task["items"]):
        assert item["messages"][-1]["role"] == "user"
        assert len(item["left"]) == len(item["right"]) == 1
        sides.add("I would rather" in item["left"][0]["body"])
    assert sides == {True, False}
    for page in Path("duel/pages").iterdir():
        text = page.read_text()
        assert "gpt-4o" not in text
        assert "I would rather say this, as […] does." in text


@pytest.mark.long
def test_the_evaluator_is_held_against_people(dialogauge, run, duel, serve) -> None:
    """It scores the log's replies above the candidate's: as people do at two of three requests."""
    server = serve(scored_as(lambda text: 4 if "I would rather" in text else 5))
    model = ("--rubric", "satisfaction", "--model", "m", "--base-url", server.url)
    assert dialogauge("replay", "score", run, *model).code == 0
    files = [saved(Path(f"{t['rater']}.jsonl"), answered(t, likes_the_log_but_at_the_router)) for t in duel]
    assert dialogauge("annotate", "import", "duel", *files).code == 0
    rows = [json.loads(line) for line in Path("duel/pairs.jsonl").read_text().splitlines()]
    assert {(row["winner"], row["turn"]) for row in rows} == {("b", 1), ("a", 2), ("b", 3)}
    assert {row["conversation_id"] for row in rows} == {f"c{n}__turn_{t}" for n in range(8) for t in range(3)}
    done = dialogauge("agreement", run, "--ratings", "duel", "--json")
    assert done.code == 0, done.err
    (found,) = done.json["pairs"]
    assert found["judges"] == ["satisfaction/m"]
    assert found["targets"] == 24
    (judge,) = found["against_people"]
    assert judge["figures"]["exact"]["value"] == pytest.approx(2 / 3)
    shown = dialogauge("agreement", run, "--ratings", "duel")
    assert "satisfaction/m" in shown.out


def test_a_judge_of_pairs_too_and_what_is_missing_is_said(dialogauge, run, duel, serve) -> None:
    files = [saved(Path(f"{t['rater']}.jsonl"), answered(t, lambda *_: "tie")) for t in duel]
    dialogauge("annotate", "import", "duel", *files)
    early = dialogauge("agreement", run, "--ratings", "duel")
    assert (early.code, "nobody has scored the replies of run" in early.err) == (2, True)
    assert dialogauge("replay", "score", run, *at(serve(fairly)), "--no-planted").code == 0
    (found,) = dialogauge("agreement", run, "--ratings", "duel", "--json").json["pairs"]
    (judge,) = found["against_people"]
    assert (judge["figures"]["exact"]["value"], found["judges"]) == (0, ["pair/m"])
    alone = dialogauge("agreement", run)
    assert (alone.code, "no choices of people between two replies" in alone.err) == (2, True)


def test_a_replay_is_rated_in_pairs_and_alone(dialogauge, run) -> None:
    done = dialogauge("annotate", "make", run, "--raters", 1, "--each", 48, "-o", "alone")
    assert done.code == 0, done.err
    plan = json.loads(Path("alone/plan.json").read_text())
    assert (plan["eligible"], plan["candidates"]) == (48, ["gpt-4o", "original"])
    assert {len(item["turns"]) for item in plan["items"]} == {1}
