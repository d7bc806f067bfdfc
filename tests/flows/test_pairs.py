"""Training rows from a judged log, in the form that TRL's trainers read."""

from __future__ import annotations

import json

import pytest

from dialogauge.training.row_files import read_pair_file
from servers.faults import FaultPlan


@pytest.fixture
def judged(dialogauge, log, talk, tmp_path, once):
    """A run over one good conversation and one whose second reply is cut off."""
    whole = "It opens at nine on every day but Monday, and the cafe opens an hour later."
    cut = "It opens at nine on every day but Mon"
    bad = talk("bad", whole, cut, "Sorry for the loop: on Sundays museum bad opens at ten.")
    bad["messages"][3]["corrected"] = "On Sundays it opens at ten."
    good = talk("good", "Museum good opens at nine in the morning.")
    once("pairs-judged", lambda: dialogauge("judge", log(good, bad), "-o", "run"))
    return tmp_path / "run"


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_dpo_with_the_users_own_column(dialogauge, judged, tmp_path):
    done = dialogauge("pairs", "run", "-o", "dpo.jsonl", "--chosen-field", "corrected", "--unchecked")
    assert done.code == 0, done.err
    (row,) = lines(tmp_path / "dpo.jsonl")
    assert list(row) == ["unchecked", "prompt", "chosen", "rejected"]
    assert [m["role"] for m in row["prompt"]] == ["user", "assistant", "user"]
    assert row["chosen"] == [{"role": "assistant", "content": "On Sundays it opens at ten."}]
    assert row["rejected"][0]["content"].startswith("It opens at nine")
    (source,) = lines(tmp_path / "dpo.provenance.jsonl")
    assert (source["conversation_id"], source["turn"], source["judge"]) == ("bad", 2, "local")
    assert source["issues"] == ["Stops in the middle."]
    assert "1 left out: no weakest turn" in done.out


def test_dpo_with_a_reply_repaired_over_http(dialogauge, judged, serve, tmp_path):
    stub = serve('{"reply": "On Sundays it opens at ten."}')
    words = ("--model", "m", "--base-url", stub.url, "--unchecked")
    done = dialogauge("pairs", "run", "-o", "dpo.jsonl", *words)
    assert done.code == 0, done.err
    (row,) = lines(tmp_path / "dpo.jsonl")
    assert row["chosen"][0]["content"] == "On Sundays it opens at ten."
    asked = json.dumps(stub.asked[-1]["messages"])
    assert "Stops in the middle." in asked  # the judge's findings are shown
    assert "Sorry for the loop" not in asked  # nothing after the fork is


def test_a_dry_run_says_what_better_replies_would_take(dialogauge, judged, serve, tmp_path):
    (tmp_path / "prices.toml").write_text(
        '[[model]]\nname = "m"\ninput_per_million = 3\noutput_per_million = 20\n'
    )
    stub = serve('{"reply": "On Sundays it opens at ten."}')
    words = ("pairs", "run", "-o", "dpo.jsonl", "--model", "m", "--base-url", stub.url, "--unchecked")
    planned = dialogauge(*words, "--dry-run", "--prices", "prices.toml")
    assert planned.code == 0, planned.err
    assert "would write 1 row: dpo.jsonl" in planned.out
    assert "1 call: about " in planned.out
    assert " and 500 of replies; about 0.0" in planned.out
    assert "later prompts" not in planned.out
    assert stub.requests == []
    assert not (tmp_path / "dpo.jsonl").exists()
    assert dialogauge(*words).code == 0
    (asked,) = stub.asked
    tokens = sum(len(m["content"].encode()) for m in asked["messages"]) / 3
    assert f"about {round(tokens, -1):,.0f} tokens of prompts" in planned.out
    free = dialogauge("pairs", "run", "--kind", "kto", "-o", "kto.jsonl", "--dry-run", "--unchecked")
    assert "would write" in free.out
    assert "call" not in free.out
    assert not (tmp_path / "kto.jsonl").exists()


def test_a_repair_that_fails_leaves_its_pair_out(dialogauge, judged, serve, tmp_path):
    stub = serve("no json", schema="ignore", faults=FaultPlan(always="prose"))
    words = ("--model", "m", "--base-url", stub.url, "--unchecked")
    done = dialogauge("pairs", "run", "-o", "dpo.jsonl", *words)
    assert lines(tmp_path / "dpo.jsonl") == []
    assert "no better reply" in done.out
    assert done.code == 3


def test_dpo_needs_a_better_reply(dialogauge, judged):
    done = dialogauge("pairs", "run", "-o", "dpo.jsonl")
    assert done.code == 2
    assert "--chosen-field" in done.err


def test_kto_labels_each_clear_turn(dialogauge, judged, tmp_path):
    done = dialogauge("pairs", "run", "-o", "kto.jsonl", "--kind", "kto", "--unchecked")
    assert done.code == 0
    rows = lines(tmp_path / "kto.jsonl")
    assert done.out.startswith("UNCHECKED: nothing shows that these scores agree with people")
    assert f"Such scores made {len(rows)} rows." in done.out.splitlines()[0]
    assert all(list(row) == ["unchecked", "prompt", "completion", "label"] for row in rows)
    assert {next(iter(source.items())) for source in lines(tmp_path / "kto.provenance.jsonl")} == {
        ("unchecked", True)
    }
    labels = {row["prompt"][-1]["content"]: row["label"] for row in rows}
    assert labels["Question 2: when does museum bad open?"] is False
    assert labels["Question 1: when does museum good open?"] is True


def test_sft_takes_conversations_above_a_verdict(dialogauge, judged, tmp_path):
    assert dialogauge("pairs", "run", "-o", "sft.jsonl", "--kind", "sft", "--unchecked").code == 0
    (row,) = lines(tmp_path / "sft.jsonl")
    assert set(row) == {"unchecked", "messages"}
    assert "good" in row["messages"][0]["content"]


def test_active_names_the_lowest_first(dialogauge, judged, tmp_path):
    words = ("pairs", "run", "-o", "active.jsonl", "--kind", "active", "--limit", 1)
    assert dialogauge(*words).code == 0
    (row,) = lines(tmp_path / "active.jsonl")
    assert (row["conversation_id"], row["reason"], row["weakest_turn"]) == ("bad", "lowest", 2)


@pytest.mark.parametrize("words", [("--kind", "ppo"), ("--to", "peft"), ("--min-verdict", "superb")])
def test_unknown_choices(dialogauge, judged, words):
    assert dialogauge("pairs", "run", "-o", "x.jsonl", *words).code == 2


def test_rows_with_tools_are_as_chat_templates_take_them(dialogauge, log, tmp_path):
    calls = [
        {"id": str(n), "type": "function", "function": {"name": "find", "arguments": arguments}}
        for n, arguments in enumerate(('{"day": "Sunday"}', ""))
    ]
    tool = {"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}
    record = {
        "conversation_id": "a",
        "tools": [tool],
        "messages": [
            {"role": "user", "content": "When does the museum open on Sunday?"},
            {"role": "assistant", "content": None, "tool_calls": calls},
            *({"role": "tool", "tool_call_id": str(n), "content": "ten"} for n in range(2)),
            {"role": "assistant", "content": "On Sunday the museum opens at ten."},
            {"role": "user", "content": "Thanks, that is what I needed!"},
        ],
    }
    dialogauge("judge", log(record), "-o", "run")
    words = ("--min-verdict", "poor", "--unchecked")
    done = dialogauge("pairs", "run", "--kind", "sft", *words, "-o", "sft.jsonl")
    (row,) = lines(tmp_path / "sft.jsonl")
    assert json.loads(row["tools"]) == [tool]
    found = [call["function"]["arguments"] for call in row["messages"][1]["tool_calls"]]
    assert found == [{"day": "Sunday"}, {}]
    assert done.code == 0


def test_tools_of_different_types_load_as_one_column(dialogauge, log, talk, tmp_path):
    """As `datasets` read columns before 4.7: by Arrow, with one type each."""
    again = "It opens at nine on every day but Monday, and the cafe opens an hour later."
    records = []
    for name, default in (("a", 9), ("b", "nine")):
        properties = {"time": {"type": "string", "default": default}, name: {"type": "string"}}
        function = {"name": name, "parameters": {"type": "object", "properties": properties}}
        records.append(talk(name, again, again) | {"tools": [{"type": "function", "function": function}]})
    assert dialogauge("judge", log(*records), "-o", "run").code == 0
    words = ("--min-verdict", "poor", "--unchecked", "-o", "sft.jsonl")
    assert dialogauge("pairs", "run", "--kind", "sft", *words).code == 0
    table = pytest.importorskip("pyarrow.json").read_json(tmp_path / "sft.jsonl")
    assert [json.loads(tools) for tools in table["tools"].to_pylist()] == [r["tools"] for r in records]
    read = list(read_pair_file(tmp_path / "sft.jsonl"))  # as `tune` reads it
    assert [list(row.tools) for row in read] == [r["tools"] for r in records]


def test_a_file_of_rows_has_one_type_in_each_column(dialogauge, log, talk, tmp_path):
    call = {"id": "1", "type": "function", "function": {"name": "find", "arguments": "day=Sunday"}}
    again = "It opens at nine on every day but Monday, and the cafe opens an hour later."
    odd, media, texts = (talk(name, again, again, better="At ten.") for name in ("odd", "media", "texts"))
    odd["messages"][1:1] = [{"role": "assistant", "content": None, "tool_calls": [call]}]
    odd["messages"][2:2] = [{"role": "tool", "tool_call_id": "1", "content": "ten"}]
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    for record, more in ((media, image), (texts, {"type": "text", "text": "more"})):
        record["messages"][1]["content"] = [{"type": "text", "text": again}, more]
    assert dialogauge("judge", log(odd, media, texts), "-o", "run").code == 0
    for words in (("dpo", "--chosen-field", "better"), ("kto",), ("sft", "--min-verdict", "poor")):
        done = dialogauge("pairs", "run", "--kind", *words, "-o", "rows.jsonl", "--unchecked")
        rows = lines(tmp_path / "rows.jsonl")
        assert rows, words
        assert len(rows) == len(lines(tmp_path / "rows.provenance.jsonl"))
        assert "left out: images or other parts that are no text" in done.out
        assert "left out: a tool call with arguments that are no JSON object" in done.out
        messages = [m for row in rows for column in row.values() if isinstance(column, list) for m in column]
        assert all(isinstance(m["content"], str) for m in messages)


def rated_log(log, talk, *, score, n=60):
    """Make conversations whose turns a person rated by `score(number, turn)`; None leaves one out."""
    records = []
    for number in range(n):
        again = f"It opens at nine on every day but Monday, and hall {number} opens an hour later."
        replies = [again, again if number % 3 else f"The cafe of hall {number} opens at ten.", "By bus 4."]
        record = talk(f"c{number}", *replies, user_id=f"u{number % 12}")
        for turn in (1, 2, 3):
            if (given := score(number, turn)) is not None:
                record["messages"][2 * turn - 1]["satisfaction"] = given
        records.append(record)
    return log(*records)


def test_kto_labels_are_peoples_ratings_and_the_balance_is_said(dialogauge, log, talk, tmp_path):
    path = rated_log(log, talk, score=lambda n, t: 2 if (n + t) % 4 == 0 else 5)
    dialogauge("judge", path, "-o", "run")
    done = dialogauge("pairs", "run", "--kind", "kto", "-o", "kto.jsonl")
    rows, sources = lines(tmp_path / "kto.jsonl"), lines(tmp_path / "kto.provenance.jsonl")
    assert done.code == 0, done.err
    assert len(rows) == 180
    assert all(row["label"] == (source["rating"] == 5) for row, source in zip(rows, sources, strict=True))
    assert {source["source"] for source in sources} == {"people"}
    assert "135 desirable by people's ratings 45 undesirable by people's ratings" in done.unwrapped
    assert "people's ratings come first (satisfaction of 180 turns, 3 or less is bad)" in done.unwrapped


@pytest.mark.parametrize(
    "words",
    [
        ("--kind", "kto"),
        ("--kind", "sft"),
        ("--chosen-field", "corrected"),
        ("--model", "m", "--base-url", "URL"),
    ],
)
def test_no_rows_are_made_of_the_word_of_a_judge_that_nobody_checked(
    dialogauge, judged, serve, tmp_path, words
):
    stub = serve('{"reply": "On Sundays it opens at ten."}')
    words = [stub.url if word == "URL" else word for word in words]
    done = dialogauge("pairs", "run", "-o", "rows.jsonl", *words)
    assert done.code == 2
    assert "would rest on a judge that is not checked: nobody rated these conversations" in done.err
    assert all(way in done.err for way in ("--unchecked", "judge LOG --ratings FOLDER", "pairs FOLDER"))
    assert (stub.asked, (tmp_path / "rows.jsonl").exists()) == ([], False)


@pytest.mark.long
def test_rows_of_a_judge_that_people_contradicted_are_left_out_and_counted(dialogauge, log, talk, tmp_path):
    def score(number, turn):
        return None if turn == 3 and number % 2 else (number * 7 + turn * 5) % 5 + 1

    dialogauge("judge", rated_log(log, talk, score=score, n=300), "-o", "run")
    light = json.loads((tmp_path / "run" / "summary.json").read_text())["people"]["light"]
    assert light["answer"] == "does not"
    words = ("pairs", "run", "--kind", "kto", "-o", "kto.jsonl")
    done = dialogauge(*words)
    assert done.code == 0
    assert {source["source"] for source in lines(tmp_path / "kto.provenance.jsonl")} == {"people"}
    assert "150 left out: rests on a judge that is not checked (--unchecked takes it)" in done.unwrapped
    assert "whether the judge agrees with people: does not" in done.unwrapped
    done = dialogauge(*words, "--unchecked")
    assert done.code == 0
    assert "by the judge" in done.out
    rows, sources = lines(tmp_path / "kto.jsonl"), lines(tmp_path / "kto.provenance.jsonl")
    assert all(
        ("unchecked" in row) == (source["source"] == "judge")
        for row, source in zip(rows, sources, strict=True)
    )
    # what rests on people's ratings alone needs no judge
    assert dialogauge("pairs", "run", "--kind", "sft", "-o", "sft.jsonl").code == 0
    done = dialogauge("pairs", "run", "--kind", "active", "-o", "active.jsonl")
    assert (done.code, (tmp_path / "active.jsonl").exists()) == (2, False)
    assert "no row of the kind active can be written: 300 left out: people rated it already" in done.err


def test_a_judge_that_is_checked_labels_what_people_did_not_rate(dialogauge, log, talk, tmp_path):
    def score(number, turn):
        return None if number % 5 == 0 else 1 if turn == 2 and number % 3 else 5

    dialogauge("judge", rated_log(log, talk, score=score, n=120), "-o", "run")
    evidence = json.loads((tmp_path / "run/summary.json").read_text())["evidence"]["dimensions"]
    assert any(evidence[name]["checked"] for name in ("context_use", "helpfulness"))
    done = dialogauge("pairs", "run", "--kind", "kto", "-o", "kto.jsonl")
    assert done.code == 0, done.err
    assert "UNCHECKED" not in done.out
    sources = lines(tmp_path / "kto.provenance.jsonl")
    assert {source["source"] for source in sources} == {"people", "judge"}
    assert not any("unchecked" in row for row in [*sources, *lines(tmp_path / "kto.jsonl")])


@pytest.mark.long
def test_weak_turns_by_the_word_of_a_judge_that_people_contradicted_are_not_paid_for(
    dialogauge, log, talk, serve, tmp_path
):
    def score(number, turn):
        return None if number % 3 == 1 else (number * 7 + turn * 5) % 5 + 1

    dialogauge("judge", rated_log(log, talk, score=score, n=300), "-o", "run")
    done = dialogauge("pairs", "run", "-o", "dpo.jsonl", "--chosen-field", "better")
    assert done.code == 2
    assert "all 100 rows would rest on a judge that is not checked" in done.err
    assert not (tmp_path / "dpo.jsonl").exists()
    stub = serve('{"reply": "On Sundays it opens at ten."}')
    done = dialogauge("pairs", "run", "-o", "dpo.jsonl", "--model", "m", "--base-url", stub.url)
    assert done.code == 0, done.err
    sources = lines(tmp_path / "dpo.provenance.jsonl")
    assert {source["source"] for source in sources} == {"people"}
    assert len(stub.asked) == len(sources)
    assert "100 left out: rests on a judge that is not checked" in done.unwrapped


def test_labels_follow_the_ratings_that_say_who_was_dissatisfied(dialogauge, log, talk, tmp_path):
    records = []
    for number in range(12):
        record = talk(f"c{number}", "It opens at nine.", user_id=f"u{number}")
        record["messages"][1]["ratings"] = {
            "satisfaction": "fine" if number % 2 else "so",
            "tone": 1 + number % 5,
        }
        records.append(record)
    dialogauge("judge", log(*records), "-o", "run")
    assert dialogauge("pairs", "run", "--kind", "kto", "-o", "kto.jsonl").code == 0
    assert [row["label"] for row in lines(tmp_path / "kto.jsonl")] == [1 + n % 5 > 3 for n in range(12)]


def test_conversations_that_people_disliked_are_not_to_be_followed(dialogauge, log, talk, tmp_path):
    dialogauge("judge", rated_log(log, talk, score=lambda n, _: 5 if n % 2 else 1), "-o", "run")
    done = dialogauge("pairs", "run", "--kind", "sft", "-o", "sft.jsonl")
    assert len(lines(tmp_path / "sft.jsonl")) == 30
    assert "30 left out: people were dissatisfied" in done.unwrapped


def test_rated_replies_to_the_same_question_are_pairs_without_a_model(dialogauge, log, talk, tmp_path):
    records = [talk("same", reply, candidate=reply[:1]) for reply in ("At nine.", "Who knows?")]
    for record, score in zip(records, (5, 2), strict=True):
        record["messages"][1]["rating"] = score
        record["conversation_id"] += record["candidate"]
    dialogauge("judge", log(*records), "-o", "run")
    done = dialogauge("pairs", "run", "-o", "dpo.jsonl")
    assert done.code == 0, done.err
    (row,) = lines(tmp_path / "dpo.jsonl")
    assert (row["chosen"][0]["content"], row["rejected"][0]["content"]) == ("At nine.", "Who knows?")
    (source,) = lines(tmp_path / "dpo.provenance.jsonl")
    assert (source["source"], source["chosen_from"]) == ("people", "people's ratings")
    assert (source["conversation_id"], source["chosen_conversation_id"]) == ("sameW", "sameA")
    assert "1 rejected by people's ratings" in done.unwrapped
    # what is a pair already is none once more
    for record in records:
        record["better"] = "At nine every day."
    dialogauge("judge", log(*records), "-o", "run")
    assert dialogauge("pairs", "run", "-o", "dpo.jsonl", "--chosen-field", "better").code == 0
    assert lines(tmp_path / "dpo.jsonl") == [row]


def test_where_a_low_number_is_the_better_one_the_reply_with_it_is_chosen(dialogauge, log, talk, tmp_path):
    records = [talk(f"same{mark}", reply) for mark, reply in ((1, "At nine."), (5, "Who knows?"))]
    for record in records:
        record["messages"][0]["content"] = "When does it open?"
        record["messages"][1]["rating"] = int(record["conversation_id"][-1])
    dialogauge("judge", log(*records), "--dissatisfied", ">=4", "-o", "run")
    dialogauge("pairs", "run", "-o", "dpo.jsonl")
    (row,) = lines(tmp_path / "dpo.jsonl")
    assert (row["chosen"][0]["content"], row["rejected"][0]["content"]) == ("At nine.", "Who knows?")


def test_a_conversation_that_people_liked_has_no_weak_turn(dialogauge, log, talk, tmp_path):
    dialogauge("judge", rated_log(log, talk, score=lambda *_: 5), "-o", "run")
    done = dialogauge("pairs", "run", "-o", "dpo.jsonl", "--chosen-field", "better")
    assert (done.code, list(tmp_path.glob("dpo*"))) == (2, [])
    assert "no row of the kind dpo can be written: 60 left out: people were satisfied" in done.err
    assert "sft needs verdicts, and dpo weakest turns or ratings" in done.err
    assert dialogauge("pairs", "run", "-o", "dpo.jsonl", "--chosen-field", "better", "--dry-run").code == 2


def test_rows_for_another_trainer_come_with_its_configuration(dialogauge, judged, tmp_path):
    words = ("pairs", "run", "--kind", "sft", "--unchecked")
    written = dialogauge(*words, "-o", "talks.jsonl", "--to", "llamafactory")
    assert written.code == 0
    (row,) = lines(tmp_path / "talks.jsonl")
    assert row["conversations"][0]["from"] == "human"
    assert 'dataset: "talks"' in (tmp_path / "talks.llamafactory.yaml").read_text()
    assert "talks.llamafactory.yaml" in written.unwrapped
    assert len(lines(tmp_path / "talks.provenance.jsonl")) == 1
    refused = dialogauge(*words, "-o", "x.jsonl", "--kind", "dpo", "--to", "verl")
    assert refused.code == 2
    assert "verl takes no dpo rows: verl has no trainer of pairs" in refused.err
    assert not (tmp_path / "x.jsonl").exists()
