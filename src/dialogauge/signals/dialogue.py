"""Views of a conversation for the signals: each message is split and tokenised once, on first use."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from dialogauge.core import Conversation, Turn
from dialogauge.core.patterns import lazy_pattern
from dialogauge.signals.caching import lazy_property
from dialogauge.text import Language, LanguageTally, Pieces, content_terms, normalise, pieces, sentences

_CODE = lazy_pattern(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTE = 160  # characters, of the longest quote
_PLAIN = 4000
_HEAD = 300
_SHARED = 1500  # characters: what is read of longer texts takes too much memory to be kept
_EDGE = 500  # markers of courtesy, refusal and complaint stand at the edges of a long message


@dataclass(frozen=True)
class Sentence:
    """One sentence or line; costly values are computed on first use."""

    text: str

    @lazy_property
    def plain(self) -> str:
        """The sentence, normalised."""
        return normalise(self.text)

    @lazy_property
    def _pieces(self) -> Pieces:
        return pieces(self.text)

    @lazy_property
    def terms(self) -> frozenset[str]:
        """The distinct content terms."""
        return content_terms(self._pieces)

    @lazy_property
    def units(self) -> float:
        """The length in words (a Chinese character counts 0.6)."""
        return self._pieces.units


@dataclass(frozen=True)
class TextView:
    """One text; costly values are computed on first use."""

    text: str

    @lazy_property
    def prose(self) -> str:
        """The text without code blocks."""
        return _CODE.sub("\n", self.text) if "```" in self.text else self.text

    @lazy_property
    def sentences(self) -> tuple[Sentence, ...]:
        """The sentences of the prose in order."""
        return tuple(map(Sentence, sentences(self.prose)))

    @lazy_property
    def terms(self) -> frozenset[str]:
        """The distinct content terms, those in code included."""
        return content_terms(self._pieces if self.prose is self.text else pieces(self.text))

    @lazy_property
    def _pieces(self) -> Pieces:
        return pieces(self.prose)

    @lazy_property
    def units(self) -> float:
        """The length in words (a Chinese character counts 0.6), code left out."""
        return self._pieces.units

    @lazy_property
    def edges(self) -> str:
        """The prose, normalised; of a long text only the beginning and the end."""
        prose = self.prose
        if len(prose) > 2 * _EDGE:
            prose = prose[:_EDGE] + "\n" + prose[-_EDGE:]
        return normalise(prose)

    @property
    def whole(self) -> str:
        """All of the prose, normalised; empty for a long text."""
        return self.edges if len(self.prose) <= 2 * _EDGE else ""

    @lazy_property
    def head(self) -> str:
        """The first 300 characters of the prose, normalised."""
        return self.edges if len(self.prose) <= _HEAD else normalise(self.prose[:_HEAD])

    @lazy_property
    def plain(self) -> str:
        """The first 4,000 characters, code included, normalised."""
        short = self.prose is self.text and len(self.text) <= 2 * _EDGE
        return self.edges if short else normalise(self.text[:_PLAIN])

    @lazy_property
    def questions(self) -> tuple[Sentence, ...]:
        """The sentences that end in a question mark."""
        return tuple(s for s in self.sentences if s.text[-1] in "?？")


recent_view = lru_cache(maxsize=1024)(TextView)
"""The view of a short text; `recent_view.cache_clear()` forgets all, as a measurement of speed has to."""


def view_of(text: str) -> TextView:
    """Return the view of a text: of a short one the same as the last time, with what was computed then.

    Conversations that differ in one message (planted faults, candidates, variants) share all others.
    """
    return recent_view(text) if len(text) <= _SHARED else TextView(text)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A tool result, with name and arguments of its call where they are known."""

    name: str
    arguments: str
    text: str


@dataclass(frozen=True, slots=True)
class TurnView:
    """One turn: the user message, the tool results, the reply."""

    number: int
    user: TextView
    reply: TextView
    tools: tuple[ToolResult, ...]
    called: tuple[str, ...]
    """Names of the tools called, in order."""
    replied: bool
    language: Language
    """The language of the conversation up to and including this turn."""
    notes_in: Language = "en"
    """The language in which findings are put into words."""


@dataclass(frozen=True)
class Dialogue:
    """A whole conversation without turn 0."""

    turns: tuple[TurnView, ...]
    context: TextView
    """Instructions and scenario."""
    opening: TextView
    """The assistant's greeting, before any user message."""
    language: Language
    notes_in: Language = "en"
    """As of turns."""

    @lazy_property
    def replied(self) -> tuple[TurnView, ...]:
        """The turns with a reply."""
        return tuple(t for t in self.turns if t.replied)


def read_dialogue(
    conversation: Conversation, language: Language | None = None, *, notes_in: Language | None = None
) -> Dialogue:
    """Return the views of a conversation.

    Reads messages, instructions and context, never ratings, metadata or ids.

    Args:
        conversation: Any.
        language: What it is read as; None detects it.
        notes_in: The language of notes, as which is also read what is in no known language; None writes
            them in the language of the conversation.
    """
    tally = LanguageTally()
    turns = []
    opening = ""
    for turn in conversation.turns:
        if turn.number == 0:
            opening = turn.reply_text
            continue
        turns.append(_turn(turn, tally, language, notes_in))
    context = "\n".join(filter(None, (conversation.instructions, conversation.context)))
    known = language or _language(tally, notes_in)
    return Dialogue(tuple(turns), view_of(context), view_of(opening), known, notes_in or known)


def _turn(turn: Turn, tally: LanguageTally, language: Language | None, notes_in: Language | None) -> TurnView:
    user, reply = turn.user_text, turn.reply_text
    if language is None:
        tally.add(user)
        tally.add(reply)
    known = language or _language(tally, notes_in)
    return TurnView(
        turn.number,
        view_of(user),
        view_of(reply),
        _tools(turn),
        tuple(call.name for m in turn.steps for call in m.tool_calls),
        turn.has_reply,
        known,
        notes_in or known,
    )


def _language(tally: LanguageTally, otherwise: Language | None) -> Language:
    """Return the language of what was said; English for numbers alone, which are read alike in any.

    Where it is no known one, `otherwise` if that is given.
    """
    known = tally.language() if tally.lettered else "en"
    return otherwise if known == "other" and otherwise is not None else known


def _tools(turn: Turn) -> tuple[ToolResult, ...]:
    calls = {call.id: call for m in turn.steps for call in m.tool_calls}
    out = []
    for message in turn.steps:
        if message.role == "tool":
            call = calls.get(message.tool_call_id or "")
            name = call.name if call else message.name or ""
            out.append(ToolResult(name, call.arguments if call else "", message.text))
    return tuple(out)


def quote_around(view: TextView, hit: str) -> str:
    """Return the sentence with the hit, or the beginning of the text."""
    for sentence in view.sentences:
        if hit and hit.strip() in sentence.text.lower():
            return cut(sentence.text)
    return cut(view.text)


def cut(text: str, length: int = _QUOTE) -> str:
    """Return the first `length` characters of the stripped text, verbatim."""
    text = text.strip()
    return text if len(text) <= length else text[:length].rstrip()
