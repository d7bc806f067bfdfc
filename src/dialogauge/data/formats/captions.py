"""Transcripts of calls in WebVTT: captions that name who speaks, as `<v Name>` or `Name:`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Final

from dialogauge.core import Place
from dialogauge.data.formats.base import Context, Outcome, Sample, TextFormat
from dialogauge.data.formats.chat import LABELLED, ChatLine, ChatSoFar, chat_of
from dialogauge.data.notes import file_fault
from dialogauge.data.sources import LineStream

_HEAD: Final = re.compile(r"\ufeff?WEBVTT(?:[ \t].*)?")
_TIMING: Final = re.compile(r"((?:\d+:)?\d{2}:\d{2}\.\d{3})[ \t]+-->[ \t]+(?:\d+:)?\d{2}:\d{2}\.\d{3}.*")
_VOICE: Final = re.compile(r"<v(?:\.[^\s>]*)?[ \t]+([^>]+)>")
_TAG: Final = re.compile(r"</?[^>]*>")


def _recognises(sample: Sample) -> bool:
    return bool(sample.lines) and _HEAD.fullmatch(sample.lines[0].rstrip("\r\n")) is not None


def _blocks(stream: LineStream) -> Iterator[tuple[int, str, list[str]]]:
    """Yield the captions: the number of the first line, the time, and the lines of text."""
    time, first, lines = "", 0, list[str]()
    for number, raw in stream.text():
        text = raw.strip("\r\n")
        timing = _TIMING.fullmatch(text.strip())
        if timing is not None:
            time, first, lines = timing[1], number, []
        elif text.strip() and time:
            lines.append(text.strip())
        elif time:
            yield first, time, lines
            time = ""
    if time:
        yield first, time, lines


def _captions(stream: LineStream) -> Iterator[ChatLine]:
    """Yield what is said: a caption without a name goes on with what the one before says."""
    for number, time, lines in _blocks(stream):
        voices = _VOICE.split(" ".join(lines))
        for name, text in zip([None, *voices[1::2]], voices[::2], strict=True):
            shown = unescape(_TAG.sub("", text)).strip()
            label = LABELLED.fullmatch(shown) if name is None and shown else None
            if label is not None:
                yield ChatLine(number, label[2] or label[3] or "", label[1], time)
            elif shown:
                yield ChatLine(number, shown, name and unescape(name).strip(), time)


def _read(stream: LineStream, context: Context) -> Iterator[Outcome]:
    talk, last = ChatSoFar(), None
    for line in _captions(stream):
        if line.name == last:  # one who goes on speaks on
            line = ChatLine(line.number, line.text)
        if not talk.take(line):
            place = Place(context.source.name, line.number)
            context.notes.assume("captions were left out: they stand before the first speaker", place)
        last = line.name or last
    if not talk.size:
        what = "the captions do not say who speaks"
        hint = "export the transcript with names of speakers: <v Name>, or Name: at the head of a caption"
        raise file_fault(Place(context.source.name), what, hint)
    yield chat_of(talk, 1, context, joint=" ")


CAPTIONS = TextFormat("captions", _recognises, _read, json=False)
