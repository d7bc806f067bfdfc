"""Tables with one message a row, or a prompt and its reply, in CSV, JSON and memory."""

import gzip
import json

import pytest

from dialogauge.core import FileFault, Rating, RecordFault
from dialogauge.data import memory_conversations, read_conversations
from dialogauge.data.field_map import FieldMap
from dialogauge.data.formats.threads import moment_of

pandas = pytest.importorskip("pandas")


def read(tmp_path, text, name="a.csv", **options):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    reader = read_conversations([str(path)], **options)
    return list(reader), [n.text for n in reader.notes if n.kind == "assumed"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_usual_columns(tmp_path, delimiter):
    rows = ["conversation_id,role,content,user_id,rating,tag", "a,user,hi,u1,,x", 'a,assistant,"y\no",u1,4,']
    text = "\ufeff" + "\n".join([*rows, "b,user,hi,u2,,"]).replace(",", delimiter)
    (a, b), _ = read(tmp_path, text)
    assert (a.id, a.user_id, b.id) == ("a", "u1", "b")
    assert [(m.role, m.text) for m in a.messages] == [("user", "hi"), ("assistant", "y\no")]
    assert a.messages[0].extra == {"tag": "x"}
    assert a.ratings == (Rating("a", "rating", 4, 1),)
    assert (a.place.line, b.place.line) == (2, 5)


@pytest.mark.parametrize(
    "text",
    [
        "会话ID,时间,发送者,内容\n1,10:00,客户,几点开门？\n1,10:01,客服,九点。\n",
        "对话 ID,角色,消息\n1,用户,几点开门？\n1,助手,九点。\n",
        "问题,回答\n几点开门？,九点。\n",
        "用户,机器人\n几点开门？,九点。\n",
    ],
)
def test_the_usual_columns_in_chinese(tmp_path, text):
    (talk,), _ = read(tmp_path, text)
    assert [(m.role, m.text) for m in talk.messages] == [("user", "几点开门？"), ("assistant", "九点。")]


def test_a_spreadsheet_that_parts_cells_by_semicolons(tmp_path):
    """As a spreadsheet program writes it where the comma is the decimal mark; formulas are texts here."""
    text = (
        'sep=;\r\n\r\nconversation_id;role;content;"mood (1,2,3,4,5)"\r\n'
        'a;user;=1+1;\r\na;assistant;"no; 3,5";4\r\n\r\na;user\r\n'
    )
    for given in (text, text.removeprefix("sep=;\r\n")):
        mapping = FieldMap(ratings={"mood": "mood (1,2,3,4,5)"})
        (fault,), _ = read(tmp_path, given, mapping=mapping)
        assert "the row has 2 cells, the header 4 columns" in fault.message
        assert fault.place.line == given.count("\n")
        (c,), _ = read(tmp_path, given.removesuffix("a;user\r\n"), mapping=mapping)
        assert [m.text for m in c.messages] == ["=1+1", "no; 3,5"]
        assert c.ratings[0].score == 4
        assert c.place.line == given.count("\n") - 3


def test_other_columns_by_a_map(tmp_path):
    mapping = FieldMap(
        conversation_id="Ticket",
        role="Wer",
        content="Was",
        ratings={"satisfaction": "Note"},
        roles={"Kunde": "user", "Berater": "assistant"},
    )
    text = "Ticket;Wer;Was;Note\n7;Kunde;Hallo;\n7;Berater;Guten Tag;3,5\n"
    (c,), _ = read(tmp_path, text, mapping=mapping)
    assert c.ratings[0].score == "3,5", "a decimal comma is not guessed at: a category, off any scale"
    (c,), assumed = read(tmp_path, text.replace("3,5", "3.5"), mapping=mapping)
    assert c.ratings == (Rating("7", "satisfaction", 3.5, 1),)
    assert assumed == []


def test_what_was_guessed_is_told(tmp_path):
    (c,), assumed = read(tmp_path, "session_id,speaker,text\n1,Human,hi\n1,bot,yo\n")
    assert [m.role for m in c.messages] == ["user", "assistant"]
    assert any("conversation_id = session_id" in text for text in assumed)
    assert any("'bot': read as assistant" in text for text in assumed)


def test_without_ids_it_is_one_conversation(tmp_path):
    (c,), assumed = read(tmp_path, "role,content\nuser,hi\nassistant,yo\n")
    assert c.id == "a.csv"
    assert any("one conversation" in text for text in assumed)


def noted(path, **options):
    reader = read_conversations([str(path)], **options)
    return list(reader), [str(note) for note in reader.notes]


def said(conversation):
    return [(m.role, m.text) for m in conversation.messages]


def write(tmp_path, records, name="a.jsonl"):
    path = tmp_path / name
    path.write_text("\n".join(json.dumps(record) for record in records) + "\n")
    return path


def test_rows_of_two_conversations_in_turn(tmp_path):
    text = "id,role,content\na,user,1\nb,user,3\na,assistant,2\nb,assistant,4\na,user,5\n"
    (tmp_path / "a.csv").write_text(text)
    (a, b), notes = noted(tmp_path / "a.csv")
    assert said(a) == [("user", "1"), ("assistant", "2"), ("user", "5")]
    assert said(b) == [("user", "3"), ("assistant", "4")]
    assert (a.place.line, b.place.line) == (2, 3)
    assert any("rows of one conversation apart: put together by 'id'" in note for note in notes)


def message(session, time, role, content, **more):
    return {"session_id": session, "timestamp": time, "role": role, "content": content, **more}


TALK = [
    message("s", "2026-03-01T10:00:00Z", "user", "Do you deliver?"),
    message("t", "2026-03-01T10:00:30+00:00", "user", "Open today?"),
    message("s", "2026-03-01 10:00:59", "assistant", "Yes.", rating=4),
    message("s", "2026-03-01T11:01:00+01:00", "user", "To Leith?"),
    message("t", "2026-03-01T10:01:00.5Z", "assistant", "From nine."),
    message("s", "2026-03-01 10:02:00 UTC", "assistant", "On weekdays.", rating=5),
]
S = ["Do you deliver?", "Yes.", "To Leith?", "On weekdays."]


@pytest.mark.parametrize("order", [lambda n: n, lambda n: -n, lambda n: (n * 5) % 6 + n / 9])
@pytest.mark.parametrize("form", ["jsonl", "json"])
def test_records_of_a_message_are_grouped_and_put_in_order_of_time(tmp_path, order, form):
    records = [TALK[n] for n in sorted(range(6), key=order)]
    path = write(tmp_path, records)
    if form == "json":
        path.write_text(json.dumps(records, indent=1))
    outcomes, notes = noted(path)
    talks = {c.id: c for c in outcomes}
    assert [m.text for m in talks["s"].messages] == S
    assert [m.text for m in talks["t"].messages] == ["Open today?", "From nine."]
    assert [(r.dimension, r.score, r.turn) for r in talks["s"].ratings] == [
        ("rating", 4, 1),
        ("rating", 5, 2),
    ]
    assert sorted(r.turn for r in talks["s"].ratings) == [1, 2]
    assert any("read as rows" in note for note in notes)


def test_the_latest_row_first_with_times_that_are_the_same(tmp_path):
    rows = [message("s", n // 2, "user" if n % 2 == 0 else "assistant", str(n)) for n in range(6)]
    (talk,), notes = noted(write(tmp_path, rows[::-1]))
    assert [m.text for m in talk.messages] == list("012345")
    assert any("not in order: put in that of 'timestamp'" in note for note in notes)


BY_TURN = [
    ("a", 1, "user"),
    ("a", 1, "assistant"),
    ("a", 2, "user"),
    ("a", 2, "assistant"),
    ("a", 10, "user"),
]


@pytest.mark.parametrize("order", [[4, 3, 2, 1, 0], [4, 2, 3, 0, 1], [2, 3, 0, 1, 4], [3, 0, 4, 1, 2]])
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_rows_without_a_time_are_put_in_order_of_their_turns(tmp_path, order, form):
    lines = [f"{c},{turn},{role},{n}" for n, (c, turn, role) in enumerate(BY_TURN)]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["conversation_id,turn,role,content", *(lines[n] for n in order)]) + "\n")
    if form == "jsonl":
        names = ("conversation_id", "turn", "role", "content")
        values = [(*BY_TURN[n], str(n)) for n in order]
        path = write(tmp_path, [dict(zip(names, one, strict=True)) for one in values])
    (talk,), notes = noted(path)
    assert [m.text for m in talk.messages] == list("01234")
    assert any("not in order: put in that of 'turn'" in note for note in notes)


def test_rows_of_two_conversations_are_put_in_order_of_their_turns(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("chat_id,turn,role,text\na,2,user,a3\nb,1,user,b1\na,1,user,a1\nb,1,bot,b2\na,1,bot,a2\n")
    (a, b), _ = noted(path)
    assert [m.text for m in a.messages] == ["a1", "a2", "a3"]
    assert [m.text for m in b.messages] == ["b1", "b2"]


@pytest.mark.parametrize(
    ("turns", "said"),
    [([1, 1, 2, 2, 1, 1], "begins anew"), ([1, 1, "x", 2, 1, 1], ""), ([1, 1, 2, 2, 3, 3], "")],
)
def test_turns_that_are_no_order_leave_that_of_the_file(tmp_path, turns, said):
    rows = [f"a,{turn},{('user', 'assistant')[n % 2]},{n}" for n, turn in enumerate(turns)]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["conversation_id,turn,role,content", *rows]) + "\n")
    (talk,), notes = noted(path)
    assert [m.text for m in talk.messages] == list("012345")
    assert any("order of the file" in note for note in notes) == bool(said)
    assert all(said in note for note in notes if "order of the file" in note)


def test_sessions_of_a_user_keep_the_order_of_the_file(tmp_path):
    rows = [f"u,{turn},{role},{turn}{role[0]}" for turn in (2, 1, 2) for role in ("user", "assistant")]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["user_id,turn,role,content", *rows]) + "\n")
    (talk,), _ = noted(path)
    assert [m.text for m in talk.messages] == ["2u", "2a", "1u", "1a", "2u", "2a"]


def test_times_that_are_none_leave_the_order_of_the_file(tmp_path):
    rows = [message("s", time, "user", time) for time in ("yesterday", "today")]
    (talk,), notes = noted(write(tmp_path, rows))
    assert [m.text for m in talk.messages] == ["yesterday", "today"]
    assert any("no number and no time in 'timestamp': they keep the order" in note for note in notes)
    with pytest.raises(FileFault, match=r"a\.jsonl:1: column 'timestamp' holds 'yesterday'"):
        noted(write(tmp_path, rows), mapping=FieldMap(order_by="timestamp"))


def test_order_by_a_map_and_by_a_nested_path(tmp_path):
    rows = [{"s": 1, "who": "user", "said": str(n), "meta": {"at.ms": 9 - n}} for n in range(3)]
    mapping = FieldMap(conversation_id="s", role="who", content="said", order_by="meta.at.ms")
    (talk,), _ = noted(write(tmp_path, rows), mapping=mapping)
    assert [m.text for m in talk.messages] == ["2", "1", "0"]


def test_an_id_that_differs_in_each_row_is_none_of_a_conversation(tmp_path):
    roles = ("user", "user", "assistant", "assistant")
    rows = [{"id": n, "user_id": "ab"[n % 2], "role": r, "content": str(n)} for n, r in enumerate(roles)]
    talks, notes = noted(write(tmp_path, rows))
    assert [(c.id, [m.text for m in c.messages]) for c in talks] == [("a", ["0", "2"]), ("b", ["1", "3"])]
    assert any("another 'id' in each row" in note for note in notes)
    assert any("rows of a user read as one conversation" in note for note in notes)


def test_threads_of_one_session_are_apart(tmp_path):
    rows = [{"session_id": "s", "thread_id": t, "role": "user", "content": t} for t in "abab"]
    talks, _ = noted(write(tmp_path, rows))
    assert [(c.id, len(c.messages)) for c in talks] == [("a", 2), ("b", 2)]


def test_tools_parts_and_null_of_messages_in_rows(tmp_path):
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    rows = [
        {"session_id": "s", "role": "user", "content": [{"type": "text", "text": "Ready?"}]},
        {"session_id": "s", "role": "assistant", "content": None, "tool_calls": [call]},
        {"session_id": "s", "role": "tool", "content": "yes", "tool_call_id": "c1"},
        {"session_id": "s", "role": "assistant", "content": "Yes."},
    ]
    (talk,), _ = noted(write(tmp_path, rows))
    assert talk.messages[1].tool_calls[0].name == "find"
    assert talk.messages[2].tool_call_id == "c1"
    assert talk.messages[0].text == "Ready?"
    table = "session_id,role,content,tool_calls,tool_call_id\n" + "s,user,Ready?,,\n"
    table += 's,assistant,,"' + json.dumps([call]).replace('"', '""') + '",\ns,tool,yes,,c1\n'
    (tmp_path / "a.csv").write_text(table)
    (talk,), _ = noted(tmp_path / "a.csv")
    assert talk.messages[1].tool_calls[0].name == "find"
    assert talk.messages[2].tool_call_id == "c1"


def test_prompts_and_replies(tmp_path):
    rows = [
        {"question": "Do you deliver?", "answer": "Yes.", "stars": 4, "model": "m", "latency": 3},
        {"question": "Open today?", "answer": None},
        {"question": None, "answer": "Hello!"},
    ]
    (a, b, c), notes = noted(write(tmp_path, rows))
    assert (a.id, a.candidate) == ("a.jsonl:1", "m")
    assert said(a) == [("user", "Do you deliver?"), ("assistant", "Yes.")]
    assert a.ratings == (Rating("a.jsonl:1", "stars", 4, 1),)
    assert a.messages[1].extra == {"latency": 3}
    assert said(b) == [("user", "Open today?")]
    assert said(c) == [("assistant", "Hello!")]
    assert any("prompt = question, reply = answer" in note for note in notes)
    assert any("each row read as one conversation" in note for note in notes)


def test_prompts_and_replies_of_a_session(tmp_path):
    text = "Session ID,User Message,Bot Response,createdAt,system_prompt\n"
    text += "s,To Leith?,On weekdays.,1772359260,Be kind.\nt,Open?,From nine.,1772359230,\n"
    text += "s,Do you deliver?,Yes.,1772359200,Be kind.\n"
    (tmp_path / "a.csv").write_text(text)
    (s, t), _ = noted(tmp_path / "a.csv")
    assert said(s)[0] == ("system", "Be kind.")
    assert [m.text for m in s.messages[1:]] == S
    assert said(t) == [("user", "Open?"), ("assistant", "From nine.")]


def test_prompt_and_reply_by_a_map_with_nested_keys(tmp_path):
    record = {
        "req": {"body": {"q": "Hi"}},
        "res": {"choices": [{"text": "no"}, {"text": "Hello"}]},
        "fb": "up",
    }
    mapping = FieldMap(prompt="req.body.q", reply="res.choices.-1.text", ratings={"helpful": "fb"})
    (talk,), _ = noted(write(tmp_path, [record]), mapping=mapping)
    assert said(talk) == [("user", "Hi"), ("assistant", "Hello")]
    assert talk.ratings == (Rating(talk.id, "helpful", "up", 1),)


def test_a_prompt_of_messages(tmp_path):
    prompt = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi"}]
    (talk,), _ = noted(write(tmp_path, [{"id": "p", "prompt": prompt, "completion": "Hello"}]))
    assert said(talk) == [("system", "Be kind."), ("user", "Hi"), ("assistant", "Hello")]


def test_messages_in_a_cell(tmp_path):
    chat = [
        {"role": "user", "content": 'Say "hi",\nplease'},
        {"role": "assistant", "content": "hi", "rating": 4},
    ]
    path = tmp_path / "a.csv"
    frame = pandas.DataFrame({"id": ["x", "y", "z"], "messages": [json.dumps(chat), str(chat), "[{'a"]})
    frame.to_csv(path, index=False)
    (x, y, fault), notes = noted(path)
    assert said(x) == said(y) == [("user", 'Say "hi",\nplease'), ("assistant", "hi")]
    assert (x.id, x.ratings) == ("x", (Rating("x", "rating", 4, 1),))
    assert "not a list (write the list as JSON: is it cut off?)" in str(fault)
    assert any("JSON in strings or cells, read as such: 'messages'" in note for note in notes)
    assert said(next(iter(read_conversations([str(path)], format="csv")))) == said(x)
    talk = [{"from": "human", "value": "Name a river."}, {"from": "gpt", "value": "The Wye."}]
    pandas.DataFrame({"conversations": [json.dumps(talk)], "model": ["m"]}).to_csv(path, sep=";", index=False)
    ((one,), _) = noted(path)
    assert (one.candidate, said(one)) == ("m", [("user", "Name a river."), ("assistant", "The Wye.")])


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"prompt": "a", "response": {"text": "b"}}, "the reply is {'text': 'b'}: no text"),
        ({"prompt": True, "response": [1]}, "the reply is [1]: no text"),
        ({"prompt": "", "response": None}, "the conversation has no messages"),
        ({"prompt": "a", "response": "b", "rating": {"x": []}}, "a rating"),
    ],
)
def test_a_row_that_cannot_be_read_is_a_fault_of_its_own(tmp_path, row, why):
    path = write(tmp_path, [{"prompt": "q", "response": "r"}, row, {"prompt": "s", "response": "t"}])
    (a, fault, b), _ = noted(path)
    assert isinstance(fault, RecordFault)
    assert why in str(fault)
    assert fault.place.line == 2
    assert [m.text for m in (*a.messages, *b.messages)] == ["q", "r", "s", "t"]


def test_a_rating_on_a_row_of_the_system_is_none_of_the_conversation(tmp_path):
    text = "id,role,content,rating\na,system,Be kind.,1\na,user,hi,\na,assistant,yo,5\n"
    (tmp_path / "a.csv").write_text(text)
    (talk,), notes = noted(tmp_path / "a.csv")
    assert talk.ratings == (Rating("a", "rating", 5, 1),)
    assert any("of the system has a rating: not used" in note for note in notes)


def test_columns_that_hold_ratings_only_sometimes(tmp_path):
    rows = [{"prompt": "a", "reply": "b", "feedback": f} for f in ("up", "too long", 0, "")]
    talks, notes = noted(write(tmp_path, rows))
    assert [[r.score for r in t.ratings] for t in talks] == [["up"], [], [0], []]
    assert any("neither a number nor a thumb: not used" in note for note in notes)


def test_a_broken_row_among_rows_that_stand_apart_spoils_the_conversation_before_it(tmp_path):
    text = "id,role,content\na,user,1\nb,user,1\nb,assistant\na,assistant,2\n"
    (tmp_path / "a.csv").write_text(text)
    (a, b), _ = noted(tmp_path / "a.csv")
    assert len(a.messages) == 2
    assert "the row has 2 cells, the header 3 columns: the conversation is left out" in str(b)


def test_a_table_whose_rows_stand_apart_and_that_breaks_off(tmp_path):
    text = b"id,role,content\n" + b"a,user,1\n" * 40 + b"b,user,1\na,assistant,2\n"
    (tmp_path / "a.csv").write_bytes(gzip.compress(text) + gzip.compress(b"b,assistant,1\n")[:8])
    (*cut, end), _ = noted(tmp_path / "a.csv")
    assert [fault.place.conversation_id for fault in cut] == ["a", "b"]
    assert all("breaks off within this conversation" in str(fault) for fault in cut)
    assert isinstance(end, FileFault)


def test_rows_in_memory_are_those_of_a_file(tmp_path):
    talks = list(memory_conversations(TALK[::-1]))
    assert {c.id: [m.text for m in c.messages] for c in talks} == {"s": S, "t": ["Open today?", "From nine."]}
    (fault, talk) = memory_conversations([{"prompt": "a", "reply": {}}, {"prompt": "a", "reply": "b"}])
    assert str(fault).startswith("source[0]")
    assert talk.id == "source:1"
    frame = pandas.DataFrame({"question": ["Open?"], "answer": ["Yes."], "rating": [4]})
    reader = memory_conversations(frame)
    assert reader.count() == 1
    (talk,) = reader
    assert said(talk) == [("user", "Open?"), ("assistant", "Yes.")]
    assert talk.ratings[0].score == 4


@pytest.mark.parametrize(
    ("row", "message"),
    [("a,king,x", "unknown role 'king'"), ("a,assistant,x,y", "4 cells, the header 3")],
)
def test_a_bad_row_spoils_its_conversation_only(tmp_path, row, message):
    (fault, b), _ = read(tmp_path, f"id,role,content\na,user,1\n{row}\nb,user,1\nb,assistant,2\n")
    assert isinstance(fault, RecordFault)
    assert message in str(fault)
    assert fault.place.line == 3
    assert b.id == "b"


def test_a_missing_mapped_column_and_a_doubled_one(tmp_path):
    with pytest.raises(FileFault, match=r"no column 'Was'.*it has id, role, content"):
        read(tmp_path, "id,role,content\na,user,1\n", mapping=FieldMap(content="Was"), format="csv")
    with pytest.raises(FileFault, match="two columns named 'role'"):
        read(tmp_path, "id,role,role,content\na,user,user,1\n")


def test_a_long_cell(tmp_path):
    (c,), _ = read(tmp_path, f"id,role,content\na,user,{'x' * 300_000}\n")
    assert len(c.messages[0].text) == 300_000


def test_a_table_that_breaks_off(tmp_path):
    text = b"id,role,content\n" + b"a,user,1\na,assistant,2\n" * 20 + b"b,user,1\n"
    (a, cut, fault), _ = read(tmp_path, gzip.compress(text) + gzip.compress(b"b,assistant,1\n")[:8])
    assert a.id == "a"
    assert isinstance(cut, RecordFault)
    assert cut.place.conversation_id == "b"
    assert isinstance(fault, FileFault)
    assert fault.place.line == 43


def test_a_header_that_is_no_row(tmp_path):
    with pytest.raises(FileFault, match=r"a\.csv:1: the header is no row"):
        read(tmp_path, b"id,ro\rle,content\na,user,1\n", format="csv")


def test_a_conversation_whose_rows_differ_is_counted_once(tmp_path):
    rows = "\n".join(f"{c},user,hi,{user}" for c in "ab" for user in ("u1", "", "u2", "u3"))
    path = tmp_path / "a.csv"
    path.write_text(f"conversation_id,role,content,user_id\n{rows}\n")
    reader = read_conversations([str(path)])
    assert [c.user_id for c in reader] == ["u1", "u1"]
    (note,) = (n for n in reader.notes if "differ" in n.text)
    assert note.count == 2


def test_prompts_and_replies_that_are_messages_as_json(tmp_path):
    asked = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo"}]
    first = {"session_id": "s", "input": json.dumps({"messages": asked[:1]}), "output": json.dumps(asked[1])}
    more = json.dumps({"messages": [*asked, {"role": "user", "content": "Bye"}]})
    first["latency"] = 3
    again = {"session_id": "s", "input": more, "output": "{brace} [1] bye"}
    (talk,), notes = noted(write(tmp_path, [first, again]), format="rows")
    assert said(talk) == [
        ("user", "Hi"),
        ("assistant", "Yo"),
        ("user", "Bye"),
        ("assistant", "{brace} [1] bye"),
    ]
    assert any("rows hold messages as JSON" in note or "row holds messages as JSON" in note for note in notes)
    assert any("the messages of those before: read once" in note for note in notes)
    plain = {"prompt": '{"a": 1}', "response": "An object."}
    (talk,), _ = noted(write(tmp_path, [plain]))
    assert said(talk) == [("user", '{"a": 1}'), ("assistant", "An object.")]


def test_an_instruction_with_an_input(tmp_path):
    rows = [
        {"instruction": "Translate.", "input": "Hallo", "output": "Hello"},
        {"instruction": "Hi", "output": "Yo"},
    ]
    (a, b), notes = noted(write(tmp_path, rows))
    assert said(a) == [("user", "Translate.\n\nHallo"), ("assistant", "Hello")]
    assert said(b) == [("user", "Hi"), ("assistant", "Yo")]
    assert any("joined by an empty line" in note for note in notes)


@pytest.mark.parametrize(
    ("early", "late"),
    [
        ("09:59", "10:00"),
        ("9:59 AM", "1:02 PM"),
        ("03/01/2026 11:00 AM", "03/01/2026 12:30 PM"),
        ("28.02.2026 10:00", "01.03.2026 09:00"),
        ("2026-03-01", "2026-03-02T00:00:01"),
        (999, "1e3"),
    ],
)
def test_times_in_other_forms(early, late):
    assert moment_of(early) < moment_of(late)
    assert moment_of("03/04/2026 10:00") is None, "the third of April, or March the fourth?"


def test_a_column_of_another_name_says_which_conversation_a_row_is_of(tmp_path):
    rows = [
        {"id": n, "supportThreadId": talk, "parentChatId": 1, "direction": way, "text": text}
        for n, (talk, way, text) in enumerate(
            (
                *((7, "INCOMING", "Open?"), (7, "OUTGOING", "Yes.")),
                *((8, "INCOMING", "Late?"), (8, "OUTGOING", "No.")),
            )
        )
    ]
    talks, notes = read(tmp_path, json.dumps({"results": rows}), "a.json")
    assert [(talk.id, [m.text for m in talk.messages]) for talk in talks] == [
        ("7", ["Open?", "Yes."]),
        ("8", ["Late?", "No."]),
    ]
    assert any("conversation_id = supportThreadId" in note for note in notes)


@pytest.mark.parametrize("mark", [{"type": "note"}, {"visibility": "Internal"}, {"isInternal": True}])
def test_notes_of_the_desk_are_left_out_and_counted(tmp_path, mark):
    said = [("user", "Open?", {}), ("agent", "She is rude.", mark), ("agent", "Yes.", {})]
    rows = [{"chat_id": "c", "from": who, "text": text, **more} for who, text, more in said]
    path = tmp_path / "a.jsonl"
    for text in ("\n".join(map(json.dumps, rows)), json.dumps({"id": "c", "turns": rows})):
        path.write_text(text, encoding="utf-8")
        reader = read_conversations([str(path)])
        assert [m.text for talk in reader for m in talk.messages] == ["Open?", "Yes."]
        assert any("left out: internal notes" in str(note) for note in reader.notes)


def test_a_map_names_roles_that_are_yes_or_no_or_numbers(tmp_path):
    for ours, theirs in ((False, True), (0, 1)):
        rows = [{"cid": 1, "us": ours, "say": "Open?"}, {"cid": 1, "us": theirs, "say": "Yes."}]
        roles = {str(ours).lower(): "user", str(theirs).lower(): "assistant"}
        mapping = FieldMap(conversation_id="cid", role="us", content="say", roles=roles)
        (talk,), _ = read(tmp_path, "\n".join(map(json.dumps, rows)), "a.jsonl", mapping=mapping)
        assert [m.role for m in talk.messages] == ["user", "assistant"]
        mapping = FieldMap(messages="log", role="us", content="say", roles=roles)
        (talk,), _ = read(tmp_path, json.dumps({"log": rows}), "a.jsonl", mapping=mapping)
        assert [m.role for m in talk.messages] == ["user", "assistant"]
