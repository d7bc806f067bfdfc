"""The replay benchmark through the command line: from rated conversations to a leaderboard."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.replay_candidates import main as make_candidates

from rated import rated_users
from servers.contented import contented
from servers.faults import FaultPlan
from talks import conversation_record

MARKS = ("REASON-7731", "PROFILE-7731", "SCORE-7731")


@pytest.fixture
def data(log):
    talks = []
    for talk in rated_users(10):
        ratings = tuple(replace(r, note="REASON-7731") for r in talk.ratings)
        messages = tuple(replace(m, content=f"{talk.user_id}: {m.content}") for m in talk.messages)
        talks.append(replace(talk, messages=messages, ratings=ratings, profile={"job": "PROFILE-7731"}))
    return log(*(conversation_record(t) for t in talks), name="data.jsonl")


@pytest.fixture
def items(dialogauge, data):
    done = dialogauge("replay", "select", data, "--rule", "stratified", "-n", 20, "-o", "items.json")
    assert done.code == 0, done.err
    return json.loads(Path("items.json").read_text())["items"]


def replies(name, items, text="I would rather say this, at some length, about the matter.", **more):
    path = Path(name)
    lines = [{"item": i["id"], "reply": text, **more} for i in items]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_select_prints_the_mix_and_warns(dialogauge, data) -> None:
    hard = dialogauge("replay", "select", data, "-o", "hard.json")
    assert hard.code == 0, hard.err
    assert "WARNING: The turns were chosen by how their users rated them" in hard.out
    assert "licence       not stated" in hard.out
    some = dialogauge(
        "replay", "select", data, "--rule", "random", "-n", 9, "--licence", "mine", "-o", "r.json"
    )
    assert "WARNING" not in some.out
    assert "licence       mine" in some.out
    held = json.loads(Path("r.json").read_text())
    assert len(held["items"]) == 9
    assert held["card"]["gold"]["mean"] is not None
    assert not any(mark in Path("r.json").read_text() for mark in (*MARKS, "answer"))


def test_candidates_made_of_the_data_have_a_reply_for_every_item(items, data) -> None:
    make_candidates("items.json", "made")
    made = {p.stem: [json.loads(line) for line in p.read_text().splitlines()] for p in Path("made").iterdir()}
    assert sorted(made) == ["other-task", "other-user", "same-place", "truncated"]
    for found in made.values():
        assert [line["item"] for line in found] == [item["id"] for item in items]
        assert all(line["reply"] for line in found)


@pytest.mark.long
def test_from_data_to_leaderboard(dialogauge, data, tmp_path) -> None:
    dialogauge("replay", "select", data, "--rule", "stratified", "-n", 20, "-o", "items.json")
    chosen = json.loads(Path("items.json").read_text())["items"]
    replies("long.jsonl", chosen)
    replies("short.jsonl", chosen, "no")
    agents = tmp_path / "agents.toml"
    agents.write_text(
        '[[agent]]\nname = "long"\ncandidate = "replies:long.jsonl"\norganisation = "Long Inc."\n'
    )
    words = ("--candidate", "long", "--candidate", "replies:short.jsonl", "--agents", agents)
    run = ("replay", "run", data, "--rule", "stratified", "-n", 20, "--judge", "local", *words)
    done = dialogauge(*run, "-o", "run")
    assert done.code == 0, done.err
    for said in (
        "\nScores, not a ranking\n",
        "The users gave these original replies ",
        "\nPlanted candidates\n",
        "\nreference-cdf\n",
        "\nlong       original ",
        "(every reply a 5)",
    ):
        assert said in done.out
    folder = tmp_path / "run"
    summary = json.loads((folder / "summary.json").read_text())
    assert set(summary["views"]) == {"raw", "mean-shift", "reference-cdf"}
    assert set(summary["views"]["raw"]["candidates"]) == {"long", "short", "original"}
    planted = [p["candidate"].removeprefix("planted: ") for p in summary["planted"]]
    assert planted == ["polite phrases", "padding", "echo", "refusal", "filler"]
    # these replies are so alike that a judge of wording likes an echo of the request as well
    assert summary["gamed_by"]
    assert (summary["checked"], summary["ranked"]) == (False, False)
    assert {p["side"] for p in summary["views"]["raw"]["pairs"]} == {"not ranked"}
    assert summary["people"]["n"] == 20
    assert len(summary["views"]["raw"]["pairs"]) == 3
    assert summary["candidates"]["long"]["organisation"] == "Long Inc."
    rows = [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]
    assert len(rows) == 60
    assert all(row["views"]["raw"] is not None for row in rows)
    page = (folder / "report.html").read_text()
    assert "Long Inc." in page
    assert "Replies side by side" in page
    assert "I would rather say this, at some length" in page
    assert "<script" not in page
    again = dialogauge(*run, "-o", "run", "--json")
    assert again.code == 0, again.err
    assert again.json["views"] == summary["views"]


@pytest.mark.long
def test_the_parts_by_themselves_and_several_runs(dialogauge, items) -> None:
    replies("one.jsonl", items)
    replies("two.jsonl", items, "short")
    for name in ("one", "two"):
        assert (
            dialogauge(
                "replay", "collect", "items.json", "--candidate", f"replies:{name}.jsonl", "-o", name
            ).code
            == 0
        )
    early = dialogauge("replay", "compare", "one")
    assert early.code == 2
    assert "has not been scored" in early.err
    assert dialogauge("replay", "score", "one", "--judge", "history-mean").code == 0
    other = dialogauge("replay", "score", "two", "--judge", "local", "--reference", "one")
    assert other.code == 2
    assert "not scored by this evaluator, but by history-mean" in other.err
    done = dialogauge("replay", "score", "two", "--judge", "history-mean", "--reference", "one")
    assert done.code == 0, done.err
    both = dialogauge("replay", "compare", "one", "two", "--json")
    assert both.code == 0, both.err
    assert set(both.json["views"]["raw"]["candidates"]) == {"one", "two", "original"}
    assert dialogauge("replay", "score", "one", "--judge", "local").code == 0
    mixed = dialogauge("replay", "compare", "one", "two")
    assert mixed.code == 2
    assert "was not scored by the evaluator of the first run" in mixed.err
    assert dialogauge("replay", "compare", "one", "two", "--judge", "history-mean").code == 0
    assert "the run one is named twice" in dialogauge("replay", "compare", "one", "./one").err
    shutil.copytree("one", "old")
    found = dialogauge("replay", "compare", "one", "old", "--json")
    assert found.code == 0, found.err
    named = set(found.json["candidates"])
    assert len(named) == 2
    assert {name.rpartition(" ")[2] for name in named} == {"(one)", "(old)"}


@pytest.mark.long
@pytest.mark.parametrize(
    "context", ["prefix", "task", "profile", "memory-tfidf", "memory-diverse", "memory-compressed"]
)
def test_what_candidates_are_sent(dialogauge, items, data, serve, context) -> None:
    """Reads every request: the prefix is fixed, and nothing of ratings, reasons or what followed is in it."""
    server = serve("A reply.")
    words = ("--candidate", f"m=stub-model@{server.url}", "--context", context)
    done = dialogauge("replay", "collect", "items.json", *words, "-o", "run")
    assert done.code == 0, done.err
    talks = {t["conversation_id"]: t for t in map(json.loads, data.read_text().splitlines())}
    prefixes = {}
    for item in items:
        messages = talks[item["conversation"]]["messages"]
        at = [i for i, m in enumerate(messages) if m["role"] == "assistant"][item["position"]]
        prefixes[json.dumps([[m["role"], m["content"]] for m in messages[:at]])] = (
            messages[at],
            messages[at + 1 :],
        )
    assert len(server.asked) == len(prefixes) == len(items)
    seen = set()
    for body in server.asked:
        sent = [[m["role"], m["content"]] for m in body["messages"]]
        told = sent.pop(0)[1] if context != "prefix" else ""
        reply, after = prefixes[json.dumps(sent)]
        seen.add(json.dumps(sent))
        text = json.dumps(body, ensure_ascii=False)
        granted = ("PROFILE-7731",) if context == "profile" else ()
        assert [m for m in MARKS if m in text and m not in granted] == []
        assert '"satisfaction"' not in text
        for message in (reply, *after):
            assert not message["content"] or message["content"] not in told
        assert (body["temperature"], body["max_tokens"]) == (0.7, 1024)
    assert len(seen) == len(items)


@pytest.mark.long
def test_a_reply_that_fails_is_a_failure_and_never_the_original(dialogauge, items, serve) -> None:
    asked = []

    def reply(body):
        asked.append(body)
        return "" if len(asked) % 4 == 0 else "```\nA reply.\n```"

    server = serve(reply)
    words = ("replay", "collect", "items.json", "--candidate", f"m=stub-model@{server.url}", "-o", "run")
    done = dialogauge(*words, "--max-concurrency", 1, "--no-cache")
    assert done.code == 3
    assert "empty reply" in done.out
    assert dialogauge("replay", "score", "run", "--judge", "local").code == 0
    found = dialogauge("replay", "compare", "run", "--json").json
    a = found["views"]["raw"]["candidates"]["m"]
    assert a["failed"] > 0
    assert a["n"] + a["failed"] == 20
    assert found["candidates"]["m"]["failures"] == {"reply: empty_reply": a["failed"]}
    assert a["user_macro_bounds"] is not None
    before = len(asked)
    server.reply = lambda body: asked.append(body) or "Better."
    again = dialogauge(*words, "--retry-failed", "--no-cache")
    assert again.code == 0, again.err
    assert len(asked) - before == a["failed"]


def test_collection_goes_on_where_it_stopped(dialogauge, items, serve) -> None:
    server = serve("A reply.")
    words = (
        "replay",
        "collect",
        "items.json",
        "--candidate",
        f"m=stub-model@{server.url}",
        "-o",
        "run",
        "--no-cache",
    )
    done = dialogauge(*words, "--max-calls", 8, "--max-concurrency", 1)
    assert done.code == 1
    assert "pending" in done.out
    assert "raise --max-calls" in done.err
    assert dialogauge(*words).code == 0
    assert len(server.asked) == 20
    assert dialogauge(*words).code == 0
    assert len(server.asked) == 20
    other = dialogauge(*words, "--context", "task")
    assert other.code == 0
    assert "m · task" in other.out
    assert len(server.asked) == 40
    changed = dialogauge(*words, "--seed", 1)
    assert changed.code == 2
    assert "collected otherwise" in changed.err


def test_a_request_that_has_changed_is_made_anew(dialogauge, items, data, serve) -> None:
    server = serve("A reply.")
    words = ("--candidate", f"m=stub-model@{server.url}", "--context", "profile", "-o", "run", "--no-cache")
    assert dialogauge("replay", "collect", "items.json", *words).code == 0
    talks = [json.loads(line) for line in data.read_text().splitlines()]
    for talk in talks:
        if talk["user_id"] == items[0]["user"]:
            talk["profile"] = {"job": "pilot"}
    data.write_text("".join(json.dumps(t) + "\n" for t in talks))
    for _ in range(2):
        assert dialogauge("replay", "collect", "items.json", *words).code == 0
    again = server.asked[20:]
    assert len(again) == sum(i["user"] == items[0]["user"] for i in items)
    assert all("pilot" in b["messages"][0]["content"] for b in again)


@pytest.mark.long
def test_a_reply_that_is_made_anew_is_scored_anew(dialogauge, items, data, serve) -> None:
    server = serve("A reply.")
    words = ("--candidate", f"m=stub-model@{server.url}", "--context", "profile", "-o", "run", "--no-cache")
    score = ("replay", "score", "run", "--judge", "local")
    assert dialogauge("replay", "collect", "items.json", *words).code == 0
    assert "20 replies scored" in dialogauge(*score).out
    talks = [json.loads(line) for line in data.read_text().splitlines()]
    data.write_text("".join(json.dumps({**t, "profile": {"job": "pilot"}}) + "\n" for t in talks))
    server.reply = lambda body: "Another reply, and a longer one."
    early = dialogauge("replay", "collect", "items.json", *words, "--max-calls", 5, "--max-concurrency", 1)
    assert (early.code, "5 of 20 replies" in early.out) == (1, True), "what was asked otherwise is out"
    found = dialogauge("replay", "compare", "run", "--json").json
    assert found["candidates"]["m · profile"]["failures"] == {"score: pending": 5, "reply: pending": 15}
    assert dialogauge("replay", "collect", "items.json", *words).code == 0
    assert "20 replies scored" in dialogauge(*score).out
    found = dialogauge("replay", "compare", "run", "--json").json
    assert found["candidates"]["m · profile"]["failures"] == {}
    assert found["length"]["m · profile"]["mean_characters"] == len("Another reply, and a longer one.")


def test_an_item_set_that_was_changed_by_hand_is_refused(dialogauge, items) -> None:
    stored = json.loads(Path("items.json").read_text())
    stored["items"][0]["gold"] = 1 if stored["items"][0]["gold"] > 2 else 5
    Path("items.json").write_text(json.dumps(stored))
    done = dialogauge(
        "replay", "collect", "items.json", "--candidate", "m@http://127.0.0.1:9/v1", "-o", "run"
    )
    assert done.code != 0
    assert "changed by hand: select anew" in done.err


def test_a_rating_that_changed_after_the_choice_is_announced(dialogauge, items, data, serve) -> None:
    talks = [json.loads(line) for line in data.read_text().splitlines()]
    one = next(t for t in talks if t["conversation_id"] == items[0]["conversation"])
    for rating in one["ratings"]:
        rating["score"] = 1 if rating["score"] > 2 else 5
    data.write_text("".join(json.dumps(t) + "\n" for t in talks))
    words = ("--candidate", f"m=stub-model@{serve('A reply.').url}", "-o", "run")
    done = dialogauge("replay", "collect", "items.json", *words)
    assert done.code == 1
    assert "in the data, and" in done.unwrapped + done.err
    assert items[0]["id"] in done.unwrapped + done.err


def test_an_endpoint_that_is_gone(dialogauge, items) -> None:
    done = dialogauge(
        "replay", "collect", "items.json", "--candidate", "m@http://127.0.0.1:9/v1", "-o", "run"
    )
    assert done.code == 1
    assert "127.0.0.1:9" in done.err


def test_pools_and_functions(dialogauge, items, serve, tmp_path, monkeypatch) -> None:
    a, b = serve("From a."), serve("From b.")
    (tmp_path / "mine_7731.py").write_text(
        "def answer(messages):\n    return messages[-1]['content'].upper()\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    pool = f"mix=pool:stub-a@{a.url},stub-b@{b.url}"
    words = ("--candidate", pool, "--candidate", "py:mine_7731:answer")
    done = dialogauge("replay", "collect", "items.json", *words, "-o", "run")
    assert done.code == 0, done.err
    assert len(a.asked) > 0
    assert len(b.asked) > 0
    assert len(a.asked) + len(b.asked) == 20
    assert "answer  20 of 20 replies" in done.out


def test_a_server_that_fails_now_and_then(dialogauge, items, serve) -> None:
    server = serve("A reply.", faults=FaultPlan(["500", "ok", "ok"]))
    done = dialogauge(
        "replay", "collect", "items.json", "--candidate", f"m=stub-model@{server.url}", "-o", "run"
    )
    assert done.code == 0, done.out + done.err


def collect(dialogauge, *candidates):
    words = [w for c in candidates for w in ("--candidate", c)]
    return dialogauge("replay", "collect", "items.json", *words, "-o", "run")


def test_two_candidates_in_one_file(dialogauge, items) -> None:
    path = replies("both.jsonl", items[:2], candidate="a")
    with path.open("a") as file:
        file.write(json.dumps({"item": items[2]["id"], "reply": "x", "candidate": "b"}) + "\n")
    done = collect(dialogauge, "replies:both.jsonl")
    assert done.code == 1
    assert "both.jsonl:3" in done.err
    assert "a file of its own" in done.err


def test_faults_of_a_file_of_replies(dialogauge, items) -> None:
    path = replies("r.jsonl", items[:10])
    lines = [
        {"item": items[0]["id"], "reply": "again"},
        {"item": "nobody__turn_1", "reply": "x"},
        {"item": items[10]["id"], "reply": "   "},
        {"reply": "x"},
    ]
    with path.open("a") as file:
        file.write("".join(json.dumps(line) + "\n" for line in lines))
    done = collect(dialogauge, "replies:r.jsonl")
    assert done.code == 1
    assert "a second time" in done.err
    assert "'nobody__turn_1' among them" in done.err
    assert "names no item" in done.err
    assert "10 of 20 replies, 9 no reply, 1 empty reply" in done.out
    again = collect(dialogauge, "replies:r.jsonl")
    assert (again.code, again.err, again.out) == (1, done.err, done.out)
    # a file that has changed is taken anew
    replies("r.jsonl", items)
    assert "20 of 20 replies" in collect(dialogauge, "replies:r.jsonl").out


@pytest.mark.long
def test_a_run_ends_as_its_parts_do(dialogauge, data) -> None:
    words = ("replay", "run", data, "--rule", "stratified", "-n", 20, "--judge", "history-mean")
    dialogauge("replay", "select", data, "--rule", "stratified", "-n", 20, "-o", "chosen.json")
    chosen = json.loads(Path("chosen.json").read_text())["items"]
    replies("r.jsonl", [*chosen, chosen[0], {"id": "nobody__turn_1"}])
    for _ in range(2):
        done = dialogauge(*words, "--candidate", "replies:r.jsonl", "-o", "whole")
        assert done.code == 1
        assert "a second time" in done.err
        assert "'nobody__turn_1'" in done.err


def test_a_memory_of_the_target_scenario_is_refused(dialogauge, items) -> None:
    # turn 7 is rated by nobody, and of the very conversation all the same
    replies("r.jsonl", items[:1], memory=[items[0]["conversation"] + "__turn_7"])
    done = collect(dialogauge, "replies:r.jsonl")
    assert done.code == 2
    assert "other scenarios only" in done.err


@pytest.mark.long
def test_items_whose_prefix_is_gone(dialogauge, items, data) -> None:
    replies("r.jsonl", items)
    kept = [
        line
        for line in data.read_text().splitlines()
        if json.loads(line)["conversation_id"] != items[0]["conversation"]
    ]
    data.write_text("\n".join(kept))
    done = collect(dialogauge, "replies:r.jsonl")
    assert done.code == 1
    assert "its conversation or its rating is gone" in done.err
    assert dialogauge("replay", "score", "run", "--judge", "history-mean").code == 1
    found = dialogauge("replay", "compare", "run", "--json").json
    gone = sum(i["conversation"] == items[0]["conversation"] for i in items)
    assert found["items"]["present"] == 20 - gone
    data.write_text("\n".join(kept[:1]))
    assert collect(dialogauge, "replies:r.jsonl").code == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--candidate", "replies:none.jsonl"], "is not there"),
        (["--candidate", "original=replies:items.json"], "may be called 'original'"),
        (["--candidate", "a=py:x:y", "--candidate", "a=py:x:z"], "two candidates are called 'a'"),
        (["--candidate", "pool:m@http://h/v1"], "has one member"),
        (["--candidate", " =replies:items.json"], "a candidate has no name"),
        (["--candidate", "replies:.jsonl"], "a candidate has no name"),
        ([], "no candidate is given"),
        (["--candidate", "py:x:y", "--context", "all"], "--context 'all' is not one of prefix, task"),
        (["--agents", "agents.toml"], "organization"),
    ],
)
def test_what_cannot_be_collected(dialogauge, items, words, said) -> None:
    Path("agents.toml").write_text('[[agent]]\nname = "a"\norganization = "x"\n')
    Path(".jsonl").write_text("")
    done = dialogauge("replay", "collect", "items.json", *words, "-o", "run")
    assert done.code == 2
    assert said in done.err


def test_runs_and_items_that_do_not_fit(dialogauge, items, data) -> None:
    replies("r.jsonl", items)
    collect(dialogauge, "replies:r.jsonl")
    dialogauge("replay", "select", data, "--rule", "random", "-n", 5, "-o", "other.json")
    done = dialogauge("replay", "collect", "other.json", "--candidate", "replies:r.jsonl", "-o", "run")
    assert done.code == 2
    assert "of another item set" in done.err
    assert dialogauge("replay", "score", "run", "--judge", "oracle").code == 2
    Path("older").mkdir()
    Path("older/replay.db").write_bytes(b"")
    for words in (("score", "older", "--judge", "local"), ("compare", "older")):
        assert "an older dialogauge wrote the replay run older" in dialogauge("replay", *words).err
    done = dialogauge("replay", "collect", "items.json", "--candidate", "replies:r.jsonl", "-o", "older")
    assert (done.code, "into another directory" in done.err) == (1, True)
    assert "holds no replay run" in dialogauge("replay", "score", "elsewhere", "--judge", "local").err
    Path("wrong.json").write_text("{}")
    wrong = dialogauge("replay", "collect", "wrong.json", "--candidate", "py:x:y", "-o", "q")
    assert (wrong.code, "no item set" in wrong.err) == (1, True)


@pytest.mark.long
def test_a_judge_with_a_model(dialogauge, items, serve) -> None:
    server = serve(contented(lambda body: 5 if "rather say this" in body["messages"][-1]["content"] else 3))
    replies("r.jsonl", items)
    collect(dialogauge, "replies:r.jsonl")
    model = ("--model", "qwen-tiny", "--base-url", server.url, "--no-cache")
    early = dialogauge("replay", "score", "run", "--judge", "zero-shot", *model, "--max-calls", 30)
    assert early.code == 1
    assert "raise --max-calls" in early.err
    done = dialogauge("replay", "score", "run", "--judge", "zero-shot", *model)
    assert done.code == 0, done.err
    found = dialogauge("replay", "compare", "run", "--json").json
    raw = found["views"]["raw"]
    assert raw["candidates"]["r"]["user_macro"] == 5
    assert raw["candidates"]["original"]["user_macro"] == 3
    assert raw["ceiling"]["within_the_interval_of"] == ["r"]
    assert found["evaluator"]["family"] == "qwen"
    assert found["usage"]["calls"] > 40
    asked = len(server.asked)
    assert dialogauge("replay", "score", "run", "--judge", "zero-shot", *model).code == 0
    assert len(server.asked) == asked
    without = dialogauge("replay", "score", "run", "--judge", "zero-shot")
    assert without.code == 2
    assert "needs a language model" in without.err


@pytest.mark.long
def test_a_budget_smaller_than_a_block_still_gets_on(dialogauge, data, serve) -> None:
    """Every run asks about as many of a block's 5 rated replies as it may, and about none twice."""
    dialogauge("replay", "select", data, "--rule", "stratified", "-n", 4, "-o", "items.json")
    items = json.loads(Path("items.json").read_text())["items"]
    wanted = 5 * len({i["block"] for i in items}) + 6 * len(items)  # the file's replies, and five planted
    server = serve(contented())
    replies("r.jsonl", items)
    collect(dialogauge, "replies:r.jsonl")
    words = ("--judge", "zero-shot", "--model", "m", "--base-url", server.url, "--no-cache")
    asked = []
    for _ in range(wanted):
        before = len(server.asked)
        done = dialogauge("replay", "score", "run", *words, "--max-calls", 4)
        asked.append(len(server.asked) - before)
        assert (done.code == 0) is (sum(asked) == wanted)
        if done.code == 0:
            break
        assert "raise --max-calls" in done.err
    # One of the four calls asks what schemas the endpoint keeps.
    assert asked == [3] * (wanted // 3) + [wanted % 3] * (wanted % 3 > 0)
    assert len({json.dumps(body["messages"]) for body in server.asked}) == wanted


@pytest.mark.long
@pytest.mark.parametrize("judge", ["local", "local-user", "episodic-nearest"])
def test_a_candidate_that_repeats_the_original_replies_ties_with_them(dialogauge, data, judge) -> None:
    """Several items of one conversation are judged apart: each with the original replies before it."""
    dialogauge("replay", "select", data, "--rule", "all", "-o", "items.json")
    items = json.loads(Path("items.json").read_text())["items"]
    talks = {t["conversation_id"]: t for t in map(json.loads, data.read_text().splitlines())}
    with Path("copy.jsonl").open("w") as file:
        for item in items:
            said = [m["content"] for m in talks[item["conversation"]]["messages"] if m["role"] == "assistant"]
            file.write(json.dumps({"item": item["id"], "reply": said[item["position"]]}) + "\n")
    assert collect(dialogauge, "replies:copy.jsonl").code == 0
    assert dialogauge("replay", "score", "run", "--judge", judge).code == 0
    found = dialogauge("replay", "compare", "run", "--json").json
    for view in found["views"].values():
        (pair,) = view["pairs"]
        assert (pair["items"]["ties"], pair["user_macro_delta"]) == (len(items), 0)


@pytest.mark.long
@pytest.mark.parametrize(("train", "warned"), [(2, True), (4, False)])
def test_an_evaluator_that_could_not_learn_what_answers_is_warned_of(dialogauge, log, train, warned) -> None:
    data = log(*(conversation_record(t) for t in rated_users(6)), name="some.jsonl")
    # each training user rated 15 replies in scenarios of all
    split = {"test": ["user0", "user1"], "train": [f"user{n + 2}" for n in range(train)]}
    Path("split.json").write_text(json.dumps(split))
    dialogauge("replay", "select", data, "--rule", "all", "--split-file", "split.json", "-o", "items.json")
    replies("r.jsonl", json.loads(Path("items.json").read_text())["items"], "No.")
    collect(dialogauge, "replies:r.jsonl")
    for _ in range(2):  # the second time nothing is left to score, and nothing is fitted
        assert dialogauge("replay", "score", "run", "--judge", "local-user").code == 0
        done = dialogauge("replay", "compare", "run")
        assert done.code == 0, done.err
        for told in (done.out, Path("run/report.html").read_text()):
            assert ("too few rated replies of training users" in told) is warned
    dialogauge("replay", "score", "run", "--judge", "history-mean")
    assert "too few rated replies" not in dialogauge("replay", "compare", "run").out
