"""Votes with what both said; the samples are ours, their form that of the data sets' cards."""

import json

import pytest

from dialogauge.core import Rating, RecordFault
from dialogauge.data import read_conversations


def talk(*texts):
    return [
        {"role": role, "content": text} for role, text in zip(("user", "assistant") * 2, texts, strict=False)
    ]


A, B = talk("Name a lake.", "Como.", "Why?", "It is deep."), talk("Name a lake.", "No.", "Why?", "No lakes.")
VOTE = {
    "question_id": 81,
    "model_a": "model-a",
    "model_b": "model-b",
    "winner": "model_a",
    "judge": "expert_0",
    "conversation_a": A,
    "conversation_b": B,
    "turn": 1,
}
ARENA = {
    **VOTE,
    "question_id": "q9",
    "turn": 2,
    "judge": "arena_user_7",
    "anony": True,
    "language": "English",
}


def read(folder, *rows):
    path = folder / "votes.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    reader = read_conversations([str(path)])
    outcomes = list(reader)
    assert [file.format for file in reader.files.values()] == ["arena"]
    return outcomes, [(n.text, n.count) for n in reader.notes]


def test_a_conversation_is_read_once_with_all_votes_of_mt_bench(tmp_path):
    other = {**VOTE, "model_b": "model-c", "conversation_b": talk("Name a lake.", "Garda."), "turn": 2}
    rows = [VOTE, {**VOTE, "judge": "author_1", "winner": "tie"}, {**other, "winner": "model_b"}]
    (a, b, c), notes = read(tmp_path, *rows)
    assert [(x.id, x.candidate, x.user_id) for x in (a, b, c)] == [
        ("81__model-a", "model-a", None),
        ("81__model-b", "model-b", None),
        ("81__model-c", "model-c", None),
    ]
    assert [(m.role, m.text) for m in a.messages] == [(m["role"], m["content"]) for m in A]
    assert a.ratings == (
        Rating(a.id, "preferred", 1.0, 1, "expert_0", "model-a"),
        Rating(a.id, "preferred", 0.5, 1, "author_1", "model-a"),
        Rating(a.id, "preferred", 0.0, 2, "expert_0", "model-a"),
    )
    assert [r.score for r in b.ratings] == [0.0, 0.5]
    assert c.ratings == (Rating(c.id, "preferred", 1.0, 2, "expert_0", "model-c"),)
    assert ("conversations stand in several records: read once, with the ratings of all", 3) in notes
    assert ("votes between two were read as ratings: 1 won, 0.5 a tie, 0 lost", 3) in notes


@pytest.mark.parametrize("turn", [True, 0, "1", 1.0])
def test_what_is_no_turn_is_none(tmp_path, turn):
    (a, b), _ = read(tmp_path, {**VOTE, "turn": turn})
    assert [r.turn for c in (a, b) for r in c.ratings] == [None, None]


def test_chatbot_arena(tmp_path):
    (a, b), _ = read(tmp_path, {**ARENA, "winner": "tie (bothbad)", "tstamp": 1.5})
    assert (a.id, a.user_id, a.language) == ("q9__model-a", "arena_user_7", "en")
    assert [r for c in (a, b) for r in c.ratings] == [
        Rating(f"q9__{name}", "preferred", 0.5, None, "arena_user_7", name) for name in ("model-a", "model-b")
    ]
    assert a.metadata == {"anony": True, "tstamp": 1.5}


def test_prompts_and_responses(tmp_path):
    row = {
        "id": 7,
        "model_a": "m",
        "model_b": "m",
        "prompt": '["Hi", "Bye"]',
        "response_a": '["Hello", null]',
        "response_b": ["Yo", "Ciao"],
        "winner_model_a": 0,
        "winner_model_b": 1,
        "winner_tie": 0,
    }
    (a, b), _ = read(tmp_path, row)
    assert (a.id, b.id) == ("7__a", "7__b"), "both sides are of one model"
    assert [(m.role, m.text) for m in a.messages] == [
        ("user", "Hi"),
        ("assistant", "Hello"),
        ("user", "Bye"),
        ("assistant", ""),
    ]
    assert [c.ratings[0].score for c in (a, b)] == [0.0, 1.0]


def test_a_row_without_a_winner_is_no_vote(tmp_path):
    (a, b), notes = read(tmp_path, {**VOTE, "winner": "nobody"})
    assert a.ratings == b.ratings == ()
    assert any("they are no votes" in text for text, _ in notes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"question_id": 1, "model_a": None}, "model_a is None: not a name"),
        ({"question_id": 1, "conversation_a": "hi"}, "the messages are 'hi': not a list"),
        ({"question_id": 1, "conversation_a": []}, "no messages"),
        ({"question_id": 1, "conversation_a": None}, "the conversation has no messages"),
        (
            {
                "question_id": 1,
                "conversation_a": None,
                "prompt": "a",
                "response_a": ["b", "c"],
                "response_b": "d",
            },
            "there are 1 prompts (prompt) and 2 replies (response_a)",
        ),
        ({"conversation_a": talk("Else.", "Yes.")}, "81__model-a says something else"),
    ],
)
def test_what_cannot_be_read_is_a_fault(tmp_path, change, message):
    outcomes, _ = read(tmp_path, VOTE, {**VOTE, **change})
    (fault,) = [o for o in outcomes if isinstance(o, RecordFault)]
    assert message in str(fault)
    assert "votes.jsonl:2" in str(fault)


ANSWER = {"question_id": 81, "model_id": "m", "choices": [{"index": 0, "turns": ["Como.", "It is deep."]}]}
QUESTION = {"question_id": 81, "category": "travel", "turns": ["Name a lake.", "Why?"]}


def test_answers_to_mt_bench_behind_their_questions(tmp_path):
    folder = tmp_path / "mt_bench" / "model_answer"
    folder.mkdir(parents=True)
    (tmp_path / "mt_bench" / "question.jsonl").write_text(json.dumps(QUESTION) + "\n")
    two = {
        **ANSWER,
        "model_id": "n",
        "choices": [*ANSWER["choices"], {"index": 1, "turns": ["Garda.", "Wide."]}],
    }
    path = folder / "m.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in (ANSWER, two, {**ANSWER, "question_id": 82})))
    reader = read_conversations([str(path)])
    first, second, fault = reader
    assert [m.text for m in first.messages] == ["Name a lake.", "Como.", "Why?", "It is deep."]
    assert (first.id, first.candidate, first.scenario) == ("81__m", "m", "travel")
    assert second.id == "81__n"
    assert isinstance(fault, RecordFault)
    assert "question 82 has no turns in a question.jsonl beside the answers" in fault.message
    assert any(str(note).startswith("1 message was left out: choices") for note in reader.notes)
