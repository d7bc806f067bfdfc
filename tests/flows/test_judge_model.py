"""The main job with a language model behind a real server over HTTP."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from flows.conftest import rows_of
from servers.faults import FaultPlan
from servers.verdicts import changed, ideal


def at(stub):
    return ("--model", "stub-model", "--base-url", stub.url)


def test_calls_without_a_result_are_told(dialogauge, log, talk, serve, caplog):
    stub = serve("fine", faults=FaultPlan(always="503:0.01"))
    words = ("--max-calls", 2, "--max-concurrency", 1, "-o", "run")
    for more in ((), ("--json",)):
        done = dialogauge("judge", log(talk("a")), *at(stub), *words, *more)
        assert (done.code, "no result counts 2 calls" in caplog.text) == (1, True)
        caplog.clear()


def test_full_scores_are_excellent(dialogauge, serve, log, talk, tmp_path):
    done = dialogauge("judge", log(talk("a", "Nine.", "Ten."), talk("b")), *at(serve(ideal)), "-o", "run")
    assert done.code == 0, done.err
    rows = rows_of(tmp_path / "run")
    wholes = [r for r in rows if r["level"] == "conversation"]
    assert [r["verdict"] for r in wholes] == ["excellent", "excellent"]
    assert {r["verdict_basis"] for r in wholes} == {"full"}
    assert wholes[0]["scores"]["repair_handling"] == "n/a"
    assert wholes[0]["usage"]["calls"] >= 1
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["usage"]["by_role"]["judge"]["calls"] >= 2


def test_the_models_own_verdict_is_kept_and_counted(dialogauge, serve, log, talk, tmp_path):
    def modest(value):
        value["verdict"] = "good"

    dialogauge("judge", log(talk("a")), *at(serve(changed(modest))), "-o", "run")
    whole = rows_of(tmp_path / "run")[-1]
    assert whole["verdict"] == "excellent"
    assert whole["details"]["model_verdict"] == "good"
    verdicts = json.loads((tmp_path / "run" / "summary.json").read_text())["verdicts"]
    assert verdicts["model_verdicts"] == {"compared": 1, "mismatched": 1}


def _listed(value):
    """Return the entries as models write them that no schema holds."""
    return [{"turn": int(n), **entry} for n, entry in value["per_turn"].items()]


WRONG = {
    "4.5": lambda v: v["per_turn"]["1"]["scores"].update(helpfulness=4.5),
    "text": lambda v: v["per_turn"]["1"]["scores"].update(helpfulness="five"),
    "digit as text": lambda v: v["per_turn"]["1"]["scores"].update(helpfulness="4"),
    "true": lambda v: v["per_turn"]["1"]["scores"].update(helpfulness=True),
    "3.0": lambda v: v["per_turn"]["1"]["scores"].update(helpfulness=3.0),
    "six": lambda v: v["per_turn"]["1"]["scores"].update(helpfulness=6),
    "n/a where none is": lambda v: v["per_turn"]["1"]["scores"].update(helpfulness="n/a"),
    "fewer turns": lambda v: v["per_turn"].clear(),
    "a turn twice": lambda v: v.update(per_turn=[*_listed(v), {**_listed(v)[0], "issues": ["rude"]}]),
    "another turn": lambda v: v["per_turn"].update({"7": v["per_turn"].pop("1")}),
    "another turn inside": lambda v: v["per_turn"]["1"].update(turn=2),
    "no conversation": lambda v: v.pop("conversation_level"),
    "weakest unknown": lambda v: v.update(weakest_turn=9),
}


FAILED = {"fewer turns": [True, True, False], "no conversation": [False, False, True]}
FAILED |= {"weakest unknown": [False, False, True], "another turn": [True, True, False]}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_of_a_reply_is_a_failure_and_no_number(dialogauge, serve, log, talk, tmp_path, name):
    stub = serve(changed(WRONG[name]), schema="ignore")
    done = dialogauge("judge", log(talk("a", "Nine.", "Ten.")), *at(_spoken(stub)), "-o", "run")
    assert done.code == 3
    assert len(stub.asked) == 2
    rows = rows_of(tmp_path / "run")
    assert [row["failure"] is not None for row in rows] == FAILED.get(name, [True, False, False])
    for row in rows:
        if row["failure"] is not None:
            assert row["scores"] is None
            assert row["failure"]["kind"] == "invalid_schema"
        else:
            assert set(row["scores"].values()) <= {5, "n/a"}


@pytest.mark.parametrize(
    "more",
    [
        lambda v: v["per_turn"].update({"7": v["per_turn"]["1"]}),
        lambda v: v.update(per_turn=[*_listed(v), {**_listed(v)[0], "turn": 7}]),
    ],
    ids=["by number", "in a list"],
)
def test_an_entry_more_than_was_asked_for_does_no_harm(dialogauge, serve, log, talk, tmp_path, more):
    stub = serve(changed(more), schema="ignore")
    done = dialogauge("judge", log(talk("a", "Nine.", "Ten.")), *at(_spoken(stub)), "-o", "run")
    assert (done.code, len(stub.asked)) == (0, 1)
    assert rows_of(tmp_path / "run")[-1]["details"]["extra_keys"] == 1


def _spoken(stub):
    """Let a stub that ignores schemas still be told what is asked: it remembers the probe's answer."""
    inner = stub.reply

    def reply(body):
        if "response_format" not in body:
            body = {**body, "response_format": {"json_schema": {"schema": _card_schema(body)}}}
        return inner(body)

    stub.reply = reply
    return stub


def _card_schema(body):
    from dialogauge.rubrics import Scope, load_rubric, reply_schema

    return reply_schema(load_rubric("card"), Scope((1, 2), ("turn", "conversation")), "en")


def test_a_wrong_reply_is_asked_once_more_and_mended(dialogauge, serve, log, talk, tmp_path):
    stub = serve(ideal, faults=FaultPlan([None, "wrong_schema"]))
    done = dialogauge("judge", log(talk("a")), *at(stub), "-o", "run")
    assert done.code == 0
    assert rows_of(tmp_path / "run")[-1]["details"]["reasked"] is True


RUBRIC = """
id = "kind"
version = "1"
level = "turn"
languages = ["en"]
shows = ["dialogue"]
template = "Is the reply kind? {{examples}} {{dimensions}} {{reply_format}} {{dialogue}}"

[[dimensions]]
name = "kindness"
description = "How kind the reply is."

[[examples]]
id = "shown"
text = "The assistant thanks the user."
answer = "5"
"""


def test_a_rubric_of_ones_own_and_its_worked_examples(dialogauge, serve, log, talk, tmp_path):
    (tmp_path / "kind.toml").write_text(RUBRIC)
    path = log(talk("a"), talk("shown"))
    done = dialogauge("judge", path, *at(serve()), "--rubric", "kind.toml", "-o", "run")
    assert done.code == 0, done.out + done.err
    assert [r["conversation_id"] for r in rows_of(tmp_path / "run")] == ["a"]
    assert "1 not judged: the rubric shows them as worked examples" in done.out


def test_factuality_is_checked_against_a_source(dialogauge, serve, log, talk, tmp_path):
    (tmp_path / "facts.txt").write_text("The museum opens at ten.")
    stub = serve()
    words = ("--rubric", "factuality", "--source", "facts.txt", "-o", "run")
    assert dialogauge("judge", log(talk("a")), *at(stub), *words).code == 0
    assert "The museum opens at ten." in json.dumps(stub.asked[-1]["messages"])
    assert dialogauge("judge", log(talk("a")), *at(stub), *words, "--source", "none.txt").code == 2


def test_no_key(dialogauge, serve, log, talk):
    done = dialogauge(
        "judge", log(talk("a")), *at(serve(ideal)), "--api-key-env", "NOT_SET_HERE", "-o", "run"
    )
    assert done.code == 2
    assert "NOT_SET_HERE" in done.err


def test_wrong_key_never_shows_it(dialogauge, serve, log, talk, monkeypatch, tmp_path):
    monkeypatch.setenv("MY_KEY", "sk-secret-123")
    stub = serve(ideal, key="another")
    done = dialogauge("judge", log(talk("a")), *at(stub), "--api-key-env", "MY_KEY", "-o", "run")
    assert done.code == 1
    assert "401" in done.err
    everything = done.out + done.err
    for path in (tmp_path / "run").iterdir():
        everything += path.read_bytes().decode("utf-8", "replace")
    assert "sk-secret-123" not in everything


def test_refused_connection(dialogauge, log, talk):
    done = dialogauge(
        "judge", log(talk("a")), "--model", "m", "--base-url", "http://127.0.0.1:9/v1", "-o", "run"
    )
    assert done.code == 1
    assert "127.0.0.1:9" in done.err
    assert done.out.splitlines()[-1].startswith("nothing was done: correct")
    assert "trust" not in done.out
    assert "coherence" not in done.out


def test_unknown_model(dialogauge, serve, log, talk):
    stub = serve(ideal, model="the-only-one")
    done = dialogauge("judge", log(talk("a")), *at(stub), "-o", "run")
    assert done.code == 1
    assert "stub-model" in done.err


def test_call_cap_stops_and_the_same_command_goes_on(dialogauge, serve, log, talk, tmp_path):
    path, stub = log(*(talk(f"c{i}") for i in range(6))), serve(ideal)
    done = dialogauge("judge", path, *at(stub), "--max-calls", 4, "--max-concurrency", 1, "-o", "run")
    assert done.code == 1
    assert "--max-calls" in done.err
    stored = len(rows_of(tmp_path / "run"))
    assert 0 < stored < 12
    done = dialogauge("judge", path, *at(stub), "-o", "run")
    assert done.code == 0
    assert len(rows_of(tmp_path / "run")) == 12


def test_cost_cap_without_a_price_is_refused(dialogauge, serve, log, talk):
    done = dialogauge("judge", log(talk("a")), *at(serve(ideal)), "--max-cost", 1, "-o", "run")
    assert done.code == 2
    assert "--max-calls" in done.err


def test_cost_is_counted_with_a_price_table(dialogauge, serve, log, talk, tmp_path):
    prices = tmp_path / "prices.toml"
    prices.write_text('[[model]]\nname = "stub-model"\ninput_per_million = 1000\noutput_per_million = 0\n')
    done = dialogauge("judge", log(talk("a")), *at(serve(ideal)), "--prices", prices, "-o", "run", "--json")
    total = done.json["usage"]["total"]
    assert total["cost"] == pytest.approx(total["prompt_tokens"] / 1000)


def test_a_dry_run_says_what_it_would_ask_and_cost(dialogauge, serve, log, talk, tmp_path):
    """A conversation of 14 turns takes windows; the run then asks as often, and reads as much."""
    stub, prices = serve(ideal), tmp_path / "prices.toml"
    prices.write_text('[[model]]\nname = "stub-model"\ninput_per_million = 3\noutput_per_million = 20\n')
    path = log(talk("a", *map(str, range(14))), talk("b"))
    words = ("judge", path, *at(stub), "--prices", prices, "-o", "run")
    plan = dialogauge(*words, "--dry-run", "--json").json
    assert stub.asked == []
    assert not (tmp_path / "run").exists()
    assert dialogauge(*words).code == 0
    asked, expected = stub.asked, plan["asking"]
    assert expected["calls"] == len(asked) > 2
    sent = sum(len(message["content"].encode()) for body in asked for message in body["messages"])
    assert sent / 3 <= expected["prompt_tokens"] <= 1.3 * sent / 3  # its summaries are short
    assert expected["cost"] == pytest.approx(expected["prompt_tokens"] * 3e-6 + len(asked) * 0.01)
    assert dialogauge(*words, "--dry-run", "--json").json["asking"]["calls"] == 0


def test_cached_replies_are_not_asked_again(dialogauge, serve, log, talk):
    path, stub = log(talk("a")), serve(ideal)
    dialogauge("judge", path, *at(stub), "-o", "one")
    asked = len(stub.asked)
    done = dialogauge("judge", path, *at(stub), "-o", "two", "--json")
    assert done.json["usage"]["total"]["cached"] == 1
    assert len(stub.asked) == asked
    dialogauge("judge", path, *at(stub), "-o", "three", "--no-cache")
    assert len(stub.asked) > asked


def test_failed_ones_are_tried_again_on_request(dialogauge, serve, log, talk, tmp_path):
    path = log(talk("a"), talk("b"))
    bad = serve(ideal, faults=FaultPlan(script=[None, "prose", "prose"], always=None))
    done = dialogauge("judge", path, *at(bad), "--max-concurrency", 1, "-o", "run")
    assert done.code == 3
    assert dialogauge("judge", path, *at(bad), "-o", "run").code == 3
    done = dialogauge("judge", path, *at(bad), "--retry-failed", "-o", "run")
    assert done.code == 0, done.err
    assert len(rows_of(tmp_path / "run")) == 4


def test_a_long_conversation_is_judged_in_windows(dialogauge, serve, log, talk, tmp_path):
    path = log(talk("long", *(f"It opens at {i}." for i in range(14))))
    done = dialogauge("judge", path, *at(serve(ideal)), "-o", "run")
    assert done.code == 0, done.err
    rows = rows_of(tmp_path / "run")
    assert [r["turn"] for r in rows] == [*range(1, 15), None]
    assert rows[-1]["verdict"] == "excellent"


def test_strict_order_of_exit_codes(dialogauge, serve, log, talk):
    """1 before 3 before 100."""
    broken = serve("prose", schema="ignore")
    gate = ("--gate", "verdict.value>=good:1", "--unchecked")
    assert dialogauge("judge", log(talk("a"), name="a.jsonl"), *at(broken), *gate, "-o", "r").code == 3
    path = log(talk("a"), "{", name="b.jsonl")
    assert dialogauge("judge", path, *at(broken), *gate, "-o", "s").code == 1


def test_failures_keep_their_place_in_the_mean(dialogauge, serve, log, talk, tmp_path):
    """Half fail, half get 5: the mean says 5 from half of the turns, and the bounds say 3 to 5."""

    def half(body):
        return (
            "no"
            if '"bad' in json.dumps(body["messages"]) or "bad-" in json.dumps(body["messages"])
            else ideal(body)
        )

    path = log(*(talk(f"{kind}{i}", f"{kind}-answer") for kind in ("bad", "good") for i in range(3)))
    stub = serve(half, schema="ignore")

    def asked(body):
        body = {**body, "response_format": {"json_schema": {"schema": _one_turn()}}}
        return half(body)

    stub.reply = asked
    done = dialogauge("judge", path, *at(stub), "--max-failed", 0.9, "-o", "run", "--json")
    assert done.code == 0
    found = done.json["dimensions"]["helpfulness"]
    assert (found["mean"], found["n"], found["n_failed"]) == (5.0, 3, 3)
    assert found["bounds"] == [3.0, 5.0]


def _one_turn():
    from dialogauge.rubrics import Scope, load_rubric, reply_schema

    return reply_schema(load_rubric("card"), Scope((1,), ("turn", "conversation")), "en")


def test_doctor_tells_of_the_endpoint(dialogauge, serve):
    done = dialogauge("doctor", *at(serve(ideal)), "--no-known-answers")
    assert done.code == 0, done.err
    assert "reachable" in done.out
    assert done.out.splitlines()[-1].startswith("fit to judge: cannot be told")
    assert done.out.index("reachable") < done.out.index("long prompt") < done.out.index("parameters")
    done = dialogauge("doctor", *at(serve(ideal)), "--json")
    assert done.code == 1
    assert done.json["fit"] is False  # the same good scores for everybody
    assert "task completion is right in" in done.json["verdict"]


def test_doctor_says_that_no_judging_call_was_answered(dialogauge, serve):
    done = dialogauge("doctor", *at(serve("I would rather not.", schema="ignore")))
    assert done.code == 1
    assert "12 of 12 conversations have no valid judgement" in done.out


def test_doctor_prints_each_check_when_it_is_done(serve, tmp_path):
    stub = serve(ideal, faults=FaultPlan([None] * 6, always="hang"))
    words = [sys.executable, "-m", "dialogauge", "doctor", *map(str, at(stub))]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert "reachable" in process.stdout.readline()
        assert "model" in process.stdout.readline()
        process.kill()


def test_doctor_on_a_dead_endpoint(dialogauge):
    done = dialogauge("doctor", "--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    assert done.code == 1
    assert "FAILED" in done.out
    assert "list its models" not in done.out
    assert "dialogauge doctor" not in done.out
    assert done.out.splitlines()[-1] == "NOT fit to judge: the endpoint fails (reachable)"


def test_the_manifest_keeps_the_command_without_secrets(dialogauge, serve, log, talk, tmp_path):
    stub = serve(ideal)
    url = stub.url.replace("http://", "http://me:hunter2@") + "?token=hunter2"
    dialogauge("judge", log(talk("a"), name="my log.jsonl"), "--model", "m", "--base-url", url, "-o", "run")
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["command"].startswith("dialogauge judge '")
    assert manifest["command"].endswith(f"--model m --base-url {stub.url} -o run")
    assert "hunter2" not in json.dumps(manifest)


def test_the_seed_reaches_the_model_and_repeats_have_their_own(dialogauge, serve, log, talk):
    stub = serve(ideal)
    path = log(talk("a"))
    done = dialogauge("judge", path, *at(stub), "--seed", 7, "--repeats", 3, "-o", "run")
    assert done.code == 0, done.err
    assert sorted(sent["seed"] for sent in stub.asked) == [7, 8, 9]
    dialogauge("judge", path, *at(stub), "--seed", 7, "--repeats", 3, "-o", "another")
    assert len(stub.asked) == 3
    dialogauge("judge", path, *at(stub), "--seed", 20, "-o", "third")
    assert stub.asked[-1]["seed"] == 20


def test_the_commonest_failure_is_shown_with_its_count(dialogauge, serve, log, talk):
    faults = FaultPlan(choose=lambda body: "400:Bad words in line 7" if "museum a" in str(body) else None)
    done = dialogauge("judge", log(talk("a"), talk("b")), *at(serve(ideal, faults=faults)), "-o", "run")
    assert "most often (2) HTTP 400: Bad words in line 7" in done.unwrapped


def test_a_server_that_cuts_prompts_is_named_at_the_end(dialogauge, serve, log, talk):
    def cut(body):
        return ideal(body), {"prompt_tokens": 512, "completion_tokens": 9}

    done = dialogauge("judge", log(talk("a", "word " * 5000)), *at(serve(cut)), "-o", "run")
    assert "the endpoint counted 512 tokens" in done.unwrapped
