"""Training rows from arenas, searches and sessions; judged anew, held out, and what they reward."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arenas import BOOKED, at, fair
from dialogauge.training.row_files import read_pair_file
from flows.test_lookahead import INN, MILL, search, world
from servers.schemas import instance


def lines(name):
    return [json.loads(line) for line in Path(name).read_text(encoding="utf-8").splitlines()]


def messages(*texts, system=None):
    said = [{"role": "user" if i % 2 == 0 else "assistant", "content": t} for i, t in enumerate(texts)]
    return said if system is None else [{"role": "system", "content": system}, *said]


# Arenas


@pytest.fixture
def votes(tmp_path):
    """A file of votes: (winner, judge, messages of a, messages of b) by question."""

    def write(*rows):
        path = tmp_path / "votes.jsonl"
        records = [
            {
                "question_id": question,
                "model_a": "long",
                "model_b": "short",
                "winner": winner,
                "judge": judge,
                "conversation_a": a,
                "conversation_b": b,
            }
            for question, winner, judge, a, b in rows
        ]
        path.write_text("".join(f"{json.dumps(one)}\n" for one in records))
        return path

    return write


def test_votes_on_two_replies_are_pairs_and_what_they_reward_comes_first(dialogauge, votes):
    asked = "When does it open?"
    a, b = messages(asked, "It opens at nine, on every day but Monday."), messages(asked, "At nine.")
    rows = [(f"q{n}", "model_a", "ann", a, messages(asked, f"At {n}.")) for n in range(8)]
    rows += [("q8", "model_b", "ann", a, b), ("q8", "model_b", "bob", a, b), ("q8", "model_a", "eve", a, b)]
    rows += [("q9", "tie", "ann", a, b), ("q10", "model_a", "ann", a, b), ("q10", "model_b", "bob", a, b)]
    assert dialogauge("arena", votes(*rows), "-o", "arena").code == 0
    done = dialogauge("pairs", "arena", "-o", "dpo.jsonl")
    assert done.code == 0, done.err
    first = "Note: of 9 pairs the chosen side is longer, which alone tells it from the rejected one in 89%"
    assert " ".join(done.out.split()).startswith(first)
    assert "the chosen side" not in done.err  # it is said once
    assert "the chosen side is from long" in done.unwrapped
    assert "the chosen side stood first" in done.unwrapped
    assert "1 left out: a tie" in done.out
    assert "1 left out: no reply was chosen by more than half of the raters" in done.unwrapped
    rows, sources = lines("dpo.jsonl"), lines("dpo.provenance.jsonl")
    assert [row["chosen"][0]["content"] for row in rows[-1:]] == ["At nine."]
    assert sources[-1]["votes"] == {"short": 2, "long": 1, "tie": 0}
    assert (sources[-1]["source"], sources[-1]["model_chosen"], sources[-1]["chosen_first"]) == (
        "people",
        "short",
        False,
    )
    assert len(list(read_pair_file("dpo.jsonl"))) == 9
    # the same dialogues, by a judge of which nothing shows that it agrees with people
    done = dialogauge("pairs", "arena", "--kind", "segment", "-o", "segments.jsonl")
    assert done.code == 2
    assert "no pair has a winner: " in done.err
    assert "9 one reply alone differs (--kind dpo takes it)" in done.err


def test_votes_on_whole_dialogues_are_segments_behind_what_they_share(dialogauge, votes):
    shared = ("Hello.", "Welcome to the inn.")
    a = messages(*shared, "A room?", "For one night?", "For two.", "Done.", system="You are Rosa.")
    b = messages(*shared, "Food?", "No.", system="You are Rosa.")
    dialogauge("arena", votes(("q1", "model_a", "ann", a, b), ("q2", "tie", "ann", a, b)), "-o", "arena")
    done = dialogauge("pairs", "arena", "--kind", "segment", "-o", "s.jsonl", "--json")
    assert done.code == 0, done.err
    (row,), (source,) = lines("s.jsonl"), lines("s.provenance.jsonl")
    assert row["prompt"] == a[:3]
    assert (row["chosen"], row["rejected"]) == (a[3:], b[3:])
    assert (row["model_chosen"], row["model_rejected"], row["score_chosen"]) == ("long", "short", None)
    assert (source["turn"], source["votes"]) == (2, {"long": 1, "short": 0, "tie": 0})
    assert done.json["written"] == 1
    assert done.json["left_out"] == {"a tie": 1}
    assert {one["name"] for one in done.json["rewarded"]["signs"]} >= {"longer", "asks", "model", "first"}


def test_an_arena_of_ties_and_one_of_an_unchecked_judge_make_no_rows(dialogauge, votes, serve, tmp_path):
    a, b = messages("Hi", "One."), messages("Hi", "Two.")
    dialogauge("arena", votes(("q1", "tie", "ann", a, b)), "-o", "arena")
    done = dialogauge("pairs", "arena", "-o", "dpo.jsonl")
    assert (done.code, "no pair has a winner: 1 a tie" in done.err) == (2, True)
    for name, reply in (("x", "Sorry, I cannot."), ("y", f"It is booked: {BOOKED}.")):
        record = {"id": "c1", "messages": messages("Please book it.", reply)}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(record) + "\n")
    assert dialogauge("arena", "x.jsonl", "y.jsonl", *at(serve(fair)), "-o", "scored").code == 0
    done = dialogauge("pairs", "scored", "-o", "dpo.jsonl")
    assert (done.code, "1 row would rest on a judge that is not checked" in done.err) == (2, True)
    done = dialogauge("pairs", "scored", "-o", "dpo.jsonl", "--unchecked")
    assert done.code == 0, done.err
    assert done.out.startswith("UNCHECKED: ")
    (row,), (source,) = lines("dpo.jsonl"), lines("dpo.provenance.jsonl")
    assert row["unchecked"] is source["unchecked"] is True
    assert row["chosen"][0]["content"] == f"It is booked: {BOOKED}."
    assert "chosen_first" not in source  # it was asked in both orders


# Searches and sessions


@pytest.fixture
def searched(dialogauge, serve, log):
    """A lookahead run of two scenarios, three steps, two candidates; the judge likes lanterns."""
    stub = serve(world)
    done = search(dialogauge, stub.url, log(INN, MILL, name="scenarios.jsonl"))
    assert done.code == 0, done.err
    stub.before = len(stub.asked)
    return stub


def test_a_search_gives_segments_trajectories_and_prompts(dialogauge, searched):
    done = dialogauge("pairs", "run", "--kind", "segment", "-o", "s.jsonl")
    assert ("no stored check was named" in done.err, "--checked-by" in done.err) == (True, False)
    assert (done.code, "6 rows would rest on a judge that is not checked" in done.err) == (2, True)
    done = dialogauge("pairs", "run", "--kind", "segment", "-o", "s.jsonl", "--unchecked")
    assert done.code == 0, done.err
    rows, sources = lines("s.jsonl"), lines("s.provenance.jsonl")
    assert done.out.startswith("UNCHECKED: ")
    assert "the chosen side is from lamp" in " ".join(done.out.split("\n\n")[0].split())
    assert [(row["persona_id"], row["step"]) for row in rows] == [
        *(("inn", 1), ("inn", 2), ("inn", 3), ("mill", 1), ("mill", 2), ("mill", 3))
    ]
    for row, source in zip(rows, sources, strict=True):
        assert (row["model_chosen"], row["model_rejected"]) == ("lamp", "dark")
        assert row["chosen"][0]["role"] == row["rejected"][0]["role"] == "user"
        assert len(row["chosen"]) == len(row["rejected"]) == 4
        assert row["score_chosen"] - row["score_rejected"] == pytest.approx(source["margin"])
        assert (source["persona"], source["judge_digest"] is not None) == (row["persona_id"], True)
    assert rows[1]["prompt"] == rows[0]["prompt"] + rows[0]["chosen"]
    assert [row.data["step"] for row in read_pair_file("s.jsonl")] == [1, 2, 3, 1, 2, 3]
    assert dialogauge("pairs", "run", "--kind", "sft", "-o", "sft.jsonl", "--unchecked").code == 0
    assert [row["messages"] for row in lines("sft.jsonl")] == [
        rows[2]["prompt"] + rows[2]["chosen"],
        rows[5]["prompt"] + rows[5]["chosen"],
    ]
    done = dialogauge("pairs", "run", "--kind", "kto", "-o", "kto.jsonl", "--unchecked")
    assert (done.code, "it gives sft, segment, rl" in done.err) == (2, True)
    assert len(searched.asked) == searched.before


def test_the_margin_and_the_cap_hold_for_segments(dialogauge, searched):
    words = ("pairs", "run", "--kind", "segment", "--unchecked")
    margin = lines_margin(dialogauge, words)
    done = dialogauge(*words, "-o", "s.jsonl", "--min-margin", margin + 0.01)
    assert (done.code, f"6 less than {margin + 0.01:g} points apart" in done.err) == (2, True)
    done = dialogauge(*words, "-o", "s.jsonl", "--per-user", 2, "--split-by", "persona", "--held-out", 0.5)
    assert done.code == 0, done.err
    assert "2 left out: over 2 of one persona (--per-user)" in done.unwrapped
    trained, held_out = lines("s.jsonl"), lines("s.held_out.jsonl")
    assert {len(trained), len(held_out)} == {2}
    assert all(
        f"2 rows{part}: s{name}" in done.out
        for part, name in (("", ".jsonl"), (" held out", ".held_out.jsonl"))
    )
    assert {row["persona_id"] for row in trained} ^ {row["persona_id"] for row in held_out} == {"inn", "mill"}
    assert len(lines("s.held_out.provenance.jsonl")) == 2
    assert [path.name for path in Path().glob("s.*.yaml")] == ["s.accelerate.yaml"]
    done = dialogauge(*words, "-o", "s.jsonl", "--split-by", "user", "--limit", 1)
    assert (done.code, "1 user among 1 row: nothing can be held out" in done.err) == (2, True)


def lines_margin(dialogauge, words):
    assert dialogauge(*words, "-o", "all.jsonl").code == 0
    (margin,) = {source["margin"] for source in lines("all.provenance.jsonl")}
    return margin


def test_prompts_are_half_empty_and_half_cut_where_a_segment_ends(dialogauge, searched):
    done = dialogauge("pairs", "run", "--kind", "rl", "-o", "rl.jsonl")
    assert done.code == 0, done.err  # nothing rests on the judge: prompts are no examples
    rows = list(read_pair_file("rl.jsonl"))
    assert [row.scenario.id for row in rows] == ["inn", "inn", "mill", "mill"]
    assert [row.data["context_turns"] for row in rows[::2]] == [0, 0]
    assert all(row.data["context_turns"] in (2, 4, 6) for row in rows[1::2])
    assert [message["role"] for message in rows[0].data["prompt"]] == ["system", "assistant"]  # she greets
    assert [message["role"] for message in rows[2].data["prompt"]] == ["system"]
    assert rows[0].scenario.user.opening == "I am back."
    assert rows[2].scenario.user.persona.startswith("I am a guest at the mill")
    assert dialogauge("pairs", "run", "--kind", "sft", "-o", "sft.jsonl", "--unchecked").code == 0
    whole = [row["messages"] for row in lines("sft.jsonl")]
    assert [
        row.data["prompt"] == of[: len(row.data["prompt"])] for row, of in zip(rows[1::2], whole, strict=True)
    ] == [
        True,
        True,
    ]
    places = set()
    for seed in range(6):
        dialogauge("pairs", "run", "--kind", "rl", "-o", "rl.jsonl", "--seed", seed)
        places.add(tuple(row.data["context_turns"] for row in read_pair_file("rl.jsonl")))
    assert len(places) > 1


def test_prompts_come_from_simulated_sessions_too(dialogauge, serve, log):
    url = serve(world).url
    words = ("--candidate", f"lamp=lamp@{url}", "--role", f"simulator=sim@{url}", "--turns", 3)
    assert dialogauge("simulate", log(INN, MILL, name="scenarios.jsonl"), *words, "-o", "run").code == 0
    done = dialogauge("pairs", "run", "--kind", "rl", "-o", "rl.jsonl", "--hash-ids")
    assert done.code == 0, done.err
    rows = list(read_pair_file("rl.jsonl"))
    assert [row.data["context_turns"] for row in rows[::2]] == [0, 0]
    assert all(1 <= row.data["context_turns"] <= 3 for row in rows[1::2])
    assert all(row.scenario.user.id.startswith("u_") for row in rows)
    done = dialogauge("pairs", "run", "-o", "dpo.jsonl")
    assert (done.code, "it gives rl" in done.err) == (2, True)


def test_other_trainers_score_by_the_rubric_of_the_search(dialogauge, serve, log, tmp_path):
    stub, scenarios = serve(world), log(INN, name="scenarios.jsonl")
    for name, rubric in (("plain", "roleplay-plain"), ("usual", "roleplay")):
        assert search(dialogauge, stub.url, scenarios, "--rubric", rubric, out=name).code == 0
    words = ("--kind", "rl", "-o", "rl.jsonl")
    done = dialogauge("pairs", "plain", *words, "--to", "verl")
    assert done.code == 0, done.err
    loop = (tmp_path / "rl.verl_loop.yaml").read_text()
    assert "  rubric: roleplay-plain\n  weights: null\n  turns: 2\n" in loop
    assert dialogauge("pairs", "plain", *words, "--to", "openrlhf").code == 0
    agent = (tmp_path / "rl.agent.py").read_text()
    assert "turns=2, rubric='roleplay-plain', weights=None" in agent
    done = dialogauge("pairs", "plain", "usual", *words, "--to", "verl")
    assert done.code == 2
    assert "plain was scored by roleplay-plain, usual by roleplay: one reward cannot be both" in done.err


# Judged anew


def test_segments_are_judged_anew_and_what_is_not_better_goes(dialogauge, searched):
    url = searched.url
    words = ("pairs", "run", "--kind", "segment", "-o", "s.jsonl", "--unchecked", "--recheck")
    done = dialogauge(*words)
    assert (done.code, "give it once more: --role judge=" in done.err) == (2, True)
    words = (*words, "--role", f"judge=judge@{url}")
    planned = dialogauge(*words, "--dry-run")
    assert planned.code == 0, planned.err
    assert "48 calls" in planned.out  # 6 pairs, 2 sides, 4 dimensions
    assert len(searched.asked) == searched.before
    assert not Path("s.jsonl").exists()
    done = dialogauge(*words)
    assert done.code == 0, done.err
    assert len(searched.asked) == searched.before + 48
    assert "6 pairs judged anew: chosen is better again" in done.unwrapped
    sources = lines("s.provenance.jsonl")
    assert all(s["recheck_chosen"] > s["recheck_rejected"] for s in sources)
    assert all(s["recheck_chosen"] == pytest.approx(s["score_chosen"]) for s in sources)
    dialogauge(*words)
    assert len(searched.asked) == searched.before + 48  # what was paid for once is in the cache
    done = dialogauge(*words[:-2], "--role", f"judge=other@{url}")
    assert (done.code, "not the one that judged it" in done.err) == (2, True)


def test_a_spent_budget_keeps_the_pairs_that_were_judged_anew(dialogauge, searched):
    words = ("pairs", "run", "--kind", "segment", "--unchecked", "--recheck", "-o", "s.jsonl")
    words = (*words, "--role", f"judge=judge@{searched.url}", "--max-concurrency", 1)
    done = dialogauge(*words, "--max-calls", 20)
    assert done.code == 1, done.out
    assert 1 <= len(lines("s.jsonl")) < 6
    assert "left out: not asked: the run ended early" in done.unwrapped
    done = dialogauge(*words)
    assert (done.code, len(lines("s.jsonl"))) == (0, 6)
    assert len(searched.asked) <= searched.before + 49  # what was paid for is not asked again


def test_replies_are_judged_anew_by_the_judge_of_the_run(dialogauge, serve, log, talk):
    records = []
    for number, score in enumerate((5, 1, 5, 1)):
        word = "nine" if score == 5 else "ten"
        record = talk(f"c{number}", f"At {word} {number // 2}.", user_id=f"u{number}")
        record["messages"][0]["content"] = f"When does hall {number // 2} open?"
        record["messages"][1]["rating"] = score
        records.append(record)
    kept = {"nine": 5, "ten": 1}

    def answer(body):
        value = instance(body["response_format"]["json_schema"]["schema"])
        text = body["messages"][-1]["content"]
        score = next((s for word, s in kept.items() if f"At {word}" in text), 3)

        for turn in value.get("per_turn", {}).values():
            turn["scores"] = dict.fromkeys(turn["scores"], score)
        return json.dumps(value)

    stub = serve(answer)
    words = ("--model", "m", "--base-url", stub.url)
    assert dialogauge("judge", log(*records), *words, "-o", "run").code in (0, 3)
    before = len(stub.asked)
    pairs = ("pairs", "run", "-o", "dpo.jsonl", "--recheck")
    done = dialogauge(*pairs)
    assert (done.code, "is not checked, and would drop pairs that people chose" in done.err) == (2, True)
    assert len(stub.asked) == before
    pairs = (*pairs, "--unchecked")
    done = dialogauge(*pairs)
    assert done.code == 0, done.err
    assert done.out.startswith("UNCHECKED: ")  # which of people's pairs stay rests on it
    assert len(lines("dpo.jsonl")) == 2
    assert "2 pairs judged anew: chosen is better again" in done.unwrapped
    assert len(stub.asked) > before
    kept["nine"] = 1
    done = dialogauge(*pairs, "--no-cache")
    assert (done.code, "no pair has a winner: 2 judged anew, chosen is not better" in done.err) == (2, True)
    assert len(lines("dpo.jsonl")) == 2  # what was written before stands


# Thumbs, and what cannot be


def test_thumbs_in_a_log_are_labels_and_pairs(dialogauge, log, talk):
    records = []
    for number in range(12):
        record = talk(f"c{number}", f"At nine, hall {number}.", "By bus.", user_id=f"u{number % 4}")
        record["messages"][0]["content"] = "When?"
        for turn, place in ((1, 1), (2, 3)):
            record["messages"][place]["feedback"] = "like" if (number + turn) % 3 else "dislike"
        records.append(record)
    assert dialogauge("judge", log(*records), "-o", "run").code == 0
    done = dialogauge("pairs", "run", "--kind", "kto", "-o", "kto.jsonl")
    assert done.code == 0, done.err
    rows, sources = lines("kto.jsonl"), lines("kto.provenance.jsonl")
    assert len(rows) == 24
    assert [row["label"] for row in rows] == [bool((n + turn) % 3) for n in range(12) for turn in (1, 2)]
    assert {source["source"] for source in sources} == {"people"}
    done = dialogauge("pairs", "run", "-o", "dpo.jsonl")
    assert done.code == 0, done.err
    (row,) = lines("dpo.jsonl")  # of all replies to one question one that was liked, and one that was not
    assert row["prompt"][0]["content"] == "When?"
    assert lines("dpo.provenance.jsonl")[0]["margin"] == 4


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--kind", "sft", "--recheck"), "--recheck says nothing of what is asked for"),
        (("--kind", "kto", "--min-margin", "1"), "--min-margin says nothing of what is asked for"),
        (("--role", "judge=m@http://127.0.0.1:9"), "--role judge= says nothing of what is asked for"),
        (("--kind", "rl"), "gives no rows of the kind rl"),
        (("--kind", "segment"), "active: sft needs verdicts, and dpo weakest turns or ratings"),
    ],
)
def test_what_says_nothing_of_the_kind_is_refused(dialogauge, log, talk, words, why):
    dialogauge("judge", log(talk("a", "At nine.")), "-o", "run")
    done = dialogauge("pairs", "run", "-o", "x.jsonl", *words)
    assert (done.code, why in done.err) == (2, True), done.err


def test_a_run_of_failures_and_an_output_that_is_an_input_are_refused(dialogauge, serve, log, talk):
    stub = serve("no json", schema="ignore")
    words = ("--model", "m", "--base-url", stub.url)
    assert dialogauge("judge", log(talk("a", "At nine.")), *words, "-o", "run").code == 3
    done = dialogauge("pairs", "run", "--kind", "kto", "-o", "kto.jsonl", "--unchecked")
    assert (done.code, "every judgement of run failed" in done.err) == (2, True)
    Path("log.held_out.jsonl").write_text(Path("log.jsonl").read_text())
    dialogauge("judge", "log.held_out.jsonl", "-o", "own")
    done = dialogauge("pairs", "own", "--kind", "kto", "-o", "log.jsonl", "--unchecked", "--split-by", "user")
    assert (done.code, "log.held_out.jsonl would be written over, and it is an input" in done.err) == (
        2,
        True,
    )
