"""Agents that use tools, judged turn by turn over HTTP."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flows.conftest import rows_of
from servers.schemas import instance

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = ("cohesion", "backend", "policy")


def call(id, name, arguments, result):
    function = {"name": name, "arguments": json.dumps(arguments)}
    return [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": id, "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": id, "content": json.dumps(result)},
    ]


def trip(name="trip", agent="a"):
    messages = [
        {"role": "user", "content": "A cheap restaurant in the centre, please."},
        *call("1", "query_restaurants", {"area": "centre"}, {"count": 21}),
        *call("2", "query_restaurants", {"area": "centre", "pricerange": "cheap"}, []),
        {"role": "assistant", "content": "The Blue Door is cheap and central."},
        {"role": "user", "content": "Is it open today?"},
        {"role": "assistant", "content": "It is."},
    ]
    return {"conversation_id": name, "candidate": agent, "messages": messages}


def scores(*, bad=None):
    """Return a judge that gives 5, 2 and 4; of the dimension `bad` it says a word."""
    given = dict(zip(NAMES, (5, 2, 4), strict=True)) | ({bad: "poor"} if bad else {})

    def reply(body):
        wanted = body.get("response_format", {}).get("json_schema")
        if wanted is None:  # as models answer that no schema holds
            value = {"scores": {n: {} for n in NAMES if f"**{n}**" in body["messages"][0]["content"]}}
        else:
            value = instance(wanted["schema"])
        for name, entry in value.get("scores", {}).items():
            entry.update(note=f"why {name}", score=given[name])
        return json.dumps(value)

    return reply


def judge(dialogauge, log, stub, *words):
    at = ("--model", "stub-model", "--base-url", stub.url, "-o", "run")
    return dialogauge("judge", log(trip()), "--rubric", "td-turn", *at, *words)


@pytest.mark.parametrize(("calls", "requests"), [("joint", 2), ("separate", 6)])
def test_every_turn_has_three_scores_with_their_reasons(dialogauge, serve, log, tmp_path, calls, requests):
    stub = serve(scores())
    done = judge(dialogauge, log, stub, "--calls", calls)
    assert done.code == 0, done.err
    rows = rows_of(tmp_path / "run")
    assert [r["turn"] for r in rows] == [1, 2]
    for row in rows:
        assert row["scores"] == {"cohesion": 5, "backend": 2, "policy": 4}
        assert row["details"]["notes"] == {name: f"why {name}" for name in NAMES}
        assert row["details"]["domain"] == "restaurant"
    assert sum(r["usage"]["calls"] for r in rows) == requests + 1  # one asks whether schemas are kept
    shown = json.dumps(stub.asked[-1]["messages"])
    assert "count" in shown
    assert "ask for a detail that narrows them down" in shown
    settings = json.loads((tmp_path / "run" / "manifest.json").read_text())["settings"]
    assert settings["calls"] == calls


def late(name="late"):
    """Return a log with a call that has no result, a result that has no call, and a long result."""
    long = [{"id": n, "name": f"Guest house {n}"} for n in range(80)]
    messages = [
        {"role": "system", "content": "Offer two, at the most."},
        {"role": "user", "content": "A guest house?"},
        *call("1", "query_hotels", {"stars": 4}, long),
        {"role": "tool", "tool_call_id": "9", "content": "stray"},
        *call("2", "book_hotel", {"name": "Guest house 7"}, None)[:1],
        {"role": "assistant", "content": "It is booked."},
    ]
    return {"conversation_id": name, "candidate": "b", "messages": messages}


def test_the_page_and_show_have_each_call_beside_its_result_and_each_score_beside_its_reason(
    dialogauge, serve, log, tmp_path
):
    at = ("--model", "stub-model", "--base-url", serve(scores()).url, "-o", "run")
    done = dialogauge("judge", log(trip(), late()), "--rubric", "td-turn", *at)
    assert done.code == 0, done.err
    shown = dialogauge("show", "run", "trip").out
    wanted = """turn 1, domain: restaurant, weakest turn
  user: A cheap restaurant in the centre, please.
  call: query_restaurants({"area": "centre"})
    -> {"count": 21}
  call: query_restaurants({"area": "centre", "pricerange": "cheap"})
    -> []
  assistant: The Blue Door is cheap and central.
  cohesion 5: why cohesion
  backend 2: why backend
  policy 4: why policy
"""
    assert wanted in shown
    shown = dialogauge("show", "run", "late").out
    assert "  system: Offer two, at the most." in shown
    assert '"Guest house 79"' in shown
    assert "    -> stray\n    ! a result that no call asked for\n" in shown
    assert "! no result came back" in shown
    assert "domain" not in shown  # the policy was the system prompt
    page = (tmp_path / "run" / "report.html").read_text()
    assert "backend 2: why backend" in page  # the reason to read a turn first
    assert '"Guest house 79"' in page
    assert page.count("Offer two, at the most.") == 1
    assert 'class="verdict"' not in page


def test_agents_stand_side_by_side_with_what_is_known_of_them(dialogauge, serve, log, tmp_path):
    gone = {"agent": "b", "domain": "trip", "task_id": 1, "reward": None, "messages": []}
    runs = log(
        *({"domain": "trip", "task_id": n, "reward": 1.0, "agent": r["candidate"], **r}
          for n, r in enumerate((trip(), trip("trip 2"), late()))),
        gone,
    )  # fmt: skip
    at = ("--model", "stub-model", "--base-url", serve(scores()).url, "-o", "run")
    done = dialogauge("judge", runs, "--rubric", "td-turn", "--unchecked", *at)
    assert done.code == 0, done.err
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    # of a: "The Blue Door is cheap and central." and "It is.", twice; of b: "It is booked."
    assert summary["agents"] == [
        {"name": "a", "dialogues": 2, "absent": 0, "turns": 4, "words": 4.5, "calls": 1.0},
        {"name": "b", "dialogues": 2, "absent": 1, "turns": 1, "words": 3.0, "calls": 2.0},
    ]
    groups = {g["name"]: g["dimensions"] for g in summary["by"]["candidate"]["groups"]}
    assert groups["a"]["backend"]["histogram"] == [0, 4, 0, 0, 0]
    assert groups["b"]["policy"]["histogram"] == [0, 0, 0, 1, 0]
    assert done.out.index("UNCHECKED") < done.out.index("0 / 4 / 0 / 0 / 0")
    assert "· 2 turns · reward 1" in dialogauge("show", "run", "trip_0__a__0").out
    for again in (False, True):
        page = (tmp_path / "run" / "report.html").read_text()
        assert "how often 1 to 5" in page
        assert "judged turn by turn by" in page
        assert "words a reply" in page
        assert "By candidate" not in page
        if not again:
            assert dialogauge("report", "run").code == 0
    plain = dialogauge("judge", runs, "--rubric", "td-turn", *at[:-1], "plain")
    assert plain.code == 0, plain.err
    assert "0 / 4 / 0 / 0 / 0" not in plain.out
    page = (tmp_path / "plain" / "report.html").read_text()
    assert "how often 1 to 5" not in page, "nobody rated them: no ranks"
    assert "words a reply" in page


@pytest.mark.parametrize("calls", ["joint", "separate"])
def test_a_dimension_that_cannot_be_read_is_counted_and_not_guessed(dialogauge, serve, log, tmp_path, calls):
    done = judge(dialogauge, log, serve(scores(bad="backend"), schema="ignore"), "--calls", calls)
    assert done.code == 3
    rows = rows_of(tmp_path / "run")
    assert [r["scores"] for r in rows] == [None, None]
    assert {r["failure"]["kind"] for r in rows} == {"invalid_schema"}
    assert all("backend" in r["failure"]["message"] for r in rows)
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    for name in NAMES:
        assert (summary["dimensions"][name]["n"], summary["dimensions"][name]["n_failed"]) == (0, 2)
        assert summary["dimensions"][name]["mean"] is None


def test_agents_in_several_scenarios_are_on_the_page_by_both(dialogauge, serve, log, tmp_path):
    runs = [
        {"domain": d, "task_id": n, "reward": 1.0, "agent": a, "messages": trip()["messages"]}
        for n, (a, d) in enumerate((a, d) for a in "ab" for d in ("sea", "land"))
    ]
    at = ("--model", "stub-model", "--base-url", serve(scores()).url, "-o", "run")
    done = dialogauge("judge", log(*runs), "--rubric", "td-turn", "--unchecked", *at)
    assert done.code == 0, done.err
    page = (tmp_path / "run" / "report.html").read_text()
    assert "By agent and scenario" in page
    assert "By candidate_scenario" not in page
    assert "By agent and scenario" not in done.out
    assert dialogauge("judge", log(*runs), "--rubric", "td-turn", *at[:-1], "plain").code == 0
    assert "By agent and scenario" not in (tmp_path / "plain" / "report.html").read_text()


def test_a_policy_of_ones_own(dialogauge, serve, log, tmp_path):
    (tmp_path / "p.toml").write_text('text = "Name two, at the most."\n[[domains]]\nname = "all"\n')
    stub = serve(scores())
    assert judge(dialogauge, log, stub, "--policy", "p.toml").code == 0
    assert "Name two, at the most." in json.dumps(stub.asked[-1]["messages"])
    assert rows_of(tmp_path / "run")[0]["details"]["domain"] == "all"


def test_what_is_refused(dialogauge, serve, log, tmp_path):
    stub = serve(scores())
    done = judge(dialogauge, log, stub, "--policy", "none.toml")
    missing = "none.toml: the policy file cannot be read: there is no such file (check the path)"
    assert (done.code, missing in done.err) == (2, True)
    (tmp_path / "wrong.toml").write_text('text = "Be brief."\n\n[[domains]]\nnam = "all"\n')
    done = judge(dialogauge, log, stub, "--policy", "wrong.toml")
    wrong = "wrong.toml:3: domains[1].name: missing; domains[1].nam: unknown key (see docs/rubrics.md)"
    assert (done.code, wrong in done.err) == (2, True), done.err
    done = judge(dialogauge, log, stub, "--rubric", "card", "--policy", "booking")
    assert (done.code, "shows no policy" in done.err) == (2, True)
    done = judge(dialogauge, log, stub, "--rubric", "card", "--calls", "separate")
    assert (done.code, "cannot be split" in done.err) == (2, True)
    done = dialogauge("judge", log(trip()), "--policy", "booking")
    assert (done.code, "the rubric 'card' shows no policy" in done.err) == (2, True)
    assert not stub.asked


def test_what_is_wrong_with_calls_is_judged_all_the_same_and_named(dialogauge, serve, log, tmp_path):
    function = {"name": "book_hotel", "arguments": "name: Alpha"}
    messages = [
        {"role": "user", "content": "Book Alpha."},
        {"role": "tool", "tool_call_id": "9", "content": "ok"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": function}]},
        {"role": "assistant", "content": "Booked."},
    ]
    path, stub = log(trip(), {"conversation_id": "odd", "messages": messages}), serve(scores())
    words = (path, "--rubric", "td-turn", "--model", "stub-model", "--base-url", stub.url)
    done = dialogauge("judge", *words, "-o", "run")
    assert done.code == 0, done.err
    place = f"{path.name}:2, conversation 'odd', turn 1"
    for what in (
        "1 result has no call before in their turn: kept by themselves; `tool_call_id` names the call",
        "1 call has no result in their turn",
        "1 call has arguments that are no JSON object",
    ):
        assert what in done.unwrapped
    assert done.unwrapped.count(place) >= 3
    marks = json.loads((tmp_path / "run" / "summary.json").read_text())["marks"]
    counts = dict.fromkeys(("calls_without_result", "results_without_call", "arguments_unread"), 1)
    assert {name: marks[name] for name in counts} == counts
    (shown,) = [m for body in stub.asked if (m := json.dumps(body["messages"])).count("Alpha")]
    assert "a result without a call" in shown
    assert "no result" in shown
    done = dialogauge("judge", *words, "--strict", "-o", "strict")
    assert (done.code, "log.jsonl:2, conversation 'odd'" in done.err) == (1, True), done.err


@pytest.mark.parametrize("rubric", ["td-turn", "td-dialogue", "td-unit"])
def test_an_empty_trajectory_is_absent(dialogauge, serve, log, tmp_path, rubric):
    common = {"domain": "shop", "trial": 0, "reward": 0.0}
    gone = [{**common, "task_id": n, "agent": "b", "messages": []} for n in (1, 2)]
    run = {**common, "task_id": 1, "agent": "a", "messages": trip()["messages"]}
    path, stub = log(run, *gone), serve()
    words = ("--rubric", rubric, "--model", "stub-model", "--base-url", stub.url, "-o", "run", "--json")
    done = dialogauge("judge", path, *words)
    assert done.code == 0, done.err
    counts = done.json["conversations"]
    assert (counts["judged"], counts["absent"], counts["failed"]) == (1, 2, 0)
    agents = {group["name"]: group.get("absent", 0) for group in done.json["by"]["candidate"]["groups"]}
    assert agents == {"a": 0, "b": 2}
    assert not any('"b"' in json.dumps(body["messages"]) for body in stub.asked)


def test_the_ranks_of_agents_across_judges(dialogauge, serve, log, tmp_path):
    """A stricter judge gives less to all; agents that it ranks otherwise are named."""
    agents = ("alpha", "beta", "gamma")

    def judge_of(*given):
        def reply(body):
            if "response_format" not in body:
                return "fine"
            value, prompt = instance(body["response_format"]["json_schema"]["schema"]), str(body["messages"])
            named = (s for name, s in zip(agents, given, strict=True) if f"I am {name}" in prompt)
            score = next(named, 3)  # nobody is named where it is asked whether schemas are kept
            for entry in value.get("scores", {}).values():
                entry["score"] = score
            return json.dumps(value)

        return serve(reply).url

    talks = []
    for name in agents:
        for n in range(3):
            talk = trip(f"{name}-{n}", name)
            talk["messages"][-1] = {"role": "assistant", "content": f"I am {name}."}
            talks.append({**talk, "messages": talk["messages"][-2:]})
    path = log(*talks)
    for name, given in (("mild", (5, 4, 3)), ("strict", (3, 2, 1)), ("other", (4, 5, 1))):
        words = ("--rubric", "td-turn", "--model", "stub-model", "--base-url", judge_of(*given))
        done = dialogauge("judge", path, *words, "-o", name, "--no-cache")
        assert done.code == 0, done.err
    done = dialogauge("agreement", "mild", "strict", "other")
    assert done.code == 0, done.err
    assert "Candidates across judges: all dimensions of turns" in done.out
    assert "mild and strict: no two change places (by chance once in 6), rank accuracy 1.00" in done.unwrapped
    assert "the means are +2.00 apart, 2.00 on average." in done.unwrapped
    assert "mild and other: 1 of 3 pairs change places (alpha and beta)" in done.unwrapped
    ranks = dialogauge("agreement", "mild", "strict", "--json").json["ranks"]
    assert [of["dimension"] for of in ranks].count("cohesion") == 1
    assert all(of["ranks"]["strict"] == {"alpha": 1, "beta": 2, "gamma": 3} for of in ranks)


@pytest.mark.parametrize("rubric", ["td-turn", "td-dialogue", "td-unit"])
def test_people_can_be_asked_the_same(dialogauge, log, tmp_path, rubric):
    done = dialogauge("annotate", "make", log(trip()), "--rubric", rubric, "--raters", 2, "-o", "pages")
    assert done.code == 0, done.err
    page = next((tmp_path / "pages").glob("*.html")).read_text()
    wanted = "conversation cohesion" if rubric != "td-unit" else "Does the reply stay on the topic"
    assert wanted in page


def test_repeats_are_compared_turn_by_turn(dialogauge, serve, log, tmp_path):
    """The mean is 3 in every repeat, and no turn has the same score twice."""

    def reply(body):
        if "response_format" not in body:
            return "fine"
        value = instance(body["response_format"]["json_schema"]["schema"])
        late = "Is it open today?" in body["messages"][-1]["content"]
        for entry in value.get("scores", {}).values():
            entry["score"] = 1 if (body.get("seed", 0) % 2 == 0) == late else 5
        return json.dumps(value)

    done = judge(dialogauge, log, serve(reply), "--repeats", 2, "--seed", 6)
    assert done.code == 0, done.err
    spread = json.loads((tmp_path / "run" / "summary.json").read_text())["dimensions"]["policy"]["repeats"]
    assert spread["exact"]["value"] == 0
    assert spread["apart"]["value"] == 1
    assert spread["ac1"]["value"] < 0
    assert spread["targets"] == 2


def test_agents_of_ones_own_by_calls_and_by_text(dialogauge, serve, tmp_path):
    """The same dialogue in both forms is shown alike but for the numbers of its calls."""
    shown = []
    for name in ("agent_calls", "agent_text"):
        stub = serve(scores())
        log, policy = EXAMPLES / f"{name}.jsonl", EXAMPLES / "bike_shop.toml"
        at = ("--model", "stub-model", "--base-url", stub.url, "--policy", policy, "-o", name)
        done = dialogauge("judge", log, "--rubric", "td-turn", *at)
        assert done.code == 0, done.err
        rows = rows_of(tmp_path / name)
        assert [row["details"]["domain"] for row in rows] == ["workshop", "parts", "workshop"]
        assert ("steps as text" in done.out) == (name == "agent_text")
        prompts = (body["messages"][-1]["content"] for body in stub.asked)
        shown.append(sorted(text for text in prompts if "<dialogue>" in text))
    assert len(shown[0]) == 3
    assert shown[0] == [text.replace('"writer"', '"caller"') for text in shown[1]]
    assert "Where nothing was found, say so." in shown[0][0]


def test_unit_scores_of_another_grader_are_a_judge_beside_the_run(dialogauge, serve, log, tmp_path):
    assert judge(dialogauge, log, serve(), "--rubric", "td-unit").code == 0
    head = "conversation_id,turn,dimension,rater,score\n"
    for rater, given in (("lmunit", (4.33, 1.5)), ("ann", (4, 2))):
        lines = [f"trip,{turn},backend,{rater},{score}\n" for turn, score in enumerate(given, 1)]
        (tmp_path / f"{rater}.csv").write_text(head + "".join(lines))
    done = dialogauge("agreement", "run", "lmunit.csv", "--ratings", "ann.csv", "--scale", "1-5", "--json")
    assert done.code == 0, done.err
    exact = {one["name"]: one["figures"]["exact"]["value"] for one in done.json["judges"]}
    assert exact.keys() == {"run", "lmunit"}
    assert exact["lmunit"] == 1


def test_without_a_model_the_three_dimensions_come_from_rules(dialogauge, tmp_path):
    call = {"id": "c1", "type": "function", "function": {"name": "find_hotel", "arguments": "{}"}}
    messages = [
        {"role": "system", "content": "You are kind."},
        {"role": "user", "content": "A hotel in the north, please."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": '[{"name": "Amber House", "area": "north"}]'},
        {"role": "assistant", "content": "Amber House costs £95 a night."},
    ]
    (tmp_path / "agent.jsonl").write_text(json.dumps({"id": "a", "messages": messages}) + "\n")
    done = dialogauge("judge", "agent.jsonl", "--rubric", "td-turn", "-o", "run")
    assert done.code == 0, done.err
    (row,) = [json.loads(line) for line in (tmp_path / "run" / "judgements.jsonl").read_text().splitlines()]
    assert row["scores"] == {"cohesion": 5, "backend": 2, "policy": 5}
    assert row["evidence"][0]["signal"] == "unsourced"
    assert "£95" in row["rationale"]
    done = dialogauge("judge", "agent.jsonl", "--rubric", "td-dialogue", "--policy", "booking", "-o", "whole")
    assert done.code == 0, done.err
    (row,) = [json.loads(line) for line in (tmp_path / "whole" / "judgements.jsonl").read_text().splitlines()]
    assert set(row["scores"]) == {"cohesion", "backend", "policy", "goal_completion"}
    assert row["level"] == "conversation"
