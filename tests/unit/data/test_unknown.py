"""What is said of files in no known format: what they are, and a map that reads them."""

import json
import re

import pytest

from dialogauge.core import Conversation, FileFault
from dialogauge.data import read_conversations, read_field_map


def refused(path, **options):
    with pytest.raises(FileFault) as error:
        list(read_conversations([str(path)], **options))
    return error.value


def write(tmp_path, records, name="log.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def said(talk):
    return [(m.role, m.text) for m in talk.messages]


ASKED, ANSWERED = "Do you deliver?", "Yes, from 20 euros on."
READ = [("user", ASKED), ("assistant", ANSWERED)]
CASES = {
    "short names": [{"s": 7, "q": ASKED, "a": ANSWERED}],
    "nested prompt and reply": [
        {"meta": {"session_id": "x", "ts": 3}, "in": {"txt": ASKED}, "out": {"choices": [{"txt": ANSWERED}]}}
    ],
    "keys with dots": [{"gen.user": ASKED, "gen.bot": ANSWERED, "latency_ms": 33}],
    "a nested list of messages": [
        {
            "uid": "x",
            "log": {"entries": [{"who": "visitor", "body": ASKED}, {"who": "robot", "body": ANSWERED}]},
        }
    ],
    "names of roles as we have them": [
        {"chat": [{"actor": "user", "said": {"t": ASKED}}, {"actor": "assistant", "said": {"t": ANSWERED}}]}
    ],
    "one message a record": [
        {"chat": 1, "who": "guest", "words": ASKED, "at": "2026-03-01T10:00:00Z"},
        {"chat": 1, "who": "desk", "words": ANSWERED, "at": "2026-03-01T10:00:09Z"},
    ],
    "records within one document": [
        {
            "exported": "2026-03-01",
            "sessions": [
                {
                    "head": {"ref": f"S-{n}"},
                    "timeline": [
                        {"by": {"role": "visitor"}, "content": {"value": ASKED}},
                        {"by": {"role": "bot"}, "content": {"value": ANSWERED}},
                    ],
                }
                for n in range(3)
            ],
        }
    ],
    "two long texts": [{"k": "en", "first": ASKED, "second": ANSWERED, "n": 4}],
}


@pytest.mark.parametrize("case", CASES)
def test_a_map_is_named_that_reads_the_file(tmp_path, case):
    path = write(tmp_path, CASES[case])
    fault = refused(path)
    assert "it is JSON, and its first record has" in fault.message
    named = re.search(r"--map '([^']+)' reads the first as user: 'Do you deliver\?', assistant", fault.hint)
    assert named, fault.hint
    talk = next(iter(read_conversations([str(path)], mapping=read_field_map(named[1]))))
    assert said(talk) == READ


def test_a_message_of_another_shape_than_the_map_is_refused_with_what_to_do(tmp_path):
    call = {"type": "action", "action": {"fn": "get_order"}}
    said_by = [{"by": {"role": role}, "text": text} for role, text in READ]
    path = write(tmp_path, [{"session": "x", "timeline": [said_by[0], call, said_by[1]]}])
    mapping = read_field_map("session=session,messages=timeline,role=by.role,content=text")
    (fault,) = read_conversations([str(path)], mapping=mapping)
    assert "message 2 has no 'by.role'" in fault.message
    assert "write calls and events of another as OpenAI's messages" in fault.hint


def test_a_map_is_named_for_a_table(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(f'ticket no,wer,was\n1,Kunde,{ASKED}\n1,Berater,"{ANSWERED}"\n')
    fault = refused(path)
    assert "as a table it has the columns 'ticket no', 'wer', 'was'" in fault.message
    named = re.search("--map '([^']+)'", fault.hint)
    assert named is None, "nothing says that `wer` is who speaks"
    path.write_text(f'ticket,speaker,was\n1,Kunde,{ASKED}\n1,Berater,"{ANSWERED}"\n')
    named = re.search("--map '([^']+)'", refused(path).hint)
    (talk,) = read_conversations([str(path)], mapping=read_field_map(named[1]))
    assert (talk.id, said(talk)) == ("1", READ)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (
            '{"a": 1, "b": [1], "c": null, "d": {}, "e": true}\n',
            r"'a' \(number\), 'b' \(list\), 'c' \(null\)",
        ),
        ('"one"\n"two"\n', "its lines are JSON, but no objects"),
        ("null\n", "its lines are JSON, but no objects"),
        ("Just some prose.\n", "it is text, and no table"),
        ("[1, 2]\n", "its first record has the type"),
        ("{}\n", "its first record has nothing in it"),
    ],
)
def test_what_it_is_where_no_map_would_read_it(tmp_path, text, what):
    path = tmp_path / "log.jsonl"
    path.write_text(text)
    fault = refused(path)
    assert re.search(what, fault.message), fault.message
    assert "--format list names the formats" in fault.hint


def test_bytes_that_are_no_text_are_not_taken_for_another_encoding(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(bytes(range(200, -1, -1)) * 20)
    fault = refused(path)
    assert "this is no text" in fault.message
    assert "iconv" not in fault.hint
    path.write_bytes("Frage,Antwort\nWo ist das Café?,Über dem Fluß.\n".encode("latin-1"))
    assert "iconv" in refused(path).hint


def test_a_folder_in_which_nothing_is_known_says_what_its_first_file_is(tmp_path):
    write(tmp_path, CASES["short names"])
    fault = refused(tmp_path)
    assert "the first is of unknown format" in str(fault)
    assert "--map" in fault.hint


@pytest.mark.parametrize(
    ("format", "text", "what"),
    [
        ("csv", '{"messages": []}\n', "the file is JSON, and the format csv is text"),
        ("uss", "[1]\n", "the file is JSON, and the format uss is text"),
        ("openai", "id,role,content\na,user,hi\n", "the file is text, and the format openai is JSON"),
        ("rows", "id,role,content\na,user,hi\n", "the file is text, and the format rows is JSON"),
    ],
)
def test_a_format_of_another_kind_is_refused_at_once(tmp_path, format, text, what):
    path = tmp_path / "log"
    path.write_text(text)
    fault = refused(path, format=format)
    assert what in fault.message
    assert "leave out --format" in fault.hint


def test_a_forced_json_format_passes_over_a_line_that_is_none(tmp_path):
    path = tmp_path / "log"
    talk = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}]}
    path.write_text("# made by hand\n" + json.dumps(talk))
    fault, read = read_conversations([str(path)], format="openai")
    assert "not JSON" in str(fault)
    assert isinstance(read, Conversation)


def test_no_map_takes_what_a_user_says_for_the_reply(tmp_path):
    events = [
        {"id": n, "source": who, "message": text, "action": "message", "args": {"content": text}}
        for n, (who, text) in enumerate([("user", "Is it open today?"), ("agent", "It is, from nine.")])
    ]
    path = tmp_path / "events.json"
    path.write_text(json.dumps(events))
    assert "prompt=message" not in refused(path).hint
