"""Public forms of tasks: each is known by its keys, and becomes the same records as a file of ours."""

from __future__ import annotations

import csv
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from dialogauge.core import FileFault, RecordFault
from dialogauge.data.tasks import TaskRecord, read_tasks, unlike_published
from dialogauge.data.tasks.datasets import FORMS
from fuzzing.seeds import PUBLIC_TASKS

MEMBENCH = Path(os.environ.get("DIALOGAUGE_SHARED", "")) / "data" / "membench"


def rows(path, *values):
    path.write_text("".join(json.dumps(v) + "\n" for v in values), encoding="utf-8")
    return str(path)


def table(path, *values):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(values[0]))
        writer.writeheader()
        writer.writerows(values)
    return str(path)


def test_there_is_a_row_of_each_form():
    assert PUBLIC_TASKS.keys() == FORMS.keys()


@pytest.mark.parametrize(
    ("form", "file", "id", "question", "gold", "language"),
    [
        ("MemoryBench", "a.jsonl", "HelloBench-A.K.-QA/#4", "Why do bells ring?",
         {"checklist": [{"checklist_id": 0, "checklist_content": "Is it clear?"}]}, "en"),
        ("HelloBench", "chat.jsonl", "HelloBench-C.D./chat_007", "Write of a mill.",
         {"checklist": [{"checklist_id": 0, "checklist_content": "Is there a mill?"}]}, "en"),
        ("WritingBench", "a.jsonl", "WritingBench-P.L./12", "请写一份停水通知，说明原因和时间。",
         {"criteria": [{"name": "Date", "criteria_description": "Is the date there?"}]}, "zh"),
        ("WritingPrompts", "a.jsonl", "WritingPrompts/0", "A lamp that never goes out .",
         {"golden_answer": "It burned on."}, "en"),
        ("NF-CATS", "test.jsonl", "NF-CATS/0", "Why is tea bitter?", {"category": "REASON"}, "en"),
        ("JuDGE", "test.json", "JuDGE/a-1", "被告人盗窃一案。",
         {"golden_answer": "刑事判决书", "law_articles": [264]}, "zh"),
        ("JuDGE by parts", "all.json", "JuDGE/a-2", "被告人盗窃一案。",
         {"golden_answer": "刑事判决书", "law_articles": [264]}, "zh"),
        ("LexEval", "5_4.json", "LexEval-QA/0", "请回答：何为合同？",
         {"golden_answer": "合同是协议。"}, "zh"),
        ("LexEval", "5_3.json", "LexEval-5_3/0", "请回答：何为合同？",
         {"golden_answer": "合同是协议。"}, "zh"),
        ("SciTechNews", "test.json", "JRE-L/n1", "Of light\nLeaves turn to light.",
         {"title": "Plants look up", "golden_answer": "Plants follow the sun."}, "en"),
    ],
)  # fmt: skip
def test_a_row_becomes_a_task(tmp_path, form, file, id, question, gold, language):
    (task,) = read_tasks(rows(tmp_path / file, PUBLIC_TASKS[form])).tasks
    assert (task.id, task.question, task.gold, task.language) == (id, question, gold, language)
    assert task.dataset == id.rpartition("/")[0]


def test_the_same_rows_come_from_an_array_and_from_a_table(tmp_path):
    row = PUBLIC_TASKS["NF-CATS"]
    (tmp_path / "a.json").write_text(json.dumps([row, row]))
    read = read_tasks(str(tmp_path / "a.json")).tasks
    assert [task.id for task in read] == ["NF-CATS/0", "NF-CATS/1"]
    (task,) = read_tasks(table(tmp_path / "test.csv", row)).tasks
    assert (replace(task, place=None), task.place.line) == (replace(read[0], place=None), 2)


def test_samples_of_hellobench_are_drawn_by_file_and_of_writingbench_by_domain(tmp_path):
    path = rows(tmp_path / "a.jsonl", PUBLIC_TASKS["HelloBench"], PUBLIC_TASKS["WritingBench"])
    assert [task.group for task in read_tasks(path).tasks] == ["chat", "Politics & Law"]


def test_rows_outside_the_subsets_keep_a_name_of_their_own(tmp_path):
    other = PUBLIC_TASKS["HelloBench"] | {"category": "report_write"}
    finance = PUBLIC_TASKS["WritingBench"] | {"domain1": "Finance & Business"}
    read = read_tasks(rows(tmp_path / "a.jsonl", other, finance))
    assert [task.dataset for task in read.tasks] == ["HelloBench", "WritingBench-Finance & Business"]


def test_locomo_with_its_conversation(tmp_path):
    """The answer is a text, ids of evidence are repaired, and what is not there is named."""
    read = read_tasks(rows(tmp_path / "locomo10.json", PUBLIC_TASKS["LoCoMo"]))
    when, who = read.tasks
    assert (when.id, when.corpus, when.evidence) == ("LoCoMo/conv-26-0", "conv-26", ("D1:2", "D1:1"))
    assert when.gold == {
        "category": 2, "category_name": "temporal", "evidence": ["D1:2", "D1:1"], "answer": "2024",
    }  # fmt: skip
    assert (who.gold["category_name"], who.gold["adversarial_answer"]) == ("adversarial", "Ann")
    assert "answer" not in who.gold
    (session,) = read.corpora["conv-26"]
    assert session.metadata == {"date": "10 May 2024"}
    assert [(m.name, m.text, m.extra["id"]) for m in session.messages] == [
        ("Bo", "When did you move?", "D1:1"),
        ("Ann", "Yesterday.", "D1:2"),
    ]


def test_locomo_as_memorybench_publishes_it_has_the_same_tasks(tmp_path):
    conversation = PUBLIC_TASKS["LoCoMo"]
    published = {"dataset_name": "Locomo-0", "lang": "en", "input_prompt": "Below is ...", "test_idx": 0}
    when = published | {
        "origin_question": "When did Ann move?",
        "info": {
            "golden_answer": "2024",
            "category": 2,
            "evidence": [{"dia_id": "D1:2"}, {"dia_id": "D1:1"}],
        },
    }
    who = published | {
        "test_idx": 1,
        "origin_question": "Who sings?",
        "info": str({
            "golden_answer": '{"b": "Not mentioned in the conversation", "a": "Ann"}',
            "category": 5,
            "evidence": [],
        }),
    }  # fmt: skip
    corpus = rows(tmp_path / "Locomo-0.jsonl", {"text": json.dumps(conversation)})
    read = read_tasks(rows(tmp_path / "train.jsonl", when, who), corpus)
    plain = read_tasks(rows(tmp_path / "locomo10.json", conversation))
    assert [(t.id, t.question, t.gold, t.corpus) for t in read.tasks] == [
        (t.id, t.question, t.gold, t.corpus) for t in plain.tasks
    ]
    assert read.corpora == plain.corpora


def test_a_script_of_dialsim_is_a_corpus(tmp_path):
    """Lines are split at the first colon, one without is left out; a blank may follow a header."""
    script = tmp_path / "dialsim_corpus_friends.txt"
    script.write_text(PUBLIC_TASKS["a script or a conversation as text"]["text"])
    asked = PUBLIC_TASKS["MemoryBench"] | {"dataset_name": "DialSim-friends", "info": {"golden_answer": "Bo"}}
    read = read_tasks(rows(tmp_path / "a.jsonl", asked), str(script))
    assert (read.tasks[0].corpus, read.tasks[0].domain, read.tasks[0].form) == (
        "DialSim-friends",
        "Open",
        "LiSo",
    )
    first, second = read.corpora["DialSim-friends"]
    assert [(m.name, m.text, m.extra["id"]) for m in first.messages] == [
        ("Ann", "Hi: you!", "D1:1"),
        ("Bo", "Hi.", "D1:2"),
    ]
    assert (second.metadata["date"], [m.extra["id"] for m in second.messages]) == ("May 1, 2024", ["D2:1"])


def test_longmemeval_has_a_corpus_for_each_question(tmp_path):
    """Sessions stand by date, the assistant stays one where it begins, and the day is told."""
    read = read_tasks(rows(tmp_path / "longmemeval_s.json", PUBLIC_TASKS["LongMemEval"]))
    (task,) = read.tasks
    assert (task.id, task.question) == ("LongMemEval/q7", "Where do I keep the key?")
    assert task.messages[0].text == "Today is 2024/06/01 (Sat) 10:00."
    assert (task.evidence, task.gold["evidence_sessions"]) == (("D2:2",), ["q7/D2"])
    assert [[m.role for m in session.messages] for session in read.corpora["q7"]] == [
        ["user"],
        ["assistant", "user"],
    ]
    assert (read.unknown_evidence, read.corpora["q7"][1].id) == ({}, "q7/D2")


def test_ideabench_takes_three_abstracts_from_the_file_beside_it(tmp_path):
    path = table(tmp_path / "target_papers.csv", PUBLIC_TASKS["IdeaBench"])
    with pytest.raises(FileFault, match=r"this needs filtered_references\.csv"):
        read_tasks(path)
    cited = [{"targetPaperId": "p1", "abstract": text} for text in ("One.", "", "Two.", "Three.", "Four.")]
    table(tmp_path / "filtered_references.csv", {"targetPaperId": "p2", "abstract": "Other."}, *cited)
    (task,) = read_tasks(path).tasks
    assert task.question == "Abstract 1: One.\n\nAbstract 2: Two.\n\nAbstract 3: Three."
    assert task.gold == {"title": "Of leaves", "abstract": "Leaves turn to light."}


def test_a_task_without_its_question_is_left_out_and_counted(tmp_path):
    """A paper of which no reference is there, and a row of ours that says that there is none."""
    table(tmp_path / "filtered_references.csv", {"targetPaperId": "p2", "abstract": "Other."})
    papers = table(tmp_path / "target_papers.csv", PUBLIC_TASKS["IdeaBench"])
    with pytest.raises(FileFault, match="there is no task with a question, 1 without"):
        read_tasks(papers)
    ours = {"id": "1", "dataset": "IdeaBench", "q": None, "v": {"title": "T"}}
    read = read_tasks(papers, rows(tmp_path / "a.jsonl", ours, ours | {"id": "2", "q": "Why?"}))
    assert ([t.id for t in read.tasks], read.without_question) == (["2"], 2)


def test_limitgen_is_a_folder_of_papers_with_what_is_wrong_beside(tmp_path):
    paper = tmp_path / "annotated" / "ablation" / "2401.1v2.json"
    paper.parent.mkdir(parents=True)
    paper.write_text(json.dumps(PUBLIC_TASKS["LimitGen"], indent=1))
    labels = tmp_path / "sections" / "ablation.json"
    labels.parent.mkdir()
    labels.write_text(json.dumps({"2401.1v2": {"element": "x", "ground_truth": "No ablation."}}, indent=1))
    (task,) = read_tasks(str(tmp_path)).tasks
    assert task.id == "LimitGen-Syn/ablation/2401.1v2"
    assert task.question == "Title: Of soil\nAbstract: Soil matters.\n1 Method:\nWe dug."
    assert task.gold == {
        "category": "ablation", "aspect": "experimental design", "ground_truth": "No ablation.",
    }  # fmt: skip


def test_a_broken_row_of_a_public_form_is_named(tmp_path):
    broken = PUBLIC_TASKS["LoCoMo"] | {"conversation": ["no sessions"]}
    with pytest.raises(RecordFault, match=r"keys of LoCoMo and cannot be read") as caught:
        read_tasks(rows(tmp_path / "a.jsonl", PUBLIC_TASKS["NF-CATS"], broken))
    assert caught.value.place.line == 2


def test_counts_that_are_not_the_published_ones_are_named():
    """One question of category 1 is taken for one of category 4: the whole is right, two parts not."""
    numbers = [1] * 281 + [2] * 321 + [3] * 96 + [4] * 842 + [5] * 446
    tasks = [TaskRecord(str(n), "LoCoMo", (), {"category": number}) for n, number in enumerate(numbers)]
    assert unlike_published(tasks) == (
        "LoCoMo by category: multi-hop 281 instead of 282, single-hop 842 instead of 841.",
    )
    some = [TaskRecord("a", "DialSim-friends", ()), TaskRecord("b", "mine", ())]
    assert unlike_published(some) == ("DialSim-friends has 1 task, published 1,000 or 300.",)


@pytest.mark.shared
@pytest.mark.skipif("DIALOGAUGE_SHARED" not in os.environ, reason="DIALOGAUGE_SHARED is not set")
def test_real_rows_in_their_public_form_are_those_of_our_form(tmp_path):
    """What ours was made of, put back into the form of its authors, is read as ours is."""

    def records(name):
        return [json.loads(line) for line in (MEMBENCH / name).read_text(encoding="utf-8").splitlines()]

    def same(ours, public):
        wanted, got = (
            {t.id: (t.question, {k: v for k, v in t.gold.items() if v is not None}, t.corpus, t.form, t.group)
             for t in read.tasks}
            for read in (read_tasks(*(str(MEMBENCH / name) for name in ours)), read_tasks(public))
        )  # fmt: skip
        assert got == wanted

    talks, asked = records("locomo_corpus.jsonl"), records("locomo_qa.jsonl")
    public = [
        {
            "sample_id": talk["corpus_id"],
            "conversation": {
                key: value
                for s in talk["sessions"]
                for key, value in (
                    (f"session_{s['session']}_date_time", s["date_time"]),
                    (f"session_{s['session']}", [{**m, "dia_id": m["id"]} for m in s["messages"]]),
                )
            },
            "qa": [{"question": t["q"], **t["v"]} for t in asked if t["c"] == talk["corpus_id"]],
        }
        for talk in talks
    ]  # fmt: skip
    same(("locomo_qa.jsonl", "locomo_corpus.jsonl"), rows(tmp_path / "locomo10.json", *public))
    own = read_tasks(str(MEMBENCH / "locomo_qa.jsonl"), str(MEMBENCH / "locomo_corpus.jsonl"))
    assert read_tasks(str(tmp_path / "locomo10.json")).corpora == own.corpora

    hello = [
        {"id": t["id"].partition("/")[2], "category": t["meta"]["category"], "instruction": t["q"],
         "checklists": [], "formatted_checklists": json.dumps(t["v"]["checklist"])}
        for t in records("hellobench_sample.jsonl")
    ]  # fmt: skip
    same(("hellobench_sample.jsonl",), rows(tmp_path / "hello.jsonl", *hello))
    writing = [
        {"index": t["id"].partition("/")[2], **t["meta"], "query": t["q"], "checklist": t["v"]["criteria"]}
        for t in records("writingbench_sample.jsonl")
    ]
    same(("writingbench_sample.jsonl",), rows(tmp_path / "writing.jsonl", *writing))
    judge = [
        {"text_id": t["id"].partition("/")[2], "text": t["q"], "fd": t["v"]["golden_answer"],
         "la": t["v"]["law_articles"]}
        for t in records("judge_sample.jsonl")
    ]  # fmt: skip
    same(("judge_sample.jsonl",), rows(tmp_path / "test.json", *judge))
