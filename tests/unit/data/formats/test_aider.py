"""Histories that aider writes."""

from dialogauge.data import read_conversations

HISTORY = """
# aider chat started at 2026-01-05 10:11:12

> Aider v0.70.0\x20\x20
> Main model: model-a with diff edit format\x20\x20

#### /add zip.py\x20\x20

> Added zip.py to the chat\x20\x20

#### add a test for zip\x20\x20
#### and run it\x20\x20

# Plan

> quoted by the model

```
#### a heading in code
```

> Tokens: 2.1k sent, 80 received.\x20\x20

#### /ask why\x20\x20

To be safe.

# aider chat started at 2026-01-06 09:00:00

#### /exit\x20\x20
"""


def read(tmp_path, text):
    path = tmp_path / ".aider.chat.history.md"
    path.write_text(text, encoding="utf-8")
    reader = read_conversations([str(path)])
    return list(reader), {note.text: note.count for note in reader.notes}


def test_what_was_asked_and_replied(tmp_path):
    (talk,), notes = read(tmp_path, HISTORY)
    assert [(m.role, m.text) for m in talk.messages] == [
        ("user", "add a test for zip\nand run it"),
        ("assistant", "# Plan\n\n> quoted by the model\n\n```\n#### a heading in code\n```"),
        ("user", "/ask why"),
        ("assistant", "To be safe."),
    ]
    assert (talk.id, talk.place.line) == (".aider.chat.history.md_1", 2)
    assert talk.metadata == {"started": "2026-01-05 10:11:12"}
    assert notes["lines were left out: of aider itself"] == 4
    assert notes["messages were left out: commands of the user without a reply"] == 2
    assert notes["sessions were left out: nothing was asked"] == 1


def test_a_file_without_line_breaks_at_the_ends_of_lines(tmp_path):
    text = "# aider chat started at 2026-01-05 10:11:12\n\n#### hello\n\nHi.\n\n> Tokens: 2\n"
    (talk,), _ = read(tmp_path, text)
    assert [(m.role, m.text) for m in talk.messages] == [("user", "hello"), ("assistant", "Hi.")]
