"""`agreement` by candidate on whole runs: sessions judged and rated, and other evaluators and simulators."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from flows.rating_pages import answered, saved, task_of
from servers.verdicts import fill

WORTH = {"good": 5, "fair": 3, "poor": 2}
PERSONAS = [f"p{n}" for n in range(6)]
ASKED = "coherence"


def session(persona, candidate, number=1, *, worth=None, words="", context=False):
    """A session of two turns, with a context of one turn where that is asked for."""
    mine = f"Well{words}. ref0000{worth or WORTH[candidate]}"
    talk = [("user", "Hello"), ("assistant", "Hello, I am new here. ref00001")] if context else []
    for n in (1, 2):
        talk += [("user", f"Tell me of {persona}, part {n}."), ("assistant", f"Part {n}. {mine}")]
    messages = [{"role": "system", "content": f"You are {persona}."}]
    messages += [{"role": role, "content": text} for role, text in talk]
    return {
        "conversation_id": persona if number == 1 else f"{persona}/{number}",
        "messages": messages,
        "candidate": candidate,
        "scenario": persona,
        "user_id": persona,
        **({"prefix_messages": 3} if context else {}),
    }


RUBRIC = """
id = "whole"
version = "1"
level = "conversation"
languages = ["en"]
shows = ["dialogue"]
template = '''
Judge the session.
{{dimensions}}
{{reply_format}}
<!-- data -->
{{dialogue}}
{{asked}}
'''
"""
for _name in ("coherence", "liveliness"):
    RUBRIC += f"""
[[dimensions]]
name = "{_name}"
description = "How good is it?"
scale = {{ low = 1, high = 5, integer = false }}
anchors = {{ 1 = "bad", 2 = "poor", 3 = "fair", 4 = "good", 5 = "fine" }}
rollup = "mean"
"""


def by_seed(body):
    """A judge that is unsure of what it judges: every third judging is half a point lower."""
    worth = int(("3", *re.findall(r"ref0000(\d)", body["messages"][-1]["content"]))[-1])
    value = fill(body["response_format"]["json_schema"]["schema"])
    for part in value.get("conversation_level", {}).values():
        part["score"] = worth - 0.5 * (body.get("seed", 1) % 3 == 0)
    return json.dumps(value)


@pytest.fixture
def judged(dialogauge, log, serve, once):
    """A run `rubric` of a judge of whole sessions, three judgings each."""

    def make():
        Path("whole.toml").write_text(RUBRIC)
        records = [session(p, c, n) for p in PERSONAS for c in WORTH for n in (1, 2)]
        at = ("--model", "stub-model", "--base-url", serve(by_seed).url)
        done = dialogauge(
            "judge", log(*records), "--rubric", "whole.toml", *at, "--seed", 7, "--repeats", 3, "-o", "rubric"
        )
        assert done.code == 0, done.err

    once("judged_sessions", make)
    return Path("rubric")


@pytest.fixture
def people(tmp_path):
    """Ratings of two people of each session."""
    lines = ["conversation_id,candidate,rater,dimension,score"]
    for number, persona in enumerate(PERSONAS):
        for candidate, worth in WORTH.items():
            for name in (persona, f"{persona}/2"):
                scores = min(5, worth + number % 2), worth
                lines += [f"{name},{candidate},R{n},{ASKED},{score}" for n, score in enumerate(scores, 1)]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_judge_beside_people_and_how_stable_it_is(dialogauge, judged, people, tmp_path):
    done = dialogauge("agreement", judged, "--ratings", people, "--dimension", ASKED, "-o", "out")
    assert done.code == 0, done.err
    found = json.loads((tmp_path / "out/agreement.json").read_text())
    (one,) = found["candidates"]
    (judge,) = one["evaluators"]
    assert (one["candidates"], one["one_pair"]) == (["fair", "good", "poor"], pytest.approx(1 / 3))
    assert (judge["clustered_by"], judge["targets"], judge["same"]) == ("users", 36, True)
    assert judge["figures"]["rank_accuracy"]["value"] == 1
    assert judge["figures"]["rank_accuracy"]["low"] < 1
    # People give 5.0, 3.25 and 2.25, the judge a sixth of a point less than 5, 3 and 2.
    apart = (1 / 6, 0.25 + 1 / 6, 0.25 + 1 / 6)
    assert judge["figures"]["nmae"]["value"] == pytest.approx(sum(apart) / 12)
    assert judge["figures"]["bias"]["value"] == pytest.approx(-sum(apart) / 3)
    assert [rater["source"] for rater in one["raters"]] == ["R1", "R2"]
    stable = {of["candidate"]: of for of in found["stability"]}
    assert stable["good"]["shape"] == [6, 2, 3]
    assert (stable["good"]["between"], stable["good"]["within"]) == pytest.approx((0, 1 / 12))
    page = (tmp_path / "out/agreement.html").read_text()
    for words in ("Candidates beside people", "one flipped pair is 0.333", "Stability over sessions"):
        assert words in page
    assert "Pairs of raters on the means of candidates" in page
    assert "one flipped pair is 0.333" in done.unwrapped


def test_stability_takes_no_ratings(dialogauge, judged):
    done = dialogauge("agreement", judged, "--json")
    assert done.code == 0, done.err
    assert {of["dimension"] for of in done.json["stability"]} >= {"all dimensions", ASKED}
    assert (done.json["judges"], done.json.get("candidates")) == ([], None)


def worth_of(item, question, turn):
    """What a rater says who gives each session what its last reply is worth."""
    return int(item["messages"][-1]["body"][-1])


def test_people_are_asked_of_what_is_new(dialogauge, log, tmp_path):
    Path("whole.toml").write_text(RUBRIC)
    path = log(*(session(p, c, context=True) for p in PERSONAS for c in WORTH))
    made = dialogauge(
        "annotate", "make", path, "--rubric", "whole.toml", "--raters", 2, "--blind", "-o", "rating"
    )
    assert made.code == 0, made.err
    tasks = [task_of(page) for page in sorted(Path("rating/pages").iterdir())]
    questions = [
        question["name"] for question in tasks[0]["questions"] if question["level"] == "conversation"
    ]
    assert questions == ["coherence", "liveliness"]
    assert {item["before"] for item in tasks[0]["items"]} == {3}
    more = dialogauge("annotate", "make", path, "--rubric", "satisfaction", "--raters", 1, "-o", "turns")
    assert more.code == 0, more.err
    (task,) = map(task_of, Path("turns/pages").iterdir())
    assert {tuple(item["turns"]) for item in task["items"]} == {(2, 3)}
    rows = [row for task in tasks for row in answered(task, worth_of)]
    assert dialogauge("annotate", "import", "rating", saved(tmp_path / "rows.jsonl", rows)).code == 0
    done = dialogauge("agreement", "rating", "--level", "conversation", "--json")
    assert done.code == 0, done.err
    (one,) = (of for of in done.json["candidates"] if of["dimension"] == ASKED)
    assert [(of["source"], of["candidates"]) for of in one["raters"]] == [("R1", 3), ("R2", 3)]
    assert one["raters"][0]["figures"]["rank_accuracy"]["value"] == 1


def test_turns_averaged_an_arena_and_recorded_users_beside_each_other(dialogauge, people, log, tmp_path):
    people.write_text(people.read_text().replace(ASKED, "satisfaction"))
    turns = [session(p, c, n, context=True) for p in PERSONAS for c in WORTH for n in (1, 2)]
    recorded = [session(p, c, worth=6 - WORTH[c], words=" then") for p in PERSONAS for c in WORTH]
    for name, records in (("turns", turns), ("fixed", recorded)):
        path = log(*records, name=f"{name}.jsonl")
        done = dialogauge("judge", path, "--rubric", "satisfaction", "-o", name)
        assert done.code == 0, done.err
    votes = [
        f"{p},{a},{b},a" for p in PERSONAS for a, b in (("good", "fair"), ("good", "poor"), ("fair", "poor"))
    ]
    (tmp_path / "votes.csv").write_text("\n".join(["conversation_id,a,b,winner", *votes]) + "\n")
    assert dialogauge("arena", "votes.csv", "-o", "arena").code == 0
    sources = ("turns", "fixed", "arena")
    done = dialogauge("agreement", *sources, "--ratings", people, "--json")
    assert done.code == 0, done.err
    (one,) = done.json["candidates"]
    evaluators = {of["source"]: of for of in one["evaluators"]}
    assert evaluators.keys() == {*sources}
    assert evaluators["arena"]["figures"]["rank_accuracy"]["value"] == 1
    assert "nmae" not in evaluators["arena"]["figures"]
    assert evaluators["turns"]["targets"] == 36
    # What was there before is no reply of the candidate.
    assert one["mean_lengths"] == dict.fromkeys(one["candidates"], len("Part 1. Well. ref00005"))
    lines = [line for line in people.read_text().splitlines() if ",R2," not in line]
    (tmp_path / "one.csv").write_text("\n".join(lines) + "\n")
    alone = dialogauge("agreement", "arena", "--ratings", "one.csv", "--scale", "1-5", "--json")
    assert alone.code == 0, alone.err
    assert [of["source"] for of in alone.json["candidates"][0]["evaluators"]] == ["arena"]
    words = dialogauge("agreement", *sources, "--ratings", people).unwrapped
    assert "people rated conversations, of which turns has the mean of its turns" in words
    assert "have other words, as with another simulator" in words


def test_another_simulator_in_place_of_the_first(dialogauge, log):
    for name, words in (("one", ""), ("two", " indeed")):
        records = [session(p, c, words=words) for p in PERSONAS for c in WORTH]
        done = dialogauge(
            "judge", log(*records, name=f"{name}.jsonl"), "--rubric", "satisfaction", "-o", name
        )
        assert done.code == 0, done.err
    done = dialogauge("agreement", "one", "two", "--json")
    (ranks,) = done.json["ranks"]
    (order,) = ranks["alike"]
    assert {"rank_accuracy", "nmae", "bias"} <= order["figures"].keys()
    assert order["distance"] == pytest.approx(order["figures"]["nmae"]["value"] * 4)
    both = dialogauge("agreement", "one", "two").unwrapped
    assert "on average" in both


def test_candidates_of_one_run_are_compared_by_persona(dialogauge, judged):
    done = dialogauge("compare", judged, judged, "--candidates", "poor,good", "--unchecked", "--json")
    assert done.code == 0, done.err
    assert (done.json["paired_by"], done.json["pairs"], done.json["clustered_by"]) == ("id", 12, "users")
    assert done.json["dimensions"][ASKED]["answer"] == "better"
