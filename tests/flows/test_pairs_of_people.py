"""The loops that close: ratings, choices and better replies of people, up to rows as TRL reads them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flows.rating_pages import answered, saved, task_of

EASY = ("--rubric", "satisfaction")


def lines(path):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def loaded(path, *columns):
    """Read rows as TRL does of its conversational formats, and check what its trainers take for granted.

    Every column is a list of messages with `role` and `content`; a prompt ends before the assistant speaks,
    and what is learnt is the assistant's.
    """
    rows = lines(path)
    for row in rows:
        assert [name for name in row if name not in ("unchecked", "tools")] == list(columns)
        for column in columns:
            assert row[column], row
            assert all(isinstance(m["role"], str) and isinstance(m["content"], str) for m in row[column])
        if "prompt" in columns:
            assert row["prompt"][-1]["role"] in ("user", "tool")
            assert [m["role"] for name in columns[1:] for m in row[name]] == ["assistant"] * (
                len(columns) - 1
            )
    return rows


def texts(row, *columns):
    return tuple(row[column][0]["content"] for column in columns)


def record(name, *turns, candidate=None, ratings=()):
    """Make a conversation of (user, assistant) texts, the replies rated in turn."""
    messages = []
    for number, (user, reply) in enumerate(turns):
        messages += [{"role": "user", "content": user}, {"role": "assistant", "content": reply}]
        if number < len(ratings) and ratings[number] is not None:
            messages[-1]["rating"] = ratings[number]
    return {"conversation_id": name, "messages": messages} | ({"candidate": candidate} if candidate else {})


# Two judged runs


@pytest.fixture
def two_runs(dialogauge, log):
    """Two runs over the same five questions: three rated apart, a tie, and one that nobody rated in b."""
    scores = {"q1": (5, 2), "q2": (1, 4), "q3": (4, 4), "q4": (5, None), "q5": (2, 4)}
    for side, name in enumerate(("a", "b")):
        records = [
            record(
                q, (f"Question {q}?", f"Reply of {name} to {q}."), ("Then?", "And so on."), ratings=[s[side]]
            )
            for q, s in scores.items()
        ]
        assert dialogauge("judge", log(*records, name=f"{name}.jsonl"), "-o", f"runs/{name}").code == 0


def test_two_rated_runs_of_the_same_prompts_are_preference_pairs(dialogauge, two_runs):
    done = dialogauge("pairs", "runs/a", "runs/b", "--kind", "dpo", "-o", "dpo.jsonl")
    assert done.code == 0, done.err
    rows, sources = loaded("dpo.jsonl", "prompt", "chosen", "rejected"), lines("dpo.provenance.jsonl")
    assert [texts(row, "chosen", "rejected") for row in rows] == [
        ("Reply of a to q1.", "Reply of b to q1."),
        ("Reply of b to q2.", "Reply of a to q2."),
        ("Reply of b to q5.", "Reply of a to q5."),
    ]
    # nothing that follows the reply is in its row
    assert [row["prompt"] for row in rows] == [
        [{"role": "user", "content": f"Question {q}?"}] for q in ("q1", "q2", "q5")
    ]
    assert [(s["source"], s["run"], s["chosen_run"]) for s in sources] == [
        ("people", "runs/b", "runs/a"),
        ("people", "runs/a", "runs/b"),
        ("people", "runs/a", "runs/b"),
    ]
    assert "1 left out: replies to the same messages: a tie" in done.unwrapped
    assert "1 left out: replies to the same messages: not both are rated" in done.unwrapped
    assert "3 rejected by people's ratings" in done.unwrapped
    assert "runs/b: people's ratings come first" in done.unwrapped


def test_the_judges_scores_of_two_runs_make_pairs_only_where_it_is_asked_for(dialogauge, log):
    again = "It opens at nine on every day but Monday, and the cafe opens an hour later."
    told = ("When does it open?", again)
    for name, reply in (("a", again), ("b", "On Sundays it opens at ten, and the cafe at eleven.")):
        file = log(
            record("q", told, ("And on Sundays?", reply), ("No, on Sundays!", "At ten.")),
            name=f"{name}.jsonl",
        )
        dialogauge("judge", file, "-o", f"runs/{name}")
    refused = dialogauge("pairs", "runs/a", "runs/b", "-o", "dpo.jsonl")
    assert (refused.code, Path("dpo.jsonl").exists()) == (2, False)
    assert "1 left out: replies to the same messages: not both are rated" in refused.err
    done = dialogauge("pairs", "runs/a", "runs/b", "-o", "dpo.jsonl", "--unchecked")
    assert done.code == 0, done.err
    assert done.out.startswith("UNCHECKED")
    (row,) = loaded("dpo.jsonl", "prompt", "chosen", "rejected")
    assert texts(row, "chosen", "rejected") == ("On Sundays it opens at ten, and the cafe at eleven.", again)
    (source,) = lines("dpo.provenance.jsonl")
    assert (source["unchecked"], source["source"], source["chosen_from"]) == (True, "judge", "the judge")


def test_what_is_of_one_run_is_not_made_of_two(dialogauge, two_runs):
    done = dialogauge("pairs", "runs/a", "runs/b", "--kind", "active", "-o", "x.jsonl")
    assert done.code == 2
    assert "from one input alone, and there are 2" in done.err


def test_two_runs_without_a_common_request_are_refused(dialogauge, log):
    for name in "ab":
        file = log(record("q", (f"Question of {name}?", "Yes."), ratings=[5]), name=f"{name}.jsonl")
        dialogauge("judge", file, "-o", f"runs/{name}")
    done = dialogauge("pairs", "runs/a", "runs/b", "-o", "dpo.jsonl")
    assert done.code == 2
    assert "no two of these runs hold different replies to the same messages" in done.err
    assert not Path("dpo.jsonl").exists()


def test_kto_of_two_runs_holds_the_ratings_of_both(dialogauge, two_runs):
    done = dialogauge("pairs", "runs/a", "runs/b", "--kind", "kto", "-o", "kto.jsonl")
    assert done.code == 0, done.err
    rows = loaded_kto("kto.jsonl")
    assert [row["label"] for row in rows] == [True, False, True, True, False, False, True, True, True]


def loaded_kto(path):
    rows = lines(path)
    for row in rows:
        assert [name for name in row if name not in ("unchecked", "tools")] == [
            "prompt",
            "completion",
            "label",
        ]
        assert isinstance(row["label"], bool)
        assert all(set(m) >= {"role", "content"} for m in row["prompt"] + row["completion"])
    return rows


# Choices between two


@pytest.fixture
def duel(dialogauge, log):
    """A duel of two files by three raters; `opinion(rater, item)` says who wins."""

    def make(opinion, replies=1, **records):
        both = {"gpt": records.get("gpt"), "qwen": records.get("qwen")}
        for name, given in both.items():
            made = given or [
                record(q, *[(f"{q} {n}?", f"{name} to {q} {n}.") for n in range(replies)])
                for q in ("q1", "q2", "q3", "q4")
            ]
            log(*made, name=f"{name}.jsonl")
        words = ("--pairs", "--blind", "--raters", 3, "--shared", 4, "-o", "duel")
        done = dialogauge("annotate", "make", "gpt.jsonl", "qwen.jsonl", *words)
        assert done.code == 0, done.err
        files = []
        for number, page in enumerate(sorted(Path("duel/pages").iterdir())):

            def choice(item, question, turn, number=number):
                wanted = opinion(number, item["messages"][0]["body"].split()[0])
                if wanted in (None, "tie"):
                    return wanted
                return next(side for side in ("left", "right") if wanted in item[side][-1]["body"])

            files.append(saved(Path(f"R{number + 1}.jsonl"), answered(task_of(page), choice)))
        return dialogauge("annotate", "import", "duel", *files)

    return make


def test_the_reply_that_most_raters_chose_is_the_better_one(dialogauge, duel):
    votes = {
        "q1": ("gpt", "gpt", "qwen"),
        "q2": ("qwen", "qwen", "qwen"),
        "q3": ("tie", "tie", "tie"),
        "q4": ("gpt", "qwen", "tie"),
    }
    assert duel(lambda rater, q: votes[q][rater]).code == 0
    done = dialogauge("pairs", "duel", "--kind", "dpo", "-o", "dpo.jsonl")
    assert done.code == 0, done.err
    rows = loaded("dpo.jsonl", "prompt", "chosen", "rejected")
    assert {texts(row, "prompt", "chosen", "rejected") for row in rows} == {
        ("q1 0?", "gpt to q1 0.", "qwen to q1 0."),
        ("q2 0?", "qwen to q2 0.", "gpt to q2 0."),
    }
    assert "1 left out: a tie" in done.out
    assert "1 left out: no reply was chosen by more than half of the raters" in done.out
    assert "2 rejected by people" in done.out
    sources = {s["conversation_id"]: s for s in lines("dpo.provenance.jsonl")}
    assert sources["q1"]["votes"] == {"a": 2, "b": 1, "tie": 0}
    assert (sources["q2"]["source"], sources["q2"]["chosen_from"]) == ("people", "people's choice: qwen")
    # the file of the choices names the same
    again = dialogauge("pairs", "duel/pairs.jsonl", "-o", "again.jsonl")
    assert again.code == 0, again.err
    assert lines("again.jsonl") == lines("dpo.jsonl")


def test_conversations_that_part_before_their_last_reply_are_no_pair(dialogauge, duel):
    duel(lambda *_: "gpt", replies=2)
    done = dialogauge("pairs", "duel", "-o", "dpo.jsonl")
    assert (done.code, Path("dpo.jsonl").exists()) == (2, False)
    assert "4 left out: the conversations part before their last reply" in done.err


def test_a_pair_that_nobody_rated_is_counted(dialogauge, duel):
    duel(lambda _, q: None if q == "q1" else "gpt")
    done = dialogauge("pairs", "duel", "-o", "dpo.jsonl")
    assert len(lines("dpo.jsonl")) == 3
    assert "1 left out: nobody chose between the two" in done.out


@pytest.mark.parametrize("kind", ["kto", "sft", "active"])
def test_choices_give_pairs_alone(dialogauge, duel, kind):
    duel(lambda *_: "gpt")
    done = dialogauge("pairs", "duel", "--kind", kind, "-o", "x.jsonl")
    assert done.code == 2
    assert f"choices between two, which give no rows of the kind {kind}: dpo" in done.err
    assert "--ratings duel" in done.err


# Better replies


@pytest.fixture
def corrected(dialogauge, log):
    """A folder of ratings in which raters wrote better replies: {(item's id, turn): text}, by rater."""

    def make(*by_rater, records=None, words=()):
        tool = {"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}
        records = records or [
            record("c1", ("When?", "Who knows?"), ("Please.", "At nine."), ("Thanks, bye!", "Bye."))
            | {"tools": [tool]}
        ]
        words = (
            *EASY,
            "--raters",
            len(by_rater),
            *words,
            *(("--shared", len(records)) if len(by_rater) > 1 else ()),
        )
        done = dialogauge("annotate", "make", log(*records), *words, "-o", "rating")
        assert done.code == 0, done.err
        files = []
        for number, better in enumerate(by_rater, 1):
            task = task_of(Path(f"rating/pages/R{number}.html"))
            rows = list(answered(task, lambda *_: 2))
            for item in task["items"]:
                first = next(row for row in rows if row["item"] == item["id"])
                kept = {k: v for k, v in first.items() if k not in ("dimension", "score", "reason")}
                rows += [kept | {"turn": turn, "correction": text} for turn, text in better.items()]
            files.append(saved(Path(f"R{number}.jsonl"), rows))
        done = dialogauge("annotate", "import", "rating", *files)
        assert done.code == 0, done.err

    return make


def test_a_better_reply_is_a_preference_pair_and_an_example(dialogauge, corrected):
    corrected({1: "It opens at nine.", 2: "At nine."})
    done = dialogauge("pairs", "rating", "--kind", "dpo", "-o", "dpo.jsonl")
    assert done.code == 0, done.err
    (row,) = loaded("dpo.jsonl", "prompt", "chosen", "rejected")
    assert row["prompt"] == [{"role": "user", "content": "When?"}]  # and nothing that follows
    assert texts(row, "chosen", "rejected") == ("It opens at nine.", "Who knows?")
    assert json.loads(row["tools"])[0]["function"]["name"] == "find"
    assert "1 left out: a better reply that says the same" in done.out
    (source,) = lines("dpo.provenance.jsonl")
    assert (source["conversation_id"], source["turn"], source["source"]) == ("c1", 1, "people")
    assert (source["chosen_from"], source["rater"], source["rating"]) == ("a rater's better reply", "R1", 2)
    done = dialogauge("pairs", "rating", "--kind", "sft", "-o", "sft.jsonl")
    (row,) = loaded("sft.jsonl", "messages")
    assert row["messages"] == [
        {"role": "user", "content": "When?"},
        {"role": "assistant", "content": "It opens at nine."},
    ]
    done = dialogauge("pairs", "rating", "--kind", "kto", "-o", "kto.jsonl")
    assert done.code == 2
    assert "judge LOG --ratings rating" in done.err


def test_better_replies_of_several_raters_are_rows_once_each(dialogauge, corrected):
    corrected({1: "It opens at nine."}, {1: "It opens at nine."}, {1: "At nine, every day.", 3: "Good bye!"})
    done = dialogauge("pairs", "rating", "-o", "dpo.jsonl")
    rows = loaded("dpo.jsonl", "prompt", "chosen", "rejected")
    assert [texts(row, "chosen")[0] for row in rows] == [
        "It opens at nine.",
        "At nine, every day.",
        "Good bye!",
    ]
    assert "1 left out: a better reply that says the same" in done.out
    assert len(rows[-1]["prompt"]) == 5


def test_what_raters_wrote_is_masked_with_the_rest(dialogauge, corrected):
    corrected(
        {1: "Write to anna.berg@example.org."}, records=[record("c1", ("Whom?", "Ask bert@example.org."))]
    )
    dialogauge("pairs", "rating", "-o", "dpo.jsonl", "--redact", "--hash-ids")
    (row,) = loaded("dpo.jsonl", "prompt", "chosen", "rejected")
    assert texts(row, "chosen", "rejected") == ("Write to [email].", "Ask [email].")
    (source,) = lines("dpo.provenance.jsonl")
    assert source["conversation_id"].startswith("c_")
    assert source["rater"].startswith("u_")


def test_a_better_reply_with_the_mark_of_a_hidden_name_is_left_out(dialogauge, corrected):
    corrected(
        {1: "I am […], at your service."},
        records=[record("c1", ("Who?", "I am gpt-4o."), candidate="gpt-4o")],
        words=("--blind",),
    )
    done = dialogauge("pairs", "rating", "-o", "dpo.jsonl")
    assert (done.code, Path("dpo.jsonl").exists()) == (2, False)
    assert "1 left out: a better reply with […], the mark of a hidden name" in done.err


def test_rows_of_a_run_and_of_a_folder_stand_in_one_file(dialogauge, log, corrected):
    records = [
        record("c1", ("When?", "Who knows?"), ratings=[1]),
        record("c2", ("When?", "At nine."), ratings=[5]),
    ]
    corrected({1: "It opens at nine."}, records=records)
    dialogauge("judge", log(*records), "-o", "run")
    done = dialogauge("pairs", "run", "rating", "-o", "dpo.jsonl")
    assert done.code == 0, done.err
    rows = loaded("dpo.jsonl", "prompt", "chosen", "rejected")
    assert [texts(row, "chosen", "rejected") for row in rows][-1] == ("At nine.", "Who knows?")
    assert len(rows) == 3


def test_a_folder_without_an_import_and_one_of_an_older_plan_are_named(dialogauge, log, corrected):
    dialogauge(
        "annotate", "make", log(record("c1", ("When?", "Who knows?"))), "--raters", 1, *EASY, "-o", "rating"
    )
    done = dialogauge("pairs", "rating", "-o", "dpo.jsonl")
    assert done.code == 1
    assert "nothing was imported into rating yet" in done.err
    corrected({1: "It opens at nine."}, records=[record("c1", ("When?", "Who knows?"))])
    Path("rating/items.jsonl").unlink()
    done = dialogauge("pairs", "rating", "-o", "dpo.jsonl")
    assert done.code == 1
    assert "rating/items.jsonl is missing" in done.err
    assert "annotate make" in done.err
