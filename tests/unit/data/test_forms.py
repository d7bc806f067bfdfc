"""Maps that describe a format: what somebody writes for his own log is what a format is."""

import json
import re
from pathlib import Path

import pytest

from dialogauge.core import ConfigError, RecordFault, UsageError
from dialogauge.data import memory_conversations, read_conversations, read_field_map
from dialogauge.data.form import FORM_KEYS
from dialogauge.data.formats import entry_of, format_names


def described_by_an_entry():
    return [name for name in format_names() if entry_of(name) is not None]


LOG = {
    "ticket": {"no": 7, "who": 3},
    "chat": [
        {"by": 3, "html": "<p>Is it open?</p>", "at": 2},
        {"by": 9, "html": "From <b>nine</b>.", "at": 3, "vote": "good"},
        {"by": 9, "html": "Regular!", "at": 4, "internal": True},
    ],
    "stars": 4,
}
ENTRY = """
[ours]
id = "ticket.no"
user = "ticket.who"
messages = "chat"
asker = ["by", "ticket.who"]
text = "<html"
skip = { internal = [true] }
rated = { stars = {} }
rated_replies = { "vote as rating" = { good = "up" } }
"""
SPOKEN = [("user", "Is it open?"), ("assistant", "From nine.")]


def written(tmp_path, *records, name="log.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return str(path)


def talks_of(path, mapping):
    reader = read_conversations([path], mapping=mapping)
    return list(reader), {note.text: note.count for note in reader.notes}


def spoken(talk):
    return [(message.role, message.text) for message in talk.messages]


def test_a_map_file_is_an_entry_of_a_format(tmp_path):
    (tmp_path / "map.toml").write_text(ENTRY, encoding="utf-8")
    (talk,), notes = talks_of(written(tmp_path, LOG), read_field_map(tmp_path / "map.toml"))
    assert (spoken(talk), talk.id, talk.user_id) == (SPOKEN, "7", "3")
    assert {(r.dimension, r.score, r.turn) for r in talk.ratings} == {("stars", 4, None), ("rating", "up", 1)}
    assert notes["messages were left out: internal is true"] == 1


def test_a_few_words_are_one_too(tmp_path):
    text = "id=ticket.no,messages=chat,asker=by ticket.who,text=<html,skip.internal=true,rating=stars"
    (talk,), _ = talks_of(written(tmp_path, LOG), read_field_map(text))
    assert spoken(talk) == SPOKEN
    assert [(r.dimension, r.score) for r in talk.ratings] == [("rating", 4)]
    (again,) = memory_conversations([LOG], mapping=read_field_map(text))
    assert again.messages == talk.messages


def test_an_entry_that_ships_is_a_map(tmp_path):
    (tmp_path / "map.toml").write_text(entry_of("helpdesk"), encoding="utf-8")
    ticket = {
        "id": 5,
        "comments": [{"author_id": 1, "body": "Is it open?"}, {"author_id": 2, "body": "From nine."}],
    }
    (talk,), _ = talks_of(written(tmp_path, ticket), read_field_map(tmp_path / "map.toml"))
    assert (spoken(talk), talk.id) == (SPOKEN, "5")


def test_rows_of_a_table_are_records(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text('q,a\nIs it open?,"<p>From nine.</p>"\n', encoding="utf-8")
    (talk,), _ = talks_of(str(path), read_field_map("prompt=q,reply=<a"))
    assert spoken(talk) == SPOKEN


def test_a_tree_ends_where_the_record_says(tmp_path):
    entry = '{messages = "m", role = "r", text = "t", tree = {id = "i", parent = "p", last = "end"}}'
    (tmp_path / "map.toml").write_text(f"form = {entry}", encoding="utf-8")
    say = [("1", None, "user", "Hi"), ("2", "1", "assistant", "No"), ("3", "1", "assistant", "Yes")]
    messages = [{"i": i, "p": p, "r": r, "t": t} for i, p, r, t in say]
    path = written(tmp_path, {"id": "a", "m": messages, "end": "2"}, {"id": "b", "m": messages})
    (shown, latest), notes = talks_of(path, read_field_map(tmp_path / "map.toml"))
    assert (spoken(shown)[-1], spoken(latest)[-1]) == (("assistant", "No"), ("assistant", "Yes"))
    assert sum(count for text, count in notes.items() if "regenerated" in text) == 2


@pytest.mark.parametrize("name", sorted(described_by_an_entry()))
def test_every_entry_is_a_map(name, tmp_path):
    (tmp_path / "map.toml").write_text(entry_of(name), encoding="utf-8")
    assert read_field_map(tmp_path / "map.toml").forms


def test_the_steps_of_a_tracer_of_ones_own(tmp_path):
    entry = """
[step]
trace = "run"
id = "step"
session = "chat"
time = "began"
input = "asked"
output = "said"
kinds = { model = "kind=llm", step = "." }
scores = [{ list = "marks", name = "what", value = "mark", people = "by=person" }]
"""
    (tmp_path / "map.toml").write_text(entry, encoding="utf-8")
    step = {"run": "t1", "chat": "c1", "kind": "llm", "began": 2, "step": "b", "said": "From nine."}
    asked = [{"role": "user", "content": "Is it open?"}]
    marks = [{"what": "stars", "mark": 4, "by": "person"}]
    path = written(
        tmp_path, {**step, "asked": asked, "marks": marks}, {"run": "t1", "step": "a", "kind": "x"}
    )
    (talk,), _ = talks_of(path, read_field_map(tmp_path / "map.toml"))
    assert (spoken(talk), talk.id) == (SPOKEN, "c1")
    assert [(r.dimension, r.score) for r in talk.ratings] == [("stars", 4)]
    for wrong, why in ((entry + "colour = 1", "colour"), (entry.replace('"asked"', '"a["'), "is no path")):
        (tmp_path / "map.toml").write_text(wrong, encoding="utf-8")
        with pytest.raises(ConfigError, match=why):
            read_field_map(tmp_path / "map.toml")


def test_a_message_a_record_in_a_map(tmp_path):
    entry = (
        'group = "room"\nspeaker = "who"\nbot = "who=helper"\ntext = "says"\norder = "at"\nrecords = "all"'
    )
    (tmp_path / "map.toml").write_text(f"[lines]\n{entry}", encoding="utf-8")
    lines = [
        {"room": "r", "who": who, "says": says, "at": at}
        for at, (who, says) in enumerate((("ann", "Is it open?"), ("helper", "From nine.")))
    ]
    (talk,), _ = talks_of(written(tmp_path, *lines), read_field_map(tmp_path / "map.toml"))
    assert (spoken(talk), talk.id) == (SPOKEN, "r")


@pytest.mark.parametrize(
    ("record", "why"),
    [
        ({"ticket": {"no": 1, "who": 3}}, "the record has nothing under 'chat' (it has 'ticket')"),
        (LOG | {"chat": [4]}, "message 1 is 4: not an object"),
        (LOG | {"chat": [{"html": "x"}]}, "message 1 is {'html': 'x'}: it does not say who speaks"),
        (LOG | {"chat": [{"by": 3, "html": 4}]}, "message 1 says 4: no text"),
        (LOG | {"chat": [{"by": 3, "html": "x", "internal": True}]}, "nobody says anything in it"),
    ],
)
def test_what_cannot_be_read_is_a_fault(tmp_path, record, why):
    (tmp_path / "map.toml").write_text(ENTRY, encoding="utf-8")
    (fault,), _ = talks_of(written(tmp_path, record), read_field_map(tmp_path / "map.toml"))
    assert isinstance(fault, RecordFault)
    assert why in str(fault)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("id=a,asker=b,text=c", "the key asker"),
        ("id=a,text=<b[", r"'b\[' is no path"),
        ("id=a,text=b,turn=c", "unknown key 'turn'"),
        ("text=b,roles.x=robot", "the key roles.x"),
        ("text=b,parts=c", "the key parts"),
    ],
)
def test_an_entry_that_cannot_be_read_is_refused(text, why):
    with pytest.raises(ConfigError, match=why):
        read_field_map(text)


def test_a_format_and_an_entry_are_refused(tmp_path):
    with pytest.raises(UsageError, match="keep one of them"):
        read_conversations([written(tmp_path, LOG)], format="openai", mapping=read_field_map("id=a,text=<b"))


def test_the_page_about_maps_names_every_key_and_its_example_is_read(tmp_path):
    page = (Path(__file__).parents[3] / "docs" / "maps.md").read_text(encoding="utf-8")
    assert sorted(key for key in FORM_KEYS if f"`{key}`" not in page) == []
    record, entry = (re.search(rf"```{kind}\n(.*?)```", page, re.DOTALL)[1] for kind in ("json", "toml"))
    (tmp_path / "shop.toml").write_text(entry, encoding="utf-8")
    (tmp_path / "tickets.json").write_text(record, encoding="utf-8")
    for mapping in (tmp_path / "shop.toml", re.search(r"--map '([^']+)'", page)[1]):
        (talk,), notes = talks_of(str(tmp_path / "tickets.json"), read_field_map(mapping))
        assert (spoken(talk), talk.id, talk.user_id or "3") == (SPOKEN, "7", "3")
        assert notes["messages were left out: internal is true"] == 1
    with_scores, _ = talks_of(str(tmp_path / "tickets.json"), read_field_map(tmp_path / "shop.toml"))
    assert [(r.dimension, r.score, r.note) for r in with_scores[0].ratings] == [("stars", 4, "quick")]


def test_records_that_a_document_lists_far_within(tmp_path):
    document = {"data": {"chats": [LOG, LOG | {"ticket": {"no": 8, "who": 3}}]}, "version": 2}
    (tmp_path / "map.toml").write_text(f'{ENTRY}records = "data.chats"\n', encoding="utf-8")
    talks, _ = talks_of(written(tmp_path, document), read_field_map(tmp_path / "map.toml"))
    assert [(talk.id, len(talk.messages)) for talk in talks] == [("7", 2), ("8", 2)]
    assert "record 2" in str(talks[1].place)
