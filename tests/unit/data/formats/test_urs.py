"""The session-level records of URS; all rows are our own."""

import json

import pytest

from dialogauge.core import Rating, RecordFault
from dialogauge.data import read_conversations

ROWS = [
    {
        "user_id": 7,
        "llm": "model-a",
        "title": "Boil an egg",
        "intent_label": "Information Retrieval",
        "user_satisfaction": "very satisfied",
        "conversation_history": [
            {"role": "user", "content": "How long for a soft egg?"},
            {"role": "assistant", "content": "Six minutes."},
        ],
        "country": "NO",
    },
    {
        "user_id": 7,
        "llm": "model-b",
        "title": "",
        "intent_label": "寻求创意",
        "user_satisfaction": "不满意",
        "conversation_history": [
            {"role": "user", "content": "写一句招牌语"},
            {"role": "assistant", "content": "欢迎光临"},
        ],
    },
]


def read(tmp_path, rows, **change):
    path = tmp_path / "sessions.json"
    rows = [{**row, **change} for row in rows]
    path.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    return list(read_conversations([str(path)]))


def test_a_session_is_rated_as_a_whole(tmp_path):
    first, second = read(tmp_path, ROWS)
    assert (first.user_id, first.scenario, first.context, first.candidate) == (
        "en_7",
        "retrieval",
        "Boil an egg",
        "model-a",
    )
    assert first.ratings == (Rating(first.id, "satisfaction", 5, None, "en_7", candidate="model-a"),)
    assert (first.language, first.metadata) == ("en", {"country": "NO"})
    assert (second.user_id, second.scenario, second.context) == ("zh_7", "creative", None)
    assert [r.score for r in second.ratings] == [2]
    assert first.id != second.id


@pytest.mark.parametrize(
    ("label", "score"),
    [("很不满意", 1), ("不满意", 2), ("一般", 3), ("满意", 4), ("非常满意", 5), ("neutral", 3)],
)
def test_labels_become_scores(tmp_path, label, score):
    (one,) = read(tmp_path, ROWS[:1], user_satisfaction=label)
    assert [r.score for r in one.ratings] == [score]


def test_an_unknown_label_is_a_fault_and_the_next_record_follows(tmp_path):
    path = tmp_path / "sessions.json"
    path.write_text(json.dumps([{**ROWS[0], "user_satisfaction": "meh"}, ROWS[1]]), encoding="utf-8")
    fault, second = read_conversations([str(path)])
    assert isinstance(fault, RecordFault)
    assert "the satisfaction is 'meh'" in str(fault)
    assert second.scenario == "creative"


def test_without_a_rating_or_a_known_intent_it_is_read_all_the_same(tmp_path):
    (one,) = read(tmp_path, ROWS[:1], user_satisfaction=None, intent_label="Shopping", user_id=None)
    assert (one.ratings, one.scenario, one.user_id) == ((), "Shopping", None)
