"""Ratings hold to the words that were rated: a log whose replies changed since is not what people rated."""

from __future__ import annotations

import json

import pytest

from dialogauge import read
from dialogauge.core.unit import words_digest


@pytest.fixture
def rated(tmp_path):
    """A log, ratings with the digests of its words, and the log with every reply replaced."""
    old, new = [], []
    for number in range(12):
        asked = {"role": "user", "content": f"When does order {number} come?"}
        for talks, reply in ((old, f"Order {number} comes today."), (new, "I cannot say.")):
            messages = [asked, {"role": "assistant", "content": reply}]
            talks.append(
                json.dumps({"conversation_id": f"c{number}", "user_id": f"u{number}", "messages": messages})
            )
    (tmp_path / "old.jsonl").write_text("\n".join(old))
    (tmp_path / "new.jsonl").write_text("\n".join(new))
    rows = [
        {
            "conversation_id": talk.id,
            "turn": 1,
            "dimension": "satisfaction",
            "rater": "anna",
            "score": 5,
            "digest": words_digest(talk, 1),
        }
        for talk in read(tmp_path / "old.jsonl")
    ]
    (tmp_path / "ratings.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path


def test_ratings_of_replies_that_were_replaced_are_left_out_and_said(rated, dialogauge):
    done = dialogauge("judge", "old.jsonl", "--ratings", "ratings.jsonl", "-o", "of-old")
    assert done.code == 0, done.err
    assert json.loads((rated / "of-old" / "summary.json").read_text())["people"]["figures"][0]["n"] == 12
    done = dialogauge("judge", "new.jsonl", "--ratings", "ratings.jsonl", "-o", "of-new")
    assert done.code == 1
    assert "12 ratings of other words than the input now holds, left out: 'c0', 'c1'" in done.err
    people = json.loads((rated / "of-new" / "summary.json").read_text()).get("people")
    assert people is None or people["figures"] == []


def test_agreement_takes_ratings_of_the_words_of_the_run_alone(rated, dialogauge):
    dialogauge("judge", "new.jsonl", "-o", "run")
    done = dialogauge("agreement", "run", "--ratings", "ratings.jsonl")
    assert done.code == 2
    assert "there are no ratings of its conversations" in done.err
