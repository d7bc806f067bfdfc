"""Conversations on a page: messages turn by turn, beside what is said of them."""

from __future__ import annotations

from collections.abc import Sequence

from dialogauge.report.blocks import Finding, Scored, Transcript, TranscriptMessage, TranscriptTurn
from dialogauge.report.elements import Html, element, joined, text
from dialogauge.report.words import cell_words, name


def transcript(block: Transcript, title: Html, verdict: Html | None) -> Html:
    """Write a transcript: to be opened, or in a card.

    Args:
        block: What is shown.
        title: Its title, which may lead somewhere.
        verdict: Its verdict.
    """
    if block.folded:
        summary = element(
            "summary",
            element("span", title, class_="id"),
            None if verdict is None else element("span", verdict, class_="verdict"),
            (element("span", fact, class_="soft") for fact in block.facts),
        )
        inside = element("div", _talk(block), class_="body", id=block.anchor or None)
        return element("details", summary, inside, class_="talk")
    aside = element("span", verdict, " · ".join(block.facts), class_="soft")
    header = element("header", element("h3", title, dir="auto"), aside)
    classes = "card open-talk marked" if any(t.tag for t in block.turns) else "card open-talk"
    return element("article", header, _talk(block), class_=classes, id=block.anchor or None)


def _talk(block: Transcript) -> Html:
    failed = None
    if block.failure:
        tag = element("span", "conversation not judged", class_="tag warn")
        failed = element("p", tag, " ", block.failure, class_="small")
    left_out = f"Not shown here: {block.turns_left_out:,} more {_turns(block.turns_left_out)}."
    return joined(
        element("p", block.context, class_="small soft", dir="auto") if block.context else None,
        failed,
        _scores(block.scores),
        element("p", block.rationale, class_="small said", dir="auto") if block.rationale else None,
        _findings(block.findings),
        (_turn(t, apart=not block.folded) for t in block.turns),
        element("p", left_out, class_="small soft") if block.turns_left_out else None,
        element("p", block.note, class_="small soft") if block.note else None,
    )


def _turn(turn: TranscriptTurn, *, apart: bool) -> Html:
    number = None
    if not apart and (turn.number is not None or turn.tag):
        words = "" if turn.number is None else f"Turn {turn.number} "
        tag = element("span", turn.tag, class_="tag warn") if turn.tag else None
        number = element("p", words, tag, class_="no")
    failed = None
    if turn.failure:
        tag = element("span", "not judged", class_="tag warn")
        failed = element("p", tag, " ", turn.failure, class_="small")
    missing = element("p", "No reply in this turn.", class_="small soft") if turn.without_reply else None
    return element(
        "div",
        number,
        element("div", (_message(m) for m in turn.messages), missing),
        element("aside", failed, _scores(turn.scores), _findings(turn.findings)),
        class_="turn marked" if turn.tag else "turn",
    )


def _findings(findings: Sequence[Finding]) -> Html | None:
    items = [element("li", _finding(f), dir="auto") for f in findings]
    return element("ul", items, class_="why") if items else None


def _turns(n: int) -> str:
    return "turn" if n == 1 else "turns"


def _scores(scores: Sequence[Scored]) -> Html | None:
    items = [element("li", name(s.name), " ", element("b", cell_words(s.value)[0])) for s in scores]
    return element("ul", items, class_="scores") if items else None


def _finding(finding: Finding) -> Html:
    turn = "" if finding.turn is None else f"turn {finding.turn}"
    where = ", ".join(filter(None, (name(finding.source), turn)))
    source = (element("span", f"{where}:", class_="soft"), " ") if where else None
    return joined(source, element("q", finding.text, dir="auto") if finding.quoted else text(finding.text))


def _message(message: TranscriptMessage) -> Html:
    if message.role == "tool":
        return element("div", element("code", message.text, dir="auto"), class_="steps")
    who = element("span", message.role.capitalize(), class_="who")
    words = element("p", message.text or "(no text)", class_="say", dir="auto")
    return element("div", who, words, class_="msg user" if message.role == "user" else "msg reply")
