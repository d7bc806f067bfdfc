"""One conversation of a run, whole: what was said, what people and the judge say of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from dialogauge.core import UsageError
from dialogauge.report import Transcript
from dialogauge.runs import StoredRun
from dialogauge.studies.judging.report import stored_findings
from dialogauge.studies.judging.sampling import Sampler
from dialogauge.studies.judging.transcripts import writer_of

_NEAR: Final = 5
"""Ids that are named in place of one that is not there."""
_COMPARED: Final = 20_000
"""Ids that are looked through for one written alike."""


def show_conversation(run: StoredRun, id: str, turn: int | None = None) -> tuple[Transcript, ...]:
    """Return the conversation of an id turn by turn, for each candidate one; of several repeats the first.

    Args:
        run: Opened for reading.
        id: As the run shows it: masked, where the run is.
        turn: The number of the only turn to show; all without.

    Raises:
        UsageError: The run holds no such conversation, or the conversation no such turn.
    """
    ids = {run.shown_id(stored): stored for stored in run.database.ids()}
    if id not in ids:
        msg = f"the run {run.directory.path} has no conversation {id!r}"
        raise UsageError(msg, hint=near(id, list(ids)))
    sampler = Sampler(run.dimensions)
    for _ in sampler.through(run.rows_of([ids[id]])):
        pass
    cases = [case for case in sampler.result().listed if case.conversation_id == id]
    if not cases:
        msg = f"the conversation {id!r} is stored and not judged"
        raise UsageError(msg, hint="judge its input to the end")
    verdicts = run.summary.get("verdicts") is not None
    keys = [case.key for case in cases]
    writer = writer_of(run, keys, run.dimensions, stored_findings(run), verdicts=verdicts)
    shown = [writer.transcript(case) for case in cases]
    return tuple(shown if turn is None else [_only(transcript, turn) for transcript in shown])


_LISTED: Final = "all ids are in judgements.jsonl and on the page; `dialogauge report RUN` rewrites the page"


def near(id: str, ids: list[str], listed: str = _LISTED) -> str:
    """Name ids that are like one: those that hold it, else those written alike, else where all are listed."""
    from difflib import get_close_matches  # for messages only

    words = id.lower()
    holding = [name for name in ids if words in name.lower()]
    near = holding[:_NEAR] or get_close_matches(id, ids[:_COMPARED], _NEAR, 0.5)
    more = f", and {len(holding) - _NEAR:,} more" if len(holding) > _NEAR else ""
    if near:
        return f"did you mean {', '.join(map(repr, near))}{more}?"
    return listed


def _only(transcript: Transcript, number: int) -> Transcript:
    turns = tuple(turn for turn in transcript.turns if turn.number == number)
    if not turns:
        numbers = [turn.number for turn in transcript.turns if turn.number is not None]
        there = f"turns {min(numbers)} to {max(numbers)}" if numbers else "no turns"
        msg = f"the conversation {transcript.title!r} has no turn {number}"
        raise UsageError(msg, hint=f"it has {there}")
    return replace(transcript, turns=turns)
