"""Ratings from people, from the choice to the figures."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import pytest

import dialogauge as dg
from dialogauge.core.unit import words_digest
from dialogauge.runs import RunDirectory
from flows.rating_pages import answered, saved, task_of

EASY = ("--rubric", "satisfaction")


def rows(path):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def fours(item, question, turn):
    return 4


@pytest.fixture
def conversations(log, talk):
    """Makes a log of two candidates and two scenarios."""

    def make(number=12, **more):
        replies = ("It opens at nine.", "Admission is 12 euros, and free on Sundays.")
        records = [
            talk(f"c{n}", *replies, candidate="xy"[n % 2], scenario=("visit", "tour")[n % 3 == 0], **more)
            for n in range(number)
        ]
        return log(*records)

    return make


@pytest.fixture
def plan_of(dialogauge, conversations):
    """Makes a plan and returns its folder with the tasks of its raters."""

    def make(*words, number=12, inputs=None, **more):
        inputs = inputs or (conversations(number, **more),)
        done = dialogauge("annotate", "make", *inputs, *words, "-o", "rating")
        assert done.code == 0, done.err
        folder = Path("rating")
        return folder, [task_of(page) for page in sorted((folder / "pages").iterdir())]

    return make


# Making


def test_a_plan_is_made_with_a_guideline_and_a_page_for_each_rater(dialogauge, conversations):
    done = dialogauge(
        "annotate", "make", conversations(), "--raters", 3, "--shared", 3, "-o", "rating", *EASY
    )
    assert done.code == 0
    assert "12 of 12 conversations" in done.out
    assert "3 raters: 3 shared by all, 3 for each alone" in done.out
    assert "asked: satisfaction (turn)" in done.out
    tasks = [task_of(page) for page in sorted(Path("rating/pages").iterdir())]
    assert [task["rater"] for task in tasks] == ["R1", "R2", "R3"]
    assert all(len(task["items"]) == 6 for task in tasks)
    ids = [{item["conversation_id"] for item in task["items"]} for task in tasks]
    assert len(set.intersection(*ids)) == 3
    assert len(set.union(*ids)) == 12
    first = tasks[0]["items"][0]
    assert first["turns"] == [1, 2]
    assert first["about"] == {"scenario": first["about"]["scenario"]}
    assert [m["turn"] for m in first["messages"]] == [1, 1, 2, 2]
    guideline = Path("rating/guideline.html").read_text()
    assert "usable in part, and a real need is left open" in guideline
    assert "For 1, 2, 3 choose the main reason: " in guideline
    assert Path("rating").stat().st_mode & 0o077 == 0


def test_the_survey_is_asked_by_default_in_either_language(plan_of, conversations):
    _, (task,) = plan_of("--raters", 1, "--language", "zh")
    names = [(q["name"], q["level"]) for q in task["questions"]]
    assert names[0] == ("satisfaction", "turn")
    assert [name for name, level in names if level == "conversation"] == [
        "memory",
        "detail",
        "availability",
        "diversity",
    ]
    satisfaction = task["questions"][0]
    assert satisfaction["reason_for"] == [1, 2, 3]
    assert satisfaction["reasons"] == [
        "不够详细",
        "选择太少或太相似",
        "没有满足要求",
        "实际上用不了",
        "其他原因",
    ]
    assert task["language"] == "zh"
    assert "评分说明" in Path("rating/guideline.html").read_text(encoding="utf-8")


def test_the_same_command_again_touches_no_rating_and_another_is_refused(dialogauge, plan_of, conversations):
    words = ("--raters", 1, "--each", 5, *EASY)
    folder, (task,) = plan_of(*words)
    dialogauge("annotate", "import", folder, saved(Path("R1.jsonl"), answered(task, fours)))
    before = (folder / "ratings.jsonl").read_bytes()
    again = dialogauge("annotate", "make", conversations(), *words, "-o", folder)
    assert again.code == 0
    assert "the plan was there already" in again.out
    other = dialogauge("annotate", "make", conversations(), *words, "--seed", 7, "-o", folder)
    assert other.code == 2
    assert f"rating holds another plan ({task['plan']})" in other.err
    assert (folder / "ratings.jsonl").read_bytes() == before
    assert task_of(folder / "pages" / "R1.html") == task


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--raters", 2, "--each", 1, "--choose", "all"), "there is room for 3 of 12"),
        (("--raters", 2, "--each", 1, "--choose", "mixed"), "goes by the scores of a judge"),
        (("--raters", 2, "--pairs"), "no two conversations of different candidates answer the same"),
        (("--raters", 2, "--rubric", "factuality"), "scores no replies or conversations"),
        (("--raters", 2, "--pairs", "--rubric", "card"), "scores no two replies"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_written(dialogauge, conversations, words, says):
    done = dialogauge("annotate", "make", conversations(), *words, "-o", "rating")
    assert done.code == 2
    assert says in done.err
    assert not Path("rating").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--raters", 4), "4 raters: 20 shared by all, 10 for each alone"),
        (("--raters", 4, "--each", 5), "4 raters: 5 shared by all, 5 for each alone"),
        (("--raters", 2, "--choose", "random"), "2 raters: 20 shared by all, 20 for each alone"),
        (("--raters", 2, "--choose", "mixed"), "2 raters: 20 shared by all, 20 for each alone"),
        (("--raters", 2, "--shared", 0), "2 raters: 0 shared by all, 30 for each alone"),
        (("--raters", 1), "1 rater: 0 shared by all, 60 for each alone"),
    ],
)
def test_raters_share_items_unless_told_otherwise(dialogauge, conversations, words, says):
    given = conversations(60)
    if "mixed" in words:
        dialogauge("judge", given, "-o", "run")
        given = "run"
    done = dialogauge("annotate", "make", given, *words, "-o", "rating")
    assert done.code == 0, done.err
    assert says in done.out
    unshared = "nothing will show how far raters agree (leave out --shared 0)"
    assert (unshared in done.out) == ("--shared" in words)


def test_few_conversations_are_not_all_shared(dialogauge, conversations):
    done = dialogauge("annotate", "make", conversations(6), "--raters", 2, "-o", "rating")
    assert "2 raters: 3 shared by all, 1 or 2 for each alone" in done.out


def test_a_folder_with_other_files_and_a_run_are_left_alone(dialogauge, conversations):
    Path("mine").mkdir()
    Path("mine/notes.txt").write_text("keep")
    done = dialogauge("annotate", "make", conversations(), "--raters", 1, "-o", "mine")
    assert done.code == 2
    assert "mine holds other files, and no plan" in done.err
    dialogauge("judge", conversations(), "-o", "run")
    done = dialogauge("annotate", "make", conversations(), "--raters", 1, "-o", "run")
    assert done.code == 2
    assert "run is a run" in done.err
    done = dialogauge("annotate", "make", "run", "--raters", 1, "-o", "run")
    assert done.code == 2


def test_records_that_cannot_be_read_are_named_and_the_others_planned(dialogauge, log, talk):
    done = dialogauge("annotate", "make", log(talk("a"), "{", talk("b")), "--raters", 1, "-o", "rating")
    assert done.code == 1
    assert "log.jsonl:2: not JSON" in done.err
    assert "2 of 2 conversations" in done.out


def test_conversations_without_a_reply_are_left_out(dialogauge, log, talk):
    silent = {"conversation_id": "s", "messages": [{"role": "user", "content": "Anybody?"}]}
    done = dialogauge("annotate", "make", log(talk("a"), silent), "--raters", 1, "-o", "rating")
    assert "1 left out: without a reply" in done.out
    done = dialogauge("annotate", "make", log(silent), "--raters", 1, "-o", "other")
    assert done.code == 2
    assert "no conversation with a reply" in done.err


def test_personal_data_is_masked_where_it_is_asked_for(dialogauge, log, talk):
    file = log(talk("anna.berg@example.org", "Write to anna.berg@example.org."))
    dialogauge("annotate", "make", file, "--raters", 1, "--redact", "-o", "rating")
    page = Path("rating/pages/R1.html").read_text()
    assert "anna.berg" not in page
    assert "[email]" in page
    (item,) = json.loads(Path("rating/plan.json").read_text())["items"]
    assert item["conversation_id"] == "anna.berg@example.org"


# Blind


def test_a_blind_page_names_no_candidate_and_no_id(dialogauge, log):
    records = []
    for number, name in enumerate(["acme-chat-7b", "Zephyr/2", "acme-chat-7b", "Zephyr/2"]):
        messages = [
            {"role": "system", "content": f"You are {name}, made by us."},
            {"role": "user", "content": f"Who are you? (call-2024-{number})"},
            {"role": "assistant", "content": f"I am {name.upper()}!", "model": name, "name": name},
        ]
        records.append(
            {
                "conversation_id": f"call-2024-{number}",
                "user_id": f"user-77-{number}",
                "candidate": name,
                "scenario": f"greeting {name}",
                "messages": messages,
                "metadata": {"model": name},
            }
        )
    done = dialogauge(
        "annotate", "make", log(*records), "--raters", 2, "--shared", 2, "--blind", "-o", "rating"
    )
    assert done.code == 0
    for page in Path("rating/pages").iterdir():
        text = page.read_text(encoding="utf-8").lower()
        for name in ("acme", "zephyr", "call-2024", "user-77"):
            assert name not in text, (page, name)
        assert all(item["conversation_id"] is None for item in task_of(page)["items"])
    plan = json.loads(Path("rating/plan.json").read_text())
    assert {item["candidate"] for item in plan["items"]} == {"acme-chat-7b", "Zephyr/2"}


def test_a_name_that_is_a_plain_word_stays_and_that_is_said(dialogauge, log, talk):
    file = log(talk("a1", "The base is open.", candidate="base"), talk("a2", "Yes.", candidate="other"))
    done = dialogauge("annotate", "make", file, "--raters", 1, "--blind", "-o", "rating")
    assert "names that are ordinary words stay in the texts: 'base', in 1 item" in done.out
    assert "The base is open." in Path("rating/pages/R1.html").read_text()


# The circle


def test_the_whole_circle(dialogauge, conversations):
    """Judge, choose, rate, import, agree, and say what people would say of all."""
    assert dialogauge("judge", conversations(40), "-o", "run").code == 0
    words = ("--raters", 3, "--shared", 6, "--each", 4, "--choose", "mixed", "--seed", 3)
    done = dialogauge("annotate", "make", "run", *words, "-o", "rating")
    assert done.code == 0, done.err
    assert "18 of 40 conversations (9 random, " in done.out
    files = []
    for number, page in enumerate(sorted(Path("rating/pages").iterdir())):

        def opinion(item, question, turn, number=number):
            base = 3 + (int(item["conversation_id"][1:]) % 3)
            return min(5, max(1, base - (number == 2 and turn == 1)))

        files.append(saved(Path(f"R{number + 1}.jsonl"), answered(task_of(page), opinion)))
    done = dialogauge("annotate", "import", "rating", *files)
    assert done.code == 0, done.err
    assert "180 ratings by 3 raters" in done.out
    assert "R1: 10 of 10 items done, complete" in done.out
    ratings = rows("rating/ratings.jsonl")
    assert len(ratings) == 180
    plan = json.loads(Path("rating/plan.json").read_text())
    weights = {item["conversation_id"]: item["weight"] for item in plan["items"]}
    assert sum(weights.values()) == pytest.approx(40)
    assert {row["conversation_id"]: row["weight"] for row in ratings} == weights
    done = dialogauge("annotate", "status", "rating", "--json")
    assert done.code == 0
    assert [one["done"] for one in done.json["raters"]] == [10, 10, 10]
    by_name = {one["dimension"]: one for one in done.json["agreement"]}
    assert by_name["memory"]["exact"]["value"] == 1
    assert by_name["satisfaction"]["targets"] == 12
    # Two of three agree on first turns, all on second ones.
    assert by_name["satisfaction"]["exact"]["value"] == pytest.approx((1 / 3 + 1) / 2, abs=0.12)
    assert done.json["advice"].startswith("Least sure is ")
    assert " on 6 shared items by 3 raters. 2 more shared items would narrow" in done.json["advice"]
    done = dialogauge("annotate", "status", "rating")
    assert "median seconds" in done.out
    assert done.unwrapped.count("R3") == 1
    done = dialogauge("judge", conversations(40), "--ratings", "rating/ratings.jsonl", "-o", "rated")
    assert done.code == 0, done.err
    assert "weighted by the chance of being chosen" in done.unwrapped
    assert (
        "Weighted by the chance of being chosen: satisfaction of turns"
        in Path("rated/report.html").read_text()
    )
    people = json.loads(Path("rated/summary.json").read_text())["people"]
    satisfaction = next(f for f in people["figures"] if f["dimension"] == "satisfaction")
    by_turn = {}
    for row in ratings:
        if row["dimension"] == "satisfaction":
            by_turn.setdefault((row["conversation_id"], row["turn"]), []).append(row["score"])
    means = {target: sum(scores) / len(scores) for target, scores in by_turn.items()}
    weighted = sum(weights[name] * mean for (name, _), mean in means.items())
    assert satisfaction["mean"]["value"] == pytest.approx(weighted / (2 * sum(weights.values())))
    assert satisfaction["weights"] == "used"
    done = dialogauge("agreement", "rated", "--dimension", "helpfulness=satisfaction")
    assert done.code == 0, done.err


def test_what_the_judge_ranked_is_rated_without_weights(dialogauge, conversations):
    dialogauge("judge", conversations(20), "-o", "run")
    dialogauge("pairs", "run", "--kind", "active", "--limit", 6, "-o", "active.jsonl")
    done = dialogauge("annotate", "make", "active.jsonl", "--raters", 2, "--shared", 2, "-o", "rating")
    assert done.code == 0
    assert "means of these ratings say nothing of all conversations" in done.out
    plan = json.loads(Path("rating/plan.json").read_text())
    assert {item["why"] for item in plan["items"]} == {"lowest", "uncertain"}
    assert {item["weight"] for item in plan["items"]} == {None}
    done = dialogauge(
        "annotate",
        "make",
        "run",
        "--raters",
        2,
        "--shared",
        0,
        "--each",
        3,
        "--choose",
        "active",
        "-o",
        "active",
    )
    assert done.code == 0
    chosen = {item["conversation_id"] for item in json.loads(Path("active/plan.json").read_text())["items"]}
    assert chosen == {item["conversation_id"] for item in plan["items"]}


def test_ratings_join_a_run_with_hashed_ids(dialogauge, conversations):
    dialogauge("judge", conversations(), "--hash-ids", "-o", "run")
    dialogauge("annotate", "make", "run", "--raters", 1, *EASY, "-o", "rating")
    task = task_of(Path("rating/pages/R1.html"))
    assert all(item["conversation_id"].startswith("c_") for item in task["items"])
    answers = answered(task, lambda item, question, turn: 2 + turn)
    done = dialogauge("annotate", "import", "rating", saved(Path("R1.jsonl"), answers))
    assert done.code == 0
    done = dialogauge(
        "agreement", "run", "--ratings", "rating/ratings.jsonl", "--dimension", "helpfulness=satisfaction"
    )
    assert done.code == 0, done.err


# Which words were rated


def test_ratings_name_the_words_that_were_rated_up_to_the_turn(dialogauge, log, talk):
    file = log(talk("c1", "It opens at nine.", "Admission is free."))
    dialogauge("annotate", "make", file, "--raters", 1, *EASY, "-o", "rating")
    task = task_of(Path("rating/pages/R1.html"))
    dialogauge("annotate", "import", "rating", saved(Path("R1.jsonl"), answered(task, fours)))
    conversation = next(iter(dg.read(file)))
    digests = [words_digest(conversation, 1), words_digest(conversation, 2)]
    assert [row["digest"] for row in rows("rating/ratings.jsonl")] == digests
    assert task["items"][0]["digests"] == {"": digests[1], "1": digests[0], "2": digests[1]}


def test_a_row_that_rates_another_text_is_refused(dialogauge, plan_of):
    folder, (task,) = plan_of("--raters", 1, *EASY, number=1)
    first, second = answered(task, fours)
    theirs = task["items"][0]["digests"]
    answers = [{**first, "digest": theirs["1"]}, {**second, "digest": "0123456789abcdef"}]
    done = dialogauge("annotate", "import", folder, saved(Path("R1.jsonl"), answers))
    assert done.code == 1
    assert "R1.jsonl:2" in done.err
    assert f"its digest is '0123456789abcdef' (the plan has {theirs['2']})" in done.err
    assert len(rows(folder / "ratings.jsonl")) == 1


@pytest.mark.parametrize("words", [("--blind",), ("--redact",)])
def test_no_page_holds_a_digest_of_words_that_it_hides(dialogauge, log, talk, words):
    file = log(talk("c1", "Write to anna.berg@example.org.", candidate="gpt-4o"))
    dialogauge("annotate", "make", file, "--raters", 1, *words, *EASY, "-o", "rating")
    assert "digests" not in task_of(Path("rating/pages/R1.html"))["items"][0]
    (item,) = json.loads(Path("rating/plan.json").read_text())["items"]
    assert item["digests"]["1"] == words_digest(next(iter(dg.read(file))), 1)


def test_a_run_with_a_mask_on_gives_no_digests_of_a_log(dialogauge, log, talk):
    dialogauge("judge", log(talk("c1", "Write to anna.berg@example.org.")), "--redact", "-o", "run")
    dialogauge("annotate", "make", "run", "--raters", 1, *EASY, "-o", "rating")
    (item,) = json.loads(Path("rating/plan.json").read_text())["items"]
    assert "digests" not in item
    assert "digests" not in task_of(Path("rating/pages/R1.html"))["items"][0]


# Importing


def test_importing_again_changes_nothing(dialogauge, plan_of):
    folder, (task, _) = plan_of("--raters", 2, *EASY)
    file = saved(Path("R1.jsonl"), answered(task, fours))
    first = dialogauge("annotate", "import", folder, file)
    before = [(folder / name).read_bytes() for name in ("ratings.jsonl", "answers.jsonl")]
    again = dialogauge("annotate", "import", folder, file, file)
    assert (again.code, again.out) == (first.code, first.out)
    assert [(folder / name).read_bytes() for name in ("ratings.jsonl", "answers.jsonl")] == before


def test_of_two_answers_what_is_imported_last_counts_and_it_is_said(dialogauge, plan_of):
    folder, (task,) = plan_of("--raters", 1, *EASY)
    late = saved(Path("late.jsonl"), answered(task, lambda *_: 2, day="2026-11-24", items=2))
    early = saved(Path("early.jsonl"), answered(task, fours))
    done = dialogauge("annotate", "import", folder, early, late)
    assert done.code == 0
    assert "2 items rated twice by one rater: what was imported last counts" in done.out
    assert "later time" not in done.out
    ratings = rows(folder / "ratings.jsonl")
    assert sorted(row["score"] for row in ratings) == [2] * 4 + [4] * 20
    twos = [row for row in ratings if row["score"] == 2]
    assert {row["reason"] for row in twos} == {"insufficient_detail"}
    assert all(row["note"].startswith("too general or too shallow") for row in twos)
    done = dialogauge("annotate", "import", folder, early)
    assert "4 answers replaced one with a later time: if that is wrong, import the newest file" in done.out
    assert {row["score"] for row in rows(folder / "ratings.jsonl")} == {4}
    dialogauge("annotate", "import", folder, late)
    assert rows(folder / "ratings.jsonl") == ratings


def test_better_replies_are_imported_masked_where_the_plan_masks(dialogauge, log, talk):
    file = log(talk("c1", "Write to anna.berg@example.org."))
    for words, stands in (((), "Write to bert@example.org."), (("--redact",), "Write to [email].")):
        dialogauge("annotate", "make", file, "--raters", 1, *words, *EASY, "-o", f"rating{len(words)}")
        task = task_of(Path(f"rating{len(words)}/pages/R1.html"))
        (answer,) = answered(task, lambda *_: 4)
        better = {k: v for k, v in answer.items() if k not in ("dimension", "score")}
        answers = [
            answer | {"note": "as bert@example.org"},
            better | {"correction": "Write to bert@example.org."},
        ]
        done = dialogauge("annotate", "import", f"rating{len(words)}", saved(Path("R1.jsonl"), answers))
        assert done.code == 0, done.err
        assert "1 better reply: `dialogauge pairs` makes training rows of them" in done.out
        (row,) = rows(f"rating{len(words)}/ratings.jsonl")
        assert row["correction"] == stands
        assert ("bert" in row["note"]) == (not words)


def test_a_page_saved_half_way_is_taken_and_what_remains_is_said(dialogauge, plan_of):
    folder, (task,) = plan_of("--raters", 1, *EASY)
    half = list(answered(task, fours, items=5))[:-1]
    done = dialogauge("annotate", "import", folder, saved(Path("R1.jsonl"), half))
    assert done.code == 0
    assert "R1: 4 of 12 items done, 8 to go (1 of them begun)" in done.out
    assert len(rows(folder / "ratings.jsonl")) == 9


def test_skipped_and_flagged_items_are_counted_and_give_no_rating(dialogauge, plan_of):
    folder, (task,) = plan_of("--raters", 1, *EASY)
    answers = list(answered(task, fours))
    who = {name: answers[0][name] for name in ("plan", "item", "rater", "conversation_id")}
    after = {"seconds": 9, "at": "2026-11-24T10:00:00.000Z"}
    flagged = {**who, "item": answers[-1]["item"], "flagged": "a phone number", "at": "2026-11-24T10:00:00Z"}
    file = saved(Path("R1.jsonl"), [*answers, {**who, "skipped": "unclear", **after}, flagged])
    done = dialogauge("annotate", "import", folder, file)
    assert done.code == 0
    assert "11 of 12 items done, complete, 1 skipped, 1 flagged" in done.out
    assert len(rows(folder / "ratings.jsonl")) == 22
    assert who["item"] not in {row["item"] for row in rows(folder / "ratings.jsonl")}
    # Whoever rates it after all takes the skip back.
    later = list(answered(task, fours, day="2026-11-25", items=1))
    done = dialogauge("annotate", "import", folder, saved(Path("more.jsonl"), later))
    assert "12 of 12 items done, complete, 1 flagged" in done.out


BAD = {
    "off the scale": ({"score": 6}, "the score of satisfaction is 6: off the scale 1-5"),
    "a fraction": ({"score": 4.5}, "the score of satisfaction is 4.5: off the scale 1-5"),
    "a word": ({"score": "good"}, "the score of satisfaction is 'good': off the scale 1-5"),
    "no score": ({"score": None}, "satisfaction: the score is missing"),
    "an unknown item": ({"item": "i999"}, "there is no item 'i999' in the plan"),
    "no item": ({"item": None}, "there is no item (missing) in the plan"),
    "an unknown rater": ({"rater": "Eve"}, "there is no rater 'Eve' in the plan: R1, R2"),
    "another's item": ({"rater": "R2"}, "is not for the rater R2"),
    "an unknown dimension": ({"dimension": "charm"}, "'charm' is not asked about: satisfaction"),
    "an unknown turn": ({"turn": 7}, "the row names turn 7, which is not asked about"),
    "no turn": ({"turn": None}, "the row names no turn"),
    "no plan": ({"plan": None}, "the row does not say of which plan it is"),
    "an unknown reason": ({"score": 2, "reason": "bored"}, "the reason 'bored' of satisfaction is none"),
}


def test_agreement_reads_the_folder_with_its_scale(dialogauge, plan_of, conversations):
    folder, tasks = plan_of("--raters", 2, "--shared", 8, *EASY, number=12)
    by_turn = {"R1": lambda item, _, turn: 1 + (int(item["id"][1:]) + turn) % 5, "R2": lambda *_: 4}
    # what raters sent lies in the folder too, and counts once
    files = [saved(folder / f"{t['rater']}.jsonl", answered(t, by_turn[t["rater"]])) for t in tasks]
    assert dialogauge("annotate", "import", folder, *files).code == 0
    done = dialogauge("agreement", folder, "--json")
    assert done.code == 0, done.err
    (people,) = done.json["people"]
    assert people["categories"] == ["1", "2", "3", "4", "5"]
    assert people["shared"] == 8 * len(tasks[0]["items"][0]["turns"])
    assert dialogauge("agreement", folder / "ratings.jsonl", "--json").json == done.json
    given = dialogauge("agreement", folder, "--scale", "1-7", "--json").json["people"][0]
    assert given["categories"][-1] == "7"
    done = dialogauge("judge", conversations(12), "--ratings", folder, "-o", "rated")
    assert done.code == 0, done.err
    elsewhere = shutil.copy(folder / "ratings.jsonl", "elsewhere.jsonl")
    assert "nothing says what raters could give" in dialogauge("agreement", elsewhere).err


@pytest.mark.parametrize(
    "line", [("agreement", "{}"), ("judge", "log.jsonl", "--ratings", "{}", "-o", "run")]
)
def test_a_folder_without_an_import_holds_no_ratings_and_it_is_said(dialogauge, plan_of, log, talk, line):
    log(talk("c"))
    folder, _ = plan_of("--raters", 1, *EASY)
    done = dialogauge(*(word.format(folder) for word in line))
    assert done.code == 1
    assert "no ratings were imported into this folder yet (import what raters send back: " in done.err
    assert f"dialogauge annotate import {folder} FILES...)" in done.err


def test_an_import_of_nothing_leaves_the_folder_as_it_is(dialogauge, plan_of):
    folder, (task, *_) = plan_of("--raters", 2, *EASY)
    Path("empty.jsonl").write_text("")
    for wrong in ("R1.jsonl", "empty.jsonl"):
        done = dialogauge("annotate", "import", folder, wrong)
        assert done.code == 1
        assert f"dialogauge: {wrong}: " in done.err
        assert "nothing was imported" in done.out
        assert not (folder / "answers.jsonl").exists()
        assert not (folder / "ratings.jsonl").exists()
        assert dialogauge("annotate", "status", folder).code == 0
    assert dialogauge("annotate", "import", folder, saved(Path("R1.jsonl"), answered(task, fours))).code == 0
    before = (folder / "ratings.jsonl").read_bytes()
    assert dialogauge("annotate", "import", folder, "empty.jsonl").code == 1
    assert (folder / "ratings.jsonl").read_bytes() == before


@pytest.mark.parametrize("what", BAD)
def test_a_row_that_does_not_belong_is_refused_with_its_line_and_all_others_are_kept(
    dialogauge, plan_of, what
):
    change, says = BAD[what]
    folder, (task, _) = plan_of("--raters", 2, "--shared", 0, *EASY)
    answers = list(answered(task, fours))
    answers[3] = {**answers[3], **change}
    done = dialogauge("annotate", "import", folder, saved(Path("R1.jsonl"), answers))
    assert done.code == 1
    assert says in done.err
    assert "R1.jsonl:4: " in done.err
    assert "1 row or file refused" in done.out
    assert len(rows(folder / "ratings.jsonl")) == len(answers) - 1


def test_a_page_of_another_plan_is_refused_once_with_its_name(dialogauge, plan_of):
    folder, (task,) = plan_of("--raters", 1, *EASY)
    foreign = [{**row, "plan": "p0000"} for row in answered(task, fours)]
    done = dialogauge("annotate", "import", folder, saved(Path("R1.jsonl"), foreign))
    assert done.code == 1
    assert done.err.count("another plan") == 1
    assert f"R1.jsonl:1: 24 rows of another plan, 'p0000'; this one is {task['plan']}" in done.err
    assert not (folder / "ratings.jsonl").exists()


def test_many_bad_rows_are_listed_up_to_twenty(dialogauge, plan_of):
    folder, (task,) = plan_of("--raters", 1, *EASY)
    done = dialogauge("annotate", "import", folder, saved(Path("R1.jsonl"), answered(task, lambda *_: 9)))
    assert done.err.count("off the scale") == 20
    assert "... and 4 more" in done.err
    assert "24 rows or files refused" in done.out


def test_a_file_that_cannot_be_read_leaves_the_others(dialogauge, plan_of):
    folder, (task,) = plan_of("--raters", 1, *EASY)
    Path("bad.jsonl").write_bytes(b"\xff\xfe\x00\x01")
    good = saved(Path("R1.jsonl"), answered(task, fours))
    done = dialogauge("annotate", "import", folder, "bad.jsonl", good, "gone.jsonl")
    assert done.code == 1
    assert "bad.jsonl" in done.err
    assert "gone.jsonl" in done.err
    assert len(rows(folder / "ratings.jsonl")) == 24


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_file_edited_by_a_spreadsheet_is_read(dialogauge, plan_of, delimiter):
    folder, (task,) = plan_of("--raters", 1, "--rubric", "survey", number=3)
    answers = list(answered(task, lambda item, question, turn: 2 if turn == 1 else 5))
    names = [
        "plan",
        "item",
        "rater",
        "conversation_id",
        "turn",
        "dimension",
        "score",
        "reason",
        "seconds",
        "at",
    ]
    out = io.StringIO()
    writer = csv.DictWriter(out, names, delimiter=delimiter, extrasaction="ignore")
    writer.writerow({name: name.upper() if name == "score" else f" {name} " for name in names})
    for row in answers:
        writer.writerow({**row, "score": f"{row['score']},0", "seconds": "31,5"})
    writer.writerow(dict.fromkeys(names, ""))
    Path("R1.csv").write_bytes(b"\xef\xbb\xbf" + out.getvalue().encode())
    done = dialogauge("annotate", "import", folder, "R1.csv")
    assert (done.code, done.err) == (0, "")
    ratings = rows(folder / "ratings.jsonl")
    assert len(ratings) == 3 * (2 + 4)
    assert {row["seconds"] for row in ratings} == {31.5}
    assert {row["score"] for row in ratings if row["turn"] == 1} == {2}


def test_two_imports_at_once_lose_nothing(dialogauge, plan_of):
    folder, (task,) = plan_of("--raters", 1, *EASY)
    other = RunDirectory(folder)
    other.lock()
    done = dialogauge("annotate", "import", folder, saved(Path("R1.jsonl"), answered(task, fours)))
    assert done.code == 1
    assert "another process is writing" in done.err
    other.release()
    done = dialogauge("annotate", "import", folder, "R1.jsonl")
    assert done.code == 0


def test_a_folder_without_a_plan_is_named(dialogauge, log, talk):
    for words in (("import", ".", log(talk("a"))), ("status", "nowhere")):
        done = dialogauge("annotate", *words)
        assert done.code == 1
        assert "holds no plan" in done.err


def test_damaged_plans_and_answers_are_named(dialogauge, plan_of):
    folder, (task,) = plan_of("--raters", 1, *EASY)
    dialogauge("annotate", "import", folder, saved(Path("R1.jsonl"), answered(task, fours)))
    (folder / "answers.jsonl").write_text('{"item": 4}\n')
    done = dialogauge("annotate", "status", folder)
    assert done.code == 1
    assert "answers.jsonl cannot be read" in done.err
    (folder / "plan.json").write_text('{"id": "p"}')
    done = dialogauge("annotate", "status", folder)
    assert done.code == 1
    assert "plan.json cannot be read" in done.err


# Pairs


def by_text(text):
    def opinion(item, question, turn):
        for side in ("left", "right"):
            if text in "".join(json.dumps(message) for message in item[side]):
                return side
        return "tie"

    return opinion


def test_two_files_are_compared_by_id_and_sides_do_not_matter(dialogauge, plan_of, log, talk):
    a = log(*(talk(f"c{n}", f"Long answer {n}.") for n in range(12)), name="long.jsonl")
    b = log(*(talk(f"c{n}", f"Short {n}.") for n in range(12)), name="short.jsonl")
    folder, tasks = plan_of("--raters", 2, "--shared", 12, "--pairs", "--blind", inputs=(a, b))
    sides = [by_text("Long answer")(item, None, None) for item in tasks[0]["items"]]
    assert set(sides) == {"left", "right"}
    files = [
        saved(Path(f"R{n}.jsonl"), answered(task, by_text("Long answer"))) for n, task in enumerate(tasks)
    ]
    done = dialogauge("annotate", "import", folder, *files)
    assert done.code == 0
    assert "24 choices by 2 raters" in done.out
    pairs = rows(folder / "pairs.jsonl")
    assert {(row["a"], row["b"], row["winner"]) for row in pairs} == {("long", "short", "a")}
    assert {row["conversation_id"] for row in pairs} == {f"c{n}" for n in range(12)}
    assert {row["dimension"] for row in pairs} == {"preference"}
    first = {"left": "a", "right": "b"}  # "long" is a, and stands on that side for the first rater
    by_item = {row["item"]: row["shown_first"] for row in pairs if row["rater"] == tasks[0]["rater"]}
    assert [by_item[item["id"]] for item in tasks[0]["items"]] == [first[side] for side in sides]
    (agreed,) = dialogauge("agreement", folder / "pairs.jsonl", "--json").json["pairs"]
    assert (agreed["shared"], agreed["coefficients"]["exact"]["value"], agreed["rates"]["long"]) == (12, 1, 1)
    assert agreed["rates"]["the first shown"] < 1
    for page in (folder / "pages").iterdir():
        task = task_of(page)
        assert "long" not in {m["role"] for item in task["items"] for m in item["messages"]}
        assert task["items"][0]["messages"][0]["role"] == "user"
        assert all(len(item["left"]) == len(item["right"]) == 1 for item in task["items"])
    done = dialogauge("annotate", "status", folder, "--json")
    assert done.json["agreement"][0]["exact"]["value"] == 1


def test_two_runs_are_compared_as_two_files_are(dialogauge, plan_of, log, talk):
    for name, text in (("good", "At nine."), ("bad", "No idea.")):
        file = log(*(talk(f"c{n}", text) for n in range(3)), name=f"{name}.jsonl")
        assert dialogauge("judge", file, "-o", name).code == 0
    folder, (task,) = plan_of("--raters", 1, "--pairs", inputs=("good", "bad"))
    dialogauge("annotate", "import", folder, saved(Path("R1.jsonl"), answered(task, by_text("At nine"))))
    pairs = rows(folder / "pairs.jsonl")
    assert [(row["a"], row["b"], row["winner"]) for row in pairs] == [("bad", "good", "b")] * 3


def test_candidates_in_one_file_are_compared_where_they_answer_the_same(dialogauge, plan_of, log):
    records = [
        {
            "conversation_id": f"{name}{n}",
            "candidate": name,
            "messages": [
                {"role": "user", "content": f"Question {n}"},
                {"role": "assistant", "content": f"{name} says {n}"},
            ],
        }
        for n in range(4)
        for name in ("m-1", "m-2", "m-3")
    ]
    folder, (task,) = plan_of("--raters", 1, "--pairs", inputs=(log(*records),))
    assert len(task["items"]) == 4 * 3
    plan = json.loads((folder / "plan.json").read_text())
    combinations = {(item["candidate"], item["other_candidate"]) for item in plan["items"]}
    assert combinations == {("m-1", "m-2"), ("m-1", "m-3"), ("m-2", "m-3")}


def test_a_winner_that_is_none_is_refused(dialogauge, plan_of, log, talk):
    files = [log(talk("c", text), name=name) for text, name in (("A.", "x.jsonl"), ("B.", "y.jsonl"))]
    folder, (task,) = plan_of("--raters", 1, "--pairs", inputs=files)
    done = dialogauge(
        "annotate", "import", folder, saved(Path("R1.jsonl"), answered(task, lambda *_: "middle"))
    )
    assert done.code == 1
    assert "the winner is 'middle': not left, right or tie" in done.err


# Hostile input


HOSTILE = [
    "../../etc/passwd",
    "<script>alert(1)</script>",
    '"; DROP TABLE',
    "=cmd|' /C calc'!A0",
    "a\u202eb\x1b[31m",
    "名字，很长" * 20,
    "R1",
]


def test_hostile_ids_and_names_stay_what_they_are(dialogauge, log, talk):
    records = [talk(name, "</script><img src=x>", candidate=name, scenario=name) for name in HOSTILE]
    done = dialogauge("annotate", "make", log(*records), "--raters", 2, "--shared", 3, *EASY, "-o", "rating")
    assert done.code == 0
    assert "\x1b" not in done.out
    assert sorted(p.name for p in Path("rating/pages").iterdir()) == ["R1.html", "R2.html"]
    files = []
    for page in sorted(Path("rating/pages").iterdir()):
        text = page.read_text(encoding="utf-8")
        assert "<img" not in text
        assert "alert(1)</script>" not in text
        files.append(saved(Path(f"{page.stem}.jsonl"), answered(task_of(page), fours)))
    done = dialogauge("annotate", "import", "rating", *files)
    assert done.code == 0, done.err
    ratings = rows("rating/ratings.jsonl")
    assert {row["conversation_id"] for row in ratings} == set(HOSTILE)
    assert all(row["candidate"] == row["conversation_id"] for row in ratings)


def test_hostile_rows_are_refused_in_words(dialogauge, plan_of):
    folder, (task,) = plan_of("--raters", 1, *EASY)
    good = next(answered(task, fours))
    hostile = [
        {**good, "plan": ["p"]},
        {**good, "item": {"a": 1}},
        {**good, "turn": 10**40},
        {**good, "turn": True},
        {**good, "score": True},
        {**good, "score": [4]},
        {**good, "at": 10**30, "seconds": "x", "note": "\x1b[31m" * 10_000},
        [1, 2],
        "text",
    ]
    done = dialogauge("annotate", "import", folder, saved(Path("R1.jsonl"), hostile))
    assert done.code == 1
    assert "\x1b" not in done.err + done.out
    (row,) = rows(folder / "ratings.jsonl")
    assert row["score"] == 4


# Label Studio


def test_label_studio_there_and_back(dialogauge, plan_of):
    import xml.etree.ElementTree as ET

    folder, _ = plan_of("--raters", 2, "--shared", 2, "--label-studio", number=6)
    config = ET.parse(folder / "label-studio" / "config.xml").getroot()
    names = {tag.get("name") for tag in config.iter("Choices")}
    assert names == {
        "score-satisfaction-{{idx}}",
        "reason-satisfaction-{{idx}}",
        *(f"score-{name}-" for name in ("memory", "detail", "availability", "diversity")),
    }
    tasks = json.loads((folder / "label-studio" / "R1.json").read_text())
    assert len(tasks) == 4
    exported = []
    for number, task in enumerate(tasks):
        result = [
            choice(f"score-satisfaction-{place}", "2" if place else "5")
            for place in range(len(task["data"]["turns"]))
        ]
        result += [
            choice("reason-satisfaction-1", "not usable: no such"),
            choice("score-memory-", "4"),
            {"from_name": "note", "to_name": "dialogue", "type": "textarea", "value": {"text": ["fine"]}},
        ]
        result[2]["value"]["choices"] = ["it cannot be put into practice"]
        annotation = {"result": result, "lead_time": 12.5, "created_at": "2026-11-23T10:00:00.000000Z"}
        if number == 3:
            annotation = {"result": [], "was_cancelled": True, "created_at": "2026-11-23T10:00:00Z"}
        exported.append({"id": number, **task, "annotations": [annotation]})
    Path("export.json").write_text(json.dumps(exported))
    done = dialogauge("annotate", "import", folder, "export.json")
    assert (done.code, done.err) == (0, "")
    assert "9 ratings by 1 rater" in done.out
    assert "1 skipped" in done.out
    ratings = rows(folder / "ratings.jsonl")
    second = [row for row in ratings if row["turn"] == 2]
    assert {(row["score"], row["reason"]) for row in second} == {(2, "not_usable")}
    assert {row["seconds"] for row in ratings} == {12.5}


def choice(name, value):
    return {"from_name": name, "to_name": "x", "type": "choices", "value": {"choices": [value]}}
