"""The same command again, after a stop, an edit or a failure: what is shown is what is asked now."""

from __future__ import annotations

import json

import pytest

from dialogauge.rubrics import Scope, load_rubric, reply_schema
from dialogauge.runs import open_run
from flows.conftest import rows_of
from servers.schemas import instance
from servers.verdicts import changed, ideal

KIND = """
id = "kind"
version = "1"
level = "turn"
languages = ["en"]
shows = ["dialogue"]
template = "Is the reply kind? {{dimensions}} {{reply_format}} {{dialogue}}"

[[dimensions]]
name = "kindness"
description = "How kind the reply is."
"""


def at(stub):
    return ("--model", "stub-model", "--base-url", stub.url, "--no-cache", "-o", "run")


def figures(run):
    summary = json.loads((run / "summary.json").read_text())
    return summary["conversations"]["requested"], summary["conversations"]["pending"]


@pytest.mark.parametrize("cap", [2, 8, 20])
def test_a_capped_run_of_an_edited_log_shows_no_row_of_the_old_one(
    dialogauge, serve, log, talk, tmp_path, cap
):
    stub = serve(ideal)
    path = log(*(talk(f"c{n}", f"Reply {n}.") for n in range(20)))
    assert dialogauge("judge", path, *at(stub)).code == 0
    log(*(talk(f"c{n}", f"Edited {n}." if n < 15 else f"Reply {n}.") for n in range(20)))
    done = dialogauge("judge", path, *at(stub), "--max-calls", cap, "--max-concurrency", 1)
    rows = rows_of(tmp_path / "run")
    pending = json.loads((tmp_path / "run" / "manifest.json").read_text())["pending_units"]
    assert (done.code, 20 - pending) == (0, 20) if cap == 20 else (1, len(rows) // 2)
    assert 15 - cap <= pending <= 16 - cap or cap == 20
    assert figures(tmp_path / "run") == (20, pending)
    assert len({(r["conversation_id"], r["level"], r["turn"]) for r in rows}) == len(rows)
    before = len(stub.asked)
    assert dialogauge("judge", path, *at(stub)).code == 0
    assert len(stub.asked) - before <= pending + 1  # and the probe of the endpoint
    assert (len(rows_of(tmp_path / "run")), figures(tmp_path / "run")) == (40, (20, 0))


def test_what_a_run_holds_of_an_earlier_input_is_said_to_be_left_out(dialogauge, log, talk):
    said = "of an earlier input {} not of this one: kept in run.db, and left out of the files beside it"
    first = [talk(f"c{n}", f"Reply {n}.") for n in range(4)]
    assert "earlier input" not in dialogauge("judge", log(*first), "-o", "run").err
    other = dialogauge("judge", log(first[0], talk("d", "Else.")), "-o", "run")
    assert f"3 stored results {said.format('are')}" in other.err
    assert f"1 stored result {said.format('is')}" in dialogauge("judge", log(*first), "-o", "run").err
    assert "earlier input" not in dialogauge("judge", log(*first), "-o", "run", "--fresh").err


def test_a_retry_asks_for_the_failed_turn_alone_and_keeps_the_scores(dialogauge, serve, log, talk, tmp_path):
    (tmp_path / "kind.toml").write_text(KIND)
    path = log(talk("a", "One.", "Bad.", "Three."), talk("b", "Four."))

    plain = instance(reply_schema(load_rubric("kind.toml"), Scope((1,), ("turn",)), "en"))

    def reply(score, bad):
        def answer(body):
            text = json.dumps(body["messages"])
            last = max(("One.", "Bad.", "Three.", "Four."), key=text.rfind)
            return "no" if last in bad else json.dumps({**plain, "scores": score})

        return answer

    stub = serve(lambda body: reply({"kindness": 4}, {"Bad."})(body), schema="ignore")
    words = ("judge", path, *at(stub), "--rubric", "kind.toml", "--mode", "foresight")
    assert dialogauge(*words, "--max-failed", 1).code == 0
    scores = [r["scores"] for r in rows_of(tmp_path / "run")]
    assert scores == [{"kindness": 4}, None, {"kindness": 4}, {"kindness": 4}]
    stub.reply = reply({"kindness": 1}, {"One.", "Bad.", "Three.", "Four."})
    before = len(stub.asked)
    dialogauge(*words, "--retry-failed")
    assert [r["scores"] for r in rows_of(tmp_path / "run")] == scores
    assert len(stub.asked) - before <= 3  # the turn, once more for the words, and the probe
    stub.reply = reply({"kindness": 2}, set())
    before = len(stub.asked)
    assert dialogauge(*words, "--retry-failed").code == 0
    assert [r["scores"]["kindness"] for r in rows_of(tmp_path / "run")] == [4, 2, 4, 4]
    assert len(stub.asked) - before <= 2


@pytest.mark.long
def test_ratings_that_come_later_are_stored_and_shown(dialogauge, log, talk, tmp_path):
    path = log(talk("a"), talk("b"))
    rating = {"turn": 1, "dimension": "helpfulness", "rater": "r"}
    words = ("judge", path, "--judge", "local", "-o", "run")
    assert dialogauge(*words).code == 0
    assert dialogauge("agreement", "run", "--json").code == 2
    for score in (2, 5):
        scores = {"a": score, "b": 4}
        lines = ({**rating, "conversation_id": name, "score": given} for name, given in scores.items())
        rated = log(*lines, name="rated.jsonl")
        assert dialogauge(*words, "--ratings", rated).code == 0
        found = dialogauge("agreement", "run", "--json")
        assert found.code == 0, found.err
        with open_run("run") as run:
            stored = [r.score for c, _ in run.judged() for r in c.ratings]
        assert stored == [score, 4]
    assert dialogauge(*words).code == 0
    assert dialogauge("agreement", "run", "--json").code == 2


@pytest.mark.parametrize("moved", [False, True])
def test_a_run_whose_file_is_gone_ends_at_once(dialogauge, serve, log, talk, tmp_path, moved):
    def reply(body):
        if len(stub.asked) == 6:
            (tmp_path / "run").rename(tmp_path / "away") if moved else (tmp_path / "run" / "run.db").unlink()
        return ideal(body)

    stub = serve(reply)
    done = dialogauge("judge", log(*(talk(f"c{n}") for n in range(40))), *at(stub), "--max-concurrency", 2)
    assert done.code != 0
    assert "is gone while it was being written" in done.err
    assert len(stub.asked) < 12
    assert "Traceback" not in done.err


def test_what_the_model_writes_into_a_masked_run_is_masked(dialogauge, serve, log, talk, tmp_path):
    def write(value):
        if "per_turn" in value:  # else it is the probe of the endpoint
            value["decision_basis"] = "Call me: +44 20 7946 0958"
            value["per_turn"]["1"]["issues"] = ["wrote to jane.doe@example.org"]

    def reply(body):
        if "response_format" not in body or "museum b" in json.dumps(body["messages"]):
            return "I cannot. Call +44 20 7946 0958."
        return changed(write)(body)

    path = log(talk("a"), talk("b"))
    done = dialogauge("judge", path, *at(serve(reply)), "--redact", "--max-failed", 1)
    assert done.code == 0, done.err
    dialogauge("export", "run", "-o", "rows.jsonl")
    with open_run("run") as run:
        stored = json.dumps([dict(row) for row in run.rows()])
    for text in (stored, *(p.read_text() for p in (tmp_path / "run").glob("*.*l")), done.out):
        assert "7946" not in text
        assert "jane.doe" not in text
    assert "[phone]" in stored
    assert "[email]" in stored


@pytest.mark.long
def test_a_function_that_changed_judges_anew(log, talk, tmp_path, serve):
    from flows.test_interrupt import start  # a process each: a module is imported once

    code = "import json\ndef answer(messages):\n    return 'SCORE'\n"
    path = log(talk("a"))
    said = []
    for text in (code, code, code.replace("SCORE", "ANOTHER")):
        (tmp_path / "mine_4471.py").write_text(text)
        words = ("judge", path, "--model", "py:mine_4471:answer", "-o", "run", "--max-failed", 1)
        out, err = start(tmp_path, *words).communicate(timeout=60)
        said.append((out + err, rows_of(tmp_path / "run")[-1]["failure"]["raw"]))
    assert [raw for _, raw in said] == ["SCORE", "SCORE", "ANOTHER"]
    assert ["another judge or prompt" in text for text, _ in said] == [False, False, True]


@pytest.mark.long
def test_a_finished_run_of_another_input_is_replaced_only_where_that_is_asked_for(
    dialogauge, log, talk, tmp_path
):
    first = [talk(f"c{n}", f"It opens at {n}.") for n in range(4)]
    old, other = log(*first, name="old.jsonl"), log(talk("d", "Admission is free."), name="other.jsonl")
    more = log(*first, talk("e", "By bus."), name="more.jsonl")
    assert dialogauge("judge", old, "-o", "run").code == 0
    before = (tmp_path / "run/summary.json").read_bytes()
    done = dialogauge("judge", other, "-o", "run")
    assert done.code == 2
    assert "run holds a finished run of " in done.err
    assert "old.jsonl: 4 of its 4 conversations are not in this input" in " ".join(done.err.split())
    assert "--replace" in done.err
    assert (tmp_path / "run/summary.json").read_bytes() == before
    # the same under another name, and all of it with more, go on with the run
    old.rename(tmp_path / "new.jsonl")
    assert dialogauge("judge", tmp_path / "new.jsonl", "-o", "run").code == 0
    assert dialogauge("judge", more, "-o", "run").code == 0
    # an input that grew or changed under its own name does too, and says what is left out
    assert dialogauge("judge", log(*first[:2], name="more.jsonl"), "-o", "run").code == 0
    done = dialogauge("judge", other, "-o", "run", "--replace")
    assert (done.code, "of an earlier input are not of this one" in done.err) == (0, True)
    assert dialogauge("judge", more, "-o", "run", "--fresh").code == 0


@pytest.mark.parametrize("privacy", [("--redact",), ("--hash-ids",)])
def test_a_masked_run_knows_its_own_input(dialogauge, log, talk, privacy):
    records = [talk(f"anna{n}.berg@example.org", f"Write to anna{n}.berg@example.org.") for n in range(3)]
    old, other = log(*records, name="old.jsonl"), log(talk("d"), name="other.jsonl")
    more = log(*records, talk("d"), name="more.jsonl")
    assert dialogauge("judge", old, *privacy, "-o", "run").code == 0
    assert dialogauge("judge", other, *privacy, "-o", "run").code == 2
    assert dialogauge("judge", more, *privacy, "-o", "run").code == 0


def test_a_run_that_broke_off_may_go_on_with_any_input(dialogauge, log, talk, tmp_path):
    old, other = log(talk("c"), name="old.jsonl"), log(talk("d"), name="other.jsonl")
    assert dialogauge("judge", old, "-o", "run").code == 0
    (tmp_path / "run/manifest.json").unlink()
    assert dialogauge("judge", other, "-o", "run").code == 0
