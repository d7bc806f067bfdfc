"""OpenAssistant trees; the samples are ours, their form that of the exports of oasst1 and oasst2."""

import json

import pytest

from dialogauge.core import Rating, RecordFault
from dialogauge.data import read_conversations


def node(id, role, text, *replies, rank=None, **more):
    own = {"message_id": id, "role": role, "text": text, "lang": "en", "user_id": f"u-{id}", "rank": rank}
    return {**own, "replies": list(replies), **more}


GOOD = {"quality": {"value": 0.75, "count": 3}, "toxicity": {"value": 0.1, "count": 3}}
TREE = {
    "message_tree_id": "p",
    "tree_state": "ready_for_export",
    "prompt": node(
        "p",
        "prompter",
        "Name a tree.",
        node("b", "assistant", "A tree?", rank=1),
        node(
            "a",
            "assistant",
            "The oak.",
            node("u1", "prompter", "Another?", node("a1", "assistant", "The ash.", model_name="model-a")),
            node("u2", "prompter", "Why?"),
            rank=0,
            labels=GOOD,
        ),
    ),
}


def flat(tree, tree_id, parent=None):
    own = {k: v for k, v in tree.items() if k != "replies"}
    labels = own.get("labels")
    if labels:
        values = [label["value"] for label in labels.values()]
        own["labels"] = {"name": list(labels), "value": values, "count": [3] * len(values)}
    yield {**own, "parent_id": parent, "message_tree_id": tree_id}
    for reply in tree["replies"]:
        yield from flat(reply, tree_id, own["message_id"])


def read(folder, *rows):
    path = folder / "trees.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    reader = read_conversations([str(path)])
    outcomes = list(reader)
    assert [file.format for file in reader.files.values()] == ["oasst"]
    return outcomes, [(n.text, n.count) for n in reader.notes]


def said(conversation):
    return [(m.role, m.text) for m in conversation.messages]


def test_each_path_of_a_tree_is_a_conversation(tmp_path):
    (first, second, third), notes = read(tmp_path, TREE)
    assert [c.id for c in (first, second, third)] == ["a1", "u2", "b"]
    oak = [("user", "Name a tree."), ("assistant", "The oak.")]
    assert said(first) == [*oak, ("user", "Another?"), ("assistant", "The ash.")]
    assert said(second) == [*oak, ("user", "Why?")]
    assert said(third) == [("user", "Name a tree."), ("assistant", "A tree?")]
    assert (first.user_id, first.language, first.candidate) == ("u-p", "en", "model-a")
    assert first.metadata == {"message_tree_id": "p", "tree_state": "ready_for_export"}
    assert first.ratings == (Rating("a1", "quality", 0.75, 1),)
    assert second.ratings == (), "a reply is rated once, on the first path"
    assert ("trees were read as conversations, one for each path to a last message", 1) in notes


def test_messages_one_a_line(tmp_path):
    other = {**node("q", "prompter", "Hi", node("r", "assistant", "Hello"))}
    rows = [*flat(TREE["prompt"], "p"), *flat(other, "q")]
    outcomes, _ = read(tmp_path, *rows)
    assert [c.id for c in outcomes] == ["b", "a1", "u2", "r"]
    assert [c.ratings for c in outcomes] == [(), (Rating("a1", "quality", 0.75, 1),), (), ()]
    assert str(outcomes[3].place).startswith(f"{tmp_path}/trees.jsonl:{len(rows) - 1}")


def test_a_prompt_may_lack_the_parent_that_it_has_not(tmp_path):
    prompt, reply = flat(node("q", "prompter", "Hi", node("r", "assistant", "Hello")), "q")
    del prompt["parent_id"]
    (c,), _ = read(tmp_path, prompt, reply)
    assert said(c) == [("user", "Hi"), ("assistant", "Hello")]


def test_messages_apart_from_their_tree_are_faults(tmp_path):
    rows = [*flat(TREE["prompt"], "p"), *flat(node("q", "prompter", "Hi"), "q")]
    *_, fault, last = read(tmp_path, *rows, {**rows[1], "message_id": "late"})[0]
    assert isinstance(fault, RecordFault)
    assert "stands apart" in str(fault)
    assert "sort the file by message_tree_id" in fault.hint
    assert last.id == "q"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"message_tree_id": "x", "prompt": node("x", "robot", "hi")}, "unknown role 'robot'"),
        ({"message_tree_id": "x", "prompt": node("x", "prompter", None)}, "nobody says anything"),
        ({"message_tree_id": "x", "prompt": {"role": "prompter"}}, "make no tree"),
        (
            {"message_tree_id": "x", "prompt": node("x", "prompter", "a", node("x", "assistant", "b"))},
            "no tree",
        ),
        (
            {"message_tree_id": "x", "message_id": "x", "parent_id": "x", "role": "prompter", "text": "a"},
            "no tree",
        ),
        ({"message_tree_id": 4, "message_id": "x"}, "such a record has message_tree_id:text"),
        (4, "the record is 4"),
    ],
)
def test_what_cannot_be_read_is_a_fault(tmp_path, row, message):
    outcomes, _ = read(tmp_path, TREE, row)
    assert isinstance(outcomes[3], RecordFault)
    assert message in str(outcomes[3])
    assert "trees.jsonl:2" in str(outcomes[3])
