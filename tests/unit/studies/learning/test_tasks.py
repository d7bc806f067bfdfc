"""Tables of tasks: lengths, samples and splits by data set, and what is wrong in the printed totals."""

from __future__ import annotations

import json

import pytest

from dialogauge.core import Conversation, Message, UsageError
from dialogauge.core.json_keys import as_json
from dialogauge.data.tasks import DATASETS, PARTITIONS, LoggedDialogue, RoundFeedback, TaskFile, TaskRecord
from dialogauge.report import to_html, to_text
from dialogauge.studies.learning.tasks import task_blocks, task_tables


def tasks(dataset, n, question, corpus=None, **gold):
    asked = (Message("user", question),)
    return [TaskRecord(f"{dataset}/{i}", dataset, asked, gold, corpus) for i in range(n)]


def tables(*lists, corpora=None, logs=()):
    return task_tables(TaskFile(tuple(t for one in lists for t in one), corpora or {}, 0, {}), logs)


def test_inputs_count_with_their_corpus_and_600_tokens_are_not_long_yet():
    """One token for three bytes: 1,800 and 3 in, 1,803 out are 600 and 1, and 601 tokens."""
    corpus = {"c": (Conversation("c/D1", (Message("user", "x" * 1800),)),)}
    short, long, bare = tables(
        tasks("JuDGE", 5, "x" * 1800, golden_answer="y" * 1803),
        tasks("mine", 5, "abc", "c", answer="y" * 6),
        tasks("other", 5, "abcdef", checklist=[]),
        corpora=corpus,
    ).sets
    assert (short.input_tokens, short.output_tokens, short.measured, short.form) == (600, 601, "SiLo", "SiLo")
    assert (long.input_tokens, long.output_tokens, long.measured, long.form) == (601, 2, "LiSo", "")
    assert (bare.input_tokens, bare.output_tokens, bare.measured) == (2, None, "Si")


def test_each_set_is_sampled_and_split_as_the_seed_does():
    """Of 300 questions of DialSim 83 are drawn, a fifth rounded up is 17; of 12 tasks 3 are test."""
    corpora = {"DialSim-friends": ()}
    read = tables(
        tasks("DialSim-friends", 300, "a", "DialSim-friends", golden_answer="b"),
        tasks("NF-CATS", 12, "a", category="REASON"),
        corpora=corpora,
    )
    assert [(s.name, s.cases, s.sampled, s.train, s.test) for s in read.sets] == [
        ("DialSim-friends", 300, 83, 66, 17),
        ("NF-CATS", 12, 12, 9, 3),
    ]
    assert [p.name for p in read.partitions] == ["Open", "LiSo", "SiSo"]
    assert read.unlike_published == ("NF-CATS has 12 tasks, published 2,397.",)


def test_printed_samples_are_the_sums_of_what_is_drawn_and_three_totals_are_not():
    """Table 5 and 6 by hand: the samples add up to those printed; cases do not on Open, LiSo and SiSo."""
    read = tables(*(tasks(name, 1, "a") for name in DATASETS))
    drawn = {p: sum(min(DATASETS[n].most, DATASETS[n].cases[-1]) for n in PARTITIONS[p]) for p in PARTITIONS}
    assert {p.name: p.printed_samples for p in read.partitions} == drawn
    apart = {p.name: (p.printed_cases, p.summed_cases) for p in read.partitions}
    assert {name: one for name, one in apart.items() if one[0] not in one[1]} == {
        "Open": (10_037, [7_933, 10_033]),
        "LiSo": (9_364, [7_260, 9_360]),
        "SiSo": (1_500, [3_897]),
    }
    assert all(partition.absent == [] for partition in read.partitions)


def test_feedback_is_counted_where_logs_are_read_along():
    said = tuple(Message(role, "x") for role in ("user", "assistant", "user", "assistant"))
    feedback = (RoundFeedback(1, ("dislike",)), RoundFeedback(2, ("like", "copy"), 9, ended=True))
    logs = [LoggedDialogue(Conversation("a", said), feedback), LoggedDialogue(Conversation("b", said[:2]))]
    read = tables(tasks("mine", 1, "a"), logs=logs)
    assert (read.dialogues, read.dialogues_with_words) == (2, 1)
    assert read.replies == 3
    assert read.feedback == {"dislike": 1, "words": 1, "like": 1, "copy": 1, "closed": 2}
    shown = " ".join(to_text(task_blocks(read), width=200).split())
    assert "asked again implicit, spoken 0/3" in shown
    assert "closed implicit 2/3" in shown


def test_tables_are_shown_as_text_page_and_json():
    read = tables(
        tasks("NF-CATS", 12, "Why is tea bitter?", category="REASON"),
        tasks("JuDGE", 1, "tea", golden_answer="tea"),
    )
    shown = " ".join(to_text(task_blocks(read), width=200).split())
    assert "NF-CATS Open en 12 2,397 6 no answer Si" in shown
    assert "SiSo. Printed: 1,500 cases, 750 sampled. The paper's own rows sum to 3,897." in shown
    assert "NF-CATS 12 2,397 12 9 3" in shown
    assert "tokens by bytes/3" in shown
    assert "Measured by bytes/3, the form is not the stated one: JuDGE." in shown
    assert "NF-CATS" in to_html(read.page)
    assert json.loads(json.dumps(as_json(read)))["sets"][0]["test"] == 3


@pytest.mark.torch
@pytest.mark.xdist_group("torch")
def test_a_folder_with_a_tokenizer_counts_as_it_does(tmp_path):
    pytest.importorskip("transformers")
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    file = TaskFile((TaskRecord("1", "mine", (Message("user", "tea and tea"),)),), {}, 1, {})
    with pytest.raises(UsageError, match="cannot be loaded"):
        task_tables(file, tokenizer=str(tmp_path))
    words = Tokenizer(models.WordLevel({"tea": 0, "[UNK]": 1}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=words, unk_token="[UNK]").save_pretrained(tmp_path)
    tables = task_tables(file, tokenizer=str(tmp_path))
    assert (tables.tokenizer, tables.sets[0].input_tokens) == (str(tmp_path), 3)
