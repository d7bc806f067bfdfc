"""Conversations on a page: messages turn by turn, beside what is said of them, and lists of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Final

from dialogauge.report.elements import LATER, Html, element, filled, joined, text
from dialogauge.report.markdown import is_markdown, markdown
from dialogauge.report.transcripts import (
    Finding,
    Mark,
    Scored,
    Transcript,
    TranscriptCall,
    TranscriptList,
    TranscriptMessage,
    TranscriptTurn,
)
from dialogauge.report.words import cell_words, name
from dialogauge.text import counted

_START: Final = 240
"""Columns of a clamped message that are shown before it is opened; a Chinese character takes two."""
_WIDE: Final = "\u2e80"


def transcript_list(block: TranscriptList, write: Callable[[Transcript], Html]) -> Iterator[str]:
    """Write a list of transcripts one by one; what to search it by is hidden until the script is there."""
    options = [
        list(dict.fromkeys(g for t in block.transcripts for g in t.groups[i]))
        for i in range(len(block.filters))
    ]
    places = [{option: str(at) for at, option in enumerate(names)} for names in options]
    first, rest = block.transcripts[: block.shown], block.transcripts[block.shown :]
    summary = element("summary", f"The other {len(rest):,}")
    talks = element("div", LATER, class_="talks")
    others = element("details", summary, talks, class_="more") if rest else None
    finder = element(
        "div",
        element("label", element("span", "Search"), element("input", type="search")),
        _select("Sort by", "reading order", block.orders),
        (
            _select(name.capitalize(), "all", names)
            for name, names in zip(block.filters, options, strict=True)
        ),
        element("p", role="status", class_="small soft"),
        class_="finder",
        role="search",
        aria_label=block.title,
        hidden=True,
    )
    whole = element("div", finder, talks, others, class_="list")
    parts = (first, rest) if rest else (first,)
    return filled(whole, ((_marked(write(t), t, places) for t in part) for part in parts))


def _select(label: str, first: str, names: Sequence[str]) -> Html:
    options = (element("option", name, value=str(at)) for at, name in enumerate(names))
    return element("label", element("span", label), element("select", element("option", first), options))


def _marked(talk: Html, block: Transcript, places: Sequence[dict[str, str]]) -> Html:
    """Give a transcript what it is sorted and chosen by: numbers only."""
    ranks = ",".join("" if rank is None else f"{rank:g}" for rank in block.ranks)
    groups = ",".join(".".join(p[g] for g in names) for p, names in zip(places, block.groups, strict=True))
    return Html(talk.replace("<details", f'<details data-r="{ranks}" data-g="{groups}"', 1))


def transcript(block: Transcript, title: Html, verdict: Html | None, reason: Html | None = None) -> Html:
    """Write a transcript: to be opened, or in a card.

    Args:
        block: What is shown.
        title: Its title, which may lead somewhere.
        verdict: Its verdict.
        reason: Why it is shown.
    """
    if block.folded:
        summary = element(
            "summary",
            element("span", title, class_="id"),
            None if verdict is None else element("span", verdict, class_="verdict"),
            (element("span", fact, class_="soft") for fact in block.facts),
            element("span", reason, class_="reason") if reason else None,
        )
        inside = element("div", _talk(block), class_="body", id=block.anchor or None)
        return element("details", summary, inside, class_="talk")
    facts = (element("span", fact) for fact in (title if reason else None, verdict, *block.facts) if fact)
    where = element("p", facts, class_="where", dir="auto")
    header = element("header", element("h3", reason or title, dir="auto"), where)
    classes = "card open-talk marked" if any(t.tag for t in block.turns) else "card open-talk"
    return element("article", header, _talk(block), class_=classes, id=block.anchor or None)


def _talk(block: Transcript) -> Html:
    failed = None
    if block.failure:
        tag = element("span", "conversation not judged", class_="tag warn")
        failed = element("p", tag, " ", block.failure, class_="small")
    left_out = f"Not shown here: {counted(block.turns_left_out, 'more turn')}."
    return joined(
        element("p", block.context, class_="small soft", dir="auto") if block.context else None,
        failed,
        _scores(block.scores),
        _rationale(block.rationale),
        _findings(block.findings),
        (_turn(t, apart=not block.folded, anchor=block.anchor) for t in block.turns),
        element("p", left_out, class_="small soft") if block.turns_left_out else None,
        element("p", block.note, class_="small soft") if block.note else None,
    )


def _turn(turn: TranscriptTurn, *, apart: bool, anchor: str) -> Html:
    number = None
    if not apart and (turn.number is not None or turn.tag):
        words = "" if turn.number is None else f"Turn {turn.number}"
        tag = element("span", turn.tag, class_="tag warn") if turn.tag else None
        about = " · ".join(filter(None, (words, *turn.facts)))
        number = element("p", about, " " if about and tag else None, tag, class_="no", dir="auto")
    failed = None
    if turn.failure:
        tag = element("span", "not judged", class_="tag warn")
        failed = element("p", tag, " ", turn.failure, class_="small")
    missing = element("p", "No reply in this turn.", class_="small soft") if turn.without_reply else None
    return element(
        "div",
        number,
        element("div", map(_said, turn.messages), missing),
        element("aside", failed, _scores(turn.scores), _rationale(turn.rationale), _findings(turn.findings)),
        class_="turn marked" if turn.tag else "turn",
        id=f"{anchor}-{turn.number}" if anchor and turn.number is not None else None,
    )


def _said(message: TranscriptMessage | TranscriptCall) -> Html:
    return _call(message) if isinstance(message, TranscriptCall) else _message(message)


def _rationale(words: str) -> Html | None:
    return element("p", words, class_="small said", dir="auto") if words else None


def _findings(findings: Sequence[Finding]) -> Html | None:
    items = [element("li", _finding(f), dir="auto") for f in findings]
    return element("ul", items, class_="why") if items else None


def _scores(scores: Sequence[Scored]) -> Html | None:
    lists = []
    for by, group in groupby(scores, key=lambda score: score.by):
        several = tuple(group)
        items = [element("li", _score(s)) for s in several]
        who = element("li", f"{by}:", class_="rater") if by else None
        why = "because" if any(s.reason for s in several) else ""
        kinds = filter(None, ("scores", "person" if by else "", why))
        lists.append(element("ul", who, items, class_=" ".join(kinds)))
    return joined(lists) if lists else None


def _score(score: Scored) -> Html:
    reason = element("span", score.reason, dir="auto") if score.reason else None
    return joined(name(score.name), " ", element("b", cell_words(score.value)[0]), reason)


def _finding(finding: Finding) -> Html:
    turn = "" if finding.turn is None else f"turn {finding.turn}"
    where = ", ".join(filter(None, (name(finding.source), turn)))
    source = (element("span", f"{where}:", class_="soft"), " ") if where else None
    quote = (" ", element("q", finding.quote, dir="auto")) if finding.quote else None
    words = element("q", finding.text, dir="auto") if finding.quoted else text(finding.text)
    return joined(source, words, quote)


def _message(message: TranscriptMessage) -> Html:
    if message.role == "tool":
        return element("div", element("code", message.text, dir="auto"), class_="steps")
    who = element("span", message.role.capitalize(), class_="who")
    classes = "msg user" if message.role == "user" else "msg reply"
    start = re.sub(r"[*`#|]+ ?", "", _start(message.text)) if message.clamped else ""
    return element("div", who, _clamped(start.rstrip(), _say(message)), class_=classes)


def _clamped(start: str, whole: Html, opened: str = "show all") -> Html:
    """Fold a text behind its start; a text without one is short and stands as it is."""
    if not start:
        return whole
    summary = element(
        "summary",
        element("span", start, "… ", class_="start", dir="auto"),
        element("span", opened, class_="open"),
        element("span", "show less", class_="close"),
    )
    return element("details", summary, whole, class_="clamp")


def _start(words: str) -> str:
    """Return the first words of a long text as one line; nothing of a short one."""
    line = " ".join(words[: 2 * _START].split())
    room = _START
    for at, character in enumerate(line):
        room -= 2 if character >= _WIDE else 1
        if room < 0:
            return line[:at].rstrip()
    return ""


def _call(call: TranscriptCall) -> Html:
    """Write a call and beneath it its own result."""
    wrong = element("span", call.wrong, class_="tag warn") if call.wrong else None
    asked = element("div", _code(f"{call.name}({call.arguments})")) if call.name else None
    back = None
    if call.result is not None:
        back = element("div", element("span", "returned", class_="who"), _code(call.result), class_="back")
    return element("div", asked, wrong, back, class_="steps call")


def _code(words: str) -> Html:
    whole = element("code", words or "(empty)", dir="auto")
    return _clamped(_start(words), whole, f"show all {len(words):,} characters")


def _say(message: TranscriptMessage) -> Html:
    words = message.text or "(no text)"
    if message.marks:
        return element("p", _with_marks(words, message.marks), class_="say", dir="auto")
    if message.role != "user" and is_markdown(words):
        return element("div", markdown(words), class_="say md", dir="auto")
    return element("p", words, class_="say", dir="auto")


def _with_marks(words: str, marks: Sequence[Mark]) -> Iterator[Html]:
    """Mark words, each with its label behind it; where marks overlap, each has the words that are left."""
    at = 0
    for one in marks:
        start, end = max(one.start, at), max(one.end, at)
        yield text(words[at:start])
        label = element("small", one.label)
        yield element("mark", words[start:end], label, class_="loss" if one.loss else "gain")
        at = end
    yield text(words[at:])
