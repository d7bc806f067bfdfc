"""Controls of learning by the command: twins with rows, pairs and words of their own, and what is refused."""

from __future__ import annotations

import pytest

from flows.conftest import rows_of
from flows.test_learn_protocols import WHO, corpus, tasks

DESK = ("learn", "run", "--tasks", "support-desk", "--logs", "support-desk", "--no-controls")
TWINS = ("shuffled", "echo", "last", "other-case")


@pytest.fixture
def run(dialogauge, tmp_path):
    controls = [text for one in TWINS for text in ("--control", one)]
    done = dialogauge(
        *DESK, "--sample", 5, "--system", "aware=feedback-aware", *controls, "-o", "run", "--json"
    )
    assert done.code == 0, done.err
    return done, rows_of(tmp_path / "run")


def test_each_control_is_a_twin_that_is_compared_with_its_system_alone(dialogauge, run, tmp_path):
    done, rows = run
    (of, *_) = done.json["sets"]
    names = ["aware", *(f"aware ({one})" for one in TWINS)]
    assert sorted(s["name"] for s in of["systems"]) == sorted(names)
    assert len({s["asked"] for s in of["systems"]}) == 1
    assert {(pair["a"], pair["b"]) for pair in of["pairs"]} == {("aware", name) for name in names[1:]}
    held = {row["candidate"]: row["details"]["memory"] for row in rows}
    assert held["aware (other-case)"] == held["aware"]  # the digest of what the memory really held
    assert len(set(held.values())) == 4
    # The same memory, asked the questions of the others: each of them once.
    own, other = (
        {r["conversation_id"]: str(r["details"]["retrieved"]) for r in rows if r["candidate"] == name}
        for name in ("aware", "aware (other-case)")
    )
    assert sorted(own.values()) == sorted(other.values())
    assert all(own[id] != other[id] for id in own)
    shown = dialogauge("learn", "compare", "run", "-o", "both")
    assert shown.code == 0, shown.err
    assert "holds the words of feedback alone" in " ".join(shown.out.split())
    assert (tmp_path / "run" / "memories" / "aware (echo)").is_dir()


def test_a_row_says_which_example_or_rule_was_given_and_why(run):
    _, rows = run
    given = [one for row in rows if row["candidate"] == "aware" for one in row["details"].get("given", ())]
    assert {one["kind"] for one in given} == {"episodic", "procedural"}
    for one in given:
        assert one.keys() == {"from", "kind", "why", "text"}
        assert one["why"].startswith(("an answer that was", "a correction"))
        assert "/training-" in one["from"]
        assert 0 < len(one["text"]) <= 200


def test_what_cannot_be_controlled_is_refused(dialogauge, log):
    named = dialogauge(*DESK, "--system", "x (echo)=bm25-message", "-o", "a")
    assert (named.code, "no system can be called 'x (echo)'" in " ".join(named.err.split())) == (2, True)
    unknown = dialogauge(*DESK, "--control", "shuffle", "-o", "b")
    assert (unknown.code, "shuffled" in unknown.err) == (2, True)
    alone = log({"id": "1", "dataset": "mine", "q": "Who owns the mill?", "v": {"answer": "Mrs Dahl"}})
    done = dialogauge("learn", "run", "--tasks", alone, "--control", "other-case", "-o", "c")
    assert (done.code, "no other question of mine" in " ".join(done.err.split())) == (2, True)


def test_a_twin_leads_dialogues_of_its_own_and_holds_them_under_its_control(dialogauge, log, tmp_path):
    talks = log(*(r for who in WHO for r in (corpus(*who), *tasks(*who))), name="talks.jsonl")
    steps = ("--protocol", "on-policy", "--steps", 2, "--batch", 3, "--no-controls")
    system = ("--system", "mine=feedback-aware", "--control", "shuffled", "--control", "last")
    command = ("learn", "run", "--tasks", talks, *steps, *system, "-o", "run")
    done = dialogauge(*command, "--json")
    assert done.code == 0, done.err
    # A memory for each corpus of two sessions holds the six dialogues, or at each of two steps the last one.
    held = {name: cost["dialogues"] for name, cost in done.json["costs"].items()}
    assert held == {"mine": 2 * (2 + 6), "mine (shuffled)": 2 * (2 + 6), "mine (last)": 2 * 2 * (2 + 1)}
    rows = rows_of(tmp_path / "run")
    assert [row["candidate"] for row in rows if row["failure"]] == []
    taught, asked = (
        [r for r in rows if bool(r["details"].get("taught")) is is_led] for is_led in (True, False)
    )
    for name in ("mine", "mine (shuffled)", "mine (last)"):
        assert sum(row["candidate"] == name for row in taught) == 6
    last = {
        (r["candidate"], r["details"]["corpus"]): r["details"]["memory"] for r in asked
    }  # of the last step
    assert len({memory for (_, corpus), memory in last.items() if corpus == "a"}) == 3
    assert dialogauge(*command).code == 0
    assert rows_of(tmp_path / "run") == rows
