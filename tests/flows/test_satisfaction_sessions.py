"""Sessions as a whole in the satisfaction study, on records in the form of URS that are made here."""

from __future__ import annotations

import json

import pytest

from dialogauge.core import Conversation, Message, Place, Rating
from dialogauge.runs.records import own_scores
from dialogauge.studies.satisfaction.blocks import rated_as_session
from flows.conftest import rows_of
from servers.contented import contented, shown_to

LABELS = ("very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied")
INTENTS = ("Information Retrieval", "Ask for Advice", "Leisure")
SESSION = ("--level", "session", "--split", "all", "-o", "run")


def session(user, intent, number, score):
    """Five turns, so that a window of three would lose the first."""
    history = []
    for turn in range(1, 6):
        history.append({"role": "user", "content": f"question {turn} of user {user}, {intent} {number}"})
        history.append({"role": "assistant", "content": f"answer {turn}, {intent} {number}"})
    label = LABELS[score - 1]
    return {
        "user_id": user,
        "intent_label": intent,
        "user_satisfaction": label,
        "conversation_history": history,
        "title": f"{intent} {number}",
        "llm": "m",
    }


@pytest.fixture
def urs(tmp_path):
    """Four users with three sessions of each of three intents; user 0 rates 5, 5, 5, 4, 4, 4, 3, 3, 3."""
    talks = [
        session(user, intent, number, 1 + (4 - i + user) % 5)
        for user in range(4)
        for i, intent in enumerate(INTENTS)
        for number in range(3)
    ]
    path = tmp_path / "urs.json"
    path.write_text(json.dumps(talks))
    return path


def judging(judge, stub):
    return ("--judge", judge, "--model", "m", "--base-url", stub.url, "--no-cache")


def test_the_rating_of_a_session_goes_to_its_last_reply() -> None:
    said = ("user", "assistant", "user", "assistant", "user")
    given = (
        Rating("c", "satisfaction", 2),
        Rating("c", "satisfaction", 5, 1),
        Rating("c", "clarity", 4, 1),
        Rating("c", "clarity", 3),
    )
    talk = Conversation("c", tuple(Message(r, "x") for r in said), ratings=given)
    found, faults = rated_as_session(talk, "satisfaction")
    assert found.ratings == (Rating("c", "satisfaction", 2, 2), *given[2:])
    assert faults == ()


def test_a_rating_of_a_session_without_a_reply_is_named_and_left_out(dialogauge, urs, tmp_path) -> None:
    given = (Rating("c", "satisfaction", 2), Rating("c", "clarity", 3))
    mute = Conversation("c", (Message("user", "x"),), ratings=given, place=Place("log.jsonl", 7))
    found, faults = rated_as_session(mute, "satisfaction")
    assert found.ratings == given[1:]
    assert [str(f) for f in faults] == [
        "log.jsonl:7, conversation 'c': a rating of a session that has no reply (it is left out)"
    ]
    talks = json.loads(urs.read_text())
    talks[4]["conversation_history"] = talks[4]["conversation_history"][:1]
    urs.write_text(json.dumps(talks))
    done = dialogauge("satisfaction", urs, "--judge", "history-mean", *SESSION, "--json")
    assert done.code == 1
    assert done.json["study"]["rating_faults"] == 1
    assert done.json["requested"] == 35
    assert "a rating of a session that has no reply (it is left out)" in done.err


@pytest.mark.long
def test_the_mean_of_the_other_sessions_without_a_model(dialogauge, urs, tmp_path) -> None:
    done = dialogauge("satisfaction", urs, "--judge", "history-mean", *SESSION)
    assert done.code == 0, done.err
    rows = rows_of(tmp_path / "run")
    assert len(rows) == 36
    assert {row["turn"] for row in rows} == {5}
    mine = {r["scenario"]: r["scores"]["satisfaction"] for r in rows if r["user_id"] == "en_0"}
    assert mine == {"retrieval": 3.5, "advice": 4.0, "leisure": 4.5}
    study = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert (study["study"]["users"], study["study"]["blocks"], study["study"]["turns"]) == (4, 12, 36)
    met = dialogauge("agreement", "run", "--json")
    assert met.code == 0, met.err
    assert met.json["satisfaction"]["n"] == 36


@pytest.mark.long
def test_a_memory_of_the_other_sessions(dialogauge, serve, urs, tmp_path) -> None:
    stub = serve(contented(lambda body: 3 if "Leisure 1" in body["messages"][-1]["content"] else 4))
    words = ("satisfaction", urs, *judging("memory", stub), *SESSION)
    done = dialogauge(*words, "--calibrate", "cdf")
    assert done.code == 0, done.err
    rows = rows_of(tmp_path / "run")
    assert len(rows) == 36
    kept = [json.loads(line)["value"] for line in (tmp_path / "run" / "kept.jsonl").read_text().splitlines()]
    memories = {m["block"]: m["memory"] for m in kept}
    assert len(memories) == 12
    # user 0 rates leisure 3; what is known there are the three 5 and the three 4 of the other sessions
    assert memories["en_0__leisure"]["conversations"] == 6
    assert memories["en_0__leisure"]["scale"]["mean"] == 4.5
    told = [shown_to(b) for b in stub.asked]
    judged = [text for text in told if "<dialogue>" in text and "whole session" in text]
    assert len(judged) == 36
    assert all("question 1 of user" in text and "answer 5" in text for text in judged)  # the whole session
    leisure = [row for row in rows if row["user_id"] == "en_0" and row["scenario"] == "leisure"]
    assert {row["raw"]["satisfaction"] for row in leisure} == {3, 4}
    assert {own_scores(row)["satisfaction"] for row in leisure} == {
        4,
        5,
    }  # on the scale of this user's history
    asked = len(stub.asked)
    assert dialogauge(*words, "--calibrate", "pooled").code == 0
    assert len(stub.asked) == asked


def finding_faults(body):
    """Judge Advice 1 wrong, Leisure 1 generic and nothing else failed; 5 where nothing is, at first."""
    reply = json.loads(contented(5)(body))
    if "failed_condition" in reply:
        shown = shown_to(body)
        failed = next((w for title, w in FAULTS.items() if title in shown), "none")
        contradicts = failed == "generic" and "Score the session above" in body["messages"][-1]["content"]
        score = 5 if failed == "none" or contradicts else 2
        reply |= {"failed_condition": failed, "reason": "satisfied" if score == 5 else "other"}
        reply["scores"]["satisfaction"] = score
    return json.dumps(reply)


FAULTS = {"Ask for Advice 1": "wrong", "Leisure 1": "generic"}


@pytest.mark.long
@pytest.mark.parametrize("judge", ["memory", "zero-shot"])
def test_a_failed_condition_caps_a_session_also_when_calibrated(
    dialogauge, serve, urs, tmp_path, judge
) -> None:
    stub = serve(finding_faults)
    done = dialogauge(
        "satisfaction", urs, *judging(judge, stub), *SESSION, "--guard", "--calibrate", "cdf", "--json"
    )
    assert done.code == 0, done.err
    rows = rows_of(tmp_path / "run")
    failed = {r["conversation_id"]: r for r in rows if r["details"]["labels"]["failed_condition"] != "none"}
    assert len(rows) == 36
    assert len(failed) == 8
    for row in failed.values():
        generic = row["details"]["labels"]["failed_condition"] == "generic"
        assert row["details"]["reasked"] == generic  # a 5 contradicts the condition, and is asked about
        assert row["details"]["cap"] == (3 if generic else 2)
        assert row["raw"]["satisfaction"] == 2
        assert own_scores(row)["satisfaction"] <= row["details"]["cap"]
    # of whoever rates 4 or 5 elsewhere, the map alone makes the lowest session a 4
    assert done.json["guard"] == {"capped": 8, "lifted": 2}
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["settings"]["guard"] is True
    assert manifest["judge"]["judge"] == f"{judge}-guarded"
    assert manifest["judge"]["rubric"] == f"session_{judge.replace('-', '_')}_guarded"
    page = (tmp_path / "run" / "report.html").read_text()
    assert "8 sessions failed a condition" in page
    asked = len(stub.asked)
    assert dialogauge("satisfaction", urs, *judging(judge, stub), *SESSION[:-1], "plain").code == 0
    assert len(stub.asked) > asked
    plain = json.loads((tmp_path / "plain" / "manifest.json").read_text())
    assert plain["judge"]["digest"] != manifest["judge"]["digest"]


@pytest.mark.long
def test_the_local_judge_reads_sessions_with_and_without_the_guard(dialogauge, urs, tmp_path) -> None:
    talks = json.loads(urs.read_text())
    for talk in talks[::3]:
        talk["conversation_history"][-1]["content"] = "I'm sorry, but I can't help with that request."
    urs.write_text(json.dumps(talks))
    plain = dialogauge("satisfaction", urs, "--judge", "local", *SESSION)
    assert plain.code == 0, plain.err
    free = {r["conversation_id"]: own_scores(r)["satisfaction"] for r in rows_of(tmp_path / "run")}
    words = ("satisfaction", urs, "--judge", "local", *SESSION[:-1], "guarded", "--guard")
    done = dialogauge(*words, "--calibrate", "mean-shift")
    assert done.code == 0, done.err
    rows = rows_of(tmp_path / "guarded")
    capped = [row for row in rows if row["details"]["failed"]]
    assert len(capped) == 12
    for row in rows:
        score, cap = own_scores(row)["satisfaction"], row["details"].get("cap", 5)
        assert score <= cap
        assert row["raw"]["satisfaction"] <= max(free[row["conversation_id"]], cap)
    assert "12 sessions failed a condition" in done.out


def test_a_direct_judge_sees_nothing_of_the_user(dialogauge, serve, urs) -> None:
    stub = serve(contented())
    done = dialogauge("satisfaction", urs, *judging("zero-shot", stub), *SESSION)
    assert done.code == 0, done.err
    told = [text for b in stub.asked if "<dialogue>" in (text := shown_to(b))]
    assert len(told) == 36
    for text in told:
        assert "question 1 of user" in text
        assert sum(f"of user {user}," in text for user in range(4)) == 1
        assert text.endswith("Score the session above as a whole.")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--judge", "local-user", *SESSION), "the judge local-user reads single replies, not sessions"),
        (("--judge", "history-mean", "--level", "day"), "--level 'day' is not one of turn, session"),
        (("--judge", "history-mean"), "no rated reply"),
        (("--judge", "history-mean", *SESSION, "--guard"), "the judge history-mean takes no --guard"),
        (("--judge", "local", "--guard"), "--guard is for sessions"),
    ],
)
def test_what_cannot_be_done_is_refused(dialogauge, urs, words, said) -> None:
    done = dialogauge("satisfaction", urs, *words)
    assert done.code == 2
    assert said in done.err
