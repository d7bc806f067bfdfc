"""Chats with Gemini; the samples are ours, their form that of Takeout and AI Studio."""

import json

import pytest

from dialogauge.core import RecordFault
from dialogauge.data import read_conversations


def activity(title, *htmls, time="2026-02-02T07:24:02.806Z", **more):
    items = {"safeHtmlItem": [{"html": html} for html in htmls]} if htmls else {}
    return {
        "header": "Gemini Apps",
        "title": title,
        "time": time,
        "products": ["Gemini Apps"],
        **items,
        **more,
    }


def read(folder, value, name="MyActivity.json"):
    path = folder / name
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")
    reader = read_conversations([str(path)])
    outcomes = list(reader)
    assert [file.format for file in reader.files.values()] == ["gemini"]
    return outcomes, [(n.kind, n.text, n.count) for n in reader.notes]


def said(conversation):
    return [(m.role, m.text) for m in conversation.messages]


HTML = (
    "<p>Naxos &amp; <b>Crete</b>.</p>\n<ul><li>boats</li><li>figs\n and bread</li></ul>"
    "<pre><code>a:\n  b</code></pre>"
)


def test_prompts_of_an_activity_log(tmp_path):
    rows = [
        activity("Gave feedback: Good response", time="2026-02-02T08:00:00.000Z"),
        activity("Prompted Best islands?", HTML),
        activity("Prompted Alone", time="2026-02-01T00:00:00.000Z"),
    ]
    (c, alone), notes = read(tmp_path, rows)
    assert c.id == "gemini_2026-02-02T07:24:02.806Z"
    assert said(c) == [
        ("user", "Best islands?"),
        ("assistant", "Naxos & Crete.\n- boats\n- figs and bread\na:\n  b"),
    ]
    assert said(alone) == [("user", "Alone")]
    text = "prompts of an activity log do not say which belong together: each is a conversation"
    assert ("recognised", text, 2) in notes
    left_out = "records were left out: no prompts (feedback, canvases, settings)"
    assert ("recognised", left_out, 1) in notes


def test_what_an_activity_log_leaves_open_is_assumed(tmp_path):
    (c,), notes = read(tmp_path, [activity("Frage: Wohin?", "<p>Ans Meer.</p>", "<p>In die Berge.</p>")])
    assert said(c)[0] == ("user", "Frage: Wohin?")
    assert len(c.turns) == 1
    assumed = [text for kind, text, _ in notes if kind == "assumed"]
    assert "activities do not begin with 'Prompted': their titles are read as the prompts" in assumed
    assert "prompts have several replies, drafts or parts: read as one" in assumed


STUDIO = {
    "runSettings": {"model": "models/model-a", "temperature": 1.0},
    "systemInstruction": {"text": "Be brief."},
    "chunkedPrompt": {
        "chunks": [
            {"role": "user", "driveDocument": {"id": "d"}, "tokenCount": 258},
            {"role": "user", "text": "Sum it up."},
            {"role": "model", "text": "Look at it.", "isThought": True},
            {"role": "model", "text": "It is about tea."},
        ]
    },
}


def test_a_prompt_of_ai_studio(tmp_path):
    (c,), _ = read(tmp_path, STUDIO, "prompt.json")
    assert c.candidate == "models/model-a"
    assert said(c) == [
        ("system", "Be brief."),
        ("user", "[file]\nSum it up."),
        ("assistant", "It is about tea."),
    ]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (activity("Prompted x") | {"safeHtmlItem": [{"html": 4}]}, "no list of HTML"),
        ({**STUDIO, "chunkedPrompt": {"chunks": 4}}, "the chunks are 4: not a list"),
        ({**STUDIO, "chunkedPrompt": {"chunks": [4]}}, "message 1 is 4: not an object"),
        (
            {**STUDIO, "chunkedPrompt": {"chunks": [{"role": "cat", "text": "miaow"}]}},
            "unknown role 'cat'",
        ),
        ({**STUDIO, "chunkedPrompt": {"chunks": [{"role": "user"}]}}, "nobody says anything"),
        (4, "the record is 4"),
    ],
)
def test_what_cannot_be_read_is_a_fault(tmp_path, record, message):
    (c, fault), _ = read(tmp_path, [activity("Prompted a", "<p>b</p>"), record])
    assert c.id
    assert isinstance(fault, RecordFault)
    assert message in str(fault)
    assert "record 2" in str(fault)


def test_a_session_of_the_command_line(tmp_path):
    result = [{"functionResponse": {"id": "c1", "name": "find", "response": {"output": "5"}}}]
    call = {"id": "c1", "name": "find", "args": {"q": 1}, "result": result, "status": "success"}
    about = {"content": "Yes.", "thoughts": [{"subject": "s"}], "model": "m", "toolCalls": [call]}
    messages = [
        {"id": "1", "type": "user", "content": "Ready?"},
        {"id": "2", "type": "gemini", **about},
        {"id": "3", "type": "info", "content": "Cancelled."},
    ]
    path = tmp_path / "session.json"
    path.write_text(json.dumps({"sessionId": "g1", "projectHash": "h", "messages": messages}, indent=1))
    reader = read_conversations([str(path)])
    (talk,) = reader
    assert [(m.role, m.text) for m in talk.messages if m.text] == [
        ("user", "Ready?"),
        ("tool", "5"),
        ("assistant", "Yes."),
    ]
    assert (talk.id, talk.candidate) == ("g1", "m")
    assert any("of the program itself" in note.text for note in reader.notes)
    messages[2]["type"] = "hologram"
    path.write_text(json.dumps({"sessionId": "g1", "messages": messages}, indent=1))
    (fault,) = read_conversations([str(path)])
    assert "message 3 has the unknown role 'hologram'" in str(fault)
