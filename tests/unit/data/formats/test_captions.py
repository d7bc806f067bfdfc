"""Transcripts in WebVTT."""

import pytest

from dialogauge.core import FileFault, RecordFault
from dialogauge.data import read_conversations
from dialogauge.data.field_map import FieldMap

VOICES = """WEBVTT - a call

NOTE recorded
with consent

STYLE
::cue { color: red }

1
00:00:00.000 --> 00:00:02.500
<v Ana Lopez>Hello, is my parcel
in Leeds?</v>

00:02.600 --> 00:05.000 align:start
<v.loud Shop Bot>It arrives <b>tomorrow</b> &amp; early.

00:00:05.100 --> 00:00:06.000
Anything else?

00:00:07.000 --> 00:00:08.000
<v Ana Lopez>No.</v> <v Shop Bot>Bye.</v>
"""
SAID = [
    ("user", "Hello, is my parcel in Leeds?"),
    ("assistant", "It arrives tomorrow & early. Anything else?"),
    ("user", "No."),
    ("assistant", "Bye."),
]


def read(tmp_path, text, **options):
    path = tmp_path / "call.vtt"
    path.write_text(text, encoding="utf-8")
    reader = read_conversations([str(path)], **options)
    return list(reader), [note.text for note in reader.notes]


def test_voices(tmp_path):
    (talk,), notes = read(tmp_path, VOICES)
    assert [(m.role, m.text) for m in talk.messages] == SAID
    assert talk.messages[0].extra == {"time": "00:00:00.000"}
    assert "chats have a speaker 'Ana Lopez': read as user" in notes


def test_names_at_the_head_of_captions(tmp_path):
    cues = ["Ana Lopez: Hello?", "Shop Bot: Yes.", "Shop Bot: We are open."]
    text = "WEBVTT\n\n" + "\n".join(
        f"{n}\n00:00:0{n}.000 --> 00:00:0{n}.900\n{c}\n" for n, c in enumerate(cues)
    )
    (talk,), _ = read(tmp_path, text)
    assert [(m.role, m.text) for m in talk.messages] == [
        ("user", "Hello?"),
        ("assistant", "Yes. We are open."),
    ]


def test_roles_by_a_map_and_a_third_speaker(tmp_path):
    roles = FieldMap(roles={"Shop Bot": "user", "Ana Lopez": "assistant"})
    (talk,), _ = read(tmp_path, VOICES, mapping=roles)
    assert talk.messages[0].role == "assistant"
    third = VOICES + "\n00:00:09.000 --> 00:00:10.000\n<v Eve>Hi.\n"
    (fault,), _ = read(tmp_path, third)
    assert isinstance(fault, RecordFault)
    assert "'Eve'" in fault.message


def test_captions_without_names_are_refused(tmp_path):
    with pytest.raises(FileFault, match="do not say who speaks"):
        read(tmp_path, "WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nHello there.\n")


CUES = [
    ("0:00:00", "Ana: Hello,\nis it <i>there</i>?"),
    ("0:00:02", "Bot: Yes."),
    ("0:00:05", "Bot: {\\an8}All of it."),
]


@pytest.mark.parametrize("gap", ["\n\n", "\n"])
@pytest.mark.parametrize("form", ["srt", "sbv"])
def test_subtitles_without_their_numbers_and_times(tmp_path, form, gap):
    if form == "srt":
        cues = [f"{n}\n{at},100 --> {at},900\n{text}" for n, (at, text) in enumerate(CUES, 1)]
    else:
        cues = [f"{at}.100,{at}.900\n{text}" for at, text in CUES]
    (talk,), _ = read(tmp_path, gap.join(cues) + "\n")
    assert [(m.role, m.text) for m in talk.messages] == [
        ("user", "Hello, is it there?"),
        ("assistant", "Yes. All of it."),
    ]
