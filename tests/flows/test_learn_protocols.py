"""Systems that learn from users, by the command: dialogues, protocols, and how such runs go on."""

from __future__ import annotations

import json

import pytest
from benchmarks.learning_kills import answer
from benchmarks.learning_kills import rows_of as rows_without_times

from flows.conftest import rows_of
from flows.test_learn import corpus

WHO = (("a", "Ben", "goat"), ("b", "Cleo", "parrot"))


def task(name, number, question, answer, evidence):
    gold = {"category": 4, "answer": answer, "evidence": [evidence]}
    return {"id": f"{name}-{number}", "dataset": "LoCoMo", "q": question, "v": gold, "c": name}


def tasks(name, who, animal):
    return (
        task(name, 1, f"What did {who} buy at the market?", f"a {animal}", "D1:1"),
        task(name, 2, f"Which instrument does {who} play?", "cello", "D2:2"),
        task(name, 3, f"What is the name of the {animal} of {who}?", "Plum", "D1:3"),
        task(name, 4, f"Where did {who} work?", "bakery", "D2:2"),
        task(name, 5, f"What did {who} leave last week?", "the bakery", "D2:2"),
    )


@pytest.fixture
def talks(log):
    """Tasks with the users of LoCoMo, whose words are fixed."""
    return log(*(r for who in WHO for r in (corpus(*who), *tasks(*who))), name="talks.jsonl")


MEMORY = '''
import json
import pathlib
class Words:
    """Gives all that shares a word with the question; writes down what reaches it."""
    def __init__(self):
        self.held = []
    def note(self, *what):
        with open("seen.jsonl", "a") as out:
            out.write(json.dumps(what, ensure_ascii=False) + "\\n")
    def add_dialogue(self, dialogue, feedback=None):
        self.note("add", dialogue)
        self.held.append(dialogue)
    def retrieve(self, question, k):
        self.note("retrieve", question)
        fails = pathlib.Path("fails.txt").read_text()
        if fails and fails in question:
            raise RuntimeError("not now")
        asked = set(question.split())
        texts = [m["content"] for d in self.held for m in d["messages"]]
        return sorted(texts, key=lambda t: -len(asked & set(t.split())))[:k]
'''


@pytest.fixture
def words(tmp_path):
    """Writes the class, which fails on questions that hold a text; returns what reached it."""

    def write(fails=""):
        (tmp_path / "words.py").write_text(MEMORY)
        (tmp_path / "fails.txt").write_text(fails)
        return tmp_path / "seen.jsonl"

    return write


def led(rows):
    return [row for row in rows if "taught" in row["details"]]


def answers(rows, system):
    return [r for r in rows if r["candidate"] == system and "taught" not in r["details"]]


ON_POLICY = ("--protocol", "on-policy", "--steps", 2, "--batch", 3, "-o", "run")


def test_systems_are_taught_step_by_step_by_their_own_dialogues(dialogauge, talks, words, tmp_path):
    seen = words()
    done = dialogauge("learn", "run", "--tasks", talks, "--system", "py:words:Words", *ON_POLICY, "--json")
    assert done.code == 0, done.err
    rows = rows_of(tmp_path / "run")
    own = [row for row in led(rows) if row["candidate"] == "Words"]
    asked = answers(rows, "Words")
    # Four of five tasks teach; the fifth of each corpus is asked before the first step, and after each.
    assert [row["details"]["step"] for row in own] == [1, 1, 1, 2, 2, 2]
    ids = [name_of(row).partition("@")[0] for row in own]
    taught = set(ids)
    assert len(set(ids[:3])) == len(set(ids[3:])) == 3
    assert set(ids[:3]) != set(ids[3:])  # each step draws anew
    assert sorted({row["details"]["step"] for row in asked}) == [0, 1, 2]
    assert taught.isdisjoint(row["conversation_id"].partition("@")[0] for row in asked)
    # `full` leads the same dialogues, and who takes in nothing leads none.
    other = [row for row in led(rows) if row["candidate"] == "full"]
    assert [r["conversation_id"] for r in other] == [r["conversation_id"] for r in own]
    assert {row["candidate"] for row in led(rows)} == {"Words", "full"}
    # A feedback after the last answer is not asked for, and only the first answer recalls.
    assert all(
        len(row["details"]["scores"]) <= min(2, row["details"]["rounds"])
        for row in own
        if not row["details"]["ended"]
    )
    events = [json.loads(line) for line in seen.read_text().splitlines()]
    recalled = [what for kind, what in events if kind == "retrieve"]
    assert len(recalled) == len(own) + len(asked)
    # At step 2 the memory of a corpus holds its two sessions, and the six dialogues that were led.
    held = [what["id"] for kind, what in events if kind == "add" and "@" in what["id"]]
    assert set(held) == {row["conversation_id"] for row in own}
    after = {(r["details"]["corpus"], r["details"]["step"]): r["details"]["memory"] for r in asked}
    assert len(set(after.values())) == 6  # two corpora, three steps
    # A dialogue is led with the memory of the step before.
    assert all(
        row["details"]["memory"] == after[row["details"]["corpus"], row["details"]["step"] - 1] for row in own
    )
    other = dialogauge("learn", "run", "--tasks", talks, *ON_POLICY, "--batch", 4)
    assert (other.code, "holds answers with batch 3, not 4" in other.err) == (2, True)


def test_a_step_goes_on_without_a_dialogue_that_failed(dialogauge, talks, words, tmp_path):
    seen = words("Where did Ben")
    command = ("learn", "run", "--tasks", talks, "--system", "py:words:Words", "--no-controls", *ON_POLICY)
    command = (*command[:-4], "--batch", 8, "-o", "run")  # all that teach, in each step
    assert dialogauge(*command, "--max-failed", 1).code == 0
    first = {r["conversation_id"]: r for r in rows_of(tmp_path / "run")}
    failed = [row for row in led(first.values()) if row["failure"]]
    assert [row["conversation_id"] for row in failed] == ["a-4@1", "a-4@2"]
    assert "not now" in failed[0]["failure"]["message"]
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert "Words: no memory took in what failed. The first: " in page
    events = [json.loads(line) for line in seen.read_text().splitlines()]
    assert {what["id"] for kind, what in events if kind == "add" and "@" in what["id"]} == {
        name_of(row) for row in led(first.values()) if not row["failure"]
    }
    words()
    assert dialogauge(*command, "--max-failed", 1).code == 0
    assert {r["conversation_id"]: r for r in rows_of(tmp_path / "run")} == first
    done = dialogauge(*command, "--retry-failed")
    assert done.code == 0, done.err
    second = {r["conversation_id"]: r for r in rows_of(tmp_path / "run")}
    assert not any(row["failure"] for row in second.values())
    # What was asked before the first step, and its other dialogues, stood on none of them.
    stood = {
        id
        for id in first
        if id.endswith("@0") or (id.endswith("@1") and id in map(name_of, led(first.values())))
    }
    assert {id for id in first if first[id] == second[id]} == stood - {"a-4@1"}


def name_of(row):
    return row["conversation_id"]


def test_dialogues_that_break_off_go_on_and_are_a_log_meanwhile(dialogauge, desk, serve, tmp_path):
    stub = serve(answer)
    command = ("learn", "dialogues", "--tasks", desk, *roles(stub), "--max-concurrency", 1, "--no-cache")
    command += ("-o", "run")
    done = dialogauge(*command, "--max-calls", 14)
    assert done.code == 1
    assert "run.db" not in done.err
    part = (tmp_path / "run" / "logs.jsonl").read_text().splitlines()
    assert 0 < len(part) < 8
    before = len(stub.asked)
    assert dialogauge(*command).code == 0
    whole = (tmp_path / "run" / "logs.jsonl").read_text().splitlines()
    assert (len(whole), whole[: len(part)]) == (8, part)
    again = json.dumps(stub.asked[before:])
    asked_again = [json.loads(row)["input_prompt"] in again for row in whole]
    assert asked_again == [n >= len(part) for n in range(8)]


def test_logs_of_no_memory_are_for_all_and_the_evidence_is_there_behind_them(dialogauge, talks):
    assert dialogauge("learn", "dialogues", "--tasks", talks, "-o", "logs").code == 0
    done = dialogauge(
        *("learn", "run", "--tasks", talks, "--logs", "logs", "-o", "run", "--json"),
        *("--system", "none", "--system", "bm25-message"),
    )
    assert done.code == 0, done.err
    systems = {s["name"]: s["recall"]["value"] for s in done.json["sets"][0]["systems"]}
    assert systems["oracle"] == 1.0
    assert done.json["costs"]["bm25-message"]["dialogues"] == 8 + 8 + 4  # once for each corpus, with its own


def test_what_plays_no_part_is_refused(dialogauge, talks):
    for words in (("--control", "shuffled"), ("--role", "simulator=m@http://127.0.0.1:1/v1")):
        done = dialogauge("learn", "run", "--tasks", talks, *words, "-o", "run")
        assert done.code == 2
    assert dialogauge("learn", "run", "--tasks", talks, "-o", "run").code == 0
    done = dialogauge("learn", "run", "--tasks", talks, "--logs", "run", "-o", "other")
    assert done.code == 2
    assert "is a run, and none of `learn dialogues`" in done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--action", "copy"), "--protocol off-policy does not use --action (leave --action out, or give "),
        (("--steps", 3), "--protocol off-policy does not use --steps"),
        (("--batch", 3), "--protocol off-policy does not use --batch"),
        (("--rounds", 3), "(leave --rounds out, or give --protocol on-policy)"),
        (("--protocol", "stepwise", "--steps", 3), "--protocol stepwise does not use --steps"),
        (("--role", "embedder=m@http://127.0.0.1:1/v1"), "no system asks the role embedder (leave --role "),
        (("--role", "memory=m@http://127.0.0.1:1/v1"), "no system asks the role memory"),
        (
            ("--protocol", "on-policy", "--role", "judge=m@http://127.0.0.1:1/v1"),
            "no task asks the role judge: users of LoCoMo and DialSim have fixed words",
        ),
    ],
)
def test_an_option_that_plays_no_part_is_refused(dialogauge, talks, words, message):
    done = dialogauge("learn", "run", "--tasks", talks, *words, "-o", "run")
    assert done.code == 2
    assert message in done.err


def test_dialogues_without_a_task_that_teaches_are_refused(dialogauge, talks, log):
    alone = log(corpus(*WHO[0]), tasks(*WHO[0])[0], name="alone.jsonl")
    logs = log({"messages": [{"role": "user", "content": "Hello?"}]}, name="logs.jsonl")
    for words, message in (
        (("--tasks", alone), "no task is left to teach"),
        (("--tasks", talks, "--logs", logs), "no task is left to teach"),
        (("--tasks", talks, "--logs", logs, "--part", "all"), "leave --logs out, or --part all"),
    ):
        done = dialogauge("learn", "dialogues", *words, "-o", "run")
        assert (done.code, message in done.err) == (2, True)


def test_the_effect_of_feedback_has_no_systems(dialogauge, talks):
    assert dialogauge("learn", "dialogues", "--tasks", talks, "-o", "logs").code == 0
    command = ("learn", "run", "--tasks", talks, "--logs", "logs", "--protocol", "feedback-effect")
    for words, message in (
        (("--system", "full"), "leave --system out"),
        (("--role", "embedder=file:folder"), "asks no embedder"),
    ):
        done = dialogauge(*command, *words, "-o", "run")
        assert (done.code, message in done.err) == (2, True)


def test_dialogues_are_logs_that_systems_learn_from(dialogauge, talks, tmp_path):
    done = dialogauge("learn", "dialogues", "--tasks", talks, "--system", "bm25-message", "-o", "dialogues")
    assert done.code == 0, done.err
    lines = [json.loads(line) for line in (tmp_path / "dialogues" / "logs.jsonl").read_text().splitlines()]
    assert len(lines) == 8
    shown = dialogauge("show", "dialogues", rows_of(tmp_path / "dialogues")[0]["conversation_id"])
    assert shown.code == 0, shown.err
    assert "What the user made of each reply" in shown.out
    assert "What was recalled" not in shown.out
    assert all(len(row["dialog_bm25-message"]) <= 6 for row in lines)
    done = dialogauge(
        *("learn", "run", "--tasks", talks, "--logs", "dialogues", "--system", "bm25-message"),
        *("--no-controls", "-o", "run", "--json"),
    )
    assert done.code == 0, done.err
    assert done.json["sets"][0]["systems"][0]["asked"] == 2
    assert done.json["costs"]["bm25-message"]["dialogues"] == 8 + 8 + 4


def test_the_same_question_is_asked_with_its_own_dialogue_another_one_and_none(dialogauge, talks, tmp_path):
    assert (
        dialogauge("learn", "dialogues", "--tasks", talks, "--system", "bm25-message", "-o", "logs").code == 0
    )
    command = (
        "learn",
        "run",
        "--tasks",
        talks,
        "--logs",
        "logs",
        "--protocol",
        "feedback-effect",
        "-o",
        "run",
    )
    done = dialogauge(*command)
    assert done.code == 0, done.err
    rows = rows_of(tmp_path / "run")
    by = {c: [r for r in rows if r["details"]["condition"] == c] for c in ("without", "own", "other")}
    assert {c: len(of) for c, of in by.items()} == {"without": 8, "own": 8, "other": 8}
    own = {r["conversation_id"]: r["details"]["retrieved"][0][0].partition("@")[0] for r in by["own"]}
    other = {r["conversation_id"]: r["details"]["retrieved"][0][0].partition("@")[0] for r in by["other"]}
    assert all(id == name.partition("/")[0] for id, name in own.items())
    assert all(id != name.partition("/")[0] for id, name in other.items())
    assert sorted(other.values()) == sorted(own.values())  # each of them once
    assert {r["details"]["logs_of"] for r in by["own"]} == {"bm25-message"}


def test_of_an_action_only_the_dialogues_with_it_are_learnt(dialogauge, talks, tmp_path):
    desk = ("learn", "run", "--no-controls")
    desk += ("--system", "bm25-session", "--protocol", "action", "--json", "-o")
    counts = {}
    for action in ("like", "copy"):
        done = dialogauge(
            *desk, action, "--action", action, *("--tasks", "support-desk", "--logs", "support-desk")
        )
        assert done.code == 0, done.err
        counts[action] = done.json["costs"]["bm25-session"]["dialogues"]
    assert 0 < counts["copy"] < counts["like"] < 115
    dialogauge("learn", "dialogues", "--tasks", talks, "-o", "logs")
    done = dialogauge(*desk, "none", "--tasks", talks, "--logs", "logs", "--action", "copy")
    assert done.code == 2
    assert "no dialogue of 8 dialogues has the action copy" in done.err


def test_what_is_masked_is_masked_before_a_memory_sees_it(dialogauge, log, words, tmp_path):
    seen = words()
    call = {"role": "user", "content": "Call me at 13800138000."}
    dialog = [call, {"role": "assistant", "content": "I call 13800138000."}]
    about = {"test_idx": 1, "task_id": "t1", "dataset_name": "mine", "lang": "en", "info": {"answer": "yes"}}
    row = {**about, "input_prompt": call["content"], "dialog": dialog}
    asked = {**about, "test_idx": 2, "task_id": "t2", "input_prompt": "Whose is 13900139000?"}
    tasks_file = log(row, asked, name="tasks.jsonl")
    command = ("learn", "run", "--tasks", tasks_file, "--logs", tasks_file, "--system", "py:words:Words")
    assert dialogauge(*command, "--redact", "-o", "run").code == 0
    text = seen.read_text()
    assert "[phone]" in text
    assert "13800138000" not in text
    assert "13900139000" not in text


def test_what_a_run_leads_itself_is_masked_before_a_memory_sees_it(dialogauge, log, serve, words):
    seen, stub = words(), serve("Call 13800138000.")
    rows = [json.dumps(row, ensure_ascii=False) for row in (corpus(*WHO[0]), *tasks(*WHO[0]))]
    said = [rows[0].replace("cello", "13700137000"), *(row.replace("Ben", "13900139000") for row in rows[1:])]
    assert "13700137000" in said[0]
    assert all("13900139000" in row for row in said[1:])  # those that teach, and the one that is asked
    tasks_file = log(*map(json.loads, said), name="tasks.jsonl")
    command = ("learn", "run", "--tasks", tasks_file, "--system", "py:words:Words", "--no-controls")
    command += ("--protocol", "on-policy", "--steps", 2, "--batch", 4, "--role", f"answerer=m@{stub.url}")
    assert dialogauge(*command, "--redact", "-o", "run").code == 0
    text = seen.read_text()
    assert "Call [phone]." in text
    assert not any(number in text for number in ("13800138000", "13900139000", "13700137000"))


def test_what_is_right_is_masked_as_well_as_what_is_asked(dialogauge, log, tmp_path):
    said = corpus(*WHO[0])
    said["sessions"][0]["messages"][0]["text"] = "My number is 13800138000."
    rows = [task("a", n, f"Whose is 1380013800{n}?", f"1380013800{n} of Ben", "D1:1") for n in range(2)]
    nowhere = {"category": 5, "adversarial_answer": "13900139000", "evidence": ["D1:1"]}
    tasks_file = log(said, *rows, {**rows[1], "id": "a-5", "v": nowhere}, name="tasks.jsonl")
    command = ("--tasks", tasks_file, "--redact")
    assert dialogauge("learn", "dialogues", *command, "--part", "all", "-o", "led").code == 0
    logs = (tmp_path / "led" / "logs.jsonl").read_text()
    assert '"answer": "[phone] of Ben"' in logs
    done = dialogauge("learn", "run", *command, "--options", "-o", "run", "--json")
    assert done.code == 0, done.err
    systems = {s["name"]: s["recall"]["value"] for s in done.json["sets"][0]["systems"]}
    assert systems["oracle"] == 1.0  # the evidence of a question stands under the masked one
    shown = dialogauge("show", "run", "a-0").out + dialogauge("show", "run", "a-5").out
    assert "Right answer: [phone] of Ben" in shown
    assert not any(number in logs + shown for number in ("13800138000", "13800138001", "13900139000"))


def test_ids_of_logs_are_replaced_before_a_memory_sees_them(dialogauge, talks, log, words, tmp_path):
    seen = words()
    talk = [{"role": "user", "content": "A goat?"}, {"role": "assistant", "content": "A goat."}]
    logs = log({"id": "customer-4711", "messages": talk}, name="logs.jsonl")
    command = ("learn", "run", "--tasks", talks, "--logs", logs, "--system", "py:words:Words", "--hash-ids")
    assert dialogauge(*command, "-o", "run").code == 0
    assert '"id": "c_' in seen.read_text()
    assert "4711" not in seen.read_text() + (tmp_path / "run" / "judgements.jsonl").read_text()


# A model in every role

SECRETS = ("zanthorpe", "quillivant", "mordecray", "vextulane")


def planted(number):
    """A task of a data set whose user a model plays, with words in every part of its record."""
    gold = {"answer": f"It is {SECRETS[0]} of the {number} rules.", "criteria": [f"names the {SECRETS[1]}"]}
    gold |= {"checklist": [f"says {SECRETS[2]}"], "note": SECRETS[3]}
    q = f"What is the rule for parcel {number} of the desk?"
    return {"id": f"p{number}", "dataset": "mine", "q": q, "v": gold}


@pytest.fixture
def desk(log):
    return log(*map(planted, range(10)), name="desk.jsonl")


def roles(stub):
    return ("--role", f"answerer=m@{stub.url}", "--role", f"simulator=m@{stub.url}")


def is_asked_as_a_model(body):
    return "response_format" not in body


def test_no_word_of_a_record_reaches_a_system_or_its_memory(dialogauge, desk, serve, words, tmp_path):
    stub, seen = serve(answer), words()
    command = ("learn", "run", "--tasks", desk, "--system", "py:words:Words", *ON_POLICY, *roles(stub))
    done = dialogauge(*command)
    assert done.code == 0, done.err
    of_system = [json.dumps(body) for body in filter(is_asked_as_a_model, stub.asked)]
    of_user = [json.dumps(body) for body in stub.asked if not is_asked_as_a_model(body)]
    assert len(of_system) > 10
    assert any(SECRETS[0] in text for text in of_user)  # who plays the user knows it
    for text in (*of_system, seen.read_text()):
        assert not any(secret in text for secret in SECRETS)
    assert not any(row["details"]["leaked"] for row in led(rows_of(tmp_path / "run")))


def test_a_user_who_blurts_out_the_answer_is_counted(dialogauge, desk, serve, tmp_path):
    def blurts(body):
        if body.get("response_format", {}).get("json_schema", {}).get("name") == "user":
            said = f"No, it is {SECRETS[0]} of the house."
            return json.dumps({"reasoning": "So.", "behaviour": "continue", "response": said})
        return answer(body)

    stub = serve(blurts)
    done = dialogauge("learn", "dialogues", "--tasks", desk, "--rounds", 2, *roles(stub), "-o", "run")
    assert done.code == 0, done.err
    rows = rows_of(tmp_path / "run")
    assert [row["details"]["leaked"] != [] for row in rows] == [True] * 8


def test_a_run_of_dialogues_that_breaks_off_ends_as_one_that_does_not(dialogauge, desk, serve, tmp_path):
    stub = serve(answer)
    command = ("learn", "run", "--tasks", desk, "--system", "bm25-message", *ON_POLICY[:-1])
    command = (*command, "whole", *roles(stub), "--max-concurrency", 1)
    assert dialogauge(*command).code == 0
    paid = len(stub.asked)
    (tmp_path / "cache").rename(tmp_path / "first-cache")
    command = tuple("parts" if word == "whole" else word for word in command)
    broke_off = 0
    while dialogauge(*command, "--max-calls", 12).code:
        broke_off += 1
    assert 3 < broke_off < paid
    assert rows_without_times(tmp_path / "parts") == rows_without_times(tmp_path / "whole")
    assert len(stub.asked) == 2 * paid


def test_a_retry_that_breaks_off_leaves_nothing_that_stands_on_what_failed(dialogauge, desk, serve, tmp_path):
    def refuses(body):
        silent = is_asked_as_a_model(body) and "parcel 3 " in json.dumps(body["messages"])
        return "" if silent and not healed else answer(body)

    healed, stub = [], serve(refuses)
    command = ("learn", "run", "--tasks", desk, "--system", "bm25-message", "--no-controls", *ON_POLICY[:-1])
    command = (*command, "parts", *roles(stub), "--max-concurrency", 1, "--batch", 8, "--rounds", 1)
    assert dialogauge(*command, "--max-failed", 1).code == 0
    failed = [name_of(row) for row in rows_of(tmp_path / "parts") if row["failure"]]
    assert failed == ["p3@1", "p3@2"]
    healed.append(True)
    assert dialogauge(*command, "--retry-failed", "--max-calls", 1).code == 1  # the dialogue of step 1
    assert dialogauge(*command, "--retry-failed").code == 0
    assert dialogauge(*("whole" if word == "parts" else word for word in command)).code == 0
    assert rows_without_times(tmp_path / "parts") == rows_without_times(tmp_path / "whole")
