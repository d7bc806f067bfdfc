"""Chats as text: labelled lines, and the exports of WhatsApp from Android and iPhones."""

import pytest

from dialogauge.core import FileFault, RecordFault
from dialogauge.data import read_conversations
from dialogauge.data.field_map import FieldMap

HELLO = [("user", "Do you deliver?"), ("assistant", "Yes.\n\nFrom 20 euros on."), ("user", "To Leith?")]


def read(tmp_path, text, **options):
    path = tmp_path / "talk.txt"
    path.write_text(text, encoding="utf-8")
    reader = read_conversations([str(path)], **options)
    return list(reader), [str(note) for note in reader.notes]


def said(talk):
    return [(m.role, m.text) for m in talk.messages]


@pytest.mark.parametrize(
    ("user", "assistant"),
    [
        ("User: ", "Assistant: "),
        ("**User:** ", "**Assistant:** "),
        ("Human: ", "AI: "),
        ("### Customer:\n", "### Agent:\n"),
        ("[user]: ", "[bot]: "),
        ("Q: ", "A: "),
        ("用户：", "客服："),
        ("**客户**： ", "**智能客服**："),
        ("Ana: ", "Shop: "),
    ],
)
def test_labelled_lines(tmp_path, user, assistant):
    text = f"{user}Do you deliver?\n{assistant}Yes.\n\nFrom 20 euros on.\n\n{user}To Leith?\n"
    (talk,), notes = read(tmp_path, text, format="chat")
    assert said(talk) == HELLO
    assert talk.id == "talk_1"
    if user not in ("Ana: ", "Q: "):
        assert said(read(tmp_path, text)[0][0]) == HELLO
        assert any("read as chat" in note for note in notes)
    assert any("speaker 'Ana': read as user" in note for note in notes) == (user == "Ana: ")


def test_two_speakers_in_turn_are_recognised_and_the_assumption_is_noted(tmp_path):
    text = "Ana: Hi\nDesk: Hello\nAna: Open today?\nDesk: From nine.\n"
    (talk,), notes = read(tmp_path, text)
    assert said(talk)[2:] == [("user", "Open today?"), ("assistant", "From nine.")]
    assert any("1 chat has a speaker 'Desk': read as assistant" in note for note in notes)
    mapping = FieldMap(roles={"Ana": "assistant", "Desk": "user"})
    (talk,), _ = read(tmp_path, text, mapping=mapping)
    assert [m.role for m in talk.messages] == ["assistant", "user", "assistant", "user"]


def test_lines_between_conversations_and_labels_that_are_none(tmp_path):
    text = (
        "Conversation 1\nSystem: Be kind.\nUser: Which tea?\nAssistant: These:\nGreen: mild\nNote: hot\n"
        "---\nConversation 2:\nUser: Bye\nAssistant: Bye!\n=====\n"
    )
    (a, b), _ = read(tmp_path, text)
    assert said(a)[0] == ("system", "Be kind.")
    assert said(a)[2] == ("assistant", "These:\nGreen: mild\nNote: hot")
    assert (b.id, b.place.line, said(b)) == ("talk_2", 9, [("user", "Bye"), ("assistant", "Bye!")])


ANDROID = """12/31/23, 9:41 PM - Messages and calls are end-to-end encrypted.
12/31/23, 9:42\u202fPM - Ana: Do you deliver?
12/31/23, 9:43 PM - Corner Shop: Yes.

From 20 euros on.
1/1/24, 10:02 AM - Ana: To Leith?
"""
IPHONE = """[31/12/2023, 21:41:00] Corner Shop: \u200eMessages are encrypted.
[31/12/2023, 21:42:07] Ana: Do you deliver?
\u200e[31/12/2023, 21:43:10] Corner Shop: Yes.

From 20 euros on.
[01/01/2024, 10:02:00] Ana: To Leith?
"""
GERMAN = ANDROID.replace("12/31/23, 9:4", "31.12.23, 21:4").replace("\u202fPM", "").replace(" PM", "")


@pytest.mark.parametrize("text", [ANDROID, GERMAN])
def test_whatsapp_on_android(tmp_path, text):
    (talk,), notes = read(tmp_path, text)
    assert said(talk) == HELLO
    assert talk.messages[2].extra == {"time": "1/1/24, 10:02 AM"}
    assert any("1 line was left out: of a messenger itself" in note for note in notes)
    assert any("speaker 'Corner Shop': read as assistant" in note for note in notes)


def test_whatsapp_on_an_iphone_with_named_roles(tmp_path):
    mapping = FieldMap(roles={"Ana": "user", "Corner Shop": "assistant"})
    (talk,), notes = read(tmp_path, IPHONE, mapping=mapping)
    assert said(talk) == HELLO
    assert any("1 line was left out: of a messenger itself" in note for note in notes)


def test_a_day_with_points_in_brackets_is_no_json(tmp_path):
    (talk,), _ = read(tmp_path, IPHONE.replace("31/12/2023", "01.01.24").replace("01/01/2024", "01.01.24"))
    assert said(talk) == HELLO


def test_three_speakers_without_a_map_are_a_fault(tmp_path):
    text = ANDROID + "1/1/24, 10:03 AM - Bo: Me too\n"
    with_a_fault, _ = read(tmp_path, text)
    assert isinstance(with_a_fault[0], RecordFault)
    assert "other speakers: 'Ana', 'Corner Shop', 'Bo'" in str(with_a_fault[0])
    assert "--map 'roles.Ana=user" in with_a_fault[0].hint


@pytest.mark.parametrize(
    "text",
    [
        "Just some prose: with a colon.\nAnd more.\n",
        "title: x\nauthor: y\ndate: z\n",
        "Note: this\n",
        "a: 1\n",
    ],
)
def test_other_texts_are_no_chats(tmp_path, text):
    with pytest.raises(FileFault, match="unknown format"):
        read(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        "10:00 User: Hi\n10:01 Bot: Hello\n",
        "User (10:00): Hi\nBot (10:01): Hello\n",
        "[2026-03-01 10:00:00] User: Hi\n[2026-03-01 10:00:05] Assistant: Hello\n",
        "# A talk\n\n**User**: Hi\n\n**Assistant**: Hello\n",
    ],
)
def test_times_and_titles_beside_the_speakers(tmp_path, text):
    (talk,), _ = read(tmp_path, text)
    assert said(talk) == [("user", "Hi"), ("assistant", "Hello")]


def test_a_map_cannot_order_a_chat(tmp_path):
    with pytest.raises(FileFault, match="the format chat has an order of its own") as fault:
        read(tmp_path, "User: Hi\nBot: Hello\n", mapping=FieldMap(order_by="time"))
    assert "leave `order_by` out" in fault.value.hint


def test_rules_between_messages_part_no_conversations(tmp_path):
    text = "**You:**\n\nDo you deliver?\n\n---\n\n**Claude:**\n\nYes.\n\n---\n\n**You:**\n\nTo Leith?\n"
    (talk,), _ = read(tmp_path, text)
    assert said(talk) == [("user", "Do you deliver?"), ("assistant", "Yes."), ("user", "To Leith?")]
    first, second = read(tmp_path, "You: Hi\nClaude: Hello\n---\nYou: Bye\nClaude: Bye\n")[0]
    assert (len(first.messages), len(second.messages)) == (2, 2)


def test_a_table_with_chats_in_its_cells_is_no_chat(tmp_path):
    path = tmp_path / "talk.csv"
    path.write_text('id,chat\n1,"User: Hi\nBot: Hello"\n2,"User: Bye\nBot: Bye"\n')
    with pytest.raises(FileFault, match="as a table it has the columns 'id', 'chat'"):
        list(read_conversations([str(path)]))


FENCED = """User: How do I write a log?
Assistant: Like so:
```
User: hi
---
Assistant: yo
```
That is all.
User: Thanks
Assistant: ~~~python
User = 1
User: x
~~~
"""


def test_code_blocks_are_nobodys_words(tmp_path):
    path = tmp_path / "log.txt"
    path.write_text(FENCED)
    reader = read_conversations([str(path)])
    (talk,) = reader
    assert [m.role for m in talk.messages] == ["user", "assistant", "user", "assistant"]
    assert talk.messages[1].text == "Like so:\n```\nUser: hi\n---\nAssistant: yo\n```\nThat is all."
    (note,) = (note for note in reader.notes if "lines of code" in note.text)
    assert note.count == 3


@pytest.mark.parametrize("after", ["", "\nUser: And?\nAssistant: ```\nx\n```"])
def test_a_code_block_that_nobody_closes_swallows_nothing(tmp_path, after):
    path = tmp_path / "log.txt"
    path.write_text(
        f"User: How?\nAssistant: ```python\nprint(1)\nUser: Cut off?\nAssistant: ```py\nx\n```{after}\n"
    )
    (talk,) = read_conversations([str(path)])
    assert [m.text for m in talk.messages][:3] == ["How?", "```python\nprint(1)", "Cut off?"]
    assert len(talk.messages) == (6 if after else 4)


def test_what_happened_to_messages_of_a_messenger_is_counted(tmp_path):
    lines = ("Ana: Hi", "Bot: <Media omitted>", "Ana: This message was deleted", "Bot: \u200eimage omitted")
    lines += ("Ana: Open? <This message was edited>", "Bot: a.pdf (file attached)")
    path = tmp_path / "log.txt"
    path.write_text(
        "".join(f"01/03/2026, 10:0{n} - {line}\n" for n, line in enumerate(lines)), encoding="utf-8"
    )
    reader = read_conversations([str(path)])
    (talk,) = reader
    assert [m.text for m in talk.messages if m.role == "user"] == ["Hi", "Open?"]
    counts = {note.text.partition(":")[0].partition(",")[0]: note.count for note in reader.notes}
    assert (counts["messages were left out"], counts["messages were edited"]) == (1, 1)
    assert counts["messages have a file"] == 3


def test_who_of_several_in_one_role_spoke_is_kept(tmp_path):
    path = tmp_path / "log.txt"
    path.write_text("User: Hi\nAssistant: Yes\nBot: And me\n")
    (talk,) = read_conversations([str(path)])
    assert [m.extra.get("speaker") for m in talk.messages] == [None, "Assistant", "Bot"]


@pytest.mark.parametrize("level", ["INFO", "DEBUG shop", "[ERROR] api"])
def test_the_log_of_a_program_is_no_chat(tmp_path, level):
    with pytest.raises(FileFault, match="unknown format"):
        read(tmp_path, f"2026-05-04 10:00:00 {level}: started\n2026-05-04 10:00:01 {level}: stopped\n")
