"""From the answer of a call to the rows of its targets; the usage is booked once per call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dialogauge.core.conversation import Turn
from dialogauge.core.judgement import NO_USAGE, Judged, JudgeFailure, Judgement, Level, Target, Usage
from dialogauge.core.scales import Score
from dialogauge.judge.asking import ROLE, Answer, Asking
from dialogauge.judge.outcomes import decide, label_details, turn_judgement
from dialogauge.judge.parsed import ParsedReply
from dialogauge.llm.protocol import ChatFailure
from dialogauge.llm.structured import Structured

__all__ = [
    "call_details",
    "conversation_row",
    "failure_of",
    "failure_rows",
    "row",
    "turn_row",
    "turn_rows",
    "turn_scores",
    "whole_judgement",
]


def row(
    asking: Asking,
    level: Level,
    turn: int | None,
    outcome: Judgement | JudgeFailure,
    usage: Usage | None = None,
) -> Judged:
    """Make a row; the usage, if it is booked here, is the judge's."""
    target = Target(asking.conversation.id, level, turn, asking.conversation.candidate)
    by_role = {} if usage is None else {ROLE: usage}
    return Judged(target, outcome, usage or NO_USAGE, asking.rubric.prompt_digest(asking.language), by_role)


def failure_of(failure: ChatFailure, *, raw: bool = True) -> JudgeFailure:
    """Turn the client's failure into the judge's."""
    return JudgeFailure(failure.kind, failure.message, failure.raw if raw else None)


def call_details(asking: Asking, answer: Answer) -> dict[str, Any]:
    """Return what is to be told of a call: repair, re-ask, language, and what was cut or ignored."""
    outcome = answer.outcome
    if isinstance(outcome, ChatFailure):
        return {}
    reply = outcome.value
    counted = {
        "basis_cut": int(reply.basis_cut),
        "extra_keys": reply.extra_keys,
        "tool_results_cut": answer.tool_results_cut,
    }
    details: dict[str, Any] = {
        "language": asking.language,
        "repaired": outcome.repaired,
        "reasked": outcome.reasked,
    }
    return details | {key: count for key, count in counted.items() if count}


def turn_row(asking: Asking, answer: Answer, turn: Turn) -> Judged:
    """Make the row of a turn that had a call of its own."""
    outcome = answer.outcome
    if isinstance(outcome, ChatFailure):
        return row(asking, "turn", turn.number, failure_of(outcome), answer.usage)
    part = outcome.value.turns[turn.number]
    judgement = turn_judgement(asking.rubric, part, turn, call_details(asking, answer))
    return row(asking, "turn", turn.number, judgement, answer.usage)


def turn_rows(asking: Asking, answer: Answer, turns: Sequence[Turn]) -> tuple[Judged, ...]:
    """Make the rows of the turns of a call that judged them together; they carry no usage."""
    if isinstance(answer.outcome, ChatFailure):
        return ()
    parts = answer.outcome.value.turns
    return tuple(
        row(asking, "turn", turn.number, turn_judgement(asking.rubric, parts[turn.number], turn))
        for turn in turns
    )


def failure_rows(asking: Asking, answer: Answer, turns: Sequence[Turn]) -> tuple[Judged, ...]:
    """Make the rows of a failed call: its turns and the conversation, which alone keeps the raw reply."""
    if not isinstance(answer.outcome, ChatFailure):
        return ()
    bare = failure_of(answer.outcome, raw=False)
    rows = [row(asking, "turn", turn.number, bare) for turn in turns]
    whole = row(asking, asking.rubric.level, None, failure_of(answer.outcome), answer.usage)
    return (*rows, whole)


def turn_scores(rows: Sequence[Judged]) -> list[Mapping[str, Score] | None]:
    """Return the scores of turn rows; None for one that failed."""
    return [r.outcome.scores if isinstance(r.outcome, Judgement) else None for r in rows]


def conversation_row(asking: Asking, answer: Answer, turns: Sequence[Judged]) -> Judged:
    """Make the row of a conversation that one call judged."""
    if isinstance(answer.outcome, ChatFailure):
        return row(asking, "conversation", None, failure_of(answer.outcome), answer.usage)
    judgement = whole_judgement(asking, answer, answer.outcome, turn_scores(turns))
    return row(asking, "conversation", None, judgement, answer.usage)


def whole_judgement(
    asking: Asking,
    answer: Answer,
    outcome: Structured[ParsedReply],
    turns: Sequence[Mapping[str, Score] | None],
) -> Judgement:
    """Make the judgement of a conversation or window that one call judged.

    The verdict is computed from the scores; the model's own is kept beside it, with whether they differ.
    """
    reply = outcome.value
    whole = reply.whole
    if whole is None:
        return Judgement()
    verdict, basis, decided = decide(asking.rubric, turns, whole.scores)
    details = {**label_details(whole), **decided, **call_details(asking, answer)}
    if whole.notes:
        details["notes"] = dict(whole.notes)
    if reply.verdict is not None:
        details["model_verdict"] = reply.verdict
        details["verdict_mismatch"] = reply.verdict != (verdict or decided.get("class"))
    return Judgement(
        scores=dict(whole.scores),
        verdict=verdict,
        verdict_basis=basis,
        weakest_turn=reply.weakest_turn,
        rationale=reply.decision_basis or joined_notes(whole.notes),
        details=details,
    )


def joined_notes(notes: Mapping[str, str]) -> str | None:
    """Join the notes of the dimensions into one text; None if there are none."""
    return " ".join(f"{name}: {note}" for name, note in notes.items()) or None
