"""Reading as a whole: inputs, faults as values, notes, strictness."""

import gzip
import io
import json
import sys

import pytest

from dialogauge.core import Conversation, FileFault, RecordFault, UsageError
from dialogauge.data import read_conversations, read_ratings
from dialogauge.data.field_map import FieldMap


def record(name, *texts, **more):
    roles = ("user", "assistant")
    messages = [{"role": roles[i % 2], "content": text} for i, text in enumerate(texts)]
    return {"conversation_id": name, "messages": messages, **more}


def write(path, *records):
    lines = [r if isinstance(r, str) else json.dumps(r) for r in records]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def read(*inputs, **options):
    return list(read_conversations([str(i) for i in inputs], **options))


def notes_of(reader, kind):
    return [(n.text, n.count) for n in reader.notes if n.kind == kind]


def test_a_file_is_read_lazily_in_order(tmp_path):
    path = write(tmp_path / "a.jsonl", record("x", "hi", "hello"), record("y", "hi", "ho"))
    reader = read_conversations([path])
    assert reader.notes == ()
    assert [c.id for c in reader] == ["x", "y"]
    assert reader.files[path].format == "openai"
    assert reader.files[path].conversations == 2
    assert [c.id for c in reader] == ["x", "y"], "a second iteration reads anew"
    assert notes_of(reader, "recognised") == [("conversations read as openai", 2)]


def test_places_are_file_and_line(tmp_path):
    path = write(tmp_path / "a.jsonl", record("x", "hi", "hello"), "", record("y", "hi", "ho"))
    places = [str(c.place) for c in read(path)]
    assert places == [f"{path}:1, conversation 'x'", f"{path}:3, conversation 'y'"]


def test_what_will_be_read_is_counted_with_what_cannot_be(tmp_path):
    lines = write(tmp_path / "a.jsonl", record("a", "hi"), record("b", "ho"), "", "{broken")
    array = tmp_path / "b.json"
    array.write_text(json.dumps([record("c", "hi"), record("d", "hi"), record("e", "hi")]))
    table = tmp_path / "c.csv"
    table.write_text("conversation_id,role,content\nx,user,hi\nx,assistant,ho\ny,user,hi\n")
    for file, number in ((lines, 3), (array, 3), (table, 2), (tmp_path, 8)):
        reader = read_conversations([str(file)])
        assert reader.count() == number
        assert sum(1 for _ in reader) == number


def test_a_bad_line_is_a_value_and_the_next_is_read(tmp_path):
    path = write(
        tmp_path / "a.jsonl", record("x", "hi", "yo"), '{"messages": [{"role"', record("y", "a", "b")
    )
    first, fault, last = read(path)
    assert (first.id, last.id) == ("x", "y")
    assert isinstance(fault, RecordFault)
    assert str(fault).startswith(f"{path}:2: not JSON")
    assert "truncated" in fault.hint


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ('{"messages": [], "score": NaN}', "write null"),
        ("{'messages': []}", "json.dumps"),
        ('{"messages": []},', "without commas"),
        ('[{"messages": []}, {', "JSON array"),
        ("hello", "one JSON object per line"),
        ('{"messages": "', "middle of a value"),
    ],
)
def test_json_faults_carry_a_hint(tmp_path, line, hint):
    path = write(tmp_path / "a.jsonl", record("x", "hi", "yo"), line)
    fault = read(path)[1]
    assert hint in fault.hint


def test_a_bad_first_line_does_not_hide_the_format(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"messages": [', record("y", "a", "b"))
    fault, conversation = read(path)
    assert isinstance(fault, RecordFault)
    assert conversation.id == "y"


@pytest.mark.parametrize("indent", [None, 2])
def test_one_json_array_in_a_file(tmp_path, indent):
    path = tmp_path / "a.json"
    path.write_text(json.dumps([record("x", "hi", "yo"), 7, record("y", "a", "b")], indent=indent))
    first, fault, last = read(path)
    assert (first.id, last.id) == ("x", "y")
    assert str(fault).startswith(f"{path} record 2: the record is 7")


def test_one_pretty_object_in_a_file(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(record("x", "hi", "yo"), indent=1))
    assert [c.id for c in read(path)] == ["x"]


def test_a_truncated_array_is_a_file_fault_with_a_line(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps([record("x", "hi", "yo")], indent=1)[:-20])
    with pytest.raises(FileFault, match=r"a\.json:\d+: not JSON.*truncated"):
        read(path)


def test_gzip_and_standard_input(tmp_path, monkeypatch):
    line = json.dumps(record("x", "hi", "yo")).encode()
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(line))
    assert [c.id for c in read(path)] == ["x"]
    for raw in (line, gzip.compress(line)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(raw))))
        (conversation,) = read("-")
        assert conversation.id == "x"
        assert conversation.place.file == "<stdin>"


def test_a_truncated_gzip_gives_all_that_came_before(tmp_path):
    import random

    rng = random.Random(1)
    lines = [json.dumps(record(f"c{i}", rng.randbytes(60).hex(), "yo")) for i in range(1000)]
    packed = gzip.compress("\n".join(lines).encode())
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(packed[: len(packed) * 9 // 10])
    *before, fault = read(path)
    assert isinstance(fault, FileFault)
    assert "truncated" in str(fault)
    assert len(before) > 850
    assert [c.id for c in before] == [f"c{i}" for i in range(len(before))]
    assert fault.place.line == len(before) + 1
    with pytest.raises(FileFault, match="truncated"):
        read(path, strict=True)


@pytest.mark.parametrize("array", [False, True])
def test_a_record_that_is_not_utf8_costs_that_record(tmp_path, array):
    path = tmp_path / "a.jsonl"
    good = [json.dumps(record(f"c{i}", "hi", "yo")).encode() for i in range(50)]
    lines = [*good[:2], b'{"x": "caf\xe9"}', *good[2:]]
    path.write_bytes(b"[\n" + b",\n".join(lines) + b"\n]" if array else b"\n".join(lines))
    reader = read_conversations([str(path)])
    x, y, fault, *rest = list(reader)
    assert [talk.id for talk in (x, y, *rest)] == [f"c{i}" for i in range(50)]
    assert isinstance(fault, RecordFault)
    where = f"{path}:4" if array else f"{path}:3"
    assert str(fault).startswith(f"{where}: not UTF-8: byte 0xe9 at column 11")
    assert "iconv" in fault.hint
    (counts,) = reader.files.values()
    assert (counts.conversations, counts.faults, reader.count()) == (50, 1, 51)


@pytest.mark.parametrize("array", [False, True])
def test_a_record_that_says_two_things_under_one_key_is_refused(tmp_path, array):
    good, other = (json.dumps(record(name, 'a "quoted\\" text', "b")) for name in "xy")
    twice = [
        other.replace('"messages"', '"messages": [], "messages"'),
        other.replace('"content"', '"c\\u006fntent": "z", "content"', 1),
        other[:-1] + ', "rating": 1, "rating": 5}',
        other[:-1] + ', "metadata": {"a": [{"k": null, "k": "\\""}]}}',
    ]
    path = tmp_path / "a.jsonl"
    for line in twice:
        path.write_text(f"[\n{good},\n{line}\n]" if array else f"{good}\n{line}\n")
        talk, fault = read(path)
        assert (talk.id, type(fault)) == ("x", RecordFault)
        assert "twice, and says two things" in str(fault)
    path.write_text(other[:-1] + ', "rating": 5, "rating": 5, "count": 99999999999999999999}\n')
    (talk,) = read(path)
    assert talk.ratings[0].score == 5


def test_ratings_that_say_two_things_under_one_key_are_refused(tmp_path):
    path = tmp_path / "ratings.jsonl"
    row = '{"conversation_id": "a", "dimension": "satisfaction", "score": 4}'
    path.write_text(row + "\n" + row.replace('"score"', '"score": 2, "score"').replace('"a"', '"b"') + "\n")
    table = read_ratings(path)
    assert [rating.score for rating in table.ratings] == [4]
    assert "the key 'score' twice" in str(table.faults[0])


def test_a_conversation_of_very_many_short_messages_is_called_what_it_is(tmp_path):
    talk = {"id": "x", "messages": [{"role": "user", "content": "abcd"}] * 10_240}
    path = write(tmp_path / "a.jsonl", talk)
    (fault,) = read(path)
    assert "where each message counts as 1,024 more" in str(fault)


@pytest.mark.parametrize("packed", [False, True])
def test_lines_behind_runs_of_blank_ones_keep_their_numbers(tmp_path, packed):
    blank = b"".join([b"\n" * 300_000, b" \r\n\t\n" * 70_000, b"   "])
    lines = [json.dumps(record(f"c{n}", "a", "b")).encode() + b"\n" for n in range(3)]
    text = b"\n" + blank.join(lines) + blank + b"\n{"
    path = tmp_path / "a.jsonl"
    path.write_bytes(gzip.compress(text) if packed else text)
    expected = [n for n, line in enumerate(text.split(b"\n"), start=1) if line.strip()]
    assert [one.place.line for one in read(path)] == expected


def test_a_row_that_is_not_utf8_costs_the_conversation_it_stands_in(tmp_path):
    path = tmp_path / "a.csv"
    rows = [f"c{n},{role},hi\n".encode() for n in range(4) for role in ("user", "assistant")]
    rows.insert(3, b"c1,user,caf\xe9\n")
    path.write_bytes(b"conversation_id,role,content\n" + b"".join(rows))
    outcomes = read(path)
    faults = [one for one in outcomes if isinstance(one, RecordFault)]
    assert f"{path}:5, conversation 'c1': not UTF-8: byte 0xe9 at column 12" in str(faults[0])
    assert [one.id for one in outcomes if isinstance(one, Conversation)] == ["c0", "c2", "c3"]
    assert len(faults) == 1
    path.write_bytes(b"prompt,reply\nhi,yo\nhi,caf\xe9\nhi,yo\n")
    assert [type(one) for one in read(path)] == [Conversation, RecordFault, Conversation]
    path.write_bytes(b"conversation_id,role,content,\xe9\n" + b"".join(rows))
    with pytest.raises(FileFault, match=r"a\.csv:1: not UTF-8"):
        read(path)


def test_the_next_file_is_read_after_one_that_breaks_off(tmp_path):
    first = tmp_path / "a.jsonl"
    first.write_bytes(b"[" + json.dumps(record("x", "a", "b")).encode() + b",\n{]")
    second = write(tmp_path / "b.jsonl", record("y", "a", "b"))
    x, fault, y = read(first, second)
    assert (x.id, type(fault), y.id) == ("x", FileFault, "y")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_conversations_in_utf16(tmp_path, encoding, name):
    path = tmp_path / name
    text = json.dumps(record("x", "Schön?", "Ja")) + "\n"
    if name == "a.csv":
        text = "conversation_id;role;content\nx;user;Schön?\nx;assistant;Ja\n"
    path.write_bytes(("" if encoding == "utf-16" else "\ufeff").encode(encoding) + text.encode(encoding))
    (talk,) = read(path)
    assert [m.text for m in talk.messages] == ["Schön?", "Ja"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b" \n\n", "empty"),
        (b"\xff\xfe{\x00}", "it begins as UTF-16 and does not go on so"),
        (b"caf\xe9,x\n", "not UTF-8"),
        (b"just some prose\n", "unknown format.*--format"),
        (b"who;says\na;b\n", r"it has the columns 'who', 'says'; a role and a content.*--map"),
        (b'{"prompt": "a", "tokens": 3}\n', r"'prompt' \(text\), 'tokens' \(number\)"),
        (b'{"prompt": \n', "not JSON"),
        (b"[]", "array is empty"),
        (gzip.compress(b'{"messages": []}', mtime=0)[:12], "truncated|damaged"),
    ],
)
def test_a_hopeless_file_is_refused(tmp_path, content, message):
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    with pytest.raises(FileFault, match=message):
        read(path)


def test_missing_path_empty_folder_unknown_format(tmp_path):
    with pytest.raises(FileFault, match="no such file"):
        read_conversations([str(tmp_path / "none.jsonl")])
    with pytest.raises(FileFault, match="no file that could hold"):
        read_conversations([str(tmp_path)])
    with pytest.raises(UsageError, match=r"the formats are agents, aider, .*, weave, wildchat"):
        read_conversations([str(tmp_path)], format="list")
    with pytest.raises(UsageError, match=r"unknown format 'xml'.*openai"):
        read_conversations([str(tmp_path)], format="xml")


def test_a_later_file_that_is_hopeless_is_refused_before_anything_is_read(tmp_path):
    good = write(tmp_path / "a.jsonl", record("x", "a", "b"))
    bad = write(tmp_path / "b.jsonl", '{"prompt": 1}')
    with pytest.raises(FileFault, match=r"b\.jsonl: unknown format"):
        read_conversations([good, bad])


def test_a_folder_is_read_in_order_and_leaves_out_other_things(tmp_path):
    write(tmp_path / "b.jsonl", record("second", "a", "b"))
    (tmp_path / "a").mkdir()
    write(tmp_path / "a" / "z.jsonl", record("first", "a", "b"))
    write(tmp_path / "settings.json", '{"seed": 1}')
    write(tmp_path / "README.md", "words")
    (tmp_path / "empty.jsonl").touch()
    reader = read_conversations([str(tmp_path)])
    first, second, fault = list(reader)
    assert (first.id, second.id) == ("first", "second")
    assert isinstance(fault, FileFault)
    assert [n for _, n in notes_of(reader, "recognised") if n == 1]
    assert sum(n for text, n in notes_of(reader, "recognised") if "left out" in text) == 2


def test_a_folder_of_other_things_is_refused(tmp_path):
    write(tmp_path / "settings.json", '{"seed": 1}')
    with pytest.raises(FileFault, match="no file here holds conversations"):
        read(tmp_path)


def test_duplicate_ids_name_both_places(tmp_path):
    a = write(tmp_path / "a.jsonl", record("x", "1", "2"), record("y", "1", "2"))
    b = write(tmp_path / "b.jsonl", record("y", "3", "4"), record("z", "3", "4"))
    x, y, fault, z = read(a, b)
    assert (x.id, y.id, z.id) == ("x", "y", "z")
    assert str(fault).startswith(f"{b}:1, conversation 'y': the id was seen before, at {a}:2")


def test_two_candidates_may_have_the_same_dialogue(tmp_path):
    old, new = (record("x", "1", reply) | {"model": name} for name, reply in (("v1", "2"), ("v2", "3")))
    first, second, fault = read(write(tmp_path / "a.jsonl", old, new, new))
    assert [(c.id, c.candidate) for c in (first, second)] == [("x", "v1"), ("x", "v2")]
    assert "the id was seen before" in str(fault)


def test_ids_are_made_from_file_and_line(tmp_path):
    nameless = record(None, "hi", "yo")
    path = write(tmp_path / "log.jsonl", nameless, nameless)
    reader = read_conversations([path])
    assert [c.id for c in reader] == ["log.jsonl:1", "log.jsonl:2"]
    assert notes_of(reader, "assumed") == [("conversations have no id: made from file name and line", 2)]
    (tmp_path / "log.jsonl.gz").write_bytes(gzip.compress((tmp_path / "log.jsonl").read_bytes()))
    assert read(tmp_path / "log.jsonl.gz")[1].id == "log.jsonl:2"


def test_a_map_that_names_the_id_of_the_ratings_leaves_the_log_its_own(tmp_path):
    mapping = FieldMap(conversation_id="session_ref", score="thumb")
    log = write(tmp_path / "log.jsonl", record("x", "hi", "yo"))
    reader = read_conversations([log], mapping=mapping)
    assert [c.id for c in reader] == ["x"]
    assert ("conversations have no 'session_ref': read by their usual id", 1) in notes_of(
        reader, "recognised"
    )
    table = tmp_path / "log.csv"
    table.write_text("conversation_id,role,content\nx,user,hi\nx,assistant,yo\n")
    reader = read_conversations([table], mapping=mapping)
    assert [c.id for c in reader] == ["x"]
    assumed = ("tables have no 'session_ref': read with conversation_id = conversation_id", 1)
    assert assumed in notes_of(reader, "assumed")
    table.write_text("chat,role,content\nx,user,hi\nx,assistant,yo\n")
    with pytest.raises(FileFault, match="no column 'session_ref'"):
        list(read_conversations([table], mapping=mapping))


def test_two_files_of_one_name_make_different_ids(tmp_path):
    paths = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        paths.append(write(tmp_path / folder / "log.jsonl", record(None, "hi", "yo")))
    ids = [c.id for c in read(*paths)]
    assert len(set(ids)) == 2


def test_what_is_odd_is_noted_with_examples_and_nothing_changed(tmp_path):
    odd = {"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]}
    path = write(tmp_path / "a.jsonl", *[{**odd, "id": f"c{i}"} for i in range(5)])
    reader = read_conversations([path])
    conversations = list(reader)
    assert [m.text for m in conversations[0].messages] == ["a", "b"]
    assert len(conversations[0].turns) == 1
    assert notes_of(reader, "assumed") == [
        ("conversations have consecutive messages of one role: read as one turn", 5),
        ("conversations have no assistant reply", 5),
    ]
    note = reader.notes[-1]
    assert [p.line for p in note.examples] == [1, 2, 3]
    assert str(note).startswith("5 conversations have no assistant reply (e.g. ")


@pytest.mark.parametrize(
    "bad",
    [
        {"id": "y", "messages": [{"role": "user", "content": "a"}]},
        {"id": "y", "messages": [{"role": "user", "content": "a"}, {"role": "moderator", "content": "b"}]},
        {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]},
    ],
)
def test_strict_raises_the_first_fault_or_assumption(tmp_path, bad):
    path = write(tmp_path / "a.jsonl", record("x", "a", "b"), bad)
    assert len(read(path)) == 2
    reader = iter(read_conversations([path], strict=True))
    assert next(reader).id == "x"
    with pytest.raises(RecordFault, match=r"a\.jsonl:2"):
        next(reader)


def test_a_forced_format_is_not_second_guessed(tmp_path):
    path = write(tmp_path / "a.jsonl", record("x", "a", "b"))
    (fault,) = read(path, format="sharegpt")
    assert isinstance(fault, RecordFault)
    assert "'conversations'" in str(fault)


def test_a_long_message_is_read(tmp_path):
    path = write(tmp_path / "a.jsonl", record("x", "a" * 10_000_000, "b"))
    (conversation,) = read(path)
    assert isinstance(conversation, Conversation)
    assert len(conversation.messages[0].text) == 10_000_000


def test_a_byte_order_mark_is_tolerated(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(record("x", "a", "b")).encode())
    assert [c.id for c in read(path)] == ["x"]


@pytest.mark.parametrize("brackets", [("[", "]"), ('{"a":', "}")])
@pytest.mark.parametrize("indent", [None, 1])
def test_a_record_nested_without_end_is_refused_and_the_next_read(tmp_path, brackets, indent):
    def deep(depth):
        return brackets[0] * depth + "1" + brackets[1] * depth

    texts = [
        json.dumps({**record(f"c{depth}", "hi", "ho"), "x": "DEEP"}).replace('"DEEP"', deep(depth))
        for depth in (90, 101, 260, 980)
    ]
    if indent is None:
        (tmp_path / "a.jsonl").write_text("\n".join(texts))
    else:
        (tmp_path / "a.jsonl").write_text("[\n" + ",\n".join(texts) + "\n]")
    first, *others = read(tmp_path / "a.jsonl")
    assert first.id == "c90"
    assert len(others) == 3
    for fault in others:
        assert isinstance(fault, RecordFault)
        assert "more than 100 levels" in fault.message
        assert fault.place is not None


def test_many_messages_are_not_deep(tmp_path):
    path = write(tmp_path / "a.jsonl", record("long", *("x" for _ in range(500))))
    (c,) = read(path)
    assert len(c.messages) == 500


def test_the_hint_on_an_id_seen_before_speaks_of_rows_in_a_table_only(tmp_path) -> None:
    from dialogauge.data import read_conversations

    record = '{"conversation_id": "a", "messages": [{"role": "user", "content": "Hi"}]}\n'
    (tmp_path / "twice.jsonl").write_text(record * 2)
    fault = list(read_conversations([str(tmp_path / "twice.jsonl")], strict=False))[1]
    assert "ids must differ" in str(fault)
    assert "rows" not in str(fault)


def test_no_input_at_all_is_refused():
    with pytest.raises(UsageError, match="no input is named"):
        read_conversations([])


def test_a_rating_of_a_turn_that_is_not_there_is_said(tmp_path):
    rows = [{"dimension": "help", "score": 4, "turn": turn} for turn in (0, 1, 2)]
    messages = [{"role": "user", "content": "When?"}, {"role": "assistant", "content": "At nine."}]
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"id": "a", "messages": messages, "ratings": rows}))
    reader = read_conversations([str(path)])
    (conversation,) = reader
    assert [rating.turn for rating in conversation.ratings] == [0, 1, 2]
    assert any("has a rated turn that is not there" in str(note) for note in reader.notes)
    with pytest.raises(RecordFault, match="a rated turn that is not there"):
        list(read_conversations([str(path)], strict=True))


def test_what_is_wrong_with_calls_is_noted_with_the_turn(tmp_path):
    def call(id, arguments):
        function = {"name": "find", "arguments": arguments}
        return {"role": "assistant", "content": None, "tool_calls": [{"id": id, "function": function}]}

    messages = [
        *({"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes?"}),
        {"role": "user", "content": "a hotel"},
        {"role": "tool", "tool_call_id": "z", "content": "[]"},
        *(call("b", "area: north"), {"role": "tool", "tool_call_id": "b", "content": "[]"}, call("a", "{}")),
    ]
    path = tmp_path / "log.jsonl"
    path.write_text("\n" + json.dumps({"id": "c", "messages": messages}) + "\n")
    reader = read_conversations([str(path)])
    (conversation,) = reader
    assert [m.role for m in conversation.turns[1].messages] == [
        "user",
        "tool",
        "assistant",
        "tool",
        "assistant",
    ]
    about = {
        note.text.split(":")[0]: note
        for note in reader.notes
        if note.text.startswith(("calls", "results", "turns"))
    }
    assert {text: note.count for text, note in about.items()} == {
        "calls have no result in their turn": 1,
        "results have no call before in their turn": 1,
        "calls have arguments that are no JSON object": 1,
        "turns have calls and no reply": 1,
    }
    assert {str(place) for note in about.values() for place in note.examples} == {
        f"{path}:2, conversation 'c', turn 2"
    }
    with pytest.raises(RecordFault, match=r"log\.jsonl:2, conversation 'c', turn 2: strict reading refuses"):
        list(read_conversations([str(path)], strict=True))
