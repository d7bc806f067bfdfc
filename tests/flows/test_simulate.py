"""Sessions by the command: over HTTP and by functions, gone on with, and read by every other command."""

from __future__ import annotations

import json
import re

import pytest

from flows.conftest import rows_of

INN = {
    "id": "inn",
    "name": "Rosa",
    "text": "Rosa keeps an inn by the harbour. The user is her brother.",
    "greeting": "You are late.",
    "category": "fictional",
}
MILL = {
    "id": "mill",
    "name": "Jon",
    "text": "Jon grinds corn and talks to his geese.",
    "category": "social",
    "user": {"persona": "I am a miller's guest and I like geese."},
}
BOTS = """
def good(messages):
    last = [m for m in messages if m["role"] == "user"][-1]["content"]
    return f"The wind turned at noon. You said {last!r}; let us look at the boats together."
def mute(messages):
    return "" if len(messages) > 5 else "Hm."
def counting(messages, session):
    return f"This is {session}, message {len(messages)}."
def user(messages):
    if "character" in messages[0]["content"] and len(messages) == 1:
        return "I am back from the sea after nine years, and I hope that she still knows me."
    replies = sum(m["role"] == "user" for m in messages)
    return f"ok, and then? ({replies})"
def stuck(messages):
    if len(messages) == 1:
        return "I am a guest who has walked all day, and I like a warm kitchen."
    return "I really do wonder what happened to your boat last winter."
def leaving(messages):
    return "<end>"
"""


@pytest.fixture
def bots(tmp_path, monkeypatch, request):
    # A module of its own for each test: imported modules stay.
    name = "bots_" + re.sub(r"\W", "_", request.node.name)
    (tmp_path / f"{name}.py").write_text(BOTS)
    return lambda function: f"py:{name}:{function}"


def talker(body):
    """The reply of a model that plays every role: what it says shows what it was asked."""
    messages = body["messages"]
    if len(messages) == 1:
        return "I am the brother whom she has not seen for nine years, and I hope she knows me."
    return f"{messages[0]['content'][:9]} {len(messages)}"


def test_sessions_over_http_are_a_log_for_every_command(dialogauge, serve, log, tmp_path) -> None:
    stub = serve(talker)
    scenarios = log(INN, MILL, name="scenarios.jsonl")
    at = ("--candidate", f"a=m1@{stub.url}", "--candidate", f"b=m2@{stub.url}")
    simulator = ("--role", f"simulator=sim@{stub.url}")
    done = dialogauge("simulate", scenarios, *at, *simulator, "--turns", 3, "-o", "run")
    assert done.code == 0, done.err
    asked = [r for r in stub.asked if r["model"] == "sim"]
    assert len(asked) == 1 + 2 * 2 * 3  # one user persona was missing
    assert {r["temperature"] for r in asked} == {1.0}
    rows = rows_of(tmp_path / "run")
    assert [(r["conversation_id"], r["candidate"]) for r in rows] == [
        (scenario, name) for scenario in ("inn", "mill") for name in "ab"
    ]
    assert {r["details"]["turns"] for r in rows} == {3}
    assert rows[0]["usage"]["by_role"]["candidate"]["calls"] == 3
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert [c["ended"] for c in summary["candidates"]] == [{"turns": 2}] * 2
    assert [c["name"] for c in summary["categories"]] == ["fictional", "social"]
    for command in (
        ("judge", "run", "-o", "judged"),
        ("show", "run", "inn"),
        ("export", "run", "-o", "talks.jsonl", "--messages"),
        ("report", "run"),
        ("runs", "."),
    ):
        done = dialogauge(*command)
        assert done.code == 0, (command, done.err)
    judged = rows_of(tmp_path / "judged")
    assert {(r["conversation_id"], r["candidate"]) for r in judged} == {
        (r["conversation_id"], r["candidate"]) for r in rows
    }
    assert {r["turn"] for r in judged if r["level"] == "turn"} == {1, 2, 3}
    assert dialogauge("compare", "judged", "judged", "--candidates", "a,b").code == 0


def test_the_same_command_plays_only_what_is_new(dialogauge, serve, log, tmp_path) -> None:
    stub = serve(talker)
    scenarios = log(INN, MILL, name="scenarios.jsonl")
    common = (scenarios, "--role", f"simulator=sim@{stub.url}", "--turns", 2, "-o", "run")
    a = ("--candidate", f"a=m1@{stub.url}")
    assert dialogauge("simulate", *common, *a).code == 0
    asked = len(stub.asked)
    assert dialogauge("simulate", *common, *a).code == 0
    assert len(stub.asked) == asked
    done = dialogauge("simulate", *common, "--candidate", f"b=m2@{stub.url}")
    assert done.code == 0
    assert {r["model"] for r in stub.asked[asked:]} <= {"m2", "sim"}
    assert {r["candidate"] for r in rows_of(tmp_path / "run")} == {"a", "b"}
    assert dialogauge("simulate", *common, *a, "--sessions-per", 2).code == 0
    ids = [r["conversation_id"] for r in rows_of(tmp_path / "run") if r["candidate"] == "a"]
    assert sorted(ids) == ["inn", "inn/2", "mill", "mill/2"]


def test_what_a_stopped_run_has_asked_comes_from_the_cache(dialogauge, serve, log, tmp_path) -> None:
    stub = serve(talker)
    scenarios = log(INN, MILL, name="scenarios.jsonl")
    command = ("simulate", scenarios, "--candidate", f"a=m1@{stub.url}", "--turns", 4, "-o", "run")
    command += ("--role", f"simulator=sim@{stub.url}", "--max-concurrency", 1)
    done = dialogauge(*command, "--max-calls", 6)
    assert done.code == 1
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["pending"] == 2
    asked = [json.dumps(r) for r in stub.asked]
    assert dialogauge(*command).code == 0
    everything = [json.dumps(r) for r in stub.asked]
    assert len(everything) == 1 + 2 * 4 * 2
    assert everything[: len(asked)] == asked
    assert len(set(everything)) == len(everything)  # nothing that was answered is asked again


def test_sessions_of_a_scenario_differ_and_a_run_can_be_repeated(dialogauge, serve, log, tmp_path) -> None:
    stub = serve(lambda body: f"{body['messages'][0]['content'][:5]} {body.get('seed')}")
    scenarios = log(MILL, name="scenarios.jsonl")
    command = ("simulate", scenarios, "--candidate", f"a=m1@{stub.url}", "--turns", 1, "--sessions-per", 3)
    command += ("--role", f"simulator=sim@{stub.url}", "--no-cache")
    texts = []
    for out in ("one", "two"):
        assert dialogauge(*command, "-o", out).code == 0
        assert dialogauge("export", out, "-o", f"{out}.jsonl", "--messages").code == 0
        lines = (tmp_path / f"{out}.jsonl").read_text().splitlines()
        texts.append([json.loads(line)["messages"][1:] for line in lines])
    assert texts[0] == texts[1]
    assert len({json.dumps(t) for t in texts[0]}) == 3


def test_functions_are_given_the_session_and_failures_are_counted(dialogauge, log, tmp_path, bots) -> None:
    scenarios = log(INN, MILL, name="scenarios.jsonl")
    command = ("simulate", scenarios, "--role", f"simulator={bots('user')}", "--turns", 4, "-o", "run")
    command += ("--candidate", f"counting={bots('counting')}", "--candidate", f"mute={bots('mute')}")
    done = dialogauge(*command)
    assert done.code == 3, done.err
    rows = {(r["conversation_id"], r["candidate"]): r for r in rows_of(tmp_path / "run")}
    assert rows["inn", "counting"]["failure"] is None
    failed = rows["inn", "mute"]
    assert failed["failure"]["kind"] == "empty_reply"
    assert failed["failure"]["message"].startswith("the candidate failed in turn 3")
    assert failed["details"]["ended"] == "candidate_failed"
    shown = dialogauge("show", "run", "inn").out
    assert "This is inn, message 3." in shown
    assert "candidate failed" in done.out
    judged = dialogauge("judge", "run", "-o", "judged")
    assert judged.code in (0, 3)
    absent = [r for r in rows_of(tmp_path / "judged") if r["failure"]]
    assert {(r["candidate"], r["failure"]["kind"]) for r in absent} == {("mute", "absent")}


def test_a_simulator_that_leaves_at_once_is_a_failure(dialogauge, log, tmp_path, bots) -> None:
    scenarios = log(MILL, name="scenarios.jsonl")
    command = ("simulate", scenarios, "--role", f"simulator={bots('leaving')}", "-o", "run")
    assert dialogauge(*command, "--candidate", f"good={bots('good')}").code == 3
    (row,) = rows_of(tmp_path / "run")
    assert (row["failure"]["kind"], row["details"]["ended"]) == ("no_reply", "simulator_failed")


def test_recorded_users_and_given_contexts(dialogauge, log, tmp_path, bots) -> None:
    scenarios = log(INN, name="scenarios.jsonl")
    talk = (("user", "Hello?"), ("assistant", "x"), ("user", "Why?"))
    lines = [{"role": role, "content": text} for role, text in talk]
    users = log({"conversation_id": "inn", "messages": lines}, name="users.jsonl")
    command = ("simulate", scenarios, "--candidate", f"good={bots('good')}", "-o")
    assert dialogauge(*command, "run", "--users", users).code == 0
    shown = dialogauge("show", "run", "inn").out
    assert re.findall(r"user: (.*)", shown) == ["Hello?", "Why?"]
    context = log({"conversation_id": "inn", "messages": lines[:2]}, name="context.jsonl")
    prefixes = set()
    for seed in range(8):
        more = ("--context", context, "--seed", seed, "--role", f"simulator={bots('user')}", "--turns", 1)
        assert dialogauge(*command, f"run{seed}", *more).code == 0
        assert dialogauge("judge", f"run{seed}", "-o", f"judged{seed}").code == 0
        judged = [r["turn"] for r in rows_of(tmp_path / f"judged{seed}") if r["level"] == "turn"]
        prefixes.add(tuple(judged))
    assert prefixes == {(1,), (2,)}  # behind a greeting, or behind one given turn


def test_what_simulated_users_do_wrong_is_shown_first(dialogauge, log, tmp_path, bots) -> None:
    scenarios = log(INN, MILL, name="scenarios.jsonl")
    command = ("simulate", scenarios, "--candidate", f"good={bots('good')}", "--turns", 4)
    done = dialogauge(*command, "-o", "run", "--role", f"simulator={bots('stuck')}")
    assert done.code == 0, done.err
    assert done.out.index("The simulated users") < done.out.index("By candidate")
    page = (tmp_path / "run" / "report.html").read_text()
    assert page.index('id="simulator"') < page.index('id="sessions"')
    check = json.loads((tmp_path / "run" / "summary.json").read_text())["simulator"]
    rates = {rate["kind"]: rate["share"]["value"] for rate in check["faults"]}
    assert (check["sessions"], rates["repeats_itself"], rates["speaks_as_other"]) == (2, 1.0, 0.0)
    # Of users whom nobody simulates nothing is said.
    talk = [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "So."}]
    users = log({"conversation_id": "x", "messages": talk}, name="users.jsonl")
    done = dialogauge(*command, "-o", "other", "--users", users)
    assert "The simulated users" not in done.out
    assert "simulator" not in json.loads((tmp_path / "other" / "summary.json").read_text())


def test_a_plan_asks_nothing_and_counts(dialogauge, serve, log) -> None:
    stub = serve(talker)
    scenarios = log(INN, MILL, name="scenarios.jsonl")
    command = ("simulate", scenarios, "--candidate", f"a=m1@{stub.url}", "-o", "run", "--turns", 3)
    done = dialogauge(*command, "--role", f"simulator=sim@{stub.url}", "--dry-run", "--json")
    assert done.code == 0, done.err
    assert stub.asked == []
    assert (done.json["sessions"], done.json["left"]) == (2, 2)
    assert done.json["asking"]["calls"] >= 12


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "no candidate is given"),
        (("--candidate", "replies:scenarios.jsonl"), "is a file of replies"),
        (("--candidate", "GOOD"), "nobody plays the users"),
        (("--candidate", "GOOD", "--role", "simulator=SIM", "--users", "scenarios.jsonl"), "would be two"),
        (
            ("--candidate", "goood", "--role", "simulator=SIM", "--agents", "agents.toml"),
            "did you mean 'good'",
        ),
        (("--candidate", "GOOD", "--role", "simulator=SIM", "--context", "bare.jsonl"), "has no whole turn"),
        (("--candidate", "GOOD", "--users", "bare.jsonl"), "no whole turn"),
        (("--candidate", "GOOD", "--role", "simulator=SIM", "--turns", "0"), "turns"),
    ],
)
def test_what_cannot_be_done_is_said(dialogauge, log, tmp_path, bots, words, message) -> None:
    log(INN, name="scenarios.jsonl")
    log({"conversation_id": "inn", "messages": [{"role": "user", "content": "?"}]}, name="bare.jsonl")
    (tmp_path / "agents.toml").write_text(f'[[agent]]\nname = "good"\ncandidate = "{bots("good")}"\n')
    given = [w.replace("GOOD", bots("good")).replace("SIM", bots("user")) for w in words]
    done = dialogauge("simulate", "scenarios.jsonl", *given, "-o", "run")
    assert done.code == 2
    assert message in done.err
    assert not (tmp_path / "run").exists()


def test_real_persons_are_refused_unless_allowed(dialogauge, log, bots) -> None:
    scenarios = log(MILL | {"real_person": True}, name="scenarios.jsonl")
    command = ("simulate", scenarios, "--candidate", bots("good"), "--role", f"simulator={bots('user')}")
    done = dialogauge(*command, "-o", "run", "--turns", 1)
    assert (done.code, "would let a candidate play a real person: mill" in done.err) == (2, True)
    assert dialogauge(*command, "-o", "run", "--turns", 1, "--real-persons").code == 0
