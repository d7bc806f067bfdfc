"""`dialogauge arena`: votes, scores and the local judge make a ranking; the rest is refused."""

import json
import re
from pathlib import Path

import pytest

from arenas import ASKED, BAD, GOOD, at, dialogues, fair, published


@pytest.fixture
def runs(dialogauge, tmp_path, once):
    """Judged runs of three agents."""
    shares = {"alpha": 0.9, "beta": 0.5, "gamma": 0.2}

    def make():
        for name, share in shares.items():
            file = dialogues(tmp_path / f"{name}.jsonl", share, count=10 if name == "gamma" else 12)
            assert dialogauge("judge", file, "-o", tmp_path / "runs" / name).code == 0

    once("arena-runs", make)
    return [tmp_path / "runs" / name for name in shares]


def test_published_votes_make_a_ranking_with_controls_beside(dialogauge, tmp_path):
    done = dialogauge("arena", published(tmp_path / "votes.jsonl"), "-o", tmp_path / "run", "--json")
    assert done.code == 0, done.err
    result = done.json
    assert [one["agent"] for one in result["agents"]] == ["gpt", "mix", "tiny"]
    assert (result["asked"], result["votes"], result["failures"]) == (120, 120, {})
    first = result["agents"][0]
    assert first["rating"]["low"] < first["rating"]["value"] < first["rating"]["high"]
    assert first["rating"]["method"] == "jackknife by dialogues"
    assert first["votes"] == first["wins"] + first["losses"] + first["ties"] == 80
    assert sum(one["rating"]["value"] for one in result["agents"]) == pytest.approx(3000)
    assert {one["name"] for one in result["beside"]} == {"length", "position", "coin"}
    matrix = result["matrix"]
    assert matrix["agents"] == ["gpt", "mix", "tiny"]
    assert sum(map(sum, matrix["wins"])) + sum(map(sum, matrix["ties"])) / 2 == 120
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "Win matrix" in page
    assert "a coin decides" in page


def test_scores_of_runs_make_a_ranking_and_what_is_missing_is_said(dialogauge, runs, tmp_path):
    done = dialogauge("arena", *runs, "--unchecked", "-o", tmp_path / "run")
    assert done.code == 0, done.err
    assert done.out.startswith("UNCHECKED: ")
    assert "gamma lacks 2 dialogues that others have led: d10, d11" in done.unwrapped
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert [one["agent"] for one in summary["agents"]] == ["alpha", "beta", "gamma"]
    assert summary["asked"] == 12 + 10 + 10
    about = summary["agents"][0]["about"]
    assert (about["judged by"], about["dialogues"], about["tool calls"]) == ("local", 12, 0)
    length = next(one for one in summary["beside"] if one["name"] == "length")
    assert length["agrees"]["value"] == 1  # better replies are longer here: the page says it


def test_ids_that_name_the_agent_are_matched_without_it(dialogauge, tmp_path):
    files = []
    for name in ("alpha", "beta"):
        file = dialogues(tmp_path / f"{name}.jsonl", 0.5, candidate=name)
        file.write_text(file.read_text().replace('"id": "d', f'"id": "{name}_d'))
        files.append(file)
    done = dialogauge("arena", *files, "--judge", "local", "-o", "run")
    assert done.code == 0, done.err
    assert done.out.count("ids of dialogues name the agent, and are matched without its name") == 1
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["votes"] == 12


def test_scores_are_compared_by_the_dimensions_that_are_asked_for(dialogauge, runs, tmp_path):
    done = dialogauge("arena", *runs, "--dimension", "safety", "-o", tmp_path / "run", "--json")
    assert done.code in (0, 3), done.err
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["judge"]["dimensions"] == ["safety"]
    done = dialogauge("arena", *runs, "--dimension", "charm", "-o", tmp_path / "other")
    assert (done.code, "the run of alpha has no dimension 'charm'" in done.err) == (2, True)


def test_a_new_agent_is_compared_without_the_old_pairs(dialogauge, runs, tmp_path):
    assert dialogauge("arena", *runs[:2], "-o", tmp_path / "run").code == 0
    before = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert dialogauge("arena", *runs, "-o", tmp_path / "run").code == 0
    after = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert (before["votes"], after["votes"]) == (12, 32)


def test_a_new_agent_costs_its_own_comparisons_alone(dialogauge, serve, files):
    stub = serve(fair)
    assert dialogauge("arena", *files[:2], *at(stub), "-o", "run").code == 0
    assert len(stub.asked) == 2 * 12
    done = dialogauge("arena", *files, *at(stub), "-o", "run", "--json")
    assert (done.code, done.json["votes"]) == (0, 36), done.err
    assert len(stub.asked) == 2 * 36


def test_the_local_judge_votes_on_files_and_names_can_be_given(dialogauge, tmp_path):
    files = [dialogues(tmp_path / f"{n}.jsonl", share) for n, share in (("alpha", 0.9), ("beta", 0.1))]
    words = ("arena", f"mine={files[0]}", files[1], "--judge", "local", "-o", tmp_path / "r", "--json")
    done = dialogauge(*words, "--unchecked")
    assert done.code == 0, done.err
    assert [one["agent"] for one in done.json["agents"]] == ["mine", "beta"]
    assert (done.json["checked"], done.json["unchecked"]) == (False, True)
    assert done.json["answers"][0].startswith("UNCHECKED: ")
    assert done.json["referee"] == "scores of local"


def test_arenas_are_put_together(dialogauge, runs, tmp_path):
    assert dialogauge("arena", *runs[:2], "-o", tmp_path / "one").code == 0
    assert dialogauge("arena", *runs[1:], "-o", tmp_path / "two").code == 0
    done = dialogauge(
        "arena", tmp_path / "one", tmp_path / "two", "--unchecked", "-o", tmp_path / "both", "--json"
    )
    assert done.code == 0, done.err
    assert done.json["votes"] == 22
    assert done.json["groups"] == [["alpha", "beta", "gamma"]]
    assert done.json["referee"] == "scores of local, in earlier arenas"
    beta = next(one for one in done.json["agents"] if one["agent"] == "beta")
    assert (beta["about"]["dialogues"], beta["about"]["judged by"]) == (24, "local")
    for words, why in (
        (("one", "one"), "the arena one is given twice"),
        (("both", "two"), "every vote of the arena two is in both as well, and would count twice"),
    ):
        done = dialogauge("arena", *words, "-o", tmp_path / "refused")
        assert (done.code, why in done.err) == (2, True), done.err


def test_votes_in_columns_of_other_names_are_read_by_a_map(dialogauge, tmp_path):
    votes = tmp_path / "votes.csv"
    votes.write_text("left,right,better\n" + "old,new,new\n" * 9 + "new,old,old\n" * 3)
    done = dialogauge("arena", votes, "--map", "a=left,b=right,winner=better", "-o", "run", "--json")
    assert done.code == 0, done.err
    assert [(one["agent"], one["wins"]) for one in done.json["agents"]] == [("new", 9), ("old", 3)]


def test_people_stand_beside_another_judge(dialogauge, runs, tmp_path):
    votes = tmp_path / "votes.csv"
    votes.write_text("a,b,winner,conversation_id\n" + "".join(f"alpha,beta,a,d{i}\n" for i in range(12)))
    done = dialogauge(
        "arena", *runs[:2], "--ratings", votes, "--judge", "scores", "--unchecked", "-o", "r", "--json"
    )
    people = next(one for one in done.json["beside"] if one["name"] == "people")
    assert people["agrees"]["value"] == done.json["agents"][0]["wins"] / people["agrees"]["n"]
    assert people["ratings"]["alpha"] > 1000


def test_ids_are_hidden_where_that_is_asked(dialogauge, runs, tmp_path):
    assert dialogauge("arena", *runs, "--hash-ids", "-o", tmp_path / "run").code == 0
    for file in ("judgements.jsonl", "summary.json", "report.html"):
        assert not re.search(r"\bd10\b", (tmp_path / "run" / file).read_text(encoding="utf-8"))


def test_what_cannot_be_compared_is_refused(dialogauge, runs, tmp_path):
    votes = published(tmp_path / "votes.jsonl")
    assert dialogauge("arena", votes, "-o", tmp_path / "people").code == 0
    assert dialogauge("arena", *runs[:2], "-o", tmp_path / "scores").code == 0
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps({"id": "elsewhere", "messages": [{"role": "user", "content": "Hello"}]}))
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text('{"a": "x", "b": "y", "winner": "left"}\n')
    for words, code, why in (
        ((runs[0],), 2, "an arena of one agent: alpha"),
        ((tmp_path / "people", tmp_path / "scores"), 2, "the arenas people and scores have no common agent"),
        ((tmp_path / "people", runs[0]), 2, "is an arena, and is put together with arenas only"),
        ((runs[0], f"alpha={runs[1]}"), 2, "two agents are called 'alpha'"),
        ((runs[0], other, "--judge", "local"), 2, "no dialogue in common"),
        ((runs[0], other, "--judge", "people"), 2, "no dialogue in common"),
        ((runs[0], tmp_path / "beta.jsonl"), 2, "the dialogues of beta have no scores"),
        ((*runs, "--judge", "people"), 2, "nobody has voted on these agents"),
        ((wrong,), 1, "no vote could be read: "),
    ):
        done = dialogauge("arena", *words, "-o", tmp_path / "refused")
        assert (done.code, why in done.err) == (code, True), done.err
        assert not (tmp_path / "refused").exists()


def test_a_vote_for_an_unknown_agent_and_another_task_are_named(dialogauge, runs, tmp_path):
    votes = tmp_path / "votes.csv"
    votes.write_text("a,b,winner,conversation_id\nalpha,zeta,a,d1\nalpha,beta,b,d1\n")
    done = dialogauge("arena", *runs[:2], "--ratings", votes, "-o", tmp_path / "one")
    assert done.code == 1
    assert "votes.csv:2: a vote for an unknown agent: 'zeta'" in done.err
    votes.write_text("a,b,winner,conversation_id\nalpha,zeta,a,d1\n")
    done = dialogauge("arena", *runs[:2], "--ratings", votes, "--judge", "people", "-o", tmp_path / "none")
    assert (done.code, "a vote for an unknown agent: 'zeta'" in done.err) == (2, True)
    files = [dialogues(tmp_path / f"{n}.jsonl", 0.5, scenario=n) for n in ("hotel", "train")]
    done = dialogauge("arena", *files, "--judge", "local", "-o", tmp_path / "two")
    assert done.code == 1
    assert "dialogue 'd0': hotel and train had different tasks: scenario 'hotel' and 'train'" in done.err
    assert "No vote: nobody can be ranked" in done.unwrapped


def test_one_id_and_other_users_are_no_meeting_unless_both_state_the_task(dialogauge, tmp_path):
    """Where nothing but the id links two dialogues, users must have begun alike."""
    files = [dialogues(tmp_path / f"{n}.jsonl", 0.5, count=3) for n in ("alpha", "beta")]
    files[1].write_text(files[1].read_text().replace(ASKED[0], "Where is my parcel?", 1))
    done = dialogauge("arena", *files, "--judge", "local", "-o", tmp_path / "one")
    assert done.code == 1
    assert "alpha and beta may have had different tasks: the users began" in done.err
    assert "'Where is my parcel?" in done.err
    assert json.loads((tmp_path / "one" / "summary.json").read_text())["asked"] == 2
    for file in files:
        records = map(json.loads, file.read_text().splitlines())
        file.write_text("".join(json.dumps({**r, "context": f"task {r['id']}"}) + "\n" for r in records))
    done = dialogauge("arena", *files, "--judge", "local", "-o", tmp_path / "two", "--json")
    assert (done.code, done.json["asked"]) == (0, 3), done.err


def trajectories(path, agent, rewards):
    """Runs as TD-Eval publishes them; one without a reward failed at its source and has no messages."""
    with path.open("w", encoding="utf-8") as out:
        for task, reward in enumerate(rewards):
            said = [
                {"role": "user", "content": f"I want to change flight {task}."},
                {"role": "assistant", "content": "Done." if reward else "I cannot do that."},
            ]
            row = {"agent": agent, "style": "tool-calling", "domain": "airline", "task_id": task, "trial": 0}
            row |= {"reward": reward or 0, "error": "" if reward is not None else "timeout"}
            row |= {"user_id": f"u{task}", "instruction": f"Change flight {task}.", "gold_actions": []}
            row |= {"gold_outputs": [], "messages": [] if reward is None else said}
            out.write(json.dumps(row) + "\n")
    return path


def test_a_run_that_failed_at_its_source_is_absent_and_no_vote(dialogauge, tmp_path):
    runs = []
    for agent, rewards in (("alpha", [1, 1, 1, 0, 1, 0, 1, 1]), ("beta", [0, 1, None, 0, 0, None, None, 0])):
        file = trajectories(tmp_path / f"{agent}.jsonl", agent, rewards)
        runs.append(tmp_path / "runs" / agent)
        assert dialogauge("success", file, "--kind", "tau", "-o", runs[-1]).code == 0
    done = dialogauge("arena", *runs, "--dimension", "success", "-o", "run", "--json")
    assert done.code == 0, done.err
    assert (done.json["asked"], done.json["votes"], done.json["failures"]) == (5, 5, {})
    assert done.json["absent"] == {"beta": ["airline_2__*__0", "airline_5__*__0", "airline_6__*__0"]}
    assert (done.json["missing"], done.json["agents"][1]["about"]["absent"]) == ({}, 3)
    shown = dialogauge("arena", *runs, "--dimension", "success", "-o", "run").unwrapped
    assert "Absent, since the run failed at its source: beta from 3 dialogues" in shown
    files = [tmp_path / "alpha.jsonl", tmp_path / "beta.jsonl"]
    done = dialogauge("arena", *files, "--judge", "local", "-o", "local", "--json")
    assert (done.code, done.json["asked"]) == (0, 5), done.err


def test_runs_of_different_judges_are_not_compared(dialogauge, tmp_path):
    for name, rubric in (("alpha", "card"), ("beta", "satisfaction")):
        file = dialogues(tmp_path / f"{name}.jsonl", 0.5)
        assert dialogauge("judge", file, "--rubric", rubric, "-o", tmp_path / "runs" / name).code == 0
    done = dialogauge("arena", tmp_path / "runs" / "alpha", tmp_path / "runs" / "beta", "-o", "r")
    assert done.code == 2
    assert "alpha and beta were judged by different judges or prompts" in done.err


@pytest.fixture
def files(tmp_path):
    shares = (("alpha", 0.9), ("beta", 0.5), ("gamma", 0.1))
    return [dialogues(tmp_path / f"{name}.jsonl", share) for name, share in shares]


def test_a_model_is_asked_in_both_orders(dialogauge, serve, files):
    stub = serve(fair)
    done = dialogauge("arena", *files, *at(stub), "--unchecked", "-o", "run", "--json")
    assert done.code == 0, done.err
    assert len(stub.asked) == 2 * 36
    assert [one["agent"] for one in done.json["agents"]] == ["alpha", "beta", "gamma"]
    assert done.json["position"]["changed"]["value"] == 0
    assert done.json["position"]["meetings"] == 36
    assert done.json["referee"] == "pair/stub-model"
    again = dialogauge("arena", *files, *at(stub), "--unchecked", "-o", "run", "--json")
    assert again.json["agents"] == done.json["agents"]
    assert len(stub.asked) == 2 * 36


def test_the_judge_sees_tool_results_and_no_reference(dialogauge, serve, tmp_path):
    calls = [{"id": "1", "type": "function", "function": {"name": "find", "arguments": "{}"}}]
    messages = [
        {"role": "user", "content": "Find a train."},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "1", "content": "TR7788 leaves at 9:15"},
        {"role": "assistant", "content": "It leaves at 9:15."},
    ]
    record = {"id": "d1", "messages": messages, "metadata": {"reference": "GROUND TRUTH"}}
    files = [tmp_path / f"{name}.jsonl" for name in "ab"]
    for file in files:
        file.write_text(json.dumps(record))
    stub = serve(fair)
    assert dialogauge("arena", *files, *at(stub), "-o", "run").code == 0
    prompt = stub.asked[0]["messages"][-1]["content"]
    assert prompt.count("TR7788 leaves at 9:15") == 2
    assert "GROUND TRUTH" not in prompt


def test_what_is_private_is_hidden_before_it_is_sent(dialogauge, serve, files):
    for file in files:
        file.write_text(file.read_text().replace("I travel", "Call me at +44 20 7946 0958, I travel"))
    stub = serve('{"note": "The user is at +44 20 7946 0999.", "winner": "a"}')
    assert dialogauge("arena", *files, *at(stub), "--redact", "-o", "run").code == 0
    prompt = stub.asked[0]["messages"][-1]["content"]
    assert "[phone]" in prompt
    assert "7946" not in prompt
    shown = dialogauge("show", "run", "d3").out
    assert "The user is at [phone]." in shown
    assert "7946" not in shown


def test_percentiles_of_draws_and_what_is_known_of_agents_stand_on_the_page(dialogauge, runs, tmp_path):
    agents = tmp_path / "agents.toml"
    agents.write_text('[[agent]]\nname = "alpha"\norganisation = "Ours"\nlicence = "Apache-2.0"\n')
    done = dialogauge(
        "arena", *runs, "--draws", 100, "--unchecked", "--agents", agents, "-o", tmp_path / "run"
    )
    assert "Percentiles of 100 draws of clusters" in done.out
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "Apache-2.0" in page


def test_a_judge_that_always_says_a_gives_ties_and_its_bias(dialogauge, serve, files):
    done = dialogauge(
        "arena", *files, *at(serve('{"note": "First.", "winner": "a"}')), "-o", "run", "--unchecked", "--json"
    )
    assert done.code == 0, done.err
    assert done.json["position"]["first"]["value"] == 1
    assert done.json["position"]["changed"]["value"] == 1
    assert {one["rating"]["value"] for one in done.json["agents"]} == {1000}
    assert {one["rank"] for one in done.json["agents"]} == {1}


@pytest.mark.parametrize(
    "reply", ['{"note": "x", "winner": "CONVERSATION_A"}', "A is better", '{"winner": 1}']
)
def test_a_verdict_that_cannot_be_read_is_no_tie(dialogauge, serve, files, reply):
    done = dialogauge("arena", *files, *at(serve(reply, schema="ignore")), "-o", "run", "--json")
    assert done.code == 3
    assert done.json["agents"] == []
    assert sum(done.json["failures"].values()) == done.json["asked"] == 36


def test_published_conversations_are_judged_and_people_stand_beside(dialogauge, serve, tmp_path):
    stub = serve('{"note": "Like.", "winner": "tie"}')
    done = dialogauge("arena", published(tmp_path / "v.jsonl", questions=5), *at(stub), "-o", "r", "--json")
    assert done.code == 0, done.err
    assert len(stub.asked) == 30
    assert {one["name"] for one in done.json["beside"]} == {"length", "coin", "people"}


def test_what_failed_is_tried_again_and_the_rest_stays(dialogauge, serve, files, tmp_path):
    def halting(body):
        return fair(body) if "day 3," not in json.dumps(body["messages"]) else "no verdict"

    done = dialogauge("arena", *files, *at(serve(halting, schema="ignore")), "-o", "run", "--json")
    assert done.code == 3, done.err
    assert (done.json["asked"], done.json["votes"]) == (36, 33)
    stub = serve(fair)
    model = ("--model", "stub-model", "--base-url", stub.url)
    again = dialogauge("arena", *files, *model, "--retry-failed", "-o", "run", "--json")
    assert again.json["votes"] == 36
    other = dialogues(tmp_path / "other.jsonl", 0.5, count=30)
    other.write_text(
        other.read_text().replace(GOOD[0], "Der Zug fährt um 9:15 Uhr von Gleis 3 ab, und du bist da.")
    )
    local = ("arena", files[0], other, "--judge", "local", "-o", "local", "--json")
    first = dialogauge(*local)
    assert dialogauge(*local, "--retry-failed").json["agents"] == first.json["agents"]


def test_a_budget_and_a_schedule_ask_less(dialogauge, serve, tmp_path):
    files = [dialogues(tmp_path / f"a{n}.jsonl", 0.15 * n + 0.05, count=40) for n in range(7)]
    stub = serve(fair)
    words = ("arena", *files, *at(stub), "--schedule", "adaptive", "--unchecked")
    done = dialogauge(*words, "--budget", "60", "-o", "run", "--json")
    assert done.code == 0, done.err
    assert done.json["asked"] == 60
    assert len(stub.asked) == 120
    votes = {one["agent"]: one["votes"] for one in done.json["agents"]}
    assert votes["a6"] > 1.3 * votes["a0"]
    more = dialogauge(*words, "--until", "500", "-o", "run", "--json")
    assert more.code == 0, more.err
    assert 60 <= more.json["asked"] < 21 * 40
    top = [one["rating"] for one in more.json["agents"][:3]]
    assert max(one["high"] - one["low"] for one in top) <= 600  # the last votes were under way
    cut = dialogauge("arena", *files, *at(stub), "--budget", "30", "-o", "cut", "--json")
    assert cut.json["asked"] == 30


def test_a_dry_run_says_what_it_would_ask_and_cost(dialogauge, serve, files, tmp_path):
    """36 meetings in both orders are 72 calls; prices are per million tokens."""
    prices = tmp_path / "prices.toml"
    price = "input_per_million = 3\noutput_per_million = 20\n"
    prices.write_text(f'[[model]]\nname = "stub-model"\ncurrency = "EUR"\n{price}')
    stub = serve(fair)
    words = ("arena", *files, *at(stub), "--prices", prices, "-o", "run")
    done = dialogauge(*words, "--dry-run", "--json")
    plan = done.json
    assert (done.code, plan["agents"], plan["meetings"], plan["left"]) == (0, 3, 36, 36), done.err
    asking = plan["asking"]
    assert (asking["calls"], asking["completion_tokens"], asking["currency"]) == (72, 36_000, "EUR")
    assert asking["cost"] == pytest.approx(asking["prompt_tokens"] * 3e-6 + 0.72)
    assert stub.asked == []
    assert not (tmp_path / "run").exists()
    shown = dialogauge(*words, "--budget", 10, "--dry-run")
    assert "3 agents: would compare 10 of 10 meetings by pair/stub-model" in shown.out
    assert "20 calls: about " in shown.out
    assert "Nobody will be ranked: nobody voted on these meetings" in shown.unwrapped
    assert "Nobody will be ranked" not in dialogauge(*words, "--unchecked", "--dry-run").out
    assert dialogauge(*words, "--budget", 10).code == 0
    chars = sum(len(m["content"].encode()) for body in stub.asked for m in body["messages"])
    assert dialogauge(*words, "--dry-run", "--json").json["left"] == 26
    assert asking["prompt_tokens"] == pytest.approx(chars / 3 * 72 / 20, rel=0.05)
    cached = dialogauge(*words[:-1], "other", "--dry-run", "--json").json["asking"]
    assert (cached["calls"], cached["cached"]) == (52, 20)
    adaptive = (*words, "--schedule", "adaptive", "--budget", 20, "--dry-run")
    assert "would compare at most 10 of 36 meetings" in dialogauge(*adaptive).out
    local = dialogauge("arena", *files, "--judge", "local", "--dry-run", "-o", "local")
    assert "3 agents: would compare 36 meetings by scores of local; no model is asked" in local.out


def test_settings_that_exclude_each_other_are_refused(dialogauge, files):
    model = ("--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    for words, why in (
        (("--judge", "llm"), "--judge llm needs a model"),
        (("--judge", "local", *model), "--judge local takes no model"),
        (("--judge", "local", "--schedule", "adaptive"), "are for comparisons that cost something"),
        ((*model, "--schedule", "adaptive"), "--schedule adaptive has no end"),
        ((*model, "--until", "50"), "--until is for --schedule adaptive"),
        ((*model, "--rubric", "card"), "judges a conversation, and not a pair"),
    ):
        done = dialogauge("arena", *files, *words, "-o", "refused")
        assert (done.code, why in done.err) == (2, True), done.err
    done = dialogauge("judge", files[0], *model, "--rubric", "pair", "-o", "refused")
    assert (done.code, "`dialogauge arena` takes it" in done.err) == (2, True)


# Nobody is ranked by a judge that nothing checks


def rows_of_votes(path, winner, count=30):
    rows = "".join(f"alpha,beta,{winner(n)},d{n}\n" for n in range(count))
    path.write_text("a,b,winner,conversation_id\n" + rows)
    return path


def unequal(folder, names=("alpha", "beta"), count=30):
    """Files of two agents of which either books in some dialogues; who does is told by the number."""
    for place, name in enumerate(names):
        dialogues(folder / f"{name}.jsonl", 1.0, count=count)
        lines = (folder / f"{name}.jsonl").read_text().splitlines()
        for n, line in enumerate(lines):
            if (n % 2 == 0) == (place == 1):  # alpha books in the even ones, beta in the odd ones
                record = json.loads(line)
                for message, text in zip(record["messages"][1::2], BAD, strict=True):
                    message["content"] = f"{text} {'I am so very sorry about that. ' * (n % 5)}"
                lines[n] = json.dumps(record)
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    return [folder / f"{name}.jsonl" for name in names]


@pytest.mark.long
@pytest.mark.parametrize("judge", ["scores", "local", "model"])
def test_an_unchecked_judge_ranks_nobody(dialogauge, runs, serve, tmp_path, judge):
    files = [tmp_path / f"{name}.jsonl" for name in ("alpha", "beta", "gamma")]
    words = {"scores": runs, "local": (*files, "--judge", "local"), "model": (*files, *at(serve(fair)))}
    done = dialogauge("arena", *words[judge], "-o", "run")
    assert done.code == 0, done.err
    assert done.out.startswith("Nobody is ranked: ")
    assert ("Nobody will be ranked: " in done.err) == (judge == "model")
    for word in ("leads", "above", "Ranking", "Leaderboard", "Elo"):
        assert word not in done.out, word
    result = dialogauge("arena", *words[judge], "-o", "run", "--json").json
    assert (result["checked"], result["unchecked"], result["agents"], result["groups"]) == (
        False,
        False,
        [],
        [],
    )
    assert result["why_unchecked"]
    assert result["matrix"] == {}
    assert [one["agent"] for one in result["unranked"]] == ["alpha", "beta", "gamma"]
    assert len(result["to_read"]) == 10
    page = Path("run/report.html").read_text(encoding="utf-8")
    assert "Nobody is ranked" in page
    assert "Leaderboard" not in page
    assert "Win matrix" not in page
    assert ASKED[1] in page  # dialogues of the first meetings to read
    assert dialogauge("report", "run").code == 0
    assert Path("run/report.html").read_text(encoding="utf-8") == page
    assert "Unchecked: " in dialogauge("show", "run", "d3").out


def test_a_judge_that_agrees_with_people_beyond_its_controls_ranks(dialogauge, serve, tmp_path):
    """The model follows the booking, and so do people: no length, and no agent, tells whom they prefer."""
    files = unequal(tmp_path)
    votes = rows_of_votes(tmp_path / "votes.csv", lambda n: "b" if n % 2 else "a")
    done = dialogauge("arena", *files, *at(serve(fair)), "--ratings", votes, "-o", "run", "--json")
    assert done.code == 0, done.err
    assert (done.json["checked"], done.json["unchecked"]) == (True, False)
    assert "the winner that people named in 100 %" in done.json["checked_by"]
    assert [one["agent"] for one in done.json["agents"]] == ["alpha", "beta"]


@pytest.mark.parametrize(
    ("winner", "why"),
    [
        (lambda n: "a" if n % 2 else "b", "more than chance"),  # people prefer the other one
        (lambda n: "ab"[n // 2 % 2], "more than chance"),
        (lambda n: "tie", "people named no winner"),
    ],
)
def test_a_judge_that_does_not_agree_with_people_ranks_nobody(dialogauge, serve, tmp_path, winner, why):
    votes = rows_of_votes(tmp_path / "votes.csv", winner)
    words = ("arena", *unequal(tmp_path), *at(serve(fair)), "--ratings", votes, "-o", "run", "--json")
    result = dialogauge(*words).json
    assert (result["checked"], result["agents"], why in result["why_unchecked"]) == (False, [], True)


def test_who_only_knows_the_stronger_agent_is_not_checked(dialogauge, runs, tmp_path):
    """Scores prefer alpha wherever it books; people prefer alpha always: that asks for no reading."""
    votes = rows_of_votes(tmp_path / "votes.csv", lambda n: "a", 12)
    words = ("arena", *runs[:2], "--ratings", votes, "--judge", "scores", "-o", "run", "--json")
    result = dialogauge(*words).json
    assert (result["checked"], result["agents"]) == (False, [])


def test_rewards_in_files_rank_without_a_judge(dialogauge, tmp_path):
    for name, share in (("alpha", 10), ("beta", 4)):
        records = [
            {
                "task_id": n,
                "agent": name,
                "domain": "retail",
                "trial": 0,
                "reward": float(n % 12 < share),
                "messages": [
                    {"role": "user", "content": f"Task {n}"},
                    {"role": "assistant", "content": "ok"},
                ],
            }
            for n in range(24)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    done = dialogauge("arena", "alpha.jsonl", "beta.jsonl", "-o", "run", "--json")
    assert done.code == 0, done.err
    assert (done.json["checked"], done.json["checked_by"]) == (True, "it is the outcome of the task itself")
    assert [one["agent"] for one in done.json["agents"]] == ["alpha", "beta"]
    assert done.json["referee"] == "scores of the environment"


def test_files_that_nobody_judged_say_who_may_vote(dialogauge, tmp_path):
    done = dialogauge("arena", *unequal(tmp_path), "-o", "run")
    assert done.code == 2
    assert "people (--ratings VOTES), a model (--model)" in done.err
