"""Trackers of Rasa, by hand from its events."""

import json

import pytest

from dialogauge.core import RecordFault
from dialogauge.data import read_conversations

ASK = {"event": "user", "timestamp": 2.0, "text": "Is it open?", "parse_data": {"intent": {"name": "ask"}}}
REPLY = {"event": "bot", "timestamp": 3.0, "text": "From nine.", "data": {"buttons": None}}


def read(tmp_path, *trackers):
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(tracker) + "\n" for tracker in trackers))
    reader = read_conversations([str(path)], format="rasa")
    return list(reader), [str(note) for note in reader.notes]


def test_what_the_bot_shows_is_kept(tmp_path):
    buttons = {"event": "bot", "timestamp": 4.0, "text": None, "data": {"buttons": [{"title": "Map"}]}}
    silent = {"event": "bot", "timestamp": 5.0, "text": None, "data": {}}
    slot = {"event": "slot", "name": "s", "value": 1}
    (talk,), notes = read(tmp_path, {"sender_id": "r", "events": [ASK, slot, REPLY, buttons, silent]})
    assert [(m.role, m.text) for m in talk.messages[:2]] == [
        ("user", "Is it open?"),
        ("assistant", "From nine."),
    ]
    assert talk.messages[2].content == ({"type": "data-buttons", "buttons": [{"title": "Map"}]},)
    assert talk.id == "r"
    assert any("no text and nothing that is shown" in note for note in notes)


@pytest.mark.parametrize(
    ("tracker", "why"),
    [
        ({"sender_id": "r", "events": [{"event": "slot"}]}, "nobody says anything"),
        ({"sender_id": "r", "events": [ASK, 4]}, "an event is 4"),
        ({"sender_id": "r", "events": []}, "no tracker with its events"),
    ],
)
def test_what_cannot_be_read_is_a_fault(tmp_path, tracker, why):
    (fault,), _ = read(tmp_path, tracker)
    assert isinstance(fault, RecordFault)
    assert why in str(fault)
