"""Replay of conversations that nobody rated: candidates scored by a rubric, and by pairs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dialogauge as dialogauge_library
from servers.contented import shown_to
from servers.schemas import instance

USERS = 8
ASKS = ("Where is my parcel?", "How do I reset the router?", "When does the museum open?")
GOOD = (
    "Your parcel left the depot on Tuesday and arrives on Thursday before noon.",
    "Hold the button on the back of the router for ten seconds until the light blinks.",
    "The museum opens at nine on weekdays and at ten on Sundays.",
)


def record(number, **more):
    messages = []
    for ask, reply in zip(ASKS, GOOD, strict=True):
        messages.append({"role": "user", "content": f"{ask} It is for number {number}."})
        messages.append({"role": "assistant", "content": f"{reply} Number {number} is noted."})
    return {"conversation_id": f"c{number}", "messages": messages, **more}


@pytest.fixture
def data(log):
    return log(*(record(n) for n in range(USERS)), name="data.jsonl")


def stored(file="run/items.json"):
    return json.loads(Path(file).read_text())


def write_replies(name, items, text):
    lines = [{"item": i["id"], "reply": text} for i in items]
    Path(name).write_text("".join(json.dumps(line) + "\n" for line in lines))


def scored_as(score):
    """A judge that gives every dimension what `score` makes of all that it is shown."""

    def reply(body):
        wanted = body.get("response_format", {}).get("json_schema")
        if wanted is None:
            return "A plain answer."
        text = shown_to(body)

        def filled(value):
            if not isinstance(value, dict):
                return value
            return {k: score(text) if k == "satisfaction" else filled(v) for k, v in value.items()}

        return json.dumps(filled(instance(wanted["schema"])))

    return reply


def test_from_a_plain_log_to_a_leaderboard(dialogauge, data, serve, tmp_path) -> None:
    candidate = serve("I do not know.")
    words = ("replay", "run", data, "--rubric", "card", "--candidate", f"new=stub-model@{candidate.url}")
    done = dialogauge(*words, "-o", "run")
    assert done.code == 0, done.err
    assert "24 of 24, chosen by the rule 'stratified'" in done.out
    assert "24 items, scored by card/local; 1 candidate and the original replies" in done.unwrapped
    assert "This evaluator is not checked, so it ranks nobody." in done.unwrapped
    assert "Scores, not a ranking" in done.unwrapped
    assert "below the original" not in done.unwrapped
    assert "says n/a to every original reply: safety" in done.unwrapped
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    assert list(summary["dimensions"]) == ["context_use", "helpfulness"]
    helpful = summary["dimensions"]["helpfulness"]
    assert list(helpful["views"]) == ["raw"]
    figures = helpful["views"]["raw"]["candidates"]
    assert figures["original"]["user_macro"] > figures["new"]["user_macro"]
    assert figures["new"]["users"] == USERS
    (pair,) = helpful["views"]["raw"]["pairs"]
    assert pair["items"]["losses"] == pair["items"]["n"] == 24
    assert [p["candidate"] for p in helpful["planted"]] == [
        "planted: polite phrases",
        "planted: padding",
        "planted: echo",
        "planted: refusal",
        "planted: filler",
    ]
    rows = [json.loads(line) for line in (tmp_path / "run/scores.jsonl").read_text().splitlines()]
    assert len(rows) == 48
    assert {row["scores"]["safety"] for row in rows if "safety" in row["scores"]} <= {"n/a"}
    assert all(row["gold"] is None and row["scores"]["helpfulness"] for row in rows)
    page = (tmp_path / "run/report.html").read_text()
    assert "mean over conversations" in page
    assert "I do not know." in page
    assert "users rated" not in page
    asked = len(candidate.asked)
    again = dialogauge(*words, "-o", "run", "--json")
    assert again.code == 0, again.err
    assert again.json["dimensions"] == summary["dimensions"]
    assert len(candidate.asked) == asked == 24
    ranked = dialogauge("replay", "compare", "run", "--unchecked")
    assert ranked.out.index("UNCHECKED") < ranked.out.index("Leaderboard")
    assert "Helpfulness: new is below the original replies." in ranked.unwrapped


def test_the_candidate_sees_the_messages_before_the_reply(dialogauge, data, serve) -> None:
    server = serve("A reply.")
    assert dialogauge("replay", "select", data, "--rule", "random", "-n", 5, "-o", "items.json").code == 0
    items = stored("items.json")["items"]
    words = ("--candidate", f"m=stub-model@{server.url}", "-o", "run")
    assert dialogauge("replay", "collect", "items.json", *words).code == 0
    talks = {t["conversation_id"]: t for t in map(json.loads, data.read_text().splitlines())}
    wanted = [talks[i["conversation"]]["messages"][: 2 * i["position"] + 1] for i in items]
    assert sorted(map(json.dumps, (b["messages"] for b in server.asked))) == sorted(map(json.dumps, wanted))


def test_a_model_judges_one_reply_in_its_state(dialogauge, data, serve) -> None:
    """Original and candidates alike: the last turn, once each, and nothing that followed."""
    dialogauge("replay", "select", data, "--rule", "all", "-o", "items.json")
    items = stored("items.json")["items"]
    write_replies("mine.jsonl", items, "I would rather say this.")
    dialogauge("replay", "collect", "items.json", "--candidate", "replies:mine.jsonl", "-o", "run")
    server = serve(scored_as(lambda text: 5 if "I would rather" in text else 4))
    model = ("--rubric", "satisfaction", "--model", "qwen-tiny", "--base-url", server.url, "--no-cache")
    done = dialogauge("replay", "score", "run", *model, "--no-planted")
    assert done.code == 0, done.err
    assert len(server.asked) == 48
    found = dialogauge("replay", "compare", "run", "--json").json
    raw = found["dimensions"]["satisfaction"]["views"]["raw"]
    assert raw["candidates"]["original"]["user_macro"] == 4
    assert raw["candidates"]["mine"]["user_macro"] == 5
    assert raw["pairs"][0]["user_macro_delta"] == 1
    assert found["evaluator"]["family"] == "qwen"
    assert found["usage"]["calls"] == 49  # one asks which schemas the endpoint keeps
    assert dialogauge("replay", "score", "run", *model, "--no-planted").code == 0
    assert len(server.asked) == 48


def test_failures_of_candidate_and_judge_widen_the_bounds(dialogauge, data, serve) -> None:
    dialogauge("replay", "select", data, "--rule", "all", "-o", "items.json")
    items = stored("items.json")["items"]
    write_replies("mine.jsonl", items[:20], "I would rather say this.")
    done = dialogauge("replay", "collect", "items.json", "--candidate", "replies:mine.jsonl", "-o", "run")
    assert (done.code, "20 of 24 replies, 4 no reply" in done.out) == (3, True)
    server = serve(lambda b: "no" if "I would" in shown_to(b) else scored_as(lambda _: 4)(b))
    model = ("--rubric", "satisfaction", "--model", "m", "--base-url", server.url, "--no-planted")
    done = dialogauge("replay", "score", "run", *model)
    assert done.code == 3
    assert "mine      0 replies scored, 20 failed" in done.out
    found = dialogauge("replay", "compare", "run", "--json").json
    mine = found["dimensions"]["satisfaction"]["views"]["raw"]["candidates"]["mine"]
    assert (mine["n"], mine["failed"], mine["user_macro"]) == (0, 24, None)
    assert mine["user_macro_bounds"] == [1, 5]
    assert sum(found["candidates"]["mine"]["failures"].values()) == 24


@pytest.mark.long
def test_a_judge_that_fails_on_all_leaves_nothing_to_compare(dialogauge, data, serve) -> None:
    server = serve("no verdict at all")
    write = dialogauge("replay", "select", data, "--rule", "random", "-n", 3, "-o", "items.json")
    assert write.code == 0
    write_replies("mine.jsonl", stored("items.json")["items"], "Yes.")
    model = ("--rubric", "satisfaction", "--model", "m", "--base-url", server.url)
    done = dialogauge(
        "replay",
        "run",
        data,
        "--rule",
        "random",
        "-n",
        3,
        "--candidate",
        "replies:mine.jsonl",
        *model,
        "-o",
        "r",
    )
    assert done.code == 3, done.out + done.err
    assert "nothing is compared: no original reply has a score" in done.out
    assert "has no scores of the original replies" in dialogauge("replay", "compare", "r").err


@pytest.mark.long
def test_contexts_of_one_candidate_stand_side_by_side(dialogauge, log, serve) -> None:
    records = [record(n, user_id=f"u{n % 2}", scenario=f"s{n % 3}", context="help") for n in range(6)]
    data = log(*records, name="data.jsonl")
    server = serve(lambda body: "I do not know." if body["messages"][0]["role"] == "system" else GOOD[0])
    dialogauge("replay", "select", data, "--rule", "all", "-o", "items.json")
    new = ("--candidate", f"new=stub-model@{server.url}", "-o", "run")
    for context in ("prefix", "memory-diverse", "task"):
        done = dialogauge("replay", "collect", "items.json", *new, "--context", context)
        assert done.code == 0, done.err
    asked = len(server.asked)
    assert dialogauge("replay", "collect", "items.json", *new, "--context", "task").code == 0
    assert len(server.asked) == asked
    assert dialogauge("replay", "score", "run", "--rubric", "card", "--no-planted").code == 0
    found = dialogauge("replay", "compare", "run", "--json").json
    names = {"new": "prefix", "new · memory-diverse": "memory-diverse", "new · task": "task"}
    assert {n: c["context"] for n, c in found["candidates"].items()} == names
    pairs = found["dimensions"]["helpfulness"]["views"]["raw"]["pairs"]
    assert ("new", "new · task") in {(p["candidate"], p["against"]) for p in pairs}
    refused = dialogauge("replay", "collect", "items.json", *new, "--context", "profile")
    assert (refused.code, "no user of these items has a profile" in refused.err) == (2, True)


def test_ids_and_personal_data_are_hidden(dialogauge, data) -> None:
    """The same turns under other names, found again under these."""
    words = ("replay", "select", data, "--rule", "all")
    assert dialogauge(*words, "-o", "open.json").code == 0
    assert dialogauge(*words, "-o", "items.json", "--hash-ids", "--redact").code == 0
    hidden = stored("items.json")["items"]
    assert len(hidden) == len(stored("open.json")["items"])
    assert not any(i["conversation"].startswith("c") and len(i["conversation"]) < 4 for i in hidden)
    write_replies("mine.jsonl", stored("open.json")["items"], "Call me: 555 010 9999 or a.b@example.org")
    done = dialogauge("replay", "collect", "items.json", "--candidate", "replies:mine.jsonl", "-o", "run")
    assert done.code == 0, done.err
    assert "a.b@example.org" not in Path("run/run.db").read_bytes().decode("latin-1")


def fairly(body):
    """A judge of pairs that likes what says `Thursday`, and otherwise whoever stands first."""
    wanted = body.get("response_format", {}).get("json_schema")
    if wanted is None:
        return "A plain answer."
    text = shown_to(body)
    first, second = text.rfind("<dialogue_a>"), text.rfind("<dialogue_b>")
    parts = text[first:second], text[second:]
    good = [p.rfind("rather say this") < 0 for p in parts]
    return json.dumps({"note": "So.", "winner": "a" if good[0] or not good[1] else "b"})


def at(server):
    return ("--rubric", "pair", "--model", "m", "--base-url", server.url)


def test_a_rubric_of_pairs_sees_both_orders(dialogauge, data, serve) -> None:
    """A judge that prefers the original, and of two originals the first: a loss each, and ties."""
    dialogauge("replay", "select", data, "--rule", "all", "-o", "items.json")
    items = stored("items.json")["items"]
    write_replies("mine.jsonl", items, "I would rather say this.")
    talks = {t["conversation_id"]: t for t in map(json.loads, data.read_text().splitlines())}
    with Path("copy.jsonl").open("w") as file:
        for i in items:
            reply = talks[i["conversation"]]["messages"][2 * i["position"] + 1]["content"]
            file.write(json.dumps({"item": i["id"], "reply": reply}) + "\n")
    both = ("--candidate", "replies:mine.jsonl", "--candidate", "replies:copy.jsonl")
    assert dialogauge("replay", "collect", "items.json", *both, "-o", "run").code == 0
    server = serve(fairly)
    done = dialogauge("replay", "score", "run", *at(server), "--no-planted")
    assert done.code == 0, done.err
    assert "2 candidates beside the original replies, in both orders" in done.err
    assert "original" not in done.out
    shown = dialogauge("replay", "compare", "run", "--unchecked")
    assert shown.code == 0, shown.err
    for words in ("preferred to the original", "Position bias", "mine is below the original replies"):
        assert words in shown.out
    shown = dialogauge("replay", "compare", "run")
    assert shown.code == 0, shown.err
    for words in ("preferred to the original", "Position bias", "Scores, not a ranking"):
        assert words in shown.out
    assert "below the original" not in shown.out
    found = dialogauge("replay", "compare", "run", "--json").json
    raw = found["dimensions"]["preferred"]["views"]["raw"]
    assert raw["candidates"]["mine"]["user_macro"] == 0
    assert raw["candidates"]["copy"]["user_macro"] == 0.5
    sides = {p["candidate"]: p["items"] for p in raw["pairs"] if p["against"] == "original"}
    assert (sides["mine"]["losses"], sides["copy"]["ties"]) == (24, 24)
    assert found["position"]["meetings"] == 48
    assert found["position"]["changed"]["value"] == 0.5
    assert found["position"]["first"]["value"] == 0.75  # 24 of 48 answers on mine, 48 of 48 on the copy
    asked = len(server.asked)
    assert dialogauge("replay", "score", "run", *at(server), "--no-planted").code == 0
    assert len(server.asked) == asked == 96
    page = Path("run/report.html").read_text()
    assert "Preferred to the original" in page


def test_pairs_without_a_verdict_are_failures(dialogauge, data, serve) -> None:
    server = serve("no verdict", schema="ignore")
    dialogauge("replay", "select", data, "--rule", "random", "-n", 4, "-o", "items.json")
    write_replies("mine.jsonl", stored("items.json")["items"], "I would rather say this.")
    dialogauge("replay", "collect", "items.json", "--candidate", "replies:mine.jsonl", "-o", "run")
    done = dialogauge("replay", "score", "run", *at(server), "--no-planted")
    assert (done.code, "0 replies scored by pair/m, 4 failed" in done.out) == (3, True)
    found = dialogauge("replay", "compare", "run", "--json").json
    mine = found["dimensions"]["preferred"]["views"]["raw"]["candidates"]["mine"]
    assert (mine["n"], mine["user_macro_bounds"]) == (0, [0, 1])
    assert found["position"]["meetings"] == 0


REFUSED = {
    "hard": (
        ("select", "DATA", "--rule", "hard", "-o", "x.json"),
        "the rule 'hard' chooses by what users rated",
    ),
    "no candidate": (("run", "DATA", "--rubric", "card", "-o", "x"), "no candidate is given"),
    "nobody scores": (("score", "run"), "nobody is named who scores the replies"),
    "personal judge": (("score", "run", "--judge", "local-user"), "nobody rated these conversations"),
    "whole conversations": (("score", "run", "--rubric", "session"), "judges whole conversations"),
    "unknown rubric": (("score", "run", "--rubric", "kindness"), "kindness"),
    "judge of its own": (
        ("score", "run", "--rubric", "card", "--judge", "local-user"),
        "the judge local-user has rubrics of its own",
    ),
    "pairs without a model": (
        ("score", "run", "--rubric", "pair"),
        "compares two replies, and needs a model",
    ),
    "no model": (("score", "run", "--rubric", "card", "--judge", "llm"), "--judge llm needs a model"),
    "without a model": (
        ("score", "run", "--rubric", "factuality"),
        "cannot judge by the rubric 'factuality'",
    ),
    "settings of others": (("score", "run", "--rubric", "card", "--k", 3), "a rubric takes no --k"),
    "strangers": (
        ("collect", "items.json", "--candidate", "replies:other.jsonl", "-o", "y"),
        "no item of the set",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_done_is_refused(dialogauge, data, case) -> None:
    dialogauge("replay", "select", data, "-o", "items.json")
    write_replies("mine.jsonl", stored("items.json")["items"], "Yes.")
    write_replies("other.jsonl", [{"id": "nobody__turn_0"}], "Yes.")
    dialogauge("replay", "collect", "items.json", "--candidate", "replies:mine.jsonl", "-o", "run")
    words, why = REFUSED[case]
    done = dialogauge("replay", *(data if word == "DATA" else word for word in words))
    assert done.code in (1, 2), done.out
    assert why in " ".join(done.err.split())


@pytest.mark.parametrize("judge", [("--rubric", "session"), ("--rubric", "pair"), ("--judge", "local-user")])
def test_who_cannot_score_is_refused_before_a_candidate_is_asked(dialogauge, data, serve, judge) -> None:
    server = serve("A reply.")
    candidate = ("--candidate", f"m=stub-model@{server.url}", "-o", "run")
    done = dialogauge("replay", "run", data, *judge, *candidate)
    assert done.code == 2
    assert server.asked == []
    assert not Path("run/run.db").exists()


def test_no_reply_at_all(dialogauge, log) -> None:
    file = log({"conversation_id": "a", "messages": [{"role": "user", "content": "Hello?"}]})
    done = dialogauge("replay", "select", file, "-o", "items.json")
    assert done.code == 2
    assert "no reply to replay in 1 conversation" in done.err


def test_ratings_that_do_not_suit_are_left_out_on_demand(dialogauge, log) -> None:
    thumbs = [{"dimension": "thumb", "score": 1, "turn": 1}]
    data = log(*(record(n, ratings=thumbs) for n in range(4)), name="data.jsonl")
    done = dialogauge("replay", "select", data, "-o", "items.json")
    assert (done.code, "or --unrated" in " ".join(done.err.split())) == (2, True)
    done = dialogauge("replay", "select", data, "--unrated", "-o", "items.json")
    assert (done.code, "ratings are left out" in done.out) == (0, True)
    assert {i["gold"] for i in stored("items.json")["items"]} == {None}


@pytest.mark.long
def test_a_rubric_scores_rated_items_too(dialogauge, log) -> None:
    def rated(number):
        user, scenario = f"u{number % 4}", f"s{number // 4}"
        ratings = [{"dimension": "satisfaction", "score": 1 + (number + t) % 5, "turn": t} for t in (1, 2, 3)]
        return record(number, user_id=user, scenario=scenario, ratings=ratings)

    data = log(*(rated(n) for n in range(8)), name="data.jsonl")
    dialogauge("replay", "select", data, "--rule", "all", "--split", "all", "-o", "items.json")
    items = stored("items.json")["items"]
    assert all(i["gold"] for i in items)
    write_replies("mine.jsonl", items, "I do not know.")
    dialogauge("replay", "collect", "items.json", "--candidate", "replies:mine.jsonl", "-o", "run")
    assert dialogauge("replay", "score", "run", "--judge", "history-mean").code == 0
    assert dialogauge("replay", "score", "run", "--rubric", "card").code == 0
    assert "dimensions" in dialogauge("replay", "compare", "run", "--json").json
    assert "people" in dialogauge("replay", "compare", "run", "--judge", "history-mean", "--json").json
    assert "dimensions" in dialogauge("replay", "compare", "run", "--judge", "card", "--json").json


@pytest.mark.long
def test_from_python_by_a_rubric(serve) -> None:
    server = serve("I do not know.")
    talks = [record(n, user_id=f"u{n % 5}") for n in range(USERS)]
    candidate = f"new=stub-model@{server.url}"
    run = dialogauge_library.run("replay", talks, candidates=candidate, rubric="card", progress=False)
    helpful = run.summary.dimensions.helpfulness.views.raw.candidates
    assert helpful["new"].user_macro < helpful["original"].user_macro
    assert "<td>new, helpfulness</td>" in run._repr_html_()
