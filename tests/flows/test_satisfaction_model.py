"""The satisfaction study with a model behind a real OpenAI-compatible server."""

from __future__ import annotations

import json
import re
import signal
from itertools import count

import pytest

from flows.conftest import rows_of
from flows.test_interrupt import start, wait_for
from rated import rated_talk, rated_users
from servers.contented import contented, shown_to
from talks import conversation_record

SMALL = ("--split", "all")


@pytest.fixture
def data(log):
    """Four users with 15 rated turns each."""
    return log(*(conversation_record(c) for c in rated_users(4)), name="data.jsonl")


def judging(judge, stub, *words):
    return ("--judge", judge, "--model", "m", "--base-url", stub.url, *words)


def manifest_of(run):
    return json.loads((run / "manifest.json").read_text())


def test_a_generic_judge_from_data_to_report(dialogauge, serve, data, tmp_path) -> None:
    stub = serve(contented(lambda body: 3 if "answer 1" in body["messages"][-1]["content"] else 5))
    done = dialogauge("satisfaction", data, *judging("zero-shot", stub, *SMALL, "-o", "run"))
    assert done.code == 0, done.err
    assert ", by zero-shot/m: 60 scored, 0 failed" in done.out
    rows = rows_of(tmp_path / "run")
    assert len(rows) == 60
    assert {row["details"]["labels"]["reason"] for row in rows} <= {"satisfied", "other"}
    assert all(row["usage"]["by_role"]["judge"]["calls"] for row in rows)
    assert (tmp_path / "run" / "report.html").stat().st_size > 1000
    manifest = manifest_of(tmp_path / "run")
    assert manifest["judge"]["name"] == "zero-shot/m"
    assert manifest["settings"]["roles"]["judge"]["model"] == "m"
    assert (manifest["ended"], manifest["pending_units"]) == ("finished", 0)


def test_failures_that_differ_in_numbers_are_one_line(dialogauge, serve, data) -> None:
    numbers = count(6)
    stub = serve(lambda body: json.dumps({"note": "", "scores": {"satisfaction": next(numbers)}}))
    done = dialogauge("satisfaction", data, *judging("zero-shot", stub, *SMALL, "-o", "run"))
    assert len(re.findall("^failed  ", done.out, re.M)) == 1
    assert len(re.findall("^failed +60, ", done.out, re.M)) == 1


@pytest.mark.long
def test_finished_turns_are_not_asked_again(dialogauge, serve, data, tmp_path) -> None:
    stub = serve(contented())
    words = ("satisfaction", data, *judging("zero-shot", stub, *SMALL, "-o", "run", "--no-cache"))
    done = dialogauge(*words, "--max-calls", 20, "--max-concurrency", 1)
    assert done.code == 1
    assert "the cap of 20 calls is reached" in done.err
    assert "not done yet: 41 turns" in done.err
    before = len(rows_of(tmp_path / "run"))
    manifest = manifest_of(tmp_path / "run")
    assert (manifest["ended"], manifest["pending_units"]) == ("budget", 60 - before)
    asked = len(stub.asked)
    planned = dialogauge(*words, "--dry-run")
    assert f"would judge {60 - before} of 60 turns ({before} done already)" in planned.out
    assert len(stub.asked) == asked
    assert dialogauge(*words).code == 0
    assert len(rows_of(tmp_path / "run")) == 60
    assert len(stub.asked) - asked <= 60 - before + 2  # none twice, but for the probe of the endpoint
    asked = len(stub.asked)
    again = dialogauge(*words, "--calibrate", "cdf", "--json")
    assert again.code == 0, again.err
    assert again.json["metrics"]["n"] == 60
    assert len(stub.asked) == asked  # another map needs no new judgement


@pytest.mark.long
def test_a_rating_of_others_does_not_matter_to_a_judge_that_reads_none(dialogauge, serve, log) -> None:
    talks = [conversation_record(c) for c in rated_users(4)]
    stub = serve(contented())
    words = judging("zero-shot", stub, *SMALL, "-o", "run", "--no-cache")
    assert dialogauge("satisfaction", log(*talks), *words).code == 0
    asked = len(stub.asked)
    talks[0]["ratings"][0]["score"] = 2
    talks[1]["profile"] = {"age": 99}
    assert dialogauge("satisfaction", log(*talks), *words).code == 0
    # the profile is part of the conversation that it stands in, so its three turns are judged anew
    assert len(stub.asked) - asked <= 3 + 1


@pytest.mark.long
def test_words_of_others_matter_to_a_judge_that_is_shown_them(dialogauge, serve, log, tmp_path) -> None:
    talks = [conversation_record(c) for c in rated_users(4)]
    split = {"train": ["user0", "user1", "user2"], "test": ["user3"]}
    (tmp_path / "split.json").write_text(json.dumps(split))
    stub = serve(contented())
    words = judging("few-shot", stub, "--split-file", "split.json", "-o", "run", "--no-cache")
    assert dialogauge("satisfaction", log(*talks), *words).code == 0
    asked = len(stub.asked)
    assert dialogauge("satisfaction", log(*talks), *words).code == 0
    assert len(stub.asked) == asked
    for talk in talks[:18]:  # the training users': shown as examples, and not judged
        talk["messages"][1]["content"] += " Said otherwise since."
    assert dialogauge("satisfaction", log(*talks), *words).code == 0
    assert len(stub.asked) - asked >= 15  # every turn of user3


@pytest.mark.long
def test_rows_of_what_has_changed_since_are_not_shown(dialogauge, serve, log, tmp_path) -> None:
    talks = [conversation_record(c) for c in rated_users(4)]
    stub = serve(contented())
    words = judging("zero-shot", stub, *SMALL, "-o", "run", "--no-cache")
    assert dialogauge("satisfaction", log(*talks), *words).code == 0
    talks[0]["messages"][0]["content"] = "something else"
    assert dialogauge("satisfaction", log(*talks), *words).code == 0
    assert len(rows_of(tmp_path / "run")) == 60
    again = ("--judge", "history-mean", "--split", "all", "-o", "again", "--json")
    done = dialogauge("satisfaction", "run", *again)
    assert (done.json["metrics"]["n"], done.err) == (60, "")


@pytest.mark.long
def test_a_failed_turn_fails_alone(dialogauge, serve, data, tmp_path) -> None:
    broken = ["hello question 1 of cook"]

    def reply(body):
        shown = shown_to(body)
        fails = any(text in shown for text in broken) and "question 2" not in shown
        return "no JSON here" if fails else contented()(body)

    stub = serve(reply, schema="ignore")
    words = ("satisfaction", data, *judging("zero-shot", stub, *SMALL, "-o", "run"))
    done = dialogauge(*words)
    assert done.code == 3
    rows = rows_of(tmp_path / "run")
    failed = [row for row in rows if row["failure"]]
    assert len(rows) == 60
    assert {(r["conversation_id"], r["turn"]) for r in failed} == {(f"user{u}__cook__0", 1) for u in range(4)}
    assert {r["failure"]["kind"] for r in failed} == {"invalid_json"}
    assert dialogauge(*words, "--max-failed", 0.1).code == 0
    stub = serve(contented())
    again = dialogauge(
        "satisfaction", data, *judging("zero-shot", stub, *SMALL, "-o", "run"), "--retry-failed"
    )
    assert again.code == 0


def test_an_endpoint_of_no_use_ends_the_study(dialogauge, serve, data, tmp_path) -> None:
    stub = serve(contented(), key="other")
    done = dialogauge("satisfaction", data, *judging("zero-shot", stub, *SMALL, "-o", "run"))
    assert done.code == 1
    assert "401" in done.err or "key" in done.err
    assert rows_of(tmp_path / "run") == []
    assert manifest_of(tmp_path / "run")["ended"] == "error"


@pytest.mark.long
def test_ctrl_c_keeps_what_is_done(serve, log, dialogauge, tmp_path) -> None:
    data = log(*(conversation_record(c) for c in rated_users(4)))
    stub = serve(contented(), latency=0.2)
    words = ("satisfaction", data, *judging("zero-shot", stub, *SMALL, "-o", "run", "--no-cache"))
    process = start(tmp_path, *words, "--max-concurrency", 4)
    wait_for(stub, 8)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    before = len(rows_of(tmp_path / "run"))
    assert 4 <= before < 60
    asked = len(stub.asked)
    assert dialogauge(*words).code == 0
    assert len(rows_of(tmp_path / "run")) == 60
    assert len(stub.asked) - asked <= 60 - before + 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--judge", "zero-shot"], "needs a language model"),
        (["--judge", "zero-shot", "--model", "m@http://localhost:1", "--mode", "hindsight"], "reads nothing"),
        (["--judge", "zero-shot", "--model", "m@http://localhost:1", "--lang", "fr"], "--lang 'fr'"),
        (["--judge", "history-mean", "--model", "m"], "asks no model"),
        (["--judge", "zero-shot", "--role", "candidate=m"], "--role candidate=...:"),
    ],
)
def test_what_cannot_be_done_is_refused(dialogauge, data, tmp_path, words, said) -> None:
    done = dialogauge("satisfaction", data, *words, "-o", "run")
    assert done.code == 2
    assert said in done.err
    assert not (tmp_path / "run").exists()


@pytest.mark.long
def test_the_run_is_a_run_like_any_other(dialogauge, serve, data, tmp_path) -> None:
    stub = serve(contented(lambda body: 2 if "answer 1" in body["messages"][-1]["content"] else 5))
    words = judging("memory", stub, "--split", "all", "--calibrate", "cdf", "-o", "run")
    done = dialogauge("satisfaction", data, *words)
    assert done.code == 0, done.err
    assert "\nmemory_builder  13 calls" in done.out  # a probe among them
    assert dialogauge("report", "run").code == 0
    assert dialogauge("export", "run", "-o", "rows.csv").code == 0
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == 61
    again = dialogauge("satisfaction", "run", "--judge", "history-mean", *SMALL, "-o", "again")
    assert again.code == 0, again.err
    assert len(rows_of(tmp_path / "again")) == 60
    done = dialogauge("agreement", "run", "again", "--json")
    assert done.code == 0, done.err
    assert [j["judge"] for j in done.json["judges"]] == ["memory/m", "history-mean"]


@pytest.mark.long
def test_one_user_with_very_many_turns(dialogauge, serve, log) -> None:
    talks = [rated_talk("u", s, 0, [3 + i % 3 for i in range(200)], text="喜欢散步") for s in "ab"]
    data = log(*(conversation_record(c) for c in talks))
    stub = serve(contented())
    done = dialogauge("satisfaction", data, *judging("memory", stub, *SMALL, "--json", "-o", "run"))
    assert done.code == 0, done.err
    assert done.json["metrics"]["n"] == 400
    assert len(builds(stub)) == 2
    assert all("未展示" in shown_to(body) for body in builds(stub))


# -- memories -----------------------------------------------------------------------------------------


def wanted(body):
    return json.dumps(body.get("response_format", {}))


def builds(stub):
    return [body for body in stub.asked if "scoring_style" in wanted(body)]


@pytest.mark.long
def test_a_memory_is_built_once_per_block_before_its_first_turn(dialogauge, serve, data, tmp_path) -> None:
    stub = serve(contented())
    words = ("satisfaction", data, *judging("memory", stub, *SMALL, "-o", "run", "--no-cache"))
    done = dialogauge(*words, "--max-calls", 30, "--max-concurrency", 2)
    assert done.code == 1
    assert dialogauge(*words).code == 0
    rows = rows_of(tmp_path / "run")
    assert len(rows) == 60
    assert not any(row["failure"] for row in rows)
    # four users with three scenarios: 12 blocks; what the first run built, the second found in the run
    assert len(builds(stub)) == 12
    by_block = {}
    for row in rows:
        block = row["conversation_id"].rpartition("__")[0]
        by_block.setdefault(block, set()).add(row["details"]["memory"])
    assert len(by_block) == 12
    assert all(len(memories) == 1 for memories in by_block.values())
    spent = [row["usage"]["by_role"].get("memory_builder", {}).get("calls", 0) for row in rows]
    # either run probes the endpoint; the turn for which a memory was built may have met the cap
    assert 12 <= sum(spent) <= 12 + 2
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["usage"]["by_role"]["memory_builder"]["calls"] == sum(spent)
    kept = [json.loads(line) for line in (tmp_path / "run" / "kept.jsonl").read_text().splitlines()]
    assert len({entry["value"]["block"] for entry in kept}) == 12
    assert sum(entry["value"]["usage"]["calls"] for entry in kept) == 12 + 2
    temperatures = {body.get("temperature") for body in builds(stub)}
    assert temperatures == {0.3}


@pytest.mark.long
def test_no_target_rating_and_no_prediction_reaches_a_memory(dialogauge, serve, log) -> None:
    talks = [conversation_record(c) for c in rated_users(1)]
    asked = []
    for score in (1, 5):
        for talk in talks:
            if talk["scenario"] == "trip":
                talk["ratings"] = [{**r, "score": score} for r in talk["ratings"]]
        stub = serve(contented(score))
        words = judging("memory", stub, *SMALL, "-o", f"run{score}", "--no-cache", "--max-concurrency", 1)
        assert dialogauge("satisfaction", log(*talks), *words).code == 0
        shown = [shown_to(body) for body in builds(stub)]
        asked.append([text for text in shown if "hello question 1 of trip" not in text])
    assert asked[0] == asked[1]
    assert len(asked[0]) == 1  # the block whose target is the trip


@pytest.mark.long
@pytest.mark.parametrize("judge", ["zero-shot", "few-shot", "task-rubric", "prometheus"])
def test_generic_judges_see_nothing_of_the_user(dialogauge, serve, log, judge) -> None:
    talks = []
    for talk in (conversation_record(c) for c in rated_users(3)):
        user, scenario = talk["user_id"], talk["scenario"]
        mark = f"MARK-{user}-{scenario}"
        talk["profile"] = {"occupation": f"PROFILE-{user}"}
        talk["messages"][1]["content"] += mark
        talks.append(talk)
    stub = serve(contented())
    words = judging(judge, stub, "--split-file", "split.json", "-o", "run")
    path = log(*talks)
    (path.parent / "split.json").write_text(json.dumps({"train": ["user0"], "test": ["user1", "user2"]}))
    done = dialogauge("satisfaction", path, *words)
    assert done.code == 0, done.err
    assert len(stub.asked) >= 30
    for body in stub.asked:
        text = json.dumps(body, ensure_ascii=False)
        assert "PROFILE" not in text
        # of the conversation that is judged, and of no other of its user
        assert len(set(re.findall("MARK-user[12]-[a-z]+", text))) <= 1
    shots = [body for body in stub.asked if "MARK-user0" in json.dumps(body)]
    assert bool(shots) == (judge == "few-shot")


@pytest.mark.long
def test_the_judges_that_know_their_user_see_the_profile(dialogauge, serve, log) -> None:
    talks = [conversation_record(c) for c in rated_users(1)]
    for judge, sees_history in (("memory", True), ("no-memory", False)):
        stub = serve(contented())
        done = dialogauge("satisfaction", log(*talks), *judging(judge, stub, *SMALL, "-o", judge))
        assert done.code == 0, done.err
        turns = [body for body in stub.asked if "satisfaction" in wanted(body)]
        assert turns
        assert all('{"age":30}' in shown_to(body) for body in turns)
        assert all(("What is known of how this user rates" in shown_to(b)) == sees_history for b in turns)
        assert bool(builds(stub)) == sees_history


def test_users_with_little_or_no_history(dialogauge, serve, log, tmp_path) -> None:
    lone = rated_talk("lone", "cook", 0, [4, 2])
    two = [rated_talk("two", "cook", 0, [3, 4]), rated_talk("two", "trip", 0, [5])]
    flat = [rated_talk("flat", "cook", 0, [4, 4, 4]), rated_talk("flat", "trip", 0, [4])]
    data = log(*(conversation_record(c) for c in [lone, *two, *flat, *rated_users(2)]))
    stub = serve(contented())
    split = tmp_path / "split.json"
    split.write_text(json.dumps({"train": ["user0", "user1"], "test": ["lone", "two", "flat"]}))
    words = judging("memory", stub, "--split-file", split, "-o", "run", "--json")
    done = dialogauge("satisfaction", data, *words)
    assert done.code == 0, done.err
    assert (done.json["metrics"]["n"], done.json["without_history"]["n"]) == (7, 2)
    assert len(builds(stub)) == 4  # none for the user without a history
    asked = {tuple(b["response_format"]["json_schema"]["schema"]["properties"])[:2] for b in builds(stub)}
    assert asked == {("three_versus_four", "scoring_style"), ("scoring_style", "requirements")}
    alone = [shown_to(body) for body in stub.asked if "rated nothing yet" in shown_to(body)]
    assert len(alone) == 2
    assert all("What other users gave: 30 replies" in text for text in alone)


@pytest.mark.long
def test_a_memory_of_another_version_is_refused(dialogauge, serve, data, tmp_path, monkeypatch) -> None:
    stub = serve(contented())
    words = ("satisfaction", data, *judging("memory", stub, *SMALL, "-o", "run", "--no-cache"))
    assert dialogauge(*words).code == 0
    monkeypatch.setattr("dialogauge.judges.personal.memory_build.memory_version", lambda language: "f" * 32)
    asked = len(stub.asked)
    done = dialogauge(*words)
    assert done.code == 1
    assert "was made by another version of the memory prompt" in done.err
    assert "--fresh" in done.err
    assert len(stub.asked) == asked
    assert dialogauge(*words, "--fresh").code == 0


def test_a_memory_that_cannot_be_built_fails_its_turns_alone(dialogauge, serve, data, tmp_path) -> None:
    def reply(body):
        text = json.dumps(body)
        if "scoring_style" in text and "hello question 1 of cook" not in text:
            return "no JSON"  # the memories of the blocks whose target is cook
        return contented()(body)

    stub = serve(reply, schema="ignore")
    words = ("satisfaction", data, *judging("memory", stub, *SMALL, "-o", "run", "--no-cache"))
    assert dialogauge(*words).code == 3
    rows = rows_of(tmp_path / "run")
    failed = [row for row in rows if row["failure"]]
    assert {row["scenario"] for row in failed} == {"cook"}
    assert len(failed) == sum(row["scenario"] == "cook" for row in rows) == 20
    assert all("memory could not be built" in row["failure"]["message"] for row in failed)
    assert len(builds(stub)) == 8 + 4 * 2  # each asked about once more, then left


def test_chinese_data_is_judged_in_chinese(dialogauge, serve, log) -> None:
    talks = [{**conversation_record(c), "language": "zh"} for c in rated_users(1)]
    stub = serve(contented())
    done = dialogauge("satisfaction", log(*talks), *judging("memory", stub, *SMALL, "-o", "run"))
    assert done.code == 0, done.err
    assert all("用户资料" in shown_to(body) for body in stub.asked if body.get("response_format"))


@pytest.mark.long
def test_a_builder_of_its_own(dialogauge, serve, data) -> None:
    judge, builder = serve(contented()), serve(contented())
    words = judging("memory", judge, *SMALL, "-o", "run", "--role", f"memory_builder=big@{builder.url}")
    done = dialogauge("satisfaction", data, *words)
    assert done.code == 0, done.err
    assert len(builds(judge)) == 0
    assert len(builds(builder)) == 12
    assert {body["model"] for body in builder.asked} == {"big"}


@pytest.mark.long
def test_roles_and_limits_from_the_configuration_file(dialogauge, serve, data, tmp_path) -> None:
    judge, builder = serve(contented()), serve(contented())
    (tmp_path / "dialogauge.toml").write_text(
        f"""
        [judge]
        max_calls = 3
        lang = "zh"
        [roles.judge]
        model = "small"
        base_url = "{judge.url}"
        [roles.memory_builder]
        model = "big"
        base_url = "{builder.url}"
        temperature = 0.5
        """
    )
    done = dialogauge("satisfaction", data, "--judge", "memory", *SMALL, "-o", "run")
    assert done.code == 1
    assert "the cap of 3 calls is reached" in done.err
    assert len(judge.asked) + len(builder.asked) <= 3
    done = dialogauge("satisfaction", data, "--judge", "memory", *SMALL, "-o", "run", "--max-calls", 999)
    assert done.code == 0, done.err
    assert {body["temperature"] for body in builds(builder)} == {0.5}
    assert all("用户资料" in shown_to(body) for body in builds(builder))
    roles = manifest_of(tmp_path / "run")["settings"]["roles"]
    assert {role: found["model"] for role, found in roles.items()} == {
        "judge": "small",
        "memory_builder": "big",
    }
