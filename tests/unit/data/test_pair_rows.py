"""Votes with what was said, in the rows that Chatbot Arena and MT-Bench publish."""

import json

import pytest

from dialogauge.data import is_pair_file, read_pairs

QUESTION = {"content": "What is the difference between OpenCL and CUDA?", "role": "user"}


def said(text):
    return [QUESTION, {"content": text, "role": "assistant"}]


CHATBOT_ARENA = {
    "question_id": "58210e39b3fd4441a2bd4a518bb44c2d",
    "model_a": "chatglm-6b",
    "model_b": "koala-13b",
    "winner": "model_b",
    "judge": "arena_user_973",
    "conversation_a": said("Both are open."),
    "conversation_b": said("CUDA is of one vendor."),
    "turn": 1,
    "anony": True,
    "language": "English",
    "tstamp": 1682351591.1322,
    "openai_moderation": {"categories": {"harassment": False}, "flagged": False},
    "toxic_chat_tag": {"roberta-large": {"flagged": False, "probability": 0.01}},
}
MT_BENCH = {
    "question_id": 81,
    "model_a": "alpaca-13b",
    "model_b": "gpt-3.5-turbo",
    "winner": "model_a",
    "judge": ["gpt-4", "pair-v2"],
    "conversation_a": said("Aloha."),
    "conversation_b": said("Hello."),
    "turn": 2,
}


@pytest.fixture
def pairs(tmp_path):
    """What is read of rows."""

    def read(*rows):
        path = tmp_path / "votes.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        assert is_pair_file(path)
        return read_pairs(path)

    return read


def test_a_row_of_chatbot_arena_is_a_vote_with_both_conversations(pairs):
    (row,), faults, _ = pairs(CHATBOT_ARENA)
    rating, (a, b) = row.rating, row.conversations
    assert faults == []
    assert (rating.a, rating.b, rating.winner) == ("chatglm-6b", "koala-13b", "b")
    assert (rating.rater, rating.turn) == ("arena_user_973", 1)
    assert rating.conversation_id == a.id == b.id == CHATBOT_ARENA["question_id"]
    assert (a.candidate, a.messages[-1].text) == ("chatglm-6b", "Both are open.")
    assert b.messages[-1].text == "CUDA is of one vendor."


def test_a_judge_that_is_a_list_is_one_rater_and_votes_once(pairs):
    rows, faults, notes = pairs(MT_BENCH, {**MT_BENCH, "winner": "tie"}, {**MT_BENCH, "turn": 1})
    assert faults == []
    assert [(one.rating.rater, one.rating.turn, one.rating.winner) for one in rows] == [
        ("gpt-4, pair-v2", 2, "tie"),
        ("gpt-4, pair-v2", 1, "a"),
    ]
    assert any("given again by the same rater" in str(note) for note in notes)


@pytest.mark.parametrize(
    ("winner", "side"),
    [("model_a", "a"), ("tie", "tie"), ("tie (bothbad)", "tie"), ("both_bad", "tie"), ("koala-13b", "b")],
)
def test_winners_as_they_are_published(pairs, winner, side):
    (row,), _, _ = pairs({**CHATBOT_ARENA, "winner": winner})
    assert row.rating.winner == side


def test_what_cannot_be_read_is_named_by_its_line(pairs):
    rows, faults, _ = pairs(
        CHATBOT_ARENA,
        {**CHATBOT_ARENA, "winner": "model_c"},
        {**CHATBOT_ARENA, "question_id": "q3", "conversation_a": "hello"},
        {**CHATBOT_ARENA, "question_id": "q4", "conversation_b": [{"role": "narrator", "content": "x"}]},
    )
    assert [row.conversations is None for row in rows] == [False, True, True]
    assert [fault.place.line for fault in faults] == [2, 3, 4]
    assert "the winner is 'model_c'" in str(faults[0])
    assert "the vote counts, without what was said" in str(faults[1])
