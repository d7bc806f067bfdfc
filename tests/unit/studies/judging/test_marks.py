"""Quotes of criteria, marked in the reply that they stand in."""

from __future__ import annotations

import pytest

from dialogauge.report import Mark
from dialogauge.report.elements import text
from dialogauge.report.html_transcript import transcript
from dialogauge.report.transcripts import Transcript, TranscriptMessage, TranscriptTurn
from dialogauge.studies.judging.marks import marks_in

WEIGHTS = {"dead_ends": -0.5, "lived_detail": 0.5, "loops": -1.0}


@pytest.mark.parametrize(
    ("reply", "quote", "marked"),
    [
        ("Soup first. What letter?", "What letter?", "What letter?"),
        ("Fog, “again”\n and fog.", 'fog, "again" and', "Fog, “again”\n and"),
        ("Sit by the **stove**; the wind drops.", "by the stove; the", "by the **stove**; the"),
        ("雾又来了，别走。", "雾又来了, 别走", "雾又来了，别走"),
        ("Soup first.", "soup last", None),
        ("Soup first.", "...", None),
    ],
)
def test_a_quote_is_marked_as_it_stands_in_the_reply(reply, quote, marked):
    marks = marks_in(reply, [(quote, "dead_ends")], WEIGHTS)
    assert [reply[m.start : m.end] for m in marks] == ([] if marked is None else [marked])


def test_marks_come_in_the_order_of_the_text_with_their_weights():
    quotes = [("What letter?", "dead_ends"), ("Soup", "lived_detail"), ("Soup first.", "loops")]
    marks = marks_in("Soup first. What letter?", quotes, WEIGHTS)
    assert marks == (
        Mark(0, 11, "loops -1", loss=True),
        Mark(0, 4, "lived detail +0.5", loss=False),
        Mark(12, 24, "dead ends -0.5", loss=True),
    )


def test_a_page_shows_marks_and_no_markup_of_a_reply():
    reply = "<b>Soup</b> *first*. What letter?"
    quotes = [("<b>Soup</b> *first*", "loops"), ("first*. What", "dead_ends"), ("Soup", "lived_detail")]
    message = TranscriptMessage("assistant", reply, marks=marks_in(reply, quotes, WEIGHTS))
    block = Transcript("hut", (TranscriptTurn(1, (message,)),))
    assert (
        '<mark class="loss">&lt;b&gt;Soup&lt;/b&gt; *first*<small>loops -1</small></mark>'
        '<mark class="gain"><small>lived detail +0.5</small></mark>'
        '<mark class="loss">. What<small>dead ends -0.5</small></mark> letter?'
    ) in transcript(block, text("hut"), None)
