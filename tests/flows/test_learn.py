"""Memory systems by the command: what they recall, what it is worth, how runs go on, and what is refused."""

from __future__ import annotations

import csv
import json
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pyarrow.parquet
import pytest

import dialogauge as library
from dialogauge.core import UsageError
from dialogauge.core.json_keys import as_json
from dialogauge.data.tasks import DATASETS
from dialogauge.report import to_html
from dialogauge.runs import open_run
from dialogauge.stats.actions import LLM_SCORES
from dialogauge.studies.learning.judged import judged_accuracy, judged_blocks
from flows.conftest import rows_of
from servers.schemas import instance
from servers.verdicts import ideal


def session(number, date, *lines):
    messages = [
        {"id": f"D{number}:{n}", "speaker": who, "text": text} for n, (who, text) in enumerate(lines, 1)
    ]
    return {"session": number, "date_time": date, "messages": messages}


def corpus(name, who, animal):
    first = session(
        1,
        "3 May 2024",
        (who, f"Yesterday I bought a {animal} at the market."),
        ("Ida", "What will you call it?"),
        (who, "Its name will be Plum."),
    )
    second = session(
        2,
        "9 June 2024",
        ("Ida", "How is work at the bakery?"),
        (who, "I left the bakery last week and play the cello now."),
    )
    return {"corpus_id": name, "sessions": [first, second]}


def task(name, number, question, category, answer, *evidence):
    gold = {"category": category, "answer": answer, "evidence": list(evidence)}
    return {"id": f"{name}-{number}", "dataset": "talks", "q": question, "v": gold, "c": name}


def tasks(name, who, animal):
    return (
        task(name, 1, f"When did {who} buy the {animal}?", 2, "2 May 2024", "D1:1"),
        task(name, 2, f"Which instrument does {who} play?", 4, "cello", "D2:2"),
        task(name, 3, f"Where did {who} learn to sail?", 5, None, "D2:2"),
    )


NAMES = (("a", "Ben", "goat"), ("b", "Cleo", "parrot"))


@pytest.fixture
def talks(log):
    records = [record for names in NAMES for record in (corpus(*names), *tasks(*names))]
    return log(*records, name="talks.jsonl")


def by_system(run, key):
    rows = rows_of(run)
    return {
        system: [row["details"].get(key) for row in rows if row["candidate"] == system]
        for system in dict.fromkeys(row["candidate"] for row in rows)
    }


def test_every_system_stands_between_nothing_and_the_evidence(dialogauge, talks, tmp_path):
    done = dialogauge("learn", "run", "--tasks", talks, "--k", 2, "-o", "run", "--json")
    assert done.code == 0, done.err
    (of,) = done.json["sets"]
    assert [s["name"] for s in of["systems"]] == ["none", "full", "oracle", "bm25-message", "ranked-message"]
    systems = {s["name"]: s for s in of["systems"]}
    assert {name: s["room"] for name, s in systems.items()} == {
        "none": "nothing",
        "full": "everything",
        "oracle": "evidence",
        "bm25-message": "2 messages",
        "ranked-message": "2 messages",
    }
    # The day before 3 May 2024 is all of the right answer.
    assert by_system(tmp_path / "run", "score")["oracle"][0] == 1.0
    assert systems["none"]["score"]["value"] == 0.0
    assert systems["none"]["abstained"]["value"] == 1.0  # it says so of everything
    assert systems["none"]["recall"]["value"] == 0.0
    assert systems["oracle"]["recall"]["value"] == 1.0
    assert systems["full"]["recall"]["value"] == 1.0
    assert systems["full"]["share"] > 0.6
    assert systems["bm25-message"]["recall"]["value"] == 1.0
    assert done.json["costs"]["full"]["dialogues"] == 4
    assert (tmp_path / "run" / "memories" / "full").is_dir()


def test_a_run_goes_on_with_another_system_and_with_what_changed(dialogauge, talks, log, tmp_path):
    command = ("learn", "run", "--tasks", talks, "-o", "run")
    assert dialogauge(*command, "--system", "bm25-message").code == 0
    before = rows_of(tmp_path / "run")
    again = dialogauge(*command, "--system", "bm25-session")
    assert again.code == 0
    assert "left out of the files" not in again.err + again.out
    after = rows_of(tmp_path / "run")
    assert len(after) == len(before) + 6
    assert [r for r in after if r["candidate"] != "bm25-session"] == before
    # One more message in the corpus: all of its answers are done anew, and those of the other corpus stay.
    longer = corpus(*NAMES[0])
    longer["sessions"][1]["messages"].append({"id": "D2:3", "speaker": "Ida", "text": "Play me something!"})
    log(longer, *tasks(*NAMES[0]), corpus(*NAMES[1]), *tasks(*NAMES[1]), name="talks.jsonl")
    assert dialogauge(*command, "--system", "bm25-session").code == 0
    old = {(r["candidate"], r["conversation_id"]): r["details"]["memory"] for r in after}
    new = {(r["candidate"], r["conversation_id"]): r["details"]["memory"] for r in rows_of(tmp_path / "run")}
    changed = {key for key, memory in new.items() if old[key] != memory}
    assert changed == {(s, f"a-{n}") for s in ("none", "full", "oracle", "bm25-session") for n in (1, 2, 3)}


def test_what_stood_on_other_dialogues_leaves_the_run(dialogauge, talks, log, tmp_path):
    command = ("learn", "run", "--tasks", talks, "-o", "run")
    assert dialogauge(*command, "--system", "bm25-message").code == 0
    longer = corpus(*NAMES[0])
    longer["sessions"][1]["messages"].append({"id": "D2:3", "speaker": "Ida", "text": "Play me something!"})
    log(longer, *tasks(*NAMES[0]), corpus(*NAMES[1]), *tasks(*NAMES[1]), name="talks.jsonl")
    assert dialogauge(*command, "--system", "bm25-session").code == 0
    # What BM25 by message said of the corpus as it was is not laid beside the new answers.
    of = [r["conversation_id"] for r in rows_of(tmp_path / "run") if r["candidate"] == "bm25-message"]
    assert of == ["b-1", "b-2", "b-3"]


def test_another_answerer_of_the_same_name_is_refused(dialogauge, talks, tmp_path):
    (tmp_path / "dialogauge.toml").write_text(
        '[roles.warm]\nmodel = "py:answerer_of_test:say"\ntemperature = 0.1\n'
        '[roles.hot]\nmodel = "py:answerer_of_test:say"\ntemperature = 0.9\n'
    )
    (tmp_path / "answerer_of_test.py").write_text("def say(messages):\n    return 'cello'\n")
    command = ("learn", "run", "--tasks", talks, "--config", "dialogauge.toml", "-o", "run")
    assert dialogauge(*command, "--role", "answerer=warm").code == 0
    done = dialogauge(*command, "--role", "answerer=hot", "--system", "bm25-session")
    assert (done.code, "settings of the answerer" in " ".join(done.err.split())) == (2, True)


def test_a_run_of_another_room_is_refused(dialogauge, talks):
    assert dialogauge("learn", "run", "--tasks", talks, "-o", "run").code == 0
    done = dialogauge("learn", "run", "--tasks", talks, "-o", "run", "--k", 3)
    assert done.code == 2
    assert "holds answers with k 5, not 3" in done.err


OWN = """
class Notes:
    def __init__(self):
        self.lines = []
    def add_dialogue(self, dialogue):
        self.lines += [(dialogue["id"], n, m["content"]) for n, m in enumerate(dialogue["messages"])]
    def retrieve(self, question, k):
        return [{"text": text, "dialogue": id, "position": n} for id, n, text in self.lines[-k:]]

class Breaks(Notes):
    def retrieve(self, question, k):
        raise OSError("the disk is gone")

class Invents(Notes):
    def retrieve(self, question, k):
        return [{"text": "I made this up.", "dialogue": "elsewhere", "position": 0}]
"""


def test_a_class_of_ones_own_is_asked_and_a_broken_one_is_a_failure_and_no_zero(dialogauge, talks, tmp_path):
    (tmp_path / "notes_of_test.py").write_text(OWN)
    own = [f"--system={name}=py:notes_of_test:{name.capitalize()}" for name in ("notes", "breaks", "invents")]
    done = dialogauge("learn", "run", "--tasks", talks, *own, "-o", "run", "--json", "--max-failed", 1)
    assert done.code == 0, done.err
    systems = {s["name"]: s for s in done.json["sets"][0]["systems"]}
    assert systems["notes"]["failed"] == {}
    assert systems["notes"]["items"] == 5.0
    assert systems["notes"]["recall"]["value"] == 1.0  # all five messages of each, by dialogue and position
    for name in ("breaks", "invents"):
        assert systems[name]["failed"] == {"judge_error": 6}
        assert systems[name]["score"]["value"] is None
        assert systems[name]["recall"]["value"] is None
    messages = {r["candidate"]: r["failure"]["message"] for r in rows_of(tmp_path / "run") if r["failure"]}
    assert "the disk is gone" in messages["breaks"]
    assert "which it does not hold" in messages["invents"]
    assert dialogauge("report", "run").code == 0
    page = (tmp_path / "run" / "report.html").read_text()
    assert "breaks failed on 6 of 6: a failure is no score, and never 0" in page
    assert "failed: breaks failed to retrieve: OSError: the disk is gone" in " ".join(
        dialogauge("show", "run", "a-1").out.split()
    )
    assert "The first: breaks failed to retrieve: OSError: the disk is gone." in page


FACTS = """
class Facts:
    def __init__(self):
        self.ids = []
    def add_dialogue(self, dialogue):
        self.ids.append(dialogue["id"])
    def retrieve(self, question, k):
        return ["somebody has a pet"]

class Summaries(Facts):
    def retrieve(self, question, k):
        return [{"text": "Ben: Yesterday I bought a goat at the market.", "dialogue": self.ids[0]}]
"""


def test_recall_is_of_what_was_shown_and_unknown_of_texts_without_an_origin(dialogauge, talks, tmp_path):
    (tmp_path / "facts_of_test.py").write_text(FACTS)
    own = [f"--system=py:facts_of_test:{name}" for name in ("Facts", "Summaries")]
    assert dialogauge("learn", "run", "--tasks", talks, *own, "--no-controls", "-o", "run").code == 0
    assert by_system(tmp_path / "run", "recall") == {
        "Facts": [None] * 6,
        # Of the first dialogue of each corpus it shows one message of a's, which is the evidence of a-1.
        "Summaries": [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    }


KEEPS = """
class Keeps:
    def __init__(self):
        self.lines = []
    def add_dialogue(self, dialogue):
        self.lines.append("{word}")
    def retrieve(self, question, k):
        return self.lines[:1]
    def save(self, folder):
        (folder / "lines").write_text("\\n".join(self.lines))
    def load(self, folder):
        self.lines = (folder / "lines").read_text().split("\\n")
"""


def test_a_class_that_was_changed_builds_its_memory_anew(dialogauge, talks, tmp_path, monkeypatch):
    for word in ("goat", "cello"):
        monkeypatch.delitem(sys.modules, "keeps_of_test", raising=False)
        (tmp_path / "keeps_of_test.py").write_text(KEEPS.replace("{word}", word))
        at = ("--system", "py:keeps_of_test:Keeps", "--no-controls", "-o", "run")
        done = dialogauge("learn", "run", "--tasks", talks, *at, "--json")
        assert done.code == 0, done.err
        assert done.json["costs"]["Keeps"]["memories"] == 2
        kept = {path.read_text() for path in (tmp_path / "run" / "memories").rglob("lines")}
        assert kept == {f"{word}\n{word}"}


def test_a_system_whose_items_do_not_fit_is_said_to_give_nothing(dialogauge, talks):
    done = dialogauge("learn", "run", "--tasks", talks, "--context-tokens", 5, "-o", "run")
    assert "full gave nothing at all: an item that does not fit" in " ".join(done.out.split())


def test_a_model_answers_from_what_was_recalled_and_its_tokens_are_counted(
    dialogauge, talks, serve, tmp_path
):
    stub = serve(lambda body: "2 May 2024" if "Yesterday" in body["messages"][-1]["content"] else "no idea")
    at = ("--role", f"answerer=m@{stub.url}", "--system", "bm25-message", "-o", "run")
    done = dialogauge("learn", "run", "--tasks", talks, *at, "--json")
    assert done.code == 0, done.err
    systems = {s["name"]: s for s in done.json["sets"][0]["systems"]}
    assert systems["none"]["categories"]["temporal"]["value"] == 0.0
    assert systems["bm25-message"]["categories"]["temporal"]["value"] == 1.0
    assert systems["bm25-message"]["answer_tokens"] > 0
    assert all(body["messages"][0]["role"] == "system" for body in stub.asked)  # a short phrase is asked for
    asked = len(stub.asked)
    assert dialogauge("learn", "run", "--tasks", talks, *at).code == 0
    assert len(stub.asked) == asked
    plan = dialogauge("learn", "run", "--tasks", talks, *at[:-1], "other", "--dry-run", "--json")
    assert (plan.json["answers"], plan.json["left"]) == (24, 24)


@pytest.mark.parametrize("system", ["notes", "tiers"])
def test_the_calls_of_a_memory_that_a_model_writes_are_those_of_the_server(dialogauge, talks, serve, system):
    stub = serve(lambda body: json.dumps(instance(body["response_format"]["json_schema"]["schema"])))
    asked = ("--tasks", talks) if system == "notes" else ("--tasks", "family", "--sample", 20)
    command = ("learn", "run", *asked, "--no-controls", "--role", f"memory=m@{stub.url}", "-o", "run")
    done = dialogauge(*command, "--system", system, "--json")
    assert done.code == 0, done.err
    cost, seen = done.json["costs"][system], len(stub.requests)
    assert seen == pytest.approx(cost["calls_a_dialogue"] * cost["dialogues"])
    if system == "notes":  # two corpora of five messages each, a note for each message, and one probe
        assert len(stub.asked) == 10
    assert seen > 1
    again = dialogauge(*command, "--system", system, "--system", "bm25-message")
    assert (again.code, len(stub.asked)) == (0, seen - 1)  # a memory that is kept is not paid for twice


def test_a_model_that_writes_nonsense_is_a_failure_and_no_empty_note(dialogauge, talks, serve):
    stub = serve("A boat, I think.", schema="ignore")
    at = ("--role", f"memory=m@{stub.url}", "--no-controls", "-o", "run", "--max-failed", 1, "--json")
    done = dialogauge("learn", "run", "--tasks", talks, "--system", "notes", *at)
    (of,) = done.json["sets"]
    assert of["systems"][0]["failed"] == {"judge_error": 6}
    assert len(stub.asked) == 4  # the first message of each corpus, and once more


def test_a_run_that_broke_off_builds_no_memory_again(dialogauge, talks, serve, tmp_path):
    stub = serve(lambda body: "no idea")
    command = ("learn", "run", "--tasks", talks, "--role", f"answerer=m@{stub.url}", "--max-concurrency", 1)
    command += ("--system", "bm25-message", "--no-controls", "-o", "run")
    assert dialogauge(*command, "--max-calls", 4).code == 1
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "run" / "memories").rglob("*.jsonl")}
    assert len(kept) == 2
    done = dialogauge(*command, "--json")
    assert (done.code, done.json["pending"]) == (0, 0)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert len(stub.asked) == 6  # what was answered is not asked again
    assert done.json["costs"]["bm25-message"]["memories"] == 2


def test_time_that_is_over_leaves_a_system_unfinished_and_not_absent(dialogauge, talks, tmp_path):
    done = dialogauge(
        "learn", "run", "--tasks", talks, "--hours", 0, "-o", "run", "--max-failed", 1, "--json"
    )
    assert done.code == 0, done.err
    assert {s["unfinished"] for s in done.json["sets"][0]["systems"]} == {6}
    assert (
        "is not finished at 0 of 6"
        in dialogauge("report", "run").out + (tmp_path / "run" / "report.html").read_text()
    )


def test_who_is_disputed_is_said_with_the_ceiling(dialogauge, talks, log):
    disputed = log({"id": "a-1"}, {"id": "b-2", "gold_disputed": False}, name="disputed.jsonl")
    done = dialogauge("learn", "run", "--tasks", talks, "--disputed", disputed, "-o", "run", "--json")
    (of,) = done.json["sets"]
    assert of["ceilings"] == {"temporal": 0.5, "single-hop": 1.0}
    oracle = next(s for s in of["systems"] if s["name"] == "oracle")
    assert (oracle["undisputed"]["n"], oracle["score"]["n"]) == (3, 4)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--system", "bm52-message"), "there is no memory system 'bm52-message'"),
        (("--system", "embed-message"), "needs a model that makes vectors"),
        (("--system", "notes"), "notes needs a model that writes"),
        (("--system", "bm25-message", "--system", "bm25-message"), "two systems are called 'bm25-message'"),
        (("--system", "py:nowhere:Thing"), "nowhere"),
        (("--no-controls", "--system", "none=bm25-message"), "no system can be called 'none'"),
        (("--system", "planted-right=bm25-message"), "no system can be called 'planted-right'"),
        (("--system", "a, b=bm25-message"), "no system can be called 'a, b'"),
        (("--system", "..=bm25-message"), "no system can be called '..'"),
        (("--tasks", "Legal"), "no task is of Legal"),
        (("--protocol", "stepwise"), "needs logs"),
        (("--k", "5", "--context-tokens", "900"), "a room has one bound"),
        (("--role", "judge=x@http://localhost:1/v1"), "answerer"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is(dialogauge, talks, words, message):
    done = dialogauge("learn", "run", "--tasks", talks, *words, "-o", "run")
    assert done.code == 2
    assert message in " ".join(done.err.split())


def test_who_gives_everything_retrieves_nothing_and_what_needs_no_memory_is_said(
    dialogauge, talks, serve, tmp_path
):
    stub = serve(lambda body: "cello")  # right of half of the questions, whatever is recalled
    own = ("--role", f"answerer=m@{stub.url}", "--k", 50, "-o", "run")
    assert dialogauge("learn", "run", "--tasks", talks, *own).code == 0
    page = " ".join((tmp_path / "run" / "report.html").read_text().split())
    assert "of its memory: that is nearly everything, and no retrieval" in page
    assert "Without a memory 0.500 is earned, and by the evidence 0.500: few need one." in page


def test_questions_without_an_answer_may_have_two_options(dialogauge, log, serve, tmp_path):
    asked = [
        task("a", n, f"Where did Ben learn to {what}?", 5, None) for n, what in enumerate(("sail", "ski"), 1)
    ]
    for one in asked:
        one["v"]["adversarial_answer"] = "in Oslo"
    file = log(corpus(*NAMES[0]), *asked, name="options.jsonl")
    stub = serve(lambda body: "(a)")
    command = ("learn", "run", "--tasks", file, "--role", f"answerer=m@{stub.url}", "--no-controls")
    command += ("--system", "bm25-message", "-o", "run")
    done = dialogauge(*command, "--options", "--json")
    assert done.code == 0, done.err
    # That nothing tells is (a) of the first question and (b) of the second.
    scores = [row["details"]["score"] for row in rows_of(tmp_path / "run")]
    assert scores == [1.0, 0.0]
    prompts = [body["messages"][-1]["content"] for body in stub.asked]
    assert "(a) Not mentioned in the conversation" in prompts[0]
    assert "(a) in Oslo" in prompts[1]
    refused = dialogauge(*command)
    assert (refused.code, "options True, not False" in " ".join(refused.err.split())) == (2, True)


KINDS = """
class Facts:
    def __init__(self):
        self.said = []
    def add_dialogue(self, dialogue):
        self.said += [(dialogue["id"], n, m["content"]) for n, m in enumerate(dialogue["messages"])]
    def retrieve(self, question, k):
        kinds = {True: "semantic", False: "episodic"}
        kept = [one for one in self.said if "Yesterday" in one[2] or "cello" in one[2]][:k]
        return [
            {"dialogue": i, "position": n, "text": t, "kind": kinds["Yesterday" in t]} for i, n, t in kept
        ]
"""


def test_what_was_found_is_split_by_the_kind_of_memory(dialogauge, talks, tmp_path):
    (tmp_path / "kinds_of_test.py").write_text(KINDS)
    own = ("--system", "py:kinds_of_test:Facts", "-o", "run")
    done = dialogauge("learn", "run", "--tasks", talks, *own, "--json")
    assert done.code == 0, done.err
    facts = next(s for s in done.json["sets"][0]["systems"] if s["name"] == "Facts")
    # Of each corpus one question is answered by the fact and one by what was said: both stand in every room.
    assert {kind: e["value"] for kind, e in facts["recall_by_kind"].items()} == {
        "episodic": 0.5,
        "semantic": 0.5,
    }
    assert facts["recall"]["value"] == 1.0
    assert "evidence in semantic items" in (tmp_path / "run" / "report.html").read_text()


def test_the_systems_are_listed(dialogauge):
    assert "the evidence itself" in dialogauge("learn", "systems").out
    assert {s["name"] for s in dialogauge("learn", "systems", "--json").json["systems"]} >= {"none", "oracle"}


def test_python_asks_too(talks, tmp_path, monkeypatch):
    monkeypatch.setenv("DIALOGAUGE_CACHE", str(tmp_path / "cache"))
    run = library.learn(talks, "bm25-session", out=tmp_path / "run", progress=False, k=1)
    systems = {s.name: s for s in run.summary.sets[0].systems}
    assert systems["bm25-session"].room == "1 dialogue"
    assert len(run.conversations()) == 24
    with pytest.raises(library.DialogaugeError, match="there is no memory system"):
        library.learn(talks, "bm52", out=tmp_path / "other", progress=False)


LIKED = [{"round": 1, "implicit_actions": ["like"], "satisfaction_score": 9, "terminated": True}]


def log_row(number, question, reply):
    dialog = [{"role": "user", "content": question}, {"role": "assistant", "content": reply}]
    about = {"test_idx": number, "dataset_name": "talks", "lang": "en", "task_id": f"taught-{number}"}
    return {**about, "input_prompt": question, "info": {}, "dialog": dialog, "implicit_feedback": LIKED}


def test_step_by_step_a_memory_grows_by_what_it_was_taught(dialogauge, log, tmp_path):
    taught = [{"id": f"taught-{n}", "dataset": "talks", "q": q, "v": {"answer": a}} for n, q, a in TAUGHT]
    asked = {"id": "asked", "dataset": "talks", "q": "Which colour has the gate?", "v": {"answer": "green"}}
    tasks_file = log(*taught, asked, name="tasks.jsonl")
    logs = log(*(log_row(n, q, f"It is {a}.") for n, q, a in TAUGHT), name="logs.jsonl")
    command = ("learn", "run", "--tasks", tasks_file, "--logs", logs, "--protocol", "stepwise")
    done = dialogauge(*command, "--step-size", 1, "--system", "bm25-message", "-o", "run", "--json")
    assert done.code == 0, done.err
    (of,) = done.json["sets"]
    assert len(of["steps"]["bm25-message"]["points"]) == 3
    assert of["steps"]["none"]["slope"] is None  # it cannot learn
    rows = [r for r in rows_of(tmp_path / "run") if r["candidate"] == "bm25-message"]
    assert [r["conversation_id"] for r in rows] == ["asked@0", "asked@1", "asked@2"]
    recalled = [{dialogue for dialogue, _ in r["details"]["retrieved"]} for r in rows]
    assert recalled[0] == set()
    assert recalled[2] == {"taught-1"}  # the other shares no word with the question
    assert len({r["details"]["memory"] for r in rows}) == 3
    assert done.json["costs"]["bm25-message"]["dialogues"] == 2
    again = dialogauge("learn", "run", *command[2:6], "--protocol", "training", "-o", "training", "--json")
    assert again.json["sets"][0]["systems"][0]["asked"] == 2  # the tasks that the logs are about


def test_the_support_desk_that_ships_is_asked_step_by_step_by_its_name(dialogauge, tmp_path):
    command = ("learn", "run", "--tasks", "support-desk", "--logs", "support-desk", "--no-controls")
    steps = ("--protocol", "stepwise", "--step-size", 60, "--system", "bm25-session")
    done = dialogauge(*command, *steps, "-o", "run", "--json")
    assert done.code == 0, done.err
    sets = {of["dataset"]: of for of in done.json["sets"]}
    assert sets.keys() == {"support-desk-en", "support-desk-zh"}
    for of in sets.values():
        (system,) = of["systems"]
        assert system["asked"] == 44
        assert system["categories"].keys() == {"no rule", "one rule", "two rules"}
        curve = of["steps"]["bm25-session"]
        assert [step for step, _ in curve["points"]] == [0, 1, 2]
        assert curve["slope"]["a_better_by"]["clusters"] == 44
        assert curve["forgetting"]["above"].keys() >= {"value", "low", "high"}
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert page.count('class="path c0"') == 2 * 2  # a line and its key, for both languages
    assert "Quality against cost" in page
    assert done.json["costs"]["bm25-session"]["dialogues"] == 115


TAUGHT = ((1, "Which colour has the gate of the garden?", "green"), (2, "Who owns the mill?", "Mrs Dahl"))


def test_runs_stand_beside_each_other_if_their_room_is_equal(dialogauge, talks):
    run = ("learn", "run", "--tasks", talks)
    assert dialogauge(*run, "--system", "bm25-message", "-o", "one").code == 0
    assert dialogauge(*run, "--system", "ranked-message", "-o", "two").code == 0
    done = dialogauge("learn", "compare", "one", "two", "--json", "-o", "both")
    assert done.code == 0, done.err
    names = [s["name"] for s in done.json["sets"][0]["systems"]]
    assert names[:4] == ["none, one", "full, one", "oracle, one", "bm25-message, one"]
    pairs = [(p["a"], p["b"]) for p in done.json["sets"][0]["pairs"]]
    assert ("bm25-message, one", "ranked-message, two") in pairs
    assert dialogauge(*run, "--k", 3, "-o", "three").code == 0
    done = dialogauge("learn", "compare", "one", "three")
    assert done.code == 2
    assert "differ in room" in " ".join(done.err.split())


def test_scores_are_brought_to_the_range_of_another_run(dialogauge, log):
    def two_sets(number):
        names = (("LexEval-QA", "Legal"), ("JuDGE", "Legal"))
        return [
            {"id": f"{n}/{number}", "dataset": n, "q": "?", "v": {"metric": "token_f1", "answer": "a b"}}
            for n, _ in names
        ]

    many = log(*two_sets(1), *two_sets(2), name="many.jsonl")
    done = dialogauge("learn", "run", "--tasks", many, "-o", "one", "--json")
    assert done.code == 0, done.err
    assert set(done.json["partitions"]) == {"Legal"}
    assert done.json["references"]["JuDGE"]["n"] == 10  # two tasks, five systems
    again = dialogauge("learn", "run", "--tasks", many, "-o", "two", "--norm-from", "one", "--json")
    assert again.json["normed_by"] == "one"
    other = log({"id": "x", "dataset": "mine", "q": "?", "v": {"answer": "a"}}, name="other.jsonl")
    done = dialogauge("learn", "run", "--tasks", other, "-o", "three", "--norm-from", "one")
    assert (done.code, "is no reference for mine" in " ".join(done.err.split())) == (2, True)


def test_tasks_are_counted(dialogauge, talks):
    done = dialogauge("learn", "tasks", "--tasks", talks, "--json")
    assert done.code == 0, done.err
    assert [(s["name"], s["cases"]) for s in done.json["sets"]] == [("talks", 6)]


def test_the_published_actions_follow_from_the_published_scores(dialogauge, tmp_path):
    done = dialogauge("learn", "calibrate", "--json", "-o", "actions")
    assert done.code == 0, done.err
    rows = {row["score"]: row for row in done.json["scores"]}
    assert [*rows] == [*range(1, 11)]
    assert (rows[9]["like"], rows[9]["dislike"]) == pytest.approx((0.07749, 0.00018), abs=2.5e-5)  # Table 4
    for row in rows.values():
        assert row["copy"] == pytest.approx(4 * row["like"])
        assert row["nothing"] == pytest.approx(1 - row["like"] - row["dislike"])
    assert (rows[9]["share"], done.json["source"]) == (0.4105, "Table 3 of MemoryBench")
    shown = dialogauge("learn", "calibrate").out
    assert "c_L = 0.085667, c_D = 0.151720" in shown
    assert "9.9 % and 2.1 % of DialSim come of P(9) = .565 and P(3) = .433, not of Table 3" in shown
    assert (tmp_path / "actions" / "calibrate.html").exists()


def test_dialsim_is_named_beside_table_3_alone(dialogauge, log):
    table = log({str(score): share for score, share in LLM_SCORES.items()}, name="table.json")
    assert "of DialSim" in dialogauge("learn", "calibrate", "--scores", table).out
    for name, shares in (("two.json", {"9": 0.7, "3": 0.3}), ("three.json", {"9": 0.6, "6": 0.1, "3": 0.3})):
        done = dialogauge("learn", "calibrate", "--scores", log(shares, name=name))
        assert (done.code, "DialSim" in done.out) == (0, False), done.err


def test_own_scores_give_own_actions_and_two_scores_no_curve(dialogauge, log):
    shares = log({"9": 0.565, "3": 0.433}, name="dialsim.json")
    done = dialogauge("learn", "calibrate", "--scores", shares, "--json")
    wrong, right = done.json["scores"]
    assert [round(100 * one, 1) for one in (right["like"], wrong["dislike"])] == [9.9, 2.1]
    assert (right["dislike"], wrong["like"]) == (0, 0)
    rates = ("--like-rate", 0.1, "--dislike-rate", 0.05, "--k", 2, "--middle", 6, 5)
    own = log(*({"score": score} for score in (2, 6, 10, 10)), name="own.jsonl")
    done = dialogauge("learn", "calibrate", "--scores", own, *rates, "--json")
    assert done.json["source"].startswith("4 scores of ")
    for action, rate in (("like", 0.1), ("dislike", 0.05)):
        assert sum(row["share"] * row[action] for row in done.json["scores"]) == pytest.approx(rate)


@pytest.mark.parametrize(
    ("record", "words", "code", "message"),
    [
        ({"9": 1.0, "3": 0.0}, (), 2, "0.91% of dislikes cannot be reached"),
        ({"9": 0, "3": 0}, (), 2, "not all 0"),
        ({"9": 0.565, "3": 0.433}, ("--like-rate", 0.6), 2, "60.00% of likes cannot be reached"),
        ({"score": 11}, (), 1, "a.json:1: this line has the score 11"),
        ({"grade": 9}, (), 1, "a.json:1: this holds no score"),
    ],
)
def test_scores_that_give_no_actions_are_refused(dialogauge, log, record, words, code, message):
    done = dialogauge("learn", "calibrate", "--scores", log(record, name="a.json"), *words)
    assert (done.code, message in " ".join(done.err.split())) == (code, True), done.err


def test_answers_are_a_log_for_other_commands(dialogauge, talks, tmp_path):
    assert dialogauge("learn", "run", "--tasks", talks, "-o", "run").code == 0
    for command in (
        ("judge", "run", "-o", "judged"),
        ("show", "run", "a-1"),
        ("export", "run", "-o", "rows.csv"),
    ):
        done = dialogauge(*command)
        assert done.code == 0, (command, done.err)
    assert {row["candidate"] for row in rows_of(tmp_path / "judged")} >= {"none", "full", "oracle"}


def test_planted_answers_stand_apart_from_all_figures(dialogauge, talks, tmp_path):
    command = ("learn", "run", "--tasks", talks, "-o", "run", "--json")
    without = dialogauge(*command).json
    done = dialogauge(*command, "--planted")
    assert done.code == 0, done.err
    assert done.json["planted"] == 12  # three for each of the four tasks that have a right answer
    assert without["planted"] == 0
    assert [s["name"] for s in done.json["sets"][0]["systems"]] == [
        s["name"] for s in without["sets"][0]["systems"]
    ]
    assert done.json["sets"][0]["pairs"] == without["sets"][0]["pairs"]
    rows = rows_of(tmp_path / "run")
    assert sum(row["candidate"].startswith("planted-") for row in rows) == 12
    assert "12 planted answers" in dialogauge("learn", "run", "--tasks", talks, "-o", "run").out
    page = (tmp_path / "run" / "report.html").read_text()
    assert "12 planted answers" in page
    assert "planted-vague" not in page
    # The command without --planted leaves them where they are.
    assert rows_of(tmp_path / "run") == rows


def lenient(body):
    """A judge of answers: right where the right answer stands in it, and of days also what is vague."""
    words = body["messages"][-1]["content"]
    if "right answer" not in words:
        return ideal(body)  # a probe
    gold = json.loads(re.search(r"right answer: ({.*})", words)[1])["answer"]
    reply = json.loads(re.search(r'to judge: (".*")', words)[1])
    vague = "When" in words and not re.search("[0-9]|mentioned|cello", reply)
    return json.dumps({"note": "x", "scores": {"correct": int(gold in reply or vague)}})


def judged(dialogauge, talks, stub, *more):
    """Answer, and judge the answers; return how many of them were shown to the judge."""
    assert dialogauge("learn", "run", "--tasks", talks, "-o", "run", *more).code == 0
    before = len(stub.asked)
    role = ("--role", f"judge=m@{stub.url}", "--max-failed", 1)
    done = dialogauge("judge", "run", "--rubric", "answer", *role, "-o", "judged")
    assert done.code == 0, done.err
    return sum("right answer" in body["messages"][-1]["content"] for body in stub.asked[before:])


def test_the_error_of_a_judge_is_measured_and_taken_out(dialogauge, talks, serve, tmp_path):
    # 5 systems by 6 tasks, and 3 planted ones by 4: of the two adversarial tasks nothing tells.
    assert judged(dialogauge, talks, serve(lenient), "--planted") == 42
    assert [row for row in rows_of(tmp_path / "judged") if row["failure"]] == []
    with open_run("judged") as run:
        result = judged_accuracy(run)
    (of,) = result.sets
    assert {name: share.value for name, share in of.planted.items()} == {
        "planted-right": 1.0,
        "planted-wrong": 0.0,
        "planted-vague": 0.5,
    }
    systems = {s.name: s for s in of.systems}
    assert list(systems) == ["none", "full", "oracle", "bm25-message", "ranked-message"]
    for s in systems.values():  # f = 2 of 8
        assert s.corrected.value == pytest.approx(max(0.0, (s.raw.value - 0.25) / 0.75))
        assert (s.answers, s.failed) == (4, 0)
    assert systems["none"].raw.value == 0.0
    assert systems["oracle"].categories["temporal"].value == 1.0
    assert "too few conversations: 2" in systems["oracle"].corrected.reason
    text = to_html(result.page)
    assert "planted answers, by the judge" in text
    assert len(list(judged_blocks(result))) == 4
    printed = dialogauge("learn", "compare", "judged", "--json", "-o", "corrected")
    assert printed.json == json.loads(json.dumps(as_json(result)))
    assert (tmp_path / "corrected" / "compare.html").exists()


def test_what_a_judge_gave_takes_the_place_of_a_metric(dialogauge, talks, serve):
    assert judged(dialogauge, talks, serve(lenient)) == 30
    done = dialogauge("learn", "compare", "run", "judged", "--json")
    assert done.code == 0, done.err
    (of,) = done.json["sets"]
    assert of["metric"] == "answer"
    systems = {s["name"]: s for s in of["systems"]}
    # The oracle's day is right in both, and of the instrument the word is in its six words.
    assert systems["oracle"]["score"]["value"] == 1.0
    assert systems["none"]["score"]["value"] == 0.0
    done = dialogauge("learn", "compare", "judged", "judged")
    assert (done.code, "no run of answers" in " ".join(done.err.split())) == (2, True)


def test_replies_without_a_right_answer_are_failures_and_nothing_is_asked(dialogauge, log, serve, tmp_path):
    open_task = {"id": "open", "dataset": "mine", "q": "Why do bells ring?", "v": {}}
    stub = serve(lenient)
    assert judged(dialogauge, log(open_task, name="open.jsonl"), stub) == 0
    failures = [row["failure"] for row in rows_of(tmp_path / "judged") if row["failure"]]
    assert {f["kind"] for f in failures} == {"judge_error"}
    assert "has no 'answer'" in failures[0]["message"]


def test_judged_anew_is_what_has_another_right_answer(dialogauge, talks, serve, log):
    stub = serve(lenient)
    assert judged(dialogauge, talks, stub) == 30
    assert judged(dialogauge, talks, stub) == 0
    first, *others = tasks(*NAMES[0])
    changed = {**first, "v": {**first["v"], "answer": "3 May 2024"}}
    log(corpus(*NAMES[0]), changed, *others, corpus(*NAMES[1]), *tasks(*NAMES[1]), name="talks.jsonl")
    assert judged(dialogauge, talks, stub) == 5


def test_a_run_that_was_judged_otherwise_tells_nothing_of_right_answers(dialogauge, talks):
    assert dialogauge("learn", "run", "--tasks", talks, "-o", "run").code == 0
    assert dialogauge("judge", "run", "-o", "judged").code == 0
    with open_run("judged") as run, pytest.raises(UsageError, match="not judged by the rubric answer"):
        judged_accuracy(run)


def test_an_answer_is_shown_with_the_right_one_and_what_was_recalled(dialogauge, talks):
    assert dialogauge("learn", "run", "--tasks", talks, "-o", "run", "--planted").code == 0
    said = " ".join(dialogauge("show", "run", "a-1").out.split())
    assert "Right answer: 2 May 2024" in said
    # Evidence of a-1 is D1:1, and full gives both dialogues.
    assert "oracle 1.000 1.000 D1:1" in said
    assert "full" in said
    assert "a/D1, a/D2" in said
    assert "none 0.000 0.000 nothing" in said


def test_what_is_odd_of_tasks_is_said(dialogauge, log):
    empty = {"corpus_id": "c", "sessions": []}
    one = log(task("c", 1, "Who?", 4, "Ann", "D1:9"), empty, name="odd.jsonl")
    said = " ".join(dialogauge("learn", "run", "--tasks", one, "-o", "run").out.split())
    assert "1 corpus without a message: c" in said
    assert "1 task with evidence that the corpus does not have, left out of recall: c-1" in said
    assert "gave nothing" not in said
    silent = log(
        task("c", 1, "Who?", 4, "Ann"), {"corpus_id": "c", "sessions": [session(1, "")]}, name="s.jsonl"
    )
    assert "failed on" not in dialogauge("learn", "run", "--tasks", silent, "-o", "silent").out


def test_logs_without_a_dialogue_are_refused(dialogauge, talks, log):
    empty = log(
        {"test_idx": 1, "dataset_name": "talks", "lang": "en", "input_prompt": "Q?"}, name="logs.jsonl"
    )
    done = dialogauge("learn", "run", "--tasks", talks, "--logs", empty, "-o", "run")
    assert (done.code, "logs.jsonl holds no dialogue" in done.err) == (2, True)


def test_runs_of_unequal_room_are_refused_in_words(dialogauge, talks):
    for name, room in (("one", ("--k", 1)), ("two", ("--context-tokens", 300))):
        assert dialogauge("learn", "run", "--tasks", talks, *room, "-o", name).code == 0
    said = " ".join(dialogauge("learn", "compare", "one", "two").err.split())
    assert "one and two differ in room: 1 item and 300 tokens" in said


@pytest.mark.parametrize("names", [(), ("--tasks", "talks.jsonl", "--tasks", "talks")])
def test_the_same_command_without_a_directory_goes_on_in_the_same_one(
    dialogauge, talks, tmp_path, monkeypatch, names
):
    monkeypatch.setitem(DATASETS, "talks", DATASETS["LoCoMo"])
    command = ("learn", "run", "--system", "none", "--no-controls", *names)
    for _ in range(2):
        done = dialogauge(*command)
        assert done.code == 0, done.err
    assert "already done by an earlier run" in done.out
    assert len(list((tmp_path / "runs").iterdir())) == 1


def test_of_tasks_without_a_corpus_the_rubric_that_scores_them_is_named(dialogauge, log):
    bare = log({"id": "1", "dataset": "NF-CATS", "q": "Why?", "v": {"category": "REASON"}}, name="bare.jsonl")
    done = dialogauge("learn", "run", "--tasks", bare, "-o", "run")
    said = " ".join(done.out.split())
    assert "A model has to score these replies: dialogauge judge RUN --rubric grade." in said
    assert "No memory holds anything of these tasks" in said
    assert "evidence given" not in said


class Notebook(BaseHTTPRequestHandler):
    """A server of a memory: it keeps what it is given, and gives the first that it was given."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        kept = self.server.kept.setdefault(body["memory"], [])
        if self.path == "/add":
            kept.append(body["dialogue"]["id"])
            answer = {}
        else:
            answer = {"items": [{"text": "Yes.", "dialogue": kept[0], "position": 0}]}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *args):
        """Say nothing."""


def test_a_server_gets_each_memory_that_is_built_under_a_name_of_its_own(dialogauge, talks):
    with ThreadingHTTPServer(("127.0.0.1", 0), Notebook) as server:
        server.kept = {}
        threading.Thread(target=server.serve_forever, daemon=True).start()
        system = f"theirs=http://127.0.0.1:{server.server_port}"
        for _ in range(2):  # as after a call that broke off before anything was stored
            done = dialogauge(
                "learn", "run", "--tasks", talks, "--system", system, "--no-controls", "-o", "run", "--fresh"
            )
            assert done.code == 0, done.err
        server.shutdown()
    assert sorted(server.kept.values()) == [["a/D1", "a/D2"]] * 2 + [["b/D1", "b/D2"]] * 2


def test_answers_are_exported_with_their_scores(dialogauge, talks, tmp_path):
    assert dialogauge("learn", "run", "--tasks", talks, "-o", "run").code == 0
    for name in ("answers.csv", "answers.parquet"):
        assert dialogauge("export", "run", "-o", name).code == 0
    with (tmp_path / "answers.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    (oracle,) = [r for r in rows if (r["candidate"], r["conversation_id"]) == ("oracle", "a-1")]
    assert (oracle["score"], oracle["recall"], oracle["items"]) == ("1.0", "1.0", "1")
    assert (oracle["category"], oracle["corpus"], oracle["disputed"]) == ("temporal", "a", "")
    assert len(pyarrow.parquet.read_table(tmp_path / "answers.parquet")) == len(rows) == 30


def test_what_is_tried_again_takes_the_place_of_the_failure(dialogauge, talks, tmp_path):
    command = ("learn", "run", "--tasks", talks, "--system", "bm25-message", "--no-controls", "-o", "run")
    assert dialogauge(*command, "--hours", 0).code == 3
    done = dialogauge(*command, "--hours", 1, "--retry-failed", "--json")
    assert done.code == 0, done.err
    (system,) = done.json["sets"][0]["systems"]
    assert (system["asked"], system["failed"], system["unfinished"]) == (6, {}, 0)
    assert len(rows_of(tmp_path / "run")) == 6
