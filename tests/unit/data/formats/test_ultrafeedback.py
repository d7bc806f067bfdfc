"""Rows of UltraFeedback."""

import json

from dialogauge.core import RecordFault
from dialogauge.data import read_conversations

SCORED = "replies have scores by a model: kept as metadata, no ratings"


def completion(model, response, score, **more):
    annotations = {"helpfulness": {"Rating": "4", "Rationale": "It answers."}}
    return {"model": model, "response": response, "overall_score": score, "annotations": annotations, **more}


ROW = {
    "source": "lakes",
    "instruction": "Name a lake.",
    "models": ["model-a", "model-b"],
    "completions": [
        completion("model-a", "Lake Como.", 8.5, custom_system_prompt="Be brief."),
        completion("model-b", "A lake?", 2.0),
    ],
}


def side(reply):
    return [{"role": "user", "content": "Name a lake."}, {"role": "assistant", "content": reply}]


TWO = {
    "prompt": "Name a lake.",
    "prompt_id": "p1",
    "chosen": side("Lake Como."),
    "rejected": side("A lake?"),
    "score_chosen": 8.5,
    "score_rejected": 2.0,
}


def read(tmp_path, *rows):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    reader = read_conversations([str(path)])
    return list(reader), {note.text: note.count for note in reader.notes}


def said(talk):
    return [(m.role, m.text) for m in talk.messages]


def test_each_reply_is_a_conversation_of_its_model(tmp_path):
    (a, b), notes = read(tmp_path, ROW)
    assert said(a) == [("system", "Be brief."), ("user", "Name a lake."), ("assistant", "Lake Como.")]
    assert said(b) == [("user", "Name a lake."), ("assistant", "A lake?")]
    assert [(t.id, t.candidate, t.ratings) for t in (a, b)] == [
        ("a.jsonl:1__model-a", "model-a", ()),
        ("a.jsonl:1__model-b", "model-b", ()),
    ]
    assert a.metadata["source"] == "lakes"
    assert (a.metadata["overall_score"], b.metadata["overall_score"]) == (8.5, 2.0)
    assert a.metadata["annotations"]["helpfulness"]["Rating"] == "4"
    assert "completions" not in a.metadata
    assert notes[SCORED] == 2


def test_a_model_that_replied_twice_and_a_reply_that_is_none(tmp_path):
    replies = [completion("m", "One.", 1), completion("m", "Two.", 2), completion("m", None, 3)]
    (one, two, fault), _ = read(tmp_path, {**ROW, "id": "r", "completions": replies})
    assert [(t.id, t.messages[1].text) for t in (one, two)] == [("r__m", "One."), ("r__m__2", "Two.")]
    assert isinstance(fault, RecordFault)
    assert "completion 3" in fault.message


def test_the_better_and_the_worse_reply(tmp_path):
    (better, worse), notes = read(tmp_path, TWO)
    assert [said(t)[1] for t in (better, worse)] == [("assistant", "Lake Como."), ("assistant", "A lake?")]
    assert [(t.id, t.candidate, t.ratings) for t in (better, worse)] == [
        ("p1__chosen", None, ()),
        ("p1__rejected", None, ()),
    ]
    assert [t.metadata["side"] for t in (better, worse)] == ["chosen", "rejected"]
    assert (better.metadata["score_chosen"], notes[SCORED]) == (8.5, 1)
    models = {
        "chosen-model": "model-a",
        "rejected-model": "model-b",
        "chosen-rating": 5,
        "rejected-rating": 2,
    }
    named = {key: value for key, value in TWO.items() if not key.startswith("score")} | models
    assert [t.candidate for t in read(tmp_path, named)[0]] == ["model-a", "model-b"]


def test_a_row_that_names_its_messages_is_read_by_them(tmp_path):
    (talk,), notes = read(tmp_path, {**TWO, "messages": side("Lake Como.")})
    assert said(talk)[1] == ("assistant", "Lake Como.")
    assert notes["conversations read as openai"] == 1
