"""Tasks: one record for all data sets, faults with file and line, and samples as the seed draws them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from dialogauge.core import FileFault, RecordFault
from dialogauge.data.tasks import DATASETS, PARTITIONS, TaskRecord, read_tasks, sample_tasks, split_tasks

CORPUS = {
    "corpus_id": "family",
    "sessions": [
        {
            "session": 1,
            "date_time": "10 May 2024",
            "messages": [
                {"id": "D1:1", "speaker": "Bo", "text": "When did you move?"},
                {"id": "D1:2", "speaker": "Ann", "text": "Yesterday."},
            ],
        }
    ],
}
TASK = {
    "id": "t1",
    "dataset": "family",
    "q": "When did Ann move?",
    "v": {"answer": "9 May 2024", "evidence": ["D1:2"]},
    "c": "family",
}


def write(path, *records):
    path.write_text("".join(json.dumps(r) + "\n" for r in records))
    return str(path)


def test_a_task_and_its_corpus(tmp_path):
    read = read_tasks(write(tmp_path / "t.jsonl", TASK), write(tmp_path / "c.jsonl", CORPUS))
    (task,) = read.tasks
    assert (task.question, task.corpus, task.evidence, task.language) == (
        "When did Ann move?", "family", ("D1:2",), "en",
    )  # fmt: skip
    (session,) = read.corpora["family"]
    assert session.id == "family/D1"
    assert session.metadata == {"date": "10 May 2024"}
    assert [(m.role, m.name, m.text, m.extra["id"]) for m in session.messages] == [
        ("user", "Bo", "When did you move?", "D1:1"),
        ("assistant", "Ann", "Yesterday.", "D1:2"),
    ]
    assert read_tasks(str(tmp_path)).tasks[0].id == "t1"


def test_what_is_missing_is_counted_and_not_guessed(tmp_path):
    wrong = TASK | {"id": "t2", "v": {"evidence": ["D1:2", "D9:9"]}}
    read = read_tasks(write(tmp_path / "t.jsonl", CORPUS, TASK | {"v": None}, wrong))
    assert (read.without_gold, dict(read.unknown_evidence)) == (1, {"t2": ("D9:9",)})


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({k: v for k, v in TASK.items() if k != "id"}, "id is missing"),
        (TASK | {"dataset": " "}, "dataset is missing"),
        (TASK | {"q": 3}, "q is neither a text nor a list of messages"),
        (TASK | {"q": [{"role": "tool", "content": "x"}]}, "q is neither"),
        (TASK | {"v": ["x"]}, "v is no JSON object"),
        (TASK | {"v": {"evidence": 3}}, "evidence is no list of ids"),
        (TASK | {"v": {"answer": ["9 May", "9.5."]}}, "answer is neither a text nor a number"),
        (TASK | {"v": {"category": [1]}}, "category is neither"),
        (TASK | {"v": {"answer": "9 May", "variants": "9.5."}}, "variants is no list of texts"),
        (TASK | {"c": "nobody"}, "the corpus 'nobody', which no file holds"),
        ({"corpus_id": "x"}, "corpus_id or sessions is missing"),
        ({"corpus_id": "x", "sessions": [{}]}, "session 1 of 'x' has no list of messages"),
        ({"corpus_id": "x", "sessions": [{"messages": [{"speaker": "A"}]}]}, "has no text"),
        ({"corpus_id": "x", "sessions": CORPUS["sessions"] * 2}, "the session 'x/D1' is there twice"),
        (CORPUS, "the corpus 'family' is there twice"),
    ],
)
def test_a_fault_is_named_with_file_and_line(tmp_path, record, message):
    path = write(tmp_path / "t.jsonl", CORPUS, record)
    with pytest.raises(RecordFault, match=message) as caught:
        read_tasks(path)
    assert (Path(caught.value.place.file).name, caught.value.place.line) == ("t.jsonl", 2)


def test_a_file_without_a_task_is_refused(tmp_path):
    with pytest.raises(FileFault, match="there is no task"):
        read_tasks(write(tmp_path / "t.jsonl", CORPUS))


def test_each_data_set_is_in_one_domain_and_one_form():
    assert len(DATASETS) == 19
    by_domain = [name for p in ("Open", "Legal", "Academic") for name in PARTITIONS[p]]
    by_form = [name for p in ("LiSo", "SiLo", "LiLo", "SiSo") for name in PARTITIONS[p]]
    assert sorted(by_domain) == sorted(by_form) == sorted(DATASETS)
    assert [len(PARTITIONS[p]) for p in ("Open", "Legal", "Academic")] == [8, 5, 6]


def tasks(n, group=None, start=0):
    return [TaskRecord(f"t{i}", "d", (), group=group) for i in range(start, start + n)]


def test_samples_and_splits_are_those_of_the_seed():
    """Of 250 tasks 50 are test; groups are split each for itself, a fifth rounded up."""
    sample = sample_tasks(tasks(1000))
    assert (len(sample), sample) == (250, sample_tasks(tasks(1000)))
    train, test = split_tasks(sample)
    assert (len(train), len(test), {t.id for t in train} & {t.id for t in test}) == (200, 50, set())
    train, test = split_tasks([*tasks(11, "a"), *tasks(6, "b", 11)])
    assert [t.group for t in test] == ["a"] * 3 + ["b"] * 2
    assert sample_tasks(tasks(9)) == tuple(tasks(9))
    about = [TaskRecord(f"t{i}", "LoCoMo", (), corpus=f"c{i % 10}") for i in range(1986)]
    drawn = [t.corpus for t in sample_tasks(about)]
    assert [drawn.count(f"c{n}") for n in range(10)] == [25] * 10


def test_corpora_of_a_question_each_are_no_strata():
    """As in LongMemEval: 250 of 500, and a fifth of these; each alone would round to nothing, or to all."""
    about = [TaskRecord(f"t{i}", "LongMemEval", (), corpus=f"q{i}") for i in range(500)]
    sample = sample_tasks(about)
    assert (len(sample), [len(part) for part in split_tasks(sample)]) == (250, [200, 50])


@pytest.mark.shared
@pytest.mark.skipif("DIALOGAUGE_SHARED" not in os.environ, reason="DIALOGAUGE_SHARED is not set")
def test_every_set_at_hand_is_read():
    folder = Path(os.environ["DIALOGAUGE_SHARED"]) / "data" / "membench"
    names = [
        f for f in folder.glob("*.jsonl") if f.stem not in ("ideabench_targets_sample", "locomo_disputed")
    ]
    read = read_tasks(*map(str, sorted(names)))
    counts = {name: sum(t.dataset == name for t in read.tasks) for name in DATASETS}
    assert {name: n for name, n in counts.items() if n} == {
        "LoCoMo": 1347, "HelloBench-C.D.": 80, "WritingBench-C.D.": 129, "NF-CATS": 200, "JuDGE": 200,
        "LexEval-QA": 200, "WritingBench-P.L.": 41, "HelloBench-A.K.-QA": 80, "HelloBench-A.K.-Writing": 40,
        "LimitGen-Syn": 110, "WritingBench-A.E.": 27,
    }  # fmt: skip
    assert len(read.corpora) == 7
    assert read.unknown_evidence == {}
    assert {t.dataset for t in read.tasks} <= DATASETS.keys()
    for task in read.tasks:
        assert (task.domain, task.form) == (DATASETS[task.dataset].domain, DATASETS[task.dataset].form)
