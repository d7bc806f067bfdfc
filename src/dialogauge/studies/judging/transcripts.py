"""The conversations that a page shows in full, and their weakest turns: text beside judgements, as blocks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dialogauge.core import Conversation, Turn
from dialogauge.report import (
    Finding,
    Scored,
    Text,
    Tone,
    Transcript,
    TranscriptMessage,
    TranscriptTurn,
    words,
)
from dialogauge.runs import StoredRun
from dialogauge.runs.records import own_scores
from dialogauge.studies.judging.sampling import Case, Survey
from dialogauge.studies.judging.summary import DimensionSummary
from dialogauge.text import counted

_TONES: Final[Mapping[str, Tone]] = {
    "excellent": "best",
    "good": "good",
    "borderline": "middle",
    "poor": "worst",
}
ID_CHARS: Final = 64
_QUOTE_CHARS: Final = 240
_STEP_CHARS: Final = 400
_MAX_NOTES: Final = 6
_MESSAGE_CHARS: Final = 1_500
"""Longer messages are cut."""
_TURNS: Final = 40
"""Of one transcript."""
_ROOM: Final = 2_000_000
"""Bytes of all transcripts together; what does not fit is left out, the strongest first."""

Row = Mapping[str, Any]
Key = tuple[str, str | None]


def verdict_of(case: Case) -> Text:
    """Return the verdict in its colour; a star marks one on an incomplete set of scores."""
    if not case.verdict:
        return Text("no verdict", tone="none")
    return Text(f"{case.verdict}{' *' if case.partial else ''}", tone=tone_of(case.verdict))


def tone_of(verdict: str) -> Tone:
    """Return the colour of a verdict; a rubric's own verdicts have no order that is known here."""
    return _TONES.get(verdict, "plain")


def anchors_of(survey: Survey) -> dict[Key, str]:
    """Name the place of each transcript; one that the page has no room for is linked to in vain, as text."""
    return {case.key: f"c{number}" for number, case in enumerate(survey.shown, 1)}


@dataclass(frozen=True, slots=True)
class ShownConversations:
    """What a page shows of the conversations."""

    survey: Survey
    """Which conversations, weakest first."""
    weak_turns: tuple[Transcript, ...]
    """The weakest turns, the worst first, each a transcript of one turn."""
    transcripts: tuple[Transcript, ...]
    """As many of the conversations as a page has room for."""


def read_sample(run: StoredRun, survey: Survey, dimensions: Sequence[DimensionSummary]) -> ShownConversations:
    """Read the text of what a survey of the run's rows shows."""
    wanted = {case.key for case in (*survey.shown, *survey.weak)}
    ids = {key[0] for key in wanted}
    names: dict[str, list[str]] = {}
    for dimension in dimensions:
        names.setdefault(dimension.level, []).append(dimension.name)
    writer = _TranscriptWriter(names, _rows_of(run.rows_of(ids), wanted), _by_key(run.conversations(ids)))
    anchors = anchors_of(survey)
    weak = (writer.weak_turn(case, anchors.get(case.key, "")) for case in survey.weak)
    return ShownConversations(survey, tuple(filter(None, weak)), writer.transcripts(survey.shown))


@dataclass(frozen=True, slots=True)
class _TranscriptWriter:
    """Writes sampled conversations, from their rows and their text."""

    names: Mapping[str, Sequence[str]]
    """Dimensions by level."""
    rows: Mapping[Key, Sequence[Row]]
    conversations: Mapping[Key, Conversation]

    def transcripts(self, cases: Sequence[Case]) -> tuple[Transcript, ...]:
        """Write transcripts, weakest first, until the page has no more room."""
        room, written = _ROOM, []
        for number, case in enumerate(cases, 1):
            transcript = self._transcript(case, f"c{number}")
            room -= _bytes(transcript)
            if room < 0:
                break
            written.append(transcript)
        return tuple(written)

    def weak_turn(self, case: Case, link: str) -> Transcript | None:
        """Write the weakest turn of a conversation, with the words that its scores stand on."""
        number = case.weakest_turn
        if number is None or (row := self._turn_rows(case).get(number)) is None:
            return None
        conversation = self._conversation(case)
        turn = next((t for t in conversation.turns if t.number == number), None) if conversation else None
        messages = (
            TranscriptMessage("user", _text(turn.user_text if turn else "")),
            TranscriptMessage("assistant", _text(turn.reply_text if turn else "")),
        )
        shown = TranscriptTurn(number, messages, self._scores(row), _findings(row), tag="weakest turn")
        return Transcript(case.conversation_id, (shown,), link=link, facts=(f"turn {number}",), folded=False)

    def _transcript(self, case: Case, anchor: str) -> Transcript:
        conversation = self._conversation(case)
        by_turn = self._turn_rows(case)
        head = next((r for r in self.rows.get(case.key, ()) if r["level"] == "conversation"), None)
        turns = conversation.turns if conversation else ()
        scenario = conversation.scenario if conversation else None
        return Transcript(
            case.conversation_id,
            tuple(self._turn(t, by_turn.get(t.number), case.weakest_turn) for t in turns[:_TURNS]),
            anchor,
            verdict=verdict_of(case),
            facts=tuple(filter(None, (scenario, case.candidate, counted(len(turns), "turn")))),
            context=_text(conversation.context if conversation else None),
            failure=_failure(head),
            scores=self._scores(head),
            rationale=_text(head["rationale"] if head else None),
            findings=_findings(head),
            turns_left_out=max(len(turns) - _TURNS, 0),
            note="" if turns else "The text of this conversation was not at hand when the page was made.",
        )

    def _turn(self, turn: Turn, row: Row | None, weakest: int | None) -> TranscriptTurn:
        opening = not turn.number and not turn.user_text
        user = [] if opening else [TranscriptMessage("user", _text(turn.user_text))]
        steps = [TranscriptMessage("tool", step) for step in _steps(turn)]
        reply = [TranscriptMessage("assistant", _text(turn.reply_text))] if turn.has_reply else []
        return TranscriptTurn(
            turn.number,
            (*user, *steps, *reply),
            self._scores(row),
            _findings(row),
            _failure(row),
            tag="weakest turn" if turn.number == weakest else "",
            without_reply=not turn.has_reply,
        )

    def _conversation(self, case: Case) -> Conversation | None:
        return self.conversations.get(case.key) or self.conversations.get((case.conversation_id, None))

    def _turn_rows(self, case: Case) -> dict[int, Row]:
        return {r["turn"]: r for r in self.rows.get(case.key, ()) if r["turn"] is not None}

    def _scores(self, row: Row | None) -> tuple[Scored, ...]:
        if row is None or not row["scores"]:
            return ()
        scores = own_scores(row)
        return tuple(Scored(n, words.score(scores.get(n))) for n in self.names.get(row["level"], ()))


def _text(text: str | None) -> str:
    return cut(text or "", _MESSAGE_CHARS)


def _rows_of(rows: Iterable[Row], wanted: Collection[Key]) -> dict[Key, list[Row]]:
    by_key: dict[Key, list[Row]] = {}
    for row in rows:
        key = (row["conversation_id"], row["candidate"])
        if key in wanted and row["repeat"] == 1:
            by_key.setdefault(key, []).append(row)
    return by_key


def _by_key(conversations: Iterable[Conversation]) -> dict[Key, Conversation]:
    by_key: dict[Key, Conversation] = {}
    for conversation in conversations:
        by_key[conversation.id, conversation.candidate] = conversation
        by_key.setdefault((conversation.id, None), conversation)
    return by_key


def _steps(turn: Turn) -> Iterable[str]:
    for message in turn.steps:
        for call in message.tool_calls:
            yield cut(f"{call.name}({call.arguments})", _STEP_CHARS)
        if message.text:
            yield cut(f"{message.role}: {message.text}", _STEP_CHARS)


def _findings(row: Row | None) -> tuple[Finding, ...]:
    if row is None:
        return ()
    issues = (Finding(cut(issue, _QUOTE_CHARS)) for issue in row["issues"][:_MAX_NOTES])
    quotes = (
        Finding(
            cut(e["quote"], _QUOTE_CHARS),
            cut(e.get("signal") or e.get("criterion") or "", ID_CHARS),
            e["turn"],
            quoted=True,
        )
        for e in row["evidence"][:_MAX_NOTES]
    )
    return (*issues, *quotes)


def _failure(row: Row | None) -> str:
    failure = None if row is None else row["failure"]
    return cut(f"{failure['kind']}: {failure['message']}", _QUOTE_CHARS) if failure else ""


def cut(text: str, limit: int) -> str:
    """Cut a text, and say how much is missing."""
    if len(text) <= limit:
        return text
    return f"{text[:limit].rstrip()} … ({len(text) - limit:,} more characters)"


def _bytes(transcript: Transcript) -> int:
    """Return about how much room a transcript takes on the page."""
    texts = [transcript.context, transcript.rationale]
    for turn in transcript.turns:
        texts += [*(m.text for m in turn.messages), *(f.text for f in turn.findings)]
    escaped = sum(len(t.encode("utf-8", "replace")) + 4 * sum(map(t.count, "<>&\"'")) for t in texts)
    return escaped + 700 * (len(transcript.turns) + 1)
