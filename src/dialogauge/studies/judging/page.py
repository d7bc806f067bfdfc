"""From rows and conversations to the view of a report."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from dialogauge.core import Conversation, Turn
from dialogauge.report import (
    About,
    ConversationLine,
    ConversationTotals,
    CostLine,
    CurvePointView,
    DimensionView,
    Figure,
    GroupRow,
    GroupTable,
    HistogramBar,
    LabelCounts,
    Quote,
    ReportView,
    RunFigures,
    ScoreView,
    Transcript,
    TranscriptTurn,
    VerdictCount,
    VerdictFigures,
    WeakTurn,
    WindowNote,
)
from dialogauge.runs.records import own_scores
from dialogauge.stats import Estimate
from dialogauge.studies.judging.sampling import Case, Limits, Survey
from dialogauge.studies.judging.summary import (
    DimensionSummary,
    GroupSummary,
    Spending,
    Summary,
    VerdictSummary,
)
from dialogauge.studies.judging.tally import MARKS
from dialogauge.text import counted

_CURVE_TURNS: Final = 24


def figures_of(summary: Summary, *, curve_turns: int = _CURVE_TURNS) -> RunFigures:
    """Return what `render_report` and `summary_lines` show of a summary.

    Args:
        summary: The run's summary.
        curve_turns: How many turn numbers are drawn along the turns; the others are counted.
    """
    counts = summary.conversations
    curves = [p.turn for d in summary.dimensions for p in d.curve]
    shown = sorted(set(curves))
    return RunFigures(
        requested=summary.requested,
        scored=summary.scored,
        not_applicable=summary.not_applicable,
        failed=summary.failed,
        failures=tuple(summary.failures.items()),
        conversations=ConversationTotals(
            counts.requested,
            counts.judged,
            counts.failed,
            counts.without_reply,
            counts.unreadable,
            counts.pending,
        ),
        dimensions=tuple(_dimension(d, set(shown[:curve_turns])) for d in summary.dimensions),
        verdicts=None if summary.verdicts is None else _verdicts(summary.verdicts),
        repeats=summary.repeats,
        labels=tuple(_labels(name, counts) for name, counts in summary.labels.items()),
        marks=tuple((MARKS[name], n) for name, n in summary.marks.items()),
        windows=tuple(WindowNote(w.dimension, w.n, w.mean_absolute) for w in summary.windows),
        groups=_groups(summary),
        costs=tuple(_cost(role, s) for role, s in summary.by_role.items()),
        total_cost=_cost("total", summary.total),
        curve_left_out=max(len(shown) - curve_turns, 0),
    )


def _dimension(found: DimensionSummary, turns: set[int]) -> DimensionView:
    # On a scale from 0 to 1 two decimals would hide what they show on one from 1 to 5.
    decimals = 3 if found.scale.high - found.scale.low <= 1 else 2
    counts = (found.n, found.requested, found.n_na, found.n_failed)
    figure = Figure(found.mean.value, found.mean.interval, *counts, found.bounds, decimals)
    return DimensionView(
        name=found.name,
        level=found.level,
        low=found.scale.low,
        high=found.scale.high,
        integer=found.scale.integer,
        higher_is_better=found.scale.higher_is_better,
        figure=figure,
        bars=tuple(HistogramBar(b.low, b.high, b.count) for b in found.bins),
        curve=tuple(
            CurvePointView(p.turn, p.mean.value, p.mean.interval, p.mean.n)
            for p in found.curve
            if p.turn in turns and p.mean.value is not None
        ),
        repeat_targets=0 if found.spread is None else found.spread.targets,
        repeat_sd=None if found.spread is None else found.spread.mean_sd,
        uncalibrated=found.uncalibrated,
        reasons=tuple(found.reasons.items()),
    )


def _labels(name: str, counts: Mapping[str, int]) -> LabelCounts:
    total = sum(counts.values())
    return LabelCounts(name, total, tuple((option, n, n / total) for option, n in counts.items()))


def _verdicts(found: VerdictSummary) -> VerdictFigures:
    asked = found.requested or 1
    counts = [VerdictCount(name, n, n / asked) for name, n in found.counts.items()]
    if found.missing:
        counts.append(VerdictCount(None, found.missing, found.missing / asked))
    return VerdictFigures(
        found.requested, tuple(counts), found.basis.get("partial", 0), found.compared, found.mismatched
    )


def _groups(summary: Summary) -> tuple[GroupTable, ...]:
    """The breakdowns that say something: those with at least two groups."""
    names = tuple(d.name for d in summary.dimensions)
    return tuple(
        GroupTable(
            field,
            names,
            tuple(_row(group, names) for group in groups),
            summary.groups_left_out.get(field, 0),
        )
        for field, groups in summary.by.items()
        if len(groups) > 1
    )


def _row(group: GroupSummary, names: tuple[str, ...]) -> GroupRow:
    figures = tuple(_group_figure(group.means[n], group.n_na[n], group.n_failed[n]) for n in names)
    return GroupRow(group.name, group.conversations, figures)


def _group_figure(mean: Estimate, n_na: int, n_failed: int) -> Figure:
    return Figure(mean.value, mean.interval, mean.n, mean.n + n_na + n_failed, n_na, n_failed, None)


def _cost(role: str, spent: Spending) -> CostLine:
    return CostLine(
        role,
        spent.calls,
        spent.cached,
        spent.prompt_tokens,
        spent.completion_tokens,
        spent.cost,
        spent.repeated_share,
    )


Row = Mapping[str, Any]
Key = tuple[str, str | None]

_ID_CHARS = 64
_QUOTE_CHARS = 240
_STEP_CHARS = 400
_MAX_NOTES = 6
_UNREADABLE_SHOWN = 5


def view_of(
    summary: Summary,
    chosen: Survey,
    rows_of: Callable[[Collection[str]], Iterable[Row]],
    fetch: Callable[[Collection[str]], Iterable[Conversation]],
    *,
    about: About,
    limits: Limits | None = None,
) -> ReportView:
    """Compute everything that a report shows.

    Args:
        summary: What `summarise` made of the same rows.
        chosen: Which conversations are shown, of the same rows.
        rows_of: Returns the rows of the conversations of these ids; rows of one unit stand together.
        fetch: Returns the conversations of these ids; those that it cannot find are shown without text.
        about: What was judged by whom.
        limits: How much the page holds.
    """
    limits = limits or Limits()
    wanted = {case.key for case in (*chosen.shown, *chosen.weak)}
    ids = {key[0] for key in wanted}
    kept = _rows_of(rows_of(ids), wanted)
    texts = _conversations(fetch(ids))
    writer = _Writer(summary.dimensions, kept, texts, limits)
    transcripts = writer.transcripts(chosen.shown)
    anchors = {(t.conversation_id, t.candidate): t.anchor for t in transcripts}
    return ReportView(
        about=_about(about, summary),
        figures=figures_of(summary),
        weak_turns=tuple(w for case in chosen.weak if (w := writer.weak_turn(case, anchors)) is not None),
        lines=tuple(_line(case, anchors) for case in chosen.listed),
        lines_total=chosen.total,
        transcripts=transcripts,
        unreadable=tuple(filter(None, summary.unreadable[:_UNREADABLE_SHOWN])),
        sample_note=_sample_note(chosen, len(transcripts), summary.repeats),
    )


def _about(about: About, summary: Summary) -> About:
    """Add the dimensions that the rows themselves call uncalibrated."""
    known = (*about.uncalibrated, *about.compared)
    found = [d.name for d in summary.dimensions if d.uncalibrated and d.name not in known]
    return replace(about, uncalibrated=(*about.uncalibrated, *found))


def _sample_note(chosen: Survey, shown: int, repeats: int) -> str:
    if shown == chosen.total:
        note = "Every conversation is shown, turn by turn"
    else:
        note = (
            f"Shown turn by turn: {shown:,} of {counted(chosen.total, 'conversation')}, mostly the weakest, "
            "and some of the others, chosen by their id"
        )
    return note + (f"; of {repeats} repeats the first" if repeats > 1 else "") + "."


def _rows_of(rows: Iterable[Row], wanted: Collection[Key]) -> dict[Key, list[Row]]:
    kept: dict[Key, list[Row]] = {}
    for row in rows:
        key = (row["conversation_id"], row["candidate"])
        if key in wanted and row["repeat"] == 1:
            kept.setdefault(key, []).append(row)
    return kept


def _conversations(found: Iterable[Conversation]) -> dict[Key, Conversation]:
    by_key: dict[Key, Conversation] = {}
    for conversation in found:
        by_key[conversation.id, conversation.candidate] = conversation
        by_key.setdefault((conversation.id, None), conversation)
    return by_key


def _line(case: Case, anchors: Mapping[Key, str]) -> ConversationLine:
    return ConversationLine(
        conversation_id=_cut(case.conversation_id, _ID_CHARS),
        candidate=case.candidate,
        verdict=case.verdict,
        partial=case.partial,
        weakest_turn=case.weakest_turn,
        scores=case.scores,
        failure=case.failure,
        anchor=anchors.get(case.key),
    )


class _Writer:
    """Writes transcripts and weak turns of sampled conversations."""

    def __init__(
        self,
        dimensions: Sequence[DimensionSummary],
        rows: Mapping[Key, Sequence[Row]],
        conversations: Mapping[Key, Conversation],
        limits: Limits,
    ) -> None:
        self._names = {
            level: [d.name for d in dimensions if d.level == level]
            for level in ("turn", "window", "conversation")
        }
        self._rows = rows
        self._conversations = conversations
        self._limits = limits

    def transcripts(self, cases: Sequence[Case]) -> tuple[Transcript, ...]:
        """Write transcripts, weakest first, until the page has no more room."""
        room, written = self._limits.transcript_bytes, []
        for number, case in enumerate(cases, 1):
            transcript = self._transcript(case, f"c{number}")
            room -= _bytes(transcript)
            if room < 0:
                break
            written.append(transcript)
        return tuple(written)

    def weak_turn(self, case: Case, anchors: Mapping[Key, str]) -> WeakTurn | None:
        """Write the weakest turn of a conversation, with the words it stands on."""
        conversation = self._conversation(case)
        row = self._turn_rows(case).get(case.weakest_turn or 0)
        if row is None or case.weakest_turn is None:
            return None
        turn = _find(conversation, case.weakest_turn)
        return WeakTurn(
            conversation_id=case.conversation_id,
            turn=case.weakest_turn,
            user=self._text(turn.user_text if turn else ""),
            reply=self._text(turn.reply_text if turn else ""),
            scores=self._scores(row),
            issues=_issues(row),
            evidence=_quotes(row),
            anchor=anchors.get(case.key),
        )

    def _transcript(self, case: Case, anchor: str) -> Transcript:
        conversation = self._conversation(case)
        by_turn = self._turn_rows(case)
        head = next((r for r in self._rows.get(case.key, ()) if r["level"] == "conversation"), None)
        turns = conversation.turns if conversation else ()
        limit = self._limits.transcript_turns
        return Transcript(
            anchor=anchor,
            conversation_id=case.conversation_id,
            candidate=case.candidate,
            scenario=conversation.scenario if conversation else None,
            context=self._text(conversation.context) if conversation and conversation.context else None,
            verdict=case.verdict,
            partial=case.partial,
            scores=self._scores(head) if head and head["scores"] else (),
            rationale=self._text(head["rationale"]) if head and head["rationale"] else None,
            issues=_issues(head) if head else (),
            evidence=_quotes(head) if head else (),
            failure=_failure(head) if head else None,
            turns=tuple(self._turn(t, by_turn.get(t.number), case.weakest_turn) for t in turns[:limit]),
            turns_left_out=max(len(turns) - limit, 0),
        )

    def _turn(self, turn: Turn, row: Row | None, weakest: int | None) -> TranscriptTurn:
        return TranscriptTurn(
            number=turn.number,
            user=self._text(turn.user_text),
            steps=tuple(_steps(turn)),
            reply=self._text(turn.reply_text) if turn.has_reply else None,
            scores=self._scores(row) if row and row["scores"] else (),
            issues=_issues(row) if row else (),
            evidence=_quotes(row) if row else (),
            failure=_failure(row) if row else None,
            weakest=turn.number == weakest,
        )

    def _conversation(self, case: Case) -> Conversation | None:
        return self._conversations.get(case.key) or self._conversations.get((case.conversation_id, None))

    def _turn_rows(self, case: Case) -> dict[int, Row]:
        return {r["turn"]: r for r in self._rows.get(case.key, ()) if r["turn"] is not None}

    def _scores(self, row: Row) -> tuple[ScoreView, ...]:
        scores = own_scores(row)
        return tuple(ScoreView(n, scores.get(n)) for n in self._names.get(row["level"], ()))

    def _text(self, text: str) -> str:
        return _cut(text, self._limits.message_chars)


def _find(conversation: Conversation | None, number: int) -> Turn | None:
    if conversation is None:
        return None
    return next((t for t in conversation.turns if t.number == number), None)


def _steps(turn: Turn) -> Iterable[str]:
    for message in turn.steps:
        for call in message.tool_calls:
            yield _cut(f"{call.name}({call.arguments})", _STEP_CHARS)
        if message.text:
            yield _cut(f"{message.role}: {message.text}", _STEP_CHARS)


def _issues(row: Row) -> tuple[str, ...]:
    return tuple(_cut(issue, _QUOTE_CHARS) for issue in row["issues"][:_MAX_NOTES])


def _quotes(row: Row) -> tuple[Quote, ...]:
    return tuple(
        Quote(
            e["turn"],
            _cut(e["quote"], _QUOTE_CHARS),
            _cut(e.get("signal") or e.get("criterion") or "", _ID_CHARS),
        )
        for e in row["evidence"][:_MAX_NOTES]
    )


def _failure(row: Row) -> str | None:
    failure = row["failure"]
    return None if not failure else _cut(f"{failure['kind']}: {failure['message']}", _QUOTE_CHARS)


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    return f"{text[:limit].rstrip()} … ({len(text) - limit:,} more characters)"


def _bytes(transcript: Transcript) -> int:
    """About how much room a transcript takes on the page."""
    words = [transcript.context or "", transcript.rationale or ""]
    for turn in transcript.turns:
        words += [turn.user, turn.reply or "", *turn.steps, *turn.issues, *(q.text for q in turn.evidence)]
    escaped = sum(len(w.encode("utf-8", "replace")) + 4 * sum(map(w.count, "<>&\"'")) for w in words)
    return escaped + 700 * (len(transcript.turns) + 1)
