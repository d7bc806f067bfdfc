"""The lookahead search by the command: over HTTP, gone on with, failing, and read by other commands."""

from __future__ import annotations

import json
import re

import pytest

import dialogauge as library
from dialogauge.core import UsageError
from dialogauge.runs import open_run
from dialogauge.training.trajectories import read_trajectories
from flows.conftest import EXAMPLES, rows_of
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
    scenarios = log(INN, MILL, name="scenarios.jsonl")
    done = search(dialogauge, stub.url, scenarios)
    assert done.code == 0, done.err
    # 1 persona; 2 scenarios x 3 steps x 2 candidates: 2 turns of both sides, and 4 dimensions. The first
    # message of the inn's user is fixed, and asked of nobody: 2 candidates once.
    assert len(stub.asked) == 1 + 2 * 3 * 2 * (2 * 2 + 4) - 2
    assert {r["temperature"] for r in stub.asked if r["model"] == "judge"} == {0.0}
    assert done.out.index("UNCHECKED") < done.out.index("By step")
    assert "6 pairs of 6 scored losers: the winner lies at least 0.25 ahead." in done.unwrapped
    page = (tmp_path / "run" / "report.html").read_text()
    assert page.index("UNCHECKED") < page.index("By step") < page.index('id="conversations"')
    inn, mill = rows_of(tmp_path / "run")
    assert (inn["candidate"], inn["failure"], mill["usage"]["by_role"]["judge"]["calls"]) == (
        "lookahead", None, 3 * 2 * 4,
    )  # fmt: skip
    with open_run("run") as run:
        first, second = read_trajectories(run)
        facts = run.manifest.facts
    assert (first.scenario, second.scenario, first.failure) == ("inn", "mill", None)
    assert [s.winner for s in first.steps] == ["lamp"] * 3
    # Two merits of half a point in one of four dimensions: 3 + 1 / 4.
    assert {c.name: c.score for c in first.steps[0].candidates} == {"lamp": 3.25, "dark": 3.0}
    assert [len(s.pairs(0.25)) for s in first.steps] == [1, 1, 1]
    assert first.steps[0].committed.criteria["interactive_ability_criteria"] == (
        "hook_taken_up", "own_initiative",
    )  # fmt: skip
    # Instructions and greeting, then two turns for each step; the fixed first message is said once.
    assert [s.start for s in first.steps] == [2, 6, 10]
    texts = [m.text for m in first.conversation.messages]
    assert (len(texts), texts.count("I am back."), texts[2]) == (14, 1, "I am back.")
    for step in first.steps:
        new = first.conversation.messages[step.start : step.start + 4]
        assert [(m.role, m.text) for m in new] == [(m["role"], m["content"]) for m in step.committed.messages]
    assert first.judge["digest"] == facts["scored_by"]["digest"]
    assert (first.judge["rubric"], first.judge["repeats"]) == ("roleplay", 1)


def test_the_run_is_a_log_and_a_context_of_sessions(dialogauge, serve, log, tmp_path):
    stub = serve(world)
    scenarios = log(INN, name="scenarios.jsonl")
    assert search(dialogauge, stub.url, scenarios).code == 0
    for command in (
        ("judge", "run", "-o", "judged"),
        ("export", "run", "-o", "talks.jsonl", "--messages"),
        ("export", "run", "-o", "rows.csv"),
        ("report", "run"),
        ("runs", "."),
    ):
        done = dialogauge(*command)
        assert done.code == 0, (command, done.err)
    judged = [r["turn"] for r in rows_of(tmp_path / "judged") if r["level"] == "turn"]
    assert judged == [1, 2, 3, 4, 5, 6]
    shown = dialogauge("show", "run", "inn")
    assert shown.code == 0
    assert "What each step chose from" in shown.out
    assert "UNCHECKED" in shown.out
    at = ("--candidate", f"a=lamp@{stub.url}", "--role", f"simulator=sim@{stub.url}")
    begins = set()
    for seed in range(4):
        words = ("--turns", 1, "--context", "run", "--seed", seed, "-o", f"s{seed}")
        done = dialogauge("simulate", scenarios, *at, *words)
        assert done.code == 0, done.err
        with open_run(f"s{seed}") as run:
            (session,) = run.database.conversations()
        begins.add(session.prefix)
        texts = [m.text for m in session.messages[: session.prefix]]
        assert texts[1:3] == ["You are late.", "I am back."][: len(texts) - 1]
    assert len(begins) > 1


def test_what_a_stopped_search_has_asked_comes_from_the_cache(dialogauge, serve, log, tmp_path):
    stub = serve(world)
    scenarios = log(INN, MILL, name="scenarios.jsonl")
    done = search(dialogauge, stub.url, scenarios, "--max-calls", 40, "--max-concurrency", 1)
    assert done.code == 1
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["pending"] > 0
    assert search(dialogauge, stub.url, scenarios, "--max-concurrency", 2).code == 0
    asked = [json.dumps(r) for r in stub.asked]
    assert len(asked) == len(set(asked)) == 1 + 2 * 3 * 2 * (2 * 2 + 4) - 2
    rows = rows_of(tmp_path / "run")
    assert search(dialogauge, stub.url, scenarios, "--max-concurrency", 9).code == 0
    assert len(stub.asked) == len(asked)
    assert search(dialogauge, stub.url, scenarios, "--max-concurrency", 9, out="other").code == 0
    assert len(stub.asked) == len(asked)  # the same search elsewhere: all comes from the cache

    def texts(rows):
        steps = [step for row in rows for step in row["details"]["steps"]]
        return [[(c["name"], c["messages"], c["score"]) for c in step["candidates"]] for step in steps]

    assert texts(rows) == texts(rows_of(tmp_path / "other"))


def test_a_plan_asks_nothing_and_counts_all(dialogauge, serve, log):
    stub = serve(world)
    scenarios = log(INN, MILL, name="scenarios.jsonl")
    done = search(dialogauge, stub.url, scenarios, "--judge-repeats", 2, "--dry-run", "--json")
    assert done.code == 0, done.err
    assert stub.asked == []
    counts = {key: done.json[key] for key in ("messages", "judgements", "scenarios", "left")}
    assert counts == {"messages": 48, "judgements": 24, "scenarios": 2, "left": 2}
    # Two tries at the persona, for what a plan makes up is of no use; no fixed first messages; a call for
    # each of 4 dimensions.
    assert done.json["asking"]["calls"] == 2 + 48 - 2 + 24 * 4
    done = search(dialogauge, stub.url, scenarios, "--dry-run")
    assert "would search 2 of 2 scenarios: at most 48 messages, and 12 judgements by" in done.unwrapped


def test_failures_are_counted_and_what_was_committed_is_kept(dialogauge, serve, log, tmp_path):
    def world_until(body):
        if body["model"] != "judge" and len(body["messages"]) > 8:
            return ""  # of both sides
        return world(body)

    stub = serve(world_until)
    done = search(dialogauge, stub.url, log(INN, name="scenarios.jsonl"))
    assert done.code == 3, done.err
    (row,) = rows_of(tmp_path / "run")
    assert row["failure"]["kind"] == "empty_reply"
    assert "no candidate was left at step" in row["failure"]["message"]
    with open_run("run") as run:
        (trajectory,) = read_trajectories(run)
        assert [c.messages for c in run.database.conversations()] == [()]
    committed = [s for s in trajectory.steps if s.winner]
    assert committed
    assert len(trajectory.conversation.messages) == 2 + 4 * len(committed)
    assert trajectory.failure.kind == "empty_reply"
    assert "The steps before are kept." in done.unwrapped
    at = ("--candidate", f"a=lamp@{stub.url}", "--role", f"simulator=sim@{stub.url}")
    done = dialogauge("simulate", "scenarios.jsonl", *at, "--turns", 1, "--context", "run", "-o", "s")
    assert done.code == 0, done.err  # a failed trajectory begins nothing
    stub.reply = world
    done = search(dialogauge, stub.url, "scenarios.jsonl", "--retry-failed")
    assert done.code == 0, done.err
    with open_run("run") as run:
        (again,) = read_trajectories(run)
    assert again.steps[: len(committed)] == tuple(committed)
    assert [s.winner for s in again.steps] == ["lamp"] * 3


def test_when_every_judgement_fails_the_scenario_fails_and_what_was_said_is_kept(
    dialogauge, serve, log, tmp_path
):
    stub = serve(lambda body: "No." if body["model"] == "judge" else world(body), schema="ignore")
    done = search(dialogauge, stub.url, log(INN, name="scenarios.jsonl"))
    assert done.code == 3, done.err
    (row,) = rows_of(tmp_path / "run")
    assert row["failure"]["kind"] == "invalid_json"
    (step,) = row["details"]["steps"]
    assert (step["winner"], [c["turns"] for c in step["candidates"]]) == (None, [2, 2])
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert [c["failed_judgements"] for c in summary["candidates"]] == [1, 1]
    assert summary["failures"] == {"invalid_json": 2}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--draw", 3), "draws 3 candidates, and the pool holds 2"),
        (("--segments", 0), "segments"),
        (("--rubric", "card-of-nobody"), "card-of-nobody"),
        (("--rubric", "td-turn"), "scores no session as a whole"),
        (("--rubric", "pair"), "scores no session as a whole"),
        (("--weights", "weights.toml"), "weights"),
        (("--candidate", "c=replies:scenarios.jsonl"), "is a file of replies"),
        (("--candidate", "lamp=other@http://127.0.0.1:9"), "two candidates are called"),
        (("--role", "memory_builder=x@http://127.0.0.1:9"), "this command has the roles"),
    ],
)
def test_what_cannot_be_done_is_said(dialogauge, log, tmp_path, words, message):
    done = search(dialogauge, "http://127.0.0.1:9", log(INN, name="scenarios.jsonl"), *words)
    assert done.code == 2
    assert message in " ".join(done.err.split())
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("role", "message"), [("simulator", "nobody scores the segments"), ("judge", "nobody plays the users")]
)
def test_both_roles_are_needed(dialogauge, log, role, message):
    url = "http://127.0.0.1:9"
    pool = ("--candidate", f"a=x@{url}", "--candidate", f"b=y@{url}")
    words = ("--role", f"{role}=m@{url}", "-o", "run")
    done = dialogauge("lookahead", log(INN, name="scenarios.jsonl"), *pool, *words)
    assert (done.code, message in done.err) == (2, True)


def test_a_rubric_needs_a_mean_by_which_a_segment_can_win(dialogauge, log, tmp_path):
    shipped = EXAMPLES.parent / "src/dialogauge/rubrics/files/rubrics"
    for ending in ("en.md", "zh.md"):
        (tmp_path / f"own.{ending}").write_text((shipped / f"roleplay-plain.{ending}").read_text())
    first = '[[dimensions]]\nname = "interactive_ability"\n'
    text = (shipped / "roleplay-plain.toml").read_text().partition('[[dimensions]]\nname = "session"')[0]
    assert first in text
    worse = "scale = { low = 1, high = 5, higher_is_better = false }\n"
    (tmp_path / "own.toml").write_text(text.replace(first, first + worse))
    scenarios = log(INN, name="scenarios.jsonl")
    done = search(dialogauge, "http://127.0.0.1:9", scenarios, "--rubric", "own.toml")
    assert done.code == 2
    assert "have no mean by which a session could win" in done.err


def test_python_runs_the_same_search(dialogauge, serve, log, tmp_path):
    stub = serve(world)
    scenarios = log(INN, name="scenarios.jsonl")
    pool = [f"{name}={name}@{stub.url}" for name in ("lamp", "dark")]
    roles = [f"simulator=sim@{stub.url}", f"judge=judge@{stub.url}"]
    shape = {"segments": 2, "segment_turns": 1, "out": tmp_path / "run", "progress": False}
    run = library.run("lookahead", scenarios, candidates=pool, models=roles, **shape)
    assert run.summary.ended == {"turns": 1}
    assert run.summary.margins.pairs == 2
    with pytest.raises(UsageError, match="scenarios come from files"):
        library.run("lookahead", [INN], candidates=pool, models=roles)
