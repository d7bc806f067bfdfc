"""Conversations as parts of a page: messages turn by turn, what is said of them, and lists of them."""

from __future__ import annotations

from dataclasses import dataclass

from dialogauge.core.values import Value
from dialogauge.report.cells import Cell, Prose, Text


@dataclass(frozen=True, slots=True)
class Mark:
    """Words of a message that count for or against its writer: the characters from `start` to `end`."""

    start: int
    end: int
    label: str
    """What they show, and how much that counts: `dead ends -0.5`."""
    loss: bool
    """Whether it counts against the writer."""


@dataclass(frozen=True, slots=True)
class TranscriptMessage:
    """A message as it came."""

    role: str
    """`user`, `assistant`, `tool` or another; tools are shown small, and replies with their Markdown."""
    text: str
    clamped: bool = False
    """Whether only its first lines are shown until it is opened."""
    marks: tuple[Mark, ...] = ()
    """In the order of the text; a message that has some is shown as it was written, without its Markdown."""


@dataclass(frozen=True, slots=True)
class TranscriptCall:
    """A call of a tool beside what it returned, both as they came; what is long folds away."""

    name: str
    """Of the tool; empty where a result came that nobody asked for."""
    arguments: str
    result: str | None
    """None where none came back."""
    wrong: str = ""
    """What is irregular about it: `no result`."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A dimension and what it got."""

    name: str
    value: Cell
    by: str = ""
    """Who said so, where it was not the judge: `a person`."""
    reason: str = ""
    """Why, in the judge's words."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is said of a turn or a conversation, or a quote from it, or both."""

    text: str
    source: str = ""
    """What says so: a signal, a criterion."""
    turn: int | None = None
    quoted: bool = False
    """Whether the text is a quote."""
    quote: str = ""
    """The words that the text stands on."""


@dataclass(frozen=True, slots=True)
class TranscriptTurn:
    """One turn with its judgement."""

    number: int | None
    messages: tuple[TranscriptMessage | TranscriptCall, ...]
    scores: tuple[Scored, ...] = ()
    findings: tuple[Finding, ...] = ()
    failure: str = ""
    """Why there is no judgement."""
    tag: str = ""
    """What is special about it, such as `weakest turn`; it is drawn apart."""
    without_reply: bool = False
    facts: tuple[str, ...] = ()
    """Short facts beside its number: the domain that it is about."""
    rationale: str = ""


RECORDS = (Mark, TranscriptMessage, TranscriptCall, Scored, Finding, TranscriptTurn)
"""What a page holds by the thousand: plain records, quicker to make than a `Value`."""


class Transcript(Value):
    """A conversation, or a few turns of it, with what is said of them."""

    title: str
    turns: tuple[TranscriptTurn, ...]
    anchor: str = ""
    """Of the whole; a turn is at `ANCHOR-NUMBER`."""
    link: str = ""
    """From the title to another place on the page."""
    verdict: Text | None = None
    facts: tuple[str, ...] = ()
    """Short facts beside the title."""
    reason: Prose = ""
    """Why it is shown: what a reader reads first."""
    context: str = ""
    failure: str = ""
    scores: tuple[Scored, ...] = ()
    """Of the conversation as a whole."""
    rationale: str = ""
    findings: tuple[Finding, ...] = ()
    turns_left_out: int = 0
    folded: bool = True
    note: str = ""
    ranks: tuple[float | None, ...] = ()
    """In the order of the list's `orders`."""
    groups: tuple[tuple[str, ...], ...] = ()
    """The names that it has in each of the list's `filters`."""


class TranscriptList(Value):
    """Conversations to be searched, sorted and filtered; without script all are there, in their order.

    Raises:
        ValueError: A transcript has not one rank for each order, or not its names for each filter.
    """

    title: str
    transcripts: tuple[Transcript, ...]
    orders: tuple[str, ...] = ()
    """What a reader can sort by, smallest first: `rating, lowest first`."""
    filters: tuple[str, ...] = ()
    """What a reader can choose by: `scenario`."""
    shown: int = 30
    """So many; the others fold away."""

    def __post_init__(self) -> None:
        for one in self.transcripts:
            if (len(one.ranks), len(one.groups)) != (len(self.orders), len(self.filters)):
                message = (
                    f"list {self.title!r}: {one.title!r} has {len(one.ranks)} ranks, {len(one.groups)} groups"
                )
                raise ValueError(message)
