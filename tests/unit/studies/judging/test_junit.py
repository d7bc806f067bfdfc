from __future__ import annotations

import re
from xml.etree import ElementTree

from dialogauge.core import Place, RecordFault
from dialogauge.studies.judging.gate import GateResult
from dialogauge.studies.judging.junit import junit_chunks


def row(id, turn, *, failure=None, notes=(), candidate=None):
    signals = [{"name": "repeats", "note": note} for note in notes]
    return {
        "conversation_id": id,
        "candidate": candidate,
        "turn": turn,
        "failure": failure,
        "details": {"signals": signals},
    }


def suite(*arguments, **more):
    tree = ElementTree.fromstring(b"".join(junit_chunks("run", *arguments, **more)))
    expect_surefire(tree)
    return tree


def cases(*arguments, **more):
    return {(c.get("classname"), c.get("name")): c for c in suite(*arguments, **more).iter("testcase")}


CASE = ("failure", "skipped", "error", "system-out")
TIME = re.compile(r"[0-9]*(\.[0-9]{0,3})?")


def expect_surefire(suite):
    """Expect what the schema of Surefire's reports asks of the elements that are written here."""
    assert suite.tag == "testsuite"
    assert set(suite.keys()) - {"time", "group"} == {"name", "tests", "errors", "skipped", "failures"}
    assert TIME.fullmatch(suite.get("time", "0"))
    for case in suite:
        assert case.tag == "testcase"
        assert {"name", "time"} <= set(case.keys()) <= {"name", "time", "classname", "group"}
        assert TIME.fullmatch(case.get("time"))
        inside = [part.tag for part in case]
        assert inside == sorted(inside, key=CASE.index)  # in this order, and nothing else
        assert all(inside.count(tag) <= 1 for tag in CASE[1:])
        for part in case:
            assert len(part) == 0
            wanted = {"failure": {"type"}, "error": {"type"}}.get(part.tag, set())
            allowed = {"message"} if part.tag != "system-out" else set()
            assert wanted <= set(part.keys()) <= wanted | allowed


def test_a_suite_has_counts_and_times():
    gates = {
        "failed<=0": GateResult(met=False, value=1.0, sentence="no"),
        "failed<=1": GateResult(True, 1.0, ""),
    }
    absent, timeout = {"kind": "absent", "message": ""}, {"kind": "timeout", "message": "late"}
    rows = [
        row("a", 1),
        row("b", 1, failure=timeout),
        row("c", None, failure=absent),
        row("c", 1, candidate="x"),
    ]
    tree = suite(rows, gates, "stopped", [RecordFault("no")], {("a", None): 1234.5678, ("c", "x"): 0.25})
    assert {key: tree.get(key) for key in ("name", "tests", "errors", "skipped", "failures", "time")} == {
        "name": "run",
        "tests": "8",
        "errors": "3",
        "skipped": "1",
        "failures": "1",
        "time": "1234.818",
    }
    times = {case.get("name"): case.get("time") for case in tree if case.get("time") != "0.000"}
    assert times == {"a": "1234.568", "c (x)": "0.250"}


def test_a_gate_that_is_not_met_is_a_failure():
    gates = {
        "helpfulness.mean>=4": GateResult(met=False, value=3.0, sentence='3.0 <is> "low"'),
        "failed<=0.1": GateResult(met=True, value=0.0, sentence="fine"),
    }
    found = cases([], gates)
    assert found["dialogauge.gates", "helpfulness.mean>=4"].find("failure").get("message") == '3.0 <is> "low"'
    assert len(found["dialogauge.gates", "failed<=0.1"]) == 0


def test_a_failed_judgement_is_an_error_and_an_absent_run_is_skipped():
    timeout = {"kind": "timeout", "message": "no answer\x00 in 60 s"}
    absent = {"kind": "absent", "message": "no message"}
    found = cases(
        [
            row("a", 1),
            row("a", 2, failure=timeout),
            row("b", None, failure=absent),
            row("c", 1, candidate="x"),
        ],
        {},
    )
    error = found["dialogauge.conversations", "a"].find("error")
    assert (error.get("type"), error.get("message")) == (
        "timeout",
        "1 judgement failed: no answer\N{REPLACEMENT CHARACTER} in 60 s",
    )
    assert found["dialogauge.conversations", "b"].find("skipped").get("message") == "no message"
    assert len(found["dialogauge.conversations", "c (x)"]) == 0


def test_findings_are_the_output_of_a_conversation():
    found = cases([row("a", 1, notes=["Says <b> twice."]), row("a", 3, notes=["One.", "Two."])], {})
    text = found["dialogauge.conversations", "a"].find("system-out").text
    assert text == "turn 1: Says <b> twice.\nturn 3: One.\nturn 3: Two."


def test_a_run_that_was_stopped_is_no_success():
    found = cases([], {}, "the budget was spent")
    assert found["dialogauge.run", "finished"].find("error").get("message") == "the budget was spent"


def test_a_record_that_cannot_be_read_is_an_error_where_it_stands():
    faults = [RecordFault("no JSON & no list", place=Place("log.jsonl", 3)), RecordFault("nothing")]
    found = cases([row("a", 1)], {}, faults=faults)
    error = found["dialogauge.input", "log.jsonl:3"].find("error")
    assert error.get("message") == "log.jsonl:3: no JSON & no list"
    assert found["dialogauge.input", "input"].find("error").get("message") == "nothing"
    assert len(found["dialogauge.conversations", "a"]) == 0
