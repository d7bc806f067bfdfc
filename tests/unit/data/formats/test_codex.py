"""Sessions of Codex CLI, by hand from its protocol."""

import json

from dialogauge.core import RecordFault
from dialogauge.data import read_conversations


def line(kind, **payload):
    return {"timestamp": "2026-05-04T10:00:00Z", "type": kind, "payload": payload}


def message(role, text):
    kind = "output_text" if role == "assistant" else "input_text"
    return line("response_item", type="message", role=role, content=[{"type": kind, "text": text}])


def read(tmp_path, *lines):
    path = tmp_path / "rollout.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    reader = read_conversations([str(path)])
    return list(reader), [str(note) for note in reader.notes]


SESSION = [
    line("session_meta", id="x1", instructions=None, cwd="/"),
    message("user", "<environment_context>\n  <cwd>/</cwd>"),
    message("user", "Which test fails?"),
    line("event_msg", type="user_message", message="Which test fails?"),
    line("turn_context", model="m", cwd="/"),
    line("response_item", type="reasoning", summary=[], encrypted_content="x"),
    line("response_item", type="function_call", name="shell", arguments="{}", call_id="c1"),
    line("response_item", type="function_call_output", call_id="c1", output="1 failed"),
    message("assistant", "test_dates."),
    line("event_msg", type="agent_message", message="test_dates."),
]


def test_a_session(tmp_path):
    (talk,), notes = read(tmp_path, *SESSION)
    assert [(m.role, m.text) for m in talk.messages if m.text] == [
        ("user", "Which test fails?"),
        ("tool", "1 failed"),
        ("assistant", "test_dates."),
    ]
    assert (talk.id, talk.candidate, talk.turns[0].reply_text) == ("x1", "m", "test_dates.")
    assert any("what the program adds in the name of the user" in note for note in notes)


def test_lines_that_cannot_be_read_are_faults_of_their_own(tmp_path):
    lines = (*SESSION, 4, line("response_item", type="hologram"), {"type": "compacted"})
    outcomes, notes = read(tmp_path, *lines)
    assert sum(isinstance(one, RecordFault) for one in outcomes) == 2
    assert any("2 messages were left out" in note and "of no known form" in note for note in notes)
    assert outcomes[-1].id == "x1"
    (fault,), _ = read(tmp_path, line("session_meta", id="x1"))
    assert "no messages" in str(fault)
